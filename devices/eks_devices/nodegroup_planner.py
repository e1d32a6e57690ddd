"""Turns one node group into a frozen plan, or into every fault that it has."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

from ._frozen import FrozenDict
from .bottlerocket_releases import release_setting_faults
from .checks import missing_option, type_faults
from .drawing import draw_nodegroup
from .findings import EksDevicesError, Finding, Severity, fault
from .group_findings import group_findings
from .instance_checks import instance_faults
from .instance_types import AcceleratedInstanceType, lookup
from .interfaces import efa_count
from .kubernetes import KubernetesMinor, find_minor, minors, newest_minor
from .mechanisms import Choice, choose, unnamed_faults
from .network import default_efa_count
from .plans import NodegroupPlan
from .spec import NodegroupSpec
from .typecheck import wrong_type
from .user_data import user_data_conflicts, user_data_size_faults
from .vocabulary import DeviceType, Mechanism

# Stands in, option by option, for what is at fault, so that the other rules can still be asked.
_PLAIN = NodegroupSpec(name="", instance_type="", max_size=1, mechanism=Mechanism.DEVICE_PLUGIN)
_KEPT = ("name", "instance_type", "unknown_options")


def plan_nodegroup(nodegroup: NodegroupSpec, *, kubernetes_version: str) -> NodegroupPlan:
    """Plan one node group: what it is alone, it is in any cluster.

    Args:
        nodegroup: The group as a user asks for it.
        kubernetes_version: The minor of its cluster, "1.34".

    Raises:
        EksDevicesError: Every fault of the group and the version at once.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/device-management.html
    """
    minor = find_minor(kubernetes_version, "kubernetes_version")
    if isinstance(minor, Finding):
        raise EksDevicesError([minor, *nodegroup_faults(nodegroup)])
    result = judge_nodegroup(nodegroup, minor)
    if isinstance(result, NodegroupPlan):
        return result
    raise EksDevicesError(result)


def nodegroup_faults(spec: object) -> tuple[Finding, ...]:
    """The faults of a group whose Kubernetes version is at fault itself: judged on the newest."""
    result = _Judgement(spec, pinned=False).plan(minors()[newest_minor()])
    return () if isinstance(result, NodegroupPlan) else result


def judge_nodegroup(spec: object, minor: KubernetesMinor) -> NodegroupPlan | tuple[Finding, ...]:
    """The plan of a group on a known version, or all its faults."""
    return _Judgement(spec).plan(minor)


class _Judgement:
    """Asks the rules stage by stage; a value at fault is replaced, so that all are asked."""

    def __init__(self, given: object, *, pinned: bool = True) -> None:
        self.faults: list[Finding] = []
        self.instance: AcceleratedInstanceType | None = None
        if not isinstance(given, NodegroupSpec):
            self.faults.append(_no_spec(given))
            return
        self.spec = given
        self._take(type_faults(given))
        found = _instance(given)
        if isinstance(found, Finding):
            self.faults.insert(0, found)
            return
        self.instance = found
        self._take(instance_faults(self.spec, found))
        if not pinned:
            self.spec = dataclasses.replace(self.spec, release_version=None)

    def _take(self, faults: Iterable[Finding]) -> None:
        """Keep faults of fields that had none yet, and replace what is at fault."""
        known = {self.spec.option_at(one.path) for one in self.faults} - {"mechanism"}
        told = dict.fromkeys(one for one in faults if self.spec.option_at(one.path) not in known)
        new = [one for one in told if one not in self.faults]
        self.faults += new
        options = {self.spec.option_at(one.path) for one in new} - {*_KEPT}
        plain = {name: _plain(self.spec, name) for name in options if hasattr(_PLAIN, name)}
        self.spec = dataclasses.replace(self.spec, **plain) if plain else self.spec

    def plan(self, minor: KubernetesMinor) -> NodegroupPlan | tuple[Finding, ...]:
        """The plan on a minor, or all faults: those found so far and those that depend on it."""
        instance = self.instance
        if instance is None:
            return tuple(self.faults)
        devices = tuple(device_counts(self.spec, instance))
        self._take(_device_faults(self.spec, instance, devices))
        self._take(unnamed_faults(self.spec, devices, minor))
        choices = _choices(self.spec, devices, instance.family, minor.version)
        findings = tuple(dict.fromkeys(group_findings(self.spec, instance, minor.version, choices)))
        self._take(one for one in findings if one.severity is Severity.ERROR)
        if self.faults:
            return tuple(self.faults)
        counts = device_counts(self.spec, instance)
        plan = draw_nodegroup(
            self.spec, instance, minor.version, counts=counts, choices=choices, findings=findings
        )
        return tuple(_user_data_faults(plan, self.spec.path)) or plan


def _user_data_faults(plan: NodegroupPlan, path: str) -> Iterator[Finding]:
    """Faults of the user data that the plan gives, with a user's own in it, on its release."""
    yield from release_setting_faults(plan, path)
    conflicts = tuple(user_data_conflicts(plan, f"{path}.user_data"))
    yield from conflicts or user_data_size_faults(plan, path)


