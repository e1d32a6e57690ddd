"""What the API server of each Kubernetes minor makes of the parts of claims."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Final

from ..._data import read_toml
from ...kubernetes import newest_minor
from ...names import CLASS_RESOURCES_GATE

# Parts of claims and classes, each with the gate that it hangs on.
GATES: Final = {
    "capacity": "DRAConsumableCapacity",
    "tolerations": "DRADeviceTaints",
    "derivedAttributes": "DRADerivedAttributes",
    "extendedResourceName": CLASS_RESOURCES_GATE,
}
_ON: Final = ("beta", "ga")


@dataclass(frozen=True, slots=True)
class Api:
    """The API server of a minor, with the gates as EKS has them.

    `absent` are fields that it does not know, `dropped` those that it drops whatever they hold,
    `idle` those that it keeps and nobody reads. `effects` are those that tolerations of device
    taints may name. `takes_capitals` says that the domain of a constraint's attribute may have
    some; `judges_idle` and `drops_distinct` are about distinctAttribute: whether it is looked at
    beside a matchAttribute, and whether it is dropped.
    """

    version: str
    absent: frozenset[str]
    dropped: frozenset[str]
    idle: frozenset[str]
    effects: tuple[str, ...]
    takes_capitals: bool
    judges_idle: bool
    drops_distinct: bool

    def fields(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Those of some fields that a claim may have here with an effect."""
        lost = self.absent | self.dropped | self.idle
        return tuple(one for one in names if one not in lost)


@functools.cache
def api_of(version: str) -> Api:
    """The API server of a minor that this library knows."""
    facts: dict[str, Any] = read_toml("kubernetes.toml")
    rows, gates = facts["api_server"], facts["gates"]
    stages = {field: gates[gate][version] for field, gate in GATES.items()}
    off = frozenset(field for field, stage in stages.items() if stage not in _ON)
    absent = frozenset(field for field, stage in stages.items() if stage == "none")
    kept = rows["kept_though_off"]
    idle = frozenset(one for one in off - absent if version in kept.get(one, ()))
    return Api(
        version=version,
        absent=absent,
        dropped=off - absent - idle,
        idle=idle,
        effects=tuple(rows["device_taint_effects"][version]),
        takes_capitals=rows["upper_case_domains"][version] == "taken",
        judges_idle=rows["idle_distinct"][version] == "judged",
        drops_distinct=rows["idle_distinct"][version] == "dropped",
    )


def newest_api() -> Api:
    """The API server of the newest minor."""
    return api_of(newest_minor())
