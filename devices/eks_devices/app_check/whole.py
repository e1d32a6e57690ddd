"""Every claim and Pod in the manifests of an app against all node groups of a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final

from ..feasibility import Status, Verdict, check_claims
from ..findings import EksDevicesError, Finding, Severity, fault, warning
from ..plans import ClusterPlan
from ..typecheck import path_step
from ..workload_check import Document, PodVerdicts, check_workloads
from ..workload_check.documents import flattened, mappings, path_of
from ..workload_check.pods import PodTemplate
from .own_claims import listed_names
from .unknown import is_claim, is_class, judgeable

_NO_ENGINE: Final = "CheckExtraMissing"
_UNSERVED_PODS: Final = "NoNodegroupServesPod"
_FIELDS: Final = {
    "resourceClaimName": "ResourceClaim",
    "resourceClaimTemplateName": "ResourceClaimTemplate",
}
_SERVED: Final = (Status.FEASIBLE, Status.UNKNOWN)
_SOURCE: Final = (
    "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestFinding:
    """A finding of a manifest; its path names the manifest and the place in it."""

    document: Document
    finding: Finding


def manifest_findings(
    documents: Sequence[Document],
    plan: ClusterPlan,
    *,
    planned_claims: Sequence[Mapping[str, Any]] = (),
) -> list[ManifestFinding]:
    """What is wrong with manifests on the node groups of a cluster; nothing of one without groups.

    Values that only the deployment knows, as CDK tokens, are taken to be as they should.

    Args:
        documents: The manifests; `origin` names the construct or chart.
        plan: The node groups.
        planned_claims: Manifests of claims that are told apart from these.

    Raises:
        EksDevicesError: The extra `check` is not installed, `CheckExtraMissing`.
    """
    if not plan.nodegroups or not documents:
        return []
    given = judgeable([*flattened(documents)])
    classes = [one.content for one in given if is_class(one)]
    told = {one: _of_claim(one, plan, classes) for one in given if is_claim(one)}
    found = [_placed(one, finding, at) for one in told for at, finding in told[one].findings]
    planned = [Document(origin="", content=one) for one in planned_claims]
    told |= {one: _of_claim(one, plan, ()) for one in planned if is_claim(one)}
    refused = {_key(one) for one, judged in told.items() if judged.findings}
    readable = [one for one in given if not (one in told and told[one].is_malformed)]
    found += _of_pods(readable, plan, planned_claims, refused)
    return [*dict.fromkeys(found)]


@dataclass(frozen=True, slots=True)
class _Judged:
    """What is said of a claim: findings with their places; a malformed one names nothing else."""

    findings: tuple[tuple[str, Finding], ...]
    is_malformed: bool = False


def _of_claim(
    document: Document, plan: ClusterPlan, classes: Sequence[Mapping[str, Any]]
) -> _Judged:
    """The faults of a claim that no group can serve, whichever Pods name it."""
    try:
        verdicts = check_claims([document.content], plan, device_classes=classes)
    except EksDevicesError as error:
        if any(one.code == _NO_ENGINE for one in error.faults):
            raise
        return _Judged(
            tuple((_place_in(document, one), one) for one in error.faults), is_malformed=True
        )
    if any(one.status in _SERVED for one in verdicts):
        return _Judged(())
    return _Judged((("", _unserved(document.name, verdicts)),))


def _unserved(name: str, verdicts: Sequence[Verdict]) -> Finding:
    return fault(
        "NoNodegroupServesClaim",
        "",
        "no node group can ever serve the claim, so its Pods would wait for ever "
        f"({_by_reason(verdicts)})",
        got=name,
        allowed="a claim that the nodes of a group can serve",
        fix="change the claim, or add a node group that fits",
        source=_SOURCE,
    )


def _place_in(document: Document, finding: Finding) -> str:
    """Where in a claim a finding is, whose path begins with the name of the claim."""
    name = f"claims.{path_step(document.namespace)}/{path_step(document.name)}"
    return finding.path.removeprefix(name).removeprefix(".")


def _by_reason(verdicts: Sequence[Verdict]) -> str:
    names: dict[str, list[str]] = {}
    for one in verdicts:
        names.setdefault(one.reason, []).append(one.nodegroup)
    return "; ".join(f"{listed_names(groups)}: {reason}" for reason, groups in names.items())


Key = tuple[str, str, str]
"""Kind, namespace and name."""


def _key(document: Document) -> Key:
    return document.kind, document.namespace, document.name


def _of_pods(
    documents: Sequence[Document],
    plan: ClusterPlan,
    planned: Sequence[Mapping[str, Any]],
    refused: AbstractSet[Key],
) -> Iterator[ManifestFinding]:
    """What is said of Pods, but not again what is said of the claims that they name."""
    report = check_workloads(documents, plan, planned_claims=planned)
    said = {one.pod.document for one in report.pods if not refused.isdisjoint(_named(one.pod))}
    at_fault = set()
    for remark in report.remarks:
        if remark.finding.code == _UNSERVED_PODS and remark.document in said:
            continue
        if remark.finding.severity is Severity.ERROR:
            at_fault.add(remark.document)
        place = path_of((*remark.document.base, *remark.steps))
        yield _placed(remark.document, remark.finding, place)
    for one in report.pods:
        if one.pod.document not in at_fault:
            yield from _stopped(one)


def _named(pod: PodTemplate) -> set[Key]:
    """The claims and templates that Pods name."""
    return {
        (kind, pod.namespace, entry[field])
        for _, entry in mappings(pod.spec, "resourceClaims")
        for field, kind in _FIELDS.items()
        if isinstance(entry.get(field), str)
    }


def _stopped(judged: PodVerdicts) -> Iterator[ManifestFinding]:
    """The warning of Pods at which the scheduler ends its attempt, though some nodes fit."""
    stopping = [one for one in judged.verdicts if one.status is Status.ERROR]
    if not stopping or len(stopping) == len(judged.verdicts):
        return
    found = warning(
        "PodStopsScheduling",
        "",
        "while there are nodes at which an expression fails, the scheduler ends its attempt at "
        f"these Pods, also for nodes that could serve them ({_by_reason(stopping)})",
        fix="let the Pods select the nodes of a group that serves them, or guard the expression",
        source=_SOURCE,
    )
    pod = judged.pod
    yield _placed(pod.document, found, path_of((*pod.document.base, *pod.steps)))


def _placed(document: Document, finding: Finding, at: str = "") -> ManifestFinding:
    """A finding with the path of its manifest, and of the place in it."""
    name = f"{document.kind} {document.namespace}/{document.name}"
    path = f"{document.origin}: {name}" + (f".{at}" if at else "")
    return ManifestFinding(document=document, finding=replace(finding, path=path))
