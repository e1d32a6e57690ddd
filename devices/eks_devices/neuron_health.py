"""How the health of Neuron devices is watched in a cluster, as a value."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from .findings import Finding, fault, raise_faults
from .typecheck import boolean, member, members, wrong_type

_PATH: Final = "neuron.health"
_SOURCE: Final = (
    "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/tutorials/"
    "k8s-neuron-problem-detector-and-recovery.html"
)


class NeuronError(StrEnum):
    """An error that a Neuron device does not recover from; values are those of the kernel log.

    Source: https://github.com/aws-neuron/neuron-helm-charts
    """

    SRAM_UNCORRECTABLE = "SRAM_UNCORRECTABLE_ERROR"
    NC_UNCORRECTABLE = "NC_UNCORRECTABLE_ERROR"
    HBM_UNCORRECTABLE = "HBM_UNCORRECTABLE_ERROR"
    DMA = "DMA_ERROR"

    @property
    def condition_reason(self) -> str:
        """The reason of the Node condition `NeuronHealth`, and the name of the error's counter."""
        return f"NeuronHasError_{self}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NeuronHealth:
    """Watches the Neuron devices of a cluster, whichever mechanism hands them out.

    A node problem detector on each node with Neuron devices reads the kernel log and sets the Node
    condition `NeuronHealth`: `False` while no error was logged since the node booted, else `True`.
    EKS's node monitoring agent reads the same errors, sets `AcceleratedHardwareReady`, and node
    repair heeds that; this is for clusters without the agent, for groups without node repair, and
    for metrics. It needs the Neuron driver 2.15 or later, which EKS's AMIs have.

    Args:
        recovery: Has the instance of a node with an error ended and replaced, by way of its Auto
            Scaling group, without node repair's limits on how many at once; errors from before
            it was turned on count. It needs EKS Pod Identity; nothing is replaced unless named.
        recovers_from: The errors that recovery replaces an instance for; every one unless named.
        cloudwatch_metrics: Counts errors in CloudWatch, in the namespace `NeuronHealthCheck`,
            without recovery too; recovery always does, and nothing does unless named.

    Raises:
        EksDevicesError: Every fault of the values: `WrongType`, `RecoversFromNothing`, and
            `NoRecovery` for `recovers_from` without `recovery`.

    Source: https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/tutorials/k8s-neuron-problem-detector-and-recovery.html
    """

    recovery: bool = False
    recovers_from: Collection[NeuronError] | None = None
    cloudwatch_metrics: bool = False

    def __post_init__(self) -> None:
        """Put the errors in order, and raise EksDevicesError with every fault."""
        raise_faults(_faults(self))
        if self.recovers_from is not None:
            named = set(self.recovers_from)
            ordered = tuple(one for one in NeuronError if one in named)
            object.__setattr__(self, "recovers_from", ordered)

    @property
    def calls_aws(self) -> bool:
        """Whether Pods on the nodes call AWS APIs, and so need a role."""
        return self.recovery or self.cloudwatch_metrics

    @property
    def counted(self) -> tuple[NeuronError, ...]:
        """The errors that recovery and metrics heed."""
        return tuple(self.recovers_from or NeuronError)

    def to_dict(self) -> dict[str, Any]:
        """The options as plain JSON values."""
        return {
            "recovery": self.recovery,
            "recovers_from": [str(one) for one in self.counted] if self.recovery else [],
            "cloudwatch_metrics": self.calls_aws,
        }


def health_type_faults(health: object, path: str = _PATH) -> Iterator[Finding]:
    """The fault of what is neither None nor a NeuronHealth; one judged itself."""
    if health is not None and not isinstance(health, NeuronHealth):
        yield wrong_type(path, health, "a NeuronHealth, or None", "use NeuronHealth(...)")


def _faults(health: NeuronHealth) -> Iterator[Finding]:
    yield from boolean(health.recovery, f"{_PATH}.recovery")
    yield from boolean(health.cloudwatch_metrics, f"{_PATH}.cloudwatch_metrics")
    if health.recovers_from is not None:
        yield from _error_faults(health, f"{_PATH}.recovers_from")


def _error_faults(health: NeuronHealth, path: str) -> Iterator[Finding]:
    errors = members(health.recovers_from)
    if errors is None:
        wanted, fix = "a list of NeuronError, or None", "write [NeuronError.DMA] for instance"
        yield wrong_type(path, health.recovers_from, wanted, fix)
        return
    for index, one in enumerate(errors):
        yield from member(one, NeuronError, f"{path}[{index}]")
    if not errors:
        yield fault(
            "RecoversFromNothing",
            path,
            "no error is named, so recovery would never replace anything",
            got=health.recovers_from,
            allowed="at least one NeuronError, or None for every one",
            fix="leave recovery and recovers_from out",
            source=_SOURCE,
        )
    if health.recovery is False:
        yield fault(
            "NoRecovery",
            path,
            "these errors are for recovery, which is off",
            got=health.recovers_from,
            allowed="errors beside recovery=True",
            fix="pass recovery=True, or leave recovers_from out",
            source=_SOURCE,
        )
