"""What runs beside the device managers with images of its own, and the pinned release of each."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ._data import read_toml
from ._frozen import frozen_dict
from .findings import EksDevicesError, Finding, fault, raise_faults
from .typecheck import member, plain_text, text


class Component(StrEnum):
    """A program beside the managers of devices, which are named by device type and mechanism."""

    NODE_PROBLEM_DETECTOR = "node-problem-detector"
    """Reads the kernel log of nodes with Neuron devices."""
    NEURON_NODE_RECOVERY = "neuron-node-recovery"
    """Counts errors of Neuron devices in CloudWatch, and has instances replaced."""
    NEURON_SCHEDULER_EXTENSION = "neuron-scheduler-extension"
    """Chooses connected Neuron devices for Pods of the device plugin."""
    NEURON_ULTRASERVER_OPERATOR = "neuron-ultraserver-operator"
    """Finds Neuron UltraServers and allocates them to workloads."""
    KUBE_SCHEDULER = "kube-scheduler"
    """The second scheduler of a cluster, which asks the extension."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentRelease:
    """One release of a component.

    `tag` is for every Kubernetes minor; where it is empty, `tags` are those of the minors for
    which a release is known.
    `avoid`, `oldest` and `older_majors` tell of releases that do not work, as in `DriverRelease`;
    `verified` tells whether somebody pulled the image.
    """

    component: Component
    image: str
    tag: str
    tags: Mapping[str, str]
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

    def tag_for(self, kubernetes_version: str | None = None) -> str:
        """The tag for a cluster of a Kubernetes minor.

        Raises:
            EksDevicesError: `NoRelease`, where none is known; `WrongType`, for what is no text.
        """
        if kubernetes_version is not None:
            wanted, fix = 'a minor, "1.36"', "write the cluster's minor"
            raise_faults(text(kubernetes_version, "kubernetes_version", wanted, fix))
        version = plain_text(kubernetes_version)
        found = self.tag or self.tags.get(version or "", "")
        if not found:
            raise EksDevicesError([self._missing_for(version)])
        return found

    def _missing_for(self, kubernetes_version: str | None) -> Finding:
        return fault(
            "NoRelease",
            "images.overrides",
            f"no release of {self.component} for Kubernetes {kubernetes_version} is known",
            got=None,
            allowed=f"an image of your own, or Kubernetes {', '.join(self.tags)}",
            fix="name the image, as in ImageSource(overrides={Component."
            f'{self.component.name}: "<host>/<name>:<tag>"}})',
            source=self.source,
        )


@functools.cache
def _releases() -> dict[Component, ComponentRelease]:
    rows = read_toml("releases.toml")["components"]
    return {
        Component(name): ComponentRelease(
            component=Component(name),
            image=row["image"],
            tag=row.get("tag", ""),
            tags=frozen_dict(row.get("tags", {})),
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
