"""Claims as Kubernetes objects: the template that makes one per Pod, and the shared claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from eks_devices.findings import Finding, raise_faults

from ._values import copied, json_text
from .asked import Asked
from .kinds import RequestKind
from .match import MatchAttribute
from .requests import DeviceRequest
from .settle import settled_counts
from .shape import shape_faults, type_faults
from .syntax import dns_label, dns_subdomain, labels

DEFAULT_NAMESPACE: Final = "default"
RESOURCE_API: Final = "resource.k8s.io/v1"
"""The only version that EKS serves from 1.34 on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """What a claim and a template of claims have in common."""

    name: str
    namespace: str = DEFAULT_NAMESPACE
    requests: Sequence[DeviceRequest]
    match: MatchAttribute | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Copy sequences and mappings, and raise EksDevicesError with every fault."""
        object.__setattr__(self, "requests", copied(self.requests))
        object.__setattr__(self, "labels", copied(self.labels))
        path = self.path
        faults = [
            *dns_subdomain(self.name, f"{path}.name"),
            *dns_label(self.namespace, f"{path}.namespace"),
            *labels(self.labels, f"{path}.labels"),
            *self._more_faults(),
        ]
        of_type = list(type_faults(path, self.requests, self.match))
        raise_faults((*faults, *(of_type or shape_faults(self.asked))))

    def _more_faults(self) -> Iterator[Finding]:
        """The faults of what a kind of claim has beyond the common fields."""
        yield from ()

    @property
    def path(self) -> str:
        """How faults name the claim: `claims.<namespace>/<name>`."""
        return f"claims.{self.namespace!s:.63}/{self.name!s:.80}"

    @property
    def asked(self) -> Asked:
        """The requests as rules look at them."""
        return Asked(path=self.path, requests=tuple(self.requests), match=self.match)

    def to_json(self) -> str:
        """The value as deterministic JSON text."""
        return json_text(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceClaim(_Claim):
    """A claim that Pods of its namespace share by naming it; all of them run on one node.

    A Pod that names a claim which another Pod already uses, plus a new one, needs nodes of
    Kubernetes 1.34.4, 1.35.1 or 1.36.0. For devices of a Pod's own use ResourceClaimTemplate.

    Args:
        name: name of the object, a DNS name.
        namespace: its namespace, `default` when left out; nobody creates it.
        requests: what is asked for, 1 to 32 requests with names that differ.
        match: the attribute that all devices must share; by default they need not share any.
        labels: labels of the object.

    Raises:
        EksDevicesError: with every fault of the arguments.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
    """

    def to_dict(
        self, *, kubernetes_version: str, instance_type: str | None = None
    ) -> dict[str, Any]:
        """The manifest of the ResourceClaim.

        Args:
            kubernetes_version: minor of the cluster, "1.34" or later.
            instance_type: type of the nodes; needed for open EFA counts and for DEVICE_GROUP. By
                default nothing is checked against a type.

        Raises:
            EksDevicesError: with every fault of the claim on this cluster and type.
        """
        spec = _spec(self.asked, kubernetes_version, instance_type)
        return _manifest("ResourceClaim", self, spec)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceClaimTemplate(_Claim):
    """A template from which every Pod that names it gets a claim, and devices, of its own.

    Args:
        name: name of the object, a DNS name.
        namespace: its namespace, `default` when left out; nobody creates it.
        requests: what is asked for, 1 to 32 requests with names that differ.
        match: the attribute that all devices must share; by default they need not share any.
        labels: labels of the template.
        claim_labels: labels of the claims made from it, for queues that look for theirs there.

    Raises:
        EksDevicesError: with every fault of the arguments.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
    """

    claim_labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Copy sequences and mappings, and raise EksDevicesError with every fault."""
        object.__setattr__(self, "claim_labels", copied(self.claim_labels))
        _Claim.__post_init__(self)

    def _more_faults(self) -> Iterator[Finding]:
        yield from labels(self.claim_labels, f"{self.path}.claim_labels")

    def to_dict(
        self, *, kubernetes_version: str, instance_type: str | None = None
    ) -> dict[str, Any]:
        """The manifest of the ResourceClaimTemplate.

        Args:
            kubernetes_version: minor of the cluster, "1.34" or later.
            instance_type: type of the nodes; needed for open EFA counts and for DEVICE_GROUP. By
                default nothing is checked against a type.

        Raises:
            EksDevicesError: with every fault of the claim on this cluster and type.
        """
        spec: dict[str, Any] = {"spec": _spec(self.asked, kubernetes_version, instance_type)}
        if self.claim_labels:
            spec["metadata"] = {"labels": dict(self.claim_labels)}
        return _manifest("ResourceClaimTemplate", self, spec)


def _manifest(kind: str, claim: _Claim, spec: dict[str, Any]) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": claim.name, "namespace": claim.namespace}
    if claim.labels:
        metadata["labels"] = dict(claim.labels)
    return {"apiVersion": RESOURCE_API, "kind": kind, "metadata": metadata, "spec": spec}


def _spec(asked: Asked, kubernetes_version: str, instance_type: str | None) -> dict[str, Any]:
    counts = settled_counts(
        asked, kubernetes_version=kubernetes_version, instance_type=instance_type
    )
    pairs = zip(asked.requests, counts, strict=True)
    devices: dict[str, Any] = {"requests": [one.to_dict(count=count) for one, count in pairs]}
    if asked.match is not None and sum(counts) > 1:
        devices["constraints"] = [_constraint(asked, asked.match)]
    configs = [config for one in asked.requests for config in one.configs()]
    if configs:
        devices["config"] = configs
    return {"devices": devices}


def _constraint(asked: Asked, match: MatchAttribute) -> dict[str, Any]:
    attribute = match.attribute_for(asked.total(RequestKind.NEURON))
    return {"requests": [one.name for one in asked.requests], "matchAttribute": attribute}
