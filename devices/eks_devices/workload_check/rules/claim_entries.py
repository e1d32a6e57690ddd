"""What is meant by fields that the entries of a Pod's `resourceClaims` do not have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ...feasibility.reading.fields import EXACTLY_FIELDS
from ...findings import meant
from ...names import CLAIM_FIELDS, CLAIM_KIND, TEMPLATE_KIND

ENTRY_FIELDS: Final = ("name", *CLAIM_FIELDS)
_FIELD_OF: Final = {kind: field for field, kind in CLAIM_FIELDS.items()}
_IN_CLAIM: Final = (*EXACTLY_FIELDS, "exactly", "requests", "constraints", "config", "devices")
_CALLED: Final = {"template": _FIELD_OF[TEMPLATE_KIND], "claim": _FIELD_OF[CLAIM_KIND]}


def entry_field_meant(name: str, entry: Mapping[str, Any]) -> str:
    """What to write for a field that an entry does not have; empty where nothing is near.

    Args:
        name: The field.
        entry: What has it.
    """
    if name in _IN_CLAIM:
        return "put it into the ResourceClaim, or the ResourceClaimTemplate, that the entry names"
    if name == "namespace":
        return "leave it out: the claims of a Pod are those of its own namespace"
    if told := source_meant(name, entry):
        return told
    return meant(name, ENTRY_FIELDS)


def source_meant(name: str, entry: Mapping[str, Any]) -> str:
    """What to write for a field in the place of the claim, or the template, of an entry."""
    if name in (*ENTRY_FIELDS, *_IN_CLAIM, "namespace", "source"):
        return ""
    value = entry[name]
    has_source = any(entry.get(one) is not None for one in CLAIM_FIELDS)
    fields = (field for called, field in _CALLED.items() if called in name.lower())
    field = next(fields, "")
    if field and isinstance(value, str) and not has_source:
        return f"write {field}: {value:.63}"
    return meant(name, CLAIM_FIELDS)
