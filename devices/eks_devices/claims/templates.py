"""Claims as Kubernetes objects: the template that makes one per Pod, and the shared claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from .._frozen import copied_list, copied_mapping
from ..findings import Finding, raise_faults
from ..syntax import dns_label, dns_subdomain
from ..typecheck import path_step, plain_text
from ._json_text import json_text
from .asked import Asked, Constraint, own_type
from .choices import AllOf
from .configs import claim_configs
from .constraints import rendered_constraints
from .match import MatchAttribute
from .opaque import OpaqueConfig
from .rendering import rendered_request
from .requests import DeviceRequest
from .settle import Counts, settled_counts
from .shape import shape_faults, type_faults
from .syntax import labels

DEFAULT_NAMESPACE: Final = "default"
RESOURCE_API: Final = "resource.k8s.io/v1"
"""The only version that EKS serves from 1.34 on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """What a claim and a template of claims have in common."""

    _kind: ClassVar[str]

    name: str
    namespace: str = DEFAULT_NAMESPACE
    requests: Sequence[DeviceRequest]
    match: MatchAttribute | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    constraints: Sequence[Constraint] = ()
    configs: Sequence[OpaqueConfig] = ()

    def __post_init__(self) -> None:
        """Copy lists and mappings, and raise EksDevicesError with every fault."""
        for name in ("name", "namespace"):
            object.__setattr__(self, name, plain_text(getattr(self, name)))
        for name in ("requests", "constraints", "configs"):
            object.__setattr__(self, name, copied_list(getattr(self, name)))
        object.__setattr__(self, "labels", copied_mapping(self.labels))
        path = self.path
        faults = [
            *dns_subdomain(self.name, f"{path}.name"),
            *dns_label(self.namespace, f"{path}.namespace"),
            *labels(self.labels, f"{path}.labels"),
            *self._more_faults(),
        ]
        of_type = list(type_faults(self))
        raise_faults((*faults, *(of_type or shape_faults(self))))

    def _more_faults(self) -> Iterator[Finding]:
        """The faults of what a kind of claim has beyond the common fields."""
        yield from ()

    @property
    def path(self) -> str:
        """How faults name the claim: `claims.<namespace>/<name>`."""
        return f"claims.{path_step(self.namespace)}/{path_step(self.name)}"

    @property
    def needs_admin_access(self) -> bool:
        """Whether a request asks for devices that others use; the namespace has to allow it."""
        return any(one.admin_access for one in self.requests)

    def to_dict(
        self, *, kubernetes_version: str, instance_type: str | None = None
    ) -> dict[str, Any]:
        """The manifest.

        Args:
            kubernetes_version: Minor of the cluster, "1.34" or later.
            instance_type: Type of the nodes; needed for open EFA counts and for device groups. By
                default the one that a request names, and without one nothing is checked.

        Raises:
            EksDevicesError: With every fault of the claim on this cluster and type.
        """
        on = own_type(self) if instance_type is None else instance_type
        return self.to_dict_of(kubernetes_version, on, None)

    def to_dict_of(
        self, kubernetes_version: str, instance_type: str | None, all_of: AllOf | None
    ) -> dict[str, Any]:
        """The manifest where it may be known how many devices of a node are all of them.

        Args:
            kubernetes_version: As in `to_dict`.
            instance_type: Type of the nodes, if it is known.
            all_of: How many devices requests for all get; by default those of the type.

        Raises:
            EksDevicesError: As `to_dict` does.
        """
        counts = settled_counts(
            self,
            kubernetes_version=kubernetes_version,
            instance_type=instance_type,
            all_of=all_of,
        )
        metadata: dict[str, Any] = {"name": self.name, "namespace": self.namespace}
        if self.labels:
            metadata["labels"] = dict(self.labels)
        return {
            "apiVersion": RESOURCE_API,
            "kind": self._kind,
            "metadata": metadata,
            "spec": self._spec(_devices(self, counts, instance_type)),
        }

    def to_json(self, *, kubernetes_version: str, instance_type: str | None = None) -> str:
        """The manifest as JSON text, deterministic; for the arguments see `to_dict`."""
        return json_text(
            self.to_dict(kubernetes_version=kubernetes_version, instance_type=instance_type)
        )

    def _spec(self, devices: dict[str, Any]) -> dict[str, Any]:
        """The spec of the object, given what its claims say of devices."""
        return {"devices": devices}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceClaim(_Claim):
    """A claim that Pods of its namespace share by naming it; all of them run on one node.

    A Pod that names a claim which another Pod already uses, plus a new one, needs nodes of
    Kubernetes 1.34.4, 1.35.1 or 1.36.0. For devices of a Pod's own use ResourceClaimTemplate.

    Args:
        name: Name of the object, a DNS name.
        namespace: Its namespace, `default` when left out; nobody creates it.
        requests: What is asked for, a list of 1 to 32 requests with names that differ.
        match: The attribute that all devices must share; by default they need not share any.
        labels: Labels of the object.
        constraints: What devices of some requests must share, MatchAttribute with `over`, or differ
            in, DistinctAttribute; nothing by default.
        configs: What drivers are told beside what requests say; nothing by default.

    Raises:
        EksDevicesError: With every fault of the arguments.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
    """

    _kind: ClassVar[str] = "ResourceClaim"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceClaimTemplate(_Claim):
    """A template from which every Pod that names it gets a claim, and devices, of its own.

    Args:
        name: Name of the object, a DNS name.
        namespace: Its namespace, `default` when left out; nobody creates it.
        requests: What is asked for, a list of 1 to 32 requests with names that differ.
        match: The attribute that all devices must share; by default they need not share any.
        labels: Labels of the template.
        claim_labels: Labels of the claims made from it, for queues that look for theirs there.
        constraints: What devices of some requests must share, MatchAttribute with `over`, or differ
            in, DistinctAttribute; nothing by default.
        configs: What drivers are told beside what requests say; nothing by default.

    Raises:
        EksDevicesError: With every fault of the arguments.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
    """

    _kind: ClassVar[str] = "ResourceClaimTemplate"

    claim_labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Copy lists and mappings, and raise EksDevicesError with every fault."""
        object.__setattr__(self, "claim_labels", copied_mapping(self.claim_labels))
        _Claim.__post_init__(self)

    def _more_faults(self) -> Iterator[Finding]:
        yield from labels(self.claim_labels, f"{self.path}.claim_labels")

    def _spec(self, devices: dict[str, Any]) -> dict[str, Any]:
        spec: dict[str, Any] = {"spec": {"devices": devices}}
        if self.claim_labels:
            spec["metadata"] = {"labels": dict(self.claim_labels)}
        return spec


DeviceClaim = ResourceClaim | ResourceClaimTemplate
"""A claim for devices, one for all Pods that name it or one for each."""


def claimed_devices(manifest: dict[str, Any]) -> dict[str, Any]:
    """What the manifest of a claim or a template says of devices; empty for other objects."""
    spec = manifest["spec"]
    devices: dict[str, Any] = spec.get("spec", spec).get("devices", {})
    return devices


def _devices(asked: Asked, counts: Counts, instance_type: str | None) -> dict[str, Any]:
    pairs = zip(asked.requests, counts, strict=True)
    requests = [rendered_request(one, number, instance_type) for one, number in pairs]
    devices: dict[str, Any] = {"requests": requests}
    # All may be one device, and is never matched.
    most = sum(max(one or 1 for one in number) for number in counts)
    if constraints := rendered_constraints(asked, most):
        devices["constraints"] = constraints
    configs = [*claim_configs(asked.requests), *(one.to_dict() for one in asked.configs)]
    if configs:
        devices["config"] = configs
    return devices
