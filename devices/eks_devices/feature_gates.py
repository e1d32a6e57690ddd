"""Feature gates of the NVIDIA DRA driver: what there are, and which values go together."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ._data import read_toml
from ._frozen import FrozenDict
from .findings import Finding, fault, meant
from .typecheck import boolean, path_step, wrong_type

GPU_COMPONENT = "gpu"
COMPUTE_DOMAIN_COMPONENT = "compute-domain"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureGate:
    """One gate, as nvidia_gates.toml describes it; what a gate does not have is empty."""

    name: str
    component: str
    stage: str
    default: bool
    since: str
    needs: tuple[str, ...] = ()
    kubernetes_gate: str = ""
    feature: str = ""
    option: str = ""
    trap: str = ""
    refused: str = ""
    bare_metal: bool = False


def gates_source() -> str:
    """Where the driver's gates are from."""
    return str(read_toml("nvidia_gates.toml")["source"])


@functools.cache
def feature_gates() -> Mapping[str, FeatureGate]:
    """Every gate by its name."""
    rows = read_toml("nvidia_gates.toml")["gates"]
    return {name: _gate(name, row) for name, row in rows.items()}


def _gate(name: str, row: Mapping[str, Any]) -> FeatureGate:
    values: dict[str, Any] = {**row, "needs": tuple(row.get("needs", ()))}
    return FeatureGate(name=name, **values)


def changed_gates(given: Mapping[str, bool]) -> FrozenDict[str, bool]:
    """The gates that are not as the driver has them by itself, by name."""
    known = feature_gates()
    return FrozenDict(sorted((name, on) for name, on in given.items() if known[name].default != on))


def gates_text(gates: Mapping[str, bool]) -> str:
    """Gates as the driver reads them: `A=true,B=false`."""
    return ",".join(f"{name}={str(on).lower()}" for name, on in sorted(gates.items()))


def gates_of(text: str) -> dict[str, bool]:
    """The gates of a text that `gates_text` made."""
    pairs = (one.partition("=") for one in text.split(",") if one)
    return {name: value == "true" for name, _, value in pairs}


def told_gates(settings: Mapping[str, object]) -> dict[str, bool]:
    """The gates that the settings of a manager hold; the others are as the driver has them."""
    return gates_of(str(settings.get("feature-gates", "")))


def excluding_gate(name: str, gates: Mapping[str, bool]) -> str:
    """The gate that is on and does not work together with another; empty where none does."""
    rows = [row["gates"] for row in read_toml("nvidia_gates.toml")["excludes"]]
    others = (one for pair in rows if name in pair for one in pair if one != name)
    return next((one for one in others if gates.get(one, False)), "")


def gate_form_faults(gates: object, path: str, *, component: str) -> Iterator[Finding]:
    """Faults of what is no mapping of gates of a component to True or False."""
    wanted = "a mapping of gates to True or False"
    if not isinstance(gates, FrozenDict):
        yield wrong_type(path, gates, wanted, f'write {{"{_example(component)}": True}}')
        return
    for name, on in gates.items():
        at = f"{path}[{path_step(name)}]"
        gate = feature_gates().get(name) if isinstance(name, str) else None
        if gate is None:
            yield _unknown(name, at, component)
        elif gate.component != component:
            yield _of_other_component(gate, at, component)
        else:
            yield from boolean(on, at)


def gate_rule_faults(
    gates: Mapping[str, bool], path: str, *, named: Mapping[str, bool] | None = None
) -> Iterator[Finding]:
    """Faults of gates whose form is right: what is refused, lacks another, or excludes one.

    Args:
        gates: The gates that are not left to the driver.
        path: How faults name them.
        named: Those that the user names, where others follow from options.
    """
    given = gates if named is None else named
    known = feature_gates()
    effective = {name: gate.default for name, gate in known.items()} | dict(gates)
    on = [name for name, value in effective.items() if value]
    for name in on:
        if name in gates and known[name].refused:
            yield _refused(known[name], f"{path}[{name}]")
        for needed in known[name].needs:
            if not effective[needed]:
                yield _lacking(name, needed, f"{path}[{name if name in gates else needed}]")
    for row in read_toml("nvidia_gates.toml")["excludes"]:
        first, second = row["gates"]
        if effective[first] and effective[second]:
            yield _excluded(row, path, first if first in given else second)


def _names(component: str) -> list[str]:
    """The gates that a user may set for a component."""
    gates = feature_gates().values()
    return [one.name for one in gates if one.component == component and not one.refused]


def _example(component: str) -> str:
    return _names(component)[0]


def _unknown(name: object, path: str, component: str) -> Finding:
    return fault(
        "UnknownFeatureGate",
        path,
        "the NVIDIA DRA driver has no such feature gate, and would not start",
        got=name,
        allowed=", ".join(_names(component)),
        fix=meant(name, feature_gates()) or "leave it out",
        source=gates_source(),
    )


def _of_other_component(gate: FeatureGate, path: str, component: str) -> Finding:
    ours = component == GPU_COMPONENT
    return fault(
        "FeatureGateOfOtherComponent",
        path,
        "the controller of ComputeDomains shares this gate with every node, so it has one value "
        "in a cluster"
        if ours
        else "this gate is read by the plugin for GPUs of each node group",
        got=gate.name,
        allowed=", ".join(_names(component)),
        fix="set it for the cluster: nvidia=NvidiaInstallation(compute_domain_gates={...})"
        if ours
        else "set it for node groups: gpu_driver=GpuDriver(feature_gates={...})",
        source=gates_source(),
    )


def _refused(gate: FeatureGate, path: str) -> Finding:
    return fault(
        "FeatureGateNotServed",
        path,
        gate.refused,
        got=gate.name,
        allowed="False",
        fix="leave it out",
        source=gates_source(),
    )


def _lacking(name: str, needed: str, path: str) -> Finding:
    return fault(
        "FeatureGateNeedsAnother",
        path,
        f"the driver exits when {name} is on and {needed} is off",
        got=f"{name} without {needed}",
        allowed=f"{name} with {needed}",
        fix=f"switch {needed} on, or {name} off",
        source=gates_source(),
    )


def _excluded(row: Mapping[str, Any], path: str, given: str) -> Finding:
    first, second = row["gates"]
    return fault(
        "FeatureGatesExclude",
        f"{path}[{given}]",
        f"{first} and {second} exclude each other: {row['why']}",
        got=f"{first} and {second}",
        allowed="one of the two",
        fix="switch one off, or give each a node group of its own",
        source=gates_source(),
    )
