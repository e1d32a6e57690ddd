"""Claims of a node group as objects of its cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from constructs import Construct, IConstruct

from eks_device_charts.manifests.bundles import namespace_bundle
from eks_devices import EksDevicesError, Finding, NodegroupPlan
from eks_devices._data import read_toml
from eks_devices.claims.on_nodegroup import Claim, claim_findings, claim_manifest
from eks_devices.findings import fault, info, raise_faults
from eks_devices.typecheck import boolean

from .annotations import annotate
from .delivery import Carrier, Delivery
from .hosts import NodegroupHost, Sent
from .tree import is_in_tree

_DEFAULT_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


class ClaimSender:
    """Sends the claims of a group by the delivery of its drivers."""

    def __init__(
        self,
        group: Construct,
        host: NodegroupHost,
        delivery: Delivery | None,
        needed: Sequence[IConstruct],
    ) -> None:
        self._group = group
        self._host = host
        self._delivery = delivery
        self._needed = needed
        self._carrier: Carrier | None = None

    def send(self, claim: Claim, plan: NodegroupPlan, *, create_namespace: bool) -> None:
        """Send a claim, and its namespace where nobody made it yet.

        Raises:
            EksDevicesError: Every fault of the claim on the group; `NoDelivery` where nothing
                takes objects to the cluster.
        """
        manifest = self._judged(claim, plan, create_namespace)
        delivery, carrier = self._require_carrier(claim)
        if create_namespace:
            self._make_namespace(claim.namespace, delivery)
        made = self._host.sent(namespace_bundle(claim.namespace).name, delivery.way)
        # No name of a namespace holds a dot, so no two claims share this one.
        name = f"{manifest['kind']}-{claim.namespace}.{claim.name}"
        sent = carrier.send(name, [manifest], after=[*self._needed, *(made or [])])
        self._host.claims[_identity(claim)] = Sent(by=self._group, manifests=sent)
        if made is None and claim.namespace not in _DEFAULT_NAMESPACES:
            annotate(self._group, [_not_made(claim)])
        annotate(self._group, claim_findings(claim, manifest, plan))

    def _judged(
        self, claim: Claim, plan: NodegroupPlan, create_namespace: object
    ) -> dict[str, Any]:
        """The manifest of a claim, or every fault of it on the group and in the cluster."""
        other = self._host.claims.get(_identity(claim))
        repeated = [_repeated(claim, other.by)] if other and is_in_tree(other.by) else []
        faults = [
            *repeated,
            *self._delivery_faults(claim),
            *boolean(create_namespace, f"{claim.path}.create_namespace"),
        ]
        try:
            manifest = claim_manifest(claim, plan)
        except EksDevicesError as error:
            raise EksDevicesError([*error.faults, *faults]) from None
        raise_faults([*faults, *_size_faults(claim, manifest)])
        return manifest

    def _make_namespace(self, name: str, delivery: Delivery) -> None:
        """Make a namespace beside the cluster, whose groups may all use it and may go again."""
        bundle, host = namespace_bundle(name), self._host
        if name in _DEFAULT_NAMESPACES or host.sent(bundle.name, delivery.way) is not None:
            return
        carrier = delivery.carrier(host.home, host)
        made = carrier.send(bundle.name, bundle.objects, retain=True)
        host.note_sent(bundle.name, delivery.way, host.home, made)
        for (_, space, _), claim in host.claims.items():
            for earlier in claim.manifests if space == name else ():
                earlier.node.add_dependency(*made)

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


def _identity(claim: Claim) -> tuple[str, str, str]:
    return type(claim).__name__, claim.namespace, claim.name


def _repeated(claim: Claim, other: IConstruct) -> Finding:
    return fault(
        "RepeatedClaim",
        f"{claim.path}.name",
        f"{other.node.path} has one of this name in the namespace {claim.namespace}",
        got=claim.name,
        allowed="each name once in a namespace of a cluster",
        fix="choose another name: a claim is made for the nodes of one group",
    )


def _size_faults(claim: Claim, manifest: dict[str, Any]) -> Iterator[Finding]:
    """The fault of an object whose text does not fit into the annotation that kubectl writes."""
    limit = read_toml("limits.toml")["manifest"]
    size = len(json.dumps(manifest).encode())
    if size > limit["most_bytes"]:
        yield fault(
            "ManifestTooLarge",
            claim.path,
            limit["message"],
            got=f"{size} bytes",
            allowed=f"at most {limit['most_bytes']} bytes",
            fix="shorten the selectors",
            source=limit["source"],
        )


def _not_made(claim: Claim) -> Finding:
    return info(
        "NamespaceNotCreated",
        f"{claim.path}.namespace",
        f"no claim before this one makes the namespace {claim.namespace}",
        fix="pass create_namespace=True, or make sure that it exists",
    )
