"""What is wrong with Pods beside their claims: rules for one Pod template, and for all together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from . import (
    claim_documents,
    claim_fields,
    claim_wiring,
    counted_by_limits,
    driver_classes,
    driver_configs,
    efa_memory,
    efa_use,
    gpu_visibility,
    host_access,
    name_clashes,
    named_claims,
    neuron_cores,
    not_served,
    pod_level,
    priorities,
    queues,
    refused_resources,
    selector_amounts,
    shared_devices,
)
from .context import Context, Told
from .whole import ToldOfDocument, Whole

Rule = Callable[[Context], Iterator[Told]]
"""Findings of a Pod template, each with the steps to its place from the Pod's spec."""

SetRule = Callable[[Whole], Iterator[ToldOfDocument]]
"""Findings of manifests that are looked at together, each with its manifest and place."""

RULES: Final[tuple[Rule, ...]] = (
    *claim_fields.RULES,
    *claim_wiring.RULES,
    *refused_resources.RULES,
    *pod_level.RULES,
    *driver_configs.RULES,
    *shared_devices.RULES,
    *efa_use.RULES,
    *efa_memory.RULES,
    *host_access.RULES,
    *gpu_visibility.RULES,
    *neuron_cores.RULES,
    *queues.RULES,
)
"""All rules for one Pod template, in the order in which they tell."""

SET_RULES: Final[tuple[SetRule, ...]] = (
    *claim_documents.SET_RULES,
    *not_served.SET_RULES,
    *driver_classes.SET_RULES,
    *driver_configs.SET_RULES,
    *selector_amounts.SET_RULES,
    *name_clashes.SET_RULES,
    *shared_devices.SET_RULES,
    *named_claims.SET_RULES,
    *priorities.SET_RULES,
    *counted_by_limits.SET_RULES,
)
"""All rules for manifests together, in the order in which they tell."""

__all__ = ["RULES", "SET_RULES", "Context", "Rule", "SetRule", "Whole"]
