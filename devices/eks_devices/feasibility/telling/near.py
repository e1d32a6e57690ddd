"""Names that no driver publishes, and what was meant."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from ...claims.cel_reads import names_read
from ...claims.kinds import RequestKind
from ...claims.published_names import rows
from ...findings import alike, question
from ..classes import class_of_driver, driver_of
from ..devices import published_names
from ..slices import NodeDevice
from .followed import as_it_matches

# Attributes are short words, of which many share half of their letters.
_ALIKE: Final = 0.7
_MOST_NAMES: Final = 8


def drivers_behind(device_class: str, devices: Iterable[NodeDevice]) -> frozenset[str]:
    """The driver of a class; of a class of the user's own the drivers of devices it is about."""
    driver = driver_of(device_class)
    return frozenset([driver] if driver else [one.driver for one in devices])


def never_published(text: str, drivers: Collection[str]) -> str:
    """An attribute, or a capacity, that an expression reads and some drivers never give to devices.

    Empty where it reads none, and for drivers whose attributes are not known.
    """
    known = _known(drivers)
    read = names_read(text, fields=("attributes",)) if known else ()
    amounts = names_read(text, fields=("capacity",)) if known else ()
    lacking = (one for one in amounts if one not in _capacities(drivers))
    return next((one for one in read if one not in known), next(lacking, ""))


def instead_of_never(
    text: str, name: str, drivers: Collection[str], devices: Sequence[NodeDevice]
) -> str:
    """What to write for an attribute that is never published.

    Args:
        text: The expression that reads it.
        name: The attribute.
        drivers: The drivers of the devices.
        devices: The devices.
    """
    near = _meant(text, name, drivers, devices)
    is_amount = name not in names_read(text, fields=("attributes",))
    if name in near:
        fix = _other_field(name, is_amount=is_amount)
    else:
        fix = _of_other_class(name, drivers) or question(near)
    made = (as_it_matches(renamed(text, name, one), devices) for one in near)
    whole = next(filter(None, made), "")
    return f"{fix} That is {whole}" if whole else fix or _published(name, devices)


def as_published(text: str, drivers: Collection[str], devices: Sequence[NodeDevice]) -> str:
    """An expression that reads what is meant by an attribute that is never published."""
    name = never_published(text, drivers)
    near = _meant(text, name, drivers, devices) if name else []
    return renamed(text, name, near[0]) if near else text


def _meant(
    text: str, name: str, drivers: Collection[str], devices: Sequence[NodeDevice]
) -> list[str]:
    """The attributes, or capacities, that are meant by one that an expression reads."""
    is_amount = name not in names_read(text, fields=("attributes",))
    if name in (_known(drivers) if is_amount else _capacities(drivers)):
        return [name]
    here = {one for device in devices for one in _names(device)}
    known = _capacities(drivers) if is_amount else _known(drivers)
    known = (known & here) or known
    return _nearest(name, known) or ([*known] if is_amount and len(known) == 1 else [])


def _names(device: NodeDevice) -> Iterable[str]:
    return (*device.attributes, *device.capacity, *device.at_run_time)


def renamed(text: str, name: str, other: str) -> str:
    """An expression that reads another attribute or capacity."""
    (domain, _, own), (right, _, meant) = name.rpartition("/"), other.rpartition("/")
    field = "capacity" if other in capacity_names() else "attributes"
    owner = rf"device\s*\.\s*(?:attributes|capacity)\s*\[\s*['\"]{re.escape(domain)}['\"]\s*\]"
    own = re.escape(own)
    key = rf"(?:\.\s*{own}\b|\[\s*['\"]{own}['\"]\s*\])"
    made = re.sub(rf"{owner}\s*{key}", f"device.{field}['{right}'].{meant}", text)
    asked = rf"(['\"]){own}\1(?=\s+in\s+{owner}(?!\s*[.\[]))"
    return re.sub(rf"{asked}\s+in\s+{owner}", f"'{meant}' in device.{field}['{right}']", made)


def _other_field(name: str, *, is_amount: bool) -> str:
    """Of an attribute that is read as a capacity, or the reverse."""
    domain, _, own = name.rpartition("/")
    if is_amount:
        return f"it is an attribute: did you mean device.attributes['{domain}'].{own}?"
    return f"it is a capacity: did you mean device.capacity['{domain}'].{own}?"


