"""Every reported fault has a test whose name says the right behaviour, or a reason for none."""

from __future__ import annotations

import ast
import copy
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

Entry = dict[str, Any]
LINK = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/[0-9]+")
TEST = re.compile(r"(tests/(?:\w+/)+test_\w+\.py)::(test_\w+)")
KEYS = {"link", "right", "tests", "not_applicable", "left_open"}
FEWEST_WORDS = 3


@pytest.fixture(scope="module")
def reports() -> list[Entry]:
    file = Path(__file__).with_name("user_reports.toml")
    return list(tomllib.loads(file.read_text(encoding="utf-8"))["report"])


def faults(reports: list[Entry], root: Path) -> list[str]:
    """What is wrong with the table, a line for each."""
    links = Counter(str(one.get("link")) for one in reports)
    found = [f"{link}: {times} times" for link, times in links.items() if times > 1]
    for one in reports:
        found += [f"{one.get('link')}: {text}" for text in entry_faults(one, root)]
    return found


def entry_faults(one: Entry, root: Path) -> Iterator[str]:
    if unknown := one.keys() - KEYS:
        yield f"unknown {', '.join(sorted(unknown))}"
    if not LINK.fullmatch(str(one.get("link"))):
        yield "no link to a public thread"
    for name in ("right", *({"not_applicable", "left_open"} & one.keys())):
        if len(str(one.get(name, "")).split()) < FEWEST_WORDS:
            yield f"no {name}"
    if ("tests" in one) == ("not_applicable" in one):
        yield "neither tests nor a reason, or both"
    elif "tests" in one:
        named = one["tests"]
        yield from () if named and len({*named}) == len(named) else ["no tests, or one twice"]
        for test in named:
            yield from named_faults(test, root)


def named_faults(test: str, root: Path) -> Iterator[str]:
    match = TEST.fullmatch(test)
    if match is None:
        yield f"{test} is no test of a file"
    elif not (root / match[1]).is_file():
        yield f"no file {match[1]}"
    elif match[2] not in functions_of(root / match[1]):
        yield f"no test {match[2]} in {match[1]}"
    elif len(match[2].removeprefix("test_").split("_")) < FEWEST_WORDS:
        yield f"the name {match[2]} says no behaviour"


@cache
def functions_of(file: Path) -> frozenset[str]:
    """The tests of a file: functions that no other function or class holds."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    functions = [one.name for one in body if isinstance(one, ast.FunctionDef)]
    return frozenset(name for name in functions if name.startswith("test_"))


def test_every_report_has_tests_that_name_the_right_behaviour_or_a_reason(
    reports: list[Entry], root: Path
):
    assert reports
    assert faults(reports, root) == []


Change = Callable[[list[Entry]], object]
FILE = "tests/contract/test_user_reports.py"
# What is changed of a table without faults, and the only fault that must be found.
PLANTED: dict[str, tuple[Change, str]] = {
    "a thread stands twice": (
        lambda table: table.append(copy.deepcopy(table[1])),
        "{link}: 2 times",
    ),
    "no link": (lambda table: table[1].pop("link"), "None: no link to a public thread"),
    "a link to something else": (
        lambda table: table[1].update(link="https://github.com/eksctl-io/eksctl"),
        "https://github.com/eksctl-io/eksctl: no link to a public thread",
    ),
    "no behaviour": (lambda table: table[1].pop("right"), "{link}: no right"),
    "an empty reason": (
        lambda table: (table[1].pop("tests"), table[1].update(not_applicable=" ")),
        "{link}: no not_applicable",
    ),
    "an empty remark": (lambda table: table[1].update(left_open=""), "{link}: no left_open"),
    "neither tests nor a reason": (
        lambda table: table[1].pop("tests"),
        "{link}: neither tests nor a reason, or both",
    ),
    "tests and a reason": (
        lambda table: table[1].update(not_applicable="it belongs to later work"),
        "{link}: neither tests nor a reason, or both",
    ),
    "no tests": (lambda table: table[1].update(tests=[]), "{link}: no tests, or one twice"),
    "a test twice": (
        lambda table: table[1].update(tests=table[1]["tests"][:1] * 2),
        "{link}: no tests, or one twice",
    ),
    "another key": (lambda table: table[1].update(test=[]), "{link}: unknown test"),
    "a file that is not there": (
        lambda table: table[1].update(tests=["tests/devices/test_gone.py::test_it_is_so"]),
        "{link}: no file tests/devices/test_gone.py",
    ),
    "a test that is not there": (
        lambda table: table[1].update(tests=[f"{FILE}::test_it_is_not_so"]),
        f"{{link}}: no test test_it_is_not_so in {FILE}",
    ),
    "a function that is no test": (
        lambda table: table[1].update(tests=[f"{FILE}::entry_faults"]),
        f"{{link}}: {FILE}::entry_faults is no test of a file",
    ),
    "a name without a behaviour": (
        lambda table: table[1].update(tests=["tests/devices/test_support.py::test_an_answer"]),
        "{link}: the name test_an_answer says no behaviour",
    ),
}


@pytest.mark.parametrize(("change", "fault"), PLANTED.values(), ids=PLANTED)
def test_a_planted_fault_of_the_table_is_noticed(
    reports: list[Entry], root: Path, change: Change, fault: str
):
    table = copy.deepcopy(reports)

    change(table)

    assert faults(table, root) == [fault.format(link=reports[1]["link"])]


def test_a_report_that_does_not_concern_the_library_needs_a_reason_alone(
    reports: list[Entry], root: Path
):
    table = copy.deepcopy(reports)
    del table[0]["tests"]
    table[0]["not_applicable"] = "it belongs to later work"

    assert faults(table, root) == []
