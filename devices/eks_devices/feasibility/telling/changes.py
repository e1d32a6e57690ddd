"""One place of an expression written otherwise, and what was read there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from ..slices import NodeDevice

TEXT: Final = r"""(?:'[^'\\\n]*'|"[^"\\\n]*")"""
_KEY: Final = r"""\[\s*['"]{domain}['"]\s*\]\s*(?:\.\s*{name}|\[\s*['"]{key}['"]\s*\])"""


def _reading(field: str) -> str:
    key = _KEY.format(
        domain=r"(?P<domain>[^'\"\\]+)", name=r"(?P<name>\w+)", key=r"(?P<key>[^'\"\\]+)"
    )
    return rf"(?P<read>device\s*\.\s*{field}\s*{key})"


ATTRIBUTE: Final = _reading("attributes")
"""How an expression reads an attribute; `name_of` tells which."""
CAPACITY: Final = _reading("capacity")
"""How it reads an amount."""


@dataclass(frozen=True, slots=True)
class Change:
    """What to write from `start` to `end` of an expression.

    `times` is how many times as much as devices have was asked for, 1 for a slip of the pen; None
    where devices have something else than what was written, `far` from it as far as that is a
    number. `why` goes in front of what to write.
    """

    start: int
    end: int
    part: str
    why: str = ""
    times: Fraction | None = None
    far: int = 0

    def within(self, text: str) -> str:
        """The expression with the change."""
        return text[: self.start] + self.part + text[self.end :]


def name_of(found: re.Match[str]) -> str:
    """The qualified name of what a match of one of the patterns above reads."""
    return f"{found['domain']}/{own_name(found)}"


def own_name(found: re.Match[str]) -> str:
    """The same without the domain."""
    return str(found["name"] or found["key"])


def attribute(name: str, device: NodeDevice) -> Any:
    """What is known of an attribute of a device; None where nothing is."""
    return None if name in device.at_run_time else device.attributes.get(name)
