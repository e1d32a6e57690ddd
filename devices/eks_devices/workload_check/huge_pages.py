"""Huge pages: the sizes that there are, and how many of them nodes reserve."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from .._data import read_toml
from ..instance_types import CpuArchitecture
from ..plans import NodegroupPlan
from ..quantities import amount_of
from ..vocabulary import DeviceType

PAGE_MIB: Final = 2
PREFIX: Final = "hugepages-"
"""How the resources of huge pages begin; their size follows."""
# What people write for such a resource: "hugepages-2MB", "hugepage-2M", "HugePages_2048kB".
_WRITTEN: Final = re.compile(r"huge[-_]?pages?[-_]?(?:([0-9]{1,19})([kmg]?)i?b?)?[a-z]*", re.ASCII)
_FACTORS: Final = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def page_size(resource: str) -> Fraction | None:
    """The bytes of a page of a resource of huge pages; None for what the API server refuses."""
    size = amount_of(resource.removeprefix(PREFIX))
    return size if size is not None and size > 0 and size.denominator == 1 else None


def page_sizes(architecture: str) -> tuple[str, ...]:
    """The sizes of huge pages that nodes of an architecture have, the usual one first."""
    rows = read_toml("pod_rules.toml")["huge_page_sizes"]
    return next(tuple(row["sizes"]) for row in rows if row["architecture"] == architecture)


def pages_meant(resource: str) -> str:
    """The resource of huge pages that a misspelt one is meant for; empty for other things."""
    found = _WRITTEN.fullmatch(resource.lower())
    if found is None:
        return ""
    number, unit = int(found[1] or 0), found[2] or ""
    known = dict.fromkeys(one for kind in CpuArchitecture for one in page_sizes(kind))
    sizes = {int(amount_of(one) or 0): one for one in known}
    # A number alone may be one of bytes, or of what the kernel counts them in, or the unit is lost.
    factors = [_FACTORS[unit]] if unit else [1, *_FACTORS.values()]
    near = (sizes[number * one] for one in factors if number * one in sizes)
    return PREFIX + next(near, next(iter(known)))


def reserved_pages(group: NodegroupPlan) -> int | None:
    """How many pages of 2 MiB a node of a group reserves; None where that is not known."""
    if group.hugepages_2mi is None and (group.user_data is not None or group.ami_id is not None):
        return None
    return usual_pages(group)


def usual_pages(group: NodegroupPlan) -> int | None:
    """The same, as if nobody's own user data or AMI set aside others; None for none that we know.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
    """
    if group.hugepages_2mi is not None:
        return group.hugepages_2mi
    rows = read_toml("pod_rules.toml")["efa_huge_pages"]
    pages = {row["operating_system"]: int(row["pages"]) for row in rows}
    has_efa = group.device_of(DeviceType.EFA) is not None
    return pages.get(str(group.operating_system)) if has_efa else None
