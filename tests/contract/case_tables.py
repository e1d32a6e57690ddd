"""Tables of public cases: each has tests that name the right behaviour, or a reason for none."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
THREAD = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/[0-9]+")
_TEST = re.compile(r"(tests/(?:\w+/)+test_\w+\.py)::(test_\w+)")
_LEFT_OPEN = "left_open"
_FEWEST_WORDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseTable:
    """A table beside this module, and what its entries hold.

    Each has a `link`, a `text` in words, and either `tests` or a `reason` for none; the part that
    no test covers stands in `left_open`. `others` are keys that the table's own test judges.
    """

    file: str
    rows: str
    text: str
    reason: str
    link: re.Pattern[str] = THREAD
    others: tuple[str, ...] = ()

    def entries(self) -> list[Entry]:
        """The entries of the table, in its order."""
        file = Path(__file__).with_name(self.file)
        return list(tomllib.loads(file.read_text(encoding="utf-8"))[self.rows])

    def faults(self, entries: list[Entry], root: Path) -> list[str]:
        """What is wrong with entries, a line for each."""
        links = Counter(str(one.get("link")) for one in entries)
        found = [f"{link}: {times} times" for link, times in links.items() if times > 1]
        for one in entries:
            found += [f"{one.get('link')}: {text}" for text in self._entry_faults(one, root)]
        return found

    def _entry_faults(self, one: Entry, root: Path) -> Iterator[str]:
        known = {"link", "tests", _LEFT_OPEN, self.text, self.reason, *self.others}
        if unknown := one.keys() - known:
            yield f"unknown {', '.join(sorted(unknown))}"
        if not self.link.fullmatch(str(one.get("link"))):
            yield "no link to a public thread"
        for name in (self.text, *({self.reason, _LEFT_OPEN} & one.keys())):
            if len(str(one.get(name, "")).split()) < _FEWEST_WORDS:
                yield f"no {name}"
        if ("tests" in one) == (self.reason in one):
            yield "neither tests nor a reason, or both"
        elif "tests" in one:
            named = one["tests"]
            yield from () if named and len({*named}) == len(named) else ["no tests, or one twice"]
            for test in named:
                yield from _named_faults(test, root)


def number_faults(entries: list[Entry]) -> list[str]:
    """The places where the numbers are not 1, 2, 3 and so on."""
    numbers = [one.get("number") for one in entries]
    counted = enumerate(numbers, start=1)
    return [f"{number} in place {place}" for place, number in counted if number != place]


def _named_faults(test: str, root: Path) -> Iterator[str]:
    match = _TEST.fullmatch(test)
    if match is None:
        yield f"{test} is no test of a file"
    elif not (root / match[1]).is_file():
        yield f"no file {match[1]}"
    elif match[2] not in _functions_of(root / match[1]):
        yield f"no test {match[2]} in {match[1]}"
    elif len(match[2].removeprefix("test_").split("_")) < _FEWEST_WORDS:
        yield f"the name {match[2]} says no behaviour"


@cache
def _functions_of(file: Path) -> frozenset[str]:
    """The tests of a file: functions that no other function or class holds."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    functions = [one.name for one in body if isinstance(one, ast.FunctionDef)]
    return frozenset(name for name in functions if name.startswith("test_"))
