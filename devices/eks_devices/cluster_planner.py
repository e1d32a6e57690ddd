"""Turns the node groups of a cluster into one plan: the groups and the managers they need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ._frozen import FrozenDict
from .cluster_findings import cluster_findings
from .findings import EksDevicesError, Finding, fault, warning
from .kubernetes import KubernetesMinor, dra_faults, find_minor, support_findings
from .names import DEFAULT_OWNER, EXTERNAL_OWNER, HOST_OWNER
from .nodegroup_planner import judge_nodegroup, nodegroup_faults
from .nvidia_findings import nvidia_findings
from .nvidia_installation import NvidiaInstallation, installation_type_faults
from .plans import ClusterPlan, DevicePlan, DriverPlan, NodegroupPlan
from .spec import NodegroupSpec
from .typecheck import listed, member, path_step, wrong_type
from .vocabulary import DeviceType, Mechanism

Keep = Mapping[DeviceType, Sequence[Mechanism]]
_NOT_INSTALLED = (EXTERNAL_OWNER, HOST_OWNER)
_KEEP_FORM = "a mapping such as {DeviceType.EFA: (Mechanism.DRA,)}"
_NO_LISTS = (str, bytes, Mapping)


def plan_cluster(
    *,
    kubernetes_version: str,
    nodegroups: Iterable[NodegroupSpec],
    keep: Keep | None = None,
    nvidia: NvidiaInstallation | None = None,
) -> ClusterPlan:
    """Plan the accelerated node groups of a cluster and the managers to install for them.

    Args:
        kubernetes_version: The cluster's minor, "1.34".
        nodegroups: The groups; each is planned as if it were alone.
        keep: Managers to install although no group here needs them: groups of other apps, or
            what a migration still needs. Nothing is kept unless named.
        nvidia: What the installation of NVIDIA's managers has once; its defaults unless named.

    Raises:
        EksDevicesError: Every fault of every group, of the version and of `keep` at once.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/device-management.html
    """
    specs, faults = _listed(nodegroups)
    kept = frozen_keep(keep)
    minor = find_minor(kubernetes_version, "kubernetes_version")
    faults += [*_name_faults(spec.name for spec in specs), *_keep_faults(kept, minor)]
    faults += installation_type_faults(nvidia)
    if isinstance(minor, Finding):
        groups = [one for spec in specs for one in nodegroup_faults(spec)]
        raise EksDevicesError([minor, *faults, *groups])
    results = [judge_nodegroup(spec, minor) for spec in specs]
    faults += [one for result in results if isinstance(result, tuple) for one in result]
    plans = tuple(result for result in results if isinstance(result, NodegroupPlan))
    return join_plans(minor, plans, keep=kept, nvidia=nvidia, faults=faults)


def join_plans(
    minor: KubernetesMinor,
    plans: tuple[NodegroupPlan, ...],
    *,
    keep: Keep | None = None,
    nvidia: NvidiaInstallation | None = None,
    faults: Iterable[Finding] = (),
    default_elsewhere: bool = False,
) -> ClusterPlan:
    """The plan of a cluster from the plans of its groups; raises the faults given and found.

    Where another app holds the default installation, nobody here knows what it holds.
    """
    found = list(faults) or join_faults(plans, keep=keep, default_elsewhere=default_elsewhere)
    if found:
        raise EksDevicesError(found)
    findings = [*support_findings(minor, "kubernetes_version")]
    findings += [finding for plan in plans for finding in plan.findings]
    nvidia = nvidia or NvidiaInstallation()
    findings += findings_together(plans, keep or {}, nvidia)
    return ClusterPlan(
        kubernetes_version=minor.version,
        nodegroups=plans,
        drivers=_drivers(plans, keep or {}, nvidia),
        nvidia=nvidia,
        findings=tuple(findings),
    )


def findings_together(
    plans: tuple[NodegroupPlan, ...], keep: Keep, nvidia: NvidiaInstallation
) -> Iterator[Finding]:
    """What groups and their installation have together and none has alone."""
    yield from cluster_findings(plans)
    # While there is no group, nobody knows what is to be read.
    if plans:
        yield from nvidia_findings(nvidia, _held(plans, keep))


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


def keep_faults(keep: object, minor: KubernetesMinor) -> list[Finding]:
    """Every fault of what an installation is asked to keep."""
    return list(_keep_faults(frozen_keep(keep), minor))


def frozen_keep(keep: Any) -> Any:
    """A copy of `keep` with tuples in it, as iterators last once; what cannot be read stays."""
    try:
        return FrozenDict(
            {
                device: mechanisms if isinstance(mechanisms, _NO_LISTS) else tuple(mechanisms)
                for device, mechanisms in keep.items()
            }
        )
    except Exception:  # noqa: BLE001  (its fault is named below)
        return keep


def _keep_faults(keep: object, minor: KubernetesMinor | Finding) -> Iterator[Finding]:
    if keep is None:
        return
    if not isinstance(keep, FrozenDict):
        yield wrong_type("keep", keep, _KEEP_FORM, "pass a mapping with tuples of Mechanism")
        return
    for device, mechanisms in keep.items():
        path = f"keep[{path_step(device)}]"
        yield from member(device, DeviceType, "keep")
        if not isinstance(mechanisms, tuple):
            yield wrong_type(path, mechanisms, _KEEP_FORM, "pass a tuple of Mechanism")
            continue
        for mechanism in mechanisms:
            yield from member(mechanism, Mechanism, path)
            if device is DeviceType.COMPUTE_DOMAIN and mechanism is Mechanism.DEVICE_PLUGIN:
                yield fault(
                    "ComputeDomainNeedsDra",
                    path,
                    "no device plugin serves ComputeDomains",
                    got=str(mechanism),
                    allowed="Mechanism.DRA",
                    fix="keep Mechanism.DRA",
                )
        uses_dra = any(one is Mechanism.DRA for one in mechanisms)
        if uses_dra and isinstance(minor, KubernetesMinor):
            yield from dra_faults(minor, path)


def _scope_faults(plans: tuple[NodegroupPlan, ...], keep: Keep) -> list[Finding]:
    """A scoped manager shares the default installation's classes and accounts."""
    held = _held(plans, keep)
    return [
        _lacking(plan, device)
        for plan in plans
        for device in plan.devices
        if is_scoped(device.owner) and (device.device_type, device.mechanism) not in held
    ]


