"""Plans of single managers, whose settings a test writes itself."""

from __future__ import annotations

from typing import Any

from eks_devices import DeviceType, DriverPlan, Mechanism
from eks_devices._frozen import frozen_dict


def driver_plan(
    mechanism: Mechanism, settings: dict[str, Any], *, owner: str = "default"
) -> DriverPlan:
    """A manager of GPUs."""
    return DriverPlan(
        device_type=DeviceType.GPU,
        mechanism=mechanism,
        owner=owner,
        settings=frozen_dict(settings),
        nodegroups=("a",),
    )
