"""Every claim and Pod in the manifests of an app against all node groups of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final

from ..feasibility import Status, check_claims
from ..findings import EksDevicesError, Finding, Severity
from ..names import CLAIM_FIELDS, MANAGED_BY_LABEL, MANAGED_BY_US
from ..plans import ClusterPlan
from ..workload_check import Document, Remark, WorkloadReport, check_workloads
from ..workload_check.documents import Steps, flattened, mapping, mappings, path_of
from ..workload_check.pods import PodTemplate, pods_of
from .unknown import has_unknown, is_claim, is_unknown, judgeable

_NO_ENGINE: Final = "CheckExtraMissing"
_NOT_FOUND: Final = ("ClaimNotFound", "RuntimeClassNotFound")
# What is said of Pods for the sake of a claim.
_FOR_CLAIM: Final = frozenset(
    {
        "AttemptFailsOnNodegroup",
        "ExpressionInvalid",
        "NoNodegroupServesPod",
        "TooManyDevicesInClaim",
    }
)
# How Pods say which claims they and their containers have.
_WIRING: Final = frozenset({"resourceClaims", "claims"})
_DEEPEST: Final = 64

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
    nodegroup_names: Mapping[str, str] | None = None,
) -> ManifestReport:
    """What is wrong with manifests on the node groups of a cluster; nothing of one without groups.

    Values that only the deployment knows, as CDK tokens, are taken to be as they should. Claims
    that are not among the manifests are told as an info: an app need not send all of them.

    Args:
        documents: The manifests; `origin` names the construct or chart.
        plan: The node groups.
        planned_claims: Manifests of claims whose own faults are told apart from these.
        nodegroup_names: The names of the groups in EKS, by their names in the plan.

    Raises:
        EksDevicesError: The extra `check` is not installed, `CheckExtraMissing`.
    """
    if not plan.nodegroups or not documents:
        return ManifestReport()
    given = [one for one in flattened(documents) if not _is_manager(one)]
    known = judgeable(given)
    numbered = [
        replace(one, origin=str(number), source=one.place, of_app=True)
        for number, one in enumerate(known)
    ]
    report = check_workloads(
        numbered, plan, planned_claims=planned_claims, nodegroup_names=nodegroup_names
    )
    quiet = _Quiet(known, report, _keys(given) - _keys(known), _refused(planned_claims, plan))
    told = (_placed(_of(known, one.document), one) for one in report.remarks if not quiet.says(one))
    return ManifestReport(
        findings=tuple(dict.fromkeys(told)),
        named=frozenset(key for one in report.pods for _, key in _named(one.pod)),
    )


def mention_claims(documents: Iterable[Document]) -> bool:
    """Whether a manifest is a claim, or makes Pods that have some."""
    return any(
        is_claim(one) or any("resourceClaims" in pod.spec for pod in pods_of(one))
        for one in flattened(documents)
    )


def _is_manager(document: Document) -> bool:
    """Whether a manifest is of our own managers, which have a node's devices by right."""
    return mapping(document.metadata, "labels").get(MANAGED_BY_LABEL) == MANAGED_BY_US


def _of(known: Sequence[Document], numbered: Document) -> Document:
    """The document that was given by its number."""
    return known[int(numbered.origin)]


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


def _named(pod: PodTemplate) -> Iterator[tuple[int, ObjectKey]]:
    """The claims and templates that Pods name, by the index of their entry."""
    for index, entry in mappings(pod.spec, "resourceClaims"):
        for field, kind in CLAIM_FIELDS.items():
            if isinstance(name := entry.get(field), str):
                yield index, (kind, pod.namespace, name)


class _Quiet:
    """What is said already, or only for want of what the deployment knows.

    Args:
        known: What was given, as far as it can be judged.
        report: What was found; origins are numbers of what was given.
        unknown: Claims that cannot be judged before the deployment.
        refused: Claims of the app that no group serves.
    """

    def __init__(
        self,
        known: Sequence[Document],
        report: WorkloadReport,
        unknown: AbstractSet[ObjectKey],
        refused: AbstractSet[ObjectKey],
    ) -> None:
        self._known = known
        self._unserved = set()
        self._unknown = set()
        for pod in (one.pod for one in report.pods):
            for index, key in _named(pod):
                if key in refused:
                    self._unserved.add((pod.document.origin, pod.steps))
                if key in unknown:
                    place = (*pod.steps, "resourceClaims", index)
                    self._unknown.add((pod.document.origin, place))

    def says(self, remark: Remark) -> bool:
        """Whether a remark is to be left out."""
        place = remark.document.origin, remark.steps
        given = _of(self._known, remark.document)
        value = _value_at(given.content, remark.steps)
        if remark.finding.code in _FOR_CLAIM and place in self._unserved:
            return True
        if remark.finding.code in _NOT_FOUND and is_unknown(given.namespace):
            return True
        if not _WIRING.isdisjoint(remark.steps) and has_unknown(_wiring(given.content)):
            return True
        return place in self._unknown or is_unknown(value)


def _wiring(value: Any, depth: int = 0) -> list[Any]:
    """What Pods of a manifest say of their claims."""
    inside: Iterable[Any] = ()
    found: list[Any] = []
    if isinstance(value, Mapping):
        found += [value[key] for key in _WIRING if key in value]
        inside = value.values()
    elif isinstance(value, (list, tuple)):
        inside = value
    for one in inside if depth < _DEEPEST else ():
        found += _wiring(one, depth + 1)
    return found


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


def _placed(document: Document, remark: Remark) -> ManifestFinding:
    """A finding with the path of its manifest, and of the place in it."""
    found, origin = remark.finding, document.origin
    at = path_of((*document.base, *remark.steps))
    path = f"{origin}: {document.title}" + (f".{at}" if at else "")
    severity = Severity.INFO if found.code in _NOT_FOUND else found.severity
    return ManifestFinding(origin=origin, finding=replace(found, path=path, severity=severity))
