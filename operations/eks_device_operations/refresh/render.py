"""The text of a generated data file, and what changed since the last one. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from eks_devices.instance_records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """How one catalogue differs from an older one, by type name, sorted."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    altered: tuple[str, ...]


def render(records: Mapping[str, Record]) -> str:
    """A JSON object of records by type name, sorted, one record a line, with nothing of the time.

    One line a record keeps a changed type one line in a review.
    """
    lines = [f"{json.dumps(name)}: {_line(records[name])}" for name in sorted(records)]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def compare(old: Mapping[str, Record], new: Mapping[str, Record]) -> Differences:
    """What a new catalogue adds to, removes from and alters in an old one."""
    return Differences(
        added=tuple(sorted(new.keys() - old.keys())),
        removed=tuple(sorted(old.keys() - new.keys())),
        altered=tuple(sorted(name for name in new.keys() & old.keys() if new[name] != old[name])),
    )


def _line(record: Record) -> str:
    return json.dumps(record, sort_keys=True)
