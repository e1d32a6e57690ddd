"""What the release that an installation runs cannot do of what a plan asks for."""

from __future__ import annotations

from collections.abc import Iterator

from eks_devices import DeviceType, DriverPlan, Mechanism
from eks_devices.feature_gates import feature_gates, gates_source, told_gates
from eks_devices.findings import Finding, fault
from eks_devices.releases import release_number

from .images import ImageSource

_OF_NVIDIA = (DeviceType.GPU, DeviceType.COMPUTE_DOMAIN)


def release_faults(driver: DriverPlan, images: ImageSource) -> Iterator[Finding]:
    """The faults of gates that are newer than the release which an override names.

    A gate that a release does not know ends its Pods at their start. Of a tag that names no
    release nothing is said.
    """
    if driver.mechanism is not Mechanism.DRA or driver.device_type not in _OF_NVIDIA:
        return
    image = images.image(device_type=driver.device_type, mechanism=driver.mechanism)
    release = release_number(image.partition("@")[0].rpartition(":")[2])
    for name in told_gates(driver.settings) if release else ():
        since = tuple(map(int, feature_gates()[name].since.split(".")))
        if release[:2] < since:
            yield _unknown_to_release(driver, name, image)


def _unknown_to_release(driver: DriverPlan, gate: str, image: str) -> Finding:
    since = feature_gates()[gate].since
    groups = ", ".join(driver.nodegroups) or "no node group"
    return fault(
        "FeatureGateNeedsRelease",
        f"images.overrides[{driver.device_type} by {driver.mechanism}]",
        f"{gate}, which {groups} needs, is unknown to this release: its Pods would not start",
        got=image,
        allowed=f"{since} or later",
        fix="use a newer release, or leave the gate out",
        source=gates_source(),
    )
