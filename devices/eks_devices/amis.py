"""AMI types by what a node needs."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any, Final

from ._data import read_toml
from .findings import Finding, fault, info, warning
from .instance_types import AcceleratedInstanceType
from .spec import NodegroupSpec
from .typecheck import is_token, wrong_type
from .vocabulary import OperatingSystem

# What the EKS API calls the image of a user's own.
CUSTOM_AMI: Final = "CUSTOM"
# What the data call nodes without an accelerator.
_NONE: Final = "none"
_IMAGE = re.compile(r"ami-[0-9a-f]{8}(?:[0-9a-f]{9})?", re.ASCII)
_IMAGE_FORM = "an id such as ami-0123456789abcdef0, or a token"
_TEMPLATES = "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"


@functools.cache
def _ami_types() -> dict[tuple[str, str, str], str]:
    rows = read_toml("amis.toml")["ami"]
    return {
        (row["operating_system"], row["architecture"], row["accelerator"]): row["ami_type"]
        for row in rows
    }


def ami_type(instance: AcceleratedInstanceType, system: OperatingSystem) -> str | None:
    """The EKS AMI type with the driver that a type needs; None where there is none."""
    return ami_type_of(system, str(instance.architecture), str(instance.device_type or _NONE))


def ami_type_of(system: OperatingSystem, architecture: str, accelerator: str = _NONE) -> str | None:
    """The EKS AMI type for an architecture and an accelerator; None where there is none."""
    return _ami_types().get((str(system), architecture, accelerator))


def disk_device(system: OperatingSystem) -> str:
    """The name of the volume that holds images and Pods' files."""
    rows = read_toml("amis.toml")["disk"]
    return next(str(row["device_name"]) for row in rows if row["operating_system"] == system)


def image_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """Faults of an image of the user's own, and of a release of EKS's image beside it."""
    value = spec.ami_id
    if value is None:
        return
    path, fix = f"{spec.path}.ami_id", "copy the image's id from the EC2 console"
    if not isinstance(value, str):
        yield wrong_type(path, value, _IMAGE_FORM, fix)
    elif not is_token(value) and not _IMAGE.fullmatch(value):
        yield fault(
            "MalformedAmiId",
            path,
            "this is not the id of an image",
            got=value,
            allowed=_IMAGE_FORM,
            fix=fix,
            source=_TEMPLATES,
        )
    if isinstance(value, str) and isinstance(spec.release_version, str):
        yield fault(
            "ReleaseWithOwnImage",
            f"{spec.path}.release_version",
            "a release is one of EKS's own images, and the group has another image",
            got=spec.release_version,
            allowed="None while ami_id is named",
            fix="leave one of the two out",
            source=_TEMPLATES,
        )


def ami_findings(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """Faults and warnings of an operating system that lacks what the type needs."""
    system, path = spec.operating_system, f"{spec.path}.operating_system"
    if spec.ami_id is not None:
        yield info(
            "OwnImage",
            f"{spec.path}.ami_id",
            "what is on an image of your own is not judged: the drivers of the devices, the "
            "kubelet's version, containerd",
            fix="build it from EKS's image for this type, and renew it with the cluster",
            source=_TEMPLATES,
        )
        return
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
        if row["operating_system"] == system and _is_meant(row, instance):
            yield warning(
                "AmiDriverGap", path, row["message"], fix=row["fix"], source=row["source"]
            )


def _is_meant(row: dict[str, Any], instance: AcceleratedInstanceType) -> bool:
    kind = str(instance.device_type or _NONE)
    return instance.family in row.get("families", ()) or kind == row.get("accelerator")


def _systems_for(instance: AcceleratedInstanceType) -> str:
    systems = [str(system) for system in OperatingSystem if ami_type(instance, system)]
    return ", ".join(systems) or "none"
