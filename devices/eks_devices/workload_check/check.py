"""The entry: manifests from anywhere against the node groups of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..eks_labels import eks_name_faults
from ..findings import Finding, raise_faults
from ..names import CLAIM_KIND, TEMPLATE_KIND
from ..plans import ClusterPlan
from ..typecheck import listed, wrong_type
from .affinity import selector_faults
from .affinity_form import affinity_faults
from .amounts import Amounts, amount_faults, amounts_of
from .claim_places import places_in
from .claim_versions import version_faults
from .claimed import KnownClaims, PodClaim
from .claims_alone import ClaimCheck
from .class_places import places_of_class
from .documents import DEFAULT_NAMESPACE, Document, Steps, flattened, path_of
from .failing import Told, failing
from .kind_form import kind_findings, lost_pods
from .lists import item_faults
from .object_form import object_faults
from .pods import PodTemplate
from .readable_documents import readable_documents, readable_manifests
from .refused import Refusals, is_refusal, told_as
from .report import ClaimVerdicts, PodVerdicts, Remark, WorkloadReport
from .resource_names import name_faults
from .rules import RULES, SET_RULES, Context, Whole
from .rules.own_classes import own_classes
from .runtime_classes import RuntimeClasses
from .serving import Judged, Serving
from .telling import asked_twice, by_both, served, unserved
from .toleration_form import toleration_faults
from .trainjobs import RUNTIMES, PodFinder
from .unknown_names import unknown_names, unknown_runtime

_CLASS = "DeviceClass"
_ASKED = (CLAIM_KIND, TEMPLATE_KIND, _CLASS, "ComputeDomain", *RUNTIMES)


def check_workloads(
    documents: Sequence[Document],
    plan: ClusterPlan,
    *,
    planned_claims: Sequence[Mapping[str, Any]] = (),
    namespace: str = DEFAULT_NAMESPACE,
    nodegroup_names: Mapping[str, str] | None = None,
) -> WorkloadReport:
    """Whether the nodes of a plan can serve the Pods that manifests make, and what else is wrong.

    Pods are found in manifests of every kind. Those that ask for devices, by claims or by extended
    resources, are held against each node group: its labels and taints, what its device plugins
    offer, what its DRA drivers publish, its CPUs and memory. Claims that no Pod names are held
    against them alone. What only a running node, or somebody else's scheduler, can tell is
    UNKNOWN and never an error.

    Args:
        documents: The manifests, claims and DeviceClasses among them.
        plan: The node groups.
        planned_claims: The manifests of the claims that the plan's app makes.
        namespace: The namespace of manifests that name none; `default` unless given.
        nodegroup_names: The names in EKS of the groups, by their names in the plan: the values of
            the label `eks.amazonaws.com/nodegroup`, which are known at run time only unless given.

    Raises:
        EksDevicesError: Something else is passed than these, or the extra `check` is not
            installed, `CheckExtraMissing`.
    """
    given, faults = listed(
        documents, Document, "documents", many="Documents", one="a Document", fix="pass Documents"
    )
    planned, more = listed(
        planned_claims, Mapping, "planned_claims", many="manifests", one="a dict", fix="pass dicts"
    )
    faults += more
    if not isinstance(plan, ClusterPlan):
        faults.append(wrong_type("plan", plan, "a ClusterPlan", "pass what plan_cluster returns"))
    if not isinstance(namespace, str):
        faults.append(wrong_type("namespace", namespace, "a text", "pass its name"))
    faults += eks_name_faults(nodegroup_names)
    raise_faults(faults)
    return _Check(given, plan, planned, namespace, nodegroup_names).report()


class _Check:
    def __init__(
        self,
        documents: Sequence[Document],
        plan: ClusterPlan,
        planned: Sequence[Mapping[str, Any]],
        namespace: str,
        nodegroup_names: Mapping[str, str] | None,
    ) -> None:
        self._copies: dict[int, Document] = {}
        given, self._remarks = readable_documents(documents)
        read = [replace(one, default_namespace=namespace) for one in given]
        self._documents = tuple(flattened(read))
        for one, steps, found in item_faults(read):
            self._note(one, [(steps, found)])
        self._plan = plan
        self._planned = readable_manifests(planned)
        self._classes = tuple(one for one in self._documents if one.kind == _CLASS)
        self._claims = KnownClaims(self._documents, self._planned)
        self._runtime_classes = RuntimeClasses(self._documents)
        self._own_classes = own_classes(self._classes)
        self._serving = Serving(plan, self._classes, nodegroup_names)
        self._alone = ClaimCheck(self._serving)

    def report(self) -> WorkloadReport:
        self._of_documents()
        written = list(PodFinder(self._documents).pods())
        pods = [self._of_class(one) for one in written]
        claims = [tuple(self._claims.of(pod)) for pod in pods]
        alone = self._of_claims()
        contexts = [self._context(pod, some) for pod, some in zip(pods, claims, strict=True)]
        judged = [
            found
            for pod, named, context in zip(pods, claims, contexts, strict=True)
            if (found := self._of_pod(pod, named, context)) is not None
        ]
        self._of_all(contexts)
        refusals = Refusals(self._remarks, self._serving.judge.refused_classes)
        of_pod = {id(context.given): some for context, some in zip(contexts, claims, strict=True)}
        return WorkloadReport(
            remarks=tuple(self._remarks),
            pods=tuple(self._left(one, of_pod[id(one.pod)], refusals) for one in judged),
            claims=tuple(self._left_of_claim(one, refusals) for one in alone),
            templates=len(pods),
            origins=self._origins(pods),
        )

    def _left(
        self, one: PodVerdicts, claims: Sequence[PodClaim], refusals: Refusals
    ) -> PodVerdicts:
        """Verdicts with what the API server leaves of them."""
        manifests = [claim.manifest for claim in claims if claim.manifest is not None]
        refusal = refusals.of_pod(one.pod, claims, self._serving.judge.classes(manifests))
        return replace(one, verdicts=told_as(refusal, one.verdicts))

    def _left_of_claim(self, one: ClaimVerdicts, refusals: Refusals) -> ClaimVerdicts:
        manifest = self._claims.manifest(one.document)
        refusal = refusals.of_claim(one.document, self._serving.judge.classes([manifest]))
        return replace(one, verdicts=told_as(refusal, one.verdicts))

    def _origins(self, pods: Sequence[PodTemplate]) -> frozenset[str]:
        asked = (one.origin for one in self._documents if one.kind in _ASKED)
        return frozenset((*asked, *(one.document.origin for one in pods)))

    def _of_all(self, pods: Sequence[Context]) -> None:
        """What only all manifests together tell."""
        whole = Whole(
            documents=self._documents,
            pods=pods,
            planned_claims=self._planned,
            plan=self._plan,
        )
        for rule in SET_RULES:
            for document, steps, found in rule(whole):
                self._note(document, [(steps, found)])

    def _of_class(self, pod: PodTemplate) -> PodTemplate:
        """Pods with what their RuntimeClass adds."""
        if self._serving.asks_for_devices(pod, amounts_of(pod)):
            self._note(pod.document, self._runtime_classes.findings(pod), below=pod.steps)
        return self._runtime_classes.applied(pod)

    def _context(self, pod: PodTemplate, claims: tuple[PodClaim, ...]) -> Context:
        groups = self._serving.reachable(pod, amounts_of(pod))
        return Context(
            pod=pod,
            claims=claims,
            plan=self._plan,
            groups=groups,
            classes=self._own_classes,
            copies=self._copies,
        )

    def _of_documents(self) -> None:
        for one in self._documents:
            self._note(one, lost_pods(one))
            if one.kind in (CLAIM_KIND, TEMPLATE_KIND, _CLASS):
                version = self._plan.kubernetes_version
                self._note(one, [((), found) for found in version_faults(one, version)])
                self._note(one, object_faults(one))
        for document, steps, found in self._serving.judge.class_faults:
            self._note(document, [(steps, found)])

    def _of_claims(self) -> tuple[ClaimVerdicts, ...]:
        judged = []
        for one in self._documents:
            if one.kind not in (CLAIM_KIND, TEMPLATE_KIND):
                continue
            manifest = self._claims.manifest(one)
            is_used = self._claims.is_used(one)
            self._note(one, self._alone.remarks(one, manifest, is_used=is_used))
            if not is_used and not self._serving.judge.faults(manifest):
                verdicts = tuple(x.verdict for x in self._serving.of_claim(manifest, one.name))
                judged.append(ClaimVerdicts(document=one, verdicts=verdicts))
        return tuple(judged)

    def _of_pod(
        self, pod: PodTemplate, claims: tuple[PodClaim, ...], context: Context
    ) -> PodVerdicts | None:
        own = self._of_pod_itself(pod, context)
        self._note(pod.document, own, below=pod.steps)
        self._note(pod.document, unknown_runtime(pod, self._documents), below=pod.steps)
        amounts = amounts_of(pod)
        if not self._serving.asks_for_devices(pod, amounts):
            return None
        self._note(pod.document, kind_findings(pod))
        self._note(pod.document, unknown_names(pod, claims, self._claims), below=pod.steps)
        judged = self._serving.of_pod(pod, claims, amounts)
        for one, verdict in self._of_verdicts(pod, claims, amounts, judged):
            of_class = places_of_class(self._classes, self._plan, verdict)
            related = (*of_class, *places_in(claims, verdict))
            self._note(pod.document, [((), one)], below=pod.steps, related=related)
        if not any(is_refusal(one) for _, one in own):
            more = served(pod, judged, self._plan)
            self._note(pod.document, (((), one) for one in more), below=pod.steps)
        return PodVerdicts(pod=pod, verdicts=tuple(one.verdict for one in judged))

    def _of_pod_itself(self, pod: PodTemplate, context: Context) -> list[tuple[Steps, Finding]]:
        """What is wrong with Pods whatever nodes there are."""
        rules = () if pod.is_partial else RULES
        return [
            *(told for rule in rules for told in rule(context)),
            *name_faults(pod, self._plan, self._serving.resources),
            *amount_faults(pod),
            *selector_faults(pod),
            *affinity_faults(pod.spec),
            *toleration_faults(pod, self._plan),
        ]

    def _of_verdicts(
        self,
        pod: PodTemplate,
        claims: Sequence[PodClaim],
        amounts: Amounts,
        judged: Sequence[Judged],
    ) -> Iterator[Told]:
        told = {code for one in claims for code in self._alone.told(one.manifest)}
        path = path_of(pod.steps)
        manifests = [one.manifest for one in claims if one.manifest is not None]
        if "MalformedClaim" in told or self._serving.judge.has_refused_class(manifests):
            return
        yield from failing(judged, path, told=told)
        sound = [(one.name, one.manifest) for one in claims if one.manifest is not None]
        asked = self._serving.judge.claim_set(sound)
        classes = {name: self._serving.resources.class_of(name) for name, _ in amounts.devices}
        both = list(by_both(pod, judged, asked, [name for name, one in classes.items() if not one]))
        yield from ((one, None) for one in asked_twice(pod, judged, asked, classes))
        what = "these Pods, so they would wait for ever"
        if pod.document.kind == "DaemonSet" and not any(one.is_reached for one in judged):
            what = "these Pods, and the DaemonSet makes none, for it comes to none of their nodes"
        yield from ((one, None) for one in both)
        yield from () if both else unserved(judged, path, code="NoNodegroupServesPod", what=what)

    def _note(
        self,
        document: Document,
        found: Iterable[tuple[Steps, Finding]],
        *,
        below: Steps = (),
        related: tuple[tuple[Document, Steps], ...] = (),
    ) -> None:
        self._remarks += [
            Remark(document=document, steps=(*below, *steps), finding=one, related=related)
            for steps, one in found
        ]
