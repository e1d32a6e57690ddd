"""The import layers hold, and the contracts that say so notice a planted breach."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE_ROOTS = ("devices", "charts", "constructs", "operations")


def lint_imports(tree: Path) -> subprocess.CompletedProcess[str]:
    """Check the layers of a tree, whatever is installed."""
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    path = os.pathsep.join(str(tree / name) for name in SOURCE_ROOTS)
    return subprocess.run(
        [sys.executable, "-P", "-c", code, "--no-cache"],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": path, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def tree(root: Path, tmp_path: Path) -> Path:
    for name in SOURCE_ROOTS:
        ignore = shutil.ignore_patterns("__pycache__", "data")
        shutil.copytree(root / name, tmp_path / name, ignore=ignore)
    shutil.copy(root / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_tree_keeps_its_layers(tree: Path):
    result = lint_imports(tree)

    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("package", "statement", "contract"),
    [
        ("devices/eks_devices", "import eks_device_charts", "Imports go down"),
        ("devices/eks_devices", "import cdk8s", "The pure core"),
        ("devices/eks_devices", "import constructs", "The pure core"),
        ("charts/eks_device_charts/manifests", "import cdk8s", "Manifests start no Node"),
        ("charts/eks_device_charts", "import aws_cdk", "Charts know neither"),
        ("charts/eks_device_charts", "import eks_device_constructs", "Imports go down"),
        ("constructs/eks_device_constructs", "import boto3", "Constructs ask AWS nothing"),
        ("constructs/eks_device_constructs", "import eks_device_operations", "Imports go down"),
        ("operations/eks_device_operations", "import aws_cdk", "Operations start no Node"),
        ("operations/eks_device_operations", "import eks_device_constructs", "Imports go down"),
    ],
)
def test_a_planted_breach_is_noticed(tree: Path, package: str, statement: str, contract: str):
    (tree / package / "planted.py").write_text(f"{statement}\n", encoding="utf-8")

    result = lint_imports(tree)

    broken = [line for line in result.stdout.splitlines() if line.endswith("BROKEN")]
    assert result.returncode == 1, result.stdout + result.stderr
    assert any(line.startswith(contract) for line in broken), result.stdout