def _of_other_class(name: str, drivers: Collection[str]) -> str:
    """The class whose devices have an attribute; empty without any."""
    for driver, names in published_names().items():
        if name in names and name not in _known(drivers):
            of_class = f"devices of the class {class_of_driver(driver)} have it"
            return f"{of_class}: select by it in a request for them"
    return ""


def _known(drivers: Collection[str]) -> frozenset[str]:
    """The attributes of drivers; empty where those of one are not known."""
    sets = [published_names().get(one, frozenset()) for one in drivers]
    return frozenset().union(*sets) if sets and all(sets) else frozenset()


def _published(name: str, devices: Sequence[NodeDevice]) -> str:
    """The attributes that devices have, those of the same domain where it has any."""
    found: dict[str, set[str]] = {}
    for device in devices:
        for one in device.attributes:
            if one not in device.at_run_time:
                domain, _, own = one.rpartition("/")
                found.setdefault(domain, set()).add(own)
    if not found:
        return "select by an attribute that is published"
    domain = name.rpartition("/")[0]
    domain = domain if domain in found else max(found, key=lambda one: len(found[one]))
    names = ", ".join(sorted(found[domain])[:_MOST_NAMES])
    has = f"device.attributes['{domain}'] has {names}"
    return f"select by an attribute that is published: {has}{_such_as(domain, devices)}"


def _such_as(domain: str, devices: Sequence[NodeDevice]) -> str:
    """An expression for the text that tells the devices apart from those of other nodes."""
    texts: dict[str, set[str]] = {}
    for device in devices:
        for name, value in device.attributes.items():
            is_known = name not in device.at_run_time and name.rpartition("/")[0] == domain
            if isinstance(value, str) and is_known:
                texts.setdefault(name, set()).add(value)
    # The longest text says the most.
    alike = {name: min(many) for name, many in sorted(texts.items()) if len(many) == 1}
    name = max(alike, key=lambda one: len(alike[one]), default="")
    own = name.rpartition("/")[2]
    return f", such as device.attributes['{domain}'].{own} == '{alike[name]}'" if name else ""


def other_class(text: str, device_class: str, devices: Sequence[NodeDevice]) -> str:
    """What to write where devices lack what those of another class of the driver have; or nothing.

    Args:
        text: The expression.
        device_class: The class that is asked for.
        devices: Its devices, none of which matches.
    """
    lacking = (
        name
        for name in names_read(text, fields=("attributes",))
        if not any(name in one.attributes or name in one.at_run_time for one in devices)
    )
    having = next(filter(None, (_class_having(name, device_class) for name in lacking)), "")
    if not having:
        return ""
    return f"ask for the class {having}, whose devices have it: deviceClassName: {having}"


def _class_having(name: str, device_class: str) -> str:
    """The class of the same driver all of whose devices have an attribute; or nothing."""
    for row in rows():
        classes = {kind: RequestKind(kind).device_class for kind in row["always"]}
        holding = [classes[kind] for kind, names in row["always"].items() if name in names]
        if device_class in classes.values() and holding and device_class not in holding:
            return holding[0]
    return ""


def _capacities(drivers: Collection[str]) -> frozenset[str]:
    """The capacities of drivers."""
    many = (
        name
        for row in rows()
        if not {driver_of(RequestKind(kind).device_class) for kind in row["kinds"]}.isdisjoint(
            drivers
        )
        for names in row["capacities"].values()
        for name in names
    )
    return frozenset(many)


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
    return question(_nearest(name, known))


def _nearest(name: str, known: Collection[str]) -> list[str]:
    own: dict[str, list[str]] = {}
    for one in sorted(known, key=lambda each: (len(each), each)):
        own.setdefault(one.rpartition("/")[2], []).append(one)
    word = name.rpartition("/")[2]
    # Names that differ in a number alone are all meant.
    numbered = [one for one in own if _stem(one) == _stem(word) and re.search("[0-9]", one)]
    words = alike(word, own, least=1) or numbered or alike(word, own, least=_ALIKE)
    return [one for short in words for one in own[short]]


def _stem(name: str) -> str:
    return re.sub(r"[0-9]+", "0", name.casefold().replace("_", ""))
