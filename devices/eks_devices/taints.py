"""Taints as values, in the spelling of kubectl."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class TaintEffect(StrEnum):
    """What a taint does to Pods without a toleration, in the spelling of Kubernetes."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


@dataclass(frozen=True, slots=True, kw_only=True)
class Taint:
    """A taint of every node of a group; `str()` is kubectl's `key=value:Effect`."""

    key: str
    value: str = ""
    effect: TaintEffect = TaintEffect.NO_SCHEDULE

    @property
    def eks_effect(self) -> str:
        """The effect in the spelling of the EKS API."""
        return self.effect.name

    def __str__(self) -> str:
        return (
            f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"
        )

    def to_dict(self) -> dict[str, str]:
        """The taint as it stands in a Node."""
        return {"key": self.key, "value": self.value, "effect": str(self.effect)}


def parse_taint(text: str) -> Taint | None:
    """The taint that a text in kubectl's form names, None when it has another form."""
    head, colon, effect = text.rpartition(":")
    if not colon or effect not in list(TaintEffect):
        return None
    key, _, value = head.partition("=")
    return Taint(key=key, value=value, effect=TaintEffect(effect))
