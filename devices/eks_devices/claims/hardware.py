"""Whether an instance type has what a claim asks for."""

from __future__ import annotations

from collections.abc import Iterator

from ..feature_gates import gates_source
from ..findings import Finding, fault
from ..instance_faults import bare_metal_gpu_types, logical_core_fault
from ..instance_types import AcceleratedInstanceType
from ..mig import unknown_mig_profile
from ..network import default_efa_count, max_efa_count
from ..published import mig_profiles
from ..quantities import MIB, amount_of
from ..vocabulary import DeviceType
from .asked import Asked, count_of, request_path
from .kinds import WHOLE_GPUS, RequestKind
from .memory_selectors import memory_selector_faults
from .requests import DeviceRequest

_TYPES_PAGE = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html"
_ULTRASERVER_PAGE = "https://aws.amazon.com/ec2/ultraservers/"

_COUNTED = (*WHOLE_GPUS, RequestKind.NEURON, RequestKind.EFA)


def hardware_faults(asked: Asked, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """Faults of requests for devices that the type does not have, or not so many of."""
    for index, request in enumerate(asked.requests):
        path = f"{asked.path}.requests[{index}]"
        if most_devices(instance, request.kind) == 0:
            yield _missing(path, request, instance)
        else:
            yield from _option_faults(path, request, instance)
    yield from _other_type(asked, instance)
    for kind in _COUNTED:
        yield from _too_many(asked, kind, instance)


def _other_type(asked: Asked, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    for index, request in enumerate(asked.requests):
        if request.instance_type not in (None, instance.name):
            yield fault(
                "OtherInstanceType",
                f"{asked.path}.requests[{index}].instance_type",
                f"a claim is for one node, here of {instance.name}, so this one would stay pending",
                got=request.instance_type,
                allowed=f"{instance.name}, or None",
                fix="name the type of the nodes, or leave it out of the request",
                source=_TYPES_PAGE,
            )


def most_devices(instance: AcceleratedInstanceType, kind: RequestKind) -> int:
    """How many devices of a kind a node of the type has at most; for MIG, how many GPUs."""
    if kind is RequestKind.EFA:
        return max_efa_count(instance)
    if kind in (*WHOLE_GPUS, RequestKind.MIG):
        return _accelerators(instance, DeviceType.GPU)
    return _accelerators(instance, DeviceType.NEURON)


def _accelerators(instance: AcceleratedInstanceType, device_type: DeviceType) -> int:
    chip = instance.accelerator
    return chip.count if chip is not None and chip.device_type is device_type else 0


def _missing(path: str, request: DeviceRequest, instance: AcceleratedInstanceType) -> Finding:
    has = [
        f"{number} {name}"
        for name, number in (
            ("GPU", _accelerators(instance, DeviceType.GPU)),
            ("Neuron", _accelerators(instance, DeviceType.NEURON)),
            ("EFA", default_efa_count(instance)),
        )
        if number
    ]
    return fault(
        "NoSuchDevice",
        path,
        f"{instance.name} has no device for this request",
        got=request.kind.value,
        allowed=", ".join(has) or "nothing",
        fix="drop the request, or use an instance type that has such devices",
        source=_TYPES_PAGE,
    )


def _too_many(
    asked: Asked, kind: RequestKind, instance: AcceleratedInstanceType
) -> Iterator[Finding]:
    has, wanted = most_devices(instance, kind), count_of(asked, kind)
    if 0 < has < wanted:
        yield fault(
            "TooManyDevices",
            f"{request_path(asked, kind)}.count",
            f"a claim is for one node, and {instance.name} has fewer",
            got=wanted,
            allowed=f"at most {has}",
            fix=f"ask for {has} or fewer, or take a larger type",
            source=_TYPES_PAGE,
        )


def _option_faults(
    path: str, request: DeviceRequest, instance: AcceleratedInstanceType
) -> Iterator[Finding]:
    if request.profile is not None:
        yield from _profile(f"{path}.profile", request.profile, instance)
    if request.memory is not None:
        yield from _memory(f"{path}.memory", request.memory, instance)
    yield from memory_selector_faults(path, request, instance)
    if request.kind is RequestKind.VFIO and not instance.bare_metal:
        yield _not_metal(path, instance)
    if request.mode is not None:
        yield from _mode(f"{path}.mode", request.mode, instance)
    cores = request.logical_neuron_cores
    if cores is not None and cores not in instance.logical_core_sizes:
        yield logical_core_fault(instance, f"{path}.logical_neuron_cores", cores)


def _memory(path: str, memory: str, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    chip, asked = instance.accelerator, amount_of(memory)
    has = chip.memory_mib if chip is not None else None
    if has is not None and asked is not None and asked > has * MIB:
        yield fault(
            "TooMuchMemory",
            path,
            f"a GPU of {instance.name} has less memory, so the claim would stay pending",
            got=memory,
            allowed=f"at most {has}Mi, of which the driver publishes a little less",
            fix="ask for less, or use an instance type with larger GPUs",
            source=_TYPES_PAGE,
        )


def _not_metal(path: str, instance: AcceleratedInstanceType) -> Finding:
    return fault(
        "PassthroughNeedsBareMetal",
        path,
        f"virtual machines need an IOMMU, and {instance.name} runs under a hypervisor itself",
        got=instance.name,
        allowed=bare_metal_gpu_types(),
        fix="use a bare metal type, or DeviceRequest.gpu()",
        source=gates_source(),
    )


def _profile(path: str, profile: str, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    known = mig_profiles(instance.name)
    if known is not None and profile not in known:
        whole = "ask for whole GPUs: DeviceRequest.gpu()"
        yield unknown_mig_profile(profile, known, instance.name, path, instead=whole)


def _mode(path: str, mode: int, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    sizes = instance.ultraserver_sizes
    if mode not in sizes:
        part = "is not part of an UltraServer" if not sizes else "has no UltraServer of this size"
        yield fault(
            "NotInUltraServer",
            path,
            f"{instance.name} {part}",
            got=mode,
            allowed=", ".join(map(str, sizes)) or "none",
            fix="use an UltraServer type, or DeviceRequest.neuron()",
            source=_ULTRASERVER_PAGE,
        )
