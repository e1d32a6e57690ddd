"""What a selector of devices may compare."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..findings import Finding, fault
from ..syntax import well_formed
from ..typecheck import member, text, wrong_type
from .published_names import published_amounts, published_attributes, source_of, versions
from .syntax import DRA_PAGE, attribute, memory_faults

if TYPE_CHECKING:
    from .device_selectors import DeviceSelector

_VERSION: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){0,2}", re.ASCII)
_LONGEST: Final = 64
_MOST: Final = 64
_NUMBERS: Final = 2**63


def selector_value_faults(name: object, values: object, test: object) -> Iterator[Finding]:
    """Faults of what a selector compares, and of how."""
    from .device_selectors import SelectorTest  # noqa: PLC0415  (selectors are checked here)

    yield from attribute(name, "selector.attribute")
    path, wanted = "selector.values", "one value or more"
    if not isinstance(test, SelectorTest):
        yield from member(test, SelectorTest, "selector.test")
    elif type(values) is not tuple or not 0 < len(values) <= _MOST:
        yield wrong_type(path, values, wanted, "name what is compared")
    elif test is SelectorTest.ONE_OF:
        yield from _kind_faults(values, path)
        yield from _equal_version_faults(name)
        for index, one in enumerate(values):
            yield from _literal_faults(one, f"{path}[{index}]")
    elif len(values) > 1:
        yield wrong_type(path, values, "one value", "name the least")
    elif test is SelectorTest.QUANTITY_AT_LEAST:
        yield from memory_faults(values[0], f"{path}[0]")
    else:
        yield from _version_faults(values[0], f"{path}[0]")


def selector_kind_faults(selector: DeviceSelector, kind: str, path: str) -> Iterator[Finding]:
    """The fault of a selector by an attribute that devices of a kind never have."""
    from .device_selectors import SelectorTest  # noqa: PLC0415  (selectors are checked here)

    is_amount = selector.test is SelectorTest.QUANTITY_AT_LEAST
    names = published_amounts(kind) if is_amount else published_attributes(kind)
    if selector.attribute not in names:
        yield fault(
            "SelectorDoesNotFit",
            path,
            f"no driver publishes this attribute for devices of the kind {kind}, so none would "
            "match",
            got=selector.attribute,
            allowed=", ".join(names) or "no selector by an amount",
            fix="use a selector for such devices, or write CEL for attributes that are not known "
            "here",
            source=source_of(kind),
        )


def _kind_faults(values: Sequence[Any], path: str) -> Iterator[Finding]:
    if len({type(one) for one in values}) > 1:
        fix = "write values of one kind: an attribute has one"
        yield wrong_type(path, values, "texts, or whole numbers", fix)


def _equal_version_faults(name: object) -> Iterator[Finding]:
    if isinstance(name, str) and name in versions():
        yield fault(
            "VersionEqualsText",
            "selector.attribute",
            "the attribute is a version, and to compare one with a text is an error that stops "
            "the Pod's whole scheduling attempt",
            got=name,
            allowed="attributes that are no versions",
            fix="use the selector for it that ends in _at_least, or CEL with compareTo(semver())",
            source=DRA_PAGE,
        )


def _literal_faults(value: object, path: str) -> Iterator[Finding]:
    if isinstance(value, str):
        yield from text(value, path, "the text that devices have", "write the text itself")
        if not value.isprintable() or not 0 < len(value) <= _LONGEST:
            yield fault(
                "OutOfRange",
                path,
                "no attribute has such a text",
                got=value,
                allowed=f"1 to {_LONGEST} printable characters",
                fix="copy the value from a ResourceSlice",
                source=DRA_PAGE,
            )
    elif type(value) is int:
        if not -_NUMBERS <= value < _NUMBERS:
            wanted = "a whole number of 64 bits"
            yield wrong_type(path, value, wanted, "write a smaller number")
    elif not isinstance(value, bool):
        yield wrong_type(path, value, "a text, a whole number, or True or False", "write one")


def _version_faults(value: object, path: str) -> Iterator[Finding]:
    yield from well_formed(
        value,
        path,
        lambda one: _VERSION.fullmatch(one) is not None,
        code="MalformedVersion",
        message="the driver publishes no version of this form",
        allowed="one to three numbers, such as 9.0 or 580.82.07",
        fix="write the numbers with dots between",
        source=DRA_PAGE,
    )
