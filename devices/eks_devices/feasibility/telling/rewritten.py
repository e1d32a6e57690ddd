"""What to write so that an expression matches devices: values in it as devices have them.

Nothing is told but what was evaluated: the changed expression is true of a device, or what it
says is left to what only a running node knows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from ..cel.answers import Outcome
from ..cel.expressions import evaluate
from ..cel.form import conjuncts
from ..slices import NodeDevice
from .amount_changes import amount_changes
from .changes import Change
from .text_changes import text_changes

# What is longer, or has more parts, is not worth the time.
_LONGEST: Final = 2048
_MOST_TRIED: Final = 64
_MOST_PARTS: Final = 8
_ENDLESS: Final = Fraction(10) ** 30


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What to write: a part of an expression, and the whole.

    `why` and `times` are those of a `Change`; of several changes, `part` is the whole.
    """

    part: str
    whole: str
    why: str = ""
    times: Fraction | None = None


def rewritten(text: str, devices: Sequence[NodeDevice]) -> Rewritten | None:
    """An expression as it should be; None where nothing is found.

    Args:
        text: The expression, which matches none of the devices, or fails on them.
        devices: The devices.
    """
    if len(text) > _LONGEST or any(matches(text, one) for one in devices):
        return None
    # Devices mostly are alike.
    unlike = {f"{one.driver} {one.attributes} {one.capacity}": one for one in devices}
    found = _once(text, [*unlike.values()])
    return found if found is not None else _everywhere(text, [*unlike.values()])


def _once(text: str, devices: Sequence[NodeDevice]) -> Rewritten | None:
    """With one change, a slip of the pen before anything else."""
    found: dict[tuple[int, int, str], Change] = {}
    for one in _changes(text, devices):
        found.setdefault((one.start, one.end, one.part), one)
    for one in itertools.islice(sorted(found.values(), key=_distance), _MOST_TRIED):
        whole = one.within(text)
        if whole != text and any(matches(whole, device) for device in devices):
            return Rewritten(one.part, whole, one.why, one.times)
    return None


def _changes(text: str, devices: Sequence[NodeDevice]) -> Iterator[Change]:
    for device in devices:
        yield from text_changes(text, device)
        yield from amount_changes(text, device)


def _distance(change: Change) -> tuple[Fraction, int]:
    return _ENDLESS if change.times is None else change.times, change.far


def _everywhere(text: str, devices: Sequence[NodeDevice]) -> Rewritten | None:
    """With a change of each part of `a && b` that is not true of a device."""
    parts = [one.strip() for one in conjuncts(text)]
    for device in devices if 1 < len(parts) <= _MOST_PARTS else ():
        made = [one if matches(one, device) else _once(one, [device]) for one in parts]
        if None not in made:
            whole = " && ".join(one if isinstance(one, str) else one.whole for one in made if one)
            if matches(whole, device):
                return Rewritten(whole, whole)
    return None


def matches(text: str, device: NodeDevice) -> bool:
    """Whether an expression is true of a device, or only a running node knows whether it is."""
    found = evaluate(text, device)
    return found.outcome is Outcome.TRUE or (
        found.outcome is Outcome.UNCLEAR and found.is_at_run_time
    )
