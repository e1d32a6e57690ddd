"""A walk over the launch template properties that a user gave, by what CloudFormation knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ._data import read_json
from ._frozen import FrozenDict
from .findings import Finding, fault, meant
from .typecheck import (
    boolean,
    is_number_token,
    is_token,
    path_step,
    text,
    whole_number,
    wrong_type,
)

_FIELDS: Final = "launch_template_fields.json"
_SOURCE: Final = (
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/"
    "aws-properties-ec2-launchtemplate-launchtemplatedata.html"
)
_NEWER: Final = (
    "leave it out; what is newer than this list can be set on the construct's launch_template"
)
# EC2's numbers are of this size.
_MOST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """A property that CloudFormation has: where it stands, in the user's words and in data's.

    `field` is "BlockDeviceMappings[].Ebs.Iops" wherever the list holds it; `entry` is the entry
    of the innermost list around it.
    """

    path: str
    field: str = ""
    value: Any
    entry: Mapping[str, Any] | None = None

    def below(self, key: object, name: str, value: object) -> Property:
        """The property of a table that a user spells `key` and CloudFormation `name`."""
        field = f"{self.field}.{name}" if self.field else name
        path = f"{self.path}.{path_step(key)}"
        return Property(path=path, field=field, value=value, entry=self.entry)

    def entries(self) -> Iterator[Property]:
        """The entries of a list."""
        for index, value in enumerate(self.value):
            entry = value if isinstance(value, FrozenDict) else None
            path, field = f"{self.path}[{index}]", f"{self.field}[]"
            yield Property(path=path, field=field, value=value, entry=entry)


Refusal = Callable[[Property], Iterator[Finding]]


def properties(
    values: Mapping[Any, Any], path: str, refused: Refusal
) -> Iterator[Property | Finding]:
    """Each known property, and a fault for each that is unknown, refused or of a wrong type.

    Args:
        values: What the user gave, frozen.
        path: Where faults say that it stands.
        refused: The faults of a property that must not be there; what it holds is not walked.
    """
    yield from _table(Property(path=path, value=values), read_json(_FIELDS), refused)


def is_unknown(value: object) -> bool:
    """Whether a value is known at deployment only: a token, or what the CDK resolves."""
    return is_token(value) or is_number_token(value) or _is_resolvable(value)


def _is_resolvable(value: object) -> bool:
    """Whether the CDK resolves an object; nothing of its value is read.

    It takes objects of its own classes, and of classes that say which interface they implement.
    """
    kind = type(value)
    module = getattr(kind, "__module__", None)
    if isinstance(module, str) and module.startswith("jsii."):
        # What jsii hands out for an interface shows its methods on the object alone.
        return callable(getattr(value, "resolve", None))
    if not (hasattr(kind, "resolve") and hasattr(kind, "creation_stack")):
        return False
    declared = getattr(kind, "__jsii_ifaces__", None)
    interfaces = declared if isinstance(declared, list) else []
    return bool(_jsii_name(kind)) or any(
        _jsii_name(one).endswith(".IResolvable") for one in interfaces
    )


def _jsii_name(kind: object) -> str:
    """The name by which jsii knows a class; empty for any other."""
    name = getattr(kind, "__jsii_type__", None)
    return name if isinstance(name, str) else ""


def _is_function(value: object) -> bool:
    """Whether a mapping is a function of CloudFormation, such as {"Ref": "Key"}."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    (key,) = value
    return isinstance(key, str) and (key == "Ref" or key.startswith("Fn::"))


def normal(key: object) -> str:
    """A name without the marks of its spelling: `http_tokens` and `httpTokens` are the same."""
    name = str.__str__(key) if isinstance(key, str) else ""
    return name.replace("_", "").replace("-", "").casefold()


