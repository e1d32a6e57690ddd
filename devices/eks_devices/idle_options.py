"""Options of an installation that nothing in a cluster reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from .findings import Finding, fault, warning
from .installation_options import InstallationOptions
from .neuron_scheduler_findings import SCHEDULER_PAGE
from .vocabulary import DeviceType, ManagerKey, Mechanism

_GPU_DRIVER: ManagerKey = (DeviceType.GPU, Mechanism.DRA)
_GPU_PLUGIN: ManagerKey = (DeviceType.GPU, Mechanism.DEVICE_PLUGIN)
_DOMAINS: ManagerKey = (DeviceType.COMPUTE_DOMAIN, Mechanism.DRA)
_NEURON_DRIVER: ManagerKey = (DeviceType.NEURON, Mechanism.DRA)
_EFA_DRIVER: ManagerKey = (DeviceType.EFA, Mechanism.DRA)
_NEURON_PLUGIN: ManagerKey = (DeviceType.NEURON, Mechanism.DEVICE_PLUGIN)
_OPERATOR = (
    "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/deploy/eks/ultraserver-operator.html"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Option:
    """An option, what it is for in words, and whose managers read it."""

    maker: str
    name: str
    what: str
    readers: tuple[ManagerKey, ...]


_OPTIONS = (
    _Option(maker="nvidia", name="claim_webhook", what="GPUs by DRA", readers=(_GPU_DRIVER,)),
    _Option(
        maker="nvidia", name="compute_domain_gates", what="ComputeDomains", readers=(_DOMAINS,)
    ),
    _Option(
        maker="nvidia", name="nodes_per_imex_domain", what="ComputeDomains", readers=(_DOMAINS,)
    ),
    _Option(
        maker="nvidia",
        name="network_policies",
        what="managers of NVIDIA's devices",
        readers=(_GPU_DRIVER, _DOMAINS, _GPU_PLUGIN),
    ),
    _Option(
        maker="neuron",
        name="scheduler_extension",
        what="Neuron devices by device plugin",
        readers=(_NEURON_PLUGIN,),
    ),
    _Option(
        maker="neuron",
        name="ultraserver_operator",
        what="Neuron devices by DRA",
        readers=(_NEURON_DRIVER,),
    ),
    _Option(maker="efa", name="build", what="EFA devices by DRA", readers=(_EFA_DRIVER,)),
)


def idle_options(options: InstallationOptions, held: Collection[ManagerKey]) -> Iterator[Finding]:
    """The warnings of options that do nothing beside the managers that there are.

    Args:
        options: The options of an installation.
        held: The managers that it holds.
    """
    both = (options, InstallationOptions())
    for one in _OPTIONS:
        is_read = any(manager in held for manager in one.readers)
        given, default = (getattr(getattr(each, one.maker), one.name) for each in both)
        if given != default and not is_read:
            yield warning(
                f"{one.maker.title()}OptionWithoutEffect",
                f"{one.maker}.{one.name}",
                f"the installation of the cluster has no {one.what}, so this does nothing",
                fix="leave it out, or name in keep what groups of other apps need",
            )


def contradicted_options(
    options: InstallationOptions, held: Collection[ManagerKey]
) -> Iterator[Finding]:
    """The faults of options that the managers of a whole cluster contradict.

    Args:
        options: The options of an installation.
        held: The managers that it holds once every group is known.
    """
    has_driver, has_plugin = _NEURON_DRIVER in held, _NEURON_PLUGIN in held
    if options.neuron.scheduler_extension and has_driver and not has_plugin:
        yield _needs_plugin()
    if options.neuron.ultraserver_operator and has_plugin and not has_driver:
        yield _needs_driver()


def _needs_plugin() -> Finding:
    return fault(
        "SchedulerExtensionNeedsPlugin",
        "neuron.scheduler_extension",
        "the installation of the cluster has Neuron devices by DRA alone, whose claims take "
        "connected devices by themselves; the extension is for the device plugin",
        got=True,
        allowed="False, or clusters with Neuron devices by device plugin",
        fix="leave it out, or use mechanism=Mechanism.DEVICE_PLUGIN for a group, or name "
        "DeviceType.NEURON: (Mechanism.DEVICE_PLUGIN,) in keep",
        source=SCHEDULER_PAGE,
    )


def _needs_driver() -> Finding:
    return fault(
        "UltraServerOperatorNeedsDra",
        "neuron.ultraserver_operator",
        "the installation of the cluster has Neuron devices by device plugin alone, and the "
        "operator reads what the DRA driver publishes",
        got=True,
        allowed="False, or clusters with Neuron devices by DRA",
        fix="leave it out, or use mechanism=Mechanism.DRA for a group, or name "
        "DeviceType.NEURON: (Mechanism.DRA,) in keep",
        source=_OPERATOR,
    )
