"""The reference app as `cdk synth` makes it, once for all tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
CDK = ROOT / "node_modules" / "aws-cdk" / "bin" / "cdk"

Done = subprocess.CompletedProcess[str]


def run(folder: Path, *arguments: str, validation: bool = True) -> Done:
    environment = dict(os.environ)
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment["CDK_VALIDATION"] = "true" if validation else "false"
    environment["CDK_DISABLE_CLI_TELEMETRY"] = "true"
    command = ["node", str(CDK), "synth", "--quiet", "--output", str(folder), *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture(scope="session")
def synth() -> Callable[..., Done]:
    """Runs `cdk synth` into a folder."""
    return run


@pytest.fixture(scope="session")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("assembly")
    done = run(folder)
    assert done.returncode == 0, done.stderr
    return folder, done
