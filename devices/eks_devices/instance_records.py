"""The raw instance catalogue: DescribeInstanceTypes records with our overrides applied.

Two generated files hold the API's records (`data/instance_types.json`, `data/efa_types.json`);
`data/overrides.toml` holds what the API lacks or gets wrong. Records keep the API's field names.
Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ._data import data_path, read_json, read_toml

Record = Mapping[str, Any]

ACCELERATED_FILE: Final = "instance_types.json"
EFA_FILE: Final = "efa_types.json"
OVERRIDES_FILE: Final = "overrides.toml"
GPU_VENDOR: Final = "NVIDIA"
"""The manufacturer, in the API's spelling, of the only GPUs that Kubernetes on EKS manages."""
OTHER_ACCELERATORS: Final = {
    "GpuInfo": "Gpus",
    "InferenceAcceleratorInfo": "Accelerators",
    "FpgaInfo": "Fpgas",
    "MediaAcceleratorInfo": "Accelerators",
}
"""Where a record says which accelerators it has: the table and its list of devices."""

_WHOLE: Final = ("ProcessorInfo", "VCpuInfo", "MemoryInfo", "NetworkInfo")
"""The tables that every record has; an override without them corrects a record of the API."""
_ABOUT_ENTRY: Final = frozenset({"types", "families", "source", "checked", "why"})


class CatalogueError(RuntimeError):
    """The data of the catalogue is wrong: no input of a user can cause or mend this."""


def data_folder() -> str:
    """The folder of this package's data files, which a refresh of the catalogue writes to."""
    return os.path.dirname(data_path(ACCELERATED_FILE))  # noqa: PTH120  (pathlib is slow to import)


def accelerated_record(name: str, generated: Mapping[str, Record] | None = None) -> Record | None:
    """The record of an accelerated type, with overrides; None when there is none.

    Args:
        name: The type.
        generated: The API's records by type; those of this package unless given.

    Raises:
        CatalogueError: The overrides correct a record that does not exist.
    """
    base = (read_json(ACCELERATED_FILE) if generated is None else generated).get(name)
    patches = _patches().get(name, ())
    if base is None and not patches:
        return None
    record = functools.reduce(merged, patches, base or {})
    if base is None:
        _require_whole(record)
    return record


def efa_only_record(name: str) -> Record | None:
    """The record of a type that has EFA and no accelerator of ours; None when there is none."""
    found: Record | None = read_json(EFA_FILE).get(name)
    return found


def accelerated_names() -> tuple[str, ...]:
    """Every accelerated type with data, sorted: from the API and from overrides alone."""
    return tuple(sorted({*read_json(ACCELERATED_FILE), *_patches()}))


def overridden_names() -> tuple[str, ...]:
    """Every type whose record the overrides correct or hold, sorted."""
    return tuple(sorted(_patches()))


def efa_only_names() -> tuple[str, ...]:
    """Every type that has EFA and no accelerator of ours, sorted."""
    return tuple(sorted(read_json(EFA_FILE)))


def announced() -> Mapping[str, Mapping[str, Any]]:
    """Types that are only names so far: name to its entry in the overrides."""
    entries = read_toml(OVERRIDES_FILE)["announced"]
    return {name: entry for entry in entries for name in entry["names"]}


def extra_facts(name: str) -> dict[str, Any]:
    """What the API has no field for, by the attribute names of AcceleratedInstanceType."""
    family = name.partition(".")[0]
    found: dict[str, Any] = {}
    for entry in read_toml(OVERRIDES_FILE)["facts"]:
        if name in entry.get("types", ()) or family in entry.get("families", ()):
            found |= {key: _frozen(entry[key]) for key in entry.keys() - _ABOUT_ENTRY}
    return found


def with_overrides(record: Record) -> Record:
    """A record as the catalogue would hold it."""
    return functools.reduce(merged, _patches().get(record["InstanceType"], ()), record)


def is_accelerated(record: Record) -> bool:
    """Whether a record with overrides has an accelerator that Kubernetes on EKS manages."""
    return bool(managed_gpus(record) or neuron_devices(record))


def managed_gpus(record: Record) -> list[Record]:
    """The GPU entries of a record that the NVIDIA drivers serve."""
    gpus = record.get("GpuInfo", {}).get("Gpus", ())
    return [gpu for gpu in gpus if gpu.get("Manufacturer") == GPU_VENDOR]


def neuron_devices(record: Record) -> list[Record]:
    """The Neuron device entries of a record."""
    return list(record.get("NeuronInfo", {}).get("NeuronDevices", ()))


def merged(record: Record, patch: Record) -> Record:
    """A new record with the patch on top; tables merge by key, lists of tables by position."""
    return {**record, **{key: _overlaid(record.get(key), patch[key]) for key in patch}}


def _require_whole(record: Record) -> None:
    lacking = [table for table in _WHOLE if table not in record]
    if lacking:
        raise CatalogueError(
            f"{record['InstanceType']}: {OVERRIDES_FILE} corrects a record that "
            f"{ACCELERATED_FILE} does not have, and is no whole record: it lacks "
            f"{', '.join(lacking)}; add the API's record, or remove the entry"
        )


def _overlaid(old: Any, new: Any) -> Any:
    if isinstance(new, dict):
        return merged(old if isinstance(old, Mapping) else {}, new)
    if isinstance(new, list) and new and isinstance(new[0], dict):
        return list(_overlaid_items(old if isinstance(old, list) else [], new))
    return new


def _overlaid_items(old: list[Any], new: list[Any]) -> Iterator[Any]:
    for position, item in enumerate(new):
        yield _overlaid(old[position] if position < len(old) else None, item)
    yield from old[len(new) :]


@functools.cache
def _patches() -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for entry in read_toml(OVERRIDES_FILE)["records"]:
        for name in entry["types"]:
            found.setdefault(name, []).append({"InstanceType": name, **entry["set"]})
    return found


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
