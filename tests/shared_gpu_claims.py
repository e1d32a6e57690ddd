"""Claims for GPUs that are cut on request, shared, or given to machines, with known answers."""

from __future__ import annotations

from typing import Any

from tests.feasibility_claims import GPU, claim, exactly, match, template

from eks_devices import GpuDriver, Mig

MIG, VFIO = "mig.nvidia.com", "vfio.gpu.nvidia.com"
OWN = "device.attributes['gpu.nvidia.com']"
P5, P5E = "p5.48xlarge", "p5e.48xlarge"


def part(profile: str, **more: Any) -> dict[str, Any]:
    """A request for partitions of a profile."""
    return exactly(MIG, f"{OWN}.profile == '{profile}'", **more)


def memory(amount: str, **more: Any) -> dict[str, Any]:
    """A request for a share of a GPU."""
    return exactly(GPU, capacity={"requests": {"memory": amount}}, **more)


def shared(by: int | str, instance_type: str = P5) -> dict[str, Any]:
    """A group whose GPUs several claims may have."""
    return {"instance_type": instance_type, "gpu_driver": GpuDriver(consumable_shares=by)}


CUT = {"instance_type": P5, "mig": Mig.dynamic()}
CUT_P5E = {"instance_type": P5E, "mig": Mig.dynamic()}
TOGETHER = ("infeasible", "TooFewDevicesTogether", None)
PARENT = match("gpu.nvidia.com/parentUUID")
SMALL = [part("1g.10gb", name=f"r{at}", count=7) for at in range(4)]

Case = tuple[dict[str, Any], list[dict[str, Any]], tuple[str, str, int | None]]
# A group, the claims of a Pod, and status, code and the Pods that a node serves.
CASES: dict[str, Case] = {
    "whole GPUs are there uncut": (CUT, [template(exactly(GPU))], ("feasible", "", 8)),
    "seven smallest of each": (CUT, [template(part("1g.10gb"))], ("feasible", "", 56)),
    "one with engines of each": (CUT, [template(part("1g.10gb+me"))], ("feasible", "", 8)),
    "two halves of each": (CUT, [template(part("3g.40gb"))], ("feasible", "", 16)),
    "all halves": (CUT, [template(part("3g.40gb", count=16))], ("feasible", "", 1)),
    "a half more": (
        CUT,
        [template(part("3g.40gb", count=17))],
        ("infeasible", "TooFewDevices", None),
    ),
    "places that overlap": (
        CUT_P5E,
        [template(part("1g.35gb", count=32)), template(part("2g.35gb", name="b"))],
        TOGETHER,
    ),
    "more than can lie beside each other": (
        CUT,
        [template(part("4g.40gb", count=8), part("2g.20gb", name="b", count=9))],
        TOGETHER,
    ),
    "two of one GPU": (
        CUT,
        [template(part("4g.40gb"), part("3g.40gb", name="b"), PARENT)],
        ("feasible", "", 8),
    ),
    "two of one GPU that has no room for them": (
        CUT,
        [template(part("4g.40gb"), part("7g.80gb", name="b"), PARENT)],
        (*TOGETHER[:1], "ConstraintNeverHolds", None),
    ),
    "a cut GPU is not had whole": (
        CUT,
        [template(exactly(GPU, count=7), part("1g.10gb", count=7))],
        ("feasible", "", 1),
    ),
    "nothing is left of whole GPUs": (
        CUT,
        [template(exactly(GPU, count=8), part("1g.10gb"))],
        TOGETHER,
    ),
    "28 smallest of four GPUs": (CUT, [template(*SMALL)], ("feasible", "", 2)),
    "four claims on one GPU": (shared(4), [template(exactly(GPU))], ("feasible", "", 32)),
    "as much memory as two have": (shared(4), [template(memory("39Gi"))], ("feasible", "", 16)),
    "more memory than half": (shared(4), [template(memory("40Gi"))], ("feasible", "", 8)),
    "more memory than there is": (
        shared(4),
        [template(memory("100Gi"))],
        ("infeasible", "AmountNotThere", None),
    ),
    "all memory unless some is asked for": (
        shared("memory"),
        [template(exactly(GPU))],
        ("feasible", "", 8),
    ),
    "memory in steps": (shared("memory"), [template(memory("1"))], ("feasible", "", 256)),
    "a capacity that only counted shares have": (
        shared("memory"),
        [template(exactly(GPU, capacity={"requests": {"shares": "1"}}))],
        ("infeasible", "AmountNotThere", None),
    ),
    "counted shares": (
        shared(4),
        [template(exactly(GPU, capacity={"requests": {"shares": "3"}}))],
        ("feasible", "", 8),
    ),
    "one named claim beside shares": (
        shared(2),
        [claim(exactly(GPU, count=8)), template(exactly(GPU))],
        ("feasible", "", 8),
    ),
    "machines": (
        {
            "instance_type": "g4dn.metal",
            "gpu_driver": GpuDriver(feature_gates={"PassthroughSupport": True}),
        },
        [template(exactly(VFIO, count=3))],
        ("feasible", "", 2),
    ),
}