def _plain(spec: NodegroupSpec, name: str) -> Any:
    """What stands in for an option; of a mapping, what is right about it stays."""
    if name != "mechanism" or not isinstance(spec.mechanism, FrozenDict):
        return getattr(_PLAIN, name)
    right = {
        device: mechanism if isinstance(mechanism, Mechanism) else Mechanism.DEVICE_PLUGIN
        for device, mechanism in spec.mechanism.items()
        if isinstance(device, DeviceType) and device is not DeviceType.COMPUTE_DOMAIN
    }
    return FrozenDict(right)


def _instance(spec: NodegroupSpec) -> AcceleratedInstanceType | Finding:
    if spec.instance_type is None:
        return missing_option(spec, "instance_type")
    return lookup(spec.instance_type, f"{spec.path}.instance_type")


def _no_spec(given: object) -> Finding:
    return wrong_type("nodegroups", given, "a NodegroupSpec", "use NodegroupSpec(...)")


def device_counts(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> dict[DeviceType, int]:
    """The device types of a group's nodes, the accelerator first, with their numbers."""
    counts: dict[DeviceType, int] = {}
    if instance.accelerator is not None:
        counts[instance.accelerator.device_type] = instance.accelerator.count
    wanted = instance.nvlink_domain if spec.compute_domains is None else spec.compute_domains
    if wanted and instance.nvlink_domain:
        counts[DeviceType.COMPUTE_DOMAIN] = 1
    efas = efa_count(spec, instance)
    return counts | ({DeviceType.EFA: efas} if efas else {})


def _device_faults(
    spec: NodegroupSpec, instance: AcceleratedInstanceType, devices: tuple[DeviceType, ...]
) -> Iterator[Finding]:
    if not devices:
        yield fault(
            "NoDevices",
            f"{spec.path}.efa",
            f"{instance.name} has no accelerator that a "
            "manager serves, and its EFA is off: there is nothing to hand out",
            got=spec.efa,
            allowed=f"True, or 1 to {default_efa_count(instance)}",
            fix="pass efa=True, or use a plain node group",
        )
    named = spec.mechanism if isinstance(spec.mechanism, dict) else {}
    for device in named:
        if device not in devices:
            yield fault(
                "DeviceNotOnNodegroup",
                f"{spec.path}.mechanism",
                f"nodes of this group have no {device}",
                got=str(device),
                allowed=", ".join(devices) or "none",
                fix="leave the device type out, or switch it on",
            )


def _choices(
    spec: NodegroupSpec, devices: tuple[DeviceType, ...], family: str, version: str
) -> dict[DeviceType, Choice]:
    choices: dict[DeviceType, Choice] = {}
    for device in devices:
        accelerator = choices.get(DeviceType.GPU) or choices.get(DeviceType.NEURON)
        choices[device] = choose(spec, device, family, version, accelerator)
    return choices
