"""What the text of an expression says by itself: where it looks at the device, and what it names.

Where a text looks at the device in a way that the engine cannot imitate, nothing is said of it.
"""

from __future__ import annotations

import functools
import itertools
import re
from typing import Final

from .engine import ATTRIBUTE_DOMAINS, CAPACITY_DOMAINS, REFUSED

# A string of CEL, raw and triple ones too, or a comment to the end of the line.
QUOTED: Final = re.compile(
    r"""//[^\n]*|(?:\b[rRbB]{1,2})?(?:'''.*?'''|\"\"\".*?\"\"\"|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")""",
    re.DOTALL,
)
_PLAIN: Final = re.compile(r"""'[^'\\]*'|"[^"\\]*\"""")
DEVICE: Final = re.compile(r"(?<![\w.])device\b")
_LITERAL: Final = r"""(?:'[^'\\\n]*'|"[^"\\\n]*")"""
# The ways to look at a device that are imitated: its driver, one domain by its name, and whether
# there is a domain.
_SEEN: Final = re.compile(
    rf"""device\s*\.\s*(?:driver\b|allowMultipleAllocations\b|(?:attributes|capacity)\s*\[\s*\??\s*{_LITERAL}\s*\])"""
)
_DOMAIN_EXISTS: Final = re.compile(
    rf"({_LITERAL}\s+in\s+)device\s*\.\s*(attributes|capacity)\b(?!\s*[.\[])"
)
_FIELDS: Final = re.compile(
    r"(?<![\w.'\"])device\s*\.\s*(attributes|capacity)\s*\.\s*(\w+)(?=\s*\.\s*\w+\s*\.\s*\w+)"
)
_HAS_DEVICE: Final = re.compile(r"\bhas\s*\(\s*device\s*\.\s*\w+\s*\)")
# Functions of Kubernetes that the engine lacks, and macros over two variables.
_ABSENT: Final = re.compile(
    r"\.\s*(?:find|findAll|isSorted|sum|min|max|indexOf|lastIndexOf|add|sub|transformList|transformMap"
    r"|transformMapEntry|existsOne|sort|sortBy|distinct|flatten|slice|first|last|reverse)\s*\("
    r"|\b(?:url|isURL|ip|isIP|cidr|isCIDR|lists\.range|sets\.\w+|ip\.\w+|format\.\w+)\s*\("
    r"|\bsemver\s*\([^()]*,|\bisSemver\s*\([^()]*,"
)
# Versions and quantities are maps to the engine.
_TYPES: Final = re.compile(r"\b(?:type|dyn)\s*\(")
# How a version is used that the engine answers as Kubernetes does: what comes after it, where it
# is not what a function compares with.
_USED: Final = (
    r"\s*(?:\.\s*(?:isGreaterThan|isLessThan|compareTo|major|minor|patch"
    r"|startsWith|endsWith|contains|matches|lowerAscii|upperAscii|trim)\s*\("
    rf"|[=!]=\s*(?:{_LITERAL}|semver\s*\(|null\b|true\b|false\b|\d))"
)
_COMPARED_WITH: Final = r"(?:isGreaterThan|isLessThan|compareTo)\s*\(\s*[\w.\s\['\"\]]*$"
_AFTER_VALUE: Final = rf"(?:{_LITERAL}|\b\d[\w.]*|\btrue|\bfalse)\s*[=!]=\s*[\w.\s\['\"\]]*$"
_ENDS: Final = r"\s*(?:$|&&|\|\||[)?:,\]])"
# An index that is no plain string or number, in a text without what its strings hold.
_COMPUTED: Final = re.compile(r"(\b\w+|[)\]])\s*\[(?!\s*\??\s*(?:''|[0-9]+)\s*\])")
_THROUGH: Final = re.compile(r"\.\s*(?:all|exists|exists_one|map|filter|size)\s*\(|\bsize\s*\(")
_OWN_LOOP: Final = re.compile(
    r"\[(?:[^\[\]()]|\[\s*''\s*\])*\](\s*\.\s*(?:all|exists|exists_one|map|filter))\s*\("
)
_OF_DEVICE: Final = r"(?:\.\s*\w+|\[\s*''\s*\])"
_SIZE_OF_VALUE: Final = re.compile(
    rf"(?<=\])\s*{_OF_DEVICE}\s*\.\s*size\s*\(\s*\)"
    rf"|\bsize\s*\(\s*device\s*\.\s*\w+\s*\[\s*''\s*\]\s*{_OF_DEVICE}\s*\)"
)
_LOOKS_FOR: Final = re.compile(r"\bin\b")
_CALLED: Final = re.compile(r"[\w.]*\w")
# A version beside which Kubernetes takes nothing but a version, the other side being computed.
_VERSION_FIRST: Final = re.compile(
    r"\borValue\s*\(\s*(?:semver|quantity)\s*\([^()]*\)\s*\)\s*(?:==|in\b)"
    r"|\b(semver|quantity)\s*\([^()]*\)\s*(?:==(?!\s*\1\s*\()|in\b)"
)
_LISTED: Final = re.compile(r"[\[,]\s*(?:semver|quantity)\s*\([^()]*\)\s*[\],]")
_ATTRIBUTE: Final = r"(\.\s*(\w+)|\[\s*['\"](\w+)['\"]\s*\])"
_PLAIN_VALUE: Final = rf"(?:{_LITERAL}(?!\s*[.\[+])|-?\d[\w.]*(?!\s*[-+*/%])|(?:true|false)\b)"
# What no version equals: a value of another type, and a list that is written out, for Kubernetes
# looks it up by a hash that a version does not have.
_COMPARED: Final = re.compile(
    rf"{_ATTRIBUTE}\s*(?:==\s*(?:{_PLAIN_VALUE}|\[\s*\]|\{{\s*\}}|quantity\s*\([^()]*\))"
    rf"|in\s*\[\s*{_PLAIN_VALUE}(?:\s*,\s*{_PLAIN_VALUE})*\s*\])"
)
# Places where a version may meet another type, or where the engine sees the map behind it.
_OF_A_VERSION: Final = re.compile(
    r"(?:\bsize\s*\([^()]*)?(?:\.\s*\??\s*(\w+)|\[\s*\??\s*['\"](\w+)['\"]\s*\])"
    r"(?:\s*\.\s*orValue\s*\([^()]*\))?\s*"
    r"(?:==(?!\s*(?:null\b|semver\s*\([^()]*\)))|in\b|\.\s*(?:size|semver)\b|\[)"
)
_SIZED: Final = re.compile(r"\bsize\s*\(([^()]*)\)")
_LOOKED_UP: Final = re.compile(rf"{_ATTRIBUTE}\s*in\b")


