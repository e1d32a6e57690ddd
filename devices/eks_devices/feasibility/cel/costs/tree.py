"""The tree of an expression that the engine has checked, with the types of its parts.

The engine gives it as the message `cel.expr.CheckedExpr`, of which this reads what costs need.

Source: https://github.com/google/cel-spec (proto/cel/expr/checked.proto, syntax.proto)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

_Fields = dict[int, list[Any]]

# How values are encoded: by numbers of any length, by a size and bytes, or by a fixed size.
_VARINT, _BYTES, _FIXED = 0, 2, {1: 8, 5: 4}
_PRIMITIVES: Final = ("", "bool", "int", "uint", "double", "string", "bytes")
# The fields of a type: what it may be, each with the words for its values.
_ENUMS: Final = {3: _PRIMITIVES, 4: _PRIMITIVES, 5: ("", "any", "timestamp", "duration")}
_CONTAINERS: Final = {6: "list", 7: "map"}
_NAMED: Final = {9: "struct", 10: "param"}
_ABSTRACT: Final = 14
# The fields of the type of a part, of a constant that is a text, and of whether it is in `has`.
_OF_TYPE, _TEXT, _TEST_ONLY = 2, 6, 3
# The bit that says that more bytes of a number follow.
_MORE: Final = 0x80
_WHOLE = (1 << 64) - 1


class Kind(StrEnum):
    """What a part of an expression is."""

    CONSTANT = "constant"
    NAME = "name"
    FIELD = "field"
    CALL = "call"
    LIST = "list"
    MAP = "map"
    LOOP = "loop"


@dataclass(frozen=True, slots=True)
class CelType:
    """A type: `kind` is that of CEL, "struct" for one with a name, "dyn" where it is not known."""

    kind: str
    name: str = ""
    of: tuple[CelType, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part of an expression.

    `name` is that of a variable, field or function, `value` of a constant. `parts` are what a
    function is called with, or elements, or keys and values in turn; of a field its owner; of a
    loop range, start, condition, step and result. `target` is what a function is of, if it is of
    something. A loop has variables for an element, `name`, for a value beside its key, `second`,
    and for the result until then, `gathered`.
    """

    id: int
    kind: Kind
    type: CelType
    name: str = ""
    value: Any = None
    target: Part | None = None
    parts: tuple[Part, ...] = ()
    overloads: tuple[str, ...] = ()
    is_test: bool = False
    gathered: str = ""
    second: str = ""


def tree(serialized: bytes) -> Part:
    """The tree of what the engine serialized."""
    (checked,) = _fields(serialized)[2]
    return _Tree(_fields(checked)).whole


class _Tree:
    def __init__(self, checked: _Fields) -> None:
        entries = [_fields(one) for one in checked.get(2, ())]
        self._overloads = {
            one[1][0]: tuple(text.decode() for text in _fields(one[2][0]).get(3, ()))
            for one in entries
        }
        self._types = {
            one[1][0]: _type(one[2][0])
            for one in map(_fields, checked.get(3, ()))
            if _OF_TYPE in one
        }
        self.whole = self._part(checked[4][0])

    def _part(self, message: bytes) -> Part:
        fields = _fields(message)
        (number,) = fields.get(2, [0])
        at = next(one for one in _READERS if one in fields)
        kind, read = _READERS[at]
        told = read(self, fields[at][0])
        overloads = self._overloads.get(number, ()) if kind is Kind.CALL else ()
        kind_of = self._types.get(number, CelType("dyn"))
        return Part(id=number, kind=kind, type=kind_of, overloads=overloads, **told)

    def _all(self, messages: Sequence[bytes]) -> tuple[Part, ...]:
        return tuple(map(self._part, messages))

    def _constant(self, message: bytes) -> dict[str, Any]:
        ((at, (value,)),) = _fields(message).items()
        return {"value": value.decode() if at == _TEXT else value}

    def _name(self, message: bytes) -> dict[str, Any]:
        return {"name": _text(_fields(message), 1)}

    def _select(self, message: bytes) -> dict[str, Any]:
        fields = _fields(message)
        return {
            "name": _text(fields, 2),
            "parts": self._all(fields[1]),
            "is_test": _TEST_ONLY in fields,
        }

    def _call(self, message: bytes) -> dict[str, Any]:
        fields = _fields(message)
        target = self._part(fields[1][0]) if 1 in fields else None
        return {
            "name": _text(fields, 2),
            "target": target,
            "parts": self._all(fields.get(3, ())),
        }

    def _list(self, message: bytes) -> dict[str, Any]:
        return {"parts": self._all(_fields(message).get(1, ()))}

    def _map(self, message: bytes) -> dict[str, Any]:
        entries = map(_fields, _fields(message).get(2, ()))
        return {"parts": self._all([one[at][0] for one in entries for at in (3, 4)])}

    def _loop(self, message: bytes) -> dict[str, Any]:
        fields = _fields(message)
        return {
            "name": _text(fields, 1),
            "gathered": _text(fields, 3),
            "second": _text(fields, 8),
            "parts": self._all([fields[at][0] for at in (2, 4, 5, 6, 7)]),
        }


_READERS: Final[dict[int, tuple[Kind, Any]]] = {
    3: (Kind.CONSTANT, _Tree._constant),  # noqa: SLF001  (of this module)
    4: (Kind.NAME, _Tree._name),  # noqa: SLF001
    5: (Kind.FIELD, _Tree._select),  # noqa: SLF001
    6: (Kind.CALL, _Tree._call),  # noqa: SLF001
    7: (Kind.LIST, _Tree._list),  # noqa: SLF001
    8: (Kind.MAP, _Tree._map),  # noqa: SLF001
    9: (Kind.LOOP, _Tree._loop),  # noqa: SLF001
}


def _type(message: bytes) -> CelType:
    ((at, (value,)),) = _fields(message).items()
    if at in _ENUMS:
        return CelType(_ENUMS[at][value])
    if at in _CONTAINERS:
        of = _fields(value)
        return CelType(_CONTAINERS[at], of=tuple(_type(of[one][0]) for one in of))
    if at == _ABSTRACT:
        named = _fields(value)
        return CelType("opaque", _text(named, 1), tuple(map(_type, named.get(2, ()))))
    return CelType(_NAMED[at], value.decode()) if at in _NAMED else CelType("dyn")


def _text(fields: _Fields, at: int) -> str:
    return fields[at][0].decode() if at in fields else ""


def _fields(message: bytes) -> _Fields:
    found: _Fields = {}
    for at, value in _entries(message):
        found.setdefault(at, []).append(value)
    return found


def _entries(message: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message, each with a number or with bytes."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        wire = tag & 7
        value: Any
        if wire == _VARINT:
            value, at = _varint(message, at)
        else:
            size, at = _varint(message, at) if wire == _BYTES else (_FIXED[wire], at)
            value, at = message[at : at + size], at + size
        yield tag >> 3, value


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < _MORE:
            return value & _WHOLE, at
