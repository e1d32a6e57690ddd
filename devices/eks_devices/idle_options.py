"""Options of an installation that nothing in a cluster reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from .findings import Finding, warning
from .installation_options import InstallationOptions
from .vocabulary import DeviceType, ManagerKey, Mechanism

_GPU_DRIVER: ManagerKey = (DeviceType.GPU, Mechanism.DRA)
_GPU_PLUGIN: ManagerKey = (DeviceType.GPU, Mechanism.DEVICE_PLUGIN)
_DOMAINS: ManagerKey = (DeviceType.COMPUTE_DOMAIN, Mechanism.DRA)
_NEURON_DRIVER: ManagerKey = (DeviceType.NEURON, Mechanism.DRA)
_EFA_DRIVER: ManagerKey = (DeviceType.EFA, Mechanism.DRA)
_NEURON_PLUGIN: ManagerKey = (DeviceType.NEURON, Mechanism.DEVICE_PLUGIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Option:
    """An option by its path, what it is for in words, and whose managers read it."""

    path: str
    what: str
    readers: tuple[ManagerKey, ...]


_OPTIONS = (
    _Option(path="nvidia.claim_webhook", what="GPUs by DRA", readers=(_GPU_DRIVER,)),
    _Option(path="nvidia.compute_domain_gates", what="ComputeDomains", readers=(_DOMAINS,)),
    _Option(path="nvidia.nodes_per_imex_domain", what="ComputeDomains", readers=(_DOMAINS,)),
    _Option(
        path="nvidia.network_policies",
        what="managers of NVIDIA's devices",
        readers=(_GPU_DRIVER, _DOMAINS, _GPU_PLUGIN),
    ),
    _Option(
        path="neuron.scheduler_extension",
        what="Neuron devices by device plugin",
        readers=(_NEURON_PLUGIN,),
    ),
    _Option(
        path="neuron.ultraserver_operator",
        what="Neuron devices by DRA",
        readers=(_NEURON_DRIVER,),
    ),
    _Option(path="efa.build", what="EFA devices by DRA", readers=(_EFA_DRIVER,)),
)


def idle_options(
    options: InstallationOptions, held: Collection[ManagerKey], refused: Collection[str]
) -> Iterator[Finding]:
    """The warnings of options that do nothing beside the managers that there are.

    Args:
        options: The options of an installation.
        held: The managers that it holds.
        refused: Paths of options that these contradict, which have faults.
    """
    defaults = InstallationOptions()
    for one in _OPTIONS:
        is_read = any(manager in held for manager in one.readers) or one.path in refused
        if not is_read and options.value(one.path) != defaults.value(one.path):
            maker, _, _ = one.path.partition(".")
            yield warning(
                f"{maker.title()}OptionWithoutEffect",
                one.path,
                f"the installation of the cluster has no {one.what}, so this does nothing",
                fix="leave it out, or name in keep what groups of other apps need",
            )
