"""What the device plugin is not known to do with a part of a GPU."""

from __future__ import annotations

from collections.abc import Iterator

from ._data import read_toml
from .findings import Finding, info, warning
from .instance_types import AcceleratedInstanceType
from .spec import NodegroupSpec

_WHOLE = 1


def part_findings(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """Findings of options of the device plugin on types whose devices are parts of a GPU.

    Args:
        spec: The group, whose GPUs a device plugin serves.
        instance: Its instance type.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_GpuDeviceInfo.html
    """
    chip = instance.accelerator
    if chip is None or chip.partition >= _WHOLE:
        return
    facts = read_toml("limits.toml")["gpu_parts"]
    if spec.gpu_sharing is not None:
        row = facts["sharing"]
        path = f"{spec.path}.gpu_sharing"
        yield warning("SharingUnproven", path, row["message"], fix=row["fix"], source=row["source"])
    if spec.gpu_plugin is not None and spec.gpu_plugin.feature_discovery:
        row = facts["labels"]
        path = f"{spec.path}.gpu_plugin.feature_discovery"
        yield info("VgpuLabelsMissing", path, row["message"], fix=row["fix"], source=row["source"])
