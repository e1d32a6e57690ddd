"""Whether any driver publishes the attribute that the devices of a claim are to share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..findings import Finding, meant, warning
from .asked import Asked
from .published_names import Row, domain_of, known_domains
from .published_names import rows as known_rows


def attribute_findings(asked: Asked, manifest: dict[str, Any]) -> Iterator[Finding]:
    """The warning of a constraint by an attribute that not all its devices can have.

    Domains of drivers that are not known here are left alone.

    Args:
        asked: A claim of plain requests, without faults.
        manifest: Its manifest, which has no match where there is nothing to match.
    """
    made = _constraints(manifest)
    places = [f"constraints[{index}]" for index, _ in enumerate(asked.constraints)]
    places = ["match", *places] if len(made) > len(places) else places
    for place, constraint in zip(places, made, strict=True):
        names = constraint.get("requests") or [one.name for one in asked.requests]
        kinds = [one.kind.value for one in asked.requests if one.name in names]
        rows = [row for row in known_rows() if not row_is_strange(row, kinds)]
        attribute = constraint.get("matchAttribute") or constraint["distinctAttribute"]
        lacking = [row for row in rows if attribute not in row["names"]]
        if lacking and domain_of(attribute) in known_domains():
            kind = next(one for one in kinds if one in lacking[0]["kinds"])
            yield _not_published(f"{asked.path}.{place}", attribute, kind, lacking[0], rows)


def matched_attributes(manifest: dict[str, Any]) -> list[str]:
    """The attributes that a claim, or a template, matches in its manifest."""
    given = (one.get("matchAttribute") for one in _constraints(manifest))
    return [*dict.fromkeys(one for one in given if one)]


def distinct_attributes(manifest: dict[str, Any]) -> list[str]:
    """The attributes in which the devices of a claim, or a template, differ."""
    given = (one.get("distinctAttribute") for one in _constraints(manifest))
    return [*dict.fromkeys(one for one in given if one)]


def row_is_strange(row: Row, kinds: list[str]) -> bool:
    """Whether no request of some kinds is for the devices of a driver."""
    return set(kinds).isdisjoint(row["kinds"])


def _constraints(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    spec = manifest["spec"]
    found: list[dict[str, Any]] = spec.get("spec", spec)["devices"].get("constraints", [])
    return found


def _not_published(path: str, attribute: str, kind: str, lacking: Row, rows: list[Row]) -> Finding:
    shared = [name for name in rows[0]["names"] if all(name in row["names"] for row in rows)]
    near = meant(attribute, shared)
    leave = "match" if path.endswith(".match") else "constraint"
    return warning(
        "AttributeNotPublished",
        path,
        f"no driver is known to publish {attribute} for devices of the kind {kind}, and a device "
        "without the attribute matches none, so the claim would stay pending",
        fix=near or f"leave the {leave} out, or match an attribute that all these devices have",
        source=lacking["source"],
    )
