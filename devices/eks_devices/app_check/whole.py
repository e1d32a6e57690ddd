"""Every claim and Pod in the manifests of an app against all node groups of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final

from ..feasibility import Status, check_claims
from ..findings import EksDevicesError, Finding, Severity
from ..plans import ClusterPlan
from ..workload_check import Document, PodVerdicts, Remark, WorkloadReport, check_workloads
from ..workload_check.documents import Steps, flattened, mappings, path_of
from .unknown import is_claim, is_unknown, judgeable

_FIELDS: Final = {
    "resourceClaimName": "ResourceClaim",
    "resourceClaimTemplateName": "ResourceClaimTemplate",
}
_NO_ENGINE: Final = "CheckExtraMissing"
_NOT_FOUND: Final = "ClaimNotFound"
_UNSERVED: Final = "NoNodegroupServesPod"

ObjectKey = tuple[str, str, str]
"""Kind, namespace and name of a claim or a template."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestFinding:
    """A finding of a manifest; its path names the manifest and the place in it."""

    origin: str
    finding: Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestReport:
    """What was found in manifests; `named` are the claims that their Pods name."""

    findings: tuple[ManifestFinding, ...] = ()
    named: frozenset[ObjectKey] = frozenset()


def check_manifests(
    documents: Sequence[Document],
    plan: ClusterPlan,
    *,
    planned_claims: Sequence[Mapping[str, Any]] = (),
) -> ManifestReport:
    """What is wrong with manifests on the node groups of a cluster; nothing of one without groups.

    Values that only the deployment knows, as CDK tokens, are taken to be as they should. Claims
    that are not among the manifests are told as an info: an app need not send all of them.

    Args:
        documents: The manifests; `origin` names the construct or chart.
        plan: The node groups.
        planned_claims: Manifests of claims whose own faults are told apart from these.

    Raises:
        EksDevicesError: The extra `check` is not installed, `CheckExtraMissing`.
    """
    if not plan.nodegroups or not documents:
        return ManifestReport()
    given = [*flattened(documents)]
    known = judgeable(given)
    report = check_workloads(known, plan, planned_claims=planned_claims)
    quiet = _Quiet(report, _keys(given) - _keys(known), _refused(planned_claims, plan))
    told = (_placed(one) for one in report.remarks if not quiet.says(one))
    return ManifestReport(
        findings=tuple(dict.fromkeys(told)),
        named=frozenset(key for one in report.pods for _, key in _named(one)),
    )


def _keys(documents: Iterable[Document]) -> set[ObjectKey]:
    return {_key(one) for one in documents if is_claim(one)}


def _key(document: Document) -> ObjectKey:
    return document.kind, document.namespace, document.name


def _refused(planned: Iterable[Mapping[str, Any]], plan: ClusterPlan) -> set[ObjectKey]:
    """The claims of the app itself that no group serves, which was told where they are made."""
    documents = (Document(origin="", content=one) for one in planned)
    return {_key(one) for one in documents if is_claim(one) and not _is_served(one, plan)}


def _is_served(claim: Document, plan: ClusterPlan) -> bool:
    try:
        verdicts = check_claims([claim.content], plan)
    except EksDevicesError as error:
        if any(one.code == _NO_ENGINE for one in error.faults):
            raise
        return False
    return any(one.status in (Status.FEASIBLE, Status.UNKNOWN) for one in verdicts)


def _named(judged: PodVerdicts) -> Iterator[tuple[int, ObjectKey]]:
    """The claims and templates that Pods name, by the index of their entry."""
    for index, entry in mappings(judged.pod.spec, "resourceClaims"):
        for field, kind in _FIELDS.items():
            if isinstance(name := entry.get(field), str):
                yield index, (kind, judged.pod.namespace, name)


class _Quiet:
    """What is said already, or only for want of what the deployment knows.

    Args:
        report: What was found.
        unknown: Claims that cannot be judged before the deployment.
        refused: Claims of the app that no group serves.
    """

    def __init__(
        self,
        report: WorkloadReport,
        unknown: AbstractSet[ObjectKey],
        refused: AbstractSet[ObjectKey],
    ) -> None:
        self._unserved = set()
        self._entries = set()
        for pod in report.pods:
            place = id(pod.pod.document), pod.pod.steps
            for index, key in _named(pod):
                if key in refused:
                    self._unserved.add(place)
                if key in unknown or any(is_unknown(one) for one in key):
                    self._entries.add((place[0], (*place[1], "resourceClaims", index)))

    def says(self, remark: Remark) -> bool:
        """Whether a remark is to be left out."""
        place = id(remark.document), remark.steps
        if remark.finding.code == _UNSERVED:
            return place in self._unserved
        if remark.finding.code == _NOT_FOUND:
            return place in self._entries
        return is_unknown(_value_at(remark.document.content, remark.steps))


def _value_at(value: Any, steps: Steps) -> Any:
    """What stands at a place; None where nothing does."""
    for step in steps:
        is_there = isinstance(value, Mapping) and step in value
        if isinstance(value, (list, tuple)) and isinstance(step, int):
            is_there = step < len(value)
        if not is_there:
            return None
        value = value[step]
    return value


def _placed(remark: Remark) -> ManifestFinding:
    """A finding with the path of its manifest, and of the place in it."""
    document, found = remark.document, remark.finding
    at = path_of((*document.base, *remark.steps))
    path = f"{document.origin}: {document.title}" + (f".{at}" if at else "")
    severity = Severity.INFO if found.code == _NOT_FOUND else found.severity
    return ManifestFinding(
        origin=document.origin, finding=replace(found, path=path, severity=severity)
    )
