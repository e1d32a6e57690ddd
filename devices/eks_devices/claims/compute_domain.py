"""ComputeDomains: the nodes of one job that reach each other's GPU memory over NVLink."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from .._data import read_toml
from ..findings import Finding, raise_faults
from ..instance_faults import nvlink_fault
from ..instance_types import lookup
from ..syntax import dns_label, dns_subdomain, is_dns_subdomain
from ..typecheck import member, path_step, plain_text, whole_number
from ._json_text import json_text
from .configs import NVIDIA_API
from .settle import version_faults
from .templates import DEFAULT_NAMESPACE

_CHANNEL_SUFFIX: Final = "-channel"


class ChannelAllocation(StrEnum):
    """How many IMEX channels a Pod of the domain gets; the values are the API's.

    Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu (CRD of ComputeDomain)
    """

    SINGLE = "Single"
    ALL = "All"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeDomain:
    """A ComputeDomain of the NVIDIA DRA driver; make one per job, in the namespace of its Pods.

    The driver makes a ResourceClaimTemplate for the channel; every Pod of the job names it. The
    object cannot be changed once it exists.

    Args:
        name: Name of the object, a DNS name.
        namespace: Its namespace, `default` when left out; nobody creates it.
        nodes: How many nodes report ready before the domain does. The default 0 waits for no
            number, as the driver recommends: Pods join as they start. Nodes of several
            UltraServers may be in one domain, but memory is shared within each UltraServer only.
        channel_template: Name of the template that the driver makes, `<name>-channel` by default.
        allocation: One channel for each Pod by default, or all of them.

    Raises:
        EksDevicesError: With every fault of the arguments.

    Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu
    """

    name: str
    namespace: str = DEFAULT_NAMESPACE
    nodes: int = 0
    channel_template: str | None = None
    allocation: ChannelAllocation = ChannelAllocation.SINGLE

    def __post_init__(self) -> None:
        """Raise EksDevicesError with every fault."""
        for name in ("name", "namespace", "channel_template"):
            object.__setattr__(self, name, plain_text(getattr(self, name)))
        raise_faults(_faults(self))

    @property
    def path(self) -> str:
        """How faults name the domain: `compute_domains.<namespace>/<name>`."""
        return f"compute_domains.{path_step(self.namespace)}/{path_step(self.name)}"

    @property
    def channel(self) -> str:
        """The name of the ResourceClaimTemplate that Pods of the job name."""
        if self.channel_template is not None:
            return self.channel_template
        return f"{self.name}{_CHANNEL_SUFFIX}"

    def to_dict(
        self, *, kubernetes_version: str, instance_type: str | None = None
    ) -> dict[str, Any]:
        """The manifest of the ComputeDomain.

        Args:
            kubernetes_version: Minor of the cluster, "1.34" or later.
            instance_type: Type of the nodes; by default the domain is checked against none.

        Raises:
            EksDevicesError: With every fault of the domain on this cluster and type.
        """
        version = version_faults(kubernetes_version, f"{self.path}.kubernetes_version")
        raise_faults((*version, *_type_faults(self, instance_type)))
        return {
            "apiVersion": NVIDIA_API,
            "kind": "ComputeDomain",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "spec": {"numNodes": self.nodes, "channel": _channel(self)},
        }

    def to_json(self, *, kubernetes_version: str, instance_type: str | None = None) -> str:
        """The manifest as JSON text, deterministic; for the arguments see `to_dict`."""
        return json_text(
            self.to_dict(kubernetes_version=kubernetes_version, instance_type=instance_type)
        )


def _channel(domain: ComputeDomain) -> dict[str, Any]:
    channel: dict[str, Any] = {"resourceClaimTemplate": {"name": domain.channel}}
    if domain.allocation is not ChannelAllocation.SINGLE:
        channel["allocationMode"] = domain.allocation.value
    return channel


def _faults(domain: ComputeDomain) -> Iterator[Finding]:
    path = domain.path
    yield from dns_subdomain(domain.name, f"{path}.name")
    yield from dns_label(domain.namespace, f"{path}.namespace")
    # The driver bounds the nodes of an NVLink partition, of which a domain may hold several.
    most = read_toml("limits.toml")["sizes"]["most"]
    yield from whole_number(domain.nodes, f"{path}.nodes", lowest=0, highest=most)
    if domain.channel_template is not None:
        yield from dns_subdomain(domain.channel_template, f"{path}.channel_template")
    elif isinstance(domain.name, str) and is_dns_subdomain(domain.name):
        yield from dns_subdomain(domain.channel, f"{path}.channel_template")
    yield from member(domain.allocation, ChannelAllocation, f"{path}.allocation")


def _type_faults(domain: ComputeDomain, instance_type: object) -> Iterator[Finding]:
    if instance_type is None:
        return
    instance = lookup(instance_type, f"{domain.path}.instance_type")
    if isinstance(instance, Finding):
        yield instance
    elif not instance.nvlink_domain:
        yield nvlink_fault(instance, f"{domain.path}.instance_type", instance.name)
