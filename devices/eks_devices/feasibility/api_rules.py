"""What the API server has against names and settings of a claim that decide on no device.

Sources: https://github.com/kubernetes/kubernetes (pkg/apis/resource/validation/validation.go and
staging/src/k8s.io/api/resource/v1/types.go), and servers of all minors that were asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from .._json_values import json_faults
from ..findings import meant
from ..syntax import is_dns_label, is_dns_subdomain, is_label_key, is_label_value

_LONGEST_PARAMETERS: Final = 10 * 1024
_LONGEST_DOMAIN: Final = 63
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}", re.ASCII)
_ASKED: Final = (
    *("deviceClassName", "selectors", "allocationMode", "count", "tolerations", "capacity"),
    "derivedAttributes",
)
# The fields of each part, in all minors.
_CLAIM: Final = ("requests", "constraints", "config")
_AROUND: Final = ("metadata", "spec")
_REQUEST: Final = ("name", "exactly", "firstAvailable")
EXACTLY_FIELDS: Final = (*_ASKED, "adminAccess")
"""What is below `exactly`."""
_OPTION: Final = (*_ASKED, "name")
_TOLERATION: Final = ("key", "operator", "value", "effect", "tolerationSeconds")
_CONSTRAINT: Final = ("requests", "matchAttribute", "distinctAttribute")
_CONFIG: Final = ("requests", "opaque")


class Broken(NamedTuple):
    """A value that the server refuses: where it is, what it is and what it may be."""

    path: str
    got: object
    allowed: str
    fix: str = ""


def broken_spec(spec: Mapping[str, Any], at: str, *, is_template: bool) -> Iterator[Broken]:
    """Fields that the server does not have in the spec of a claim, or around that of a template."""
    yield from unknown_fields(spec, _AROUND if is_template else ("devices",), at)


def broken(devices: Mapping[str, Any], at: str, known: frozenset[str]) -> Iterator[Broken]:
    """What the server refuses in a claim whose form is right.

    Args:
        devices: The field `devices` of the claim.
        at: Its path.
        known: What constraints and configurations may name.
    """
    yield from unknown_fields(devices, _CLAIM, at)
    for index, one in enumerate(devices.get("requests") or ()):
        yield from _of_request(one, f"{at}.requests[{index}]")
    for index, one in enumerate(devices.get("constraints") or ()):
        yield from _of_constraint(one, f"{at}.constraints[{index}]")
    yield from broken_configs(devices.get("config"), at, known)


def broken_configs(
    configs: Any, at: str, known: frozenset[str], *, fields: tuple[str, ...] = _CONFIG
) -> Iterator[Broken]:
    """What the server refuses in the configurations of a claim, or of a class.

    Args:
        configs: The field `config`.
        at: The path of what has it.
        known: What configurations may name.
        fields: What a configuration has.
    """
    if any(json_faults(configs, at)):
        # What only the deployment knows may be right.
        return
    if configs is not None and not isinstance(configs, tuple):
        yield Broken(f"{at}.config", configs, "a list")
        return
    for index, one in enumerate(configs or ()):
        yield from _of_config(one, f"{at}.config[{index}]", known, fields)


def unknown_fields(part: Mapping[str, Any], fields: tuple[str, ...], at: str) -> Iterator[Broken]:
    """Fields that the API does not have: kubectl refuses them, and others lose them."""
    for name in part:
        if name not in fields:
            allowed = f"one of the fields {', '.join(fields)}"
            yield Broken(f"{at}.{name}", part[name], allowed, _instead(name, fields))


def _instead(name: str, fields: tuple[str, ...]) -> str:
    """Where a field belongs that stands at the wrong place, or which one is meant."""
    if name in EXACTLY_FIELDS and "exactly" in fields:
        return "put it below exactly:"
    if name in _CLAIM:
        return "put it below devices, beside the requests"
    if name == "devices" and fields == _AROUND:
        return "put it below one more spec: that of a template holds the spec of its claims"
    if name == "spec":
        return "leave this spec out: a claim has devices right below its spec"
    return meant(name, fields)


def _of_request(request: Mapping[str, Any], at: str) -> Iterator[Broken]:
    yield from unknown_fields(request, _REQUEST, at)
    yield from _of_name(request["name"], at)
    options = request.get("firstAvailable") or ()
    if not options:
        yield from _of_ask(request["exactly"], f"{at}.exactly", EXACTLY_FIELDS)
    for index, one in enumerate(options):
        yield from _of_name(one["name"], f"{at}.firstAvailable[{index}]")
        yield from _of_ask(one, f"{at}.firstAvailable[{index}]", _OPTION)
    names = [one["name"] for one in options]
    if len({*names}) < len(names):
        yield Broken(f"{at}.firstAvailable", names, "alternatives with names that differ")


def _of_name(name: str, at: str) -> Iterator[Broken]:
    if not is_dns_label(name):
        yield Broken(f"{at}.name", name, "at most 63 lowercase letters, digits and '-'")


def _of_ask(ask: Mapping[str, Any], at: str, fields: tuple[str, ...]) -> Iterator[Broken]:
    yield from unknown_fields(ask, fields, at)
    if not is_dns_subdomain(ask["deviceClassName"]):
        yield Broken(f"{at}.deviceClassName", ask["deviceClassName"], "the name of a DeviceClass")
    for index, one in enumerate(ask.get("selectors") or ()):
        yield from unknown_fields(one, ("cel",), f"{at}.selectors[{index}]")
        yield from unknown_fields(one["cel"], ("expression",), f"{at}.selectors[{index}].cel")
    yield from unknown_fields(ask.get("capacity") or {}, ("requests",), f"{at}.capacity")
    for index, one in enumerate(ask.get("tolerations") or ()):
        place = f"{at}.tolerations[{index}]"
        yield from unknown_fields(one, _TOLERATION, place)
        key, value = one.get("key") or "", one.get("value") or ""
        if key and not is_label_key(key):
            yield Broken(f"{place}.key", key, "the key of a taint")
        if not is_label_value(value):
            yield Broken(f"{place}.value", value, "the value of a taint")
        seconds = one.get("tolerationSeconds")
        if seconds is not None and type(seconds) is not int:
            fix = "write the number without quotes" if isinstance(seconds, str) else ""
            yield Broken(f"{place}.tolerationSeconds", seconds, "a whole number", fix)


def _of_constraint(constraint: Mapping[str, Any], at: str) -> Iterator[Broken]:
    yield from unknown_fields(constraint, _CONSTRAINT, at)
    yield from _twice(constraint.get("requests") or (), at)
    for field in ("matchAttribute", "distinctAttribute"):
        attribute = constraint.get(field)
        if attribute is not None and not _is_qualified(attribute):
            allowed = "domain/name, the domain of at most 63 characters, the name of at most 32"
            yield Broken(f"{at}.{field}", attribute, allowed)


def _is_qualified(attribute: object) -> bool:
    if not isinstance(attribute, str):
        return False
    domain, _, name = attribute.partition("/")
    # The server looks at no name with a slash in it.
    named = "/" in name or _NAME.fullmatch(name) is not None
    return named and len(domain) <= _LONGEST_DOMAIN and is_dns_subdomain(domain.lower())


def _twice(names: tuple[Any, ...], at: str) -> Iterator[Broken]:
    if len({*names}) < len(names):
        yield Broken(f"{at}.requests", [*names], "each request once")


def _of_config(
    config: object, at: str, known: frozenset[str], fields: tuple[str, ...]
) -> Iterator[Broken]:
    opaque = config.get("opaque") if isinstance(config, Mapping) else None
    if not isinstance(config, Mapping) or not isinstance(opaque, Mapping):
        yield Broken(f"{at}.opaque", opaque, "a driver and its parameters")
        return
    yield from unknown_fields(config, fields, at)
    yield from unknown_fields(opaque, ("driver", "parameters"), f"{at}.opaque")
    names = config.get("requests") or ()
    if not isinstance(names, tuple) or not all(
        isinstance(name, str) and name in known for name in names
    ):
        yield Broken(f"{at}.requests", names, f"names of requests: {', '.join(sorted(known))}")
    else:
        yield from _twice(names, at)
    driver, parameters = opaque.get("driver"), opaque.get("parameters")
    if not isinstance(driver, str) or not is_dns_subdomain(driver):
        yield Broken(f"{at}.opaque.driver", driver, "the name of a driver")
    if not isinstance(parameters, Mapping):
        yield Broken(f"{at}.opaque.parameters", parameters, "a mapping")
    elif len(json.dumps(parameters, separators=(",", ":"))) > _LONGEST_PARAMETERS:
        yield Broken(f"{at}.opaque.parameters", "...", f"at most {_LONGEST_PARAMETERS} bytes")
