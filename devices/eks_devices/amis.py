"""AMI types by what a node needs, and the AMI releases that do not do."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from ._data import read_toml
from .findings import Finding, fault, warning
from .instance_types import AcceleratedInstanceType
from .kubernetes import floors, is_token
from .spec import NodegroupSpec
from .typecheck import wrong_type
from .vocabulary import DeviceType, Mechanism, OperatingSystem

_AL2023 = re.compile(r"(1\.[0-9]{2})\.([0-9]{1,2})-([0-9]{8})", re.ASCII)
# A commit that reads as a date is a release of AL2023, pinned on the wrong system.
_BOTTLEROCKET = re.compile(
    r"([0-9]{1,2})\.([0-9]{1,3})\.([0-9]{1,3})-(?!20[0-9]{6})[0-9a-f]{8}", re.ASCII
)
_FORMS = {
    OperatingSystem.AL2023: (_AL2023, "a release such as 1.34.2-20261023"),
    OperatingSystem.BOTTLEROCKET: (_BOTTLEROCKET, "a release such as 1.66.0-0a1b2c3d"),
}
_RELEASES = "https://github.com/awslabs/amazon-eks-ami/releases"


@functools.cache
def _ami_types() -> dict[tuple[str, str, str], str]:
    rows = read_toml("amis.toml")["ami"]
    return {
        (row["operating_system"], row["architecture"], row["accelerator"]): row["ami_type"]
        for row in rows
    }


def ami_type(instance: AcceleratedInstanceType, system: OperatingSystem) -> str | None:
    """The EKS AMI type with the driver that a type needs; None where there is none."""
    accelerator = str(instance.device_type or "none")
    return _ami_types().get((str(system), str(instance.architecture), accelerator))


def ami_findings(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """Faults and warnings of an operating system that lacks what the type needs."""
    system, path = spec.operating_system, f"{spec.path}.operating_system"
    if ami_type(instance, system) is None:
        text = f"EKS has no AMI of this operating system for {instance.name}"
        yield fault(
            "NoAmi",
            path,
            text,
            got=str(system),
            allowed=_systems_for(instance),
            fix="choose another operating system or instance type",
        )
    for row in read_toml("amis.toml")["gap"]:
        if row["operating_system"] == system and instance.family in row["families"]:
            yield warning(
                "AmiDriverGap", path, row["message"], fix=row["fix"], source=row["source"]
            )


def _systems_for(instance: AcceleratedInstanceType) -> str:
    systems = [str(system) for system in _FORMS if ami_type(instance, system)]
    return ", ".join(systems) or "none"


def release_findings(
    spec: NodegroupSpec,
    instance: AcceleratedInstanceType,
    version: str,
    mechanisms: dict[DeviceType, Mechanism],
) -> Iterator[Finding]:
    """Faults and warnings of a pinned AMI release."""
    path = f"{spec.path}.release_version"
    match = _release_match(spec)
    if match is None:
        return
    if spec.operating_system is OperatingSystem.AL2023:
        yield from _al2023_faults(match, path, version, mechanisms)
        yield from _dated_findings(match.group(3), path, instance, version)
    else:
        yield from _bottlerocket_faults(match, path, mechanisms)


def _release_match(spec: NodegroupSpec) -> re.Match[str] | None:
    pattern, _ = _FORMS[spec.operating_system]
    return pattern.fullmatch(spec.release_version) if spec.release_version else None


def release_form_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """The fault of a pinned AMI release that has no form, or another system's form."""
    value, path = spec.release_version, f"{spec.path}.release_version"
    fix = "copy the release version from the AMI's release notes, or leave it out"
    if value is not None and (not isinstance(value, str) or is_token(value)):
        allowed = " or ".join(example for _, example in _FORMS.values())
        yield wrong_type(path, value, allowed, fix)
    elif value is not None and spec.operating_system in _FORMS and not _release_match(spec):
        message = "this is not the form of an AMI release version of this operating system"
        yield fault(
            "MalformedReleaseVersion",
            path,
            message,
            got=value,
            fix=fix,
            allowed=_FORMS[spec.operating_system][1],
            source=_RELEASES,
        )


def _al2023_faults(
    match: re.Match[str], path: str, version: str, mechanisms: dict[DeviceType, Mechanism]
) -> Iterator[Finding]:
    minor, patch = match.group(1), int(match.group(2))
    floor = floors()["dra-node"]
    uses_dra = Mechanism.DRA in mechanisms.values()
    if minor != version:
        message = f"the release is for Kubernetes {minor}, the group for {version}"
        yield fault(
            "ReleaseOfOtherMinor",
            path,
            message,
            got=match.group(),
            allowed=f"a release that begins with {version}.",
            source=_RELEASES,
            fix="pin a release of the group's own minor",
        )
    elif uses_dra and patch < floor.patches[minor]:
        message = f"DRA needs nodes of {minor}.{floor.patches[minor]} or later: {floor.why}"
        yield fault(
            "NodePatchBelowFloor",
            path,
            message,
            got=match.group(),
            allowed=f"{minor}.{floor.patches[minor]} or later",
            source=floor.source,
            fix="pin a newer release, or leave release_version out for the newest",
        )


def _dated_findings(
    date: str, path: str, instance: AcceleratedInstanceType, version: str
) -> Iterator[Finding]:
    for row in read_toml("amis.toml")["floor"]:
        if instance.family in row.get("families", ()) and date < row["release"]:
            yield fault(
                "ReleaseTooOld",
                path,
                row["message"],
                got=date,
                source=row["source"],
                allowed=f"{row['release']} or later",
                fix="pin a newer release",
            )
    for row in read_toml("amis.toml")["avoid"]:
        if date == row["release"] and version in row["minors"]:
            yield warning(
                "ReleaseToAvoid", path, row["message"], fix=row["fix"], source=row["source"]
            )


def _bottlerocket_faults(
    match: re.Match[str], path: str, mechanisms: dict[DeviceType, Mechanism]
) -> Iterator[Finding]:
    release = tuple(int(part) for part in match.groups())
    for row in read_toml("amis.toml")["floor"]:
        if row["operating_system"] != OperatingSystem.BOTTLEROCKET:
            continue
        lowest = tuple(int(part) for part in row["release"].split("."))
        if mechanisms.get(DeviceType(row["device"])) == row["mechanism"] and release < lowest:
            yield fault(
                "ReleaseTooOld",
                path,
                row["message"],
                got=match.group(),
                allowed=f"{row['release']} or later",
                fix="pin a newer release",
                source=row["source"],
            )


def node_floor(version: str) -> int:
    """The first patch of a minor on which nodes can run any DRA driver."""
    return floors()["dra-node"].patches.get(version, 0)
