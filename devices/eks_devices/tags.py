"""Rules of AWS for the tags of a user's own."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from ._data import read_toml
from ._frozen import FrozenDict
from .findings import Finding, fault
from .typecheck import is_token, path_step, text, wrong_type

NAME: Final = "Name"
"""The tag that the instances and volumes of a group have anyway."""


def tag_faults(tags: object, path: str) -> Iterator[Finding]:
    """Faults of tags that EKS or EC2 would refuse; values may be tokens."""
    if not isinstance(tags, FrozenDict):
        yield wrong_type(path, tags, "a mapping of strings to strings", 'write {"key": "value"}')
        return
    yield from tag_count_faults({NAME, *tags}, path)
    for key, value in tags.items():
        at = f"{path}[{path_step(key)}]"
        yield from tag_key_faults(key, at)
        yield from tag_value_faults(value, at)


def tag_count_faults(keys: Collection[object], path: str) -> Iterator[Finding]:
    """The fault of more tags than AWS takes of one resource.

    Args:
        keys: The different keys of the tags, with the one for the name.
        path: How the fault names them.
    """
    most = read_toml("limits.toml")["tags"]["most"]
    if len(keys) > most:
        yield fault(
            "TooManyTags",
            path,
            "the tags of an instance or volume are too many together: the group's own, those of "
            "its launch template and its scopes, and its name",
            got=len(keys),
            allowed=f"{most} at most, with the tag {NAME}",
            fix="leave tags out",
            source=read_toml("limits.toml")["tags"]["source"],
        )


def tag_key_faults(key: object, path: str) -> Iterator[Finding]:
    """The fault of a value that cannot be the key of a tag; tokens are none."""
    yield from text(key, path, "a text", "write the key as a text")
    limits = read_toml("limits.toml")["tags"]
    if not isinstance(key, str) or is_token(key):
        return
    if not 1 <= len(key) <= limits["longest_key"]:
        yield _fault("MalformedTag", path, key, f"keys of 1 to {limits['longest_key']} characters")
    elif key.lower().startswith(limits["reserved"]):
        allowed = f"keys that do not begin with {limits['reserved']}"
        yield _fault("ReservedTag", path, key, allowed)


def tag_value_faults(value: object, path: str) -> Iterator[Finding]:
    """The fault of what cannot be the value of a tag; a token is not judged."""
    longest = read_toml("limits.toml")["tags"]["longest_value"]
    if not isinstance(value, str):
        yield wrong_type(path, value, "a text", "write the value as a text")
    elif not is_token(value) and len(value) > longest:
        yield _fault("MalformedTag", path, value, f"values of at most {longest} characters")


def _fault(code: str, path: str, got: object, allowed: str) -> Finding:
    source = read_toml("limits.toml")["tags"]["source"]
    message = "AWS takes no such tags"
    fix = "shorten or rename it, or leave it out"
    return fault(code, path, message, got=got, allowed=allowed, fix=fix, source=source)
