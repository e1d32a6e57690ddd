"""From entries of DescribeInstanceTypes to the records of the catalogue. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from eks_devices import instance_records
from eks_devices.instance_records import Record

from .._outcome import WRONG, OperationError

_MEMORY: Final = {"SizeInMiB": int}
_DEVICE: Final = {"Name": str, "Manufacturer": str, "Count": int, "MemoryInfo": _MEMORY}
_GPU: Final = {**_DEVICE, "GpuPartitionSize": float, "LogicalGpuCount": int}
_NEURON_DEVICE: Final = {
    "Name": str,
    "Count": int,
    "CoreInfo": {"Count": int, "Version": int},
    "MemoryInfo": _MEMORY,
}
_CARD: Final = {
    "NetworkCardIndex": int,
    "MaximumNetworkInterfaces": int,
    "InterfaceTypes": [str],
    "BaselineBandwidthInGbps": float,
}
_NETWORK: Final = {
    "NetworkCards": [_CARD],
    "MaximumNetworkInterfaces": int,
    "Ipv4AddressesPerInterface": int,
    "EfaSupported": bool,
    "EfaInfo": {"MaximumEfaInterfaces": int},
}
_SHAPE: Final[dict[str, Any]] = {
    "InstanceType": str,
    "BareMetal": bool,
    "Hypervisor": str,
    "ProcessorInfo": {"SupportedArchitectures": [str]},
    "VCpuInfo": {"DefaultVCpus": int},
    "MemoryInfo": _MEMORY,
    "GpuInfo": {"Gpus": [_GPU]},
    "NeuronInfo": {"NeuronDevices": [_NEURON_DEVICE]},
    "NetworkInfo": _NETWORK,
    "InstanceStorageInfo": {"TotalSizeInGB": int},
    "PlacementGroupInfo": {"SupportedStrategies": [str]},
    "SupportedUsageClasses": [str],
}
"""What rules read of an entry, in the API's names; the leaves are types."""

_OTHER: Final[dict[str, Any]] = {
    info: {devices: [_DEVICE]} for info, devices in instance_records.OTHER_ACCELERATORS.items()
}
_LARGEST: Final = 2**53
"""From here on, whole numbers have no exact fraction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueRecords:
    """The records of both generated files, by type name."""

    accelerated: Mapping[str, Record]
    efa_only: Mapping[str, Record]


def to_catalogue(infos: Iterable[Any]) -> CatalogueRecords:
    """The records that the catalogue keeps of all entries; types that Regions share are joined.

    Raises:
        OperationError: An entry is malformed, or no entry has an accelerator.
    """
    records: dict[str, Record] = {}
    for info in infos:
        record = to_record(info)
        name = record["InstanceType"]
        records[name] = joined(records[name], record) if name in records else record
    accelerated = {name: each for name, each in records.items() if _is_accelerated(each)}
    if not accelerated:
        raise OperationError(
            f"none of the {len(records)} instance types has an accelerator: this is no full "
            "answer, and the catalogue stays as it is",
            code=WRONG,
        )
    efa_only = {name: each for name, each in records.items() if _is_efa_only(each)}
    return CatalogueRecords(accelerated=accelerated, efa_only=efa_only)


def to_record(info: Any) -> Record:
    """An entry cut down to what rules read, in the API's own field names.

    Raises:
        OperationError: A field has another type than in the API, or nothing tells whose a GPU is.
    """
    name = _name(info)
    record: dict[str, Any] = _trimmed(info, _SHAPE, name)
    if not _is_accelerated(record):
        record |= _trimmed(info, _OTHER, name)
    _require_manufacturers(instance_records.with_overrides(record))
    return record


def joined(first: Record, second: Record) -> Record:
    """One record for a type that two Regions describe.

    Regions differ in how a type can be bought: those lists are united. Else the first counts.
    """
    both = (first, second)
    classes = {each for record in both for each in record.get("SupportedUsageClasses", ())}
    return {**second, **first, "SupportedUsageClasses": sorted(classes)}


def _is_accelerated(record: Record) -> bool:
    return instance_records.is_accelerated(instance_records.with_overrides(record))


def _is_efa_only(record: Record) -> bool:
    has_efa = record.get("NetworkInfo", {}).get("EfaSupported", False)
    return bool(has_efa) and not _is_accelerated(record)


def _name(info: Any) -> str:
    name = info.get("InstanceType") if isinstance(info, Mapping) else None
    if not isinstance(name, str) or not name.isprintable() or "." not in name:
        raise OperationError(
            f"expected entries with an InstanceType such as '<family>.<size>'; got {info!r:.80}",
            code=WRONG,
        )
    return name


def _trimmed(value: Any, shape: Any, path: str) -> Any:
    if isinstance(shape, dict):
        table = _typed(value, dict, path)
        kept = [key for key in shape if key in table]
        return {key: _trimmed(table[key], shape[key], f"{path}: {key}") for key in kept}
    if isinstance(shape, list):
        items = _typed(value, list, path)
        return [_trimmed(item, shape[0], f"{path}[{i}]") for i, item in enumerate(items)]
    if shape is float and type(value) is int and abs(value) < _LARGEST:
        return float(value)
    return _typed(value, shape, path)


def _typed(value: Any, expected: type, path: str) -> Any:
    if type(value) is not expected:
        raise OperationError(f"{path}: expected {expected.__name__}, got {value!r:.80}", code=WRONG)
    return value


def _require_manufacturers(record: Record) -> None:
    """A GPU of an unknown maker would silently be none of ours."""
    for position, gpu in enumerate(record.get("GpuInfo", {}).get("Gpus", ())):
        if not gpu.get("Manufacturer"):
            raise OperationError(
                f"{record['InstanceType']}: GpuInfo.Gpus[{position}].Manufacturer is missing",
                code=WRONG,
            )
