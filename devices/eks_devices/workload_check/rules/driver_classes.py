"""DeviceClasses of the drivers that manifests write anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from ...device_classes import class_expressions
from ...feasibility.cel.answers import Outcome
from ...feasibility.cel.expressions import evaluate
from ...feasibility.devices import node_devices
from ...feasibility.of_types import single_types
from ...feasibility.slices import NodeDevice
from ...findings import Finding, warning
from ...plans import ClusterPlan
from ..documents import Document, mapping, mappings
from .whole import ToldOfDocument, Whole

_PAGE: Final = (
    "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/"
    "#device-classes"
)


def replaced_classes(whole: Whole) -> Iterator[ToldOfDocument]:
    """A class with the name of one that a driver brings, which selects other devices."""
    for document, copy in whole.readable_documents:
        expression = class_expressions().get(copy.name) if copy.kind == "DeviceClass" else None
        if expression is not None and _selects_others(copy, expression, whole.plan):
            yield document, ("metadata", "name"), _replaced(copy.name)


def _selects_others(document: Document, expression: str, plan: ClusterPlan) -> bool:
    """Whether a class selects other devices of a plan's nodes than an expression."""
    selectors = mappings(mapping(document.content, "spec"), "selectors")
    written = [mapping(one, "cel").get("expression") for _, one in selectors]
    if written == [expression] or not all(isinstance(one, str) for one in written):
        return False
    return any(_answer(written, one) != _answer([expression], one) for one in devices_of(plan))


def devices_of(plan: ClusterPlan) -> Iterator[NodeDevice]:
    """The devices of a node of each group and type of a plan."""
    types = {node_devices(one) for group in plan.nodegroups for one in single_types(group)}
    return (device for one in types for device in one.devices)


def _answer(expressions: Iterable[Any], device: NodeDevice) -> Outcome:
    outcomes = (evaluate(one, device).outcome for one in expressions)
    return next((one for one in outcomes if one is not Outcome.TRUE), Outcome.TRUE)


def _replaced(name: str) -> Finding:
    return warning(
        "DriverClassReplaced",
        "metadata.name",
        f"the DeviceClass {name} is one that a driver brings, and it selects other devices: this "
        "one takes its place for every claim of the cluster, until the driver is installed again, "
        "and claims are judged by it here",
        fix="give the class a name of your own, and name that in the claims",
        source=_PAGE,
    )


SET_RULES = (replaced_classes,)
