"""What is written as in other languages, and can be told from the text of an expression alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from ...quantities import amounts_meant
from . import operands
from .form import quoted_out
from .other_words import METHODS, OPERATORS, VALUES

Step = tuple[str, str]
"""What to do, in words, and the whole expression where it is done."""
_Slip = Callable[["re.Match[str]", str], Step | None]

_WORDS: Final = "|".join(re.escape(one) for one in OPERATORS)
_CALLED: Final = ("contains", "startsWith", "endsWith", "matches")
_LIKE: Final = "|".join([*_CALLED, *(one for one in METHODS if METHODS[one] in _CALLED)])
_QUOTES: Final = str.maketrans("\u201c\u201d\u2018\u2019", "\"\"''")


def slips(text: str) -> Iterator[Step]:
    """What may be mended in an expression that is refused, the most likely first."""
    quoted = quoted_out(text)
    for pattern, mend in _SLIPS:
        for found in pattern.finditer(quoted):
            if (step := mend(found, text)) and step[1] != text:
                yield step
                break


def _put(text: str, found: re.Match[str], part: str) -> str:
    return text[: found.start()] + part + text[found.end() :]


def _operator(found: re.Match[str], text: str) -> Step:
    word = found[1]
    right = OPERATORS[word]
    return f"write {right} for {word}", _put(text, found, f" {right} ")


def _is_not(found: re.Match[str], text: str) -> Step:
    return "write != for is not", _put(text, found, " != ")


def _symbol(found: re.Match[str], text: str) -> Step:
    word = found[0]
    right = _SYMBOLS[word]
    return f"write {right} for {word}", _put(text, found, right)


def _value(found: re.Match[str], text: str) -> Step:
    right = VALUES[found[0]]
    return f"write {right}", _put(text, found, right)


def _not(found: re.Match[str], text: str) -> Step:
    end = operands.after(text, found.end())
    inner = text[found.end() : end].strip()
    is_whole = inner.startswith("(") and operands.compared(inner, 0, len(inner)) is None
    made = f"!{inner}" if is_whole else f"!({inner})"
    return "write ! for not", f"{text[: found.start()]}{made}{text[end:]}"


def _not_in(found: re.Match[str], text: str) -> Step:
    start, end = operands.before(text, found.start()), operands.after(text, found.end())
    left, right = text[start : found.start()].rstrip(), text[found.end() : end].lstrip()
    return "write !(a in b) for not in", f"{text[:start]}!({left} in {right}){text[end:]}"


def _semicolon(found: re.Match[str], text: str) -> Step:
    if found[1]:
        rest = text[found.start(1) :]
        return "write && for ;", f"{text[: found.start()]} && {rest}"
    return "leave the ; out", _put(text, found, "")


def _if(found: re.Match[str], text: str) -> Step:
    rest = text[found.end() :].strip()
    hint = f"write the expression alone, without {found[1]}"
    if branches := _BRANCHES.search(quoted_out(rest)):
        parts = (rest[slice(*branches.span(one))].strip() for one in (1, 2, 3))
        what, yes, no = parts
        if (yes, no) == ("true", "false"):
            return hint, _alone(what)
        return "write a ? b : c for if", f"{what} ? {yes} : {no}"
    return hint, _alone(rest.removesuffix("{").rstrip())


def _alone(text: str) -> str:
    """An expression without brackets around all of it."""
    is_whole = text.startswith("(") and operands.after(text[1:], 0) == len(text) - 2
    return text[1:-1].strip() if is_whole and text.endswith(")") else text


def _if_behind(found: re.Match[str], text: str) -> Step:
    yes, what, no = (text[slice(*found.span(one))].strip() for one in (1, 2, 3))
    return "write a ? b : c for if", f"{what} ? {yes} : {no}"


def _like(found: re.Match[str], text: str) -> Step:
    word = found[1]
    start, end = found.span(2)
    literal, name = text[start:end], METHODS.get(word, word)
    if word.lower().endswith("like"):
        name, literal = _wildcards(literal)
    if not name:
        return f"write == {literal}", f"{text[: found.start()].rstrip()} == {literal}{text[end:]}"
    before = text[: found.start()].rstrip().rstrip(".")
    return f"write .{name}({literal})", f"{before}.{name}({literal}){text[end:]}"


def _wildcards(literal: str) -> tuple[str, str]:
    """The function that a pattern of SQL stands for, and its text."""
    quote, inner = literal[0], literal[1:-1]
    bare = f"{quote}{inner.strip('%*')}{quote}"
    is_start, is_end = inner[-1:] in ("%", "*"), inner[:1] in ("%", "*")
    if is_start != is_end:
        return ("startsWith" if is_start else "endsWith"), bare
    return "contains", bare


def _pattern(found: re.Match[str], text: str) -> Step:
    start, end = operands.before(text, found.start()), found.end()
    literal = text[slice(*found.span(2))]
    negated = "!" * (found[1] == "!~")
    made = f"{negated}{text[start : found.start()].rstrip()}.matches({literal})"
    return "write .matches('...')", f"{text[:start]}{made}{text[end:]}"


def _tuple(found: re.Match[str], text: str) -> Step:
    inner = text[slice(*found.span(1))]
    return "write a list in [ ]", _put(text, found, f"in [{inner}]")


def _amount(found: re.Match[str], text: str) -> Step | None:
    many = amounts_meant(found[0])
    if not many:
        return None
    inside = re.search(r"\bquantity\s*\(\s*$", text[: found.start()])
    made = f"'{many[0]}'" if inside else f"quantity('{many[0]}')"
    return f"write {made if not inside else f'quantity({made})'}", _put(text, found, made)


def _twice(found: re.Match[str], text: str) -> Step:
    return f"write {found[1]} once", _put(text, found, f"{found[1]} ")


def _slice(found: re.Match[str], text: str) -> Step:
    first, last = found[1] or "0", found[2]
    made = f".substring({first}, {last})" if last else f".substring({first})"
    return f"write {made}", _put(text, found, made)


def _key(found: re.Match[str], text: str) -> Step:
    return "write the expression alone", text[found.end() :].strip()


def _escaped(found: re.Match[str], text: str) -> Step:
    return "write a line end for \\n", _put(text, found, "\n")


def _curled(found: re.Match[str], text: str) -> Step:
    return "write plain quotes", text[: found.start()] + text[found.start() :].translate(_QUOTES)


_SYMBOLS: Final = {
    "#": "//",
    "===": "==",
    "!==": "!=",
    "<>": "!=",
    "=<": "<=",
    "=>": ">=",
    ":=": "==",
    "=": "==",
    "&": "&&",
    "|": "||",
    "\u2265": ">=",
    "\u2264": "<=",
    "\u2260": "!=",
}
_VALUE_THERE: Final = r"(\x00+)"
_BRANCHES: Final = re.compile(
    r"^(.*?)\s*(?:\{|\bthen\b)(.*?)\}?\s*\belse\b\s*\{?(.*?)\}?\s*$", re.DOTALL
)
_SLIPS: Final[tuple[tuple[re.Pattern[str], _Slip], ...]] = (
    (re.compile("[\u201c\u201d\u2018\u2019]"), _curled),
    (re.compile(r"\\n"), _escaped),
    (re.compile(r"^\s*(?:expression|cel|selector)\s*:\s*(?!:)"), _key),
    (re.compile(r"^\s*(if|return|when|where)\b"), _if),
    (re.compile(r"^(.*?)\bif\b(.*?)\belse\b(.*)$", re.DOTALL), _if_behind),
    (re.compile(r";\s*([^\s;]?)"), _semicolon),
    (re.compile(r"===|!==|<>|(?<![<>=!:])=<|(?<![<>=!])=>|:=|[\u2264\u2265\u2260]|#"), _symbol),
    (re.compile(r"(?<![=!<>~:])=(?![=~<>])"), _symbol),
    (re.compile(r"(&&|\|\|)\s*[&|]+\s*"), _twice),
    (re.compile(r"\[\s*([0-9]*)\s*:\s*([0-9]*)\s*\]"), _slice),
    (re.compile(r"(?<!&)&(?!&)|(?<!\|)\|(?!\|)"), _symbol),
    (re.compile(rf"(=~|~=|!~|~)\s*{_VALUE_THERE}"), _pattern),
    (re.compile(r"\s+(?:not|NOT)\s+(?:in|IN)\b"), _not_in),
    (re.compile(r"\s+(?:is|IS)\s+(?:not|NOT)\s+"), _is_not),
    (re.compile(rf"\s+({_WORDS})\s+"), _operator),
    (re.compile(r"(?<![\w.])(?:not|NOT)\b\s*(?=[\w(!])"), _not),
    (re.compile(rf"(?<![\w.])({'|'.join(VALUES)})(?![\w(.])"), _value),
    (re.compile(rf"(?:\s+|\.\s*)({_LIKE})\s+{_VALUE_THERE}"), _like),
    (re.compile(r"\bin\s*\(((?:\x00|[\s,\d])*)\)"), _tuple),
    (re.compile(r"(?<![\w.])[0-9]+(?:\.[0-9]+)?\s?[KMGTPEkmgtpe]i?[Bb]?\b"), _amount),
)
