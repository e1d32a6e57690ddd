"""Many different Pods against many node groups take a moment of processor time."""

from __future__ import annotations

import time
from typing import Any

from tests.workload_manifests import (
    DRA,
    GPU,
    NEURON,
    PLUGIN,
    checked,
    group,
    plan_of,
    pod,
    request,
    template,
)

MOST_SECONDS = 4
TYPES = ("p5.48xlarge", "p4d.24xlarge", "trn2.48xlarge", "g6e.12xlarge", "p5en.48xlarge")
SELECTOR = f"device.attributes['{GPU}'].productName.startsWith('NVIDIA {{}}')"


def manifests(number: int) -> list[Any]:
    found = []
    for at in range(number):
        gpus = request(GPU, 1 + at % 8, SELECTOR.format(at % 20))
        claim = template(f"t{at}", gpus if at % 2 else request(NEURON, 1 + at % 16))
        labels = {"kubernetes.io/arch": "amd64", f"team{at}": "a" if at % 10 else "b"}
        found += [claim, pod(f"t{at}", limits={"cpu": str(1 + at % 90)}, nodeSelector=labels)]
    return found


def test_two_hundred_pods_and_fifty_groups() -> None:
    groups = [
        group(f"g{at}", TYPES[at % 5], mechanism=DRA if at % 3 else PLUGIN) for at in range(50)
    ]
    plan = plan_of(*groups)
    given = manifests(200)
    start = time.process_time()
    report = checked(plan, *given)
    assert time.process_time() - start < MOST_SECONDS
    assert len(report.pods) == 200
