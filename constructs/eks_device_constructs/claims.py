"""Claims of a node group as objects of its cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from constructs import Construct, IConstruct

from eks_device_charts.manifests.bundles import manager_namespaces, namespace_bundle
from eks_devices import (
    ClaimChecks,
    ComputeDomain,
    DranetBuild,
    EksDevicesError,
    Finding,
    NodegroupPlan,
    Severity,
)
from eks_devices.app_check import claim_faults, not_repeated
from eks_devices.claim_checks import engine_faults
from eks_devices.claims.objects import Claim, ObjectKey, object_keys
from eks_devices.claims.on_nodegroup import claim_findings, claim_manifest
from eks_devices.findings import fault, info, raise_faults
from eks_devices.typecheck import boolean

from .admin_access import label_needed, made_without_label, needs_admin_access
from .delivery import Carrier, Delivery
from .fleet import NotedClaim
from .hosts import NodegroupHost
from .sent import Sent
from .tree import address_of, stack_of

_DEFAULT_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


class ClaimSender:
    """Sends the claims of a group by the delivery of its drivers."""

    def __init__(
        self,
        group: Construct,
        host: NodegroupHost,
        delivery: Delivery | None,
        needed: Sequence[IConstruct],
        build: DranetBuild | None,
    ) -> None:
        self._group = group
        self._host = host
        self._delivery = delivery
        self._needed = needed
        self._build = build
        self._carrier: Carrier | None = None

    def send(self, claim: Claim, plans: Sequence[NodegroupPlan], *, create_namespace: bool) -> None:
        """Send a claim, and its namespace where nobody made it yet.

        Args:
            claim: The claim.
            plans: The groups that it is for, which are alike.
            create_namespace: Whether to make its namespace.

        Raises:
            EksDevicesError: Every fault of the claim on the group; `NoDelivery` where nothing
                takes objects to the cluster.
        """
        plan = plans[0]
        manifest, findings = self._judged(claim, plans, create_namespace)
        delivery, carrier = self._require_carrier(claim)
        if create_namespace:
            self._make_namespace(claim, delivery)
        made = self._namespace(claim.namespace, delivery)
        # No name of a namespace holds a dot, so no two claims share this one.
        name = f"{manifest['kind']}-{claim.namespace}.{claim.name}"
        sent = carrier.send(name, [manifest], after=[*self._needed, *(made or [])])
        for key in object_keys(claim):
            self._host.sent.note_claim(key, Sent(by=self._group, manifests=sent))
        found: list[Finding] = []
        if made is None and claim.namespace not in _DEFAULT_NAMESPACES:
            found.append(_not_made(claim))
        found += self._access_findings(claim, delivery)
        found += findings
        self._host.fleet.tell(self._group, found)
        self._host.fleet.note_claim(NotedClaim(self._group, claim, plan, manifest))

    def _judged(
        self, claim: Claim, plans: Sequence[NodegroupPlan], create_namespace: object
    ) -> tuple[dict[str, Any], list[Finding]]:
        """The manifest of a claim and what to know of it, or every fault of it."""
        others = {key: self._host.sent.claim(key) for key in object_keys(claim)}
        faults = [
            *(_repeated(claim, key, other.by) for key, other in others.items() if other),
            *self._delivery_faults(claim),
            *boolean(create_namespace, f"{claim.path}.create_namespace"),
            *self._access_faults(claim),
        ]
        try:
            manifest = claim_manifest(claim, plans[0], build=self._build)
        except EksDevicesError as error:
            raise EksDevicesError([*error.faults, *faults]) from None
        found = claim_findings(claim, manifest, plans[0], build=self._build)
        checked = self._checked(claim, manifest, plans, found)
        found = [*not_repeated(found, checked), *checked]
        raise_faults([*(one for one in found if one.severity is Severity.ERROR), *faults])
        return manifest, found

    def _checked(
        self,
        claim: Claim,
        manifest: dict[str, Any],
        plans: Sequence[NodegroupPlan],
        said: Sequence[Finding],
    ) -> list[Finding]:
        """What the devices of the groups say of a claim, as far as it can be evaluated here."""
        checks = self._host.known.claim_checks
        if checks is ClaimChecks.OFF or isinstance(claim, ComputeDomain) or engine_faults():
            return []
        return checks.graded(claim_faults(claim, manifest, plans, said))

    def _access_faults(self, claim: Claim) -> list[Finding]:
        """The fault of a namespace that this app makes without the label that a claim needs."""
        if self._delivery is None or not needs_admin_access(claim):
            return []
        bundle, way = namespace_bundle(claim.namespace).name, self._way(self._delivery)
        sent = self._host.sent
        made = sent.bundle(bundle, way) is not None and bundle not in manager_namespaces()
        return (
            [made_without_label(claim)]
            if made and not sent.allows_admin_access(bundle, way)
            else []
        )

    def _make_namespace(self, claim: Claim, delivery: Delivery) -> None:
        """Make a namespace for all groups that may wait for it; any of them may go again.

        It stands beside the cluster, or in this group's stack where the cluster does not apply it
        itself: what applies it may wait for the cluster.
        """
        name, access, host = claim.namespace, needs_admin_access(claim), self._host
        bundle, way = namespace_bundle(name, admin_access=access), self._way(delivery)
        if name in _DEFAULT_NAMESPACES or host.sent.bundle(bundle.name, way) is not None:
            return
        home = host.home if way == delivery.way else host.home_beside(self._group)
        made = delivery.carrier(home, host).send(bundle.name, bundle.objects, retain=True)
        # The namespace of a manager is made as the manager has it.
        labelled = access and bundle.name not in manager_namespaces()
        sent = Sent(by=home, manifests=made, admin_access=labelled)
        host.sent.note_bundle(bundle.name, way, sent)
        for earlier in host.sent.claims_in(name):
            if way == delivery.way or _stack(earlier) == _stack(self._group):
                earlier.node.add_dependency(*made)

    def _access_findings(self, claim: Claim, delivery: Delivery) -> list[Finding]:
        """The info of a label that the namespace of a claim needs, and this app does not set."""
        bundle, way = namespace_bundle(claim.namespace).name, self._way(delivery)
        if not needs_admin_access(claim) or self._host.sent.allows_admin_access(bundle, way):
            return []
        return [label_needed(claim)]

    def _namespace(self, name: str, delivery: Delivery) -> list[IConstruct] | None:
        """What makes a namespace, as far as this group may wait for it."""
        return self._host.sent.bundle(namespace_bundle(name).name, self._way(delivery))

    def _way(self, delivery: Delivery) -> str:
        """What tells apart the namespaces that claims cannot wait for alike."""
        if delivery.waits_for(self._host) is None or delivery.uses_handler_of(self._host):
            return delivery.way
        return f"{delivery.way} {_stack(self._group)}"

    def _require_carrier(self, claim: Claim) -> tuple[Delivery, Carrier]:
        if self._delivery is None:
            raise EksDevicesError(self._delivery_faults(claim))
        if self._carrier is None:
            self._carrier = self._delivery.carrier(self._group, self._host)
        return self._delivery, self._carrier

    def _delivery_faults(self, claim: Claim) -> list[Finding]:
        if self._delivery is not None:
            return []
        return [
            fault(
                "NoDelivery",
                claim.path,
                "nothing takes objects of this group to the cluster",
                got=None,
                allowed="a Delivery",
                fix="pass delivery=Delivery.kubectl(...) or .gitops(...) to the cluster, or to "
                "ExternalDrivers(delivery=...)",
            )
        ]


def _stack(construct: IConstruct) -> str:
    return address_of(stack_of(construct))


def _repeated(claim: Claim, key: ObjectKey, other: IConstruct) -> Finding:
    kind, namespace, name = key
    option = "name" if key == object_keys(claim)[0] else "channel_template"
    return fault(
        "RepeatedClaim",
        f"{claim.path}.{option}",
        f"{other.node.path} has a {kind} of this name in the namespace {namespace}",
        got=name,
        allowed="each name once in a namespace of a cluster",
        fix="choose another name: a claim is made for the nodes of one group",
    )


def _not_made(claim: Claim) -> Finding:
    return info(
        "NamespaceNotCreated",
        f"{claim.path}.namespace",
        f"no claim before this one makes the namespace {claim.namespace}",
        fix="pass create_namespace=True, or make sure that it exists",
    )
