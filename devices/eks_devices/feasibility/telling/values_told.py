"""What devices have of what an expression reads, in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, Final

from ...claims.cel_reads import names_read
from ...quantities import amount_shown
from ..cel.values import QUANTITY, SEMVER
from ..slices import NodeDevice

_DRIVER: Final = re.compile(r"\bdevice\s*\.\s*driver\b")
_MOST_NAMES: Final = 3
_MOST_VALUES: Final = 4


def values_told(text: str, devices: Iterable[NodeDevice]) -> str:
    """What devices have of the attributes and amounts that an expression reads.

    Empty where it reads none of which anything is known.
    """
    of_all = tuple(devices)
    told = [_of_name(name, of_all) for name in list(names_read(text))[:_MOST_NAMES]]
    if _DRIVER.search(text):
        told.append(f"driver {' or '.join(dict.fromkeys(one.driver for one in of_all))}")
    return ", ".join(filter(None, told))


def _of_name(name: str, devices: tuple[NodeDevice, ...]) -> str:
    if any(name in one.at_run_time for one in devices):
        return ""
    values = list(dict.fromkeys(shown for one in devices for shown in _values(name, one)))
    own = name.rpartition("/")[2]
    if not values:
        return f"no {own}"
    more = f" and {len(values) - _MOST_VALUES} others" if len(values) > _MOST_VALUES else ""
    return f"{own} {' or '.join(values[:_MOST_VALUES])}{more}"


def _values(name: str, device: NodeDevice) -> Iterator[str]:
    for values in (device.attributes, device.capacity):
        if name in values:
            yield shown(values[name])


def shown(value: Any) -> str:
    """A value of an attribute or a capacity as text; versions and amounts as they are written."""
    if not isinstance(value, dict):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if SEMVER in value:
        return str(value[SEMVER])
    return amount_shown(Fraction(value[QUANTITY]))
