"""The node groups and installations that a cluster has, and the plan of them all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_eks_v2 as eks
from constructs import IConstruct

from eks_devices import ClusterPlan, Finding, NodegroupPlan
from eks_devices.claims.elsewhere import elsewhere_findings
from eks_devices.claims.objects import Claim
from eks_devices.claims.summary import claim_summary
from eks_devices.cluster_planner import (
    findings_together,
    join_faults,
    join_plans,
    whole_faults,
)
from eks_devices.driver_planner import drivers_of, unserved
from eks_devices.installation_options import InstallationOptions
from eks_devices.keep import Keep
from eks_devices.kubernetes import minors
from eks_devices.typecheck import is_token

from .annotations import annotate
from .tree import ancestors, is_in_tree

if TYPE_CHECKING:
    from .drivers import DeviceDrivers
    from .membership import Membership
    from .system_nodegroup import SystemNodegroup


class NotedClaim(NamedTuple):
    """A claim for the devices of a group or pool, who added it, and what it came to."""

    owner: IConstruct
    claim: Claim
    plan: NodegroupPlan
    manifest: dict[str, Any]


class Fleet:
    """The node groups and installations of a cluster, as far as they are still there.

    Attributes:
        scoped: The scoped installations by their names.
        others: Node groups without accelerators, of all stacks.
        claim_faults: Why the last synth refused claims or manifests.
    """

    def __init__(self, home: IConstruct, kubernetes_version: str, *, is_foreign: bool) -> None:
        """Begin without any.

        Args:
            home: The scope of what all groups of the cluster share.
            kubernetes_version: The minor, "1.34".
            is_foreign: Whether another app may hold the cluster's default installation.
        """
        self.scoped: dict[str, DeviceDrivers] = {}
        self.others: list[SystemNodegroup] = []
        self.claim_faults: list[Finding] = []
        self._home = home
        self._version = kubernetes_version
        self._is_foreign = is_foreign
        self._groups: list[Membership] = []
        self._drivers: DeviceDrivers | None = None
        self._kept: Keep = {}
        self._options = InstallationOptions()
        self._drawn: dict[Membership, InstallationOptions] = {}
        self._claims: list[NotedClaim] = []
        self._told: list[tuple[IConstruct, tuple[Finding, ...]]] = []

    @property
    def groups(self) -> list[Membership]:
        """The groups that joined."""
        return [one for one in self._groups if is_in_tree(one.group, beside=self._home)]

    def register(self, group: Membership) -> None:
        """Take a group into the plan."""
        self._groups.append(group)
        if group.serving.installation is not None:
            self._drawn[group] = group.serving.installation.options

    def drawn_with(self, group: Membership) -> InstallationOptions:
        """What the managers of a group were told, which is drawn when the group is added."""
        return self._drawn.get(group, self.options)

    @property
    def drivers(self) -> DeviceDrivers | None:
        """The default installation, which serves groups that name none."""
        return self._drivers if self._is_there(self._drivers) else None

    def set_default(self, drivers: DeviceDrivers, keep: Keep, options: InstallationOptions) -> None:
        """Take the default installation, and what it holds without a group."""
        self._drivers, self._kept, self._options = drivers, keep, options

    @property
    def options(self) -> InstallationOptions:
        """What the managers of the default installation have once; the defaults without one."""
        return self._options if self.drivers else InstallationOptions()

    @property
    def _keep(self) -> Keep:
        return self._kept if self.drivers else {}

    @property
    def scopes(self) -> list[DeviceDrivers]:
        """The scoped installations that are still there."""
        return [one for one in self.scoped.values() if self._is_there(one)]

    @property
    def deliveries(self) -> list[dict[str, str]]:
        """The ways in which objects reach the cluster, that of the default installation first."""
        used = [one.delivery for one in (self.drivers, *self.scopes) if one]
        used += [one.serving.delivery for one in self.groups if one.serving.delivery]
        told = [one.to_dict() for one in used]
        return [one for place, one in enumerate(told) if one not in told[:place]]

    @property
    def has_default_elsewhere(self) -> bool:
        """Whether a group says that another app holds the default installation."""
        return any(one.serving.elsewhere for one in self.groups)

    @property
    def plan(self) -> ClusterPlan:
        """The plan of the groups, with a warning for each that nothing serves."""
        groups = self.groups
        plan = join_plans(
            minors()[self._version],
            tuple(one.plan for one in groups),
            keep=self._keep,
            options=self.options,
            default_elsewhere=self._default_elsewhere,
            has_ordinary_nodes=self._has_ordinary_nodes,
        )
        waiting = [one for plan in self._waiting(groups) for one in unserved(plan)]
        return replace(plan, findings=(*plan.findings, *waiting))

    @property
    def nodegroup_names(self) -> dict[str, str]:
        """The names of the groups in EKS by those in the plan, but for what only AWS knows."""
        names = {one.plan.name: one.nodegroup.nodegroup_name for one in self.groups}
        return {key: name for key, name in names.items() if name and not is_token(name)}

    @property
    def claimed(self) -> list[tuple[NotedClaim, list[NodegroupPlan]]]:
        """The claims that are still there, each with the groups that it is for."""
        owners = {one.owner for one in self._claims}
        there: dict[IConstruct, list[NodegroupPlan]] = {
            one: [] for one in owners if is_in_tree(one)
        }
        for group in self.groups if there else ():
            for above in ancestors(group.group):
                if above in there:
                    there[above].append(group.plan)
        return [(one, there[one.owner]) for one in self._claims if one.owner in there]

    def note_claim(self, claim: NotedClaim) -> None:
        """Remember a claim for the devices of a group."""
        self._claims.append(claim)

    def tell(self, at: IConstruct, findings: Iterable[Finding]) -> None:
        """Show at synth what is found outside of the plan, and remember it for the plan file."""
        found = tuple(findings)
        annotate(at, found)
        self._told.append((at, found))

    @property
    def told(self) -> list[Finding]:
        """What was told of constructs that are still there, claims among them."""
        return [one for at, found in self._told if is_in_tree(at) for one in found]

    @property
    def claims(self) -> list[dict[str, Any]]:
        """The claims that are still there as plain JSON values, each with its node groups."""
        told = [
            claim_summary(one.claim, one.manifest)
            | {
                "nodegroups": [plan.name for plan in plans],
                "manifest": one.manifest,
            }
            for one, plans in self.claimed
        ]
        return sorted(told, key=lambda one: (one["namespace"], one["name"], one["kind"]))

    def findings_together(self, groups: Iterable[Membership]) -> list[Finding]:
        """What groups have together and none has alone."""
        plans = tuple(one.plan for one in groups)
        found = list(
            findings_together(
                plans,
                self._keep,
                self.options,
                default_elsewhere=self._default_elsewhere,
                has_ordinary_nodes=self._has_ordinary_nodes,
            )
        )
        for one in self._claims:
            if astray := list(elsewhere_findings(one.claim, one.plan, plans)):
                found += astray if is_in_tree(one.owner) else []
        return found

    def whole_faults(self, groups: Iterable[Membership]) -> list[Finding]:
        """The faults that there are when the last group was added, or removed again."""
        plans, elsewhere = tuple(one.plan for one in groups), self._default_elsewhere
        return [
            *join_faults(plans, keep=self._keep, default_elsewhere=elsewhere),
            *whole_faults(plans, self._keep, self.options),
        ]

    def _waiting(self, groups: Iterable[Membership]) -> list[NodegroupPlan]:
        """The groups with devices that nothing serves; an installation is looked for once."""
        installations = {one.serving.installation for one in groups}
        there = {one for one in installations if self._is_there(one)}
        return [
            one.plan
            for one in groups
            if not one.serving.elsewhere
            and one.serving.installation not in there
            and drivers_of(one.plan)
        ]

    def _is_there(self, drivers: DeviceDrivers | None) -> bool:
        return drivers is not None and is_in_tree(drivers, beside=self._home)

    def faults_beside(self, plan: NodegroupPlan) -> list[Finding]:
        """The faults that a group has beside the groups that are there."""
        if not self._join_faults(plan):
            return []
        # Only now does it matter whether a user removed one of the groups again.
        self._groups = self.groups
        return self._join_faults(plan)

    def _join_faults(self, plan: NodegroupPlan) -> list[Finding]:
        plans = (*(one.plan for one in self._groups), plan)
        return join_faults(plans, keep=self._keep, default_elsewhere=self._default_elsewhere)

    @property
    def _default_elsewhere(self) -> bool:
        return self._is_foreign and self.drivers is None

    @property
    def _has_ordinary_nodes(self) -> bool:
        """Whether there are nodes without devices, or may be: of others' clusters nobody knows."""
        if self._is_foreign or self.has_default_elsewhere:
            return True
        if any(is_in_tree(one, beside=self._home) for one in self.others):
            return True
        # The CDK's own ways to give a cluster nodes leave them below it.
        own = (eks.Nodegroup, eks.FargateProfile, autoscaling.AutoScalingGroup)
        return any(isinstance(one, own) for one in self._home.node.children)
