"""Judges the properties of a launch template that a user lays over those of the plan."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ._data import read_toml
from ._frozen import FrozenDict
from .findings import Finding, fault, warning
from .spec import NodegroupSpec
from .tags import tag_key_faults, tag_value_faults
from .template_fields import Property, is_unknown, normal, properties
from .template_overlay import ENTRY_KEYS
from .template_tables import applies, has, table_faults
from .template_volumes import volume_faults
from .typecheck import whole_number, wrong_type

_DATA: Final = "launch_template.toml"
_FORM: Final = 'a mapping such as {"Monitoring": {"Enabled": True}}, without cycles'
_TAG: Final = "TagSpecifications[].Tags[]"


def override_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """Faults of a user's own properties: unknown, of a wrong type, or not theirs to set."""
    path, values = f"{spec.path}.launch_template_overrides", spec.launch_template_overrides
    if not isinstance(values, FrozenDict):
        yield wrong_type(path, values, _FORM, "write CloudFormation's LaunchTemplateData")
    if not isinstance(values, FrozenDict) or not len(values):
        return
    found = [
        told
        for one in properties(values, path, functools.partial(_refused, spec))
        for told in ([one] if isinstance(one, Finding) else _property_faults(spec, one))
    ]
    # A number can be out of the range of its kind and of a narrower one, which says more.
    yield from {(one.code, one.path, one.fix): one for one in found}.values()


def _property_faults(spec: NodegroupSpec, one: Property) -> Iterator[Finding]:
    yield from _value_faults(one)
    if one.field in ENTRY_KEYS and isinstance(one.value, tuple):
        yield from _key_faults(one, ENTRY_KEYS[one.field])
    if one.field == "BlockDeviceMappings[]":
        yield from volume_faults(spec, one)
    if isinstance(one.value, FrozenDict):
        yield from table_faults(spec, one)
    if isinstance(one.value, str) and not is_unknown(one.value):
        yield from _tag_faults(one)


def override_findings(spec: NodegroupSpec) -> Iterator[Finding]:
    """What a user's own properties bring along, though EC2 accepts them."""
    values = spec.launch_template_overrides
    if not isinstance(values, FrozenDict) or not len(values):
        return
    path = f"{spec.path}.launch_template_overrides"
    for one in properties(values, path, functools.partial(_refused, spec)):
        if isinstance(one, Property):
            yield from _findings(spec, one)


def _refused(spec: NodegroupSpec, one: Property) -> Iterator[Finding]:
    for row in read_toml(_DATA)["forbidden"]:
        if one.field in row["fields"] and _holds(row, one) and applies(row, spec, one):
            yield _forbidden(row, one)
            return


def _forbidden(row: Mapping[str, Any], one: Property) -> Finding:
    others = (
        f"values other than {' and '.join(row['values'])}" if "values" in row else "nothing here"
    )
    return fault(
        "ForbiddenTemplateField",
        one.path,
        f"{one.field.replace('[]', '')}: {row['reason']}",
        got=one.value,
        allowed=others,
        fix=row["fix"],
        source=row["source"],
    )


def _holds(row: Mapping[str, Any], one: Property) -> bool:
    """Whether the value of a property is meant by a row; one that nobody knows yet is not."""
    value = one.value
    if "without" in row:
        return isinstance(value, FrozenDict) and not any(
            has(value, name) for name in row["without"]
        )
    if "values" in row:
        return isinstance(value, (str, bool)) and value in row["values"]
    return "above" not in row or (type(value) is int and value > row["above"])


def _findings(spec: NodegroupSpec, one: Property) -> Iterator[Finding]:
    for row in read_toml(_DATA)["finding"]:
        if row["field"] == one.field and _holds(row, one) and applies(row, spec, one):
            yield warning(
                row["code"], one.path, row["message"], fix=row["fix"], source=row["source"]
            )


def _value_faults(one: Property) -> Iterator[Finding]:
    """The fault of a value that EC2 does not take; a wrong type has its fault already."""
    source = read_toml(_DATA)["allowed_source"]["source"]
    for row in read_toml(_DATA)["allowed"]:
        if row["field"] != one.field or is_unknown(one.value):
            continue
        if type(one.value) is int and "range" in row:
            yield from whole_number(
                one.value, one.path, lowest=row["range"][0], highest=row["range"][1]
            )
        elif isinstance(one.value, str) and one.value not in row.get("values", (one.value,)):
            yield fault(
                "UnknownTemplateValue",
                one.path,
                f"{one.field.replace('[]', '')} has no such value",
                got=one.value,
                allowed=", ".join(row["values"]),
                fix="write one of the values, or leave it out",
                source=source,
            )


def _key_faults(one: Property, key: str) -> Iterator[Finding]:
    seen: set[str] = set()
    for entry in one.entries():
        if entry.entry is None or any(
            name != key and normal(name) == normal(key) for name in entry.entry
        ):
            continue  # a fault has been told
        name = entry.entry.get(key)
        if name is None or (isinstance(name, str) and not name and key == "DeviceName"):
            yield _missing(entry, key)
        elif is_unknown(name):
            yield wrong_type(f"{entry.path}.{key}", name, "a text", "write the text itself")
        elif isinstance(name, str) and name in seen:
            yield _repeated(entry, key, name)
        seen |= {name} if isinstance(name, str) else set()


def _missing(entry: Property, key: str) -> Finding:
    return fault(
        "MissingTemplateField",
        entry.path,
        f"entries of this list go by their {key}, and this one has none",
        got=entry.value,
        allowed=f"an entry with {key}",
        fix=f"add {key}",
    )


def _repeated(entry: Property, key: str, name: str) -> Finding:
    return fault(
        "RepeatedTemplateEntry",
        f"{entry.path}.{key}",
        "another entry of this list has the name already",
        got=name,
        allowed=f"each {key} once",
        fix="put both entries into one",
    )


def _tag_faults(one: Property) -> Iterator[Finding]:
    if one.field == f"{_TAG}.Key":
        yield from tag_key_faults(one.value, one.path)
    elif one.field == f"{_TAG}.Value":
        yield from tag_value_faults(one.value, one.path)
