"""Places in the manifests of DeviceClasses that verdicts are about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ..feasibility.devices import node_devices
from ..feasibility.telling.reasons import class_selector
from ..feasibility.verdicts import Verdict
from ..plans import ClusterPlan
from .documents import Document, Steps, mapping, mappings

# What is wrong with a class, unless a selector of the claim is told with it.
_OF_CLASS: Final = ("ExpressionFails", "ClassNotOnGroup")


def places_of_class(
    classes: Iterable[Document], plan: ClusterPlan, verdict: Verdict | None
) -> Iterator[tuple[Document, Steps]]:
    """The expression of a DeviceClass among the manifests that a verdict is about.

    Args:
        classes: The DeviceClasses.
        plan: The node groups.
        verdict: What a group's nodes make of a Pod's claims; None where that says nothing.
    """
    if verdict is None or verdict.selector is not None or verdict.code not in _OF_CLASS:
        return
    devices = next(
        (node_devices(one).devices for one in plan.nodegroups if one.name == verdict.nodegroup), ()
    )
    for one in classes:
        if one.name != verdict.device_class:
            continue
        texts = {
            index: text
            for index, selector in mappings(mapping(one.content, "spec"), "selectors")
            if isinstance(text := mapping(selector, "cel").get("expression"), str)
        }
        if texts:
            at = list(texts)[class_selector(list(texts.values()), devices)]
            yield one, ("spec", "selectors", at, "cel", "expression")
