"""ComputeDomains: the nodes of one job that reach each other's GPU memory over NVLink."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from eks_devices.findings import Finding, fault, raise_faults
from eks_devices.instance_types import AcceleratedInstanceType, lookup
from eks_devices.typecheck import member, whole_number

from ._values import json_text
from .settle import version_faults
from .syntax import dns_label, dns_subdomain, is_dns_subdomain
from .templates import DEFAULT_NAMESPACE

COMPUTE_DOMAIN_API: Final = "resource.nvidia.com/v1beta1"
_CHANNEL_SUFFIX: Final = "-channel"
_SOURCE = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu"


class ChannelAllocation(StrEnum):
    """How many IMEX channels a Pod of the domain gets; the texts are the API's.

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
        name: name of the object, a DNS name.
        namespace: its namespace, `default` when left out; nobody creates it.
        nodes: how many nodes report ready before the domain does. The default 0 waits for no
            number, as the driver recommends: Pods join as they start.
        channel_template: name of the template that the driver makes, `<name>-channel` by default.
        allocation: one channel for each Pod by default, or all of them.

    Raises:
        EksDevicesError: with every fault of the arguments.

    Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu
    """

    name: str
    namespace: str = DEFAULT_NAMESPACE
    nodes: int = 0
    channel_template: str | None = None
    allocation: ChannelAllocation = ChannelAllocation.SINGLE

    def __post_init__(self) -> None:
        """Raise EksDevicesError with every fault."""
        raise_faults(_faults(self))

    @property
    def path(self) -> str:
        """How faults name the domain: `compute_domains.<namespace>/<name>`."""
        return f"compute_domains.{self.namespace!s:.63}/{self.name!s:.80}"

    @property
    def channel(self) -> str:
        """The name of the ResourceClaimTemplate that Pods of the job name."""
        return (
            f"{self.name}{_CHANNEL_SUFFIX}"
            if self.channel_template is None
            else (self.channel_template)
        )

    def to_dict(
        self, *, kubernetes_version: str, instance_type: str | None = None
    ) -> dict[str, Any]:
        """The manifest of the ComputeDomain.

        Args:
            kubernetes_version: minor of the cluster, "1.34" or later.
            instance_type: type of the nodes; by default the domain is checked against none.

        Raises:
            EksDevicesError: with every fault of the domain on this cluster and type.
        """
        version = version_faults(kubernetes_version, f"{self.path}.kubernetes_version")
        raise_faults((*version, *_type_faults(self, instance_type)))
        return {
            "apiVersion": COMPUTE_DOMAIN_API,
            "kind": "ComputeDomain",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "spec": {"numNodes": self.nodes, "channel": _channel(self)},
        }

    def to_json(self) -> str:
        """The value as deterministic JSON text."""
        return json_text(self)


def _channel(domain: ComputeDomain) -> dict[str, Any]:
    channel: dict[str, Any] = {"resourceClaimTemplate": {"name": domain.channel}}
    if domain.allocation is not ChannelAllocation.SINGLE:
        channel["allocationMode"] = domain.allocation.value
    return channel


def _faults(domain: ComputeDomain) -> Iterator[Finding]:
    path = domain.path
    yield from dns_subdomain(domain.name, f"{path}.name")
    yield from dns_label(domain.namespace, f"{path}.namespace")
    yield from whole_number(domain.nodes, f"{path}.nodes", lowest=0)
    if domain.channel_template is not None:
        yield from dns_subdomain(domain.channel_template, f"{path}.channel_template")
    elif is_dns_subdomain(f"{domain.name!s}"):
        yield from dns_subdomain(domain.channel, f"{path}.channel_template")
    yield from member(domain.allocation, ChannelAllocation, f"{path}.allocation")


def _type_faults(domain: ComputeDomain, instance_type: object) -> Iterator[Finding]:
    if instance_type is None:
        return
    instance = lookup(instance_type, f"{domain.path}.instance_type")
    if isinstance(instance, Finding):
        yield instance
    elif not instance.nvlink_domain:
        yield _no_nvlink(domain, instance)
    elif domain.nodes > max(instance.ultraserver_sizes, default=domain.nodes):
        yield _too_large(domain, instance)


def _no_nvlink(domain: ComputeDomain, instance: AcceleratedInstanceType) -> Finding:
    allowed = [one.name for one in AcceleratedInstanceType.all() if one.nvlink_domain]
    return fault(
        "NoNvlinkDomain",
        f"{domain.path}.instance_type",
        "NVLink of this type does not reach over nodes",
        got=instance.name,
        allowed=", ".join(allowed),
        fix="use such a type, or drop the ComputeDomain",
        source=_SOURCE,
    )


def _too_large(domain: ComputeDomain, instance: AcceleratedInstanceType) -> Finding:
    most = max(instance.ultraserver_sizes)
    return fault(
        "ComputeDomainTooLarge",
        f"{domain.path}.nodes",
        f"an UltraServer of {instance.name} has {most} nodes at most",
        got=domain.nodes,
        allowed=f"0 to {most}",
        fix="make one ComputeDomain per UltraServer",
        source="https://aws.amazon.com/ec2/ultraservers/",
    )
