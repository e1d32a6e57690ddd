"""Names that no driver publishes, and what was meant."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable
from typing import Final

from ..claims.cel_reads import names_read
from ..claims.published_names import rows
from ..findings import alike, question
from .classes import driver_of
from .devices import published_names

# Attributes are short words, of which many share half of their letters.
_ALIKE: Final = 0.7


def never_published(text: str, device_class: str) -> str:
    """An attribute that an expression reads and the driver of a class never gives to a device.

    Empty where it reads none, and for drivers whose attributes are not known.
    """
    known = published_names().get(driver_of(device_class) or "")
    if known is None:
        return ""
    read = names_read(text, fields=("attributes",))
    return next((one for one in read if one not in known), "")


def meant_instead(name: str, device_class: str) -> str:
    """What an attribute that is never published may stand for; or nothing."""
    known = published_names().get(driver_of(device_class) or "", frozenset())
    if name in capacity_names():
        domain, _, own = name.rpartition("/")
        return f"it is a capacity: did you mean device.capacity['{domain}'].{own}?"
    return nearest(name, known)


@functools.cache
def capacity_names() -> frozenset[str]:
    """The capacities that drivers publish, by qualified name."""
    return frozenset(one for row in rows() for many in row["capacities"].values() for one in many)


def nearest_of_all(name: str, classes: Iterable[str]) -> str:
    """What may be meant with an attribute that the devices of all these classes must have.

    Empty where one of the drivers gives it to devices, or its attributes are not known.
    """
    known = [published_names().get(driver_of(one) or "") for one in classes]
    sets = [one for one in known if one is not None and name not in one]
    if not sets or len(sets) < len(known):
        return ""
    return nearest(name, frozenset.intersection(*sets))


def nearest(name: str, known: Collection[str]) -> str:
    """A question for the attributes of another domain, or spelled alike; empty without any.

    Domains are not compared letter by letter: names within one would all be alike.
    """
    own: dict[str, list[str]] = {}
    for one in sorted(known):
        own.setdefault(one.rpartition("/")[2], []).append(one)
    words = alike(name.rpartition("/")[2], own, least=_ALIKE)
    return question([one for short in words for one in own[short]])
