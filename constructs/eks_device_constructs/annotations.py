"""Findings of a plan as annotations of a construct."""

from __future__ import annotations

from collections.abc import Iterable

from aws_cdk import Annotations
from constructs import IConstruct

from eks_devices import Finding, Severity


def annotate(construct: IConstruct, findings: Iterable[Finding]) -> None:
    """Show findings at synth; a warning is acknowledged by its id, `eks-devices:<code>`."""
    annotations = Annotations.of(construct)
    for finding in findings:
        if finding.severity is Severity.WARNING:
            annotations.add_warning_v2(f"eks-devices:{finding.code}", str(finding))
        else:
            annotations.add_info_v2(f"eks-devices:{finding.code}", str(finding))
