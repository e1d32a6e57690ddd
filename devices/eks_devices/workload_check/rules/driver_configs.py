"""Configurations that drivers refuse when a Pod starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..._yaml_text import AsYaml
from ...claims.configs import STATE_PAGE
from ...claims.driver_configs import WrongConfig, config_faults
from ...findings import Finding, fault
from ...names import DRIVERS, EXTERNAL_OWNER
from ...plans import ClusterPlan
from ..documents import Document, Steps, mapping, mappings, path_of
from .claim_documents import entries_in
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


SET_RULES = (refused_configs,)
