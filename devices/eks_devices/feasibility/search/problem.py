"""A claim against the devices of a node, as numbers: which options take which devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ..cel.answers import Answer, Outcome
from ..cel.expressions import evaluate
from ..minors import Distinct, Scheduler, newest_scheduler
from ..slices import DeviceTaint, NodeDevice, NodeDevices
from ..wanted import Ask, Request, Toleration, Wanted
from .amounts import Amounts, taken_amounts
from .holdings import Stock, stock_of

Classes = Mapping[str, tuple[str, ...]]
"""The expressions of DeviceClasses by name."""

_TRUE: Final = Answer(Outcome.TRUE)
_HINDERING: Final = ("NoSchedule", "NoExecute")
# What a constraint finds at a device: nothing, or something that only a running node knows.
NOTHING: Final = -1
UNKNOWN: Final = -2


@dataclass(frozen=True, slots=True)
class Option:
    """One way to satisfy a request: `answers` has one outcome per device of the node.

    `amounts` are what it takes of the capacities of each device, empty where nobody looks; None
    where it cannot have that. `barred` are devices with a taint that it does not tolerate.
    `candidates` are the devices that are not known to be no match; `is_clear` says that all match.
    `claim` and `request` are where it is, the request as a claim's status names it.
    """

    ask: Ask
    answers: tuple[Answer, ...]
    constraints: tuple[int, ...]
    amounts: tuple[Amounts | Answer | None, ...] = ()
    barred: frozenset[int] = frozenset()
    claim: int = 0
    request: str = ""
    candidates: tuple[int, ...] = field(init=False)
    is_clear: bool = field(init=False)

    def __post_init__(self) -> None:
        """Look for the candidates once, and whether anything of them is open."""
        found = (at for at, one in enumerate(self.answers) if one.outcome is not Outcome.FALSE)
        object.__setattr__(self, "candidates", tuple(found))
        is_open = any(self.answers[at].outcome is not Outcome.TRUE for at in self.candidates)
        is_open = is_open or any(isinstance(one, Answer) for one in self.amounts)
        object.__setattr__(self, "is_clear", not is_open)

    @property
    def taken(self) -> tuple[int, ...]:
        """The devices that are certain to match."""
        return self._of(Outcome.TRUE)

    @property
    def unclear(self) -> tuple[int, ...]:
        """The devices of which only a running node says whether they match."""
        return self._of(Outcome.UNCLEAR)

    @property
    def failing(self) -> tuple[int, ...]:
        """The devices on which an expression fails."""
        return self._of(Outcome.FAILS)

    def _of(self, outcome: Outcome) -> tuple[int, ...]:
        return tuple(at for at, one in enumerate(self.answers) if one.outcome is outcome)


@dataclass(frozen=True, slots=True)
class Problem:
    """Claims of one Pod and the devices of a node.

    `options` goes by claim, request and option. `values` goes by claim, constraint and device:
    equal numbers are equal values. `kinds` numbers devices that no claim can tell apart, where
    what is taken of them, or of what they are cut from, is the same.
    """

    wanted: tuple[Wanted, ...]
    options: tuple[tuple[tuple[Option, ...], ...], ...]
    values: tuple[tuple[tuple[int, ...], ...], ...]
    kinds: tuple[int, ...]
    scheduler: Scheduler = field(default_factory=newest_scheduler)
    stock: Stock | None = None
    names: tuple[str, ...] = ()

    @property
    def has_distinct(self) -> bool:
        """Whether an attribute must differ."""
        return any(one.is_distinct for claim in self.wanted for one in claim.constraints)

    @property
    def forgets(self) -> bool:
        """Whether this scheduler forgets the device before one that was tried in vain."""
        return self.scheduler.distinct is Distinct.LAST and self.has_distinct

    @property
    def all_options(self) -> list[Option]:
        """The options of all requests."""
        return [one for claim in self.options for request in claim for one in request]


def problem(wanted: Sequence[Wanted], node: NodeDevices, classes: Classes) -> Problem:
    """The problem of a Pod with these claims on a node.

    Args:
        wanted: The Pod's claims, all of whose classes are known.
        node: The devices of the node.
        classes: The expressions of the classes.
    """
    values = tuple(
        tuple(_values(one.attribute, node) for one in claim.constraints) for claim in wanted
    )
    options = tuple(
        tuple(_options(wanted, at, request, node, classes) for request in claim.requests)
        for at, claim in enumerate(wanted)
    )
    stock = stock_of(node)
    kinds = kinds_of(options, values, len(node.devices))
    if stock is not None:
        kinds = kinds_in(stock, kinds)
    names = tuple(one.name for one in node.devices)
    found = Problem(tuple(wanted), options, values, kinds, node.scheduler, stock, names)
    # Where what is compared depends on what was tried before, the order of equal devices counts.
    return replace(found, kinds=tuple(range(len(kinds)))) if found.forgets else found


def kinds_of(
    options: Sequence[Sequence[Sequence[Option]]],
    values: Sequence[Sequence[Sequence[int]]],
    size: int,
) -> tuple[int, ...]:
    """Numbers of devices, equal for those that no claim can tell apart; see `Problem`.

    A request for All under a constraint tells all apart: whether it fails for a device that is
    used, or stops the attempt at one that breaks the constraint, depends on which it meets first.
    """
    flat = [one for claim in options for request in claim for one in request]
    if any(one.ask.count is None and one.constraints for one in flat):
        return tuple(range(size))
    columns: list[Sequence[Any]] = [one for claim in values for one in claim]
    for option in flat:
        columns += [option.answers, [at in option.barred for at in range(size)]]
        columns += [option.amounts] if option.amounts else []
    return _numbered(columns, size)


def kinds_in(stock: Stock, kinds: Sequence[int]) -> tuple[int, ...]:
    """Kinds of devices that are shared or cut, where sets with the same devices are alike."""
    size = len(kinds)
    if not stock.has_siblings:
        return tuple(range(size))
    consumed = [one[0][1] if one else () for one in stock.parts]
    shared = [at in stock.shared for at in range(size)]
    own = _numbered([kinds, stock.sizes, consumed, shared], size)
    sets = [tuple(own[at] for at in siblings) for siblings in stock.siblings]
    alike = [(sets[one[0][0]], stock.counters[one[0][0]]) if one else () for one in stock.parts]
    return _numbered([own, alike], size)


def _options(
    wanted: Sequence[Wanted], at: int, request: Request, node: NodeDevices, classes: Classes
) -> tuple[Option, ...]:
    """The ways to satisfy a request of the claim at an index."""
    found = []
    for name, ask in zip(request.names, request.options, strict=True):
        applying = (one.applies(request.name, ask.name) for one in wanted[at].constraints)
        about = tuple(index for index, applies in enumerate(applying) if applies)
        found.append(_option(ask, node, classes[ask.device_class], at=(at, name, about)))
    return tuple(found)


def _option(
    ask: Ask, node: NodeDevices, of_class: Sequence[str], *, at: tuple[int, str, tuple[int, ...]]
) -> Option:
    expressions = (*((None, one) for one in of_class), *enumerate(ask.selectors))
    answers = tuple(_all_of(expressions, one) for one in node.devices)
    claim, name, about = at
    amounts: tuple[Any, ...] = ()
    if ask.amounts or any(one.is_shared for one in node.devices):
        amounts = tuple(taken_amounts(ask.amounts, one, node.scheduler) for one in node.devices)
    barred = (at for at, one in enumerate(node.devices) if not tolerates(ask, one))
    return Option(ask, answers, about, amounts, frozenset(barred), claim, name)


def tolerates(ask: Ask, device: NodeDevice) -> bool:
    """Whether a request puts up with all taints of a device that keep claims off it."""
    hindering = (one for one in device.taints if one.effect in _HINDERING)
    return all(any(_covers(one, taint) for one in ask.tolerations) for taint in hindering)


def _covers(one: Toleration, taint: DeviceTaint) -> bool:
    if one.effect not in ("", taint.effect) or one.key not in ("", taint.key):
        return False
    return one.is_any_value or one.value == taint.value


def _all_of(expressions: Sequence[tuple[int | None, str]], device: NodeDevice) -> Answer:
    """The first answer that is not true; an unclear one counts if no later one is false."""
    unclear = None
    for number, text in expressions:
        answer = evaluate(text, device)
        if answer.outcome is Outcome.TRUE:
            continue
        if answer.outcome is Outcome.FALSE:
            return answer
        unclear = unclear or replace(answer, selector=number)
        if answer.outcome is Outcome.FAILS:
            return unclear
    return unclear or _TRUE


def _values(attribute: str, node: NodeDevices) -> tuple[int, ...]:
    numbers: dict[Any, int] = {}
    found = []
    for device in node.devices:
        is_known, value = device.matched(attribute)
        if value is None:
            found.append(NOTHING if is_known else UNKNOWN)
        else:
            found.append(numbers.setdefault(value, len(numbers)))
    return tuple(found)


def _numbered(columns: list[Sequence[Any]], size: int) -> tuple[int, ...]:
    numbers: dict[Any, int] = {}
    rows = (tuple(column[at] for column in columns) for at in range(size))
    return tuple(numbers.setdefault(row, len(numbers)) for row in rows)
