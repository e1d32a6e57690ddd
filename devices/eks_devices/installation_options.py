"""The options that a cluster's installation has once, those of each maker's managers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypedDict, Unpack

from .efa_installation import EfaInstallation
from .findings import Finding
from .neuron_installation import NeuronInstallation
from .nvidia_installation import NvidiaInstallation
from .typecheck import wrong_type

# By the name of the argument that takes them everywhere.
OPTION_TYPES: Mapping[str, type] = {
    "nvidia": NvidiaInstallation,
    "neuron": NeuronInstallation,
    "efa": EfaInstallation,
}


class NamedOptions(TypedDict):
    """The arguments that take these options; None for the defaults, or those of the cluster."""

    nvidia: NvidiaInstallation | None
    neuron: NeuronInstallation | None
    efa: EfaInstallation | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallationOptions:
    """What managers have once in a cluster; their defaults unless named."""

    nvidia: NvidiaInstallation = field(default_factory=NvidiaInstallation)
    neuron: NeuronInstallation = field(default_factory=NeuronInstallation)
    efa: EfaInstallation = field(default_factory=EfaInstallation)

    def value(self, path: str) -> object:
        """The value of one option, "efa.build"."""
        name, _, option = path.partition(".")
        return getattr(getattr(self, name), option)

    def with_named(self, **named: Unpack[NamedOptions]) -> InstallationOptions:
        """These options, but for those that are named."""
        return InstallationOptions(
            nvidia=named["nvidia"] or self.nvidia,
            neuron=named["neuron"] or self.neuron,
            efa=named["efa"] or self.efa,
        )


def option_type_faults(**given: object) -> Iterator[Finding]:
    """The faults of arguments that are neither None nor of their type; a value judged itself."""
    for name, value in given.items():
        wanted = OPTION_TYPES[name]
        if value is not None and not isinstance(value, wanted):
            fix = f"use {wanted.__name__}(...)"
            yield wrong_type(name, value, f"a {wanted.__name__}, or None", fix)
