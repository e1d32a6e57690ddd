"""What the API server has against names and settings of a claim that decide on no device.

Sources: https://github.com/kubernetes/kubernetes (pkg/apis/resource/validation/validation.go and
staging/src/k8s.io/api/resource/v1/types.go), and servers of all minors that were asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ...syntax import is_dns_label, is_dns_subdomain, is_label_key, is_label_value
from .api_configs import broken_configs
from .api_minors import Api
from .broken import Broken, twice, unknown_fields, unknown_in_selectors
from .fields import (
    AROUND,
    CAPACITY,
    CLAIM,
    CONSTRAINT,
    DERIVED,
    EXACTLY_FIELDS,
    OPTION,
    REQUEST,
    TOLERATION,
)
from .form_advice import as_attribute, as_class, as_label

_LONGEST_DOMAIN: Final = 63
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}", re.ASCII)


def broken_spec(spec: Mapping[str, Any], at: str, *, is_template: bool) -> Iterator[Broken]:
    """Fields that the server does not have in the spec of a claim, or around that of a template."""
    yield from unknown_fields(spec, AROUND if is_template else ("devices",), at)


def broken(
    devices: Mapping[str, Any], at: str, known: Mapping[str, tuple[str, ...]], api: Api
) -> Iterator[Broken]:
    """What the server refuses in a claim whose form is right, but for its constraints.

    Args:
        devices: The field `devices` of the claim.
        at: Its path.
        known: What constraints and configurations may name, each with its classes.
        api: The server.
    """
    yield from unknown_fields(devices, CLAIM, at)
    for index, one in enumerate(devices.get("requests") or ()):
        yield from _of_request(one, f"{at}.requests[{index}]", api)
    yield from broken_configs(devices.get("config"), at, known)


def _of_request(request: Mapping[str, Any], at: str, api: Api) -> Iterator[Broken]:
    yield from unknown_fields(request, REQUEST, at, api)
    yield from _of_name(request["name"], at)
    options = request.get("firstAvailable") or ()
    if not options:
        yield from _of_ask(request["exactly"], f"{at}.exactly", EXACTLY_FIELDS, api)
    for index, one in enumerate(options):
        yield from _of_name(one["name"], f"{at}.firstAvailable[{index}]")
        yield from _of_ask(one, f"{at}.firstAvailable[{index}]", OPTION, api)
    names = [one["name"] for one in options]
    if len({*names}) < len(names):
        fix = "give each alternative a name of its own"
        yield Broken(f"{at}.firstAvailable", names, "alternatives with names that differ", fix)


def _of_name(name: str, at: str) -> Iterator[Broken]:
    if not is_dns_label(name):
        allowed = "at most 63 lowercase letters, digits and '-', a letter or digit at both ends"
        yield Broken(f"{at}.name", name, allowed, as_label(name))


def _of_ask(ask: Mapping[str, Any], at: str, fields: tuple[str, ...], api: Api) -> Iterator[Broken]:
    yield from unknown_fields(ask, fields, at, api)
    named = ask["deviceClassName"]
    if not is_dns_subdomain(named):
        yield Broken(f"{at}.deviceClassName", named, "the name of a DeviceClass", as_class(named))
    yield from unknown_in_selectors(ask.get("selectors") or (), at)
    yield from unknown_fields(ask.get("capacity") or {}, CAPACITY, f"{at}.capacity", api)
    if DERIVED not in api.absent and not _are_mappings(ask.get(DERIVED)):
        yield Broken(f"{at}.{DERIVED}", ask[DERIVED], "a list of mappings", _LEAVE_DERIVED)
    for index, one in enumerate(ask.get("tolerations") or ()):
        yield from _of_toleration(one or {}, f"{at}.tolerations[{index}]", api)


_LEAVE_DERIVED: Final = f"leave {DERIVED} out"


def _are_mappings(value: object) -> bool:
    """Whether a value is a list of mappings, or nothing."""
    if not isinstance(value, tuple):
        return value is None
    return all(one is None or isinstance(one, Mapping) for one in value)


def _of_toleration(toleration: Mapping[str, Any], at: str, api: Api) -> Iterator[Broken]:
    yield from unknown_fields(toleration, TOLERATION, at)
    seconds = toleration.get("tolerationSeconds")
    if seconds is not None and type(seconds) is not int:
        is_text = isinstance(seconds, str)
        fix = "write the number without quotes" if is_text else "write the number of seconds"
        yield Broken(f"{at}.tolerationSeconds", seconds, "a whole number", fix)
    if "tolerations" in api.dropped:
        return
    key, value = toleration.get("key") or "", toleration.get("value") or ""
    if key and not is_label_key(key):
        fix = "write it as the taint has it, such as gpu.nvidia.com/xid"
        yield Broken(f"{at}.key", key, "the key of a taint", fix)
    if not is_label_value(value):
        fix = "write it as the taint has it, or operator: Exists without a value"
        yield Broken(f"{at}.value", value, "the value of a taint", fix)


def broken_constraint(
    constraint: Mapping[str, Any], at: str, known: Mapping[str, tuple[str, ...]], api: Api
) -> Iterator[Broken]:
    """What the server refuses in a constraint whose form is right.

    Args:
        constraint: The constraint.
        at: Its path.
        known: What it may name, each with the classes of it.
        api: The server.
    """
    yield from unknown_fields(constraint, CONSTRAINT, at)
    named = constraint.get("requests")
    names = named if isinstance(named, tuple) else ()
    yield from twice(names, at)
    classes = [one for name in names or known for one in known.get(name, ())]
    for field in ("matchAttribute", "distinctAttribute"):
        attribute: Any = constraint.get(field)
        if not _is_judged(field, constraint, api) or _is_qualified(attribute, api):
            continue
        allowed = "domain/name, the domain of at most 63 characters, the name of at most 32"
        if _is_qualified(attribute.lower(), api):
            allowed = "domain/name, without capitals in the domain"
        yield Broken(f"{at}.{field}", attribute, allowed, as_attribute(attribute, classes))


def _is_judged(field: str, constraint: Mapping[str, Any], api: Api) -> bool:
    """Whether the server looks at an attribute that a constraint names, which is a text."""
    if constraint.get(field) is None:
        return False
    if field == "matchAttribute":
        return True
    is_beside = constraint.get("matchAttribute") is not None
    return not api.drops_distinct and (api.judges_idle or not is_beside)


def _is_qualified(attribute: str, api: Api) -> bool:
    domain, _, name = attribute.partition("/")
    # The server looks at no name with a slash in it.
    named = "/" in name or _NAME.fullmatch(name) is not None
    lowered = domain.lower() if api.takes_capitals else domain
    return named and len(domain) <= _LONGEST_DOMAIN and is_dns_subdomain(lowered)
