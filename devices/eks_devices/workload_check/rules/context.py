"""What rules look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..._yaml_text import AsYaml
from ...findings import Finding, fault, info, warning
from ...plans import ClusterPlan, NodegroupPlan
from ...vocabulary import DeviceType, Mechanism
from ..claimed import PodClaim
from ..documents import Document, Steps, path_of
from ..pods import Container, PodTemplate
from .own_classes import with_known_classes
from .readable import readable

Told = tuple[Steps, Finding]
"""A finding, and the steps to its place from the Pod's spec."""


# Without slots: what several rules ask for is worked out once.
@dataclass(frozen=True, kw_only=True, eq=False)
class Context:
    """A Pod template, its claims and the node groups.

    Rules see copies of manifests, in which nothing raises; `given` is the template itself.
    `groups` are those to whose nodes the Pods may come; `classes` are DeviceClasses of the user's
    whose devices are known: claims name those of the drivers in their place. `copies` are those of
    documents by their `id`, shared by the templates of a document, however many it has.
    """

    pod: PodTemplate
    claims: tuple[PodClaim, ...]
    plan: ClusterPlan
    groups: tuple[NodegroupPlan, ...]
    classes: Mapping[str, DeviceType] = field(default_factory=dict)
    copies: dict[int, Document] = field(default_factory=dict)
    given: PodTemplate = field(init=False)

    def __post_init__(self) -> None:
        """Put copies in the place of what was given."""
        object.__setattr__(self, "given", self.pod)
        object.__setattr__(self, "pod", _readable_pod(self.pod, self.copies))
        claims = tuple(_readable_claim(one, self.classes) for one in self.claims)
        object.__setattr__(self, "claims", claims)

    @property
    def spec(self) -> dict[str, Any]:
        """The spec of the Pods."""
        return dict(self.pod.spec)

    @cached_property
    def containers(self) -> tuple[Container, ...]:
        """Init containers and containers."""
        return self.pod.containers

    def groups_with(
        self, device_type: DeviceType, mechanism: Mechanism | None = None
    ) -> list[NodegroupPlan]:
        """Those of them that have a type of device, by a mechanism or by any."""
        return [
            group
            for group in self.groups
            if (device := group.device_of(device_type)) is not None
            and mechanism in (None, device.mechanism)
        ]

    def used_by(self, claim: PodClaim) -> list[Container]:
        """The containers that list a claim."""
        return [one for one in self.containers if claim.name in names_of_claims(one)]

    def error(
        self,
        steps: Steps,
        code: str,
        message: str,
        *,
        got: object,
        allowed: str,
        fix: str,
        source: str = "",
    ) -> Told:
        """An error at a place in the Pod's spec: the API server refuses it, or it never runs."""
        path = path_of((*self.pod.steps, *steps))
        told = AsYaml(got)
        return steps, fault(code, path, message, got=told, allowed=allowed, fix=fix, source=source)

    def warn(self, steps: Steps, code: str, message: str, *, fix: str, source: str = "") -> Told:
        """A warning at a place in the Pod's spec."""
        path = path_of((*self.pod.steps, *steps))
        return steps, warning(code, path, message, fix=fix, source=source)

    def tell(self, steps: Steps, code: str, message: str, *, fix: str, source: str = "") -> Told:
        """What is good to know of a place in the Pod's spec."""
        path = path_of((*self.pod.steps, *steps))
        return steps, info(code, path, message, fix=fix, source=source)


def _readable_pod(pod: PodTemplate, copies: dict[int, Document]) -> PodTemplate:
    document, key = pod.document, id(pod.document)
    if key not in copies:
        copies[key] = replace(document, content=_mapping(readable(document.content)))
    document = copies[key]
    spec, metadata = _mapping(readable(pod.spec)), _mapping(readable(pod.metadata))
    return replace(pod, document=document, spec=spec, metadata=metadata)


def _readable_claim(claim: PodClaim, classes: Mapping[str, DeviceType]) -> PodClaim:
    manifest = with_known_classes(readable(claim.manifest), classes)
    return replace(claim, manifest=manifest if isinstance(manifest, dict) else None)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def names_of_claims(container: Container) -> list[str]:
    """The names of the Pod's claims that a container lists."""
    return [name for _, name, _ in listed_claims(container)]


def listed_claims(container: Container) -> Iterator[tuple[int, str, str]]:
    """The claims that a container lists: index, name and request, empty for all of the claim."""
    listed = _mapping(container.content.get("resources")).get("claims")
    for index, one in enumerate(listed if isinstance(listed, list) else ()):
        entry = _mapping(one)
        if isinstance(name := entry.get("name"), str):
            request = entry.get("request")
            yield index, name, request if isinstance(request, str) else ""
