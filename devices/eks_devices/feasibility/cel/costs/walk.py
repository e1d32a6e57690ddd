"""What the API server estimates that an expression may cost, before it takes it.

Where nobody says how long a text or a list may be, it is endless, and so is what goes through it.
Only the most that something may cost decides.

Source: https://github.com/google/cel-go (checker/cost.go) and
https://github.com/kubernetes/apiserver (pkg/cel/library/cost.go)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .calls import Call, Given, NotModelledError, cost_of
from .sizes import (
    ONE,
    UNKNOWN,
    Entries,
    Path,
    Size,
    capped,
    costs,
    size_at,
    type_size,
    union,
    written_size,
)
from .tree import Kind, Part

_GATHERED: Final = "@result"
LOOP: Final = "a loop"


@dataclass(frozen=True, slots=True)
class _Variable:
    path: Path
    size: Size | None
    entries: Entries | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """The most that an expression may cost, and which function, or `LOOP`, may cost most."""

    cost: int
    costliest: str


def estimated(whole: Part) -> Estimate | None:
    """The estimate of an expression; None where nothing is told about a function of it."""
    walk = _Walk()
    try:
        cost = walk.cost(whole)
    except NotModelledError:
        return None
    return Estimate(cost, max(walk.calls, key=walk.calls.__getitem__, default=""))


class _Walk:
    """Goes through an expression in the order of the API server, as sizes depend on it."""

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Size] = {}
        self._entries: dict[int, Entries] = {}
        self._variables: dict[str, list[_Variable]] = {}

    def cost(self, part: Part) -> int:
        """The most that a part may cost."""
        return capped(_OF_KIND[part.kind](self, part))

    def constant(self, _: Part) -> int:
        """What is written costs nothing."""
        return 0

    def name(self, part: Part) -> int:
        """A variable; the engine takes a field of the device for one, too."""
        variable = self._variable(part)
        self._paths[part.id] = variable.path if variable else tuple(part.name.split("."))
        return 1 if variable else 1 + part.name.count(".")

    def field(self, part: Part) -> int:
        """A field, or whether there is one, which costs nothing."""
        (owner,) = part.parts
        cost = self.cost(owner)
        if part.is_test:
            return cost
        self._paths[part.id] = (*self._path(owner), part.name)
        return cost + (owner.type.kind in ("map", "param"))

    def elements(self, part: Part) -> int:
        """A list or a mapping that is written."""
        is_list, cost, sizes = part.kind is Kind.LIST, 0, []
        for one in part.parts:
            cost += self.cost(one)
            sizes.append(self._size(one) or UNKNOWN)
        if is_list:
            self._entries[part.id] = Entries("list", ONE, union(sizes))
        else:
            self._entries[part.id] = Entries("map", union(sizes[::2]), union(sizes[1::2]))
        return cost + int(costs()["list" if is_list else "map"])

    def loop(self, part: Part) -> int:
        """A macro that goes through a list or a mapping, or that names a value."""
        over, start, *_, result = part.parts
        gathered = part.gathered
        cost = self.cost(over) + self.cost(start)
        self._push(gathered, _Variable(self._path(start), self._size(start), self._inside(start)))
        turns = Size(0, 0) if _is_binding(part) else self._turns(part)
        cost += self.cost(result)
        self._variables[gathered].pop()
        if _is_binding(part):
            self._same(part, result)
        else:
            self._sized(part, self._size(over) or UNKNOWN)
        self._note(LOOP, turns.most)
        return cost + turns.most

    def _turns(self, part: Part) -> Size:
        """What all turns of a loop cost."""
        over, _, condition, step, _ = part.parts
        if part.second:
            raise NotModelledError
        self._push(part.name, self._each(over))
        turn = capped(self.cost(condition) + self.cost(step))
        self._variables[part.name].pop()
        return (self._size(over) or UNKNOWN) * Size(turn, turn)

    def _sized(self, part: Part, turns: Size) -> None:
        """Notes how long what a loop makes is."""
        _, start, _, step, _ = part.parts
        self._set(part, self._size(start) if start.kind is Kind.CONSTANT else None)
        if start.kind in (Kind.LIST, Kind.MAP):
            self._set(part, turns)
            self._set_entries(part, self._inside(step))

    def _each(self, over: Part) -> _Variable:
        """What the variable of a loop stands for."""
        entries = self._inside(over)
        if (entries.kind if entries else over.type.kind) == "list":
            return _Variable((*self._path(over), "@items"), entries.value if entries else None)
        return _Variable((*self._path(over), "@keys"), entries.key if entries else None)

    def call(self, part: Part) -> int:
        """A function, with what it is called with."""
        if part.name == "dyn":
            cost = 1 + self.cost(part.parts[0])
            self._same(part, part.parts[0])
            return cost
        spent, given = [], []
        for one in part.parts:
            spent.append(self.cost(one))
            given.append(self._given(one))
        of_target = 0 if part.target is None else self.cost(part.target)
        target = None if part.target is None else self._given(part.target)
        own = self._own(part, target, given)
        self._note(part.name, own)
        of_given = spent[0] + max(spent[1:]) if part.name == "_?_:_" else sum(spent)
        return of_target + own + of_given

    def _own(self, part: Part, target: Given | None, given: Sequence[Given]) -> int:
        """The most that a function itself costs, of all that it may be."""
        most, size = 0, None
        for one in part.overloads:
            cost, made = cost_of(Call(part.name, one, target, tuple(given)))
            most = max(most, cost)
            size = made if size is None else size | (made or size)
            if one in ("index_list", "index_map"):
                size = self._picked(part, "@items" if one == "index_list" else "@values")
            if one in ("conditional", "add_string", "add_bytes", "add_list"):
                self._joined_entries(part, *part.parts[-2:])
            size = size or self._size(part)
        self._set(part, size)
        return most

    def _picked(self, part: Part, within: str) -> Size | None:
        """Notes that a part is an element of another, and tells how long it is."""
        entries = self._inside(part.parts[0])
        self._paths[part.id] = (*self._path(part.parts[0]), within)
        return entries.value if entries else None

    def _joined_entries(self, part: Part, left: Part, right: Part) -> None:
        """Notes that the elements of a part are those of two others."""
        one, other = self._inside(left), self._inside(right)
        self._set_entries(part, one | other if one and other else None)

    def _note(self, name: str, cost: int) -> None:
        self.calls[name] = max(self.calls.get(name, 0), cost)

    def _given(self, part: Part) -> Given:
        path = self._path(part)
        return Given(part, () if path[:1] == (_GATHERED,) else path, self._size(part) or UNKNOWN)

    def _path(self, part: Part) -> Path:
        variable = self._variable(part)
        return variable.path if variable else self._paths.get(part.id, ())

    def _variable(self, part: Part) -> _Variable | None:
        stack = self._variables.get(part.name) if part.kind is Kind.NAME else None
        return stack[-1] if stack else None

    def _push(self, name: str, variable: _Variable) -> None:
        self._variables.setdefault(name, []).append(variable)

    def _size(self, part: Part) -> Size | None:
        """How long a part is; None where nothing is told."""
        if (found := self._sizes.get(part.id) or written_size(part)) is not None:
            return found
        if (of_device := size_at(self._path(part))) is not None:
            self._sizes[part.id] = of_device
            return of_device
        variable = self._variable(part)
        return type_size(part.type) or (variable.size if variable else None)

    def _inside(self, part: Part) -> Entries | None:
        """How long the elements of a part are; None where nothing is told."""
        variable = self._variable(part)
        return self._entries.get(part.id) or (variable.entries if variable else None)

    def _set(self, part: Part, size: Size | None) -> None:
        if size is not None:
            self._sizes[part.id] = size

    def _set_entries(self, part: Part, entries: Entries | None) -> None:
        if entries is not None:
            self._entries[part.id] = entries

    def _same(self, part: Part, other: Part) -> None:
        self._set(part, self._size(other))
        self._set_entries(part, self._inside(other))


def _is_binding(part: Part) -> bool:
    """Whether a loop is none, and only names a value."""
    over, _, condition, *_ = part.parts
    is_empty = over.kind is Kind.LIST and not over.parts
    return is_empty and condition.kind is Kind.CONSTANT and not condition.value


_OF_KIND: Final[Mapping[Kind, Callable[[_Walk, Part], int]]] = {
    Kind.CONSTANT: _Walk.constant,
    Kind.NAME: _Walk.name,
    Kind.FIELD: _Walk.field,
    Kind.CALL: _Walk.call,
    Kind.LIST: _Walk.elements,
    Kind.MAP: _Walk.elements,
    Kind.LOOP: _Walk.loop,
}
