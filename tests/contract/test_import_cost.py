"""Importing the pure core is cheap: it loads no framework and reads no data."""

import subprocess
import sys

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


def run(code: str) -> str:
    """What a fresh interpreter prints that has run the code."""
    command = [sys.executable, "-P", "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
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


def seconds(module: str) -> float:
    """Processor time of an import in a fresh interpreter."""
    timed = f"import time; t = time.process_time(); import {module}; print(time.process_time() - t)"
    return float(run(timed))


def test_the_pure_core_imports_about_as_fast_as_asyncio():
    # In turns, so that a machine that is slow for a while is slow for both.
    pairs = [(seconds("eks_devices"), seconds("asyncio")) for _ in range(RUNS)]

    ours, baseline = (min(times) for times in zip(*pairs, strict=True))

    assert ours < MOST_OF_BASELINE * baseline
