"""A file, and a function, that can be read in one go."""

import ast
from pathlib import Path

MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 45


def test_a_file_is_short(source_file: Path):
    lines = source_file.read_text(encoding="utf-8").count("\n")

    assert lines < MAX_FILE_LINES


def test_its_functions_are_short(source_file: Path):
    tree = ast.parse(source_file.read_text(encoding="utf-8"))

    long = {
        node.name: length
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and (length := node.end_lineno - node.lineno + 1) > MAX_FUNCTION_LINES
    }

    assert long == {}
