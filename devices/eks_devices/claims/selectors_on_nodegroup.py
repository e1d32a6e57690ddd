"""Whether devices of a group's nodes have what the selectors of a claim want, as drivers tell."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

from .._data import read_toml
from ..findings import Finding, fault, meant, warning
from ..instance_types import AcceleratedInstanceType
from ..names import DRIVERS
from ..plans import NodegroupPlan
from ..published import is_published, is_read
from ..quantities import amount_of
from ..resource_slices import resource_slice
from ..vocabulary import DeviceType
from .cel_reads import names_read
from .device_selectors import DeviceSelector, SelectorTest, semantic
from .kinds import RequestKind
from .memory_selectors import memory_fault
from .published_names import (
    always_published,
    domain_of,
    known_domains,
    published_amounts,
    published_attributes,
    source_of,
)
from .requests import DeviceRequest
from .syntax import DRA_PAGE
from .templates import DeviceClaim

# Of what a driver publishes, by kinds whose devices ResourceSlices of a plan hold.
_TYPES: Final = {RequestKind.GPU: "gpu", RequestKind.MIG: "mig"}


def selector_faults(claim: DeviceClaim, plan: NodegroupPlan) -> Iterator[Finding]:
    """Faults of selectors that too few devices of a node match, where somebody told of them.

    Args:
        claim: A claim of plain requests.
        plan: The plan of the group.
    """
    for index, request in enumerate(claim.requests):
        for at, one in enumerate(request.selectors):
            if isinstance(one, DeviceSelector):
                path = f"{claim.path}.requests[{index}].selectors[{at}]"
                yield from _too_few(path, one, request, plan)


def selector_findings(claim: DeviceClaim) -> Iterator[Finding]:
    """Warnings of CEL that reads what devices may lack, or what no driver is known to publish.

    Args:
        claim: A claim of plain requests.
    """
    for index, request in enumerate(claim.requests):
        for at, text in enumerate(request.selectors):
            if isinstance(text, str):
                path = f"{claim.path}.requests[{index}].selectors[{at}]"
                yield from _reading(path, text, request.kind.value)


def matching_devices(request: DeviceRequest, plan: NodegroupPlan) -> int | None:
    """How many devices of a node match all selectors of a request; None where that is not known.

    Args:
        request: A request with selectors.
        plan: The plan of the group.
    """
    rows = []
    for one in request.selectors:
        if not isinstance(one, DeviceSelector) or (found := _values(one, request, plan)) is None:
            return None
        rows.append([_matches(one, value) for value in found])
    return sum(map(all, zip(*rows, strict=True)))


def _reading(path: str, text: str, kind: str) -> Iterator[Finding]:
    names = [*published_attributes(kind), *published_amounts(kind)]
    for attribute, is_guarded in names_read(text).items():
        if attribute not in names and domain_of(attribute) in known_domains():
            yield warning(
                "AttributeNotPublished",
                path,
                f"no driver is known to publish {attribute} for devices of the kind {kind}, so "
                "the expression matches none, or fails",
                fix=meant(attribute, names) or "read an attribute that such devices have",
                source=source_of(kind),
            )
        elif not is_guarded and attribute not in always_published(kind):
            domain, _, name = attribute.partition("/")
            yield warning(
                "UnguardedAttribute",
                path,
                f"the expression reads {attribute}, and one device without it stops the Pod's "
                "whole scheduling attempt, also for nodes that would fit",
                fix=f"begin with '{name}' in device.attributes['{domain}'] &&, or use "
                "DeviceSelector",
                source=DRA_PAGE,
            )


def _too_few(
    path: str, selector: DeviceSelector, request: DeviceRequest, plan: NodegroupPlan
) -> Iterator[Finding]:
    found = _values(selector, request, plan)
    if found is None:
        return
    matching = sum(_matches(selector, one) for one in found)
    if not matching and selector.test is SelectorTest.QUANTITY_AT_LEAST:
        most = max(filter(None, map(_amount, found)), default=Fraction(0))
        yield memory_fault(path, selector, most, AcceleratedInstanceType.of(plan.instance_type))
    elif matching < (request.count or 1):
        yield fault(
            "SelectorMatchesTooFew",
            path,
            f"of the {len(found)} devices of a node of group {plan.name}, the selector matches "
            f"{matching}, so the claim would stay pending",
            got=[*selector.values],
            allowed=", ".join(dict.fromkeys(map(_told, found))) or "no value: none has it",
            fix="name what these devices have, or use a group of another type",
            source=source_of(request.kind.value),
        )


def _values(
    selector: DeviceSelector, request: DeviceRequest, plan: NodegroupPlan
) -> list[Any] | None:
    """What the devices of a node have of a selector's attribute; None where that is not known."""
    device = plan.device_of(request.kind.device_type)
    if device is None or not _is_told(selector.attribute, request, plan):
        return None
    content = resource_slice(plan, device, node="node")["spec"]["devices"]
    kind = _TYPES.get(request.kind)
    own = [
        one for one in content if kind in (None, one["attributes"].get("type", {}).get("string"))
    ]
    domain, _, name = selector.attribute.partition("/")
    names = [selector.attribute, *([name] if domain == DRIVERS[device.device_type] else [])]
    found = [next(filter(None, (_value(one, key) for key in names)), None) for one in own]
    # What every device has, and these have not, nobody told.
    untold = None in found and selector.attribute in always_published(request.kind.value)
    return None if untold else found or None


def _value(device: dict[str, Any], name: str) -> dict[str, Any] | None:
    found: dict[str, Any] | None = device["attributes"].get(name)
    return found or device.get("capacity", {}).get(name)


def _is_told(attribute: str, request: DeviceRequest, plan: NodegroupPlan) -> bool:
    """Whether an attribute of a request's devices is known before a node runs."""
    device_type = request.kind.device_type
    if request.kind in (RequestKind.VFIO, RequestKind.ULTRASERVER_NODE):
        return False
    if device_type is DeviceType.GPU and plan.mig is not None and plan.mig.is_dynamic:
        return False
    row = read_toml("run_time_attributes.toml")[DRIVERS[device_type]]
    if attribute in row.get("unread_type", ()):
        return is_read(plan.instance_type, device_type)
    return attribute not in row["names"] and is_published(plan.instance_type, device_type)


def _matches(selector: DeviceSelector, found: dict[str, Any] | None) -> bool:
    if found is None:
        return False
    if selector.test is SelectorTest.QUANTITY_AT_LEAST:
        least = amount_of(str(selector.values[0]))
        amount = _amount(found)
        return least is not None and amount is not None and amount >= least
    ((_, value),) = found.items()
    if selector.test is SelectorTest.VERSION_AT_LEAST:
        return _numbers(str(value)) >= _numbers(semantic(str(selector.values[0])))
    return any(type(one) is type(value) and one == value for one in selector.values)


def _amount(found: dict[str, Any] | None) -> Fraction | None:
    return None if found is None else amount_of(str(found["value"]))


def _numbers(version: str) -> list[int]:
    return [int(one) for one in version.partition("-")[0].split(".")]


def _told(found: dict[str, Any] | None) -> str:
    if found is None:
        return "no value"
    return str(next(iter(found.values())))
