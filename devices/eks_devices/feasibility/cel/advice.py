"""What to write in place of an expression that is refused, by what the engine says of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from . import refused_names, refused_types
from .engine import checker
from .engine_words import in_words, no_truth
from .form import comments_gone, quoted_out
from .operands import place
from .slips import Step, slips

MEND: Final = "mend the expression"
"""Where nothing better is known."""

# Whoever has made more mistakes has written something else.
_MOST_STEPS: Final = 12
_MOST_HINTS: Final = 3
_LONGEST: Final = 2048
_DOTTED: Final = re.compile(
    r"device\s*\.\s*(attributes|capacity)\.(\w+(?:\.\w+)+)\.(\w+)\b(?!\s*\()", re.ASCII
)
_LINES: Final = re.compile(r"\'\'\'|\"\"\"")
_Told = Callable[["re.Match[str]", str], Step | None]


@dataclass(frozen=True, slots=True)
class Advice:
    """What to write instead, and the whole expression that it comes to; empty where unknown."""

    fix: str
    instead: str = ""


def advice(text: str, told: str) -> Advice:
    """What to write instead.

    Args:
        text: The expression.
        told: What the engine says of it.
    """
    hints: list[str] = []
    now = text
    for _ in range(_MOST_STEPS):
        hint, changed = next(_steps(now, told), ("", ""))
        hints += [hint] if hint and hint not in hints else []
        if not changed:
            break
        now, told = changed, _refused(changed)
        if not told:
            whole = _in_a_line(now)
            return Advice(_together(hints, whole), whole)
    return Advice(hints[0] if hints else MEND)


def with_whole(fix: str, whole: str) -> str:
    """What to do with the expression that it comes to, which may be all that is to be told."""
    if not whole or whole in fix:
        return fix
    if fix.removeprefix("write ") in whole:
        return f"write {whole}"
    return f"{fix} That is {whole}" if fix.endswith("?") else f"{fix}: {whole}"


def _together(hints: list[str], whole: str) -> str:
    """All that is to be mended in one line; of what another step mends on, the end alone."""
    hints = [_in_a_line(one) if "device" in one else one for one in hints]
    # What is to be written is in the whole.
    words = [one for one in hints if "device" not in one or len(hints) == 1]
    if f"write {whole}" in hints or not words:
        return f"write {whole}"
    return ", ".join(words[:_MOST_HINTS])


def _in_a_line(text: str) -> str:
    """An expression without comments and line ends; one with texts of several lines as it is."""
    if ("\n" not in text and "//" not in text) or _LINES.search(text):
        return text.strip()
    return " ".join(comments_gone(text).split())


def _refused(text: str) -> str:
    """What the engine says of an expression; empty where it takes it."""
    try:
        return no_truth(checker().compile(text).return_type())
    except RuntimeError as error:
        return in_words(str(error))


def _steps(text: str, told: str) -> Iterator[Step]:
    """What may be mended next."""
    if len(text) <= _LONGEST and any(one in told for one in _BY_TEXT):
        yield from slips(text)
    for pattern, advise in _KNOWN:
        if (found := pattern.search(told)) and (step := advise(found, text)):
            yield step


def domain_in_quotes(text: str) -> Advice | None:
    """What to write where a domain is written without quotes; None where none is."""
    found = _DOTTED.search(text)
    if found is None:
        return None
    made = _DOTTED.sub(lambda one: f"device.{one[1]}['{one[2]}'].{one[3]}", text)
    return Advice(f"write device.{found[1]}['{found[2]}'].{found[3]}", made)


def _unexpected(found: re.Match[str], text: str) -> Step | None:
    word, at = found[1], place(found.string, text)
    if word == "<EOF>":
        return "the expression ends too soon", _ended(text)
    quoted = quoted_out(text)
    if word == ")" and quoted.count(")") > quoted.count("("):
        return "leave the ) out", text[:at] + text[at + 1 :]
    if word == ",":
        return "write && for ,", f"{text[:at]} &&{text[at + 1 :]}"
    if word == ":":
        return "write the expression alone", ""
    before = text[:at].rstrip()
    if word == "device" and before and before[-1] in "'\")]":
        return "write && between them", f"{before} && {text[at:]}"
    return None


def _ended(text: str) -> str:
    """An expression that ends too soon, to its end; empty where that is not known."""
    stripped = text.rstrip()
    if "?" in text:
        return f"{stripped} : false"
    return stripped[:-2].rstrip() if stripped.endswith(("&&", "||")) else ""


def _missing(found: re.Match[str], text: str) -> Step:
    whole = f"{text}{found[1]}" if found[2] == "<EOF>" else ""
    if not whole:
        at = place(found.string, text)
        whole = f"{text[:at]}{found[1]}{text[at:]}"
    return f"write the {found[1]} that is missing", whole


def _unreadable(found: re.Match[str], text: str) -> Step | None:
    token = found[1].strip()
    if token[:1] in "'\"":
        return _open_text(text, place(found.string, text))
    if "$" in text or "{{" in text:
        return "write what the expression is once the template is filled in", ""
    return None


def _open_text(text: str, at: int) -> Step:
    """Of a quote that has no other one on its line."""
    quote, end = text[at], text.find("\n", at)
    end = len(text) if end < 0 else end
    if text[at + 1 : end].strip():
        hint = f"end the text that begins with {quote} by the same quote, on its line"
        return hint, f"{text[:end].rstrip()}{quote}{text[end:]}"
    return f"leave the last {quote} out", text[:at] + text[at + 1 :]


def _told(hint: str) -> _Told:
    return lambda *_: (hint, "")


# What the engine says of a text that is written as in other languages.
_BY_TEXT: Final = ("Syntax error", "undeclared reference", "reserved identifier")
_ESCAPE: Final = (
    "write .contains('...') for a text as it is, or two backslashes in front of what has a meaning "
    "in patterns, such as \\\\("
)
_WHOLE_READ: Final = "name an attribute after its domain, as in ['gpu.nvidia.com'].productName"
_ORDER: Final = r"'_[<>=!]=?_' applied to '\(.*"
_KNOWN: Final[tuple[tuple[re.Pattern[str], _Told], ...]] = (
    (re.compile(rf"{_ORDER}kubernetes\.Quantity"), refused_types.ordered),
    (re.compile(r"'@in' applied to '\(kubernetes\.Quantity, "), refused_types.listed),
    (
        re.compile(r"'(compareTo|isGreaterThan|isLessThan)' applied to '\(([\w.]+), "),
        refused_types.argument,
    ),
    (re.compile(r"applied to '\(map\(string"), refused_types.whole_name),
    (re.compile(r"applied to '\(map\(string"), refused_names.without_domain),
    (re.compile(r"'_[=!]=_' applied to '\(map\(string"), _told(_WHOLE_READ)),
    (re.compile(r"'@in' applied to '\([^,]*, string\)"), refused_types.inside),
    (re.compile(r"'_(&&|\|\|)_' applied to '(.*)'"), refused_types.joined),
    (re.compile(r"undeclared reference to '([^']+)'"), refused_names.unknown),
    (
        re.compile(r"'orValue' applied to '\(map"),
        _told("write .?name.orValue('') for an attribute that may not be there"),
    ),
    (re.compile(r"'(\w+)' applied to '\(([\w.]+)\)'"), refused_types.converted),
    (
        re.compile(r"'_[=!]=_' applied to '\((.+), (\w+)\)'"),
        refused_types.mixed,
    ),
    (
        re.compile(r"expression of type 'kubernetes\.Quantity' cannot be the operand"),
        refused_types.no_field,
    ),
    (re.compile(r"recursion"), _told("write it with fewer brackets within brackets")),
    (re.compile(r"missing '(.)' at '(.*?)'"), _missing),
    (re.compile(r"no matching overload for '([\w.]+)' applied"), refused_types.other_types),
    (re.compile(r"Syntax error: (?:mismatched|extraneous) input '(.+?)' "), _unexpected),
    (re.compile(r"token recognition error at: '(.*)'"), _unreadable),
    (re.compile(r"of type ([\w.]+)"), refused_types.no_truth),
    (re.compile(r"no regular expression"), _told(_ESCAPE)),
    (
        re.compile(r"has\(\) argument"),
        _told("write has(device.attributes['domain'].name), or 'domain' in device.attributes"),
    ),
)
