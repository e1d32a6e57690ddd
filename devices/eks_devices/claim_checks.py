"""How an app is told of claims that no node of its groups can serve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import StrEnum

from .findings import EksDevicesError, Finding, Severity
from .typecheck import member


class ClaimChecks(StrEnum):
    """How claims are told that no node of the groups they are for can serve.

    WARN: by warnings, where the CEL engine is installed; where it is not, an info says so.
    ERROR: by faults; the engine must be installed. OFF: not at all.
    """

    WARN = "warn"
    ERROR = "error"
    OFF = "off"

    def graded(self, findings: Iterable[Finding]) -> list[Finding]:
        """Findings as this option tells them: a fault is a warning unless it is to be one."""
        if self is ClaimChecks.OFF:
            return []
        if self is ClaimChecks.ERROR:
            return [*findings]
        return [
            replace(one, severity=Severity.WARNING) if one.severity is Severity.ERROR else one
            for one in findings
        ]


def claim_check_faults(checks: object, path: str) -> Iterator[Finding]:
    """The fault of what is no option, or of one that needs the engine where there is none."""
    wrong = list(member(checks, ClaimChecks, path, optional=True))
    yield from wrong
    if not wrong and checks is ClaimChecks.ERROR:
        yield from (replace(one, path=path) for one in engine_faults())


def engine_faults() -> list[Finding]:
    """Why expressions cannot be evaluated here; empty where they can."""
    # Whoever checks nothing does not wait for the engine.
    from .feasibility.cel.engine import engine  # noqa: PLC0415

    try:
        engine()
    except EksDevicesError as error:
        return [*error.faults]
    return []
