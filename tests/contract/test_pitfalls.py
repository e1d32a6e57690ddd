"""Every known pitfall of Neuron and EFA has a test that shows what we do about it, or a reason."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest

from .case_tables import CaseTable, number_faults

_HOSTS = r"(github\.com|docs\.aws\.amazon\.com|awsdocs-neuron\.readthedocs-hosted\.com)"
TABLES = {
    device: CaseTable(
        file=f"{device}_pitfalls.toml",
        rows="pitfall",
        text="problem",
        reason="reason",
        link=re.compile(rf"https://{_HOSTS}/\S+/\S+"),
        others=("number",),
    )
    for device in ("neuron", "efa")
}


@pytest.mark.parametrize(("device", "fewest"), [("neuron", 18), ("efa", 22)])
def test_every_pitfall_has_tests_that_name_our_behaviour_or_a_reason(
    device: str, fewest: int, root: Path
):
    entries = TABLES[device].entries()

    assert TABLES[device].faults(entries, root) == []
    assert number_faults(entries) == []
    assert len(entries) >= fewest


@pytest.mark.parametrize("device", TABLES)
def test_a_planted_fault_of_a_table_is_noticed(device: str, root: Path):
    entries = copy.deepcopy(TABLES[device].entries())
    entries[0].update(link="https://example.com/a/b", tests=["tests/devices/test_gone.py::test_a"])
    del entries[1]["number"]

    assert TABLES[device].faults(entries, root) == [
        "https://example.com/a/b: no link to a public thread",
        "https://example.com/a/b: no file tests/devices/test_gone.py",
    ]
    assert number_faults(entries) == ["None in place 2"]
