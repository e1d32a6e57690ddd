"""Priorities of Pods that hold devices by claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..._data import read_toml
from ...findings import info
from ..documents import Document
from .context import Context, Told
from .whole import ToldOfDocument, Whole, of_pod

_KIND: Final = "PriorityClass"
_NEVER: Final = "Never"


def lost_preemption(whole: Whole) -> Iterator[ToldOfDocument]:
    """Pods with claims and a priority that may preempt others, and classes without such Pods."""
    classes = [pair for pair in whole.readable_documents if pair[1].kind == _KIND]
    known = {copy.name: copy.content for _, copy in classes}
    told: set[str] = set()
    for context in whole.pods:
        name = _name(context, known)
        if name and context.claims and _preempts(context, known.get(name, {})):
            told.add(name)
            yield from of_pod(context, _of_pod(context, name))
    if any(context.claims for context in whole.pods):
        for document, copy in classes:
            if copy.name not in told and copy.content.get("preemptionPolicy") != _NEVER:
                yield _of_class(document, copy.name)


def _name(context: Context, known: Mapping[str, Mapping[str, Any]]) -> str:
    """The PriorityClass of Pods that is none of Kubernetes' own; empty for none."""
    name = context.spec.get("priorityClassName")
    if name in (None, ""):
        defaults = [one for one, content in known.items() if content.get("globalDefault") is True]
        return defaults[0] if defaults else ""
    system = read_toml("pod_rules.toml")["priorities"]["system"]
    return name if isinstance(name, str) and name not in system else ""


def _preempts(context: Context, content: Mapping[str, Any]) -> bool:
    own = context.spec.get("preemptionPolicy")
    return (content.get("preemptionPolicy") if own is None else own) != _NEVER


def _of_pod(context: Context, name: str) -> Iterator[Told]:
    given = context.spec.get("priorityClassName")
    yield context.warn(
        ("priorityClassName",) if given else (),
        "PreemptionFreesNoDevices",
        f"the Pods have the priority {name}, and claims: priority preempts no Pod for devices "
        "that claims hold, so they wait until such devices are free",
        fix="use the device plugin where priority has to free devices, or say by "
        "preemptionPolicy: Never that Pods wait",
        source=read_toml("pod_rules.toml")["priorities"]["source"],
    )


def _of_class(document: Document, name: str) -> ToldOfDocument:
    steps = ("metadata", "name")
    return (
        document,
        steps,
        info(
            "PriorityBesideClaims",
            ".".join(steps),
            f"Pods of the priority {name} preempt no Pod for devices that claims hold, as other "
            "Pods here hold some",
            fix="use the device plugin where priority has to free devices",
            source=read_toml("pod_rules.toml")["priorities"]["source"],
        ),
    )


SET_RULES = (lost_preemption,)
