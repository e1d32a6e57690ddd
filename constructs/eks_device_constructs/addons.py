"""The EKS managed add-ons of a cluster, in the order in which a first boot works."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from aws_cdk import CfnResource
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct, IConstruct

from eks_devices.addons import Addon, AddonIdentity, Addons, chosen_addons

from .tree import address_of, is_in_tree, stack_of


class ManagedAddons(Construct):
    """The managed add-ons of a cluster.

    A DaemonSet is ACTIVE without nodes, so the add-ons that nodes need come before all node
    groups, as eksctl and terraform-aws-eks have them. CoreDNS is a Deployment: without a node for
    its Pods it is DEGRADED, which CloudFormation takes for success, and the cluster has no DNS.
    So it comes after the nodes.

    Source: https://github.com/terraform-aws-modules/terraform-aws-eks/issues/1838 and
    https://github.com/hashicorp/terraform-provider-aws/issues/44669

    Attributes:
        drawn: The add-ons by name, as far as they were drawn.
        uses_pod_identity: Whether the VPC CNI has a role of its own.
    """

    drawn: dict[str, eks.CfnAddon]
    uses_pod_identity: bool

    def __init__(
        self, scope: Construct, *, cluster: eks.Cluster, addons: Addons | None, egress: bool
    ) -> None:
        """Draw the add-ons that do not wait for nodes.

        Args:
            scope: Where the construct stands.
            cluster: The cluster.
            addons: What the user chose, without faults; every add-on if None.
            egress: Whether nodes reach AWS APIs without endpoints of their own.
        """
        super().__init__(scope, "Addons")
        _addons[cluster] = self
        self._cluster_name = cluster.cluster_name
        self._chosen = chosen_addons(addons)
        # What the user named is drawn at once: the cluster may have nodes that are not ours.
        self._waiting = [one for one in self._chosen if addons is None and one.needs_nodes]
        self.drawn = {}
        self.uses_pod_identity = egress and _has_identity_and_agent(self._chosen)
        for addon in self._chosen:
            if addon not in self._waiting:
                self._draw(addon, self)

    @property
    def serves_identity(self) -> bool:
        """Whether an add-on hands out the roles of EKS Pod Identity."""
        return any(one.serves_identity for one in self._chosen)

    @property
    def before_nodes(self) -> list[IConstruct]:
        """What every node group waits for, without what one of these waits for itself."""
        first = [one for one in self._chosen if one.before_nodes]
        # The add-on with a role of its own waits for the one that serves roles.
        waits = self.uses_pod_identity and any(one.identity for one in first)
        return [self.drawn[one.name] for one in first if not (waits and one.serves_identity)]

    def take_nodes(self, scope: Construct, nodes: IConstruct) -> None:
        """Draw the add-ons that waited for nodes; those that need some come after these.

        Nodes of another stack need the cluster, so that nothing of its stack can wait for them:
        what comes with them is drawn in their stack.

        Args:
            scope: Where the nodes stand.
            nodes: What makes them.
        """
        place = self if _is_near(self, scope) else scope
        for addon in self._waiting:
            if not self._is_there(addon):
                self._draw(addon, place)
        for addon in self._chosen:
            drawn = self.drawn[addon.name]
            if addon.needs_nodes and _is_near(drawn, scope):
                drawn.node.add_dependency(nodes)

    def _is_there(self, addon: Addon) -> bool:
        """Whether an add-on was drawn, and not removed again with the nodes beside which it is."""
        drawn = self.drawn.get(addon.name)
        return drawn is not None and is_in_tree(drawn, beside=self)

    def lose_nodes(self, nodes: CfnResource) -> None:
        """Let no add-on wait for nodes that were removed again."""
        for addon in self._chosen:
            if addon.needs_nodes and self._is_there(addon):
                self.drawn[addon.name].remove_resource_dependency(nodes)

    def order_with(self, node_role: IConstruct) -> None:
        """Let the VPC CNI never run without permissions, not even while they move.

        The nodes' role loses them after the add-on got a role of its own, or has them before the
        add-on needs them. With a role of its own, no group of the nodes' role comes too early.
        """
        for addon in self._chosen:
            if addon.identity is not None:
                drawn = self.drawn[addon.name]
                first, then = (drawn, node_role) if self.uses_pod_identity else (node_role, drawn)
                then.node.add_dependency(first)

    def _draw(self, addon: Addon, scope: Construct) -> None:
        identity = addon.identity if self.uses_pod_identity else None
        drawn = eks.CfnAddon(
            scope,
            addon.name,
            cluster_name=self._cluster_name,
            addon_name=addon.name,
            addon_version=addon.version,
            configuration_values=addon.configuration,
            # EKS installs copies of its own with each cluster; the managed ones take them over.
            resolve_conflicts="OVERWRITE",
            pod_identity_associations=[self._association(addon.name, identity)]
            if identity
            else None,
        )
        self.drawn[addon.name] = drawn
        if identity is not None:
            agents = [self.drawn[one.name] for one in self._chosen if one.serves_identity]
            drawn.node.add_dependency(*agents)

    def _association(
        self, name: str, identity: AddonIdentity
    ) -> eks.CfnAddon.PodIdentityAssociationProperty:
        role = iam.Role(
            self,
            f"{name.title().replace('-', '')}Role",
            assumed_by=iam.SessionTagsPrincipal(iam.ServicePrincipal("pods.eks.amazonaws.com")),
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name(identity.policy)],
        )
        return eks.CfnAddon.PodIdentityAssociationProperty(
            role_arn=role.role_arn, service_account=identity.service_account
        )


_addons: WeakKeyDictionary[eks.Cluster, ManagedAddons] = WeakKeyDictionary()


def addons_of(cluster: eks.Cluster) -> ManagedAddons:
    """The add-ons of the cluster of an `AcceleratedCluster`."""
    return _addons[cluster]


def serves_identity(cluster: eks.Cluster | None) -> bool | None:
    """Whether a cluster has the add-on that gives Pods their roles; None where nobody knows."""
    found = None if cluster is None else _addons.get(cluster)
    return None if found is None else found.serves_identity


def _is_near(one: IConstruct, other: IConstruct) -> bool:
    """Whether two constructs are in one stack."""
    return address_of(stack_of(one)) == address_of(stack_of(other))


def _has_identity_and_agent(chosen: tuple[Addon, ...]) -> bool:
    """Whether the VPC CNI can have a role of its own, as AWS recommends.

    Its Pods crash where nothing serves the role (amazon-vpc-cni-k8s#3840), and Pods that started
    before the association never get it: hence the order agent, VPC CNI, nodes. On a new node both
    start together, as the agent needs no Pod network and tolerates every taint; the VPC CNI
    restarts until the agent answers. In subnets without a way out the agent needs an endpoint of
    the EKS Auth API, which nobody promises: there the nodes keep the permissions.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html and
    https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html
    """
    return any(one.serves_identity for one in chosen) and any(one.identity for one in chosen)
