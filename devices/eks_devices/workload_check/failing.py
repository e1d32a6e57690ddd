"""What is told of claims that stop the scheduler's attempt at a Pod, or that no node could have."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from ..feasibility.verdicts import Status, Verdict
from ..findings import Finding, Severity, warning
from ..names import NODEGROUP_LABEL
from .claim_judge import INVALID, REFUSED
from .fixes import named
from .serving import Judged

Told = tuple[Finding, Verdict | None]
"""A finding, and the verdict that it comes from."""

TOO_MANY: Final = "TooManyDevicesInClaim"
OF_CLAIM: Final = (*REFUSED, TOO_MANY)
"""What is wrong with a claim wherever it goes."""

_MEND: Final = "change the claim"
_STOPPING: Final = ("ExpressionFails", "AllBreaksConstraint")
# In an advice that is right for the devices of one group.
_OF_DEVICES: Final = "these devices have"
_ATTEMPT: Final = (
    "https://github.com/kubernetes/kubernetes/blob/v1.37.2/pkg/scheduler/framework/plugins/"
    "dynamicresources/dynamicresources.go"
)


def failing(judged: Sequence[Judged], path: str, *, told: Collection[str] = ()) -> Iterator[Told]:
    """The faults of claims that stop the scheduler's attempt at a Pod, each with its verdict.

    Args:
        judged: The verdicts of the groups.
        path: How the findings name the place.
        told: The codes that somebody tells already.
    """
    errors = (one for one in judged if one.verdict.status is Status.ERROR)
    wrong = [one.verdict for one in sorted(errors, key=_order)]
    for code in dict.fromkeys(one.code for one in wrong):
        if code in told:
            continue
        alike = [one for one in wrong if one.code == code]
        groups = named([one.verdict.nodegroup for one in judged if one.verdict in alike])
        if code in REFUSED or (code in OF_CLAIM and len(alike) == len(judged)):
            # Of nodes without such devices there is nothing to write.
            first = min(alike, key=lambda one: not one.fix)
            yield _of_claim(path, first, is_one=len(judged) == 1), first
            continue
        fine = [one.verdict.nodegroup for one in judged if one.verdict.status is Status.FEASIBLE]
        others = f", also for {named(fine)}, which could serve it" if fine else ""
        select = [f"; or select nodes: nodeSelector: {{{NODEGROUP_LABEL}: {one}}}" for one in fine]
        found = Finding(
            code="AttemptFailsOnNodegroup",
            severity=Severity.ERROR,
            path=path,
            message=f"on nodes of {groups} the scheduler stops its whole attempt at such a Pod"
            f"{others}: {alike[0].reason}",
            fix=_fix(alike[0], is_one=len(alike) == 1) + "".join(select[:1]),
            source=_ATTEMPT,
        )
        yield found, alike[0]


def _order(one: Judged) -> tuple[int, int]:
    """Which group's verdict is told: of as near ones, that with the most advice."""
    is_invalid = one.verdict.code == INVALID
    return one.distance, -len(one.verdict.fix) if is_invalid else 0


def _of_claim(path: str, one: Verdict, *, is_one: bool) -> Finding:
    return Finding(
        code=one.code,
        severity=Severity.ERROR,
        path=path,
        message=one.reason,
        fix=_fix(one, is_one=is_one),
    )


def _fix(one: Verdict, *, is_one: bool) -> str:
    """What to write, with the group whose devices it is about where there are others."""
    fix = one.fix or _MEND
    return fix if is_one or _OF_DEVICES not in fix else f"for {one.nodegroup}, {fix}"


def may_fail(judged: Sequence[Judged], path: str) -> Iterator[Finding]:
    """Groups on whose nodes the attempt would fail, if the Pods come to them."""
    wrong = [
        one.verdict
        for one in judged
        if one.verdict.status is Status.UNKNOWN and one.verdict.code in _STOPPING
    ]
    if wrong:
        yield warning(
            "AttemptMayFail",
            path,
            f"on nodes of {named([one.nodegroup for one in wrong])} the scheduler stops its whole "
            f"attempt at such a Pod: {wrong[0].reason}",
            fix=f"{wrong[0].fix or 'guard the expression'}, or keep the Pods off these nodes by a "
            "label that is known",
            source=_ATTEMPT,
        )
