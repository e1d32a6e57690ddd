"""What would make a selector match devices that it just misses, and which groups have none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from ..claims.cel_reads import names_read
from ..feasibility.cel_values import QUANTITY
from ..feasibility.devices import node_devices
from ..findings import meant
from ..mig import mig_gpu
from ..names import EXTERNAL_OWNER
from ..plans import NodegroupPlan
from ..quantities import MIB, amount_of
from ..vocabulary import DeviceType, Mechanism

ALMOST: Final = 2
"""How far a selector with a slip of the pen is from devices."""

_KEY: Final = re.compile(r"\[\s*(['\"])[^'\"]*\1\s*\]")
_TEXT: Final = re.compile(r"'([^']*)'|\"([^\"]*)\"")


def near_value(text: str, group: NodegroupPlan) -> tuple[int, str] | None:
    """How far an expression is from the devices of a group, and what to write there instead.

    Returns:
        None where nothing in it is near to what devices have.
    """
    # Names of domains are texts as well.
    written = ["".join(one) for one in _TEXT.findall(_KEY.sub("", text))]
    for name in names_read(text) if written else ():
        values = _values(name, group)
        told = _near_text(values, written) or _near_amount(name, values, written)
        if told is not None:
            return told
    return None


def may_be_cut(group: NodegroupPlan) -> bool:
    """Whether a group has whole GPUs that can be cut into partitions."""
    has_gpus = group.device_of(DeviceType.GPU) is not None
    return has_gpus and group.mig is None and mig_gpu(group.instance_type) is not None


def as_claimed(group: NodegroupPlan) -> NodegroupPlan:
    """The group as if DRA handed out the devices that its device plugins do."""
    return replace(
        group,
        devices=tuple(
            one if one.owner == EXTERNAL_OWNER else replace(one, mechanism=Mechanism.DRA)
            for one in group.devices
        ),
    )


def _values(name: str, group: NodegroupPlan) -> list[Any]:
    devices = [one for one in node_devices(group).devices if name not in one.at_run_time]
    both = (values for one in devices for values in (one.attributes, one.capacity))
    return [values[name] for values in both if name in values]


def _near_text(values: Sequence[Any], written: Sequence[str]) -> tuple[int, str] | None:
    known = {one for one in values if isinstance(one, str)}
    if known.intersection(written):
        return None
    found = (meant(one, known) for one in written)
    return next(((ALMOST, told) for told in found if told), None)


def _near_amount(
    name: str, values: Sequence[Any], written: Sequence[str]
) -> tuple[int, str] | None:
    amounts = [
        Fraction(one[QUANTITY]) for one in values if isinstance(one, Mapping) and QUANTITY in one
    ]
    wanted = max((found for one in written if (found := amount_of(one))), default=None)
    if wanted is None or not amounts or wanted <= max(amounts):
        return None
    most = max(amounts)
    own = name.rpartition("/")[2]
    shown = f"{most / MIB}Mi" if most % MIB == 0 else str(most)
    return (
        3 if wanted <= 2 * most else 5,
        f"compare {own} with at most {shown}, which is what these devices have",
    )
