"""A walk over the launch template properties that a user gave, by what CloudFormation knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ._data import read_json
from ._frozen import FrozenDict
from .findings import Finding, fault
from .typecheck import boolean, is_token, path_step, text, whole_number, wrong_type

_FIELDS: Final = "launch_template_fields.json"
_SOURCE: Final = (
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/"
    "aws-properties-ec2-launchtemplate-launchtemplatedata.html"
)
_NEWER: Final = (
    "leave it out; what is newer than this list can be set on the construct's launch_template"
)
# The CDK encodes numbers that are tokens as huge negative ones.
_NUMBER_TOKENS: Final = (-1e308, -1e200)


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
    """Whether a value is known at deployment only: a token, resolvable, or CloudFormation's own."""
    least, most = _NUMBER_TOKENS
    is_number_token = isinstance(value, float) and least < value < most
    return is_token(value) or is_number_token or is_intrinsic(value) or _is_resolvable(value)


def is_intrinsic(value: object) -> bool:
    """Whether a mapping is a function of CloudFormation, such as {"Ref": "Key"}."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    (key,) = value
    return isinstance(key, str) and (key == "Ref" or key.startswith("Fn::"))


def _is_resolvable(value: object) -> bool:
    """Whether the CDK resolves an object; nothing of its value is read."""
    kind = type(value)
    if kind.__module__.startswith("jsii."):
        # What jsii hands out for an interface shows its methods on the object alone.
        return callable(getattr(value, "resolve", None))
    return hasattr(kind, "resolve") and hasattr(kind, "creation_stack")


def normal(key: object) -> str:
    """A name without the marks of its spelling: `http_tokens` and `httpTokens` are the same."""
    name = str.__str__(key) if isinstance(key, str) else ""
    return name.replace("_", "").replace("-", "").casefold()


def _table(
    at: Property, fields: Mapping[str, Any], refused: Refusal
) -> Iterator[Property | Finding]:
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
        yield from whole_number(at.value, at.path, lowest=0)
    else:
        yield from text(at.value, at.path, "a text", "write a text")


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
    import difflib  # noqa: PLC0415  (only when something is wrong)

    near = difflib.get_close_matches(path_step(key), list(fields), n=2)
    allowed = [one for one in fields if not any(refused(at.below(one, one, None)))]
    near = near or [one for one in _paths(read_json(_FIELDS), "") if _ends_with(one, key)][:2]
    return fault(
        "UnknownTemplateField",
        f"{at.path}.{path_step(key)}",
        f"CloudFormation has no such property in {at.field or 'LaunchTemplateData'}",
        got=key,
        allowed=", ".join(allowed),
        fix=f"did you mean {' or '.join(near)}?" if near else _NEWER,
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
