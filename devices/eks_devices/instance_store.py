"""Whether the local disks of a node group's instances hold images and Pods' files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .findings import Finding, fault
from .instance_types import AcceleratedInstanceType
from .plans import NodegroupPlan
from .quantities import MIB
from .spec import NodegroupSpec
from .vocabulary import OperatingSystem

_GB: Final = 10**9


def uses_instance_store(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> bool:
    """Whether local disks hold images and Pods' files."""
    if spec.instance_store is not None:
        return spec.instance_store
    return bool(instance.instance_store_gb) and spec.operating_system is OperatingSystem.AL2023


def storage_bytes(group: NodegroupPlan, instance: AcceleratedInstanceType) -> int | None:
    """What images and Pods' files have on a node at most; None with an image of the user's own."""
    if group.instance_store:
        return instance.instance_store_gb * _GB
    return None if group.ami_id is not None else group.disk_gib * 1024 * MIB


def instance_store_faults(
    spec: NodegroupSpec, instance: AcceleratedInstanceType
) -> Iterator[Finding]:
    """The fault of local disks that an instance type does not have."""
    if spec.instance_store and not instance.instance_store_gb:
        yield fault(
            "NoInstanceStore",
            f"{spec.path}.instance_store",
            f"{instance.name} has no local disks",
            got=True,
            allowed="False or None",
            fix="leave instance_store out, and choose the volume's size by disk_gib",
            source="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/InstanceStorage.html",
        )
