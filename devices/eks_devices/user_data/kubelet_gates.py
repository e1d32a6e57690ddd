"""Feature gates of the kubelet: their form, and which of them nobody may switch off."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .._data import read_toml
from .._nested import found
from ..findings import Finding, fault
from ..kubernetes import version_key
from ..syntax import well_formed
from ..typecheck import boolean, path_step, wrong_type

if TYPE_CHECKING:
    from ..spec import NodegroupSpec

GATES: Final = "featureGates"
_GATES_FLAG: Final = "--feature-gates"
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_GATES_PAGE: Final = (
    "https://kubernetes.io/docs/reference/command-line-tools-reference/feature-gates/"
)
# What Go reads as true in a flag, in lower case.
_TRUE: Final = ("1", "t", "true")


class _Gate(NamedTuple):
    """A gate that a user sets, where it stands below the kubelet, and as what it was written."""

    name: str
    on: object
    key: str
    got: object


class RefusedGate(NamedTuple):
    """A gate that a user sets and the kubelet or the group does not bear.

    `key` is where it stands below the kubelet, `config.featureGates.A` or `flags`; `plans` is
    what it may be.
    """

    key: str
    got: object
    plans: str
    row: Mapping[str, Any]


def gate_type_faults(gates: object, path: str) -> Iterator[Finding]:
    """Faults of what is no mapping of gates to true or false: the kubelet starts with nothing else.

    Source: https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/
    """
    if not isinstance(gates, Mapping):
        wanted = "a mapping of gates to True or False"
        yield wrong_type(path, gates, wanted, 'write {"MemoryQoS": True} for instance')
        return
    for name, on in gates.items():
        at = f"{path}.{path_step(name)}"
        yield from well_formed(
            name,
            at,
            lambda given: _NAME.fullmatch(given) is not None,
            code="MalformedName",
            message="no gate of Kubernetes has such a name, and a kubelet starts with none that it "
            "does not know",
            allowed="letters and digits, beginning with a letter",
            fix="write the name of one gate",
            source=_GATES_PAGE,
        )
        yield from boolean(on, at)


def kubelet_gate_faults(spec: NodegroupSpec, version: str, *, by_claims: bool) -> Iterator[Finding]:
    """The faults of gates of the option `kubelet` on a Kubernetes version.

    Args:
        spec: The group.
        version: The minor of its nodes, "1.35".
        by_claims: Whether devices of the group are handed out by claims.
    """
    for one in _refused(_of_config(spec.kubelet, GATES), version, by_claims=by_claims):
        path, allowed = f"{spec.path}.kubelet.{one.key}", f"{one.plans}, or other gates"
        yield refused(one.key, one.row, path, got=one.got, allowed=allowed)


def refused_gates(
    kubelet: Mapping[str, Any], version: str, *, by_claims: bool
) -> Iterator[RefusedGate]:
    """The gates of the part `kubelet` of a NodeConfig that a version or the group does not bear."""
    config, flags = kubelet.get("config") or {}, kubelet.get("flags") or ()
    given = [*_of_config(config, f"config.{GATES}"), *_of_flags(flags)]
    return _refused(given, version, by_claims=by_claims)


def flag_name(word: str) -> str:
    """The name of a flag as the kubelet reads it."""
    return f"--{word.lstrip('-').replace('_', '-')}"


def refused(name: str, row: Mapping[str, Any], path: str, *, got: object, allowed: str) -> Finding:
    """The fault of a field or flag of the kubelet that is not the user's to set."""
    return fault(
        "KubeletFlagOwned" if name.startswith("--") else "KubeletFieldOwned",
        path,
        f"{name} is not yours to set: {row['reason']}",
        got=got,
        allowed=allowed,
        fix=row["fix"],
        source=row["source"],
    )


def _of_config(config: Mapping[str, Any], key: str) -> Iterator[_Gate]:
    gates = found(config, (GATES,))
    for name, on in gates.items() if isinstance(gates, Mapping) else ():
        yield _Gate(name=name, on=on, key=f"{key}.{name}", got=on)


def _of_flags(flags: Sequence[str]) -> Iterator[_Gate]:
    # nodeadm writes all flags into one line, so a name and its value may be two texts.
    for before, word in pairwise(["", *" ".join(flags).split()]):
        flag, _, value = word.partition("=")
        gates = (
            value
            if flag_name(flag) == _GATES_FLAG
            else word
            if flag_name(before) == _GATES_FLAG
            else ""
        )
        for gate in filter(None, gates.split(",")):
            name, _, value = gate.partition("=")
            yield _Gate(name=name, on=value.lower() in _TRUE, key="flags", got=gate)


def _refused(given: Iterable[_Gate], version: str, *, by_claims: bool) -> Iterator[RefusedGate]:
    """Those of a user's gates of which something is known to be wrong."""
    facts = read_toml("kubernetes.toml")
    claims = read_toml("user_data.toml")["kubelet"]["claims_gate"]
    for name, on, key, got in given:
        locked = facts["locked_gates"].get(name)
        is_locked = locked and version_key(locked) <= version_key(version)
        if name == claims["name"] and by_claims and on is not True:
            yield RefusedGate(key, got, "true", claims)
        elif is_locked and on is not True:
            yield RefusedGate(key, got, "true", _row("gate_locked", name, version, locked))
        elif facts["gates"].get(name, {}).get(version) == "none":
            yield RefusedGate(key, got, "no such gate", _row("gate_unknown", name, version, ""))


def _row(id: str, name: str, version: str, locked: str) -> Mapping[str, Any]:  # noqa: A002
    row = read_toml("user_data.toml")["kubelet"][id]
    reason = row["reason"].format(name=name, version=version, since=locked)
    return {**row, "reason": reason}
