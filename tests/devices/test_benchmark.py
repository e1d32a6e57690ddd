"""The benchmark runs and reports; how fast this machine is, no test can say."""

import json
import os
import subprocess
import sys
from pathlib import Path

import eks_devices

SCRIPT = Path(__file__).parents[2] / "benchmarks/plans_per_second.py"


def test_the_benchmark_reports_plans_per_second():
    source_root = str(Path(eks_devices.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--seconds", "0.05"],
        capture_output=True,
        check=True,
        text=True,
        env=os.environ | {"PYTHONPATH": source_root},
    )

    report = json.loads(done.stdout)
    assert done.stderr == ""
    assert report["target"] == 10_000
    assert report["groups_per_cluster"] == 8
    # A hundred times slower than aimed at would be a fault on any machine.
    assert report["plans_per_second"] > 100
    assert report["cluster_plans_per_second"] > 10
    assert report["baseline_dicts_per_plan"] > 0
    assert report["target_met"] is (report["plans_per_second"] >= 10_000)
