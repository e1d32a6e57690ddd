"""In which order CloudFormation makes the resources of a template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def needed(resources: Mapping[str, Any], name: str) -> set[str]:
    """What a resource refers to or waits for, directly or not: what is made before it."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        direct = {*references(resources[waiting.pop()])} & {*resources} - found
        found |= direct
        waiting += direct
    return found


def references(value: Any) -> Iterator[str]:
    """The logical ids in a part of a template."""
    if isinstance(value, list):
        for one in value:
            yield from references(one)
    if not isinstance(value, dict):
        return
    for key, one in value.items():
        if key == "Ref":
            yield one
        elif key == "Fn::GetAtt":
            yield one[0]
        elif key == "DependsOn":
            yield from one
        else:
            yield from references(one)
