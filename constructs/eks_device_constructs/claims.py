"""Claims of a node group as objects of its cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from constructs import Construct, IDependable

from eks_devices import EksDevicesError, Finding, NodegroupPlan
from eks_devices.claims.on_nodegroup import Claim, claim_manifest
from eks_devices.findings import fault, info, raise_faults

from .annotations import annotate
from .delivery import Carrier
from .hosts import Drivers, NodegroupHost
from .tree import is_in_tree

_DEFAULT_NAMESPACES = ("default", "kube-system")


class ClaimSender:
    """Sends the claims of a group by the delivery of its drivers."""

    def __init__(
        self,
        group: Construct,
        host: NodegroupHost,
        drivers: Drivers | None,
        needed: Sequence[IDependable],
    ) -> None:
        self._group = group
        self._host = host
        self._drivers = drivers
        self._needed = needed
        self._carrier: Carrier | None = None

    def send(self, claim: Claim, plan: NodegroupPlan, *, create_namespace: bool) -> None:
        """Send a claim, and its namespace where nobody made it yet.

        Raises:
            EksDevicesError: Every fault of the claim on the group; `NoDelivery` where nothing
                takes objects to the cluster.
        """
        manifest = self._judged(claim, plan)
        carrier = self._require_carrier(claim)
        if create_namespace:
            self._make_namespace(claim.namespace, carrier)
        made = self._host.namespaces.get(claim.namespace, [])
        name = f"{manifest['kind']}-{claim.namespace}-{claim.name}"
        carrier.send(name, [manifest], after=[*self._needed, *made])
        self._host.claims[_identity(claim)] = self._group
        if claim.namespace not in {*self._host.namespaces, *_DEFAULT_NAMESPACES}:
            annotate(self._group, [_not_made(claim)])

    def _judged(self, claim: Claim, plan: NodegroupPlan) -> dict[str, Any]:
        """The manifest of a claim, or every fault of it on the group and in the cluster."""
        other = self._host.claims.get(_identity(claim))
        repeated = [_repeated(claim, other)] if other is not None and is_in_tree(other) else []
        faults = [*repeated, *self._delivery_faults(claim)]
        try:
            manifest = claim_manifest(claim, plan)
        except EksDevicesError as error:
            raise EksDevicesError([*error.faults, *faults]) from None
        raise_faults(faults)
        return manifest

    def _make_namespace(self, name: str, carrier: Carrier) -> None:
        if name in {*self._host.namespaces, *_DEFAULT_NAMESPACES}:
            return
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        sent = carrier.send(f"Namespace-{name}", [namespace], retain=True)
        self._host.namespaces[name] = [] if sent is None else [sent]

    def _require_carrier(self, claim: Claim) -> Carrier:
        if self._drivers is None or self._drivers.delivery is None:
            raise EksDevicesError(self._delivery_faults(claim))
        if self._carrier is None:
            self._carrier = self._drivers.delivery.carrier(self._group, self._host.cluster)
        return self._carrier

    def _delivery_faults(self, claim: Claim) -> list[Finding]:
        if self._drivers is not None and self._drivers.delivery is not None:
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


def _identity(claim: Claim) -> tuple[str, str, str]:
    return type(claim).__name__, claim.namespace, claim.name


def _repeated(claim: Claim, other: Construct) -> Finding:
    return fault(
        "RepeatedClaim",
        f"{claim.path}.name",
        f"{other.node.path} has one of this name in the namespace {claim.namespace}",
        got=claim.name,
        allowed="each name once in a namespace of a cluster",
        fix="choose another name: a claim is made for the nodes of one group",
    )


def _not_made(claim: Claim) -> Finding:
    return info(
        "NamespaceNotCreated",
        f"{claim.path}.namespace",
        f"nothing in this app makes the namespace {claim.namespace}",
        fix="pass create_namespace=True, or make sure that it exists",
    )