def _held(plans: tuple[NodegroupPlan, ...], keep: Keep) -> set[tuple[DeviceType, Mechanism]]:
    """The managers that the default installation holds, for groups or because it keeps them."""
    kept = {(device, mechanism) for device, mechanisms in keep.items() for mechanism in mechanisms}
    return kept | {
        (device.device_type, device.mechanism)
        for plan in plans
        for device in plan.devices
        if is_default(device.owner)
    }


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


def is_default(owner: str) -> bool:
    """Whether an owner is the default installation, with or without settings."""
    return owner == DEFAULT_OWNER or owner.startswith(f"{DEFAULT_OWNER}-")


def is_installed(device: DevicePlan) -> bool:
    """Whether something is installed for a device: of a driver of the host, its classes."""
    host = device.owner == HOST_OWNER and device.mechanism is Mechanism.DRA
    return host or device.owner not in _NOT_INSTALLED


def is_scoped(owner: str) -> bool:
    """Whether an owner is a scoped installation."""
    return not is_default(owner) and owner not in _NOT_INSTALLED


def drivers_of(
    plan: NodegroupPlan, nvidia: NvidiaInstallation | None = None
) -> tuple[DriverPlan, ...]:
    """The managers to install for one node group."""
    return _drivers((plan,), {}, nvidia)


def kept_drivers(keep: Keep, nvidia: NvidiaInstallation | None = None) -> tuple[DriverPlan, ...]:
    """The managers that an installation holds although no group needs them."""
    return _drivers((), keep, nvidia)


def unserved(plan: NodegroupPlan) -> list[Finding]:
    """The warning of a group whose managers nothing installs."""
    drivers = [f"{one.device_type} by {one.mechanism}" for one in drivers_of(plan)]
    if not drivers:
        return []
    return [
        warning(
            "NoDrivers",
            f"nodegroups.{plan.name}.drivers",
            f"nothing installs the managers that the group needs: {', '.join(drivers)}",
            fix="pass delivery=Delivery.kubectl(...) or .gitops(...) to AcceleratedCluster, make "
            "DeviceDrivers(...) for another cluster, or pass drivers=ExternalDrivers() where "
            "another app installs them",
        )
    ]


def _drivers(
    plans: tuple[NodegroupPlan, ...], keep: Keep, nvidia: NvidiaInstallation | None
) -> tuple[DriverPlan, ...]:
    """One manager per device type, mechanism and owner, in a stable order."""
    served: dict[tuple[DeviceType, Mechanism, str], list[str]] = {}
    settings: dict[tuple[DeviceType, Mechanism, str], FrozenDict[str, str | int]] = {}
    for device_type, mechanisms in keep.items():
        for mechanism in mechanisms:
            served.setdefault((device_type, mechanism, DEFAULT_OWNER), [])
    for plan in plans:
        for device in plan.devices:
            if is_installed(device):
                key = (device.device_type, device.mechanism, device.owner)
                served.setdefault(key, []).append(plan.name)
                settings[key] = device.settings
    order = {device: place for place, device in enumerate(DeviceType)}
    keys = sorted(served, key=lambda key: (order[key[0]], key[1], key[2]))
    return tuple(
        DriverPlan(
            device_type=key[0],
            mechanism=key[1],
            owner=key[2],
            settings=_shared_settings(nvidia)
            if key[0] is DeviceType.COMPUTE_DOMAIN
            else settings.get(key, FrozenDict()),
            nodegroups=tuple(served[key]),
        )
        for key in keys
    )


def _shared_settings(nvidia: NvidiaInstallation | None) -> FrozenDict[str, str | int]:
    """What the controller of ComputeDomains and the plugins on all nodes are told alike."""
    return FrozenDict() if nvidia is None else FrozenDict(nvidia.compute_domain_settings())
