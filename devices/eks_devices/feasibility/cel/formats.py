"""Texts that are filled in by `format`, which API servers look at where all of it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .form import elements, quoted_out

_CALL: Final = re.compile(r"""('[^'\\\n]*'|"[^"\\\n]*")\s*\.\s*format\s*\(\s*(?=\[)""")
_CLAUSE: Final = re.compile(r"%(?:%|(?:\.[0-9]+)?([a-zA-Z]))")
_VALUE: Final = re.compile(
    r"""device\s*\.\s*(attributes|capacity)\s*\[\s*['"][^'"\\]+['"]\s*\]"""
    r"""\s*(?:\.\s*\w+|\[\s*['"]\w+['"]\s*\])"""
)


def unformattable(text: str) -> tuple[str, str] | None:
    """Why API servers refuse what an expression formats, and what to write; None where not.

    Source: https://pkg.go.dev/github.com/google/cel-go/ext#Strings
    """
    return next(_reasons(text), None)


def _reasons(text: str) -> Iterator[tuple[str, str]]:
    quoted = quoted_out(text)
    for one in _CALL.finditer(text):
        start = one.end()
        if quoted[one.end(1) : start].count("\0") or quoted[one.start() - 1 : one.start()] == "\0":
            # It is a part of a text, or a comment.
            continue
        values = [each.strip() for each in elements(quoted, text, start + 1) if each.strip()]
        clauses = [each for each in _CLAUSE.findall(one[1]) if each]
        if len(clauses) != len(values):
            told = f"{one[1]} has {len(clauses)} places to fill in, and is given {len(values)}"
            yield told, "give it one value for each"
            continue
        for value in values:
            found = _VALUE.fullmatch(value)
            if found:
                is_text = found[1] == "attributes"
                yield (
                    f"format takes no {value}, whose type is not known before there is a device",
                    f"write string({value}) in its list" if is_text else "compare it by compareTo",
                )
