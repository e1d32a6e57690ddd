"""Options of NVIDIA's installation that nothing in a cluster reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .findings import Finding, warning
from .nvidia_installation import NvidiaInstallation
from .plans import NodegroupPlan
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


def nvidia_findings(
    plans: Sequence[NodegroupPlan],
    keep: Mapping[DeviceType, Sequence[Mechanism]],
    nvidia: NvidiaInstallation,
    *,
    installed: frozenset[Manager],
) -> Iterator[Finding]:
    """The warnings of options that do nothing beside the groups that there are.

    Args:
        plans: The groups; while there is none, nothing is known.
        keep: What the installation holds without a group.
        nvidia: Its options.
        installed: The managers that it holds for groups.
    """
    held = installed | {(device, one) for device, several in keep.items() for one in several}
    for name, what, readers in _READ_BY if plans else ():
        if getattr(nvidia, name) and held.isdisjoint(readers):
            yield warning(
                "NvidiaOptionWithoutEffect",
                f"nvidia.{name}",
                f"the installation of the cluster has no {what}, so this does nothing",
                fix="leave it out, or name in keep what groups of other apps need",
            )
