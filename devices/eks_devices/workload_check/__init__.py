"""Manifests from anywhere against a plan: whether its nodes can serve their Pods."""

from __future__ import annotations

from .check import check_workloads
from .documents import Document
from .report import ClaimVerdicts, PodVerdicts, Remark, WorkloadReport

__all__ = [
    "ClaimVerdicts",
    "Document",
    "PodVerdicts",
    "Remark",
    "WorkloadReport",
    "check_workloads",
]
