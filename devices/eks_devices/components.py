"""What runs beside the device managers with images of its own, and the pinned release of each."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import StrEnum

from ._data import read_toml
from .findings import raise_faults
from .typecheck import member


class Component(StrEnum):
    """A program beside the managers of devices, which are named by device type and mechanism."""

    NODE_PROBLEM_DETECTOR = "node-problem-detector"
    """Reads the kernel log of nodes with Neuron devices."""
    NEURON_NODE_RECOVERY = "neuron-node-recovery"
    """Counts errors of Neuron devices in CloudWatch, and has instances replaced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentRelease:
    """One release of a component.

    `avoid`, `oldest` and `older_majors` tell of releases that do not work, as in `DriverRelease`;
    `verified` tells whether somebody pulled the image.
    """

    component: Component
    image: str
    tag: str
    avoid: tuple[str, ...]
    avoid_why: str
    oldest: str
    oldest_why: str
    older_majors: tuple[int, ...]
    verified: bool
    source: str

    @classmethod
    def of(cls, component: Component) -> ComponentRelease:
        """The pinned release of a component.

        Raises:
            EksDevicesError: `WrongType`, for what is no component.
        """
        raise_faults(member(component, Component, "component"))
        return _releases()[component]


@functools.cache
def _releases() -> dict[Component, ComponentRelease]:
    rows = read_toml("releases.toml")["components"]
    return {
        Component(name): ComponentRelease(
            component=Component(name),
            image=row["image"],
            tag=row["tag"],
            avoid=tuple(row["avoid"]),
            avoid_why=row.get("avoid_why", ""),
            oldest=row.get("oldest", ""),
            oldest_why=row.get("oldest_why", ""),
            older_majors=tuple(row.get("older_majors", ())),
            verified=row["verified"],
            source=row["source"],
        )
        for name, row in rows.items()
    }
