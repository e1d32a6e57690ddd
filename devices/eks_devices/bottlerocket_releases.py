"""Settings of GPUs that a pinned Bottlerocket release does not know: it refuses them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ._data import read_toml
from .ami_releases import bottlerocket_numbers, release_too_old
from .findings import Finding
from .mig import mig_bottlerocket_release
from .names import BOTTLEROCKET_MIG_PROFILE, BOTTLEROCKET_NVIDIA_SETTINGS

if TYPE_CHECKING:
    from .plans import NodegroupPlan


def release_setting_faults(plan: NodegroupPlan, path: str) -> Iterator[Finding]:
    """The faults of settings of a plan that its pinned release is too old for.

    Args:
        plan: The drawn plan of a group.
        path: How faults name the group, "nodegroups.g6e".
    """
    release = bottlerocket_numbers(plan.release_version)
    settings = plan.bottlerocket_settings if release else {}
    for row in read_toml("bottlerocket_gpu.toml")["setting"]:
        key = f"{row.get('table', BOTTLEROCKET_NVIDIA_SETTINGS)}.{row['key']}"
        if key not in settings or row.get("judged_by"):
            continue
        since = _since(plan, row, key)
        if release < tuple(map(int, since.split("."))):
            message = f"only Bottlerocket {since} or later knows {key} = {_text(settings[key])}"
            told = {"release": since, "source": row["source"]}
            yield release_too_old(
                plan.release_version or "", told, f"{path}.release_version", message
            )


def _since(plan: NodegroupPlan, row: Mapping[str, Any], key: str) -> str:
    """The first release that knows a setting with its value."""
    if key == BOTTLEROCKET_MIG_PROFILE and plan.mig is not None:
        return mig_bottlerocket_release(plan.mig, plan.instance_type) or str(row["since"])
    value = str(plan.bottlerocket_settings[key])
    return str(row.get("values_since", {}).get(value, row["since"]))


def _text(value: object) -> str:
    return ", ".join(map(str, value.values())) if isinstance(value, Mapping) else str(value)
