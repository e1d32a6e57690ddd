"""What plain words of YAML mean to Kubernetes: YAML 1.1, without dates and without base 60.

Source: https://github.com/yaml/go-yaml/blob/v2.4.4/resolve.go, by which kubectl reads files.
"""

from __future__ import annotations

import base64
import binascii
import functools
import re
from typing import Any, Final

_WORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), False),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_ENDLESS: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_WHOLE: Final = re.compile(
    r"([-+]?)(?:0[bB]([01]+)|0[oO]?([0-7]+)|0[xX]([0-9a-fA-F]+)|([1-9][0-9]*|0))", re.ASCII
)
_BASES: Final = (2, 8, 16, 10)
# No number of a manifest is longer; a text of thousands of digits is slow to read.
_LONGEST: Final = 64
_EXACT: Final = 2**53
_LARGEST: Final = 2**64 - 1
_SMALLEST: Final = -(2**63)
_STANDARD: Final = "tag:yaml.org,2002:"


class TagError(ValueError):
    """A scalar that no manifest may have: its tag, its value beside the tag, its size."""


def tagged(tag: str, text: str) -> Any:
    """The value of a scalar with a tag of its own.

    Raises:
        TagError: It is no tag of JSON's values, or the text is no such value.
    """
    name = tag.removeprefix(_STANDARD)
    if name in ("str", "timestamp") or is_local(tag):
        return text
    if name == "binary":
        try:
            return base64.b64decode("".join(text.split()), validate=True).decode()
        except (binascii.Error, ValueError) as error:
            raise TagError("a value tagged !!binary is no text in base64") from error
    kinds = {"null": type(None), "bool": bool, "int": int, "float": (int, float)}
    value = plain(text)
    if name not in kinds or not isinstance(value, kinds[name]):  # type: ignore[arg-type]
        raise TagError(f"the tag {tag.replace(_STANDARD, '!!')} cannot be read here")
    return value


def is_local(tag: str) -> bool:
    """Whether a tag is of somebody's own, as CloudFormation's are: Kubernetes reads past it."""
    return tag.startswith("!")


@functools.lru_cache(maxsize=16384)
def plain(text: str) -> Any:
    """The value of a scalar without quotes and tag.

    Raises:
        TagError: It is a number that JSON does not have.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789" or len(text) > _LONGEST:
        return text
    if _ENDLESS.fullmatch(text):
        raise TagError(f"JSON has no number {text}")
    digits = text if text[0] == "." else text.replace("_", "")
    if found := _WHOLE.fullmatch(digits):
        at = next(index for index in range(4) if found[index + 2] is not None)
        number = int(found[1] + found[at + 2], _BASES[at])
        return number if _SMALLEST <= number <= _LARGEST else float(number)
    if not _FLOAT.fullmatch(digits):
        return text
    value = float(digits)
    return int(value) if value.is_integer() and abs(value) < _EXACT else _finite(value, text)


def _finite(value: float, text: str) -> float | str:
    """JSON has no infinite numbers."""
    return text if value in (float("inf"), float("-inf")) else value


def key_of(value: Any) -> str:
    """A key as JSON has it: a text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)
