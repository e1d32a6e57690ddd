"""Driver and device plugin releases, and the registries that hold EKS-owned images."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

from ._data import read_json, read_toml
from .efa_installation import DranetBuild
from .findings import EksDevicesError, Finding, fault, raise_faults
from .typecheck import is_token, member, plain_text, wrong_type
from .vocabulary import DeviceType, ManagerKey, Mechanism

_TAG = re.compile(r"v?([0-9]+)\.([0-9]+)\.([0-9]+)(?:-eksbuild\.[0-9]+)?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyFloor:
    """The first release, `tag`, that serves a family of instance types, and why."""

    family: str
    tag: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverRelease:
    """One release of a DRA driver or device plugin.

    `build` is who built it, where several do. `image` is empty for EKS-owned images, which have
    `repository` instead: their registry depends on the Region. `oldest` is the first release that
    works at all, empty where each does, and `oldest_for` are those of single families; `before` is
    the first release that what is drawn is not for, empty where it is for each later one;
    `older_majors` are first numbers of releases that are older still, from before the numbering
    began anew; `verified` tells whether somebody pulled the image.
    """

    device_type: DeviceType
    mechanism: Mechanism
    build: DranetBuild | None
    image: str
    repository: str
    tag: str
    kubernetes_min: str
    avoid: tuple[str, ...]
    avoid_why: str
    oldest: str
    oldest_why: str
    before: str
    before_why: str
    oldest_for: tuple[FamilyFloor, ...]
    older_majors: tuple[int, ...]
    verified: bool
    source: str

    @property
    def manager(self) -> ManagerKey:
        """Which manager it is a release of."""
        return self.device_type, self.mechanism

    @classmethod
    def of(
        cls, *, device_type: DeviceType, mechanism: Mechanism, build: DranetBuild | None = None
    ) -> DriverRelease:
        """The pinned release for a device type and mechanism.

        Args:
            device_type: The device type.
            mechanism: The mechanism.
            build: Whose build of DRANET; that of EKS unless named. Others have one build each.

        Raises:
            EksDevicesError: `NoRelease`, where no driver exists (ComputeDomains by plugin).
        """
        raise_faults(
            [
                *member(device_type, DeviceType, "device_type"),
                *member(mechanism, Mechanism, "mechanism"),
                *member(build, DranetBuild, "build", optional=True),
            ]
        )
        found = [one for one in _releases() if one.manager == (device_type, mechanism)]
        if not found:
            raise EksDevicesError([_missing(device_type, mechanism)])
        return next((one for one in found if build and one.build is build), found[0])

    @classmethod
    def all(cls) -> tuple[DriverRelease, ...]:
        """Every pinned release."""
        return _releases()


def release_number(tag: str) -> tuple[int, ...]:
    """The version that a tag names, "v0.5.21-eksbuild.3" too; empty where it names none."""
    found = _TAG.fullmatch(tag)
    return tuple(map(int, found.groups())) if found else ()


def _missing(device_type: object, mechanism: object) -> Finding:
    known = ", ".join(dict.fromkeys(f"{one.device_type} by {one.mechanism}" for one in _releases()))
    return fault(
        "NoRelease",
        "releases",
        "no driver serves this device type by this mechanism",
        got=f"{device_type} by {mechanism}",
        allowed=known,
        fix="name one of the combinations that exist",
    )


@functools.cache
def _releases() -> tuple[DriverRelease, ...]:
    rows = read_toml("releases.toml")["releases"].values()
    return tuple(
        DriverRelease(
            device_type=DeviceType(row["device"]),
            mechanism=Mechanism(row["mechanism"]),
            build=DranetBuild(row["build"]) if "build" in row else None,
            image=row.get("image", ""),
            repository=row.get("repository", ""),
            tag=row["tag"],
            kubernetes_min=row["kubernetes_min"],
            avoid=tuple(row["avoid"]),
            avoid_why=row.get("avoid_why", ""),
            oldest=row.get("oldest", ""),
            oldest_why=row.get("oldest_why", ""),
            before=row.get("before", ""),
            before_why=row.get("before_why", ""),
            oldest_for=tuple(FamilyFloor(**one) for one in row.get("oldest_for", ())),
            older_majors=tuple(row.get("older_majors", ())),
            verified=row["verified"],
            source=row["source"],
        )
        for row in rows
    )


def eks_registry(*, region: str, partition: str | None = None) -> str:
    """The registry that holds EKS-owned images for a Region.

    Args:
        region: The Region, "us-east-2".
        partition: The partition; the one that the Region belongs to unless named.

    Raises:
        EksDevicesError: `UnknownPartition`; `UnknownRegistryRegion` for a Region whose account is
            not known, or that belongs to another partition: name a repository of your own there.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/add-ons-images.html
    """
    region, partition = plain_text(region), plain_text(partition)
    wanted, fix = "a literal string", "write the name itself"
    raise_faults(
        wrong_type(path, value, wanted, fix)
        for path, value in (
            ("region", region),
            ("partition", "" if partition is None else partition),
        )
        if not isinstance(value, str) or is_token(value)
    )
    data = read_json("registry_accounts.json")
    own = _partition_of(region, data)
    if partition is not None and partition not in data["suffix_by_partition"]:
        known = data["suffix_by_partition"]
        raise EksDevicesError([_registry_fault("UnknownPartition", "partition", partition, known)])
    accounts = data["accounts"].get(partition or own, {})
    account = accounts.get(region, data["default_account"] if own == "aws" else None)
    if account is None or own != (partition or own):
        raise EksDevicesError(
            [_registry_fault("UnknownRegistryRegion", "region", region, accounts)]
        )
    registry: str = data["registry"]
    suffix = data["suffix_by_partition"][own]
    return registry.format(account=account, region=region, suffix=suffix)


def _partition_of(region: str, data: dict[str, Any]) -> str:
    """The partition of a Region: where its account is listed, or `aws` for names of its form."""
    for partition, accounts in data["accounts"].items():
        if region in accounts:
            return str(partition)
    return "aws" if re.fullmatch(data["default_region_form"], region, re.ASCII) else ""


def _registry_fault(code: str, path: str, got: str, known: dict[str, str]) -> Finding:
    return fault(
        code,
        path,
        "the account that holds EKS-owned images here is not known",
        got=got,
        allowed=", ".join(sorted(known)) or "Regions of AWS",
        fix="check the spelling, or name an image repository of your own",
    )
