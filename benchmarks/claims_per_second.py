"""Claims that are judged per second on one core: 1,000 of 50 selectors on 100 groups of 10 types.

Each claim is a manifest of its own, and each is judged alone for all groups. The claims that are
built to explode have a limit of their own. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from eks_devices import ClusterPlan, Mechanism, NodegroupSpec, plan_cluster
from eks_devices.feasibility import check_claims

VERSION = "1.36"
TARGET_SECONDS, EXPLOSIVE_SECONDS = 2.0, 1.0
CLAIMS, GROUPS = 1_000, 100
TYPES = (
    "p5.48xlarge",
    "p5e.48xlarge",
    "p4d.24xlarge",
    "p6-b200.48xlarge",
    "g6e.48xlarge",
    "g5.12xlarge",
    "g4dn.12xlarge",
    "g7e.48xlarge",
    "trn2.48xlarge",
    "trn1.32xlarge",
)
GPU, EFA, NEURON = "gpu.nvidia.com", "efa.networking.k8s.aws", "neuron.aws.com"
OWN = "device.attributes['gpu.nvidia.com']"
MODELS = ("H100", "H200", "A100", "B200", "L40S", "A10G", "T4")


def fleet() -> ClusterPlan:
    """The plan of a cluster with groups of a few types."""
    specs = [
        NodegroupSpec(
            name=f"g{index}",
            instance_type=TYPES[index % len(TYPES)],
            max_size=4,
            mechanism=Mechanism.DRA,
        )
        for index in range(GROUPS)
    ]
    return plan_cluster(kubernetes_version=VERSION, nodegroups=specs)


def selectors() -> list[tuple[str, str]]:
    """50 classes with an expression each."""
    by_model = [(GPU, f"{OWN}.productName.contains('{one}')") for one in MODELS]
    by_memory = [
        (
            GPU,
            (
                "'memory' in device.capacity['gpu.nvidia.com'] && device.capacity['gpu.nvidia.com']"
                f".memory.compareTo(quantity('{size}Gi')) >= 0"
            ),
        )
        for size in range(10, 190, 9)
    ]
    by_capability = [
        (GPU, f"{OWN}.cudaComputeCapability.isGreaterThan(semver('{major}.{minor}.0'))")
        for major in (7, 8, 9)
        for minor in range(5)
    ]
    by_place = [
        (NEURON, f"device.attributes['neuron.aws.com'].deviceId < {place}") for place in range(8)
    ]
    return [*by_model, *by_memory, *by_capability, *by_place]


def claim(index: int, known: list[tuple[str, str]]) -> dict[str, Any]:
    """A claim for some devices of a class, every third with EFAs of the same root."""
    device_class, text = known[index % len(known)]
    ask = {
        "deviceClassName": device_class,
        "count": 1 + index % 4,
        "selectors": [{"cel": {"expression": text}}],
    }
    requests = [{"name": "devices", "exactly": ask}]
    constraints = []
    if index % 3 == 0:
        requests.append(
            {"name": "efa", "exactly": {"deviceClassName": EFA, "count": 1 + index % 5}}
        )
        constraints.append({"matchAttribute": "resource.kubernetes.io/pcieRoot"})
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": f"c{index}", "namespace": "default"},
        "spec": {"spec": {"devices": {"requests": requests, "constraints": constraints}}},
    }


def explosive() -> dict[str, Any]:
    """16 requests that may take any device, and of which the last two can never be met."""
    known = {"deviceClassName": EFA, "count": 2}
    requests = [{"name": f"r{index}", "exactly": known} for index in range(16)]
    constraint = {"matchAttribute": "dra.net/pciSubsystem", "requests": ["r14", "r15"]}
    apart = {"distinctAttribute": "resource.kubernetes.io/pcieRoot", "requests": ["r12", "r13"]}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "explosive", "namespace": "default"},
        "spec": {"devices": {"requests": requests, "constraints": [constraint, apart]}},
    }


def seconds(claims: list[dict[str, Any]], plan: ClusterPlan) -> float:
    """CPU seconds for claims that are judged one after another."""
    started = time.process_time()
    for one in claims:
        check_claims([one], plan)
    return time.process_time() - started


def main() -> None:
    """Measure, and say whether the targets are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args()
    plan, known = fleet(), selectors()
    claims = [claim(index, known) for index in range(CLAIMS)]
    taken, worst = seconds(claims, plan), seconds([explosive()], plan)
    print(
        json.dumps(
            {
                "claims": CLAIMS,
                "groups": GROUPS,
                "selectors": len(known),
                "seconds": round(taken, 3),
                "target_seconds": TARGET_SECONDS,
                "explosive_seconds": round(worst, 3),
                "explosive_target_seconds": EXPLOSIVE_SECONDS,
                "met": taken < TARGET_SECONDS and worst < EXPLOSIVE_SECONDS,
            }
        )
    )


if __name__ == "__main__":
    main()
