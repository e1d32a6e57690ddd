"""What the text of a CEL expression reads of a device. This is no parser of CEL.

Source: https://kubernetes.io/docs/reference/using-api/cel/
"""

from __future__ import annotations

import functools
import re
from typing import Final

_FIELDS: Final = ("attributes", "capacity")


def names_read(expression: str, *, fields: tuple[str, ...] = _FIELDS) -> dict[str, bool]:
    """The attributes and capacities that an expression reads, in its order, by qualified name.

    The value says whether it asks anywhere if the device has the attribute; which way it goes
    then is not looked at.

    Args:
        expression: The expression.
        fields: What of devices is meant; both unless given.
    """
    read, asked_about, has = _patterns("|".join(fields))
    asked = dict.fromkeys(f"{domain}/{name}" for name, domain in asked_about.findall(expression))
    asked |= dict.fromkeys(f"{domain}/{name}" for domain, name in has.findall(expression))
    found: dict[str, bool] = {}
    for domain, dot, name, index, key in read.findall(expression):
        one = f"{domain}/{name or key}"
        found[one] = found.get(one, False) or bool(dot or index) or one in asked
    return found | dict.fromkeys((one for one in asked if one not in found), True)


@functools.cache
def _patterns(field: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """How names are read, asked about by `in`, and asked about by `has`."""
    owner = rf"device\s*\.\s*(?:{field})\s*\[\s*\??\s*['\"]([^'\"\\]+)['\"]\s*\]"
    # What follows the domain: `.name`, `["name"]`, or one of these with a question mark.
    key = r"(?:\.\s*(\?)?\s*(\w+)|\[\s*(\?)?\s*['\"]([^'\"\\]+)['\"]\s*\])"
    return (
        re.compile(rf"{owner}\s*{key}"),
        re.compile(rf"['\"]([^'\"\\]+)['\"]\s+in\s+{owner}(?!\s*[.\[])"),
        re.compile(rf"has\s*\(\s*{owner}\s*\.\s*(\w+)\s*\)"),
    )
