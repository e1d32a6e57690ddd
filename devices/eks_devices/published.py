"""What the DRA drivers publish per instance type, as far as somebody told or read it from a node.

Nothing here is a promise of AWS: a type that is missing is unknown, and functions say so with None.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from ._data import read_json
from .vocabulary import DeviceType


@dataclass(frozen=True, slots=True, kw_only=True)
class PcieRoot:
    """One PCIe root complex of an instance type and the devices that sit on it.

    `name` is a platform detail: only equality is dependable.

    Source: https://github.com/aws/karpenter-provider-aws (pkg/providers/drametadata)
    """

    name: str
    gpus: int
    efas: int


def published() -> dict[str, Any]:
    """The data file as it is; its key `about` tells what the others hold."""
    data: dict[str, Any] = read_json("published_devices.json")
    return data


def gpu_model(name: str) -> str | None:
    """The `productName` that the GPUs of a type publish; None when it is not known.

    Source: https://github.com/aws/karpenter-provider-aws (pkg/providers/drametadata)
    """
    record = published()["gpus"].get(name)
    return str(record["model"]) if record else None


def gpu_memory(name: str) -> str | None:
    """The memory that each GPU of a type publishes, a quantity; None when it is not known."""
    data = published()
    record = data["gpus"].get(name)
    if record is None:
        return None
    return str(record.get("memory") or data["gpuModels"][record["model"]]["memory"])


def is_read(name: str, device_type: DeviceType) -> bool:
    """Whether somebody read the GPUs or EFAs of a type from a node."""
    return name in published()["gpus" if device_type is DeviceType.GPU else "efas"]


def is_published(name: str, device_type: DeviceType) -> bool:
    """Whether somebody told what the devices of a type publish."""
    if device_type is DeviceType.GPU:
        return name in published()["gpus"]
    if device_type is DeviceType.EFA:
        return name in published()["efas"] or neuron_map(name) is not None
    return True


@functools.cache
def pcie_roots(name: str) -> tuple[PcieRoot, ...] | None:
    """The PCIe roots of a type that hold a GPU or an EFA; None when its GPUs are not known."""
    data = published()
    if name not in data["gpus"]:
        return None
    gpus = _per_root(data["gpus"][name])
    efas = _per_root(data["efas"].get(name, {"roots": ()}))
    return tuple(
        PcieRoot(name=root, gpus=gpus.get(root, 0), efas=efas.get(root, 0))
        for root in dict.fromkeys((*gpus, *efas))
    )


def _per_root(record: dict[str, Any]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for root, devices, *_ in record["roots"]:
        counts[root] = counts.get(root, 0) + devices
    return counts


def gpu_efa_roots(name: str) -> tuple[tuple[int, int], ...] | None:
    """GPUs and EFAs of each PCIe root that has both.

    Returns:
        One (GPUs, EFAs) pair per shared root; `()` when GPUs and EFAs are known to share none, so
        that no claim can align them; None when the type's devices are not known.
    """
    roots = pcie_roots(name)
    if roots is None:
        return None
    return tuple((root.gpus, root.efas) for root in roots if root.gpus and root.efas)


def mig_profiles(name: str) -> tuple[str, ...] | None:
    """The MIG profiles that the GPUs of a type can be cut into.

    Returns:
        Profile names such as `1g.10gb`; `()` when the GPUs have no MIG; None when not known.

    Source: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
    """
    record = mig_record(name)
    return None if record is None else tuple(record.get("profiles", ()))


def mig_placements(name: str, profile: str) -> int | None:
    """How many partitions of a MIG profile fit on one GPU of a type; None when it is not known.

    Source: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
    """
    profiles = (mig_record(name) or {}).get("profiles", {})
    return int(profiles[profile]["most"]) if profile in profiles else None


def mig_model(name: str) -> str | None:
    """The `productName` of a type's GPUs, also where nobody read the rest from a node.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/device-management-nvidia-mig.html
    """
    family: str | None = published()["gpuFamilies"].get(name.partition(".")[0])
    return gpu_model(name) or family


def mig_record(name: str) -> dict[str, Any] | None:
    """What `migProfiles` says of the GPUs of a type; empty without MIG, None when not known."""
    data = published()
    if name in data["typesWithoutMig"]:
        return {}
    model = mig_model(name)
    if model is None or data["gpuModels"][model]["mig"] == "unknown":
        return None
    record: dict[str, Any] = data["migProfiles"].get(model, {})
    return record


@functools.cache
def all_device_group_sizes() -> tuple[int, ...]:
    """The sizes of connected Neuron device groups that any type publishes.

    Source: https://github.com/aws-neuron/connected-device-maps-over-efa-for-neuron
    """
    sizes = {size for mapping in published()["neuronMaps"].values() for size in _sizes(mapping)}
    return tuple(sorted(sizes))


def device_group_sizes(name: str) -> tuple[int, ...]:
    """The sizes of connected Neuron device groups that a type publishes; `()` when it has none."""
    mapping = neuron_map(name)
    return () if mapping is None else _sizes(mapping)


def device_group_count(name: str, size: int) -> int:
    """How many groups of `size` Neuron devices a type publishes; 0 where it has none.

    Groups of one are EFAs, of which several devices may share one.
    """
    mapping = neuron_map(name)
    if mapping is None or size not in _sizes(mapping):
        return 0
    return len({*(mapping["efas"] if size == 1 else mapping[f"devicegroup{size}_id"])})


def efa_per_device_group(name: str, size: int) -> int | None:
    """How many EFAs a group of `size` Neuron devices has; None where no map or group exists."""
    mapping = neuron_map(name)
    if mapping is None or size not in _sizes(mapping):
        return None
    return len(set(mapping["efas"][:size]))


def _sizes(mapping: dict[str, Any]) -> tuple[int, ...]:
    # A map lists the EFA of each device, which is its group of one, and `devicegroup4_id`, ...
    ids = (key for key in mapping if key != "efas")
    sizes = (int(key.removeprefix("devicegroup").removesuffix("_id")) for key in ids)
    return (1, *sorted(sizes))


def neuron_map(name: str) -> dict[str, Any] | None:
    """Which EFA and which groups each Neuron device of a type belongs to; None without a map."""
    data = published()
    mapping: dict[str, Any] | None = data["neuronMaps"].get(data["neuronTypes"].get(name))
    return mapping
