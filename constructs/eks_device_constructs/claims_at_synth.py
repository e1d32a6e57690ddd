"""What is told of claims when all groups of a cluster and all manifests of the app are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from constructs import IConstruct

from eks_devices import ClaimChecks, ClusterPlan, EksDevicesError, Finding, NodegroupPlan, Severity
from eks_devices.app_check import check_manifests, fleet_findings, mention_claims
from eks_devices.claim_checks import engine_faults
from eks_devices.claims.compute_domain import ComputeDomain
from eks_devices.claims.objects import object_keys
from eks_devices.extras import how_to_install
from eks_devices.findings import info
from eks_devices.workload_check import Document

from .fleet import NotedClaim
from .known_cluster import KnownCluster
from .sent_manifests import SentManifests, documents_to
from .tree import reference_of

OwnedClaim = tuple[NotedClaim, list[NodegroupPlan]]
Told = tuple[IConstruct, Finding]


class ClaimsAtSynth:
    """Looks at the claims of a cluster; what was told once is not told by the next synth.

    Attributes:
        faults: What keeps the stack from being deployed.
        infos: What only tells, for the cluster as a whole.
    """

    def __init__(self, known: KnownCluster) -> None:
        self.faults: list[Finding] = []
        self.infos: list[Finding] = []
        self._known = known
        self._told: set[tuple[object, Finding]] = set()

    def check(self, sent: Sequence[SentManifests]) -> None:
        """Tell warnings where they belong, and hold the faults and infos that there are now.

        Args:
            sent: What the app sends to any cluster.
        """
        self.faults, self.infos = [], []
        fleet = self._known.fleet
        fleet.claim_faults = self.faults
        if self._known.claim_checks is ClaimChecks.OFF:
            return
        claims = fleet.claimed
        if not claims and not any(one.known is self._known for one in sent):
            return
        try:
            plan = fleet.plan
        except EksDevicesError:
            # Told already: what a group needs was removed again.
            return
        if plan.nodegroups:
            self._check(claims, sent, plan)

    def _check(
        self, claims: Sequence[OwnedClaim], sent: Sequence[SentManifests], plan: ClusterPlan
    ) -> None:
        documents, self.infos = documents_to(self._known, sent)
        if engine_faults():
            is_due = claims or mention_claims([one for _, one in documents])
            self.infos += [_not_checked()] if is_due else []
            return
        for at, found in self._found(claims, documents, plan):
            self._take(at, found)

    def _found(
        self,
        claims: Sequence[OwnedClaim],
        documents: Sequence[tuple[IConstruct, Document]],
        plan: ClusterPlan,
    ) -> Iterator[Told]:
        planned = [one.manifest for one, _ in claims]
        report = check_manifests(
            [one for _, one in documents],
            plan,
            planned_claims=planned,
            nodegroup_names=self._known.fleet.nodegroup_names,
        )
        for one, own in claims:
            if not isinstance(one.claim, ComputeDomain):
                named = not report.named.isdisjoint(object_keys(one.claim))
                found = fleet_findings(one.claim, one.manifest, own, plan, is_named=named)
                yield from ((one.owner, finding) for finding in found)
        senders = {document.origin: at for at, document in documents}
        for told in report.findings:
            for finding in self._known.claim_checks.graded([told.finding]):
                yield senders[told.origin], finding

    def _take(self, at: IConstruct, found: Finding) -> None:
        if found.severity is Severity.ERROR:
            self.faults.append(found)
        elif found.severity is Severity.INFO:
            self.infos.append(found)
        elif (reference_of(at), found) not in self._told:
            self._told.add((reference_of(at), found))
            self._known.fleet.tell(at, [found])


def _not_checked() -> Finding:
    return info(
        "ClaimsNotChecked",
        "claim_checks",
        "claims are not held against the devices of the node groups, for the engine that evaluates "
        "their expressions is not installed",
        fix=f"{how_to_install('check')}; or pass claim_checks=ClaimChecks.OFF",
    )
