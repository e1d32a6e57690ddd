"""What a cluster's installation of NVIDIA's managers has once, whatever its node groups are."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ._data import read_toml
from ._frozen import FrozenDict, copied_mapping
from .claim_webhook import ClaimWebhook, claim_webhook_faults
from .feature_gates import (
    COMPUTE_DOMAIN_COMPONENT,
    changed_gates,
    gate_form_faults,
    gate_rule_faults,
    gates_text,
)
from .findings import Finding, raise_faults
from .kubernetes import gate_is_on
from .names import CLASS_RESOURCES_GATE, GPU_RESOURCE
from .typecheck import boolean, whole_number


@dataclass(frozen=True, slots=True, kw_only=True)
class NvidiaInstallation:
    """Options of NVIDIA's managers that a cluster has once.

    Args:
        compute_domain_gates: Gates of the driver's part for ComputeDomains, by name; each as the
            driver has it unless named.
        nodes_per_imex_domain: The most nodes of one NVLink partition that a ComputeDomain takes
            in; 18, those of a rack, unless named.
        extended_resource: Whether `nvidia.com/gpu` may be asked for on nodes with the DRA driver
            too, from Kubernetes 1.36 on; it may unless named.
        network_policies: Makes NetworkPolicies that let the driver's Pods reach the API server
            and each other, and nothing else; none unless named.
        claim_webhook: Runs the driver's webhook, which refuses claims that it could not read;
            none unless named.

    Raises:
        EksDevicesError: With every fault of the values.

    Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu
    """

    compute_domain_gates: Mapping[str, bool] = dataclasses.field(default_factory=FrozenDict)
    nodes_per_imex_domain: int | None = None
    extended_resource: bool = True
    network_policies: bool = False
    claim_webhook: ClaimWebhook | None = None

    def __post_init__(self) -> None:
        """Copy the mapping, and raise EksDevicesError with every fault."""
        object.__setattr__(self, "compute_domain_gates", copied_mapping(self.compute_domain_gates))
        raise_faults(_faults(self, "nvidia"))

    def mapped_resource(self, kubernetes_version: str) -> str | None:
        """The extended resource by which Pods may ask for GPUs of the DRA driver; None for none.

        Before Kubernetes 1.36 the API server drops the name from a DeviceClass.

        Source: https://github.com/kubernetes/enhancements/issues/5004
        """
        served = gate_is_on(CLASS_RESOURCES_GATE, kubernetes_version)
        return GPU_RESOURCE if served and self.extended_resource else None

    def compute_domain_settings(self) -> Iterator[tuple[str, str | int]]:
        """What the controller and the plugins of ComputeDomains are told beyond their defaults."""
        gates = changed_gates(self.compute_domain_gates)
        if gates:
            yield "feature-gates", gates_text(gates)
        if self.nodes_per_imex_domain is not None:
            yield "nodes-per-imex-domain", self.nodes_per_imex_domain

    def to_dict(self, *, kubernetes_version: str) -> dict[str, Any]:
        """The options as plain JSON values, and what they come to in a cluster of a minor."""
        certificate = self.claim_webhook and self.claim_webhook.certificate
        return {
            "compute_domain_gates": dict(self.compute_domain_gates),
            "nodes_per_imex_domain": self.nodes_per_imex_domain,
            "mapped_resource": self.mapped_resource(kubernetes_version),
            "network_policies": self.network_policies,
            "claim_webhook": certificate,
        }


def _webhook_faults(webhook: object, path: str) -> tuple[Finding, ...]:
    return () if webhook is None else tuple(claim_webhook_faults(webhook, path))


def _faults(nvidia: NvidiaInstallation, path: str) -> tuple[Finding, ...]:
    at, gates = f"{path}.compute_domain_gates", nvidia.compute_domain_gates
    form = list(gate_form_faults(gates, at, component=COMPUTE_DOMAIN_COMPONENT))
    return (
        *(form or gate_rule_faults(gates, at)),
        *whole_number(
            nvidia.nodes_per_imex_domain,
            f"{path}.nodes_per_imex_domain",
            lowest=1,
            highest=read_toml("limits.toml")["imex_domain"]["most"],
            optional=True,
        ),
        *boolean(nvidia.extended_resource, f"{path}.extended_resource"),
        *boolean(nvidia.network_policies, f"{path}.network_policies"),
        *_webhook_faults(nvidia.claim_webhook, f"{path}.claim_webhook"),
    )
