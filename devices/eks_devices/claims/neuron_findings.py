"""What is worth knowing of claims for some of the Neuron devices of a node."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Finding, info, shown, warning
from ..instance_types import AcceleratedInstanceType
from ..published import device_group_count, device_group_sizes
from .asked import Asked, asks_for, count_of, group_size, request_path
from .choices import parts
from .hardware import most_devices
from .kinds import RequestKind

_GROUPS_PAGE = "https://github.com/aws-neuron/connected-device-maps-over-efa-for-neuron"
_APART = "https://github.com/aws/containers-roadmap/issues/1735"


def neuron_findings(asked: Asked, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """Findings of a claim without faults on an instance type."""
    yield from _apart(asked, instance)
    for part in parts(asked):
        yield from map(part.placed, _left_over(part, instance))


def _apart(asked: Asked, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """The warning of several devices that nothing keeps together.

    Selectors of a user's own may say which, and another match as well.
    """
    own = [one for one in asked.requests if one.kind is RequestKind.NEURON]
    count, devices = count_of(asked, RequestKind.NEURON), most_devices(instance, RequestKind.NEURON)
    matched = asked.match is not None or asked.constraints
    chosen = matched or any(one.selectors for one in own)
    if chosen or not 1 < count < devices:
        return
    sizes = ", ".join(map(str, device_group_sizes(instance.name)))
    by_group = f"ask for one of {sizes} devices with match=MatchAttribute.DEVICE_GROUP"
    by_plugin = "ask for one device or for all, or use the device plugin with Neuron's scheduler"
    yield warning(
        "NeuronDevicesApart",
        f"{request_path(asked, RequestKind.NEURON)}.count",
        f"the claim takes any {shown(count)} of {shown(devices)} Neuron devices of "
        f"{instance.name}, and the runtime fails where those of a Pod are not connected",
        fix=by_group if sizes else by_plugin,
        source=_APART,
    )


def _left_over(asked: Asked, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """What claims of a device with its EFA leave over, where several devices share one."""
    size, devices = group_size(asked), most_devices(instance, RequestKind.NEURON)
    if size is None or not asks_for(asked, RequestKind.NEURON):
        return
    groups = device_group_count(instance.name, size)
    if asks_for(asked, RequestKind.EFA) and groups * size < devices:
        yield info(
            "EfaSharedByDevices",
            f"{asked.path}.requests",
            f"{shown(devices)} Neuron devices of {instance.name} have {groups} EFAs, each for one "
            f"claim alone, so a node takes {groups} such claims and the other devices get no EFA",
            fix="ask for more devices in each claim, or for no EFA",
            source=_GROUPS_PAGE,
        )
