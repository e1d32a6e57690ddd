"""Findings of a plan as annotations of a construct."""

from __future__ import annotations

from collections.abc import Iterable

from aws_cdk import Annotations
from constructs import IConstruct

from eks_devices import Finding, Severity


def annotate(construct: IConstruct, findings: Iterable[Finding]) -> None:
    """Show findings at synth; a warning is acknowledged by its id, `eks-devices:<code>`."""
    for finding in findings:
        annotations, id_ = Annotations.of(construct), f"eks-devices:{finding.code}"
        if finding.severity is Severity.WARNING:
            annotations.add_warning_v2(id_, str(finding))
        else:
            annotations.add_info_v2(id_, str(finding))


def warn(construct: IConstruct, findings: Iterable[Finding]) -> None:
    """Show the warnings among findings where they belong."""
    annotate(construct, (one for one in findings if one.severity is Severity.WARNING))


def inform(construct: IConstruct, findings: Iterable[Finding]) -> None:
    """Show what only tells, once for all node groups: a line of each under one id."""
    told: dict[str, list[str]] = {}
    for finding in findings:
        if finding.severity is Severity.INFO:
            told.setdefault(finding.code, []).append(str(finding))
    for code, texts in told.items():
        Annotations.of(construct).add_info_v2(f"eks-devices:{code}", "\n".join(texts))
