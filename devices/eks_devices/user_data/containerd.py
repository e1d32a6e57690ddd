"""What a NodeConfig of a user's own says of containerd, and what of it takes devices away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .._data import read_toml
from .._nested import found, same
from ..typecheck import path_step
from ..vocabulary import Mechanism

if TYPE_CHECKING:
    from ..plans import DevicePlan, NodegroupPlan

CONTAINERD_CONFIG = ("spec", "containerd", "config")


def containerd_settings(text: str) -> Mapping[str, Any] | str:
    """The settings of a text for containerd, or why it is no TOML."""
    import tomllib  # noqa: PLC0415  (kept off the import path of the package)

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        return str(error) or "it is nested too deep"


def lost_settings(
    plan: NodegroupPlan, config: Mapping[str, Any]
) -> Iterator[tuple[str, object, Mapping[str, Any]]]:
    """The settings without which containers would lack the devices of a plan.

    Args:
        plan: The plan of a group.
        config: A NodeConfig of its user.

    Returns:
        The key, the value, and the row of user_data.toml that refuses it.

    Source: https://github.com/awslabs/amazon-eks-ami/tree/main/nodeadm/internal/containerd
    """
    text = found(config, CONTAINERD_CONFIG)
    settings = containerd_settings(text) if isinstance(text, str) else ""
    if isinstance(settings, str):
        return
    for row in read_toml("user_data.toml")["node_config"]["containerd"]:
        if not any(_needs(device, row) for device in plan.devices):
            continue
        for table in _tables(row):
            value = found(settings, [*table, *row["key"].split(".")])
            if value is not None and _is_refused(value, row):
                at = ".".join([*CONTAINERD_CONFIG, *map(path_step, table), row["key"]])
                yield at, value, row


def _tables(row: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The tables of containerd's file that may hold the key of a row."""
    return [("plugins", part) for part in row["parts"]] or [()]


def _needs(device: DevicePlan, row: Mapping[str, Any]) -> bool:
    """Whether a device of the plan reaches containers by what a row is about."""
    if device.mechanism is Mechanism.DRA:
        return device.device_type in row["dra"]
    strategy = device.settings.get("device-list-strategy")
    by_strategy = not row["strategies"] or strategy in row["strategies"]
    return device.device_type in row["plugin"] and by_strategy


def _is_refused(value: object, row: Mapping[str, Any]) -> bool:
    if "one_of" in row:
        return isinstance(value, list) and not any(one in value for one in row["one_of"])
    if "none_of" in row:
        return isinstance(value, list) and any(one in value for one in row["none_of"])
    if "only" in row:
        return isinstance(value, str) and value not in row["only"]
    return any(same(value, one) for one in row["refused"])
