"""What a function in an expression may cost, beside what it is called with."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from .sizes import ENDLESS, UNKNOWN, Path, Size, capped, costs, factored, size_at
from .tree import Part


class NotModelledError(Exception):
    """Nothing is told here about what a function costs."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a function is called with: how long it is, and where in the device it comes from."""

    part: Part
    path: Path
    size: Size


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of the functions of a name."""

    name: str
    overload: str
    target: Given | None
    given: tuple[Given, ...]

    @property
    def about(self) -> Given:
        """What it is about: the target, or else what is given first."""
        return self.target or self.given[0]

    @property
    def first(self) -> Size:
        """The size of what it is about."""
        return self.about.size


Cost = tuple[int, Size | None]
"""The most that it may cost, and the size of what it makes."""


def cost_of(call: Call) -> Cost:
    """The cost of a call.

    Raises:
        NotModelledError: Nothing is told about the function.
    """
    if call.name in _BY_NAME:
        return _BY_NAME[call.name](call)
    if call.name == "_==_" and _is_value(call):
        return 1, None
    if call.name in _NOT_MODELLED:
        raise NotModelledError
    return _BY_OVERLOAD.get(call.overload, _once)(call)


def _once(_: Call) -> Cost:
    return 1, None


def _walked(size: Size, times: int = 1) -> int:
    return factored(size.most, times * costs()["traversal"])


def _element(of: Given) -> Size:
    """How long an element of a list may be."""
    return (size_at((*of.path, "@items")) if of.path else None) or UNKNOWN


def _through(call: Call) -> Cost:
    """Goes through a list, or a text, to the end."""
    inner = call.about.part.type.of
    if not inner:
        return _walked(call.first), None
    is_long = inner[0].kind in ("string", "bytes")
    each = capped(1 + _walked(_element(call.about))) if is_long else 1
    return capped(call.first.most * each), None


def _read(call: Call) -> Cost:
    return _walked(call.given[0].size), None


def _read_twice(call: Call) -> Cost:
    return _walked(call.given[0].size, 2), None


def _changed(call: Call) -> Cost:
    """Makes a text as long as the one that it is about."""
    return _walked(call.first), call.first


def _replaced(call: Call) -> Cost:
    text, old, new = call.first, call.given[0].size, call.given[1].size
    return _walked(text, 2), Size(_least(text, old, new), _most(text, old, new))


def _most(text: Size, old: Size, new: Size) -> int:
    if old.least == 0:
        return capped(capped(text.most + 1) * new.most + text.most)
    if new.most <= old.least:
        return text.most
    return capped(math.ceil(float(text.most) / old.least) * new.most)


def _least(text: Size, old: Size, new: Size) -> int:
    if old.most == 0:
        return capped(capped(text.least + 1) * new.least + text.least)
    if old.most <= new.least:
        return text.least
    return capped(math.ceil(float(text.least) / old.most) * new.least)


def _split(call: Call) -> Cost:
    most = call.first.most
    if len(call.given) > 1 and isinstance(call.given[1].part.value, int):
        most = call.given[1].part.value
    return _walked(call.first, 2), Size(0, most)


def _joined(call: Call) -> Cost:
    parts = call.first
    size = parts * _element(call.about) if call.about.part.type.of else Size(0, 0)
    if call.given:
        between = Size(max(parts.least - 1, 0), max(parts.most - 1, 0))
        size += call.given[0].size * between
    return _walked(size), size


def _pattern(text: Size, pattern: Size) -> int:
    return capped(_walked(text + Size(1, 1)) * factored(pattern.most, costs()["pattern"]))


def _found(call: Call) -> Cost:
    return _pattern(call.first, call.given[0].size), Size(0, call.first.most)


def _matched(call: Call) -> Cost:
    """Also as a function of two texts, of which older API servers count only one step."""
    if call.target is None:
        raise NotModelledError
    return _pattern(call.first, call.given[0].size), None


def _address(call: Call) -> Cost:
    """Reads an address; of a network that is read already it is a field."""
    return (1, None) if call.target else _read(call)


def _inside(call: Call) -> Cost:
    # Two addresses of at most 16 bytes, and the text of one that is given as a text.
    cost = _walked(Size(8, 32))
    if call.name == "containsCIDR":
        cost += _walked(Size(4, 16)) + 1
    may_be_text = call.given[0].part.type.kind in ("string", "dyn")
    return capped(cost + may_be_text * _walked(call.given[0].size)), None


def _validated(call: Call) -> Cost:
    factor = costs()["named_format_pattern"] * costs()["pattern"]
    return factored(_walked(call.given[0].size), factor), None


def _formatted(call: Call) -> Cost:
    return _walked(call.first), None


def _quoted(call: Call) -> Cost:
    size = call.given[0].size
    return _walked(size), Size(size.least + 2, _wrapped(size.most * 2 + 2))


def _to_bytes(call: Call) -> Cost:
    size = call.first
    return _walked(size), Size(size.least, _wrapped(size.most * 4))


def _wrapped(number: int) -> int:
    """A number as the API server has it, which begins again after what is endless."""
    return number % (ENDLESS + 1)


def _to_text(call: Call) -> Cost:
    size = call.first
    return _walked(size), Size(size.least // 4, size.most)


def _as_text(call: Call) -> Cost:
    """Makes a text of a value; of what may be bytes it goes through them."""
    is_read = call.given[0].part.type.kind in ("bytes", "dyn")
    return _to_text(call) if is_read else _once(call)


def _in_list(call: Call) -> Cost:
    return call.given[1].size.most, None


def _contained(call: Call) -> Cost:
    return capped(_walked(call.first) * _walked(call.given[0].size)), None


def _chosen(call: Call) -> Cost:
    return 0, call.given[1].size | call.given[2].size


def _added(call: Call) -> Cost:
    size = call.given[0].size + call.given[1].size
    return (1 if call.overload == "add_list" else _walked(size)), size


def _compared(call: Call) -> Cost:
    smaller = min((one.size for one in call.given), key=lambda one: one.most)
    return _walked(smaller), None


def _sets(call: Call) -> Cost:
    times = 2 if call.name == "sets.equivalent" else 1
    return capped(call.given[0].size.most * call.given[1].size.most * times + 1), None


def _free(_: Call) -> Cost:
    return 0, None


def _is_value(call: Call) -> bool:
    """Whether two quantities, versions or addresses are compared, which are not texts."""
    left, right = (one.part.type for one in call.given)
    return left == right and left.name in _VALUES


_VALUES: Final = ("kubernetes.Quantity", "kubernetes.Semver", "net.IP", "net.CIDR")
_Function = Callable[[Call], Cost]
_BY_NAME: Final[Mapping[str, _Function]] = {
    **dict.fromkeys(("indexOf", "lastIndexOf", "isSorted", "sum", "max", "min"), _through),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _changed),
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver"), _read),
    **dict.fromkeys(("cidr", "isIP", "isCIDR"), _read),
    **dict.fromkeys(("containsIP", "containsCIDR"), _inside),
    **dict.fromkeys(("find", "findAll"), _found),
    **dict.fromkeys(("sets.contains", "sets.intersects", "sets.equivalent"), _sets),
    "url": _changed,
    "ip": _address,
    "ip.isCanonical": _read_twice,
    "replace": _replaced,
    "split": _split,
    "join": _joined,
    "validate": _validated,
    "format": _formatted,
    "strings.quote": _quoted,
    "string": _as_text,
}
_ORDERS: Final = ("less", "greater", "less_equals", "greater_equals")
_BY_OVERLOAD: Final[Mapping[str, _Function]] = {
    **{f"{one}_{kind}": _compared for one in _ORDERS for kind in ("string", "bytes")},
    **dict.fromkeys(("equals", "not_equals"), _compared),
    **dict.fromkeys(("add_string", "add_bytes", "add_list"), _added),
    **dict.fromkeys(("logical_and", "logical_or"), _free),
    **dict.fromkeys(("starts_with_string", "ends_with_string"), _read),
    "string_to_bytes": _to_bytes,
    "bytes_to_string": _to_text,
    "in_list": _in_list,
    "contains_string": _contained,
    "matches_string": _matched,
    "matches": _matched,
    "conditional": _chosen,
}
_NOT_MODELLED: Final = frozenset(
    ("slice", "flatten", "reverse", "distinct", "sort", "@sortByAssociatedKeys", "lists.range")
)