def indexed(text: str) -> str:
    """An expression in which a domain that is written as a field is looked up by its name.

    That is the same in CEL, and what comes of a domain with dots that is written without quotes.
    """
    return _FIELDS.sub(lambda one: f"device.{one[1]}['{one[2]}']", text)


def literals(text: str) -> frozenset[str]:
    """What stands in the plain strings of an expression, names of domains among them."""
    return frozenset(one[0][1:-1] for one in _PLAIN.finditer(text))


def bare(text: str) -> str:
    """An expression with blanks for what its strings hold, and without comments."""
    return QUOTED.sub(lambda one: " " if one[0].startswith("//") else "''", text)


def quoted_out(text: str) -> str:
    """An expression, as long as it is, without what its strings and comments hold."""
    return QUOTED.sub(lambda one: "\0" * len(one[0]), text)


def unimitated(text: str) -> str:
    """Why nothing is said of an expression; empty where the engine imitates all of it."""
    stripped = bare(text)
    if _HAS_DEVICE.search(stripped):
        return "it asks whether the device has a field"
    if found := _ABSENT.search(stripped):
        return f"it calls {_CALLED.findall(found[0])[0]}, which is not worked out here"
    if "`" in stripped:
        return "it has names in backticks"
    if _TYPES.search(stripped):
        return "it looks at the type of a value"
    if _VERSION_FIRST.search(stripped) or _LISTED.search(stripped):
        return "it compares a version or a quantity that comes first with what it computes"
    without = _SEEN.sub("", _DOMAIN_EXISTS.sub("", comments_gone(text)))
    return (
        "it looks at the device as a whole, or at a domain whose name is no plain string"
        if DEVICE.search(bare(without))
        else ""
    )


@functools.lru_cache(maxsize=4096)
def uses_strangely(text: str, versions: frozenset[str]) -> bool:
    """Whether an expression does more with an attribute that is a version than compare it."""
    left = _COMPARED.sub(lambda one: " " if (one[2] or one[3]) in versions else one[0], text)
    for name in versions:
        read = re.compile(rf"(?:\.\s*\??\s*{name}\b|\[\s*\??\s*(['\"]){name}\1\s*\])")
        for one in read.finditer(left):
            before, after = left[: one.start()], left[one.end() :]
            is_argument = re.search(_COMPARED_WITH, before) and re.match(r"\s*\)", after)
            is_second = re.search(_AFTER_VALUE, before) and re.match(_ENDS, after)
            if "?" in one[0] or not (re.match(_USED, after) or is_argument or is_second):
                return True
    return False


def depth(text: str) -> int:
    """How deep brackets go."""
    steps = ((one in "([{") - (one in ")]}") for one in bare(text))
    return max(itertools.accumulate(steps, initial=0))


def names(text: str) -> frozenset[str]:
    """All words of an expression, in strings too: an attribute that is not among them is not read.

    An expression that goes through all attributes reads those it does not name; see `goes_through`.
    """
    return frozenset(re.findall(r"\w+", text))


