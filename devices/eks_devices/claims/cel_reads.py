"""What the text of a CEL expression reads of a device. This is no parser of CEL.

Source: https://kubernetes.io/docs/reference/using-api/cel/
"""

from __future__ import annotations

import re
from typing import Final

_OWNER: Final = r"device\s*\.\s*(?:attributes|capacity)\s*\[\s*\??\s*['\"]([^'\"\\]+)['\"]\s*\]"
# What follows the domain: `.name`, `["name"]`, or one of these with a question mark.
_READ: Final = re.compile(
    rf"{_OWNER}\s*(?:\.\s*(\?)?\s*(\w+)|\[\s*(\?)?\s*['\"]([^'\"\\]+)['\"]\s*\])"
)
_ASKED: Final = re.compile(rf"['\"]([^'\"\\]+)['\"]\s+in\s+{_OWNER}")
_HAS: Final = re.compile(rf"has\s*\(\s*{_OWNER}\s*\.\s*(\w+)\s*\)")


def attributes_read(expression: str) -> dict[str, bool]:
    """The attributes and capacities that an expression reads, in its order, by qualified name.

    The value says whether it asks anywhere if the device has the attribute; which way it goes
    then is not looked at.
    """
    asked = {f"{domain}/{name}" for name, domain in _ASKED.findall(expression)}
    asked |= {f"{domain}/{name}" for domain, name in _HAS.findall(expression)}
    found: dict[str, bool] = {}
    for domain, dot, name, index, key in _READ.findall(expression):
        attribute = f"{domain}/{name or key}"
        found[attribute] = found.get(attribute, False) or bool(dot or index) or attribute in asked
    return found | dict.fromkeys(sorted(asked - found.keys()), True)
