"""The CEL engine, told of the device that a selector sees and of the functions of Kubernetes.

There are two environments. One checks, with the types that Kubernetes has. The other evaluates:
the engine can call a function of ours with maps, but not with types of our own.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable
from typing import Any, Final, NoReturn

from ...extras import how_to_install
from ...findings import EksDevicesError, fault
from . import values
from .signatures import environment

DRIVER: Final = "device.driver"
ATTRIBUTES: Final = "device.attributes"
CAPACITY: Final = "device.capacity"
SHARED: Final = "device.allowMultipleAllocations"
# The domains that a device has attributes, or capacities, of.
ATTRIBUTE_DOMAINS: Final = "device.attributeDomains"
CAPACITY_DOMAINS: Final = "device.capacityDomains"
# What stands for a comparison that Kubernetes answers with an error.
REFUSED: Final = "comparedWithVersion"

_PACKAGE: Final = "https://github.com/cel-expr/cel-python"


@functools.cache
def engine() -> Any:
    """The module of the engine.

    Raises:
        EksDevicesError: It is not installed.
    """
    try:
        from cel_expr_python import cel  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError as error:
        raise EksDevicesError([_missing()]) from error
    return cel


def _missing() -> Any:
    return fault(
        "CheckExtraMissing",
        "check",
        "expressions are evaluated by a CEL engine, which is not installed",
        got="no module cel_expr_python",
        allowed="the extra check",
        fix=how_to_install("check"),
        source=_PACKAGE,
    )


@functools.cache
def checker() -> Any:
    """The environment that says whether Kubernetes accepts an expression, and its type."""
    cel = engine()
    from cel_expr_python.ext import (  # type: ignore[import-untyped]  # noqa: PLC0415
        ext_bindings,
        ext_optional,
    )

    # JSON is YAML.
    config = cel.NewEnvConfigFromYaml(json.dumps(environment()))
    extensions = [ext_bindings.ExtBindings(), ext_optional.ExtOptional()]
    return cel.NewEnv(config=config, extensions=extensions)


@functools.cache
def evaluator() -> Any:
    """The environment that evaluates what the checker accepts."""
    types = engine().Type
    tagged = types.Map(types.STRING, types.DYN)
    domains = types.List(types.STRING)
    variables = {
        DRIVER: types.STRING,
        SHARED: types.BOOL,
        ATTRIBUTES: tagged,
        CAPACITY: tagged,
        ATTRIBUTE_DOMAINS: domains,
        CAPACITY_DOMAINS: domains,
    }
    return _environment(variables, tagged)


@functools.lru_cache(maxsize=4096)
def program(text: str) -> Any:
    """An expression that the checker accepts, ready to be evaluated."""
    return evaluator().compile(text)


def _environment(variables: dict[str, Any], value: Any) -> Any:
    from cel_expr_python.ext import (  # noqa: PLC0415
        ext_bindings,
        ext_optional,
        ext_strings,
    )

    return engine().NewEnv(
        variables=variables,
        functions=_functions(value),
        extensions=[
            ext_bindings.ExtBindings(),
            ext_optional.ExtOptional(),
            ext_strings.ExtStrings(),
        ],
    )


def _functions(value: Any) -> list[Any]:
    """The declarations, quantities and versions being one type."""
    types = engine().Type
    pairs = [[value, value]]
    return [
        _function("quantity", value, [[types.STRING]], values.quantity, member=False),
        _function("isQuantity", types.BOOL, [[types.STRING]], values.is_quantity, member=False),
        _function("semver", value, [[types.STRING]], values.semver, member=False),
        _function("isSemver", types.BOOL, [[types.STRING]], values.is_semver, member=False),
        _function("compareTo", types.INT, pairs, values.compare),
        _function("isGreaterThan", types.BOOL, pairs, lambda a, b: values.compare(a, b) > 0),
        _function("isLessThan", types.BOOL, pairs, lambda a, b: values.compare(a, b) < 0),
        _function("sign", types.INT, [[value]], _sign, member=False),
        _function("isInteger", types.BOOL, [[value]], _is_integer),
        _function("asInteger", types.INT, [[value]], _as_integer),
        _function("asApproximateFloat", types.DOUBLE, [[value]], _as_float),
        *(
            _function(name, types.INT, [[value]], functools.partial(_part, index))
            for index, name in enumerate(("major", "minor", "patch"))
        ),
        _function(REFUSED, types.BOOL, [[value, types.STRING]], _refuse),
    ]


def _function(
    name: str,
    result: Any,
    overloads: list[list[Any]],
    call: Callable[..., Any],
    *,
    member: bool = True,
) -> Any:
    cel = engine()
    return cel.FunctionDecl(
        name,
        [
            cel.Overload(
                f"eks_{name}_{index}",
                return_type=result,
                parameters=parameters,
                is_member=member,
                impl=call,
            )
            for index, parameters in enumerate(overloads)
        ],
    )


def _part(index: int, value: dict[str, Any]) -> int:
    return values.part_of(value, index)


def _sign(value: dict[str, Any]) -> int:
    amount = values.amount(value)
    return (amount > 0) - (amount < 0)


def _is_integer(value: dict[str, Any]) -> bool:
    amount = values.amount(value)
    return amount.denominator == 1 and abs(amount) < 2**63


def _as_integer(value: dict[str, Any]) -> int:
    if not _is_integer(value):
        raise ValueError("no whole number of 64 bits")
    return math.floor(values.amount(value))


def _as_float(value: dict[str, Any]) -> float:
    return float(values.amount(value))


def _refuse(*_: object) -> NoReturn:
    raise ValueError("a version equals no other type")
