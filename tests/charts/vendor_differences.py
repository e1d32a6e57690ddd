"""Where our manifests and a vendor's chart differ, and the table that says why.

A file in the folder `vendor` holds the facts of a chart: what it renders to with some values, once
in full, else as what differs from a feature set before it. To renew it for another release, render
the chart with the values of each set, with the custom resources and with
`--api-versions resource.k8s.io/v1`, and write what `written` makes of their `facts`.
"""

from __future__ import annotations

import functools
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .vendor_lines import Facts

FOLDER = Path(__file__).parent / "vendor"
CHARTS = (
    "dra-driver-nvidia-gpu",
    "nvidia-device-plugin",
    "neuron-helm-chart",
    "aws-efa-k8s-device-plugin",
    "aws-dranet",
    "dranet",
)
ABSENT, PRESENT = "absent", "present"
# A release is compared with the release that is pinned, by itself.
_NOT_COMPARED = {"tag"}


@dataclass(frozen=True, order=True, kw_only=True)
class Difference:
    """One fact that is not the same."""

    what: str
    vendor: str
    ours: str

    def __str__(self) -> str:
        return f"{self.what}: {self.vendor} -> {self.ours}"


@dataclass(frozen=True, kw_only=True)
class Decision:
    """A row of the table; `*` in `what`, `vendor` and `ours` stands for any text.

    It is for the named feature sets of the chart, or for all.
    """

    chart: str
    what: str
    vendor: str
    ours: str
    why: str
    source: str
    sets: Sequence[str] = ()

    def covers(self, name: str, feature_set: str, one: Difference) -> bool:
        """Whether the row tells why of a difference of a chart's feature set."""
        if name != self.chart or (self.sets and feature_set not in self.sets):
            return False
        pairs = ((self.what, one.what), (self.vendor, one.vendor), (self.ours, one.ours))
        return all(_matches(pattern, text) for pattern, text in pairs)


def _matches(pattern: str, text: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), text, re.DOTALL) is not None


@functools.cache
def decisions() -> list[Decision]:
    """The rows of the table."""
    table = tomllib.loads((FOLDER / "decisions.toml").read_text(encoding="utf-8"))
    return [Decision(**row) for row in table["difference"]]


def page(rows: list[Decision]) -> str:
    """The table as Markdown, by chart and object."""
    parts: list[str] = []
    for name in CHARTS:
        parts += [f"## {name} {chart(name)['source']['version']}", ""]
        parts += _tables([row for row in rows if row.chart == name])
    return "\n".join(parts)


def _tables(rows: list[Decision]) -> Iterator[str]:
    groups: dict[str, list[str]] = {"": []}
    for row in rows:
        thing, _, fact = row.what.partition(": ")
        group = groups.setdefault(thing if fact else "", [])
        values = " | ".join(f"`{text}`" for text in (fact or thing, row.vendor, row.ours))
        group.append(f"| {values} | {row.why} ([source]({row.source})) |")
    for thing, lines in groups.items():
        if not lines:
            continue
        yield f"### {f'`{thing}`' if thing else 'Whole objects'}"
        yield from ("", "| what | the vendor's | ours | why |", "|---|---|---|---|", *lines, "")


def differences(vendor: Facts, ours: Facts, names: Mapping[str, str]) -> set[Difference]:
    """What is not the same.

    Args:
        vendor: The facts of the vendor's objects.
        ours: The facts of ours.
        names: What the vendor calls an object or a container of ours; several of ours may stand
            for one.
    """
    own = _renamed(ours, names)
    found = set(_objects(vendor, own))
    for key in vendor.keys() & own.keys():
        for lines in own[key]:
            for path in (vendor[key].keys() | lines.keys()) - _NOT_COMPARED:
                theirs, mine = vendor[key].get(path, ABSENT), lines.get(path, ABSENT)
                if theirs != mine:
                    found.add(Difference(what=f"{key}: {path}", vendor=theirs, ours=mine))
    return found


def _objects(vendor: Facts, own: Mapping[str, Any]) -> Iterator[Difference]:
    """The objects that one side lacks; a workload goes with its containers."""
    for mine, theirs, said in (
        (vendor.keys(), own.keys(), (PRESENT, ABSENT)),
        (own.keys(), vendor.keys(), (ABSENT, PRESENT)),
    ):
        alone = mine - theirs
        for key in alone:
            if key.partition(", ")[0] == key or key.partition(", ")[0] not in alone:
                yield Difference(what=key, vendor=said[0], ours=said[1])


def _renamed(ours: Facts, names: Mapping[str, str]) -> dict[str, list[dict[str, str]]]:
    """Our facts under the vendor's names; what several accounts may do is taken together."""
    found: dict[str, list[dict[str, str]]] = {}
    for key, lines in ours.items():
        known = {path: _their_name(value, names) for path, value in lines.items()}
        name = _their_name(key, names)
        if name.startswith("Account ") and name in found:
            found[name] = [_united(found[name][0], known)]
        else:
            found.setdefault(name, []).append(known)
    return found


def _their_name(text: str, names: Mapping[str, str]) -> str:
    """The vendor's name of an object, or of one that a text begins with; else the text."""
    if text in names:
        return names[text]
    head, comma, rest = text.partition(", ")
    # An owner's objects have a hash in their names.
    plain = re.sub(r"-[0-9a-f]{8}$", "", head)
    return names.get(plain, plain) + comma + rest


def _united(one: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str]:
    paths = one.keys() | other.keys()
    verbs = {path: {*_list(one.get(path)), *_list(other.get(path))} for path in paths}
    return {path: ", ".join(sorted(words)) for path, words in verbs.items()}


def _list(text: str | None) -> list[str]:
    return text.split(", ") if text else []


# The files


@functools.cache
def chart(name: str) -> dict[str, Any]:
    """The file of a chart."""
    return dict(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def facts_of(file: Mapping[str, Any], name: str) -> Facts:
    """The facts of a feature set of a chart."""
    one = file["sets"][name]
    found = facts_of(file, one["like"]) if "like" in one else {}
    for key in one.get("without", ()):
        del found[key]
    for key, lines in one.get("objects", {}).items():
        merged = {**found.get(key, {}), **lines}
        found[key] = {path: value for path, value in merged.items() if value is not None}
    return found


def written(source: Mapping[str, Any], sets: Mapping[str, tuple[Any, str | None, Facts]]) -> str:
    """The text of a file.

    Args:
        source: Where the chart is from.
        sets: By feature set: the chart's values, the set that it is like, and all its facts.
    """
    found = {}
    for name, (values, like, all_facts) in sets.items():
        base = sets[like][2] if like else {}
        one = {"values": values, "objects": _changes(base, all_facts)}
        one |= {"like": like} if like else {}
        without = sorted(base.keys() - all_facts.keys())
        found[name] = one | ({"without": without} if without else {})
    return json.dumps({"source": source, "sets": found}, indent=1, sort_keys=True) + "\n"


def _changes(base: Facts, all_facts: Facts) -> dict[str, dict[str, str | None]]:
    found = {}
    for key, lines in all_facts.items():
        before = base.get(key, {})
        paths = before.keys() | lines.keys()
        changed = {path: lines.get(path) for path in paths if before.get(path) != lines.get(path)}
        if changed or key not in base:
            found[key] = changed
    return found
