"""The verdicts of this library beside what the allocator of a Kubernetes minor answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import Any

from tests.cluster.oracle.oracle import Answer, Oracle, Scope, gates, question
from tests.generated.cases import Case, Kind, case
from tests.generated.claims import template_of
from tests.generated.nodes import CLASSES, NODE, class_manifest, installed, planned
from tests.generated.obeys import asked, faults, published
from tests.generated.run_time import filled_in

from eks_devices._frozen import FrozenDict
from eks_devices.feasibility import Status, Verdict, check, check_claims
from eks_devices.feasibility.cel.answers import Outcome
from eks_devices.feasibility.cel.expressions import evaluate
from eks_devices.feasibility.cel.newer import not_there_yet
from eks_devices.feasibility.devices import node_devices
from eks_devices.kubernetes import newest_minor, version_key

Json = Mapping[str, Any]
_COST_LIMIT = 1_000_000
# How a node's run-time values differ from the examples of the data.
_VARIANTS = 3
# From this minor on the allocator sorts the pools of a node by their drivers.
_ORDERED = (1, 36)
# Seconds that the scheduler searches a node.
_LONGEST = 10.0
_LONGEST_EXPRESSION = 10 * 1024


class Result(StrEnum):
    """What comes of a comparison."""

    AGREES = "agrees"
    UNDECIDED = "undecided"
    """One of the two says that it does not know."""
    EXPLAINED = "explained"
    """They differ, by a limit that is documented."""
    CONTRADICTS = "contradicts"


class Rule(StrEnum):
    """Why the two may differ, in the words of docs/scheduler-facts.md."""

    CUT_OFF = "the search is cut off"
    REFUSED = "the API server refuses it beforehand"
    UNCLEAR = "an unclear expression fails where nothing fits"
    ORDER = "drivers have no order"


@dataclass(frozen=True)
class Compared:
    """A comparison: `why` is the status that both have, the code, or the name of a rule."""

    case: Case
    verdict: Verdict
    answer: Answer
    result: Result
    why: str


@dataclass
class Tally:
    """Comparisons in numbers, with those that contradict."""

    numbers: Counter[tuple[Kind, Result, str]] = field(default_factory=Counter)
    contradictions: list[Compared] = field(default_factory=list)

    def add(self, one: Compared) -> None:
        self.numbers[one.case.kind, one.result, one.why] += 1
        if one.result is Result.CONTRADICTS:
            self.contradictions.append(one)

    def of(self, kind: Kind, result: Result | None = None) -> int:
        return sum(
            number
            for (one, other, _), number in self.numbers.items()
            if one is kind and result in (None, other)
        )

    def __str__(self) -> str:
        rows = sorted((" ".join(key), number) for key, number in self.numbers.items())
        return "\n".join(f"{number:9,} {key}" for key, number in rows)


class Comparison:
    """Compares generated cases with the allocator of a minor.

    Args:
        oracle: Which runs.
        seconds: How long the allocator may search for a Pod; what takes longer is undecided.
    """

    def __init__(self, oracle: Oracle, *, seconds: float = 1.0) -> None:
        self.oracle, self.seconds = oracle, seconds
        self.places = planned(oracle.minor)
        self._remembered: set[str] = set()
        self._own = [class_manifest(*one) for one in CLASSES.items()]
        self._features = gates(oracle.minor)
        self._has_no_order = version_key(oracle.minor) < _ORDERED
        (self._any_group, *_) = [one.group for one in self.places if one.group is not None]
        for place in self.places:
            for variant in range(_VARIANTS):
                slices = filled_in(place, variant)
                self._remember(f"{place.name}/{variant}", slices, installed(oracle.minor))

    def _remember(self, name: str, slices: Sequence[Json], classes: Sequence[Json]) -> None:
        found = self.oracle.ask(
            [],
            node=NODE,
            slices=list(slices),
            classes=list(classes),
            features=self._features,
            remember=name,
        )
        assert found.error == "", found.error

    def cases(self, kind: Kind, seed: int, numbers: Iterable[int]) -> Iterator[Case]:
        """Cases of a kind on the nodes of this minor."""
        return (case(kind, seed, number, self.places) for number in numbers)

    def all_of(self, cases: Sequence[Case]) -> Iterator[Compared]:
        """Compare cases."""
        for one in cases:
            if one.place.group is None and one.place.name not in self._remembered:
                self._remembered.add(one.place.name)
                self._remember(one.place.name, one.place.slices, self._own)
        answers = list(self.oracle.ask_all([self._question(one) for one in cases]))
        verdicts = [self.verdict(one) for one in cases]
        self._look_again(cases, verdicts, answers)
        for one, verdict, answer in zip(cases, verdicts, answers, strict=True):
            yield Compared(one, verdict, answer, *self._compared(one, verdict, answer))

    def _look_again(
        self, cases: Sequence[Case], verdicts: Sequence[Verdict], answers: list[Answer]
    ) -> None:
        """Give the allocator as long as the scheduler does where its answer says most."""
        again = [
            at
            for at, (verdict, answer) in enumerate(zip(verdicts, answers, strict=True))
            if answer.scope is Scope.TIME and verdict.status is Status.FEASIBLE
        ]
        asked_again = [{**self._question(cases[at]), "seconds": _LONGEST} for at in again]
        for at, answer in zip(again, self.oracle.ask_all(asked_again), strict=True):
            answers[at] = answer

    def _question(self, one: Case) -> Json:
        setting = one.place.name
        if one.place.group is not None:
            setting = f"{setting}/{Random(one.name).randrange(_VARIANTS)}"
        return question(one.claims, recall=setting, seconds=self.seconds)

    def pods(self, one: Case, most: int) -> int | None:
        """How many Pods with such claims the allocator puts on a node.

        None where it runs out of time, -1 where it fails.
        """
        taken: list[Json] = []
        for number in range(most + 1):
            asked_now = {**self._question(one), "claims": [*one.claims, *taken]}
            (found,) = self.oracle.ask_all([asked_now])
            if not found.allocated:
                return number if not found.error else None if found.scope is Scope.TIME else -1
            taken += _held(one, found)
        return most + 1

    def verdict(self, one: Case) -> Verdict:
        """What this library says of the templates of the claims, of which each Pod has its own."""
        templates = [template_of(claim) for claim in one.claims]
        if one.place.group is not None:
            (found,) = check_claims(templates, one.place.group)
            return found
        group = self._any_group
        claims = tuple(zip(templates, check._read(templates, self.oracle.minor), strict=True))
        node = one.place.devices(self.oracle.minor)
        return check._Check(claims, FrozenDict(CLASSES))._of_node(group, node)

    def _compared(self, one: Case, verdict: Verdict, answer: Answer) -> tuple[Result, str]:
        if answer.scope is Scope.TIME and verdict.status is Status.FEASIBLE:
            return Result.EXPLAINED, Rule.CUT_OFF
        if answer.scope is Scope.TIME:
            return Result.UNDECIDED, f"the allocator ran out of time; here {verdict.status}"
        if verdict.status is Status.UNKNOWN:
            return Result.UNDECIDED, verdict.code
        said = _status(answer)
        if said is not verdict.status:
            return self._explained(one, verdict, answer)
        if said is Status.FEASIBLE and _given(answer) != _given(verdict):
            return self._other_devices(one, verdict)
        return Result.AGREES, said

    def _explained(self, one: Case, verdict: Verdict, answer: Answer) -> tuple[Result, str]:
        """Why two that differ may do so, by the rules."""
        if self._is_refused_by_the_server(one, verdict):
            return Result.EXPLAINED, Rule.REFUSED
        if self._has_no_order and _depends_on_the_order_of_pools(one, verdict, answer):
            return Result.EXPLAINED, Rule.ORDER
        if _fails_where_nothing_helps(one, verdict, answer):
            return Result.EXPLAINED, Rule.UNCLEAR
        return Result.CONTRADICTS, f"{verdict.status} {verdict.code}, and {_status(answer)}"

    def _other_devices(self, one: Case, verdict: Verdict) -> tuple[Result, str]:
        for fault in faults(one.claims, one.place.slices, verdict.devices):
            return Result.CONTRADICTS, f"devices that are not what is asked for: {fault}"
        devices, wanted = published(one.place.slices), asked(one.claims)
        for given in verdict.devices:
            ask = wanted[given.claim.rpartition("/")[2], given.request]
            if not self._takes(one, ask, devices[given.driver, given.device], given.driver):
                return Result.CONTRADICTS, "a device that does not match"
        return Result.AGREES, "feasible with other devices"

    def _is_refused_by_the_server(self, one: Case, verdict: Verdict) -> bool:
        """The allocator compiles an expression when it needs it, and the API server at once.

        It also has the fields of features that are off, and functions of the next minor, and does
        not estimate costs.
        """
        if verdict.code != "ExpressionInvalid":
            return False
        texts = sorted({text for ask in asked(one.claims).values() for text in _texts(ask)})
        if any(error or cost > _COST_LIMIT for cost, error in self.oracle.costs(texts)):
            return True
        minor = self.oracle.minor
        return any(self.is_refused(text) or not_there_yet(text, minor) for text in texts)

    def is_refused(self, text: str) -> bool:
        """Whether Kubernetes takes an expression for none."""
        if len(text.encode()) > _LONGEST_EXPRESSION:
            return True
        request: Json = {"deviceClassName": "any", "selectors": [{"cel": {"expression": text}}]}
        found = self._asked_of([{"name": "d"}], request)
        return "CEL compile error" in found.error

    def _takes(self, one: Case, ask: Json, device: Json, driver: str) -> bool:
        """Whether a request takes a device that is alone on its node."""
        request = {key: ask[key] for key in ("deviceClassName", "selectors") if key in ask}
        classes = installed(self.oracle.minor) if one.place.group is not None else self._own
        return self._asked_of([device], request, driver=driver, classes=classes).allocated

    def _asked_of(
        self,
        devices: Sequence[Json],
        request: Json,
        *,
        driver: str = "d.example.com",
        classes: Sequence[Json] | None = None,
    ) -> Answer:
        pool = {"name": NODE, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": driver, "nodeName": NODE, "pool": pool, "devices": list(devices)}
        metadata = {"name": "probe", "namespace": "default"}
        wanted = {"devices": {"requests": [{"name": "r", "exactly": {**request, "count": 1}}]}}
        return self.oracle.ask(
            [{"metadata": metadata, "spec": wanted}],
            node=NODE,
            slices=[{"metadata": {"name": "probe"}, "spec": spec}],
            classes=list(self._own if classes is None else classes),
            features=self._features,
        )


def _status(answer: Answer) -> Status:
    """The answer of an allocator in the words of this library."""
    if answer.allocated:
        return Status.FEASIBLE
    # A class that is missing refuses the Pod, and the fleet has no node for it.
    return Status.ERROR if answer.scope not in (None, Scope.POD) else Status.INFEASIBLE


def _given(found: Answer | Verdict) -> list[tuple[str, str, str, str]]:
    return [
        (one.claim.rpartition("/")[2], one.request, one.driver, one.device) for one in found.devices
    ]


def _held(one: Case, found: Answer) -> list[Json]:
    """The claims of a Pod as they are once they have their devices."""
    held: list[Json] = []
    for claim in one.claims:
        results = [
            {
                name: getattr(given, name)
                for name in ("request", "driver", "pool", "device", "adminAccess")
            }
            for given in found.devices
            if given.claim == claim["metadata"]["name"]
        ]
        held.append({**claim, "status": {"allocation": {"devices": {"results": results}}}})
    return held


def _texts(ask: Json) -> list[str]:
    return [one["cel"]["expression"] for one in ask.get("selectors", ())]


def _depends_on_the_order_of_pools(one: Case, verdict: Verdict, answer: Answer) -> bool:
    """Whether a class takes devices of several drivers, of which one stops the attempt."""
    differ = (verdict.status is Status.ERROR) != (_status(answer) is Status.ERROR)
    return differ and spans_pools(one)


def spans_pools(one: Case) -> bool:
    """Whether a class takes devices of several drivers, whose pools have no order before 1.36."""
    published = {one["spec"]["driver"] for one in one.place.slices if one["spec"]["devices"]}
    if len(published) < 2 or one.place.group is not None:
        return False
    return any(ask["deviceClassName"] == "any" for ask in asked(one.claims).values())


def _fails_where_nothing_helps(one: Case, verdict: Verdict, answer: Answer) -> bool:
    """Whether an expression of which nothing is known here failed, on a node that never fits."""
    if verdict.status is not Status.INFEASIBLE or "CEL" not in answer.error:
        return False
    return has_unclear_expressions(one)


def has_unclear_expressions(one: Case) -> bool:
    """Whether nothing is known here of some expression on some device of the case."""
    group = one.place.group
    node = one.place.devices(newest_minor()) if group is None else node_devices(group)
    texts = {text for ask in asked(one.claims).values() for text in _texts(ask)}
    return any(
        evaluate(text, device).outcome is Outcome.UNCLEAR
        for text in sorted(texts)
        for device in node.devices
    )
