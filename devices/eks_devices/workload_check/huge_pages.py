"""How many huge pages nodes reserve."""

from __future__ import annotations

from typing import Final

from .._data import read_toml
from ..plans import NodegroupPlan
from ..vocabulary import DeviceType

PAGE_MIB: Final = 2


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
