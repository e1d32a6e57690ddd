"""Values of claims that API servers refuse, and fields that they do not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from ...findings import meant
from ...typecheck import path_step
from .api_minors import Api

ADMIN: Final = "adminAccess"
DERIVED: Final = "derivedAttributes"
_ASKED: Final = (
    *("deviceClassName", "selectors", "allocationMode", "count", "tolerations", "capacity"),
    DERIVED,
)
# The fields of each part, in the newest minor.
CLAIM: Final = ("requests", "constraints", "config")
AROUND: Final = ("metadata", "spec")
REQUEST: Final = ("name", "exactly", "firstAvailable")
EXACTLY_FIELDS: Final = (*_ASKED, ADMIN)
"""What is below `exactly`."""
OPTION: Final = (*_ASKED, "name")
TOLERATION: Final = ("key", "operator", "value", "effect", "tolerationSeconds")
CONSTRAINT: Final = ("requests", "matchAttribute", "distinctAttribute")
CONFIG: Final = ("requests", "opaque")


class Broken(NamedTuple):
    """A value that the server refuses: where it is, what it is and what it may be."""

    path: str
    got: object
    allowed: str
    fix: str


def unknown_fields(
    part: Mapping[str, Any], fields: tuple[str, ...], at: str, api: Api | None = None
) -> Iterator[Broken]:
    """Fields that the API does not have: kubectl refuses them, and others lose them.

    Args:
        part: What has the fields.
        fields: Those that the newest API has.
        at: The path of the part.
        api: The server; None where all minors have the same.
    """
    absent = api.absent if api else frozenset()
    for name in part:
        if name not in fields or name in absent:
            served = api.fields(fields) if api else fields
            allowed = f"one of the fields {', '.join(served)}"
            if name in fields and api:
                fix = f"leave it out: the API of Kubernetes {api.version} does not have it"
            else:
                fix = _instead(name, served)
            yield Broken(f"{at}.{path_step(name)}", part[name], allowed, fix)


def _instead(name: str, fields: tuple[str, ...]) -> str:
    """Where a field belongs that stands at the wrong place, or which one is meant."""
    if name in EXACTLY_FIELDS and "exactly" in fields:
        return "put it below exactly:"
    if name in CLAIM:
        return "put it below devices, beside the requests"
    if name == ADMIN:
        return "leave it out: only what is asked for below exactly: may have it"
    if name == "devices" and fields == AROUND:
        return "put it below one more spec: that of a template holds the spec of its claims"
    if name == "spec":
        return "leave this spec out: a claim has devices right below its spec"
    return meant(name, fields) or "leave it out"


def unknown_in_selectors(selectors: tuple[Any, ...], at: str) -> Iterator[Broken]:
    """Fields that selectors, whose form is right, do not have.

    Args:
        selectors: The selectors.
        at: The path of what has them.
    """
    for index, one in enumerate(selectors):
        yield from unknown_fields(one, ("cel",), f"{at}.selectors[{index}]")
        yield from unknown_fields(one["cel"], ("expression",), f"{at}.selectors[{index}].cel")


def twice(names: tuple[Any, ...], at: str) -> Iterator[Broken]:
    """The first of some names that stands again."""
    if len({*names}) < len(names):
        repeated = next(one for one in names if names.count(one) > 1)
        fix = f"leave {repeated} out where it stands again"
        yield Broken(f"{at}.requests", [*names], "each request once", fix)
