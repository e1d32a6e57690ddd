"""What is wrong with a record: fields that it lacks, values that no instance has. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from eks_devices import instance_records
from eks_devices.instance_records import Record
from eks_devices.instance_types import CpuArchitecture

_LEAST: Final = (
    ("VCpuInfo.DefaultVCpus", 1),
    ("MemoryInfo.SizeInMiB", 1),
)
_LEAST_IF_THERE: Final = (
    ("NetworkInfo.MaximumNetworkInterfaces", 1),
    ("NetworkInfo.Ipv4AddressesPerInterface", 1),
    ("NetworkInfo.EfaInfo.MaximumEfaInterfaces", 0),
    ("InstanceStorageInfo.TotalSizeInGB", 0),
)
_NEURON_LEAST: Final = (("Count", 1), ("CoreInfo.Count", 1), ("CoreInfo.Version", 1))
_CARD_FIELDS: Final = ("NetworkCardIndex", "MaximumNetworkInterfaces", "InterfaceTypes")
_ARCHITECTURES: Final = frozenset(each.value for each in CpuArchitecture)


def accelerated_faults(record: Record) -> Iterator[str]:
    """What is wrong with the record of an accelerated type; overrides are in it."""
    yield from _common_faults(record)
    gpus, neuron = instance_records.managed_gpus(record), instance_records.neuron_devices(record)
    if len(gpus) + len(neuron) != 1:
        yield (
            f"GpuInfo.Gpus and NeuronInfo.NeuronDevices have {len(gpus) + len(neuron)} entries "
            "of ours; expected 1, as a type has accelerators of one kind"
        )
    for gpu in gpus:
        yield from _gpu_faults(gpu, "GpuInfo.Gpus")
    for device in neuron:
        path = "NeuronInfo.NeuronDevices"
        yield from _name_faults(device, path)
        yield from _number_faults(device, path, _NEURON_LEAST)
        yield from _memory_faults(device, path)


def efa_only_faults(record: Record) -> Iterator[str]:
    """What is wrong with the record of a type that has EFA and no accelerator of ours."""
    yield from _common_faults(record)
    for info, devices in instance_records.OTHER_ACCELERATORS.items():
        for device in record.get(info, {}).get(devices, ()):
            yield from _name_faults(device, f"{info}.{devices}")


def _common_faults(record: Record) -> Iterator[str]:
    yield from _architecture_faults(record)
    yield from _number_faults(record, "", _LEAST)
    yield from _number_faults(record, "", _LEAST_IF_THERE, required=False)
    if record.get("NetworkInfo", {}).get("EfaSupported"):
        yield from _number_faults(record, "", [("NetworkInfo.EfaInfo.MaximumEfaInterfaces", 1)])
    yield from _card_faults(record)


def _architecture_faults(record: Record) -> Iterator[str]:
    found = record.get("ProcessorInfo", {}).get("SupportedArchitectures")
    if not found:
        yield "ProcessorInfo.SupportedArchitectures is missing or empty"
    elif _ARCHITECTURES.isdisjoint(found):
        known = ", ".join(sorted(_ARCHITECTURES))
        yield f"ProcessorInfo.SupportedArchitectures is {found!r:.80}; expected one of {known}"


def _card_faults(record: Record) -> Iterator[str]:
    cards = record.get("NetworkInfo", {}).get("NetworkCards")
    if not cards:
        yield "NetworkInfo.NetworkCards is missing or empty"
        return
    seen: set[int] = set()
    for position, card in enumerate(cards):
        path = f"NetworkInfo.NetworkCards[{position}]"
        missing = [field for field in _CARD_FIELDS if field not in card]
        if missing:
            yield (
                f"{path} lacks {', '.join(missing)}: the answer was recorded with a model that "
                "drops fields; upgrade the AWS CLI or boto3"
            )
            continue
        yield from _one_card_faults(card, path, seen)
        seen.add(card["NetworkCardIndex"])


def _one_card_faults(card: Record, path: str, seen: set[int]) -> Iterator[str]:
    limits = (("NetworkCardIndex", 0), ("MaximumNetworkInterfaces", 1))
    yield from _number_faults(card, path, limits)
    yield from _number_faults(card, path, [("BaselineBandwidthInGbps", 0)], required=False)
    index = card["NetworkCardIndex"]
    if index in seen:
        yield f"{path}.NetworkCardIndex is {index}, as that of another card"
    if not seen and index > 0:
        yield f"{path}.NetworkCardIndex is {index}; expected 0, the primary card, first"
    if not card["InterfaceTypes"]:
        yield f"{path}.InterfaceTypes is empty"


def _gpu_faults(gpu: Record, path: str) -> Iterator[str]:
    part = gpu.get("GpuPartitionSize", 1.0)
    if not 0 < part <= 1:
        yield f"{path}.GpuPartitionSize is {part}; expected a fraction above 0, at most 1"
    yield from _name_faults(gpu, path)
    yield from _number_faults(gpu, path, [("Count", 0 if part < 1 else 1)])
    if part < 1 and gpu.get("Count") == 0:  # a fraction of a GPU is no whole one
        yield from _number_faults(gpu, path, [("LogicalGpuCount", 1)])
    yield from _memory_faults(gpu, path)


def _memory_faults(device: Record, path: str) -> Iterator[str]:
    return _number_faults(device, path, [("MemoryInfo.SizeInMiB", 1)], required=False)


def _name_faults(device: Record, path: str) -> Iterator[str]:
    if not device.get("Name"):
        yield f"{path}.Name is missing or empty"


def _number_faults(
    table: Record, path: str, limits: Any, *, required: bool = True
) -> Iterator[str]:
    for field, least in limits:
        value, name = _at(table, field), f"{path}.{field}".lstrip(".")
        if value is None:
            if required:
                yield f"{name} is missing"
        elif value < least:
            yield f"{name} is {value}; expected at least {least}"


def _at(table: Record, path: str) -> Any:
    found: Any = table
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found