def _table(
    at: Property, fields: Mapping[str, Any], refused: Refusal
) -> Iterator[Property | Finding]:
    if _is_function(at.value):
        yield _function(at)
        return
    names = {normal(name): name for name in fields}
    for key, value in at.value.items():
        name = names.get(normal(key))
        if name is None:
            yield _unknown(at, key, fields, refused)
            continue
        one = at.below(key, name, value)
        faults = tuple(refused(one))
        if faults:
            yield from faults
            continue
        if key != name:
            yield _misspelt(one, key, name)
        yield one
        yield from _value(one, fields[name], refused)


def _value(at: Property, kind: Any, refused: Refusal) -> Iterator[Property | Finding]:
    if isinstance(kind, dict):
        if isinstance(at.value, FrozenDict):
            yield from _table(at, kind, refused)
        else:
            wanted, fix = (
                f"a table of {', '.join(kind)}",
                "write the table; its leaves may be tokens",
            )
            yield wrong_type(at.path, at.value, wanted, fix)
    elif _is_function(at.value):
        yield _function(at)
    elif isinstance(kind, list):
        yield from _list(at, kind[0], refused)
    elif not is_unknown(at.value):
        yield from _leaf_faults(at, kind)


def _list(at: Property, kind: Any, refused: Refusal) -> Iterator[Property | Finding]:
    if isinstance(at.value, tuple):
        for one in at.entries():
            yield one
            yield from _value(one, kind, refused)
    elif isinstance(kind, dict) or isinstance(at.value, str) or not is_unknown(at.value):
        wanted = "a list of tables" if isinstance(kind, dict) else "a list of texts"
        yield wrong_type(at.path, at.value, wanted, "write a list")


def _leaf_faults(at: Property, kind: str) -> Iterator[Finding]:
    if kind == "boolean":
        yield from boolean(at.value, at.path)
    elif kind == "number":
        # EC2 takes whole numbers in every property that is not refused as a whole.
        yield from whole_number(at.value, at.path, lowest=0, highest=_MOST)
    else:
        yield from text(at.value, at.path, "a text", "write a text")


def _function(at: Property) -> Finding:
    return fault(
        "FunctionAsMapping",
        at.path,
        "functions of CloudFormation are tokens here: the CDK checks what a token refers to",
        got=at.value,
        allowed="a value, or a token such as parameter.value_as_string or Fn.condition_if(...)",
        fix="write the token; the leaves of a table may be tokens, the table itself may not",
        source="https://docs.aws.amazon.com/cdk/v2/guide/tokens.html",
    )


def _misspelt(one: Property, key: object, name: str) -> Finding:
    return fault(
        "UnknownTemplateField",
        one.path,
        "properties have CloudFormation's spelling",
        got=key,
        allowed=name,
        fix=f"write {name}",
        source=_SOURCE,
    )


def _unknown(at: Property, key: object, fields: Mapping[str, Any], refused: Refusal) -> Finding:
    allowed = [one for one in fields if not any(refused(at.below(one, one, None)))]
    elsewhere = [one for one in _paths(read_json(_FIELDS), "") if _ends_with(one, key)][:2]
    hint = f"did you mean {' or '.join(elsewhere)}?" if elsewhere else _NEWER
    return fault(
        "UnknownTemplateField",
        f"{at.path}.{path_step(key)}",
        f"CloudFormation has no such property in {at.field or 'LaunchTemplateData'}",
        got=key,
        allowed=", ".join(allowed),
        fix=meant(key, fields) or hint,
        source=_SOURCE,
    )


def _ends_with(path: str, key: object) -> bool:
    return normal(path.rpartition(".")[2]) == normal(key)


def _paths(kind: Any, path: str) -> Iterator[str]:
    """Every path in a tree of properties."""
    if isinstance(kind, list):
        yield from _paths(kind[0], f"{path}[]")
    elif isinstance(kind, dict):
        for name, one in kind.items():
            yield (inner := f"{path}.{name}" if path else name)
            yield from _paths(one, inner)
