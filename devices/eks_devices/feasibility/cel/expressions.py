"""Selectors of devices: compiled and evaluated as Kubernetes does, each text once per device."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Final

from ..slices import NodeDevice
from . import form
from .advice import MEND
from .answers import Answer, Outcome
from .engine import (
    ATTRIBUTE_DOMAINS,
    ATTRIBUTES,
    CAPACITY,
    CAPACITY_DOMAINS,
    DRIVER,
    SHARED,
    engine,
    program,
)
from .engine_words import in_words, no_truth
from .newer import later_function, not_there_yet
from .refusals import problem
from .types_known import failing, wrongly_written

# What the engine says of a bound map after a macro went through one.
_LOST_VARIABLE: Final = "SELECT to non-message type"
_MAP_KEY: Final = "Invalid map key type"


_TRUE, _FALSE = Answer(Outcome.TRUE), Answer(Outcome.FALSE)


@dataclass(frozen=True, slots=True)
class Selector:
    """An expression that was looked at once.

    `problem` says why Kubernetes refuses it (FAILS) or why nothing is said of it (UNCLEAR); None
    for one that can be evaluated.
    """

    text: str
    problem: Answer | None
    names: frozenset[str]
    literals: frozenset[str]
    goes_through: bool

    def may_read(self, name: str) -> bool:
        """Whether the expression may read an attribute, by its qualified name."""
        domain, _, own = name.rpartition("/")
        return domain in self.literals and (self.goes_through or own in self.names)


@functools.lru_cache(maxsize=4096)
def selector(text: str) -> Selector:
    """An expression, looked at.

    Raises:
        EksDevicesError: The CEL engine is not installed.
    """
    written, text = text, form.indexed(text)
    return Selector(
        text=text,
        problem=problem(text, written),
        names=form.names(text),
        literals=form.literals(text),
        goes_through=form.goes_through(text),
    )


def _on_minor(fix: str, text: str, version: str) -> str:
    """What to do without functions that newer minors have."""
    if later := later_function(fix, version):
        return f"do without {later}"
    later = later_function(text, version)
    return f"{fix}, and do without {later}" if later else fix


def mended(text: str, version: str) -> str:
    """What an expression that API servers refuse comes to once mended; empty where not known."""
    found = selector(text).problem
    instead = found.instead if found else ""
    return "" if not instead or not_there_yet(instead, version) else instead


def refusal(text: str, version: str) -> tuple[str, str] | None:
    """Why the API server of a minor refuses an expression, and what to write; None where not."""
    found = selector(text).problem
    if found is not None and found.outcome is Outcome.FAILS:
        return found.text, _on_minor(found.fix or MEND, text, version)
    return not_there_yet(text, version)


@functools.lru_cache(maxsize=65536)
def evaluate(text: str, device: NodeDevice) -> Answer:
    """What an expression says of a device, as far as it is known before a node runs.

    An attribute that only a running node knows makes the answer unclear where it matters: where
    no part of `a && b` that leaves it alone is false already.

    Raises:
        EksDevicesError: The CEL engine is not installed.
    """
    found = selector(text)
    if found.problem is not None:
        return found.problem
    text = found.text
    at_run_time = sorted(name for name in device.at_run_time if found.may_read(name))
    if at_run_time:
        if any(_is_false(part.strip(), device) for part in form.conjuncts(text)):
            return _FALSE
        told = _left_to_node(at_run_time, found.names)
        answer = Answer(Outcome.UNCLEAR, told, is_at_run_time=True)
    elif form.uses_strangely(text, device.versions):
        answer = Answer(Outcome.UNCLEAR, "it does more with a version than compare it")
    else:
        answer = _evaluated(text, found.literals, device)
    if answer.outcome in (Outcome.TRUE, Outcome.FALSE):
        return answer
    if answer.outcome is Outcome.FAILS and (wrong := wrongly_written(text, answer.text)):
        return _failed(*wrong)
    return _failure(text, device) or answer


def _left_to_node(at_run_time: list[str], words: frozenset[str]) -> str:
    """What an expression reads that only a running node knows."""
    named = [one for one in at_run_time if one.rpartition("/")[2] in words]
    told = ", ".join((named or at_run_time)[:3])
    if named:
        return f"it reads {told}"
    return f"it goes through what a device has, of which only a running node knows {told}"


def _is_false(part: str, device: NodeDevice) -> bool:
    """Whether a part of an expression is false, whatever a running node knows."""
    one = selector(part)
    if one.problem is not None or any(one.may_read(name) for name in device.at_run_time):
        return False
    return _evaluated(one.text, one.literals, device).outcome is Outcome.FALSE


def _failure(text: str, device: NodeDevice) -> Answer | None:
    """How an expression fails for every value of attributes whose types are known, if it does."""
    parts = [one.strip() for one in form.conjuncts(text)]
    reasons = [failing(one, device) for one in parts]
    found = next(filter(None, reasons), None)
    if found is None:
        return None
    others = (part for part, why in zip(parts, reasons, strict=True) if not why)
    is_sure = all(evaluate(one, device).outcome in (Outcome.TRUE, Outcome.FAILS) for one in others)
    if not is_sure:
        return None
    why, fix, instead = found
    part = parts[reasons.index(found)]
    return _failed(why, fix, text.replace(part, instead, 1) if instead else "")


def _failed(why: str, fix: str, instead: str) -> Answer:
    return Answer(Outcome.FAILS, why, fix, instead=instead)


def _evaluated(text: str, literals: frozenset[str], device: NodeDevice) -> Answer:
    if form.compares_more(text, device.versions):
        return Answer(Outcome.UNCLEAR, "it compares a version with what it computes")
    imitated = form.imitating(text, device.versions)
    # Kubernetes answers a domain that a device lacks with an empty map.
    empty: dict[str, dict[str, Any]] = {one: {} for one in literals}
    attributes = device.by_domain(device.attributes)
    capacity = device.by_domain(device.capacity)
    data = {
        DRIVER: device.driver,
        SHARED: device.is_shared,
        ATTRIBUTES: empty | attributes,
        CAPACITY: empty | capacity,
        ATTRIBUTE_DOMAINS: [*attributes],
        CAPACITY_DOMAINS: [*capacity],
    }
    try:
        value = program(imitated).eval(data=data)
    except RuntimeError as error:
        # The engine stops what runs on too long; where Kubernetes stops is another matter.
        return Answer(Outcome.UNCLEAR, in_words(str(error)))
    return _answer(text, device, value.type(), value.plain_value())


def _answer(text: str, device: NodeDevice, kind: Any, plain: Any) -> Answer:
    """What the engine's value means."""
    types = engine().Type
    if kind == types.BOOL:
        if form.looks_up(text, device.versions):
            return Answer(Outcome.UNCLEAR, "it looks up a version in a list")
        return _TRUE if plain else _FALSE
    if kind == types.ERROR and (unlike_there := _failing_here(str(plain), text)):
        return Answer(Outcome.UNCLEAR, unlike_there)
    return Answer(Outcome.FAILS, in_words(str(plain)) if kind == types.ERROR else no_truth(kind))


def _failing_here(error: str, text: str) -> str:
    """Why an error may be one of the engine alone; empty where it is not."""
    if _LOST_VARIABLE in error and "cel.bind" in text:
        return "the engine loses a variable that the expression binds"
    if _LOST_VARIABLE in error and "has" in text:
        return "it asks whether a value that has no fields has one"
    return "it has a map with such keys" if _MAP_KEY in error else ""
