"""How many Pods a manifest makes of a template at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..documents import mapping
from ..made_pods import Expansion, expansion_of
from ..pods import PodTemplate

# Fields that say how often what lies below them is made.
_TIMES: Final = ("replicas", "parallelism")
_TRAIN_JOB: Final = "TrainJob"


def pods_at_once(pod: PodTemplate) -> int:
    """How many Pods of a template there may be at once, 1 where nothing else is said."""
    document = pod.document
    expansion = expansion_of(document.api_group, document.kind)
    if expansion is not None and (made := _made_by(expansion, pod)) is not None:
        return made
    owner: Any = document.content
    total = _times(owner)
    for step in pod.steps:
        owner = _below(owner, step)
        total *= _times(owner)
    return total * _nodes(pod)


def _made_by(expansion: Expansion, pod: PodTemplate) -> int | None:
    """How many the controller of a kind makes; None for a template that it is not known to use."""
    made = [one.most for one in expansion(pod.document.content) if one.steps == pod.steps[:-1]]
    return sum(made) if made else None


def _nodes(pod: PodTemplate) -> int:
    """How many Pods of each template a TrainJob makes: its runtime does not say."""
    if pod.document.kind != _TRAIN_JOB:
        return 1
    trainer = mapping(mapping(pod.document.content, "spec"), "trainer")
    return _count(trainer.get("numNodes")) or 1


def is_on_every_node(pod: PodTemplate) -> bool:
    """Whether each node gets a Pod of its own."""
    return pod.document.kind == "DaemonSet"


def _times(owner: Any) -> int:
    if not isinstance(owner, Mapping):
        return 1
    times = 1
    for field in _TIMES:
        count = _count(owner.get(field))
        if field == "parallelism" and (most := _count(owner.get("completions"))):
            count = min(count, most)
        times *= count or 1
    return times


def _below(owner: Any, step: str | int) -> Any:
    if isinstance(owner, Mapping):
        return owner.get(step)
    inside = isinstance(owner, list) and isinstance(step, int) and step < len(owner)
    return owner[step] if inside else None


def _count(value: object) -> int:
    return value if type(value) is int and value > 0 else 0
