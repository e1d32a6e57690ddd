"""Whether any driver publishes the attribute that the devices of a claim are to share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from .._data import read_toml
from ..findings import Finding, meant, warning
from .asked import Asked

Row: TypeAlias = dict[str, Any]


def attribute_findings(asked: Asked, manifest: dict[str, Any]) -> Iterator[Finding]:
    """The warning of a match by an attribute that not all devices of the claim can have.

    Domains of drivers that are not known here are left alone.

    Args:
        asked: A claim without faults.
        manifest: Its manifest, which has no constraint where there is nothing to match.
    """
    rows = _rows_of(asked)
    for attribute in matched_attributes(manifest):
        lacking = [row for row in rows if attribute not in row["names"]]
        if lacking and _domain(attribute) in _known_domains():
            yield _not_published(asked, attribute, lacking[0], rows)


def matched_attributes(manifest: dict[str, Any]) -> list[str]:
    """The attributes that a claim, or a template, matches in its manifest."""
    spec = manifest["spec"]
    constraints = spec.get("spec", spec)["devices"].get("constraints", ())
    return [one["matchAttribute"] for one in constraints]


def _not_published(asked: Asked, attribute: str, lacking: Row, rows: list[Row]) -> Finding:
    kind = next(one.kind.value for one in asked.requests if one.kind in lacking["kinds"])
    shared = [name for name in rows[0]["names"] if all(name in row["names"] for row in rows)]
    near = meant(attribute, shared)
    return warning(
        "AttributeNotPublished",
        f"{asked.path}.match",
        f"no driver is known to publish {attribute} for devices of the kind {kind}, and a device "
        "without the attribute matches none, so the claim would stay pending",
        fix=near or "leave the match out, or match an attribute that all these devices have",
        source=lacking["source"],
    )


def _rows_of(asked: Asked) -> list[Row]:
    """The drivers that the devices of a claim are of."""
    kinds = {one.kind.value for one in asked.requests}
    return [row for row in _rows() if not kinds.isdisjoint(row["kinds"])]


def _rows() -> list[Row]:
    return list(read_toml("published_attributes.toml").values())


def _known_domains() -> set[str]:
    """The domains of the drivers that are known here."""
    return {_domain(name) for row in _rows() for name in row["names"]}


def _domain(attribute: str) -> str:
    return attribute.partition("/")[0]
