"""What is known of values that only a running node has, and what to write for other ones."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from ..._data import read_toml
from ..._frozen import FrozenDict
from ...findings import listed_or
from ..slices import NodeDevice
from .changes import name_of, own_name
from .text_changes import Site, places

_NUMA: Final = "/numaNode"


def run_time_fix(text: str, devices: Sequence[NodeDevice], others: Sequence[NodeDevice]) -> str:
    """What to write for a value that the devices will not have; empty where they may have it.

    Args:
        text: The expression.
        devices: The devices that it is about.
        others: All devices of the node.
    """
    unknown = {name for one in devices for name in one.at_run_time}
    found = (
        told
        for match, site in places(text)
        if not match["driver"] and name_of(match) in unknown
        for told in _of_place(match, site, others)
    )
    return next(found, "")


def _of_place(match: re.Match[str], site: Site, others: Sequence[NodeDevice]) -> Iterator[str]:
    name, own, written = name_of(match), own_name(match), match["value"].strip("'\"")
    values = _forms("one_of").get(name, ())
    if values and match.groupdict().get("operator") == "==" and written not in values:
        yield f"{own} is {listed_or(values)}{_instead(match, site, values)}"
    for start in _forms("begins_with").get(name, ())[:1]:
        like = written[: len(start)].casefold() == start.casefold()
        if like and not written.startswith(start):
            right = match[0].replace(written, start + written[len(start) :])
            yield f"{own} begins with {start}: write {right}"
    if name.endswith(_NUMA) and written.isdecimal():
        numbers = sorted({value for one in others for value in _numa_nodes(one)})
        if numbers and int(written) > numbers[-1]:
            yield f"{own} of other devices of these nodes is {listed_or(map(str, numbers))}"


def _instead(match: re.Match[str], site: Site, values: Sequence[str]) -> str:
    changes = (one for value in values for one in site(match, value))
    return next((f": write {one.part}" for one in changes), "")


def _numa_nodes(device: NodeDevice) -> Iterator[int]:
    for name, value in device.attributes.items():
        if name.endswith(_NUMA) and name not in device.at_run_time and isinstance(value, int):
            yield value


@functools.cache
def _forms(key: str) -> FrozenDict[str, tuple[str, ...]]:
    """Of some attributes, the values that there are, or what these begin with."""
    rows: tuple[dict[str, Any], ...] = tuple(read_toml("run_time_attributes.toml").values())
    return FrozenDict(
        (name, tuple(values)) for row in rows for name, values in row.get(key, {}).items()
    )
