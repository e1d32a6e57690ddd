"""Makes values of YAML's events, with the place of each, however hostile the text is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from eks_devices._frozen import FrozenDict

from ._scalars import TagError, is_local, key_of, plain, tagged

# Nothing that Kubernetes takes is deeper.
_DEEPEST: Final = 100
# Values that aliases may stand for in a document: a few that stand for one another are millions.
_MOST_ALIASED: Final = 100_000
_MERGE: Final = "<<"
_MAP_TAG: Final = "tag:yaml.org,2002:map"
_LIST_TAG: Final = "tag:yaml.org,2002:seq"
_MERGE_TAG: Final = "tag:yaml.org,2002:merge"

Mark = tuple[int, int]
"""A line and a column, both from 1 on."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands, and where the values in it do."""

    mark: Mark
    inner: dict[str, Place] | list[Place] | None = None

    def of(self, steps: tuple[str | int, ...]) -> Mark:
        """The place of a value in this one, or of the innermost one around it that is there."""
        here = self
        for step in steps:
            found: Place | None = None
            if isinstance(here.inner, dict) and isinstance(step, str):
                found = here.inner.get(step)
            elif isinstance(here.inner, list) and isinstance(step, int):
                found = here.inner[step] if 0 <= step < len(here.inner) else None
            if found is None:
                break
            here = found
        return here.mark


class ComposeError(ValueError):
    """Something that no manifest holds; `mark` is its place."""

    def __init__(self, message: str, mark: Mark) -> None:
        super().__init__(message)
        self.mark = mark


@dataclass(frozen=True, slots=True)
class Repeated:
    """A key that a mapping has twice; the value of the last one counts."""

    steps: tuple[str | int, ...]
    mark: Mark
    first: Mark


@dataclass(slots=True)
class Composed:
    """A document: its value, the place of it, and the keys that it has twice."""

    value: Any
    place: Place
    repeated: list[Repeated]


@dataclass(slots=True)
class _Frame:
    """A mapping or a list that is not at its end yet."""

    mark: Mark
    anchor: str | None
    items: list[Any] | None = None
    values: dict[str, Any] = field(default_factory=dict)
    places: Any = None
    size: int = 1
    key: str | None = None
    key_mark: Mark = (0, 0)
    merging: bool = False
    merged: list[tuple[Any, Place]] = field(default_factory=list)

    @property
    def step(self) -> str | int:
        return len(self.items) if self.items is not None else (self.key or "")


class Composer:
    """Makes values of the events of documents.

    Args:
        yaml: The module `yaml`.
        events: The events of its parser.
        line: How many lines stand before the text.
    """

    def __init__(self, yaml: Any, events: Iterator[Any], *, line: int = 0) -> None:
        self._yaml, self._events, self._line = yaml, events, line

    def documents(self) -> Iterator[Composed]:
        """The documents, in their order.

        Raises:
            ComposeError: One cannot be a manifest.
            YAMLError: The text is no YAML.
        """
        for event in self._events:
            if isinstance(event, self._yaml.DocumentStartEvent):
                yield _Document(self._yaml, self._line).composed(self._events)


