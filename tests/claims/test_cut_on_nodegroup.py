"""Claims for partitions, or for whole GPUs, on groups whose GPUs are cut or not."""

from __future__ import annotations

from typing import Any

import pytest
from tests.short_names import BOTTLEROCKET, DRA, GPU

from eks_devices import (
    DeviceRequest,
    EksDevicesError,
    GpuDriver,
    Mig,
    NodegroupSpec,
    ResourceClaimTemplate,
    plan_nodegroup,
)
from eks_devices.claims.on_nodegroup import claim_manifest

SMALL, LARGE = "1g.10gb", "3g.40gb"
LAYOUT = Mig.layout(LARGE, SMALL)


def judged(mig: Mig | None, *requests: DeviceRequest, **options: Any) -> list[str]:
    """The faults of a claim on a group of H100 GPUs, as `code step`."""
    given: dict[str, Any] = {"instance_type": "p5.48xlarge", "mechanism": DRA} | options
    group = NodegroupSpec(name="g", max_size=1, mig=mig, **given)
    plan = plan_nodegroup(group, kubernetes_version="1.36")
    claim = ResourceClaimTemplate(name="c", namespace="n", requests=requests)
    try:
        claim_manifest(claim, plan)
    except EksDevicesError as error:
        return [f"{one.code} {one.path.removeprefix('claims.n/c.')}" for one in error.faults]
    return []


CASES = [
    ("whole GPUs, a partition", None, [DeviceRequest.mig(SMALL)], ["GpusNotCut requests[0]"]),
    ("whole GPUs, a GPU", None, [DeviceRequest.gpu()], []),
    ("cut, a GPU", LAYOUT, [DeviceRequest.gpu()], ["GpusAreCut requests[0]"]),
    ("cut, a partition", LAYOUT, [DeviceRequest.mig(LARGE)], []),
    ("cut, all partitions of a kind", LAYOUT, [DeviceRequest.mig(SMALL, 8)], []),
    (
        "cut, more than there are",
        LAYOUT,
        [DeviceRequest.mig(SMALL, 9)],
        ["TooManyDevices requests[0].count"],
    ),
    (
        "cut, more than there are in two requests",
        LAYOUT,
        [DeviceRequest.mig(SMALL, 8), DeviceRequest.mig(SMALL, 1, name="more")],
        ["TooManyDevices requests[1].count"],
    ),
    (
        "cut, more than any GPUs of the type hold",
        Mig.uniform(LARGE),
        [DeviceRequest.mig(LARGE, 17)],
        ["TooManyDevices requests[0].count"],
    ),
    (
        "cut, another partition",
        LAYOUT,
        [DeviceRequest.mig("2g.20gb")],
        ["OtherPartitions requests[0].profile"],
    ),
    ("cut by somebody", Mig.uniform(LARGE, prepared=True), [DeviceRequest.mig(LARGE, 16)], []),
    ("on request, a partition", Mig.dynamic(), [DeviceRequest.mig("2g.20gb", 3)], []),
    ("on request, a GPU", Mig.dynamic(), [DeviceRequest.gpu()], []),
    (
        "on request, both",
        Mig.dynamic(),
        [DeviceRequest.gpu(7), DeviceRequest.mig(SMALL, 7)],
        [],
    ),
]


@pytest.mark.parametrize(
    ("mig", "requests", "expected"), [row[1:] for row in CASES], ids=[row[0] for row in CASES]
)
def test_a_claim_gets_what_the_gpus_are(mig, requests, expected):
    assert judged(mig, *requests) == expected


def test_what_somebody_else_does_with_gpus_is_not_judged():
    assert judged(None, DeviceRequest.mig(SMALL), external={GPU}) == []


def test_the_driver_of_bottlerocket_cuts_nothing():
    host = {"operating_system": BOTTLEROCKET, "gpu_driver": GpuDriver(host_service=True)}

    assert judged(None, DeviceRequest.mig(SMALL), **host) == ["GpusNotCut requests[0]"]
