"""Rules of a pinned AMI release: its form, its age, and what its nodes lack."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ._data import read_toml
from ._nested import found
from .findings import Finding, fault, warning
from .instance_types import AcceleratedInstanceType
from .kubernetes import floors
from .spec import NodegroupSpec
from .support import Support
from .typecheck import is_token, wrong_type
from .user_data.given import form_faults
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


def release_findings(
    spec: NodegroupSpec,
    instance: AcceleratedInstanceType,
    version: str,
    mechanisms: dict[DeviceType, Mechanism],
) -> Iterator[Finding]:
    """Faults and warnings of a pinned AMI release."""
    path = f"{spec.path}.release_version"
    match = _match(spec)
    if match is None:
        yield from _unpinned_findings(spec)
        return
    if spec.operating_system is OperatingSystem.AL2023:
        yield from _al2023_faults(match, path, version, mechanisms)
        yield from _dated_findings(match.group(3), path, instance, version, mechanisms)
    else:
        yield from _bottlerocket_faults(spec, match, mechanisms)


def _match(spec: NodegroupSpec) -> re.Match[str] | None:
    pattern, _ = _FORMS[spec.operating_system]
    return pattern.fullmatch(spec.release_version) if spec.release_version else None


def release_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """Faults of a pinned AMI release by itself: its form, and settings that it does not know."""
    wrong = tuple(release_form_faults(spec))
    yield from wrong
    if not wrong and spec.operating_system is OperatingSystem.BOTTLEROCKET:
        yield from _setting_faults(spec)


def release_form_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """The fault of a pinned AMI release that has no form, or another system's form."""
    value, path = spec.release_version, f"{spec.path}.release_version"
    fix = "copy the release version from the AMI's release notes, or leave it out"
    if value is not None and (not isinstance(value, str) or is_token(value)):
        allowed = " or ".join(example for _, example in _FORMS.values())
        yield wrong_type(path, value, allowed, fix)
    elif value is not None and spec.operating_system in _FORMS and not _match(spec):
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


def _setting_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """Settings that a release is too old for: it would refuse the whole user data."""
    match, path = _match(spec), f"{spec.path}.release_version"
    if match is None:
        return
    facts, data = read_toml("user_data.toml"), spec.user_data
    settings = {} if data is None or any(form_faults(data, path)) else data.settings()
    for row in facts["bottlerocket"]["floor"]:
        if found(settings, row["key"].split(".")) is not None:
            message = f"only Bottlerocket {row['release']} or later knows {row['key']}"
            yield from _floor_faults(match, row, path, message)
    if spec.instance_store is True:
        yield from _floor_faults(match, facts["storage"], path, facts["storage"]["message"])


def _floor_faults(
    match: re.Match[str], row: Mapping[str, Any], path: str, message: str
) -> Iterator[Finding]:
    if _numbers(match) < _parts(row["release"]):
        yield release_too_old(match.group(), row, path, message)


def al2023_patch(release: str | None) -> int | None:
    """The patch of Kubernetes on nodes of an AL2023 release; None where none is pinned."""
    match = _AL2023.fullmatch(release) if release else None
    return int(match.group(2)) if match else None


def bottlerocket_numbers(release: str | None) -> tuple[int, ...]:
    """The version of a Bottlerocket release; empty where none is pinned, or it is of AL2023."""
    match = _BOTTLEROCKET.fullmatch(release) if release else None
    return _numbers(match) if match else ()


def release_too_old(got: str, row: Mapping[str, Any], path: str, message: str) -> Finding:
    """The fault of a pinned release that lacks something; `row` has `release` and `source`."""
    return fault(
        "ReleaseTooOld",
        path,
        message,
        got=got,
        allowed=f"{row['release']} or later",
        fix="pin a newer release",
        source=row["source"],
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
    date: str,
    path: str,
    instance: AcceleratedInstanceType,
    version: str,
    mechanisms: dict[DeviceType, Mechanism],
) -> Iterator[Finding]:
    for row in _floors(OperatingSystem.AL2023):
        meant = instance.family in row.get("families", ()) or _is_named(row, mechanisms)
        if meant and date < row["release"]:
            yield release_too_old(date, row, path, row["message"])
    for row in read_toml("amis.toml")["avoid"]:
        if date == row["release"] and version in row["minors"]:
            yield warning(
                "ReleaseToAvoid", path, row["message"], fix=row["fix"], source=row["source"]
            )


def _bottlerocket_faults(
    spec: NodegroupSpec, match: re.Match[str], mechanisms: dict[DeviceType, Mechanism]
) -> Iterator[Finding]:
    path, told = f"{spec.path}.release_version", []
    for row in _floors(OperatingSystem.BOTTLEROCKET):
        named = _is_named(row, mechanisms)
        foreign = row["device"] in mechanisms and _is_foreign(spec, row)
        if foreign or (named and _is_meant(spec, row)):
            told.append(row)
    lower = {row["above"] for row in told if "above" in row}
    for row in told:
        if row.get("rule") not in lower:
            yield from _floor_faults(match, row, path, row["message"])


def _is_meant(spec: NodegroupSpec, row: Mapping[str, Any]) -> bool:
    """Whether a group has what a floor is about, where it is not about every group."""
    if row.get("host_service"):
        return spec.uses_host_service
    sharing = spec.gpu_sharing.feature if spec.gpu_sharing else None
    return "sharing" not in row or sharing == row["sharing"]


def _unpinned_findings(spec: NodegroupSpec) -> Iterator[Finding]:
    if spec.operating_system is not OperatingSystem.BOTTLEROCKET:
        return
    for row in _floors(OperatingSystem.BOTTLEROCKET):
        if _is_foreign(spec, row):
            path, fix = f"{spec.path}.release_version", f"pin {row['release']} or later"
            yield warning("ReleaseFloor", path, row["message"], fix=fix, source=row["source"])


def _floors(system: OperatingSystem) -> Iterator[dict[str, Any]]:
    return (row for row in read_toml("amis.toml")["floor"] if row["operating_system"] == system)


def _is_named(row: Mapping[str, Any], mechanisms: Mapping[DeviceType, Mechanism]) -> bool:
    """Whether a floor is about a device that a group hands out by its mechanism."""
    return "device" in row and mechanisms.get(DeviceType(row["device"])) == row["mechanism"]


def _is_foreign(spec: NodegroupSpec, row: dict[str, Any]) -> bool:
    return row.get("external", False) and row["device"] in spec.external


def release_settles(spec: NodegroupSpec, support: Support) -> bool:
    """Whether a warning of a rule is not needed.

    A pinned release may have what the rule is about, or the group a higher floor, which is told.
    """
    match = _match(spec) if spec.operating_system in _FORMS else None
    rows = [row for row in read_toml("amis.toml")["floor"] if row.get("rule") == support.rule]
    has = match is not None and any(_numbers(match) >= _parts(row["release"]) for row in rows)
    return has or _has_higher_floor(spec, support.rule)


def _has_higher_floor(spec: NodegroupSpec, rule: str) -> bool:
    rows = (row for row in read_toml("amis.toml")["floor"] if row.get("above") == rule)
    return any(_is_meant(spec, row) for row in rows)


def _numbers(match: re.Match[str]) -> tuple[int, ...]:
    return tuple(int(part) for part in match.groups())


def _parts(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))
