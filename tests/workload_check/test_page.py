"""The page on the check lists every code that the check has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = (
    "devices/eks_devices/workload_check",
    "operations/eks_device_operations/check",
    "operations/eks_device_operations/manifests",
)
MADE_BY = {"Obstacle", "fault", "warning", "info", "_verdict", "Finding", "_obstacle"}


def codes_in(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or getattr(node.func, "id", "") not in MADE_BY:
            continue
        named = [one.value for one in node.keywords if one.arg == "code"]
        for one in [*node.args, *named]:
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                text = one.value
                if text.isalpha() and text[:1].isupper() and not text.isupper():
                    yield text


def test_every_code_is_on_the_page() -> None:
    page = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    files = [one for folder in FOLDERS for one in (ROOT / folder).glob("*.py")]
    found = {code for one in files for code in codes_in(one.read_text(encoding="utf-8"))}
    assert len(found) > 25
    assert {one for one in found if f"`{one}`" not in page} == set()
