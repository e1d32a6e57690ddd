"""Extended resources that containers ask for, where DRA serves the devices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...kubernetes import gate_is_on
from ...names import CLASS_RESOURCES, DEVICE_CLASSES, RETIRED_NEURON_RESOURCE
from ...plans import ClusterPlan
from ...vocabulary import DeviceType, Mechanism
from ..documents import mapping
from ..pods import Container
from .asking import amounts, asks_for, device_of
from .context import Context, Told
from .whole import ToldOfDocument, Whole, of_pod

_GATE: Final = "DRAExtendedResource"
_PAGE: Final = "https://github.com/kubernetes/enhancements/issues/5004"


def resources_without_plugin(whole: Whole) -> Iterator[ToldOfDocument]:
    """Resources of a device plugin where every group that has the devices serves them by DRA."""
    mapped = {*_mapped(whole), RETIRED_NEURON_RESOURCE}
    by_dra = [one for one in DeviceType if _only_by_dra(whole.plan, one)]
    for context in whole.pods:
        for container in context.containers:
            names = dict.fromkeys(name for amount in amounts(container) for name in amount)
            for name in names:
                device_type = device_of(name)
                unserved = name not in mapped and not _is_offered(whole.plan, name)
                if device_type in by_dra and unserved and asks_for(container, name.__eq__):
                    yield from of_pod(context, _asked(context, container, name, device_type))


def _only_by_dra(plan: ClusterPlan, device_type: DeviceType) -> bool:
    found = [one for group in plan.nodegroups if (one := group.device_of(device_type))]
    return bool(found) and all(one.mechanism is Mechanism.DRA for one in found)


def _is_offered(plan: ClusterPlan, name: str) -> bool:
    return any(name in one.extended_resources for one in plan.nodegroups)


def _mapped(whole: Whole) -> Iterator[str]:
    """Extended resources that DeviceClasses stand for."""
    version = whole.plan.kubernetes_version
    if not gate_is_on(_GATE, version):
        return
    if resource := whole.plan.nvidia.mapped_resource(version):
        yield resource
    for _, copy in whole.readable_documents:
        name = mapping(copy.content, "spec").get("extendedResourceName")
        if copy.kind == "DeviceClass" and isinstance(name, str):
            yield name


def _asked(
    context: Context, container: Container, name: str, device_type: DeviceType
) -> Iterator[Told]:
    on = gate_is_on(_GATE, context.plan.kubernetes_version)
    if name.startswith(CLASS_RESOURCES) and on:
        return
    field = "limits" if name in amounts(container)[0] else "requests"
    device_class = DEVICE_CLASSES[device_type][0]
    yield context.warn(
        (*container.steps, "resources", field, name),
        "ExtendedResourceOnDra",
        f"container {container.name} asks for {name}, and every node group with such devices "
        "serves them by DRA: no node offers the resource, so the Pod waits for ever",
        fix=f"use a ResourceClaimTemplate for devices of {device_class}, which the Pod names and "
        "the container lists"
        + (f", or ask for {CLASS_RESOURCES}{device_class}" if on else "")
        + ", or give a group the device plugin",
        source=_PAGE,
    )


SET_RULES = (resources_without_plugin,)
