"""What is wrong with claims by themselves, whether Pods name them or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ..feasibility.verdicts import Status, Verdict
from ..findings import Finding, info
from .claim_judge import REFUSED
from .claim_places import place_in
from .claim_versions import is_known_version
from .documents import Document, Steps, path_of, steps_of
from .failing import OF_CLAIM, TOO_MANY, failing
from .serving import Judged, Serving
from .telling import unserved

_MALFORMED: Final = "MalformedClaim"
_CLAIM: Final = "claim"


class ClaimCheck:
    """Looks at claims, and remembers what was told of each.

    Args:
        serving: Judges claims.
    """

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._told: dict[int, frozenset[str]] = {}

    def told(self, manifest: Mapping[str, Any] | None) -> frozenset[str]:
        """The codes of what was told of a claim that is wrong wherever it goes."""
        return self._told.get(id(manifest), frozenset())

    def remarks(
        self, document: Document, manifest: Mapping[str, Any], *, is_used: bool
    ) -> Iterator[tuple[Steps, Finding]]:
        """What is wrong with a claim or a template.

        Args:
            document: Where it is from.
            manifest: What it is in the newest version of the API.
            is_used: Whether a Pod names it, so that it is judged with the Pod.
        """
        if faults := self._serving.judge.faults(manifest):
            self._told[id(manifest)] = frozenset([_MALFORMED])
            if not is_known_version(manifest):
                # What such a version looks like is not known here, and it is told already.
                return
            for one in faults:
                steps = steps_of(_inner(one.path))
                yield steps, _said(one, steps)
            return
        if self._serving.judge.has_refused_class([manifest]):
            return
        failures = self._serving.failures(manifest, document.name)
        codes = {one.verdict.code for one in failures}
        # What a claim wants of All depends on the node.
        is_everywhere = len(failures) == len(self._serving.plan.nodegroups)
        of_claim = codes & ({*OF_CLAIM} if is_everywhere else {*REFUSED})
        self._told[id(manifest)] = frozenset(of_claim)
        judged = () if is_used else self._serving.of_claim(manifest, document.name)
        steps = _place(manifest, failures or judged)
        skipped = codes - of_claim if is_used else _of_other_nodes(judged)
        for one, _ in failing(judged or failures, path_of(steps), told=skipped):
            yield steps, one
        if not is_used:
            yield from ((steps, one) for one in _unused(judged, steps))


def _unused(judged: tuple[Judged, ...], steps: Steps) -> Iterator[Finding]:
    path = path_of(steps)
    what = f"this {_CLAIM}, whichever Pod names it"
    told = unserved(judged, path, code="NoNodegroupServesClaim", what=what)
    yield from (one for one, _ in told)
    statuses = {one.verdict.status for one in judged}
    if Status.UNKNOWN in statuses and Status.FEASIBLE not in statuses:
        unknown = (one.verdict for one in judged if one.verdict.status is Status.UNKNOWN)
        first = next(unknown)
        yield info(
            "NotKnownBeforeNodesRun",
            path,
            "whether a node group can serve this claim is not known before nodes run: "
            f"{first.nodegroup}: {first.reason}",
            fix=f"for {first.nodegroup}, {first.fix}" if first.fix else "",
        )


def _of_other_nodes(judged: Sequence[Judged]) -> set[str]:
    """What is wrong only of nodes that nobody sends the Pods of a claim to."""
    is_served = any(one.verdict.status is Status.FEASIBLE for one in judged)
    return {TOO_MANY} if is_served else set()


def _said(fault: Finding, steps: Steps) -> Finding:
    """A fault of a claim; what is not there at all is said to be missing."""
    is_missing = fault.code == "WrongType" and fault.got == "null" and steps
    if not is_missing or isinstance(steps[-1], int):
        return fault
    return replace(fault, code=_MALFORMED, message=f"{steps[-1]} is missing", got="")


def _inner(path: str) -> str:
    """The path of a fault without the name of the claim, which may hold dots."""
    _, slash, rest = path.partition("/")
    at = rest.find(".spec") if slash else -1
    return rest[at + 1 :] if at >= 0 else rest.rpartition(".")[2]


def _place(manifest: Mapping[str, Any], judged: Sequence[Judged]) -> Steps:
    """The place that all groups are about, else the requests."""
    found = {place_in(manifest, one.verdict) for one in judged if one.verdict.code}
    return found.pop() if len(found) == 1 else place_in(manifest, _NOTHING)


_NOTHING: Final = Verdict(nodegroup="", status=Status.FEASIBLE)