def goes_through(text: str) -> bool:
    """Whether an expression may read attributes without their names.

    One that goes through a list of its own, or asks for the size of one value, does not.
    """
    stripped = _SIZE_OF_VALUE.sub("", _own_loops_gone(bare(text)))
    if _THROUGH.search(stripped):
        return True
    if "+" in stripped and _LOOKS_FOR.search(stripped):
        return True
    return any(one[1] != "in" for one in _COMPUTED.finditer(stripped))


def _own_loops_gone(stripped: str) -> str:
    """A text without the names of macros that go through a list which is written out."""
    starts = (at for at, one in enumerate(stripped) if one == "[" and not _is_index(stripped, at))
    for found in [one for at in starts if (one := _OWN_LOOP.match(stripped, at))]:
        blank = " " * len(found[1])
        stripped = stripped[: found.start(1)] + blank + stripped[found.end(1) :]
    return stripped


def lists(text: str, *, opening: str = "[") -> list[list[str]]:
    """The elements of each list, or the entries of each map, that is written out in a text."""
    quoted = quoted_out(text)
    found = []
    for start, one in enumerate(quoted):
        if one == opening and not _is_index(quoted, start):
            found.append(elements(quoted, text, start + 1))
    return found


def maps(text: str) -> list[tuple[list[str], list[str]]]:
    """The keys and the values of each map that is written out in an expression."""
    found = []
    for entries in lists(text, opening="{"):
        parts = [elements(quoted_out(one), one, 0, ends=":") for one in entries if one.strip()]
        found.append(([one[0] for one in parts], [":".join(one[1:]) for one in parts]))
    return found


def _is_index(quoted: str, start: int) -> bool:
    """Whether a bracket comes after what it looks into."""
    before = quoted[:start].rstrip()
    if before.endswith((")", "]")):
        return True
    word = re.search(r"\w*\Z", before[-_LONGEST_WORD:])
    return word is not None and word[0] not in ("", "in")


# So much of what is before a bracket tells whether it is the word "in".
_LONGEST_WORD: Final = 8


def elements(quoted: str, text: str, start: int, ends: str = ",") -> list[str]:
    """The parts of a text from a place behind an opening bracket to where that is closed.

    Args:
        quoted: The text without what its strings hold; see `quoted_out`.
        text: The text.
        start: The place.
        ends: What divides the parts.
    """
    depth, first, parts = 0, start, []
    for index in range(start, len(quoted)):
        one = quoted[index]
        if depth == 0 and one in f"{ends}]}}":
            parts.append(text[first:index])
            first = index + 1
        if depth == 0 and one in "]}":
            return parts
        depth += (one in "([{") - (one in ")]}")
    return [*parts, text[first:]]


def conjuncts(text: str) -> list[str]:
    """The parts of a top-level `a && b && c`, each true where the whole is; else the whole."""
    quoted = quoted_out(text)
    depth, starts, parts = 0, 0, []
    for index, one in enumerate(quoted):
        depth += (one in "([{") - (one in ")]}")
        if depth == 0 and (one == "?" or quoted.startswith("||", index)):
            return [text]
        if depth == 0 and quoted.startswith("&&", index):
            parts.append(text[starts:index])
            starts = index + 2
    return [*parts, text[starts:]]


def imitating(text: str, versions: frozenset[str]) -> str:
    """The expression that the engine answers as Kubernetes answers the given one.

    A domain that a device lacks can be read, and is empty, and `in` says that it is not there. A
    version is refused beside a text or a number, where the engine says that they differ.

    Args:
        text: An expression.
        versions: The names of attributes of a device that are versions.
    """
    text = _DOMAIN_EXISTS.sub(lambda one: f"{one[1]}{_DOMAINS[one[2]]}", text)
    if not versions:
        return text
    return _COMPARED.sub(
        lambda one: f"{one[1]}.{REFUSED}('')" if (one[2] or one[3]) in versions else one[0], text
    )


def compares_more(text: str, versions: frozenset[str]) -> bool:
    """Whether a version may stand beside something whose type the text does not tell.

    Kubernetes fails there unless it is a version, and the engine says that they differ.
    """
    if not versions:
        return False
    left = _COMPARED.sub("", text)
    if any((one[1] or one[2]) in versions for one in _OF_A_VERSION.finditer(left)):
        return True
    sized = {word for one in _SIZED.finditer(left) for word in names(one[1])}
    computed = any(one[1] != "in" for one in _COMPUTED.finditer(bare(left)))
    return computed or not sized.isdisjoint(versions)


def looks_up(text: str, versions: frozenset[str]) -> bool:
    """Whether a version is looked up in a list, where Kubernetes ends the whole evaluation."""
    return any((one[2] or one[3]) in versions for one in _LOOKED_UP.finditer(text))


_DOMAINS: Final = {"attributes": ATTRIBUTE_DOMAINS, "capacity": CAPACITY_DOMAINS}


def comments_gone(text: str) -> str:
    """An expression without its comments."""
    return QUOTED.sub(lambda one: " " if one[0].startswith("//") else one[0], text)
