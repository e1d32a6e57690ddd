"""Turns the node groups of a cluster into one plan: the groups and the managers they need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from .cluster_findings import cluster_findings
from .driver_planner import held_managers, is_scoped, plan_drivers
from .efa_installation import EfaInstallation
from .findings import EksDevicesError, Finding, fault, raise_faults
from .idle_options import idle_options
from .installation_options import InstallationOptions, option_type_faults
from .keep import Keep, frozen_keep, keep_faults
from .kubernetes import KubernetesMinor, find_minor, support_findings
from .neuron_health_findings import neuron_health_findings
from .neuron_installation import NeuronInstallation
from .neuron_scheduler_findings import neuron_scheduler_findings, scheduler_extension_faults
from .nodegroup_planner import judge_nodegroup, nodegroup_faults
from .nvidia_installation import NvidiaInstallation
from .ordinary_nodes import ordinary_node_findings
from .plans import ClusterPlan, DevicePlan, NodegroupPlan
from .spec import NodegroupSpec
from .typecheck import listed, path_step
from .ultraserver_operator_findings import (
    ultraserver_operator_faults,
    ultraserver_operator_findings,
)
from .vocabulary import ManagerKey


def plan_cluster(
    *,
    kubernetes_version: str,
    nodegroups: Iterable[NodegroupSpec],
    keep: Keep | None = None,
    nvidia: NvidiaInstallation | None = None,
    neuron: NeuronInstallation | None = None,
    efa: EfaInstallation | None = None,
) -> ClusterPlan:
    """Plan the accelerated node groups of a cluster and the managers to install for them.

    Args:
        kubernetes_version: The cluster's minor, "1.34".
        nodegroups: The groups; each is planned as if it were alone.
        keep: Managers to install although no group here needs them: groups of other apps, or
            what a migration still needs. Nothing is kept unless named.
        nvidia: What the installation of NVIDIA's managers has once; its defaults unless named.
        neuron: What that of Neuron's has once, likewise.
        efa: What that of the EFA managers has once, likewise.

    Raises:
        EksDevicesError: Every fault of every group, of the version and of `keep` at once.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/device-management.html
    """
    specs, faults = _listed(nodegroups)
    kept = frozen_keep(keep)
    minor = find_minor(kubernetes_version, "kubernetes_version")
    faults += [*_name_faults(spec.name for spec in specs), *keep_faults(kept, minor)]
    faults += option_type_faults(nvidia=nvidia, neuron=neuron, efa=efa)
    if isinstance(minor, Finding):
        groups = [one for spec in specs for one in nodegroup_faults(spec)]
        raise EksDevicesError([minor, *faults, *groups])
    results = [judge_nodegroup(spec, minor) for spec in specs]
    faults += [one for result in results if isinstance(result, tuple) for one in result]
    plans = tuple(result for result in results if isinstance(result, NodegroupPlan))
    raise_faults(faults)
    options = InstallationOptions().with_named(nvidia=nvidia, neuron=neuron, efa=efa)
    # Here every group is known; whoever adds one after another asks when all are there.
    raise_faults([*join_faults(plans, keep=kept), *whole_faults(plans, kept or {}, options)])
    return join_plans(minor, plans, keep=kept, options=options)


def join_plans(
    minor: KubernetesMinor,
    plans: tuple[NodegroupPlan, ...],
    *,
    keep: Keep | None = None,
    options: InstallationOptions | None = None,
    default_elsewhere: bool = False,
    has_ordinary_nodes: bool = True,
) -> ClusterPlan:
    """The plan of a cluster from the plans of its groups; raises the faults of `join_faults`.

    Where another app holds the default installation, nobody here knows what it holds. Nodes
    without devices are taken to be there unless they are known to be missing.
    """
    raise_faults(join_faults(plans, keep=keep, default_elsewhere=default_elsewhere))
    findings = [*support_findings(minor, "kubernetes_version")]
    findings += [finding for plan in plans for finding in plan.findings]
    options = options or InstallationOptions()
    findings += findings_together(
        plans,
        keep or {},
        options,
        default_elsewhere=default_elsewhere,
        has_ordinary_nodes=has_ordinary_nodes,
    )
    return ClusterPlan(
        kubernetes_version=minor.version,
        nodegroups=plans,
        drivers=plan_drivers(plans, keep or {}, options),
        nvidia=options.nvidia,
        neuron=options.neuron,
        efa=options.efa,
        findings=tuple(findings),
    )


def findings_together(
    plans: tuple[NodegroupPlan, ...],
    keep: Keep,
    options: InstallationOptions,
    *,
    default_elsewhere: bool = False,
    has_ordinary_nodes: bool = True,
) -> Iterator[Finding]:
    """What groups and their installation have together and none has alone."""
    held = held_managers(plans, keep)
    yield from cluster_findings(plans)
    # While there is no group, nobody knows what is to be read.
    if plans:
        yield from idle_options(options, held, {one.path for one in _contradicted(options, held)})
        if not has_ordinary_nodes:
            yield from ordinary_node_findings(options, held, plans)
    if not default_elsewhere:
        yield from neuron_scheduler_findings(options.neuron, plans)
    yield from neuron_health_findings(options.neuron.health, plans, held)
    yield from ultraserver_operator_findings(options.neuron, plans, held, keep)


def whole_faults(
    plans: tuple[NodegroupPlan, ...], keep: Keep, options: InstallationOptions
) -> list[Finding]:
    """The faults of a cluster that are none while groups may still come."""
    return _contradicted(options, held_managers(plans, keep))


def _contradicted(options: InstallationOptions, held: Collection[ManagerKey]) -> list[Finding]:
    return [
        *scheduler_extension_faults(options.neuron, held),
        *ultraserver_operator_faults(options.neuron, held),
    ]


def join_faults(
    plans: tuple[NodegroupPlan, ...], *, keep: Keep | None = None, default_elsewhere: bool = False
) -> list[Finding]:
    """The faults that groups have together and none has alone."""
    scopes = [] if default_elsewhere else _scope_faults(plans, keep or {})
    return [*_name_faults(plan.name for plan in plans), *scopes]


def _listed(nodegroups: object) -> tuple[list[NodegroupSpec], list[Finding]]:
    return listed(
        nodegroups,
        NodegroupSpec,
        "nodegroups",
        many="a list of NodegroupSpec",
        one="a NodegroupSpec",
        fix="use NodegroupSpec(...)",
    )


def _name_faults(names: Iterable[object]) -> Iterator[Finding]:
    for name, times in Counter(map(path_step, names)).items():
        if times > 1:
            yield fault(
                "RepeatedName",
                f"nodegroups.{name}.name",
                f"{times} node groups have this name",
                got=name,
                allowed="each name once in a cluster",
                fix="rename all but one",
            )


def _scope_faults(plans: tuple[NodegroupPlan, ...], keep: Keep) -> list[Finding]:
    """A scoped manager shares the default installation's classes and accounts."""
    held = held_managers(plans, keep)
    return [
        _lacking(plan, device)
        for plan in plans
        for device in plan.devices
        if is_scoped(device.owner) and device.manager not in held
    ]


def _lacking(plan: NodegroupPlan, device: DevicePlan) -> Finding:
    what = f"{device.device_type} by {device.mechanism}"
    return fault(
        "ScopeWithoutDefault",
        f"nodegroups.{plan.name}.scope",
        f"the default installation does not hold {what}, whose classes and accounts this "
        "scope uses",
        got=device.owner,
        allowed="scopes of what the default holds",
        fix=f"add keep={{DeviceType.{device.device_type.name}: "
        f"(Mechanism.{device.mechanism.name},)}} to the default installation",
    )
