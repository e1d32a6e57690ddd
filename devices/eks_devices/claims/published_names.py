"""Which attributes the drivers give to devices, by the kind of request that takes the device."""

from __future__ import annotations

from typing import Any, TypeAlias

from .._data import read_toml

Row: TypeAlias = dict[str, Any]


def rows() -> list[Row]:
    """What is known of each driver."""
    return list(read_toml("published_attributes.toml").values())


def published_attributes(kind: str) -> list[str]:
    """The attributes that a driver may give to devices of a kind, qualified."""
    return [name for row in rows() if kind in row["kinds"] for name in row["names"]]


def published_amounts(kind: str) -> list[str]:
    """The capacities that a driver may give to devices of a kind, qualified."""
    return [name for row in rows() for name in row["capacities"].get(kind, ())]


def always_published(kind: str) -> list[str]:
    """The attributes and capacities that every device of a kind has, qualified."""
    return [name for row in rows() for name in row["always"].get(kind, ())]


def versions() -> list[str]:
    """The attributes that are semantic versions, qualified."""
    return [name for row in rows() for name in row["versions"]]


def source_of(kind: str) -> str:
    """Where it is known from what devices of a kind have."""
    return next((str(row["source"]) for row in rows() if kind in row["kinds"]), "")


def known_domains() -> set[str]:
    """The domains of the drivers that are known here."""
    return {domain_of(name) for row in rows() for name in row["names"]}


def domain_of(attribute: str) -> str:
    """The domain of a qualified name."""
    return attribute.partition("/")[0]
