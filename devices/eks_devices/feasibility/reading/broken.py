"""Values of claims that API servers refuse, and fields that they do not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ...typecheck import path_step
from .api_minors import Api, newest_api
from .misplaced import belongs


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
                fix = belongs(name, part, fields, api or newest_api())
            yield Broken(f"{at}.{path_step(name)}", part[name], allowed, fix)


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
