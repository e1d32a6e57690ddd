"""Faults of the volumes in a user's own launch template properties, by EBS's limits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ._data import read_toml
from ._frozen import FrozenDict
from .findings import Finding, fault
from .launch_template import plan_volume
from .spec import NodegroupSpec
from .template_fields import Property
from .typecheck import is_token, whole_number
from .vocabulary import OperatingSystem

_DATA: Final = "launch_template.toml"


def is_plan_disk(spec: NodegroupSpec, one: Property) -> bool:
    """Whether a block device is the volume for images and Pods' files, which the plan has."""
    system = spec.operating_system
    return isinstance(system, OperatingSystem) and any(
        row["operating_system"] == system and row["device_name"] == _device_name(one)
        for row in read_toml("amis.toml")["disk"]
    )


def is_root_disk(_: NodegroupSpec, one: Property) -> bool:
    """Whether a block device is the volume that nodes boot from."""
    return bool(_device_name(one) == read_toml(_DATA)["root_disk"]["device_name"])


def is_added_disk(spec: NodegroupSpec, one: Property) -> bool:
    """Whether a block device is one that no image of EKS has; another image may have any."""
    name = _device_name(one)
    is_known = is_plan_disk(spec, one) or is_root_disk(spec, one)
    return spec.ami_id is None and bool(name) and not is_token(name) and not is_known


def _device_name(one: Property) -> str:
    name = one.entry.get("DeviceName") if one.entry else None
    return name if isinstance(name, str) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Volume:
    """A volume as it comes to be: what a user gives, over what the plan or EC2 does.

    Numbers are None where they are not named, or only known at deployment.
    """

    path: str
    size_path: str
    type: str
    limits: Mapping[str, Any]
    given: Mapping[str, Any]
    size: int | None
    iops: int | None
    throughput: int | None
    is_root: bool

    def in_range(self, name: str) -> int | None:
        """A number that is known and in the range of the type, which others are measured by."""
        value: int | None = getattr(self, name)
        least, most = self.limits.get(name, (1, 0))
        return value if value is not None and least <= value <= most else None


def volume_faults(spec: NodegroupSpec, mapping: Property) -> Iterator[Finding]:
    """Faults of one block device: what EBS would refuse when a node starts."""
    volume = _volume(spec, mapping)
    if volume is None:
        return
    yield from _key_faults(volume)
    if volume.limits:
        yield from _boot_faults(volume)
        yield from _setting_faults(volume, "Iops", volume.iops, "iops")
        yield from _setting_faults(volume, "Throughput", volume.throughput, "throughput")
        yield from _range_faults(volume.size, volume.size_path, volume.limits["size"])
        yield from _iops_faults(volume)
        yield from _throughput_faults(volume)


def _volume(spec: NodegroupSpec, mapping: Property) -> _Volume | None:
    ebs = mapping.entry.get("Ebs") if mapping.entry else None
    if not isinstance(ebs, FrozenDict):
        return None
    data, is_root = read_toml(_DATA)["volumes"], is_root_disk(spec, mapping)
    planned = plan_volume(_planned_size(spec)) if is_plan_disk(spec, mapping) else {}
    given = {**planned, **ebs}
    # The image alone knows the type of a root volume that the plan leaves to it.
    default = data["default_type"] if not is_root else None
    kind = given.get("VolumeType", default)
    path = f"{mapping.path}.Ebs"
    return _Volume(
        path=path,
        size_path=f"{spec.path}.disk_gib" if planned else f"{path}.VolumeSize",
        type=kind if isinstance(kind, str) else "",
        limits=data["types"].get(kind, {}) if isinstance(kind, str) else {},
        given=given,
        size=planned.get("VolumeSize", _number(given.get("VolumeSize"))),
        iops=_number(given.get("Iops")),
        throughput=_number(given.get("Throughput")),
        is_root=is_root,
    )


def _planned_size(spec: NodegroupSpec) -> int:
    default: int = read_toml("limits.toml")["disk"]["default"]
    return default if _number(spec.disk_gib) is None else spec.disk_gib or default


