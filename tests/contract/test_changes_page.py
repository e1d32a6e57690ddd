"""The page about changes says of each option what the data says."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

Row = dict[str, Any]
LINE = re.compile(r"^\| `(\w+)` \| (.+) \| ([a-z ]+) \|$", re.MULTILINE)
DATA = Path("devices/eks_devices/data/nodegroup_properties.toml")


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs" / "changing-a-node-group.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def table(root: Path) -> dict[str, list[Row]]:
    return tomllib.loads((root / DATA).read_text(encoding="utf-8"))


def alone(table: dict[str, list[Row]]) -> set[str]:
    """Properties that make every node anew, and that change with no other."""
    return {row["name"] for row in table["property"] if row.get("alone", False)}


def effect(row: Row, alone: set[str]) -> str:
    """What a row of the data means to a user."""
    if row.get("together", False):
        return "refused"
    if row["effect"] == "in place":
        return "new nodes" if alone & {*row["changes"]} else "in place"
    return {"replaces": "new group", "none": "nothing"}[row["effect"]]


@pytest.mark.parametrize("kind", ["option", "parameter"])
def test_the_page_says_what_the_data_says(page: str, table: dict[str, list[Row]], kind: str):
    _, _, part = page.partition(f"| {kind} | what of it changes | effect |\n")
    rows = LINE.findall(part.partition("\n\n")[0])

    assert rows
    assert rows == [(row["name"], row["case"], effect(row, alone(table))) for row in table[kind]]


def test_the_page_explains_every_effect_that_it_names(page: str):
    named = {one for _, _, one in LINE.findall(page)}
    explained = set(re.findall(r"^\| ([a-z ]+) \| [A-Z].* \|$", page, re.MULTILINE))

    assert explained == named


def test_the_page_names_what_changes_alone(page: str, table: dict[str, list[Row]]):
    _, _, part = page.partition("## What may not change together\n")
    sentence = part.partition(" together with")[0]

    assert set(re.findall(r"`([\w.]+)`", sentence)) == alone(table)


def test_the_example_of_the_page_is_a_change_that_is_refused(
    page: str, table: dict[str, list[Row]]
):
    (example,) = re.findall(r"\(`(\w+)` and `(\w+)`, say\)", page)
    effects = [
        {effect(row, alone(table)) for row in table["option"] if row["name"] == name}
        for name in example
    ]

    assert effects == [{"new nodes"}, {"in place"}]
