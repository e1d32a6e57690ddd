"""What a cluster's installation of Neuron's managers has once, whatever its node groups are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .findings import raise_faults
from .neuron_health import NeuronHealth, health_type_faults
from .typecheck import boolean


@dataclass(frozen=True, slots=True, kw_only=True)
class NeuronInstallation:
    """Options of Neuron's managers that a cluster has once.

    Args:
        scheduler_extension: Runs Neuron's scheduler extension and a second scheduler that asks
            it. Pods that take more than one but not all of a node's devices or cores by the
            device plugin need it, and name the scheduler `neuron-scheduler`; none unless named.
        health: Runs a node problem detector on every node with Neuron devices, under either
            mechanism; none unless named, as EKS's node monitoring agent reads the same errors.
        ultraserver_operator: Runs Neuron's UltraServer operator, a beta for UltraServers of
            Trn3pds types by DRA, which gives whole UltraServers to `ultraserver_workload`s; none
            unless named.

    Raises:
        EksDevicesError: With every fault of the values.

    Source: https://github.com/aws-neuron/neuron-helm-charts
    """

    scheduler_extension: bool = False
    health: NeuronHealth | None = None
    ultraserver_operator: bool = False

    def __post_init__(self) -> None:
        """Raise EksDevicesError with every fault."""
        switches = ("scheduler_extension", "ultraserver_operator")
        wrong = [one for name in switches for one in boolean(getattr(self, name), f"neuron.{name}")]
        raise_faults([*wrong, *health_type_faults(self.health)])

    def to_dict(self) -> dict[str, Any]:
        """The options as plain JSON values."""
        return {
            "scheduler_extension": self.scheduler_extension,
            "health": self.health and self.health.to_dict(),
            "ultraserver_operator": self.ultraserver_operator,
        }
