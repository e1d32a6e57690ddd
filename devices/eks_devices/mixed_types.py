"""Several instance types in one node group: alike in all that a node's manager sees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._data import read_toml
from .findings import Finding, fault
from .instance_types import AcceleratedInstanceType, Accelerator, lookup
from .interfaces import group_interfaces
from .network import NetworkInterface, max_efa_count
from .published import device_group_sizes, gpu_efa_roots, mig_model
from .spec import NodegroupSpec
from .typecheck import text, wrong_type

_TEMPLATES = "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"


def type_list_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """Faults of the list of types that EC2 may start instead, whatever the types are."""
    types = spec.alternative_instance_types
    if type(types) is tuple and not types:
        return
    path = f"{spec.path}.alternative_instance_types"
    if type(types) is not tuple:
        yield wrong_type(path, types, "a list of EC2 API names", "write a list or tuple of names")
        return
    for index, name in enumerate(types):
        yield from text(name, f"{path}[{index}]", "an EC2 API name", "write the name as a text")
    names = [spec.instance_type, *types]
    # Only texts are compared: another value could raise.
    said = [name if isinstance(name, str) else "" for name in names]
    for index, name in enumerate(said[1:], start=1):
        if name and name in said[:index]:
            yield _repeated(f"{path}[{index - 1}]", name)
    limits = read_toml("limits.toml")["instance_types"]
    if len(names) > limits["most"]:
        yield fault(
            "TooManyInstanceTypes",
            path,
            "EKS takes no more instance types in a node group",
            got=len(names),
            allowed=f"{limits['most']} with instance_type",
            fix="leave types out",
            source=limits["source"],
        )


def _repeated(path: str, name: str) -> Finding:
    return fault(
        "RepeatedInstanceType",
        path,
        "the group has this instance type already",
        got=name,
        allowed="each type once, instance_type included",
        fix="leave it out",
    )


def mixed_type_faults(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """Faults of the types that EC2 may start instead of a group's own."""
    path = f"{spec.path}.alternative_instance_types"
    if spec.alternative_instance_types and spec.capacity.reservation_id:
        yield fault(
            "OneTypeInReservation",
            path,
            "a reservation holds instances of one type, and a Capacity Block wants it in the "
            "launch template",
            got=", ".join(spec.alternative_instance_types),
            allowed="() with this capacity",
            fix="leave the types out, or use a resource group of reservations",
            source=_TEMPLATES,
        )
        return
    for index, name in enumerate(spec.alternative_instance_types):
        found = lookup(name, f"{path}[{index}]")
        if isinstance(found, Finding):
            yield found
        else:
            yield from _differences(spec, instance, found, f"{path}[{index}]")


def _differences(
    spec: NodegroupSpec, first: AcceleratedInstanceType, other: AcceleratedInstanceType, path: str
) -> Iterator[Finding]:
    mine, theirs = _traits(spec, first), _traits(spec, other)
    for trait, value in mine.items():
        if theirs[trait] != value:
            yield fault(
                "InstanceTypesDiffer",
                path,
                f"{other.name} has another {trait} than {first.name}: claims, managers and the "
                "launch template are made for one",
                got=_words(theirs[trait]),
                allowed=_words(value),
                fix="make a node group for each",
                source=_TEMPLATES,
            )
            return


def _traits(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> dict[str, Any]:
    """What types of one group must have in common, the most obvious first."""
    name, layout = instance.name, _layout(spec, instance)
    return {
        "architecture": instance.architecture,
        "accelerator": instance.accelerator,
        "other accelerator": instance.other_accelerator,
        "NVLink domain": instance.nvlink_domain,
        "logical NeuronCores": (instance.logical_core_sizes, instance.default_logical_core_size),
        "EFA layout": layout,
        "GPU model": mig_model(name),
        "alignment of GPUs with EFAs": gpu_efa_roots(name) if layout else None,
        "connection of Neuron devices": device_group_sizes(name),
    }


def _layout(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> tuple[Any, ...]:
    asked = spec.efa if type(spec.efa) is int else 0
    if asked > max_efa_count(instance):
        return (f"{max_efa_count(instance)} EFAs at most",)
    return group_interfaces(spec, instance)


def _words(value: Any) -> str:
    if isinstance(value, Accelerator):
        return f"{value.count} x {value.name}, {value.memory_mib} MiB"
    if value and isinstance(value, tuple) and isinstance(value[0], NetworkInterface):
        return f"{len(value)} interfaces"
    return str(value)
