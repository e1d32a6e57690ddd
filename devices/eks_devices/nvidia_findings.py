"""Options of NVIDIA's installation that nothing in a cluster reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from .findings import Finding, warning
from .nvidia_installation import NvidiaInstallation
from .vocabulary import DeviceType, Mechanism

Manager = tuple[DeviceType, Mechanism]

_DRIVER: Manager = (DeviceType.GPU, Mechanism.DRA)
_DOMAINS: Manager = (DeviceType.COMPUTE_DOMAIN, Mechanism.DRA)
_PLUGIN: Manager = (DeviceType.GPU, Mechanism.DEVICE_PLUGIN)
# What each option is for, in words, and whose managers read it.
_READ_BY: tuple[tuple[str, str, tuple[Manager, ...]], ...] = (
    ("claim_webhook", "GPUs by DRA", (_DRIVER,)),
    ("compute_domain_gates", "ComputeDomains", (_DOMAINS,)),
    ("nodes_per_imex_domain", "ComputeDomains", (_DOMAINS,)),
    ("network_policies", "managers of NVIDIA's devices", (_DRIVER, _DOMAINS, _PLUGIN)),
)


def nvidia_findings(nvidia: NvidiaInstallation, held: Collection[Manager]) -> Iterator[Finding]:
    """The warnings of options that do nothing beside the managers that there are.

    Args:
        nvidia: The options of an installation.
        held: The managers that it holds.
    """
    for name, what, readers in _READ_BY:
        if getattr(nvidia, name) and not any(one in held for one in readers):
            yield warning(
                "NvidiaOptionWithoutEffect",
                f"nvidia.{name}",
                f"the installation of the cluster has no {what}, so this does nothing",
                fix="leave it out, or name in keep what groups of other apps need",
            )
