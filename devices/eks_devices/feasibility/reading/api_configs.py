"""What API servers refuse in the configurations of claims and of classes."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from ..._json_values import json_faults
from ...findings import meant
from ...syntax import is_dns_subdomain
from ...typecheck import path_step
from .broken import CONFIG, Broken, twice, unknown_fields
from .form_advice import as_driver, as_requests

_LONGEST_PARAMETERS: Final = 10 * 1024
_LONGEST_DRIVER: Final = 63
_MOST_CONFIGS: Final = 32
_OPAQUE: Final = "opaque: {driver: ..., parameters: {...}}"


def broken_configs(
    configs: Any, at: str, known: Collection[str], *, fields: tuple[str, ...] = CONFIG
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
    named = config.get("requests")
    names = () if named is None else named
    if not isinstance(names, tuple) or not all(
        isinstance(name, str) and name in known for name in names
    ):
        allowed = f"names of requests: {', '.join(sorted(known))}"
        yield Broken(f"{at}.requests", names, allowed, as_requests(names, known))
    else:
        yield from twice(names, at)
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
    return isinstance(name, str) and len(name) <= _LONGEST_DRIVER and is_dns_subdomain(name.lower())
