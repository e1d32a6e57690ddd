"""What the release that an installation runs cannot do of what a plan asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from eks_devices import (
    AcceleratedInstanceType,
    Component,
    DeviceType,
    DranetBuild,
    DriverPlan,
    DriverRelease,
    Mechanism,
    NodegroupPlan,
)
from eks_devices.efa_installation import build_of
from eks_devices.feature_gates import feature_gates, gates_source, told_gates
from eks_devices.findings import Finding, fault
from eks_devices.kubernetes import version_key
from eks_devices.names import EXTERNAL_OWNER, HOST_OWNER
from eks_devices.releases import FamilyFloor, release_number
from eks_devices.vocabulary import ManagerKey

from .images import ImageSource

_SKEW = "https://kubernetes.io/releases/version-skew-policy/"
_MINOR = re.compile(r"v?([0-9]+)\.([0-9]+)\.", re.ASCII)
_OF_NVIDIA = (DeviceType.GPU, DeviceType.COMPUTE_DOMAIN)


def release_faults(driver: DriverPlan, images: ImageSource) -> Iterator[Finding]:
    """The faults of what a release that an override names does not do as it is drawn.

    A gate that a release does not know ends its Pods at their start. Of a tag that names no
    release nothing is said.
    """
    yield from _build_faults(driver, images)
    if driver.mechanism is not Mechanism.DRA or driver.device_type not in _OF_NVIDIA:
        return
    image = images.image(device_type=driver.device_type, mechanism=driver.mechanism)
    release = _number(image)
    for name in told_gates(driver.settings) if release else ():
        since = tuple(map(int, feature_gates()[name].since.split(".")))
        if release[:2] < since:
            yield _unknown_to_release(driver, name, image)


def _build_faults(driver: DriverPlan, images: ImageSource) -> Iterator[Finding]:
    """The fault of an image that is of another build of DRANET than what is drawn is for."""
    image = images.override(driver.manager)
    build = build_of(driver.settings)
    release = DriverRelease.of(
        device_type=driver.device_type, mechanism=driver.mechanism, build=build
    )
    number = _number(image or "")
    if release.build is None or not number:
        return
    if release.before and number >= release_number(release.before):
        why, allowed, other = release.before_why, f"before {release.before}", DranetBuild.UPSTREAM
    elif number < release_number(release.oldest):
        why, allowed, other = release.oldest_why, f"{release.oldest} or later", DranetBuild.EKS
    else:
        return
    yield fault(
        "ImageOfOtherBuild",
        f"images.overrides[{driver.device_type} by {driver.mechanism}]",
        f"the installation has the {build} build of DRANET: {why}",
        got=image,
        allowed=f"a release {allowed}",
        fix=f"pass efa=EfaInstallation(build=DranetBuild.{other.name}), or leave the override out",
        source=release.source,
    )


def group_release_faults(group: NodegroupPlan, images: ImageSource) -> Iterator[Finding]:
    """The faults of overrides that name releases which do not serve the types of a group."""
    families = {AcceleratedInstanceType.of(name).family for name in group.instance_types}
    for device in group.devices:
        key = device.manager
        image = images.override(key)
        if image is None or device.owner in (HOST_OWNER, EXTERNAL_OWNER):
            continue
        number = _number(image)
        for floor in DriverRelease.of(device_type=key[0], mechanism=key[1]).oldest_for:
            if floor.family in families and number and number < release_number(floor.tag):
                yield _too_old(group, key, image, floor)


def _number(image: str) -> tuple[int, ...]:
    """The version that an image's tag names; empty where it names none."""
    return release_number(_tag(image))


def _too_old(group: NodegroupPlan, key: ManagerKey, image: str, floor: FamilyFloor) -> Finding:
    return fault(
        "ImageToAvoid",
        f"images.overrides[{key[0]} by {key[1]}]",
        f"node group {group.name} has nodes of {floor.family}: {floor.why}",
        got=image,
        allowed=f"{floor.tag} or later",
        fix="use a newer release, or leave the override out",
        source=DriverRelease.of(device_type=key[0], mechanism=key[1]).source,
    )


def scheduler_faults(image: str, kubernetes_version: str) -> Iterator[Finding]:
    """The fault of a second scheduler that is too old or too new for the API server.

    Of a tag that names no release nothing is said.
    """
    found = _MINOR.match(_tag(image))
    major, minor = version_key(kubernetes_version)
    if found and (int(found[1]), int(found[2])) not in ((major, minor), (major, minor - 1)):
        yield fault(
            "SchedulerVersionSkew",
            f"images.overrides[{Component.KUBE_SCHEDULER}]",
            f"a scheduler works with the API server of its own minor, or of the next one, and the "
            f"cluster has {kubernetes_version}",
            got=image,
            allowed=f"{kubernetes_version}, or {major}.{minor - 1}",
            fix="use the scheduler of the cluster's own minor",
            source=_SKEW,
        )


def _tag(image: str) -> str:
    return image.partition("@")[0].rpartition(":")[2]


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
