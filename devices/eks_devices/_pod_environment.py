"""Environment variables of the containers of a Pod spec."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._pod_specs import Container, PodSpec
from .findings import Finding, fault


def variables(pod: PodSpec, container: Container, name: str) -> Iterator[tuple[str, Any]]:
    """The entries of a container for a variable, each with its path."""
    for path, one in pod.entries(container.values, "env", container.path):
        given = one.get("name")
        if isinstance(given, str) and given == name:
            yield path, one


def add_variable(pod: PodSpec, container: Container, name: str, value: str) -> None:
    """Give a container one more variable."""
    listed = pod.part(container.values, "env", list, container.path)
    container.values["env"] = [*listed, {"name": name, "value": value}]


def conflicts(
    pod: PodSpec, container: Container, name: str, value: str, *, source: str
) -> Iterator[Finding]:
    """The faults of what sets a variable to something else than a value.

    Args:
        pod: The Pod spec.
        container: The container.
        name: The variable.
        value: What it has to be.
        source: Where that is from.
    """
    for path, one in variables(pod, container, name):
        given = one.get("value")
        if not isinstance(given, str) or given != value:
            yield fault(
                "EnvironmentConflict",
                path,
                f"the container sets {name} to something else",
                got=one.get("valueFrom") if given is None else given,
                allowed=value,
                fix="leave the variable or the container out",
                source=source,
            )
