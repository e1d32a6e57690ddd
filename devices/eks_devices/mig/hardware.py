"""Whether the GPUs of an instance type can be cut as somebody asked, and what Pods find then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .._frozen import FrozenDict
from ..findings import Finding, fault
from ..instance_types import AcceleratedInstanceType
from ..names import GPU_RESOURCE, mig_resource
from ..published import mig_profiles
from ..vocabulary import DeviceType
from .fit import layout_faults
from .form import Mig, MigStrategy
from .geometry import MIG_PAGE, mig_gpu, unknown_mig_profile


def mig_hardware_faults(
    mig: Mig, instance: AcceleratedInstanceType, path: str
) -> Iterator[Finding]:
    """Faults of partitions that the GPUs of a type cannot be cut into.

    Of GPUs whose profiles nobody told, only what no GPU can do is a fault.

    Args:
        mig: Without faults of form.
        instance: The type.
        path: Names the input in the faults.
    """
    known = mig_profiles(instance.name)
    if known == () or not _has_gpus(instance):
        yield _no_mig(mig, instance, path)
    elif mig.is_dynamic:
        return
    elif known is None:
        yield from _of_unknown_gpus(mig, instance, path)
    else:
        yield from _of_known_gpus(mig, instance, known, path)


def partitions(mig: Mig, instance_name: str) -> tuple[tuple[str, int], ...] | None:
    """The partitions of one GPU: how many of each profile, in the order of their first one.

    Returns:
        None where it cannot be known: the driver cuts on request, or nobody told how many
        partitions of the profile the GPUs of the type hold.
    """
    if mig.is_dynamic:
        return None
    if not mig.fill:
        return tuple(Counter(mig.profiles).items())
    gpu = mig_gpu(instance_name)
    if gpu is None or mig.profiles[0] not in gpu.profiles:
        return None
    return ((mig.profiles[0], gpu.profiles[mig.profiles[0]].most),)


def creation_order(mig: Mig, instance_name: str) -> tuple[str, ...]:
    """The partitions of one GPU in the order of their creation; none where it cannot be known."""
    if not mig.fill:
        return mig.profiles
    cut = partitions(mig, instance_name) or ()
    return tuple(profile for profile, count in cut for _ in range(count))


def mig_resources(mig: Mig, instance_name: str, gpus: int) -> FrozenDict[str, int]:
    """What the device plugin registers on a node, with the number of each.

    Args:
        mig: How each GPU is cut.
        instance_name: The type of the node.
        gpus: How many GPUs it has.

    Returns:
        Nothing where the DRA driver cuts on request, and where `partitions` is None.

    Source: https://github.com/NVIDIA/k8s-device-plugin (v0.20.0, internal/rm/rm.go)
    """
    cut = partitions(mig, instance_name) or ()
    if mig.strategy is MigStrategy.SINGLE:
        return FrozenDict({GPU_RESOURCE: gpus * sum(count for _, count in cut)} if cut else {})
    return FrozenDict({mig_resource(profile): gpus * count for profile, count in cut})


def _has_gpus(instance: AcceleratedInstanceType) -> bool:
    return instance.device_type is DeviceType.GPU


def _no_mig(mig: Mig, instance: AcceleratedInstanceType, path: str) -> Finding:
    able = [one.name for one in AcceleratedInstanceType.all() if mig_profiles(one.name)]
    return fault(
        "MigNotSupported",
        path,
        f"{instance.name} has no GPUs that can be cut into partitions",
        got=" ".join(mig.profiles) or "partitions on request",
        allowed=f"instance types with MIG: {', '.join(able)}",
        fix="use such a type, or leave mig out",
        source=MIG_PAGE,
    )


def _of_unknown_gpus(mig: Mig, instance: AcceleratedInstanceType, path: str) -> Iterator[Finding]:
    if mig.fill:
        yield fault(
            "MigPartitionsUnknown",
            f"{path}.profiles",
            f"it is not known how many partitions a GPU of {instance.name} holds",
            got=mig.profiles[0],
            allowed="Mig.layout(...) with every partition of a GPU",
            fix="name each partition: Mig.layout(profile, profile)",
        )
    else:
        yield from layout_faults(mig, None, f"{path}.profiles")


def _of_known_gpus(
    mig: Mig, instance: AcceleratedInstanceType, known: tuple[str, ...], path: str
) -> Iterator[Finding]:
    unknown = [
        unknown_mig_profile(
            profile, known, instance.name, f"{path}.profiles[{index}]", instead="leave mig out"
        )
        for index, profile in enumerate(mig.profiles)
        if profile not in known
    ]
    yield from unknown
    if not unknown and not mig.fill:
        yield from layout_faults(mig, mig_gpu(instance.name), f"{path}.profiles")
