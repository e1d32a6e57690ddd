"""What the allocator makes of claims for GPUs that are cut on request, shared or for machines."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cluster.oracle.oracle import Scope, claim_of, gates
from tests.cluster_plans import cluster_of
from tests.generated.shares_and_parts import held
from tests.shared_gpu_claims import CASES

from eks_devices.feasibility.classes import installed_classes
from eks_devices.kubernetes import gate_is_on
from eks_devices.resource_slices import resource_slices

MOST_PODS = 10
CLASSES = [
    {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": one}} for one in expressions]},
    }
    for name, expressions in installed_classes().items()
]


@pytest.fixture
def setting(oracle):
    """Of a group's node; the minors without shares and counters have no such groups."""
    if not gate_is_on("DRAPartitionableDevices", oracle.minor):
        pytest.skip("drivers publish no such devices there")

    def of(spec):
        (group,) = cluster_of(spec, kubernetes_version=oracle.minor).nodegroups
        found = [resource_slices(group, one, node="node") for one in group.devices]
        slices = [item for many in found for item in many]
        return {"slices": slices, "classes": CLASSES, "features": gates(oracle.minor)}

    return of


@pytest.mark.parametrize("name", CASES)
def test_as_many_pods_fit_as_the_library_says(oracle, setting, name):
    spec, claims, (status, _, fits) = CASES[name]
    here = setting(spec)
    named = [one["kind"] == "ResourceClaim" for one in claims]
    wanted = [
        one if is_named else claim_of(one, f"own-{at}")
        for at, (one, is_named) in enumerate(zip(claims, named, strict=True))
    ]
    others: list[dict[str, Any]] = []
    pods = 0
    while pods < MOST_PODS:
        new = wanted if not pods else [w for w, n in zip(wanted, named, strict=True) if not n]
        answer = oracle.ask([*new, *others], node="node", seconds=2, **here)
        if not answer.allocated:
            assert answer.scope in (None, Scope.TIME)
            break
        pods += 1
        others += [held(one, answer) for one in new]

    assert pods == (min(fits or 0, MOST_PODS) if status == "feasible" else 0)
