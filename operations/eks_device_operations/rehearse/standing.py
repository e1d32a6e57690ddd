"""Why the scheduler gives Pods no node, told by group. Pure.

Its message counts nodes and names none. Where taints, labels and resources explain exactly what it
counts, each group has its own reason; otherwise its words stay as they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Self

from eks_devices import Taint, TaintEffect
from eks_devices.kubernetes import newest_minor
from eks_devices.quantities import amount_of
from eks_devices.workload_check.amounts import taken_of
from eks_devices.workload_check.documents import mappings
from eks_devices.workload_check.tolerations import covers

from .affinity import selects

_MESSAGE: Final = re.compile(r"0/(\d+) nodes are available: (.*)", re.DOTALL)
_REST: Final = re.compile(r"[.,] (?=no new claims|still not schedulable|preemption:)")
_EACH: Final = re.compile(r", (?=\d+ )")
_NONE: Final = Fraction(0)
TAINT: Final = "untolerated taint"
SELECTOR: Final = "node affinity/selector"
INSUFFICIENT: Final = "Insufficient "
CLAIMS: Final = "cannot allocate all claims"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFacts:
    """What is known of a node: its group, and what decides who may be there."""

    name: str
    group: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    allocatable: Mapping[str, Fraction]

    @classmethod
    def of(cls, node: Mapping[str, Any], group: str) -> Self:
        """The facts of a Node object."""
        offered = node["status"]["allocatable"]
        return cls(
            name=node["metadata"]["name"],
            group=group,
            labels=node["metadata"]["labels"],
            taints=tuple(map(_taint, node["spec"].get("taints", ()))),
            allocatable={key: _amount(value) for key, value in offered.items()},
        )


def _taint(content: Mapping[str, str]) -> Taint:
    return Taint(
        key=content["key"],
        value=content.get("value", ""),
        effect=TaintEffect(content["effect"]),
    )


def _amount(value: Any) -> Fraction:
    return amount_of(str(value)) or _NONE


def requests_of(spec: Mapping[str, Any]) -> dict[str, Fraction]:
    """What the scheduler counts for a Pod, by resource, as the API server completed its spec."""
    found = taken_of(spec)
    found["pods"] = Fraction(1)
    return found


def add(total: dict[str, Fraction], more: Mapping[str, Fraction]) -> None:
    """Add amounts to others, by resource."""
    for key, value in more.items():
        total[key] = total.get(key, _NONE) + value


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """Why some nodes of a group do not take a Pod.

    Attributes:
        group: The group.
        nodes: How many of its nodes this is about.
        kind: `taint`, `selector`, `resource` or `other`: whatever the scheduler says besides.
        what: The taint, the resource, or the scheduler's words.
        short: For a resource: `none` where a node has none of it, `small` where an empty node has
            too little, `taken` where Pods on it leave too little.
    """

    group: str
    nodes: int
    kind: str
    what: str
    short: str = ""


def obstacles(
    message: str,
    spec: Mapping[str, Any],
    nodes: Mapping[str, NodeFacts],
    used: Mapping[str, Mapping[str, Fraction]],
    *,
    by_claims: Collection[str] = (),
) -> tuple[Obstacle, ...]:
    """Why no node takes a Pod, group by group; empty where the message does not add up with it.

    Args:
        message: The scheduler's.
        spec: The spec of the Pod.
        nodes: All nodes, by name.
        used: What the Pods of each node ask for together.
        by_claims: Extended resources that DRA serves where no plugin does.
    """
    found = _MESSAGE.match(message)
    if found is None or int(found.group(1)) != len(nodes):
        return ()
    said = _said(found.group(2))
    wanted = requests_of(spec)
    mine = {
        one.name: tuple(_of_node(one, spec, wanted, used.get(one.name, {}), by_claims))
        for one in nodes.values()
    }
    left = _left_over(said, Counter(key for each in mine.values() for key in _phrases(each)))
    rest = [one for one in nodes.values() if not mine[one.name]]
    if left is None or bool(left) != bool(rest):
        return ()
    whys = [
        *((nodes[name].group, *one) for name, each in mine.items() for one in each),
        *((one.group, "other", ", ".join(left), "") for one in rest),
    ]
    return tuple(
        Obstacle(group=group, nodes=count, kind=kind, what=what, short=short)
        for (group, kind, what, short), count in Counter(whys).items()
    )


def _said(text: str) -> Counter[str]:
    """How many nodes each reason of a message is for."""
    found: Counter[str] = Counter()
    for one in _EACH.split(_REST.split(text.rstrip("."))[0].rstrip(".")):
        count, _, reason = one.partition(" ")
        if count.isdecimal():
            found[_phrase(reason)] += int(count)
    return found


def _phrase(reason: str) -> str:
    if TAINT in reason:
        return TAINT
    return SELECTOR if SELECTOR in reason else reason


Why = tuple[str, str, str]


def _of_node(
    node: NodeFacts,
    spec: Mapping[str, Any],
    wanted: Mapping[str, Fraction],
    taken: Mapping[str, Fraction],
    by_claims: Collection[str],
) -> Iterator[Why]:
    """What keeps a Pod off a node, in the order in which the scheduler looks."""
    tolerated = [one for _, one in mappings(spec, "tolerations")]
    for taint in node.taints:
        if taint.effect is TaintEffect.PREFER_NO_SCHEDULE:
            continue
        if not any(covers(one, taint, newest_minor()) for one in tolerated):
            yield "taint", str(taint), ""
            return
    if not selects(spec, node.labels, node.name):
        yield "selector", "", ""
        return
    for key in sorted(wanted):
        if key in by_claims and key not in node.allocatable:
            continue
        offered = node.allocatable.get(key, _NONE)
        if wanted[key] > offered - taken.get(key, _NONE) and wanted[key]:
            yield "resource", key, _short(wanted[key], offered)


def _short(wanted: Fraction, offered: Fraction) -> str:
    if not offered:
        return "none"
    return "small" if wanted > offered else "taken"


def _phrases(whys: Iterable[Why]) -> Iterator[str]:
    for kind, what, _ in whys:
        if kind == "resource":
            yield "Too many pods" if what == "pods" else INSUFFICIENT + what
        else:
            yield TAINT if kind == "taint" else SELECTOR


def _left_over(said: Counter[str], mine: Counter[str]) -> list[str] | None:
    """The reasons that stay unexplained; None where what is explained is not what was said."""
    if any(said[phrase] != count for phrase, count in mine.items()):
        return None
    return sorted(phrase for phrase in said if phrase not in mine)
