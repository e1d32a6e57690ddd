"""The documents hold: their Python runs, their links lead somewhere."""

import re
from pathlib import Path

import pytest

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)[^)]*\)")


def documents(root: Path) -> list[Path]:
    return [root / name for name in DOCUMENTS] + sorted((root / "docs").rglob("*.md"))


@pytest.mark.parametrize("name", ["README.md", "docs/nvidia.md"])
def test_python_of_a_document_runs(root: Path, capsys: pytest.CaptureFixture[str], name: str):
    blocks = BLOCK.findall((root / name).read_text(encoding="utf-8"))

    names: dict[str, object] = {}  # as for a reader who pastes one block after the other
    for block in blocks:
        exec(compile(block, name, "exec"), names)  # noqa: S102 - the documented example

    assert blocks
    assert capsys.readouterr().out


def test_every_document_with_python_is_run(root: Path):
    told = {
        str(document.relative_to(root))
        for document in documents(root)
        if BLOCK.search(document.read_text(encoding="utf-8"))
    }

    assert told == {"README.md", "docs/nvidia.md"}


def test_relative_links_lead_somewhere(root: Path):
    broken = [
        f"{document.relative_to(root)}: {target}"
        for document in documents(root)
        for target in LINK.findall(document.read_text(encoding="utf-8"))
        if not (document.parent / target).exists()
    ]

    assert broken == []


def test_the_commands_of_the_readme_exist(root: Path):
    readme = (root / "README.md").read_text(encoding="utf-8")
    makefile = (root / "Makefile").read_text(encoding="utf-8")

    commands = re.findall(r"^make ([a-z-]+)", readme, re.MULTILINE)

    assert commands == ["synth", "test"]
    for command in commands:
        assert re.search(rf"^{command}:", makefile, re.MULTILINE), command
