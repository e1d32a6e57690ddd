"""Configurations of the user's own that the drivers on a group's nodes do not read."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Finding, shown, warning
from ..names import DRIVERS, EXTERNAL_OWNER
from ..plans import NodegroupPlan
from ..typecheck import path_step
from .configs import STATE_PAGE
from .driver_configs import config_faults
from .templates import DeviceClaim


def config_findings(claim: DeviceClaim, plan: NodegroupPlan) -> Iterator[Finding]:
    """Warnings of what a driver of the version here does not read; others' are not judged."""
    ours = {
        DRIVERS[one.device_type]
        for one in plan.devices
        if one.owner != EXTERNAL_OWNER and one.device_type in DRIVERS
    }
    for index, config in enumerate(claim.configs):
        for one in config_faults(config.driver, config.parameters) if config.driver in ours else ():
            at = ".".join(map(path_step, one.steps))
            yield warning(
                "ConfigRefused",
                f"{claim.path}.configs[{index}].parameters.{at}",
                f"the driver {config.driver} does not read {shown(one.got)} here, and starts no "
                f"Pod with the claim; it reads {one.allowed}",
                fix=one.fix,
                source=STATE_PAGE,
            )
