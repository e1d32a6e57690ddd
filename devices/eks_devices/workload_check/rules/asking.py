"""What containers ask for: amounts of resources and variables of their environment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...quantities import count_of
from ..documents import mapping, mappings
from ..pods import Container
from .readable import UNKNOWN


def amounts(container: Container) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The limits and the requests of a container."""
    resources = mapping(container.content, "resources")
    return mapping(resources, "limits"), mapping(resources, "requests")


def amount(container: Container, name: str) -> Any:
    """How much of a resource a container asks for, None where it does not."""
    limits, requests = amounts(container)
    given = limits.get(name)
    return requests.get(name) if given is None else given


def asks_for(container: Container, wanted: Callable[[str], bool]) -> bool:
    """Whether a container asks for any of the resources whose names are meant."""
    return any(
        wanted(name) and (value is UNKNOWN or count_of(value) > 0)
        for amount in amounts(container)
        for name, value in amount.items()
    )


def variables(container: Container) -> Iterator[tuple[int, str, str | None]]:
    """The variables of a container: index, name, and the value where it is written there."""
    for index, one in mappings(container.content, "env"):
        if isinstance(name := one.get("name"), str):
            value = one.get("value")
            yield index, name, value if isinstance(value, str) else None


def is_privileged(container: Container) -> bool:
    """Whether a container sees all devices of its node."""
    return mapping(container.content, "securityContext").get("privileged") is True
