"""Rules of EKS for every managed node group, with accelerators or without: name, sizes, disk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ._data import read_toml
from .findings import Finding, fault
from .typecheck import is_token, whole_number, wrong_type

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?", re.ASCII)


def nodegroup_name_faults(name: object, path: str) -> Iterator[Finding]:
    """The fault of a name that no node group can have, or no label of its nodes."""
    limit = read_toml("limits.toml")["names"]
    allowed = f"1 to {limit['longest']} letters, digits, '-' or '_', letters or digits at both ends"
    if not isinstance(name, str) or is_token(name):
        yield wrong_type(path, name, allowed, "write the name as a text")
    elif len(name) > limit["longest"] or not _NAME.fullmatch(name):
        yield fault(
            "MalformedName",
            path,
            "EKS takes no such node group name",
            got=name,
            allowed=allowed,
            fix="shorten or respell the name",
            source=limit["source"],
        )


def size_faults(
    path: str, *, min_size: Any, max_size: Any, desired_size: Any, autoscaled: Any, lowest: int
) -> Iterator[Finding]:
    """Faults of the sizes of a group, each by itself and together.

    Args:
        path: Names the group.
        min_size: What was given, or what holds where nothing was.
        max_size: What was given; None where nothing was.
        desired_size: What was given; None where nothing was.
        autoscaled: Whether an autoscaler sets the size.
        lowest: The fewest nodes that the group may have.
    """
    most = read_toml("limits.toml")["sizes"]["most"]
    wrong = [
        *whole_number(min_size, f"{path}.min_size", lowest=lowest, highest=most),
        *whole_number(max_size, f"{path}.max_size", lowest=1, highest=most, optional=True),
        *whole_number(
            desired_size, f"{path}.desired_size", lowest=lowest, highest=most, optional=True
        ),
    ]
    yield from wrong or _order_faults(path, min_size, max_size, desired_size)
    if autoscaled is True and desired_size is not None:
        yield fault(
            "DesiredSizeWithAutoscaler",
            f"{path}.desired_size",
            "an autoscaler sets the desired size, and a deployment would undo it",
            got=desired_size,
            allowed="None while autoscaled=True",
            fix="leave desired_size out, or autoscaled=False",
        )


def _order_faults(
    path: str, fewest: int, most: int | None, desired: int | None
) -> Iterator[Finding]:
    if most is not None and fewest > most:
        yield fault(
            "SizesOutOfOrder",
            f"{path}.max_size",
            "min_size is above max_size",
            got=most,
            allowed=f"{fewest} or more",
            fix="raise max_size, or lower min_size",
        )
    if desired is not None and (desired < fewest or (most is not None and desired > most)):
        yield fault(
            "SizesOutOfOrder",
            f"{path}.desired_size",
            "desired_size is not between min_size and max_size",
            got=desired,
            allowed=f"{fewest} or more" if most is None else f"{fewest} to {most}",
            fix="name a size in this range",
        )


def disk_faults(disk_gib: object, path: str) -> Iterator[Finding]:
    """The fault of a size that the volume for images and Pods' files cannot have, in GiB.

    Source: https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html
    """
    volumes = read_toml("launch_template.toml")["volumes"]
    smallest = read_toml("limits.toml")["disk"]["smallest"]
    _, largest = volumes["types"][volumes["plan_type"]]["size"]
    yield from whole_number(disk_gib, path, lowest=smallest, highest=largest, optional=True)
