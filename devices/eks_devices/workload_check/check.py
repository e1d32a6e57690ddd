"""The entry: manifests from anywhere against the node groups of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..feasibility import check_claims
from ..feasibility.verdicts import Status, Verdict
from ..findings import Finding, fault
from ..plans import ClusterPlan
from .claimed import KnownClaims, PodClaim
from .documents import Document, Steps, flattened, path_of
from .pods import PodTemplate, pods_of
from .reach import refusal
from .report import PodVerdicts, Remark, WorkloadReport
from .rules import RULES, Context


def check_workloads(
    documents: Sequence[Document],
    plan: ClusterPlan,
    *,
    planned_claims: Sequence[Mapping[str, Any]] = (),
) -> WorkloadReport:
    """Whether the nodes of a plan can serve the Pods that manifests make, and what else is wrong.

    Args:
        documents: The manifests, claims and DeviceClasses among them.
        plan: The node groups.
        planned_claims: The manifests of the claims that the plan's app makes.

    Raises:
        EksDevicesError: The extra `check` is not installed, `CheckExtraMissing`.
    """
    return _Check(tuple(flattened(documents)), plan, planned_claims).report()


class _Check:
    def __init__(
        self,
        documents: tuple[Document, ...],
        plan: ClusterPlan,
        planned_claims: Sequence[Mapping[str, Any]],
    ) -> None:
        self._documents = documents
        self._plan = plan
        self._claims = KnownClaims(documents, planned_claims)

    def report(self) -> WorkloadReport:
        remarks: list[Remark] = []
        judged: list[PodVerdicts] = []
        for pod in (one for document in self._documents for one in pods_of(document)):
            claims = tuple(self._claims.of(pod))
            context = Context(pod=pod, claims=claims, plan=self._plan)
            remarks += [
                _remark(pod, steps, found) for rule in RULES for steps, found in rule(context)
            ]
            if claims and all(one.manifest is not None for one in claims):
                verdicts = self._verdicts(pod, claims)
                judged.append(PodVerdicts(pod=pod, verdicts=verdicts))
                remarks += [_remark(pod, (), one) for one in _unserved(pod, verdicts)]
        return WorkloadReport(remarks=tuple(remarks), pods=tuple(judged))

    def _verdicts(self, pod: PodTemplate, claims: Sequence[PodClaim]) -> tuple[Verdict, ...]:
        """One verdict per group; nodes that Pods never come to do not serve them."""
        manifests = [one.manifest for one in claims if one.manifest is not None]
        found = check_claims(manifests, self._plan)
        pairs = zip(found, self._plan.nodegroups, strict=True)
        return tuple(
            _refused(verdict, why) if (why := refusal(pod, group)) else verdict
            for verdict, group in pairs
        )


def _refused(verdict: Verdict, why: tuple[str, str]) -> Verdict:
    code, reason = why
    return replace(verdict, status=Status.INFEASIBLE, code=code, reason=reason, fits=0, devices=())


def _unserved(pod: PodTemplate, verdicts: Sequence[Verdict]) -> Iterator[Finding]:
    if any(one.status in (Status.FEASIBLE, Status.UNKNOWN) for one in verdicts):
        return
    yield fault(
        "NoNodegroupServesPod",
        path_of(pod.steps),
        "no node group can serve these Pods, so they would wait for ever",
        got="; ".join(f"{one.nodegroup}: {one.reason}" for one in verdicts),
        allowed="claims that the nodes of a group can serve",
        fix="change the claim or the Pod, or add a node group that fits",
    )


def _remark(pod: PodTemplate, steps: Steps, finding: Finding) -> Remark:
    return Remark(document=pod.document, steps=(*pod.steps, *steps), finding=finding)
