"""Configurations that drivers refuse when a Pod starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..._yaml_text import AsYaml
from ...claims.configs import STATE_PAGE
from ...claims.driver_configs import WrongConfig, config_faults
from ...claims.gpus_on_nodegroup import SHARING_GATES, gate_fix
from ...claims.sharing import STRATEGIES
from ...feature_gates import told_gates
from ...findings import Finding, fault, warning
from ...names import DRIVERS, EXTERNAL_OWNER, GPU_DRIVER, device_type_of_class
from ...plans import ClusterPlan, NodegroupPlan
from ...vocabulary import DeviceType, Mechanism
from ..claimed import PodClaim
from ..device_names import device_type_of
from ..documents import Document, Steps, mapping, mappings, path_of
from .claim_content import devices_of
from .claim_documents import entries_in
from .context import Context, Told
from .readable import UNKNOWN
from .whole import ToldOfDocument, Whole

_CLASS: Final = "DeviceClass"


def refused_configs(whole: Whole) -> Iterator[ToldOfDocument]:
    """Kinds, fields and values that the driver of a configuration does not know."""
    others = _of_others(whole.plan)
    for document, copy in whole.readable_documents:
        for steps, config in _configs(copy):
            opaque = mapping(config, "opaque")
            driver, parameters = opaque.get("driver"), mapping(opaque, "parameters")
            if not isinstance(driver, str) or driver in others or not parameters:
                continue
            if meant := _driver_meant(driver):
                yield document, (*steps, "opaque", "driver"), _no_driver(steps, driver, meant)
            for one in config_faults(driver, _known(parameters)):
                at = (*steps, "opaque", "parameters", *one.steps)
                yield document, at, _refused(at, driver, one)


def _configs(document: Document) -> Iterator[tuple[Steps, Mapping[str, Any]]]:
    yield from entries_in(document, "config")
    if document.kind == _CLASS:
        for index, one in mappings(mapping(document.content, "spec"), "config"):
            yield ("spec", "config", index), one


def _of_others(plan: ClusterPlan) -> set[str]:
    """Drivers that somebody else installs, in a version that nobody here knows."""
    return {
        DRIVERS[device.device_type]
        for group in plan.nodegroups
        for device in group.devices
        if device.owner == EXTERNAL_OWNER and device.device_type in DRIVERS
    }


def _driver_meant(name: str) -> str:
    """The driver whose class, or resource, a name is; empty for names of drivers."""
    if name in DRIVERS.values():
        return ""
    kind = device_type_of_class(name) or device_type_of(name)
    return DRIVERS[kind] if kind else ""


def _no_driver(steps: Steps, name: str, meant: str) -> Finding:
    return warning(
        "ConfigRefused",
        path_of((*steps, "opaque", "driver")),
        f"{name} is the name of no driver, so nobody reads this configuration",
        fix=f"write driver: {meant}",
        source=STATE_PAGE,
    )


def _known(value: Any) -> Any:
    """Values without those that nobody can read, which are taken to be right."""
    if isinstance(value, dict):
        return {key: _known(one) for key, one in value.items() if one is not UNKNOWN}
    return value


def _refused(steps: Steps, driver: str, wrong: WrongConfig) -> Finding:
    return fault(
        "ConfigRefused",
        path_of(steps),
        f"the driver {driver} does not read this, and refuses the claim when a Pod starts, which "
        "then waits for ever",
        got=AsYaml(wrong.got),
        allowed=wrong.allowed,
        fix=wrong.fix,
        source=STATE_PAGE,
    )


def missing_gates(context: Context) -> Iterator[Told]:
    """Ways to share GPUs for which the driver has its gate off, and then starts no Pod."""
    groups = context.groups_with(DeviceType.GPU, Mechanism.DRA)
    for claim in context.claims:
        for gate in _gates_of(claim):
            off = [one for one in groups if _is_off(gate, one)]
            if off:
                yield _gate_needed(context, claim, gate, off, is_certain=len(off) == len(groups))


def _gates_of(claim: PodClaim) -> Iterator[str]:
    gates = {STRATEGIES[feature]: gate for feature, gate in SHARING_GATES.items()}
    asked = [
        mapping(mapping(opaque, "parameters"), "sharing").get("strategy")
        for _, one in mappings(devices_of(claim), "config")
        if (opaque := mapping(one, "opaque")).get("driver") == GPU_DRIVER
    ]
    return (gate for strategy, gate in gates.items() if strategy in asked)


def _is_off(gate: str, group: NodegroupPlan) -> bool:
    """Whether the driver of a group's GPUs is ours, and has a gate off."""
    gpus = group.device_of(DeviceType.GPU)
    if gpus is None or gpus.owner == EXTERNAL_OWNER:
        return False
    return not told_gates(gpus.settings).get(gate, False)


def _gate_needed(
    context: Context, claim: PodClaim, gate: str, off: list[NodegroupPlan], *, is_certain: bool
) -> Told:
    names = ", ".join(one.name for one in off)
    gpus = off[0].device_of(DeviceType.GPU)
    fix = gate_fix(gate, gpus) if gpus else ""
    text = f"the GPU driver has {gate} off on {names}, and starts no Pod there whose claim has it"
    if not is_certain:
        return context.warn(claim.steps, "ClaimNeedsFeatureGate", text, fix=fix, source=STATE_PAGE)
    return context.error(
        claim.steps,
        "ClaimNeedsFeatureGate",
        text,
        got=f"{gate}=false",
        allowed=f"{gate}=true",
        fix=fix,
        source=STATE_PAGE,
    )


RULES = (missing_gates,)
SET_RULES = (refused_configs,)
