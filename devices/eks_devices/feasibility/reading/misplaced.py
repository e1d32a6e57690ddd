"""Where a field of a claim belongs that stands at the wrong place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ...findings import meant
from ...quantities import quantity_of
from ..classes import driver_of
from ..devices import published_names
from ..telling.near import capacity_names
from .api_minors import Api
from .fields import (
    ADMIN,
    AROUND,
    CAPACITY,
    CLAIM,
    EXACTLY_FIELDS,
    OPTION,
    REQUEST,
)

_AMOUNTS: Final = ("requests", "limits", "resources")
_BESIDE: Final = "below devices, beside the requests"
_ASKING: Final = (EXACTLY_FIELDS, OPTION, REQUEST)
_LONGEST: Final = 63


def belongs(name: str, part: Mapping[str, Any], fields: tuple[str, ...], api: Api) -> str:
    """What to write for a field that a part of a claim does not have.

    Args:
        name: The field.
        part: What has it.
        fields: The fields that such a part has.
        api: The API server.
    """
    told = (
        _of_amounts(name, part, fields, api)
        or _of_ask(name, part, fields)
        or _of_devices(name, part, fields)
        or _of_selectors(name, part, fields)
    )
    return told or meant(name, fields) or "leave it out"


def _of_amounts(name: str, part: Mapping[str, Any], fields: tuple[str, ...], api: Api) -> str:
    """What of capacities, or of a container's resources, is asked for of devices."""
    value, is_served = part[name], "capacity" in api.fields(EXACTLY_FIELDS)
    if fields == CAPACITY:
        inner = f"put it below requests: {_capacity(_flat(name, value))}"
        return inner if is_served else "leave capacity out"
    is_whole = name == "capacity" and isinstance(value, Mapping) and "requests" not in value
    if fields not in _ASKING or name in fields or not (is_whole or _is_amount(name, value)):
        return ""
    device_class = _class_of(part)
    known = _of_class(value if is_whole else _flat(name, value), device_class)
    if not known:
        return "leave it out: what containers get of CPUs and memory stands in their resources"
    if not is_served:
        return f"leave it out, and {by_capacity(known, device_class)}"
    return f"write {_capacity(known)}" + " below exactly" * (fields == REQUEST)


def _capacity(amounts: Mapping[str, Any]) -> str:
    inner = ", ".join(f"{key}: {_short(one)}" for key, one in amounts.items())
    return f"capacity: {{requests: {{{inner}}}}}"


def _short(value: Any) -> str:
    is_short = isinstance(value, (str, int)) and not isinstance(value, bool)
    text = f"{value:.{_LONGEST}}" if isinstance(value, str) else str(value)[:_LONGEST]
    return text if is_short and text.isprintable() and not {*"'\"\\"} & {*text} else "..."


def _is_amount(name: str, value: Any) -> bool:
    if name in _AMOUNTS:
        return isinstance(value, Mapping)
    short = {one.rpartition("/")[2] for one in capacity_names()}
    return name in short and isinstance(value, (str, int))


def _flat(name: str, value: Any) -> dict[str, Any]:
    """The amounts in a field, whatever else of a container's resources is around them."""
    if not isinstance(value, Mapping):
        return {name: value}
    inner = [one if key in _AMOUNTS else {key: one} for key, one in value.items()]
    return {key: amount for one in inner if isinstance(one, Mapping) for key, amount in one.items()}


def _class_of(part: Mapping[str, Any]) -> str:
    ask = part.get("exactly")
    found = (ask if isinstance(ask, Mapping) else part).get("deviceClassName")
    return found if isinstance(found, str) else ""


def _of_class(amounts: Mapping[str, Any], device_class: str) -> dict[str, Any]:
    """Those of some amounts that devices of a class have for capacities."""
    driver = driver_of(device_class)
    short = {key.rpartition("/")[2]: one for key, one in amounts.items() if isinstance(key, str)}
    return {
        key: one
        for key, one in short.items()
        if f"{driver}/{key}" in capacity_names() and quantity_of(one) is not None
    }


def by_capacity(amounts: Mapping[str, Any], device_class: str) -> str:
    """How devices are selected that have at least some amounts; empty where nothing is known.

    Args:
        amounts: What devices are to have, by the names of capacities, or such below `requests`.
        device_class: Their class.
    """
    driver, known = driver_of(device_class), _of_class(_flat("", amounts), device_class)
    each = (
        f"device.capacity['{driver}'].{name}.compareTo(quantity('{_short(one)}')) >= 0"
        for name, one in known.items()
    )
    return _selecting(" && ".join(each)) if known else ""


def _selecting(expression: str) -> str:
    return f'select by it: selectors: [{{cel: {{expression: "{expression}"}}}}]'


def _of_ask(name: str, part: Mapping[str, Any], fields: tuple[str, ...]) -> str:
    """What belongs to what a request asks for."""
    if name == ADMIN and fields == OPTION:
        return "leave it out: only what is asked for below exactly: may have it"
    if name == "name" and fields == EXACTLY_FIELDS:
        return "leave it out: the name of a request stands beside exactly"
    if name not in EXACTLY_FIELDS:
        return ""
    if fields != REQUEST:
        return "put it below exactly: of the request that it is for"
    if part.get("firstAvailable"):
        return "put it into each alternative of firstAvailable that it is for"
    ask = part.get("exactly")
    has = isinstance(ask, Mapping) and name in ask
    return "leave it out: exactly has its own" if has else "put it below exactly:"


def _of_devices(name: str, part: Mapping[str, Any], fields: tuple[str, ...]) -> str:
    """What belongs to the claim as a whole, and what to the Pod."""
    if name == "devices" and fields == AROUND:
        return "put it below one more spec: that of a template holds the spec of its claims"
    if name in ("matchAttribute", "distinctAttribute"):
        return f"write constraints: [{{{name}: {_short(part[name])}}}] {_BESIDE}"
    return _HOMES.get(name, "")


_HOMES: Final = {
    **dict.fromkeys(CLAIM, f"put it {_BESIDE}"),
    "requests": "put it below devices:",
    **dict.fromkeys(
        ("opaque", "parameters"),
        f"write config: [{{opaque: {{driver: ..., parameters: {{...}}}}}}] {_BESIDE}",
    ),
    **dict.fromkeys(
        ("affinity", "nodeName", "nodeSelector", "schedulerName"),
        "put it into the spec of the Pod: a claim selects devices",
    ),
    "spec": "leave this spec out: a claim has devices right below its spec",
}


def _of_selectors(name: str, part: Mapping[str, Any], fields: tuple[str, ...]) -> str:
    """What belongs into an expression."""
    if "selectors" not in fields:
        return ""
    if name in ("cel", "expression"):
        return 'put it into a list: selectors: [{cel: {expression: "..."}}]'
    if name == "driver":
        return "leave it out: the class selects devices of its driver"
    driver = driver_of(_class_of(part))
    if driver is None or f"{driver}/{name}" not in published_names().get(driver, ()):
        return ""
    value = part[name]
    shown = f"'{_short(value)}'" if isinstance(value, str) else str(value)[:_LONGEST].lower()
    return _selecting(f"device.attributes['{driver}'].{name} == {shown}")
