"""What is found in manifests."""

from __future__ import annotations

from dataclasses import dataclass

from ..feasibility.verdicts import Status, Verdict
from ..findings import Finding, Severity
from .documents import Document, Steps
from .pods import PodTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A finding and its place: the manifest, and the steps to the value that it is about.

    `related` are the claims that it is about too, where they are among the manifests, each with
    the steps to the part that is meant.
    """

    document: Document
    steps: Steps
    finding: Finding
    related: tuple[tuple[Document, Steps], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PodVerdicts:
    """Whether each group can serve the Pods of a template, in the order of the plan."""

    pod: PodTemplate
    verdicts: tuple[Verdict, ...]

    @property
    def serving(self) -> tuple[Verdict, ...]:
        """The verdicts of the groups that can serve the Pods."""
        return tuple(one for one in self.verdicts if one.status is Status.FEASIBLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimVerdicts:
    """Whether each group can serve a claim that none of the Pods names."""

    document: Document
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadReport:
    """All that was found.

    `pods` are those that ask for devices, `templates` says how many there are in all. `origins`
    are those of the manifests that anything was looked at in.
    """

    remarks: tuple[Remark, ...]
    pods: tuple[PodVerdicts, ...]
    claims: tuple[ClaimVerdicts, ...] = ()
    templates: int = 0
    origins: frozenset[str] = frozenset()

    @property
    def is_wrong(self) -> bool:
        """Whether anything is an error: a Pod that would wait for ever, or stop others."""
        return any(one.finding.severity is Severity.ERROR for one in self.remarks)
