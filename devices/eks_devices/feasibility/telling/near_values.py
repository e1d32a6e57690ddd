"""What to write in an expression that just misses the values which devices have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from ...claims.cel_reads import names_read
from ...findings import meant
from ...quantities import amount_of, amount_shown
from ..cel.values import QUANTITY
from ..slices import NodeDevice
from .rewritten import rewritten

_DRIVER: Final = re.compile(r"\bdevice\s*\.\s*driver\b")
_KEY: Final = re.compile(r"\[\s*(['\"])[^'\"]*\1\s*\]")
# A number that an amount is compared with.
_AS_NUMBER: Final = re.compile(
    r"\.\s*(?:asInteger|asApproximateFloat)\s*\(\s*\)\s*[>=]=?\s*([0-9]+(?:\.[0-9]+)?)\b"
)
_TEXT: Final = re.compile(r"'([^']*)'|\"([^\"]*)\"")


@dataclass(frozen=True, slots=True)
class NearMiss:
    """What to write instead, and how many times as much as devices have is asked for.

    `times` is 1 for a slip of the pen.
    """

    fix: str
    times: Fraction = Fraction(1)


def near_miss(text: str, devices: Sequence[NodeDevice]) -> NearMiss | None:
    """How an expression just misses devices; None where nothing in it is near to what they have."""
    # Names of domains are texts as well.
    written = ["".join(one) for one in _TEXT.findall(_KEY.sub("", text))]
    names = [*names_read(text), *_DRIVER.findall(text)]
    written += _AS_NUMBER.findall(text)
    for name in names if written else ():
        values = list(_values(name, devices))
        if found := _near_text(values, written) or _near_amount(name, values, written):
            return found
    part = rewritten(text, devices)
    return NearMiss(part) if part else None


def _values(name: str, devices: Sequence[NodeDevice]) -> Iterable[Any]:
    if _DRIVER.fullmatch(name):
        return dict.fromkeys(one.driver for one in devices)
    known = [one for one in devices if name not in one.at_run_time]
    both = (values for one in known for values in (one.attributes, one.capacity))
    return (values[name] for values in both if name in values)


def _near_text(values: Sequence[Any], written: Sequence[str]) -> NearMiss | None:
    known = {one for one in values if isinstance(one, str)}
    if known.intersection(written):
        return None
    found = (meant(one, known) for one in written)
    return next((NearMiss(told) for told in found if told), None)


def _near_amount(name: str, values: Sequence[Any], written: Sequence[str]) -> NearMiss | None:
    amounts = [
        Fraction(one[QUANTITY]) for one in values if isinstance(one, Mapping) and QUANTITY in one
    ]
    wanted = max((found for one in written if (found := amount_of(one))), default=None)
    if wanted is None or not amounts or wanted <= max(amounts):
        return None
    most = max(amounts)
    shown = amount_shown(most)
    if all(one.isdecimal() for one in written if amount_of(one) == wanted):
        # Whoever writes the number of bytes needs one.
        shown = f"{most}" + f" ({shown})" * (shown != str(most))
    fix = (
        f"compare {name.rpartition('/')[2]} with at most {shown}, which is what these devices have"
    )
    return NearMiss(fix, Fraction(wanted) / most if most else Fraction(wanted))
