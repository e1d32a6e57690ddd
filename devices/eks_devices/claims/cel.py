"""What is certainly wrong with the text of a CEL expression. This is no parser of CEL.

Source: https://github.com/google/cel-spec/blob/master/doc/langdef.md
"""

from __future__ import annotations

import re
from typing import Final

# Strings and comments, inside which anything may stand. Raw strings have no escapes.
_QUOTED: Final = re.compile(
    r"""
      //[^\n]*
    | [rR](?:'{3}.*?'{3} | "{3}.*?"{3} | '[^'\r\n]*' | "[^"\r\n]*")
    | '{3}(?:\\.|[^\\])*?'{3} | "{3}(?:\\.|[^\\])*?"{3}
    | '(?:\\[^\r\n]|[^'\\\r\n])*' | "(?:\\[^\r\n]|[^"\\\r\n])*"
    """,
    re.VERBOSE | re.DOTALL,
)
# Operators of two characters come first, so that what is left over stands alone.
_OPERATOR: Final = re.compile(r"[=!<>]=|&&|\|\||(?P<alone>[=&|])")
_NO_LEFT: Final = re.compile(r"(?:^|[(\[{,?:]|&&|\|\|)\s*(&&|\|\|)")
_NO_RIGHT: Final = re.compile(r"(&&|\|\|)\s*(?:$|[)\]},?:])")
_PAIRS: Final = {")": "(", "]": "[", "}": "{"}


def cel_problem(expression: str) -> str:
    """A mistake that no reader of CEL takes; empty where none is certain.

    Brackets and quotes must be closed, `=`, `&` and `|` do not stand alone, and `&&` and `||` have
    something on either side. What the expression means, and most of its grammar, is not looked at.
    """
    bare = _QUOTED.sub(lambda found: " " if found[0].startswith("//") else " s ", expression)
    if not bare.strip():
        return "the expression is empty"
    if "'" in bare or '"' in bare:
        return "a quote of the expression is not closed"
    return _bracket_problem(bare) or _operator_problem(bare)


def _bracket_problem(bare: str) -> str:
    opened: list[str] = []
    for one in bare:
        if one in _PAIRS.values():
            opened.append(one)
        elif one in _PAIRS and (not opened or opened.pop() != _PAIRS[one]):
            return f"a {one} of the expression closes nothing"
    return f"a {opened[-1]} of the expression is not closed" if opened else ""


def _operator_problem(bare: str) -> str:
    for found in _OPERATOR.finditer(bare):
        if alone := found["alone"]:
            return f"a single {alone} is no operator of CEL, {alone * 2} is one"
    lacking = _NO_LEFT.search(bare) or _NO_RIGHT.search(bare)
    return f"an operand of {lacking[1]} is missing" if lacking else ""
