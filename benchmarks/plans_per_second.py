"""Plans per second on one core over a mixed fleet, also as a multiple of plain Python.

The baseline builds as many small dicts and hashes each of them, in the same run: the ratio says
how many such dicts a plan costs, and compares machines. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import time
from collections.abc import Callable

from eks_devices import (
    Capacity,
    DeviceType,
    GpuSharing,
    Mechanism,
    NodegroupSpec,
    OperatingSystem,
    plan_cluster,
    plan_nodegroup,
)

VERSION = "1.35"
TARGET = 10_000
BLOCK = Capacity.block("cr-0123456789abcdef0")
FLEET = (
    NodegroupSpec(name="trn2", instance_type="trn2.48xlarge", capacity=BLOCK, max_size=4),
    NodegroupSpec(name="trn1", instance_type="trn1.32xlarge", max_size=8, efa=4),
    NodegroupSpec(name="inf2", instance_type="inf2.xlarge", max_size=9, autoscaled=True),
    NodegroupSpec(name="gb200", instance_type="p6e-gb200.36xlarge", capacity=BLOCK, max_size=9),
    NodegroupSpec(
        name="p5",
        instance_type="p5.48xlarge",
        max_size=2,
        mechanism={DeviceType.GPU: Mechanism.DRA, DeviceType.EFA: Mechanism.DRA},
        labels={"team": "research"},
        taints=["dedicated=training:NoSchedule"],
    ),
    NodegroupSpec(
        name="g6e",
        instance_type="g6e.12xlarge",
        max_size=2,
        gpu_sharing=GpuSharing.time_slicing(replicas=4),
    ),
    NodegroupSpec(
        name="g5",
        instance_type="g5.xlarge",
        max_size=20,
        capacity=Capacity.spot(),
        operating_system=OperatingSystem.BOTTLEROCKET,
    ),
    NodegroupSpec(name="hpc", instance_type="hpc7g.16xlarge", max_size=2, efa=True),
)


def plan_groups() -> int:
    """Plan each group of the fleet alone."""
    for group in FLEET:
        plan_nodegroup(group, kubernetes_version=VERSION)
    return len(FLEET)


def plan_fleet() -> int:
    """Plan the fleet as one cluster."""
    plan_cluster(kubernetes_version=VERSION, nodegroups=FLEET)
    return 1


def hash_dicts() -> int:
    """The baseline: one small dict for each group, and its hash."""
    for group in FLEET:
        values = {"name": group.name, "type": group.instance_type, "size": group.max_size}
        values |= {"labels": dict(group.labels), "version": VERSION}
        hashlib.sha256(repr(sorted(values)).encode()).hexdigest()
    return len(FLEET)


def per_second(work: Callable[[], int], seconds: float) -> float:
    """How many things a second of work makes, by the median of five rounds."""
    work()
    rates = []
    for _ in range(5):
        made, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds / 5:
            made += work()
        rates.append(made / (time.perf_counter() - start))
    return statistics.median(rates)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="seconds for each measurement")
    seconds = parser.parse_args().seconds
    plans, clusters = per_second(plan_groups, seconds), per_second(plan_fleet, seconds)
    baseline = per_second(hash_dicts, seconds)
    report = {
        "baseline_dicts_per_second": round(baseline),
        "baseline_dicts_per_plan": round(baseline / plans, 1),
        "cluster_plans_per_second": round(clusters),
        "groups_per_cluster": len(FLEET),
        "plans_per_second": round(plans),
        "target": TARGET,
        "target_met": plans >= TARGET,
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
