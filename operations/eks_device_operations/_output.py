"""What every verb writes: JSON, and text and tables that fit the terminal."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final

_GAP: Final = "  "
_NO_LIMIT: Final = 1_000_000
_NARROWEST: Final = 40
_LONGEST_CELL: Final = 400  # no real value is longer; every row is padded to the longest

Row = Sequence[str]


def safe(text: object) -> str:
    """A text in one line that no terminal acts on: what is not printable is spelt out."""
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in shown
    )


def counted(number: int, noun: str) -> str:
    """A number of things: "1 error", "2 errors"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def as_json(schema: str, **values: Any) -> str:
    """One JSON document that names its schema."""
    return json.dumps({"schema": schema, **values}, indent=2) + "\n"


def terminal_width() -> int:
    """Columns of the terminal; without one, as in a pipe, lines are as long as they need."""
    return shutil.get_terminal_size(fallback=(_NO_LIMIT, 24)).columns


def prose(text: object, *, width: int, indent: str = "", hanging: str = "") -> list[str]:
    """A text in lines that fit; words stay whole. Lines after the first hang in further."""
    return textwrap.wrap(
        safe(text),
        max(width, _NARROWEST),
        initial_indent=indent,
        subsequent_indent=indent + hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def pairs(rows: Iterable[tuple[str, str]], *, width: int) -> list[str]:
    """Names with their values beside them; a row without a value is left out."""
    filled = [(name, value) for name, value in rows if value]
    first = max((len(safe(name)) for name, _ in filled), default=0)
    lines: list[str] = []
    for name, value in filled:
        hanging = _GAP + " " * first + _GAP
        wrapped = prose(value, width=width, indent=hanging) or [hanging]
        head = _GAP + safe(name).ljust(first) + _GAP
        lines += [(head + wrapped[0][len(hanging) :]).rstrip(), *wrapped[1:]]
    return lines


def without_columns(
    titles: Row, rows: Sequence[Row], droppable: Iterable[str], *, width: int
) -> tuple[list[str], list[list[str]], list[str]]:
    """The columns that fit: titles, rows, and which columns had to go."""
    kept, dropped = list(range(len(titles))), []
    widths = _natural_widths(titles, rows)
    for title in droppable:
        if _line_width([widths[place] for place in kept]) <= width:
            break
        kept.remove(titles.index(title))
        dropped.append(title)
    return [titles[k] for k in kept], [[row[k] for k in kept] for row in rows], dropped


def table(titles: Row, rows: Sequence[Row], *, width: int) -> list[str]:
    """Rows under titles, as wide as the terminal; cells wrap between words.

    Where even that is too wide, each row becomes a block of names and values.
    """
    cells = [[short(cell) or "-" for cell in row] for row in rows]
    widths = _squeezed(titles, cells, width)
    if widths is None:
        blocks = [pairs(zip(titles, row, strict=True), width=width) for row in cells]
        return [line for block in blocks for line in [*block, ""]][:-1]
    wrapped = [
        [_cell_lines(cell, width) for cell, width in zip(row, widths, strict=True)]
        for row in [titles, *cells]
    ]
    widths = [
        max(len(line) for cell in column for line in cell) for column in zip(*wrapped, strict=True)
    ]
    return [line for row in wrapped for line in _row_lines(row, widths)]


def _natural_widths(titles: Row, rows: Sequence[Row]) -> list[int]:
    return [max(map(len, column)) for column in zip(titles, *rows, strict=True)]


def _line_width(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _squeezed(titles: Row, rows: Sequence[Row], width: int) -> list[int] | None:
    """Column widths that fit, taken from where wrapping gains most; None when none do."""
    widths = _natural_widths(titles, rows)
    spare = [
        widest - max(len(word) for cell in column for word in cell.split())
        for widest, column in zip(widths, zip(titles, *rows, strict=True), strict=True)
    ]
    for place in sorted(range(len(widths)), key=lambda place: -spare[place]):
        excess = _line_width(widths) - width
        widths[place] -= max(0, min(excess, spare[place]))
    return widths if _line_width(widths) <= width else None


def _row_lines(row: Sequence[Sequence[str]], widths: Sequence[int]) -> Iterator[str]:
    for parts in zip_longest(*row, fillvalue=""):
        line = (part.ljust(width) for part, width in zip(parts, widths, strict=True))
        yield _GAP.join(line).rstrip()


def _cell_lines(cell: str, width: int) -> list[str]:
    if len(cell) <= width:
        return [cell]
    return textwrap.wrap(cell, width, break_long_words=False, break_on_hyphens=False) or [""]


def short(text: str) -> str:
    """A text that is safe to show, cut where no real value is so long."""
    shown = safe(text)
    return shown if len(shown) <= _LONGEST_CELL else f"{shown[:_LONGEST_CELL]}..."
