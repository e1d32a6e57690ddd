"""What to write in an expression that misses the values which devices have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from ...claims.cel_reads import names_read
from ..cel.expressions import evaluate, selector
from ..cel.values import QUANTITY
from ..slices import NodeDevice
from .near import as_published, drivers_behind
from .rewritten import Rewritten, matches, rewritten
from .values_told import values_told

_CHANGE: Final = "change the selector to what these devices have"


@dataclass(frozen=True, slots=True)
class NearMiss:
    """What to write instead, and how many times as much as devices have is asked for.

    `times` is 1 for a slip of the pen.
    """

    fix: str
    times: Fraction = Fraction(1)


def near_miss(text: str, devices: Sequence[NodeDevice]) -> NearMiss | None:
    """How an expression just misses devices; None where nothing in it is near to what they have."""
    found = rewritten(text, devices)
    if found is None or found.times is None:
        return None
    if found.times == 1:
        return NearMiss(f"{found.why}write {found.part}")
    return NearMiss(f"{_at_most(found, devices)}: write {found.part}", found.times)


def instead(text: str, devices: Sequence[NodeDevice]) -> str:
    """What to write in an expression, be it near to what devices have or not."""
    if near := near_miss(text, devices):
        return near.fix
    if found := rewritten(text, devices):
        return f"{_CHANGE}: {found.why}write {found.part}{_others(found.part, devices)}"
    has = values_told(text, devices)
    return f"{_CHANGE}: {has}" if has else _CHANGE


def times_off(text: str, device_class: str, devices: Sequence[NodeDevice]) -> Fraction | None:
    """How many times as much as devices have an expression asks for once it is mended.

    0 for one that matches, 1 for a slip of the pen, None where nothing is near.
    """
    text = as_published(_mended(text), drivers_behind(device_class, devices), devices)
    answers = (evaluate(text, one) for one in devices)
    text = next((one.instead for one in answers if one.instead), text)
    if any(matches(text, one) for one in devices):
        return Fraction(0)
    near = near_miss(text, devices)
    return near.times if near else None


def _mended(text: str) -> str:
    problem = selector(text).problem
    return (problem.instead if problem else "") or text


def _at_most(found: Rewritten, devices: Sequence[NodeDevice]) -> str:
    """That devices have less than is asked for."""
    name = next(iter(names_read(found.part)))
    has = values_told(found.part, [max(devices, key=lambda one: _amount(name, one))])
    own, _, most = has.partition(" ")
    return f"compare {own} with at most {most}, which is what these devices have"


def _amount(name: str, device: NodeDevice) -> Fraction:
    return Fraction(device.capacity.get(name, {}).get(QUANTITY, 0))


def _others(part: str, devices: Sequence[NodeDevice]) -> str:
    """That devices differ in what is compared."""
    for name in names_read(part, fields=("attributes",)):
        values = {repr(one.attributes[name]) for one in devices if name in one.attributes}
        if len(values) > 1:
            own = name.rpartition("/")[2]
            return f", or another of the {len(values)} values of {own}"
    return ""
