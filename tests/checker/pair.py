"""A node group as CloudFormation gets it, and the registry of the rules that judge it."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.checker.catalogue import InstanceType, instance_type

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Violation:
    """Something that EC2 or EKS refuses, or that the hardware cannot do."""

    rule: str
    text: str
    source: str


@dataclass(frozen=True)
class Pair:
    """The LaunchTemplateData and the Nodegroup properties of one node group.

    `resources` are those of the template, empty when only the pair is known. Intrinsics,
    {"Ref": ...}, stay as they are.
    """

    data: Values
    group: Values
    resources: Values = field(default_factory=dict)

    @functools.cached_property
    def type_names(self) -> list[str]:
        """The literal instance types, of the template and of the group."""
        named = [self.data.get("InstanceType"), *listed(self.group.get("InstanceTypes"))]
        return [one for one in named if isinstance(one, str)]

    @functools.cached_property
    def types(self) -> list[InstanceType]:
        """The instance types that are known."""
        found = [instance_type(name) for name in self.type_names]
        return [one for one in found if one is not None]

    @property
    def interfaces(self) -> list[Values]:
        return listed(self.data.get("NetworkInterfaces"))

    @property
    def efa(self) -> list[Values]:
        return [one for one in self.interfaces if is_efa(one)]

    @property
    def capacity_type(self) -> str:
        return str(self.group.get("CapacityType", "ON_DEMAND"))

    @property
    def reservation(self) -> Values:
        return as_values(self.data.get("CapacityReservationSpecification"))

    @property
    def target(self) -> Values:
        return as_values(self.reservation.get("CapacityReservationTarget"))

    @property
    def placement(self) -> Values:
        return as_values(self.data.get("Placement"))

    @property
    def in_placement_group(self) -> bool:
        return any(name in self.placement for name in ("GroupName", "GroupId"))

    @property
    def ami_type(self) -> str:
        """The AMI type; empty for an image of one's own."""
        return "" if "ImageId" in self.data else str(self.group.get("AmiType", ""))

    def resource(self, reference: object) -> Values | None:
        """The resource that a Ref or GetAtt is about, None when it is in no known template."""
        return self.resources.get(target_id(reference) or "")


def listed(value: object) -> list[Any]:
    return list(value) if isinstance(value, list) else []


def as_values(value: object) -> Values:
    return value if isinstance(value, Mapping) else {}


def is_efa(interface: Values) -> bool:
    return interface.get("InterfaceType") in ("efa", "efa-only")


def is_opaque(value: object) -> bool:
    """Whether CloudFormation computes the value, so that a template does not show it."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    (name,) = value
    return name == "Ref" or str(name).startswith("Fn::")


def target_id(reference: object) -> str | None:
    """The logical id of a Ref or GetAtt."""
    if not is_opaque(reference):
        return None
    ((name, value),) = as_values(reference).items()
    if name == "Fn::GetAtt":
        return value[0] if isinstance(value, list) else str(value).partition(".")[0]
    return value if name == "Ref" else None


def shown(value: object) -> str:
    """A value as text; equal intrinsics give equal texts."""
    return json.dumps(value, sort_keys=True)


Rule = Callable[[Pair], Iterator[str]]
RULES: dict[str, tuple[Rule, str]] = {}


def rule(name: str, source: str) -> Callable[[Rule], Rule]:
    """Registers a rule: a generator of texts, each a violation."""

    def register(function: Rule) -> Rule:
        assert name not in RULES, name
        RULES[name] = (function, source)
        return function

    return register


def violations(pair: Pair) -> list[Violation]:
    """Everything that the registered rules find, in their order."""
    return [
        Violation(name, text, source)
        for name, (judge, source) in RULES.items()
        for text in judge(pair)
    ]
