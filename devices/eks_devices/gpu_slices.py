"""What the NVIDIA driver publishes for the GPUs of a node, whole, cut, shared or for machines.

Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu (v0.5.0, cmd/gpu-kubelet-plugin)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from .feature_gates import told_gates
from .mig import Partition, possible_partitions, published_partitions
from .names import GPU_DRIVER, PASSTHROUGH_GATE, PCIE_ROOT_ATTRIBUTE
from .plans import DevicePlan, NodegroupPlan
from .published import gpu_memory, published
from .quantities import MIB, amount_of
from .slice_values import Json, device_of, one_by_one, version

_STEP: Final = "1Mi"


def gpu_devices(group: NodegroupPlan, device: DevicePlan) -> list[Json]:
    """The devices that are published in one slice, without those that are cut on request."""
    found = _shared(_cut(_gpus(group.instance_type, device.count), group), device)
    if not told_gates(device.settings).get(PASSTHROUGH_GATE, False):
        return found
    return [*found, *_for_machines(group.instance_type, device.count)]


def cut_on_request(
    group: NodegroupPlan, device: DevicePlan
) -> list[tuple[Json, list[Json]]] | None:
    """Counters of each GPU, with the devices that consume them: the GPU, and its partitions.

    Returns:
        None where the driver does not cut on request, or where nobody told what it publishes then.
    """
    if group.mig is None or not group.mig.is_dynamic:
        return None
    partitions = possible_partitions(group.instance_type)
    if partitions is None:
        return None
    return [
        _with_counters(gpu, partitions, device) for gpu in _gpus(group.instance_type, device.count)
    ]


def _gpus(name: str, count: int) -> list[Json]:
    data = published()
    record = data["gpus"].get(name)
    if record is None:
        return [device_of(f"gpu-{index}", {"type": "gpu"}) for index in range(count)]
    model = data["gpuModels"][record["model"]]
    alike = {
        "type": "gpu",
        "productName": record["model"],
        "brand": model["brand"],
        "architecture": model["architecture"],
        "cudaComputeCapability": version(model["cudaComputeCapability"]),
        **data["alike"][GPU_DRIVER],
    }
    memory = str(gpu_memory(name))
    return [
        device_of(
            f"gpu-{index}",
            alike | {"uuid": f"GPU-{index}", PCIE_ROOT_ATTRIBUTE: root},
            memory=memory,
        )
        for index, (root, *_) in enumerate(one_by_one(record))
    ]


def _cut(gpus: list[Json], group: NodegroupPlan) -> list[Json]:
    """GPUs, or their partitions where each is cut when its node boots: then no GPU is published."""
    if group.mig is None or group.mig.is_dynamic:
        return gpus
    cut = published_partitions(group.mig, group.instance_type)
    return [_partition(gpu, one) for gpu in gpus for one in cut]


def _partition(gpu: Json, one: Partition) -> Json:
    name = f"{gpu['name']}-{one.name}"
    found = _abstract(gpu, one)
    own = device_of(name, {"uuid": f"MIG-{name}"}, **one.slices)
    for part in ("attributes", "capacity"):
        found.setdefault(part, {}).update(own.get(part, {}))
    return found


def _abstract(gpu: Json, one: Partition) -> Json:
    """A partition without what it has once it is made."""
    attributes = {key: value for key, value in gpu["attributes"].items() if key != "uuid"}
    own = {"type": "mig", "profile": one.profile, "parentUUID": gpu["name"]}
    found = device_of(f"{gpu['name']}-{one.name}", own, **one.capacity)
    return found | {"attributes": attributes | found["attributes"]}


def _with_counters(
    gpu: Json, partitions: Iterable[Partition], device: DevicePlan
) -> tuple[Json, list[Json]]:
    """The counters of a GPU, and its devices in the order of their names."""
    name = f"{gpu['name']}-counter-set"
    whole: dict[str, str] = {}
    parts = []
    for one in partitions:
        parts.append(_abstract(gpu, one) | {"consumesCounters": [_counters(name, one.counters)]})
        for key, value in one.counters.items():
            whole[key] = max(whole.get(key, value), value, key=lambda text: amount_of(text) or 0)
    capacity = {
        key: {"value": value}
        for key, value in whole.items()
        if key in ("memory", "multiprocessors")
    }
    consumed = {"consumesCounters": [_counters(name, whole)]}
    gpu = gpu | {"capacity": gpu.get("capacity", {}) | capacity} | consumed
    devices = sorted(_shared([gpu, *parts], device), key=lambda one: str(one["name"]))
    values = {key: {"value": value} for key, value in whole.items()}
    return {"name": name, "counters": values}, devices


def _counters(name: str, values: dict[str, str]) -> Json:
    return {"counterSet": name, "counters": {key: {"value": one} for key, one in values.items()}}


def _shared(devices: list[Json], device: DevicePlan) -> list[Json]:
    """Devices that several claims may have, where the driver is told so.

    Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu (v0.5.0, consumable_shares.go)
    """
    shares = str(device.settings.get("consumable-shares", ""))
    return [_for_claims(one, shares) for one in devices] if shares else devices


def _for_claims(device: Json, shares: str) -> Json:
    memory = device.get("capacity", {}).get("memory")
    by_memory = shares == "memory"
    if memory is None and by_memory:
        # Nobody told how much of it there is to share: one claim can have it in any case.
        return device
    capacity = dict(device.get("capacity", {}))
    if memory is not None:
        most = str(int(amount_of(memory["value"]) or 0) // MIB) + "Mi"
        bounds = {"min": _STEP if by_memory else "0", "max": most, "step": _STEP}
        policy = {"default": most if by_memory else "0", "validRange": bounds}
        capacity["memory"] = {"value": most, "requestPolicy": policy}
    if shares.isdecimal():
        bounds = {"min": "1", "max": shares, "step": "1"}
        policy = {"default": "1", "validRange": bounds}
        capacity["shares"] = {"value": shares, "requestPolicy": policy}
    return device | {"allowMultipleAllocations": True, "capacity": capacity}


def _for_machines(name: str, count: int) -> list[Json]:
    """A GPU once more, as a whole PCI device for a virtual machine.

    Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu (v0.5.0, deviceinfo.go)
    """
    record = published()["gpus"].get(name)
    roots: list[Any] = [one[0] for one in one_by_one(record)] if record else [None] * count
    return [
        device_of(
            f"gpu-vfio-{index}",
            {"type": "vfio"} | ({} if root is None else {PCIE_ROOT_ATTRIBUTE: root}),
        )
        for index, root in enumerate(roots)
    ]
