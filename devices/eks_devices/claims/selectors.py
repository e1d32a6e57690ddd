"""The CEL expressions of a request's own: which devices of its class it takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..instance_types import AcceleratedInstanceType
from ..names import GPU_DRIVER, NEURON_DRIVER
from .kinds import RequestKind

if TYPE_CHECKING:
    from .requests import DeviceRequest


def own_expressions(request: DeviceRequest, instance_type: str | None) -> Iterator[str]:
    """The expressions, each of which a device without the attribute answers.

    Args:
        request: A request without faults.
        instance_type: Type of the nodes; None where they may be of any.
    """
    if request.profile is not None:
        yield _equals(GPU_DRIVER, "profile", request.profile)
    if request.kind is RequestKind.ULTRASERVER_NODE:
        yield _equals(NEURON_DRIVER, "resourceType", "neuron_node")
    if request.kind is RequestKind.NEURON and _may_be_whole_node(instance_type):
        yield _absent_or_equals(NEURON_DRIVER, "resourceType", "neuron_device")
    if request.instance_type is not None:
        yield _equals(NEURON_DRIVER, "instanceType", request.instance_type)
    if request.driver_version is not None:
        yield _equals(NEURON_DRIVER, "neuronDriverVersion", request.driver_version)


def _may_be_whole_node(instance_type: str | None) -> bool:
    """Whether the driver may publish whole nodes of the type in the class of Neuron devices."""
    if instance_type is None:
        return True
    return bool(AcceleratedInstanceType.of(instance_type).ultraserver_sizes)


def _equals(domain: str, key: str, text: str) -> str:
    # Guarded: without the first half a device that lacks the key would stop the whole attempt.
    attributes = f"device.attributes['{domain}']"
    return f"'{key}' in {attributes} && {attributes}.{key} == '{text}'"


def _absent_or_equals(domain: str, key: str, text: str) -> str:
    attributes = f"device.attributes['{domain}']"
    return f"!('{key}' in {attributes}) || {attributes}.{key} == '{text}'"
