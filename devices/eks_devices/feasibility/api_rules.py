"""What the API server has against names and settings of a claim that decide on no device.

Sources: https://github.com/kubernetes/kubernetes (pkg/apis/resource/validation/validation.go and
staging/src/k8s.io/api/resource/v1/types.go), and servers of all minors that were asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from .._json_values import json_faults
from ..findings import meant
from ..syntax import is_dns_label, is_dns_subdomain, is_label_key, is_label_value
from ..typecheck import path_step
from .api_minors import Api
from .form_advice import as_attribute, as_class, as_driver, as_label, as_requests

_LONGEST_PARAMETERS: Final = 10 * 1024
_LONGEST_DOMAIN: Final = 63
_MOST_CONFIGS: Final = 32
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}", re.ASCII)
_ADMIN: Final = "adminAccess"
_DERIVED: Final = "derivedAttributes"
_ASKED: Final = (
    *("deviceClassName", "selectors", "allocationMode", "count", "tolerations", "capacity"),
    _DERIVED,
)
# The fields of each part, in the newest minor.
_CLAIM: Final = ("requests", "constraints", "config")
_AROUND: Final = ("metadata", "spec")
_REQUEST: Final = ("name", "exactly", "firstAvailable")
EXACTLY_FIELDS: Final = (*_ASKED, _ADMIN)
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
    fix: str


def broken_spec(spec: Mapping[str, Any], at: str, *, is_template: bool) -> Iterator[Broken]:
    """Fields that the server does not have in the spec of a claim, or around that of a template."""
    yield from unknown_fields(spec, _AROUND if is_template else ("devices",), at)


def broken(
    devices: Mapping[str, Any], at: str, known: Collection[str], api: Api
) -> Iterator[Broken]:
    """What the server refuses in a claim whose form is right, but for its constraints.

    Args:
        devices: The field `devices` of the claim.
        at: Its path.
        known: What constraints and configurations may name.
        api: The server.
    """
    yield from unknown_fields(devices, _CLAIM, at)
    for index, one in enumerate(devices.get("requests") or ()):
        yield from _of_request(one, f"{at}.requests[{index}]", api)
    yield from broken_configs(devices.get("config"), at, known)


def broken_configs(
    configs: Any, at: str, known: Collection[str], *, fields: tuple[str, ...] = _CONFIG
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
        yield Broken(f"{at}.config", configs, "a list", f"write a list: - {_OPAQUE}")
        return
    given = configs or ()
    if len(given) > _MOST_CONFIGS:
        fix = f"leave {len(given) - _MOST_CONFIGS} of them out"
        yield Broken(f"{at}.config", len(given), f"at most {_MOST_CONFIGS} entries", fix)
    for index, one in enumerate(given):
        yield from _of_config(one, f"{at}.config[{index}]", known, fields)


_OPAQUE: Final = "opaque: {driver: ..., parameters: {...}}"


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
    if name in _CLAIM:
        return "put it below devices, beside the requests"
    if name == _ADMIN:
        return "leave it out: only what is asked for below exactly: may have it"
    if name == "devices" and fields == _AROUND:
        return "put it below one more spec: that of a template holds the spec of its claims"
    if name == "spec":
        return "leave this spec out: a claim has devices right below its spec"
    return meant(name, fields) or "leave it out"


def _of_request(request: Mapping[str, Any], at: str, api: Api) -> Iterator[Broken]:
    yield from unknown_fields(request, _REQUEST, at)
    yield from _of_name(request["name"], at)
    options = request.get("firstAvailable") or ()
    if not options:
        yield from _of_ask(request["exactly"], f"{at}.exactly", EXACTLY_FIELDS, api)
    for index, one in enumerate(options):
        yield from _of_name(one["name"], f"{at}.firstAvailable[{index}]")
        yield from _of_ask(one, f"{at}.firstAvailable[{index}]", _OPTION, api)
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
    for index, one in enumerate(ask.get("selectors") or ()):
        yield from unknown_fields(one, ("cel",), f"{at}.selectors[{index}]")
        yield from unknown_fields(one["cel"], ("expression",), f"{at}.selectors[{index}].cel")
    yield from unknown_fields(ask.get("capacity") or {}, ("requests",), f"{at}.capacity")
    derived = ask.get(_DERIVED)
    if _DERIVED not in api.absent and not isinstance(derived, (tuple, type(None))):
        yield Broken(f"{at}.{_DERIVED}", derived, "a list", f"leave {_DERIVED} out")
    for index, one in enumerate(ask.get("tolerations") or ()):
        yield from _of_toleration(one or {}, f"{at}.tolerations[{index}]", api)


def _of_toleration(toleration: Mapping[str, Any], at: str, api: Api) -> Iterator[Broken]:
    yield from unknown_fields(toleration, _TOLERATION, at)
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
    yield from unknown_fields(constraint, _CONSTRAINT, at)
    named = constraint.get("requests")
    names = named if isinstance(named, tuple) else ()
    yield from _twice(names, at)
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


def _twice(names: tuple[Any, ...], at: str) -> Iterator[Broken]:
    if len({*names}) < len(names):
        repeated = next(one for one in names if names.count(one) > 1)
        fix = f"leave {repeated} out where it stands again"
        yield Broken(f"{at}.requests", [*names], "each request once", fix)


def _of_config(
    config: object, at: str, known: Collection[str], fields: tuple[str, ...]
) -> Iterator[Broken]:
    opaque = config.get("opaque") if isinstance(config, Mapping) else None
    if not isinstance(config, Mapping) or not isinstance(opaque, Mapping):
        near = config if isinstance(config, Mapping) else {}
        written = next((one for one in near if meant(one, ["opaque"])), "opaque")
        fix = meant(written, ["opaque"]) if written != "opaque" else f"write {_OPAQUE}"
        got = near.get(written)
        yield Broken(f"{at}.{path_step(written)}", got, "a driver and its parameters", fix)
        return
    yield from unknown_fields(config, fields, at)
    yield from unknown_fields(opaque, ("driver", "parameters"), f"{at}.opaque")
    names = config.get("requests") or ()
    if not isinstance(names, tuple) or not all(
        isinstance(name, str) and name in known for name in names
    ):
        allowed = f"names of requests: {', '.join(sorted(known))}"
        yield Broken(f"{at}.requests", names, allowed, as_requests(names, known))
    else:
        yield from _twice(names, at)
    yield from _of_opaque(opaque, f"{at}.opaque")


def _of_opaque(opaque: Mapping[str, Any], at: str) -> Iterator[Broken]:
    driver, parameters = opaque.get("driver"), opaque.get("parameters")
    if not _is_driver(driver):
        yield Broken(f"{at}.driver", driver, "the name of a driver", as_driver(driver))
    if not isinstance(parameters, Mapping):
        fix = "write parameters: {apiVersion: ..., kind: ...}, as the driver documents them"
        yield Broken(f"{at}.parameters", parameters, "a mapping", fix)
    elif len(json.dumps(parameters, separators=(",", ":"))) > _LONGEST_PARAMETERS:
        allowed = f"at most {_LONGEST_PARAMETERS} bytes"
        yield Broken(f"{at}.parameters", "...", allowed, "shorten them")


def _is_driver(name: object) -> bool:
    """Whether a text is the name of a driver, whose capitals do not count."""
    return isinstance(name, str) and len(name) <= _LONGEST_DOMAIN and is_dns_subdomain(name.lower())