def _number(value: object) -> int | None:
    return value if type(value) is int else None


def _key_faults(volume: _Volume) -> Iterator[Finding]:
    encrypted = volume.given.get("Encrypted", False)
    if "KmsKeyId" in volume.given and encrypted is False:
        yield fault(
            "KeyWithoutEncryption",
            f"{volume.path}.KmsKeyId",
            "EC2 takes a key for an encrypted volume only",
            got=volume.given["KmsKeyId"],
            allowed="a key beside Encrypted",
            fix="write Encrypted: True, or leave the key out",
            source=read_toml(_DATA)["volumes"]["source"],
        )


def _boot_faults(volume: _Volume) -> Iterator[Finding]:
    data = read_toml(_DATA)["volumes"]
    if volume.is_root and volume.type in data["no_boot"]:
        yield fault(
            "NoBootVolume",
            f"{volume.path}.VolumeType",
            "no operating system boots from a volume of this type",
            got=volume.type,
            allowed=", ".join(one for one in data["types"] if one not in data["no_boot"]),
            fix=f"use {data['plan_type']}",
            source=data["source"],
        )


def _setting_faults(volume: _Volume, name: str, value: int | None, limit: str) -> Iterator[Finding]:
    """The fault of a number that the type does not take, or that is out of its range."""
    data = read_toml(_DATA)["volumes"]
    if limit in volume.limits:
        yield from _range_faults(value, f"{volume.path}.{name}", volume.limits[limit])
    elif name in volume.given:
        taking = [one for one, limits in data["types"].items() if limit in limits]
        yield fault(
            "VolumeTypeTakesNone",
            f"{volume.path}.{name}",
            f"volumes of type {volume.type} take no {name}",
            got=volume.given[name],
            allowed=f"{name} beside VolumeType {' or '.join(taking)}",
            fix=f"write VolumeType: {taking[0]}, or leave {name} out",
            source=data["source"],
        )


def _range_faults(value: int | None, path: str, limits: list[int]) -> Iterator[Finding]:
    least, most = limits
    yield from whole_number(value, path, lowest=least, highest=most, optional=True)


def _iops_faults(volume: _Volume) -> Iterator[Finding]:
    source = read_toml(_DATA)["volumes"]["source"]
    if volume.limits.get("needs_iops") and "Iops" not in volume.given:
        yield fault(
            "MissingTemplateField",
            f"{volume.path}.Iops",
            f"volumes of type {volume.type} need Iops",
            got=None,
            allowed="{} to {}".format(*volume.limits["iops"]),
            fix="add Iops",
            source=source,
        )
    per_gib = volume.limits.get("iops_per_gib", 0)
    iops, size = volume.in_range("iops"), volume.in_range("size")
    if iops and size and per_gib and iops > per_gib * size:
        yield fault(
            "TooManyIopsForSize",
            f"{volume.path}.Iops",
            f"volumes of type {volume.type} have at most {per_gib} IOPS for each GiB",
            got=iops,
            allowed=f"{per_gib * size} at most for {size} GiB",
            fix=f"lower Iops, or take a volume of {math.ceil(iops / per_gib)} GiB",
            source=source,
        )


def _throughput_faults(volume: _Volume) -> Iterator[Finding]:
    data = read_toml(_DATA)["volumes"]
    ratio = volume.limits.get("throughput_per_iops")
    iops = volume.in_range("iops") if "Iops" in volume.given else data["gp3_iops"]
    throughput = volume.in_range("throughput")
    if ratio and iops and throughput and throughput > ratio * iops:
        yield fault(
            "TooMuchThroughputForIops",
            f"{volume.path}.Throughput",
            f"volumes of type {volume.type} have at most {ratio} MiB/s for each IOPS",
            got=throughput,
            allowed=f"{math.floor(ratio * iops)} MiB/s at most for {iops} IOPS",
            fix=f"lower Throughput, or write Iops: {math.ceil(throughput / ratio)}",
            source=data["source"],
        )
