"""Every known bug of NVIDIA's managers has a test that shows what we do about it, or a reason."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from .case_tables import THREAD, CaseTable, Entry, number_faults

PAGE = r"https://github\.com/[\w.-]+/[\w.-]+/blob/\S+\.md"
TABLE = CaseTable(
    file="nvidia_bugs.toml",
    rows="bug",
    text="problem",
    reason="reason",
    link=re.compile(f"{THREAD.pattern}|{PAGE}"),
    others=("number",),
)


@pytest.fixture(scope="module")
def bugs() -> list[Entry]:
    return TABLE.entries()


def test_every_bug_has_tests_that_name_our_behaviour_or_a_reason(bugs: list[Entry], root: Path):
    assert TABLE.faults(bugs, root) == []


def test_bugs_are_numbered_without_a_gap(bugs: list[Entry]):
    assert len(bugs) >= 28
    assert number_faults(bugs) == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda table: table.pop(), []),
        (lambda table: table[-1].pop("number"), ["None in place 28"]),
        (lambda table: table[-1].update(number="28"), ["28 in place 28"]),
        (lambda table: table[-1].update(number=27), ["27 in place 28"]),
    ],
)
def test_a_wrong_number_is_noticed(
    bugs: list[Entry], change: Callable[[list[Entry]], object], found: list[str]
):
    table = copy.deepcopy(bugs[:28])

    change(table)

    assert number_faults(table) == found


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"problem": "bad"}, "no problem"),
        ({"reason": "nobody can help it"}, "neither tests nor a reason, or both"),
        ({"right": "It works as it should"}, "unknown right"),
        ({"link": "https://github.com/NVIDIA/k8s-device-plugin"}, "no link to a public thread"),
        ({"tests": []}, "no tests, or one twice"),
    ],
)
def test_a_planted_fault_of_the_table_is_noticed(
    bugs: list[Entry], root: Path, change: Entry, fault: str
):
    table = copy.deepcopy(bugs)

    table[0].update(change)

    assert TABLE.faults(table, root) == [f"{table[0]['link']}: {fault}"]
