"""Properties of a launch template that a user lays over those of the plan."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from ._data import read_toml
from ._frozen import FrozenDict
from .capacity import Capacity, CapacityKind
from .findings import Finding, fault, warning
from .spec import NodegroupSpec
from .template_fields import Property, is_intrinsic, is_unknown, normal, properties
from .template_volumes import is_plan_disk, is_root_disk, volume_faults
from .typecheck import whole_number, wrong_type

_DATA: Final = "launch_template.toml"
_FORM: Final = 'a mapping such as {"Monitoring": {"Enabled": True}}, without cycles'
# What tells the entries of a list apart; entries of other lists have no names.
_KEYS: Final = {"BlockDeviceMappings": "DeviceName", "TagSpecifications": "ResourceType"}
_TAG_KEYS: Final = {"Tags": "Key"}
_KEYED: Final = {**_KEYS, "TagSpecifications[].Tags": "Key"}


def override_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """Faults of a user's own properties: unknown, of a wrong type, or not theirs to set."""
    path, values = f"{spec.path}.launch_template_overrides", spec.launch_template_overrides
    if not isinstance(values, FrozenDict):
        yield wrong_type(path, values, _FORM, "write CloudFormation's LaunchTemplateData")
    if not isinstance(values, FrozenDict) or not len(values):
        return
    for one in properties(values, path, functools.partial(_refused, spec)):
        if isinstance(one, Finding):
            yield one
            continue
        yield from _value_faults(one)
        if one.field in _KEYED and isinstance(one.value, tuple):
            yield from _key_faults(one, _KEYED[one.field])
        if one.field == "BlockDeviceMappings[]":
            yield from volume_faults(spec, one)
        if one.field == "TagSpecifications[].Tags[].Key":
            yield from _tag_key_faults(one)


def override_findings(spec: NodegroupSpec) -> Iterator[Finding]:
    """What a user's own properties bring along, though EC2 accepts them."""
    values = spec.launch_template_overrides
    if not isinstance(values, FrozenDict) or not len(values):
        return
    path = f"{spec.path}.launch_template_overrides"
    for one in properties(values, path, functools.partial(_refused, spec)):
        if isinstance(one, Property):
            yield from _findings(one)


def merged(data: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """A launch template's data with overrides laid over it; neither input changes.

    Tables merge by key. A list replaces the one that is there, but block devices merge by
    DeviceName, tag specifications by ResourceType and their tags by Key. Any other value, a
    token or function of CloudFormation too, replaces what is there.

    Args:
        data: What the plan gives, in CloudFormation's spelling.
        overrides: What `override_faults` finds no fault with.
    """
    return _merged_table(data, overrides, _KEYS)


def _merged_table(
    data: Mapping[str, Any], overrides: Mapping[str, Any], keys: Mapping[str, str]
) -> dict[str, Any]:
    result = {name: _plain(value) for name, value in data.items()}
    for name, value in overrides.items():
        result[name] = _merged(result.get(name), value, keys.get(name))
    return result


def _merged(old: Any, new: Any, key: str | None) -> Any:
    if _is_table(old) and _is_table(new):
        return _merged_table(old, new, {})
    if key and _is_list(new) and all(_key(one, key) for one in new):
        return _merged_entries(old if isinstance(old, list) else [], new, key)
    return _plain(new)


def _merged_entries(old: list[Any], new: Sequence[Any], key: str) -> list[Any]:
    result = list(old)
    for entry in new:
        place = next((at for at, one in enumerate(result) if _key(one, key) == entry[key]), None)
        if place is None:
            result.append(_merged_table({}, entry, _TAG_KEYS))
        else:
            result[place] = _merged_table(result[place], entry, _TAG_KEYS)
    return result


def _key(entry: Any, key: str) -> str | None:
    """What an entry goes by; None for one that has no name."""
    name = entry.get(key) if _is_table(entry) else None
    return name if isinstance(name, str) else None


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping) and not is_intrinsic(value)


def _is_list(value: object) -> bool:
    return isinstance(value, (list, tuple))


def _plain(value: Any) -> Any:
    """A copy that may change, down to its leaves."""
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if _is_list(value) else value


def _refused(spec: NodegroupSpec, one: Property) -> Iterator[Finding]:
    for row in read_toml(_DATA)["forbidden"]:
        if one.field in row["fields"] and _holds(row, one) and _applies(row, spec, one):
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
    if "values" in row:
        return isinstance(value, (str, bool)) and value in row["values"]
    return "above" not in row or (type(value) is int and value > row["above"])


def _applies(row: Mapping[str, Any], spec: NodegroupSpec, one: Property) -> bool:
    return "when" not in row or _CONDITIONS[row["when"]](spec, one)


def _is_bought(spec: NodegroupSpec, kind: CapacityKind) -> bool:
    return isinstance(spec.capacity, Capacity) and spec.capacity.kind is kind


_CONDITIONS: Final[Mapping[str, Callable[[NodegroupSpec, Property], bool]]] = {
    "capacity-block": lambda spec, _: _is_bought(spec, CapacityKind.CAPACITY_BLOCK),
    "spot": lambda spec, _: _is_bought(spec, CapacityKind.SPOT),
    "not-spot": lambda spec, _: not _is_bought(spec, CapacityKind.SPOT),
    "plan-disk": is_plan_disk,
    "root-disk": is_root_disk,
}


def _findings(one: Property) -> Iterator[Finding]:
    for row in read_toml(_DATA)["finding"]:
        if row["field"] == one.field and _holds(row, one):
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
        if name is None:
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


def _tag_key_faults(one: Property) -> Iterator[Finding]:
    limits = read_toml("limits.toml")["tags"]
    if not isinstance(one.value, str) or is_unknown(one.value):
        return
    reserved = one.value.lower().startswith(limits["reserved"])
    if reserved or not 1 <= len(one.value) <= limits["longest_key"]:
        yield fault(
            "ReservedTag" if reserved else "MalformedTag",
            one.path,
            "AWS takes no such tag",
            got=one.value,
            allowed=f"1 to {limits['longest_key']} characters, not {limits['reserved']} first",
            fix="choose another key",
            source=limits["source"],
        )
