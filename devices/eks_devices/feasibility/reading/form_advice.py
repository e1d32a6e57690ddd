"""What to write for names in claims that the API server refuses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

from ...claims.published_names import published_attributes, rows
from ...findings import meant, question
from ...names import EXTENDED_RESOURCES, GPU_CLASS, GPU_DRIVER
from ...syntax import is_dns_label, is_dns_subdomain
from ...typecheck import path_step
from ..class_names import class_called, driver_called
from ..telling.near import nearest, nearest_of_all

_UNLIKE: Final = re.compile(r"[^a-z0-9-]+")
QUOTES: Final = (
    "write it in quotes wherever it stands: YAML reads n, no, off and the like as false, y, yes, "
    "on as true"
)
IN_QUOTES: Final = "write it in quotes"


def quoted(value: object) -> str:
    """What to write for a value that YAML takes for something else than a text."""
    if isinstance(value, bool):
        return QUOTES
    return IN_QUOTES if isinstance(value, (int, float)) else ""


def as_label(name: str) -> str:
    """A name like another one that is a DNS label."""
    near = _UNLIKE.sub("-", name.lower()).strip("-")[:63].strip("-")
    return f"write {near}" if is_dns_label(near) else "name it after what it is for, such as gpu"


def as_class(name: str) -> str:
    """A DeviceClass for what is no name of one: that of a resource, or of devices."""
    return _named(name, class_called(name), "class", GPU_CLASS)


def as_driver(name: Any) -> str:
    """The driver that is meant by what is no name of one."""
    return _named(name, driver_called(name), "driver", GPU_DRIVER)


def _named(name: Any, called: str, what: str, example: str) -> str:
    if isinstance(name, str) and any(name in some for some in EXTENDED_RESOURCES.values()):
        return f"write {called}, which is the {what} of {name}"
    if called:
        return question([called])
    lowered = name.lower() if isinstance(name, str) else ""
    is_name = "." in lowered and is_dns_subdomain(lowered)
    return f"write {lowered}" if is_name else f"write a name such as {example}"


def as_attribute(name: str, classes: Iterable[str]) -> str:
    """An attribute with its domain, as constraints name it.

    Args:
        name: What is written.
        classes: The classes of the requests that it is about.
    """
    domain, slash, own = name.partition("/")
    if slash and domain:
        lowered = f"{domain.lower()}/{own}"
        near = "" if lowered != name else nearest(own, _published())
        return near or (f"write {lowered}" if lowered != name else _FORM)
    own = own or name
    same = nearest_of_all(own, classes) or nearest(own, _published())
    exact = [one for one in _published() if own and one.rpartition("/")[2] == own]
    if len(exact) == 1:
        return f"write {exact[0]}"
    return same or question(exact) or _FORM


_FORM: Final = "write domain/name, such as resource.kubernetes.io/pcieRoot"


def _published() -> Collection[str]:
    kinds = dict.fromkeys(kind for row in rows() for kind in row["kinds"])
    return sorted({name for kind in kinds for name in published_attributes(kind)})


def as_requests(names: object, known: Collection[str]) -> str:
    """What to write for what names no requests of a claim.

    Args:
        names: What is written.
        known: The requests, and the alternatives.
    """
    if isinstance(names, str):
        return f"write a list: [{path_step(names)}]"
    if not isinstance(names, tuple):
        return "write a list: [gpu]"
    return next(_instead(names, known), "leave it out for all requests")


def _instead(names: tuple[Any, ...], known: Collection[str]) -> Iterator[str]:
    for name in names:
        if isinstance(name, str) and name in known:
            continue
        near = quoted(name) or meant(name, known)
        if near or known:
            yield near or f"name one of {', '.join(sorted(known))}, or leave it out for all"
