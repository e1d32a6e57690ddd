"""Every reported fault has a test whose name says the right behaviour, or a reason for none."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest

from .case_tables import CaseTable, Entry

TABLE = CaseTable(file="user_reports.toml", rows="report", text="right", reason="not_applicable")


@pytest.fixture(scope="module")
def reports() -> list[Entry]:
    return TABLE.entries()


def test_every_report_has_tests_that_name_the_right_behaviour_or_a_reason(
    reports: list[Entry], root: Path
):
    assert reports
    assert TABLE.faults(reports, root) == []


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
        lambda table: table[1].update(tests=[f"{FILE}::reports"]),
        f"{{link}}: {FILE}::reports is no test of a file",
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

    assert TABLE.faults(table, root) == [fault.format(link=reports[1]["link"])]


def test_a_report_that_does_not_concern_the_library_needs_a_reason_alone(
    reports: list[Entry], root: Path
):
    table = copy.deepcopy(reports)
    del table[0]["tests"]
    table[0]["not_applicable"] = "it belongs to later work"

    assert TABLE.faults(table, root) == []
