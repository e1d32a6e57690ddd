"""What is found in manifests."""

from __future__ import annotations

from dataclasses import dataclass

from ..feasibility.verdicts import Verdict
from ..findings import Finding, Severity
from .documents import Document, Steps
from .pods import PodTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A finding and its place: the manifest, and the steps to the value that it is about."""

    document: Document
    steps: Steps
    finding: Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class PodVerdicts:
    """Whether each group can serve the Pods of a template."""

    pod: PodTemplate
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadReport:
    """All that was found; `pods` are those that ask for devices."""

    remarks: tuple[Remark, ...]
    pods: tuple[PodVerdicts, ...]

    @property
    def is_wrong(self) -> bool:
        """Whether anything is an error: a Pod that would wait for ever, or stop others."""
        return any(one.finding.severity is Severity.ERROR for one in self.remarks)