class _Document:
    def __init__(self, yaml: Any, line: int) -> None:
        self._yaml, self._line = yaml, line
        self._stack: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, Place, int]] = {}
        self._aliased = 0
        self._repeated: list[Repeated] = []
        self._root: tuple[Any, Place] = (None, Place((line + 1, 1)))

    def composed(self, events: Iterator[Any]) -> Composed:
        yaml = self._yaml
        for event in events:
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._scalar(event)
            elif kind in (yaml.MappingStartEvent, yaml.SequenceStartEvent):
                self._open(event, is_list=kind is yaml.SequenceStartEvent)
            elif kind in (yaml.MappingEndEvent, yaml.SequenceEndEvent):
                self._close()
            elif kind is yaml.AliasEvent:
                self._alias(event)
            else:
                break
        return Composed(*self._root, self._repeated)

    def _mark(self, event: Any) -> Mark:
        mark = event.start_mark
        return (mark.line + 1 + self._line, mark.column + 1)

    def _scalar(self, event: Any) -> None:
        mark, text, tag = self._mark(event), event.value, event.tag
        is_plain = event.implicit[0] and tag is None
        top = self._stack[-1] if self._stack else None
        if top is not None and top.items is None and top.key is None:
            merges = (is_plain and text == _MERGE) or tag == _MERGE_TAG
            if not merges:
                top.merging = False
                self._key(top, key_of(self._value(is_plain, tag, text, mark)), mark)
            else:
                top.merging, top.key, top.key_mark = True, _MERGE, mark
            self._anchor(event.anchor, text, Place(mark), 1)
            return
        value = self._value(is_plain, tag, text, mark)
        self._add(value, Place(mark), 1, event.anchor)

    def _value(self, is_plain: bool, tag: str | None, text: str, mark: Mark) -> Any:  # noqa: FBT001
        if not is_plain and tag in (None, "!"):
            return text
        try:
            return plain(text) if is_plain else tagged(str(tag), text)
        except TagError as error:
            raise ComposeError(str(error), mark) from error

    def _key(self, frame: _Frame, key: str, mark: Mark) -> None:
        if key in frame.values:
            steps = tuple(one.step for one in self._stack[:-1])
            first = frame.places[key].mark
            self._repeated.append(Repeated((*steps, key), mark, first))
        frame.key, frame.key_mark = key, mark

    def _open(self, event: Any, *, is_list: bool) -> None:
        mark = self._mark(event)
        top = self._stack[-1] if self._stack else None
        if top is not None and top.items is None and top.key is None:
            raise ComposeError("a mapping or a list cannot be a key", mark)
        tag = event.tag
        if not (tag is None or is_local(tag) or tag in (_MAP_TAG, _LIST_TAG)):
            raise ComposeError(f"the tag {event.tag} cannot be read here", mark)
        if len(self._stack) >= _DEEPEST:
            raise ComposeError("it is nested too deeply", mark)
        items: list[Any] | None = [] if is_list else None
        places: Any = [] if is_list else {}
        self._stack.append(_Frame(mark, event.anchor, items=items, places=places))

    def _close(self) -> None:
        frame = self._stack.pop()
        if frame.items is not None:
            value: Any = tuple(frame.items)
        else:
            self._merge(frame)
            value = FrozenDict(frame.values)
        self._add(value, Place(frame.mark, frame.places), frame.size, frame.anchor)

    def _merge(self, frame: _Frame) -> None:
        for value, place in frame.merged:
            for key, one in value.items():
                if key not in frame.values:
                    frame.values[key] = one
                    frame.places[key] = place.inner[key]  # type: ignore[index]

    def _alias(self, event: Any) -> None:
        mark = self._mark(event)
        if event.anchor not in self._anchors:
            raise ComposeError(f"the alias *{event.anchor} stands for nothing before it", mark)
        value, place, size = self._anchors[event.anchor]
        self._aliased += size
        if self._aliased > _MOST_ALIASED:
            raise ComposeError(f"aliases stand for more than {_MOST_ALIASED} values", mark)
        top = self._stack[-1] if self._stack else None
        if top is not None and top.items is None and top.key is None:
            if isinstance(value, (tuple, FrozenDict)):
                raise ComposeError("a mapping or a list cannot be a key", mark)
            top.merging = False
            self._key(top, key_of(value), mark)
            return
        self._add(value, Place(mark, place.inner), size, None)

    def _add(self, value: Any, place: Place, size: int, anchor: str | None) -> None:
        self._anchor(anchor, value, place, size)
        if not self._stack:
            self._root = value, place
            return
        top = self._stack[-1]
        top.size += size
        if top.items is not None:
            top.items.append(value)
            top.places.append(place)
        elif top.merging:
            self._note_merge(top, value, place)
        else:
            # A key is what people look for; the block of its value begins below it.
            key = top.key or ""
            top.values[key] = value
            top.places[key] = Place(top.key_mark, place.inner)
        top.key = None

    def _note_merge(self, frame: _Frame, value: Any, place: Place) -> None:
        several = value if isinstance(value, tuple) else (value,)
        places = place.inner if isinstance(value, tuple) else [place]
        if not all(isinstance(one, FrozenDict) for one in several):
            raise ComposeError("only mappings can be merged", frame.key_mark)
        frame.merged += zip(several, places, strict=True)  # type: ignore[arg-type]
        frame.merging = False

    def _anchor(self, name: str | None, value: Any, place: Place, size: int) -> None:
        if name:
            self._anchors[name] = value, place, size
