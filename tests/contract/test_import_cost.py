"""Importing the pure core is cheap: it loads no framework and reads no data."""

import os
import subprocess
import sys
from pathlib import Path

HEAVY = (
    "argparse",
    "aws_cdk",
    "boto3",
    "cdk8s",
    "constructs",
    "importlib.resources",
    "jsii",
    "tomllib",
)
# 1.6 when it was last measured: 43 milliseconds against 27.
MOST_OF_BASELINE = 3
# What an import adds at its best: other work on the machine only ever makes a run slower.
RUNS = 7


def run(code: str, *options: str) -> str:
    """What a fresh interpreter prints that has run the code."""
    command = [sys.executable, "-P", *options, "-c", code]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return result.stdout


def test_the_pure_core_loads_nothing_heavy():
    already = set(run("import sys; print(*sys.modules)").split())
    loaded = set(run("import sys, eks_devices; print(*sys.modules)").split())

    assert "eks_devices" in loaded
    assert (loaded - already).isdisjoint(HEAVY)


def test_the_pure_core_opens_no_data_file():
    opened = run(
        "import sys; files = []\n"
        "def note(event, args):\n"
        "    if event == 'open': files.append(str(args[0]))\n"
        "sys.addaudithook(note)\n"
        "import eks_devices; print(*files, sep='\\n')"
    ).splitlines()

    assert any("eks_devices" in name for name in opened)
    assert [name for name in opened if name.endswith((".json", ".toml"))] == []


def seconds(module: str, bytecode: Path) -> float:
    """Processor time of an import in a fresh interpreter that keeps its bytecode in a folder."""
    timed = f"import time; t = time.process_time(); import {module}; print(time.process_time() - t)"
    return float(run(timed, "-X", f"pycache_prefix={bytecode}"))


def test_the_pure_core_imports_about_as_fast_as_asyncio(tmp_path: Path):
    # In turns, so that a machine that is slow for a while is slow for both. The first turn
    # compiles, which a user's first import does once.
    pairs = [(seconds("eks_devices", tmp_path), seconds("asyncio", tmp_path)) for _ in range(RUNS)]

    ours, baseline = (min(times) for times in zip(*pairs, strict=True))

    assert ours < MOST_OF_BASELINE * baseline
