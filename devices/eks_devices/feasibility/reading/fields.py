"""The fields of each part of a claim, in the newest minor."""

from __future__ import annotations

from typing import Final

ADMIN: Final = "adminAccess"
DERIVED: Final = "derivedAttributes"
_ASKED: Final = (
    *("deviceClassName", "selectors", "allocationMode", "count", "tolerations", "capacity"),
    DERIVED,
)
CLAIM: Final = ("requests", "constraints", "config")
AROUND: Final = ("metadata", "spec")
REQUEST: Final = ("name", "exactly", "firstAvailable")
EXACTLY_FIELDS: Final = (*_ASKED, ADMIN)
"""What is below `exactly`."""
OPTION: Final = (*_ASKED, "name")
TOLERATION: Final = ("key", "operator", "value", "effect", "tolerationSeconds")
CONSTRAINT: Final = ("requests", "matchAttribute", "distinctAttribute")
CONFIG: Final = ("requests", "opaque")
CAPACITY: Final = ("requests",)
