"""The CEL engine, told of the device that a selector sees and of the functions of Kubernetes.

There are two environments. One checks, with the types that Kubernetes has. The other evaluates:
the engine can call a function of ours with maps, but not with types of our own.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final, NoReturn

from ..extras import how_to_install
from ..findings import EksDevicesError, fault
from . import cel_values

DRIVER: Final = "device.driver"
ATTRIBUTES: Final = "device.attributes"
CAPACITY: Final = "device.capacity"
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
    types = engine().Type
    amount, version = (types.AbstractType(f"kubernetes.{one}") for one in ("Quantity", "Semver"))
    inner = types.Map(types.STRING, types.DYN)
    return _environment(
        {
            DRIVER: types.STRING,
            ATTRIBUTES: types.Map(types.STRING, inner),
            CAPACITY: types.Map(types.STRING, types.Map(types.STRING, amount)),
        },
        amount,
        version,
    )


@functools.cache
def evaluator() -> Any:
    """The environment that evaluates what the checker accepts."""
    types = engine().Type
    tagged = types.Map(types.STRING, types.DYN)
    domains = types.List(types.STRING)
    variables = {
        DRIVER: types.STRING,
        ATTRIBUTES: tagged,
        CAPACITY: tagged,
        ATTRIBUTE_DOMAINS: domains,
        CAPACITY_DOMAINS: domains,
    }
    return _environment(variables, tagged, tagged)


def _environment(variables: dict[str, Any], amount: Any, version: Any) -> Any:
    from cel_expr_python.ext import (  # type: ignore[import-untyped]  # noqa: PLC0415
        ext_bindings,
        ext_optional,
        ext_strings,
    )

    return engine().NewEnv(
        variables=variables,
        functions=_functions(amount, version),
        extensions=[
            ext_bindings.ExtBindings(),
            ext_optional.ExtOptional(),
            ext_strings.ExtStrings(),
        ],
    )


def _functions(amount: Any, version: Any) -> list[Any]:
    """The declarations; where both kinds are one type, each function has one overload for it."""
    types = engine().Type
    kinds = [amount] if amount is version else [amount, version]
    pairs = [[kind, kind] for kind in kinds]
    return [
        _function("quantity", amount, [[types.STRING]], cel_values.quantity, member=False),
        _function("isQuantity", types.BOOL, [[types.STRING]], cel_values.is_quantity, member=False),
        _function("semver", version, [[types.STRING]], cel_values.semver, member=False),
        _function("isSemver", types.BOOL, [[types.STRING]], cel_values.is_semver, member=False),
        _function("compareTo", types.INT, pairs, cel_values.compare),
        _function("isGreaterThan", types.BOOL, pairs, lambda a, b: cel_values.compare(a, b) > 0),
        _function("isLessThan", types.BOOL, pairs, lambda a, b: cel_values.compare(a, b) < 0),
        _function("sign", types.INT, [[amount]], _sign, member=False),
        _function("isInteger", types.BOOL, [[amount]], _is_integer),
        _function("asInteger", types.INT, [[amount]], _as_integer),
        _function("asApproximateFloat", types.DOUBLE, [[amount]], _as_float),
        *(
            _function(name, types.INT, [[version]], functools.partial(_part, index))
            for index, name in enumerate(("major", "minor", "patch"))
        ),
        _function(REFUSED, types.BOOL, [[version, types.STRING]], _refuse),
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
    return cel_values.part_of(value, index)


def _sign(value: dict[str, Any]) -> int:
    amount = cel_values.amount(value)
    return (amount > 0) - (amount < 0)


def _is_integer(value: dict[str, Any]) -> bool:
    amount = cel_values.amount(value)
    return amount.denominator == 1 and abs(amount) < 2**63


def _as_integer(value: dict[str, Any]) -> int:
    if not _is_integer(value):
        raise ValueError("no whole number of 64 bits")
    return math.floor(cel_values.amount(value))


def _as_float(value: dict[str, Any]) -> float:
    return float(cel_values.amount(value))


def _refuse(*_: object) -> NoReturn:
    raise ValueError("a version equals no other type")
