"""Faults of a node group on its instance type: purchase, EFA, accelerator, Pods."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from .findings import Finding, fault
from .instance_faults import logical_core_fault, nvlink_fault
from .instance_store import instance_store_faults
from .instance_types import AcceleratedInstanceType, lookup
from .interfaces import max_pods_cap
from .mig_rules import mig_type_faults
from .mixed_types import mixed_type_faults
from .network import max_efa_count
from .placement import placement_faults
from .purchase import purchase_faults
from .spec import NodegroupSpec
from .typecheck import whole_number
from .vocabulary import DeviceType

_OF_GPUS = ("gpu_sharing", "gpu_driver", "gpu_plugin", "mig")
_MIB_OF_HUGE_PAGE = 2
_EFA_PAGE = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html"


def instance_faults(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """Faults of a group that depend on its instance type, but on no mechanism."""
    yield from purchase_faults(spec, instance)
    yield from efa_faults(spec, instance)
    yield from mixed_type_faults(spec, instance)
    yield from placement_faults(spec, instance)
    yield from instance_store_faults(spec, instance)
    yield from _pod_faults(spec)
    yield from _huge_page_faults(spec, instance)
    if spec.compute_domains and not instance.nvlink_domain:
        yield nvlink_fault(instance, f"{spec.path}.compute_domains", got=True)
    yield from _accelerator_faults(spec, instance)
    yield from _pod_limit_faults(spec, instance)
    yield from _alternative_faults(spec)


def _pod_limit_faults(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    path, cap = f"{spec.path}.max_pods", max_pods_cap(instance)
    yield from whole_number(spec.max_pods, path, lowest=1, highest=cap, optional=True)


def _alternative_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """What the types that EC2 may start instead lack of what the group asks for."""
    for index, name in enumerate(spec.alternative_instance_types):
        found = lookup(name, "")
        if isinstance(found, Finding):
            continue
        rules = (purchase_faults, instance_store_faults, _pod_limit_faults, _huge_page_faults)
        for one in (each for rule in rules for each in rule(spec, found)):
            path = f"{spec.path}.alternative_instance_types[{index}]"
            message = f"{found.name}, judged as the group's own type: {one.message}"
            yield dataclasses.replace(one, path=path, message=message)


def efa_faults(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """Faults of the EFA options of a group on its instance type."""
    path, most = f"{spec.path}.efa", max_efa_count(instance)
    # True counts as one interface here: it asks for every one, of which there must be one.
    if (spec.efa or 0) > most:
        yield fault(
            "TooManyEfaInterfaces" if most else "EfaNotSupported",
            path,
            f"{instance.name} has {most or 'no'} EFA interfaces",
            got=spec.efa,
            allowed=f"0 to {most}, True, False or None" if most else "False or None",
            fix="ask for fewer, or use True for every one" if most else "leave efa out",
            source=_EFA_PAGE,
        )
    if spec.high_ip_bandwidth is True and not instance.high_ip_cards:
        yield fault(
            "HighIpBandwidthNotDocumented",
            f"{spec.path}.high_ip_bandwidth",
            f"EC2 documents no such layout for {instance.name}",
            got=True,
            allowed="False",
            fix="leave high_ip_bandwidth out",
            source=_EFA_PAGE,
        )
    elif spec.high_ip_bandwidth is True and isinstance(spec.efa, int) and not spec.efa:
        yield fault(
            "HighIpBandwidthNeedsEfa",
            f"{spec.path}.high_ip_bandwidth",
            "the documented layout adds interfaces beside EFA",
            got=True,
            allowed="False while efa is off",
            fix="leave one of the two out",
            source=_EFA_PAGE,
        )


def _accelerator_faults(
    spec: NodegroupSpec, instance: AcceleratedInstanceType
) -> Iterator[Finding]:
    kind, path = instance.device_type, spec.path
    for name in _OF_GPUS:
        given = getattr(spec, name)
        if given is not None and kind is not DeviceType.GPU:
            yield _misplaced(f"{path}.{name}", instance, "GPUs", got=given)
        elif given is not None and DeviceType.GPU in spec.external:
            yield _of_external(f"{path}.{name}", given)
    if spec.neuron_cores is True and kind is not DeviceType.NEURON:
        yield _misplaced(f"{path}.neuron_cores", instance, "Neuron devices", got=True)
    if kind is DeviceType.GPU:
        yield from mig_type_faults(spec, instance)
    size = spec.logical_neuron_cores
    if size is not None and size not in instance.logical_core_sizes:
        yield logical_core_fault(instance, f"{path}.logical_neuron_cores", size)


def _of_external(path: str, given: object) -> Finding:
    return fault(
        "OptionOfExternalManager",
        path,
        "somebody else's manager serves the GPUs, and has options of its own",
        got=given,
        allowed="None while the GPUs' manager is external",
        fix="configure that manager, or let this library install one",
    )


def _misplaced(path: str, instance: AcceleratedInstanceType, what: str, *, got: object) -> Finding:
    return fault(
        "OptionOfOtherAccelerator",
        path,
        f"{instance.name} has no {what}",
        got=got,
        allowed=f"only on instance types with {what}",
        fix="leave the option out",
    )


def _pod_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    if not spec.vpc_cni and spec.max_pods is None:
        yield fault(
            "MaxPodsNeeded",
            f"{spec.path}.max_pods",
            "with another CNI the addresses of the interfaces say nothing of the number of Pods",
            got=None,
            allowed="a whole number from 1 with vpc_cni=False",
            fix="name max_pods, or leave vpc_cni out",
            source="https://docs.aws.amazon.com/eks/latest/userguide/alternate-cni-plugins.html",
        )


def _huge_page_faults(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    most = instance.memory_mib // _MIB_OF_HUGE_PAGE
    if type(spec.hugepages_2mi) is int and spec.hugepages_2mi >= most:
        yield fault(
            "HugePagesAboveMemory",
            f"{spec.path}.hugepages_2mi",
            f"{instance.name} has {instance.memory_mib} MiB of memory",
            got=spec.hugepages_2mi,
            allowed=f"a number below {most}",
            fix="reserve fewer pages: what is reserved is lost to everything else",
        )
