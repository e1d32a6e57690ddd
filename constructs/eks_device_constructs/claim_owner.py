"""What a node group and a pool of them offer for claims."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from eks_devices import (
    ComputeDomain,
    DeviceRequest,
    DistinctAttribute,
    MatchAttribute,
    NodegroupPlan,
    OpaqueConfig,
    ResourceClaim,
    ResourceClaimTemplate,
    WholeNodeClaims,
    WholeNodeSplit,
    whole_node_claims,
)
from eks_devices.claims.objects import Claim
from eks_devices.typecheck import path_step


class ClaimOwner:
    """A construct whose nodes serve claims."""

    def add_resource_claim_template(
        self,
        name: str,
        *,
        namespace: str,
        requests: Sequence[DeviceRequest],
        match: MatchAttribute | None = None,
        constraints: Sequence[MatchAttribute | DistinctAttribute] = (),
        configs: Sequence[OpaqueConfig] = (),
        labels: Mapping[str, str] | None = None,
        claim_labels: Mapping[str, str] | None = None,
        create_namespace: bool = False,
    ) -> ResourceClaimTemplate:
        """Add a template from which Pods on these nodes get claims of their own.

        Kubernetes refuses every change of a template: a changed one needs another name, or its
        deployment fails and is rolled back.

        Args:
            name: Name of the template, which Pods name.
            namespace: The namespace of the template and its Pods.
            requests: What is asked for; an open EFA count is filled from the node group.
            match: The attribute that all devices must share; none unless named.
            constraints: What devices of some requests must share or differ in; nothing by default.
            configs: What drivers are told beside what requests say; nothing by default.
            labels: Labels of the template; none by default.
            claim_labels: Labels of the claims made from it; none by default.
            create_namespace: Makes the namespace; it is never deleted again.

        Raises:
            EksDevicesError: Every fault of the claim on the devices of the node group, or
                `EmptyPool` for a pool before its first group.
        """
        claim = ResourceClaimTemplate(
            name=name,
            namespace=namespace,
            requests=requests,
            match=match,
            constraints=constraints,
            configs=configs,
            labels={} if labels is None else labels,
            claim_labels={} if claim_labels is None else claim_labels,
        )
        self._send(claim, create_namespace=create_namespace)
        return claim

    def add_resource_claim(
        self,
        name: str,
        *,
        namespace: str,
        requests: Sequence[DeviceRequest],
        match: MatchAttribute | None = None,
        constraints: Sequence[MatchAttribute | DistinctAttribute] = (),
        configs: Sequence[OpaqueConfig] = (),
        labels: Mapping[str, str] | None = None,
        create_namespace: bool = False,
    ) -> ResourceClaim:
        """Add a claim that Pods share by naming it, all of them on one of these nodes.

        Kubernetes refuses every change of a claim: a changed one needs another name, or its
        deployment fails and is rolled back. One that goes waits for the Pods that use it.

        Args:
            name: Name of the claim, which Pods name.
            namespace: The namespace of the claim and its Pods.
            requests: What is asked for; an open EFA count is filled from the node group.
            match: The attribute that all devices must share; none unless named.
            constraints: What devices of some requests must share or differ in; nothing by default.
            configs: What drivers are told beside what requests say; nothing by default.
            labels: Labels of the claim; none by default.
            create_namespace: Makes the namespace; it is never deleted again.

        Raises:
            EksDevicesError: Every fault of the claim on the devices of the node group, or
                `EmptyPool` for a pool before its first group.
        """
        claim = ResourceClaim(
            name=name,
            namespace=namespace,
            requests=requests,
            match=match,
            constraints=constraints,
            configs=configs,
            labels={} if labels is None else labels,
        )
        self._send(claim, create_namespace=create_namespace)
        return claim

    def add_whole_node_claims(
        self,
        name: str,
        *,
        namespace: str,
        split: WholeNodeSplit = WholeNodeSplit.FEWEST,
        create_namespace: bool = False,
    ) -> WholeNodeClaims:
        """Add the templates of the claims by which a Pod takes one of these nodes as a whole.

        `use_claims` puts them into a Pod spec.

        Args:
            name: Begins the names of the templates; a DNS label.
            namespace: The namespace of the templates and their Pods.
            split: One claim where 32 devices hold it, else two, or one for each PCIe root.
            create_namespace: Makes the namespace; it is never deleted again.

        Raises:
            EksDevicesError: Every fault of the claims on the devices of the node group, those of
                `whole_node_claims`, or `EmptyPool` for a pool before its first group.
        """
        plan = self._claimed_plan(f"claims.{path_step(namespace)}/{path_step(name)}")
        found = whole_node_claims(name, nodes=plan, namespace=namespace, split=split)
        for template in found.templates:
            self._send(template, create_namespace=create_namespace)
        return found

    def add_compute_domain(
        self, name: str, *, namespace: str, nodes: int = 0, create_namespace: bool = False
    ) -> ComputeDomain:
        """Add a ComputeDomain for one job on these nodes; of a pool, on those of one group.

        Args:
            name: Name of the domain.
            namespace: The namespace of the domain and its Pods.
            nodes: How many nodes the domain waits for; none unless named.
            create_namespace: Makes the namespace; it is never deleted again.

        Raises:
            EksDevicesError: Every fault of the domain on the devices of the node group, or
                `EmptyPool` for a pool before its first group.
        """
        domain = ComputeDomain(name=name, namespace=namespace, nodes=nodes)
        self._send(domain, create_namespace=create_namespace)
        return domain

    @abstractmethod
    def _claimed_plan(self, path: str) -> NodegroupPlan:
        """The plan of the nodes that serve claims; faults name what is claimed by the path."""

    @abstractmethod
    def _send(self, claim: Claim, *, create_namespace: bool) -> None:
        """Send a claim that was judged in its parts to where these nodes are."""
