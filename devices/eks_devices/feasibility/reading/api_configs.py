"""What API servers refuse in the configurations of claims and of classes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..._json_values import json_faults
from ...findings import meant
from ...syntax import is_dns_subdomain
from ...typecheck import path_step
from ..classes import driver_of
from .broken import Broken, twice, unknown_fields
from .fields import CONFIG
from .form_advice import as_driver, as_requests

_LONGEST_PARAMETERS: Final = 10 * 1024
_LONGEST_DRIVER: Final = 63
_MOST_CONFIGS: Final = 32
_FIELD: Final = "opaque"
_OF_OPAQUE: Final = ("driver", "parameters")
_OPAQUE: Final = "opaque: {driver: ..., parameters: {...}}"


def broken_configs(
    configs: Any, at: str, known: Mapping[str, tuple[str, ...]], *, fields: tuple[str, ...] = CONFIG
) -> Iterator[Broken]:
    """What the server refuses in the configurations of a claim, or of a class.

    Args:
        configs: The field `config`.
        at: The path of what has it.
        known: What configurations may name, each with its classes.
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


def _of_config(
    config: object, at: str, known: Mapping[str, tuple[str, ...]], fields: tuple[str, ...]
) -> Iterator[Broken]:
    opaque = config.get(_FIELD) if isinstance(config, Mapping) else None
    if not isinstance(config, Mapping) or not isinstance(opaque, Mapping):
        yield _no_opaque(config if isinstance(config, Mapping) else {}, at, known)
        return
    yield from unknown_fields(config, fields, at)
    named = config.get("requests")
    names = () if named is None else named
    if not isinstance(names, tuple) or not all(
        isinstance(name, str) and name in known for name in names
    ):
        allowed = f"names of requests: {', '.join(sorted(known))}"
        yield Broken(f"{at}.requests", names, allowed, as_requests(names, known))
    else:
        yield from twice(names, at)
    yield from _of_opaque(opaque, f"{at}.{_FIELD}", _driver(names, known))


def _no_opaque(config: Mapping[str, Any], at: str, known: Mapping[str, tuple[str, ...]]) -> Broken:
    """A configuration without what is for a driver; or where that stands instead."""
    allowed = f"a driver and its parameters below {_FIELD}"
    written = next((one for one in config if one != _FIELD and meant(one, [_FIELD])), "")
    if written and _FIELD not in config:
        fix = meant(written, [_FIELD])
        return Broken(f"{at}.{path_step(written)}", config[written], allowed, fix)
    beside = [one for one in config if one not in CONFIG]
    given = config.get("driver")
    driver = given if isinstance(given, str) else _driver(config.get("requests"), known)
    of_driver = ", ".join(f"{one}: ..." for one in beside if one not in _OF_OPAQUE) or "..."
    fix = f"{_FIELD}: {{driver: {driver or '...'}, parameters: {{{of_driver}}}}}"
    told = f"put {' and '.join(beside)} below {_FIELD}" if beside else "write"
    got = [*config] if beside else config.get(_FIELD)
    return Broken(f"{at}.{_FIELD}", got, allowed, f"{told}: {fix}" if beside else f"write {fix}")


def _driver(names: Any, known: Mapping[str, tuple[str, ...]]) -> str:
    """The driver of the devices of requests, of all of them unless named; empty for several."""
    about = names if isinstance(names, tuple) and names else known
    classes = {one for name, some in known.items() if name in about for one in some}
    drivers = {driver_of(one) for one in classes}
    return (drivers.pop() or "") if len(drivers) == 1 else ""


def _of_opaque(opaque: Mapping[str, Any], at: str, device_driver: str) -> Iterator[Broken]:
    driver, parameters = opaque.get("driver"), opaque.get("parameters")
    strange = [one for one in opaque if one not in _OF_OPAQUE]
    is_flat = parameters is None and not any(meant(one, _OF_OPAQUE) for one in strange)
    if not _is_driver(driver):
        is_left = driver is None and device_driver
        fix = f"write driver: {device_driver}" if is_left else as_driver(driver)
        yield Broken(f"{at}.driver", driver, "the name of a driver", fix)
    if not isinstance(parameters, Mapping):
        fix = "write parameters: {apiVersion: ..., kind: ...}, as the driver documents them"
        if is_flat and strange:
            inner = ", ".join(f"{one}: ..." for one in strange)
            fix = f"put {' and '.join(strange)} below parameters: parameters: {{{inner}}}"
        yield Broken(f"{at}.parameters", parameters, "a mapping", fix)
    elif len(json.dumps(parameters, separators=(",", ":"))) > _LONGEST_PARAMETERS:
        allowed = f"at most {_LONGEST_PARAMETERS} bytes"
        yield Broken(f"{at}.parameters", "...", allowed, "shorten them")
    if not is_flat:
        yield from unknown_fields(opaque, _OF_OPAQUE, at)


def _is_driver(name: object) -> bool:
    """Whether a text is the name of a driver, whose capitals do not count."""
    return isinstance(name, str) and len(name) <= _LONGEST_DRIVER and is_dns_subdomain(name.lower())
