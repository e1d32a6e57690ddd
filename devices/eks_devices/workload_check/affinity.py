"""Which nodes Pods select by labels: node selectors and required node affinity."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .._yaml_text import wrong_in_manifest
from ..findings import Finding
from ..names import EKS_NODEGROUP_LABEL, GPU_PRODUCT_LABEL, NODEGROUP_LABEL
from ..published import gpu_model
from ..syntax import label_key, label_value
from ..typecheck import is_token
from .affinity_form import REQUIRED
from .documents import Steps, mapping, mappings, path_of, sequence, text_of
from .label_hints import Hints
from .nodes import GroupNode, Obstacle
from .pods import PodTemplate

LABELS_DIFFER: Final = ("NodeSelectorDiffers", "NodeAffinityDiffers")
"""What keeps Pods off nodes that they do not select."""
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_LONGEST_LIST: Final = 4


@dataclass(frozen=True, slots=True)
class _Answer:
    """Whether something holds: True, False, or None where only a running node tells."""

    holds: bool | None
    reason: str = ""
    key: str = ""
    wanted: tuple[str, ...] = ()
    fix: str = ""


def selects_by(pod: PodTemplate, keys: Collection[str]) -> bool:
    """Whether Pods select their nodes by one of some labels."""
    if not set(keys).isdisjoint(mapping(pod.spec, "nodeSelector")):
        return True
    return any(
        text_of(one, "key") in keys
        for term in _terms(pod.spec)
        for _, one in mappings(term, "matchExpressions")
    )


def label_obstacles(spec: Mapping[str, Any], node: GroupNode, hints: Hints) -> Iterator[Obstacle]:
    """Labels of a node that are not those that Pods select.

    Args:
        spec: The Pod's spec.
        node: The node.
        hints: Tells what a misspelt label may be meant for.
    """
    for key, wanted in mapping(spec, "nodeSelector").items():
        if not (isinstance(key, str) and isinstance(wanted, str)):
            continue
        found = list(_obstacle(LABELS_DIFFER[0], _in(node, key, (wanted,)), node, hints))
        yield from found
        if any(one.is_certain for one in found):
            # One is enough to keep Pods away.
            break
    affinity = mapping(mapping(spec, "affinity"), "nodeAffinity")
    if affinity.get(REQUIRED) is not None:
        yield from _obstacle(LABELS_DIFFER[1], _any_term(_terms(spec), node), node, hints)


def selector_faults(pod: PodTemplate) -> Iterator[tuple[Steps, Finding]]:
    """Labels that are no texts, as an unquoted `true` or a number is none."""
    given = pod.spec.get("nodeSelector")
    if given is not None and not (isinstance(given, Mapping) or is_token(given)):
        at: Steps = ("nodeSelector",)
        yield at, wrong_in_manifest(path_of(at), given, "a mapping", "write label: value")
    for key, wanted in mapping(pod.spec, "nodeSelector").items():
        steps: Steps = ("nodeSelector", key)
        if wanted is None:
            # Taken as an empty text; in a patch it takes the label away.
            continue
        if not isinstance(wanted, str):
            fix = "write it in quotes"
            yield steps, wrong_in_manifest(path_of(steps), wanted, "a text, the label's value", fix)
        elif not is_token(key):
            of_key = [*label_key(key, path_of(steps))]
            of_value = [] if is_token(wanted) else label_value(wanted, path_of(steps))
            yield from ((steps, one) for one in (*of_key, *of_value))


def _terms(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    affinity = mapping(mapping(spec, "affinity"), "nodeAffinity")
    return [one for _, one in mappings(mapping(affinity, REQUIRED), "nodeSelectorTerms")]


def _obstacle(code: str, answer: _Answer, node: GroupNode, hints: Hints) -> Iterator[Obstacle]:
    if answer.holds is True:
        return
    if answer.holds is None:
        yield Obstacle("LabelKnownAtRunTime", answer.reason, is_certain=False)
        return
    if answer.fix:
        yield Obstacle(code, answer.reason, distance=6, fix=answer.fix)
        return
    hint = hints.of(answer.key, answer.wanted, node)
    if hint.is_meant:
        # The node that is meant comes before others.
        yield Obstacle(code, answer.reason, distance=5, fix=hint.fix, is_meant=True)
        return
    if answer.key == EKS_NODEGROUP_LABEL and node.group.name in answer.wanted:
        name = f"{NODEGROUP_LABEL}: {node.group.name}"
        fix = f"write {name} instead, as a name in EKS changes when the group is replaced"
        yield Obstacle(code, answer.reason, distance=5, fix=fix, is_meant=True)
        return
    yield Obstacle(code, answer.reason, distance=6, fix=hint.fix)


def _any_term(terms: list[Mapping[str, Any]], node: GroupNode) -> _Answer:
    """The terms are alternatives; an empty one selects no node."""
    answers = [_term(one, node) for one in terms]
    for wanted in (True, None):
        if (found := next((one for one in answers if one.holds is wanted), None)) is not None:
            return found
    if not answers:
        return _Answer(
            holds=False, reason="its required node affinity has no term, which selects no node"
        )
    first = answers[0]
    more = f"none of its {len(answers)} node selector terms holds, the first because "
    return _Answer(
        holds=False,
        reason=(more if len(answers) > 1 else "") + first.reason,
        key=first.key,
        wanted=first.wanted,
        fix=first.fix,
    )


def _term(term: Mapping[str, Any], node: GroupNode) -> _Answer:
    expressions = [_expression(one, node) for _, one in mappings(term, "matchExpressions")]
    fields = [
        _Answer(holds=None, reason="the Pod selects nodes by their names")
        for _ in sequence(term, "matchFields")
    ]
    answers = [*expressions, *fields]
    if not answers:
        return _Answer(
            holds=False, reason="a term of its node affinity is empty, which selects no node"
        )
    for wanted in (False, None):
        if (found := next((one for one in answers if one.holds is wanted), None)) is not None:
            return found
    return _Answer(holds=True)


def _expression(expression: Mapping[str, Any], node: GroupNode) -> _Answer:
    key, operator = text_of(expression, "key"), text_of(expression, "operator")
    values = tuple(one for one in sequence(expression, "values") if isinstance(one, str))
    if operator == "In":
        return _in(node, key, values)
    if why := node.written_later(key):
        return _later(key, why)
    has = node.labels.get(key)
    told = f"the Pod selects nodes by {key} {operator} {' '.join(values)}".rstrip()
    holds = expression_holds(operator, has, values)
    if holds is None:
        return _Answer(holds=None, reason=f"its node affinity has the operator {operator!r:.40}")
    fix = _EXCLUDING.get(operator, "").format(has)
    reason = f"{told}, and they have {_shown(key, has)}"
    return _Answer(holds=holds, reason=reason, key=key, fix=fix)


# What to do about an expression that leaves a node out by the value that it has.
_EXCLUDING: Final = {
    "NotIn": "leave {} out of the values of NotIn",
    "DoesNotExist": "leave the expression with DoesNotExist out",
}


def expression_holds(operator: str, has: str | None, values: tuple[str, ...]) -> bool | None:
    """Whether an expression of a node selector holds; None for an operator that is not known.

    Args:
        operator: Its operator.
        has: The value of its label on the node, None where it has no such label.
        values: Its values.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
    """
    return {
        "In": has is not None and has in values,
        "NotIn": has not in values,
        "Exists": has is not None,
        "DoesNotExist": has is None,
        "Gt": _is_more(has, values),
        "Lt": _is_more(has, values, sign=-1),
    }.get(operator)


def _in(node: GroupNode, key: str, values: tuple[str, ...]) -> _Answer:
    has = node.labels.get(key)
    if has in values and has is not None:
        return _Answer(holds=True)
    if why := node.written_later(key):
        return _later(key, why + _model_told(node, key, values))
    wanted = " or ".join(f"{key}={one}" for one in values[:_LONGEST_LIST])
    reason = f"the Pod selects nodes by {wanted}, and they have {_shown(key, has)}"
    return _Answer(holds=False, reason=reason, key=key, wanted=values)


def _model_told(node: GroupNode, key: str, values: tuple[str, ...]) -> str:
    """How the label of a GPU's model begins on a node where no value that is selected does so."""
    model = gpu_model(node.instance.name) if key == GPU_PRODUCT_LABEL else None
    written = (model or "").replace(" ", "-")
    is_told = written and not any(one.startswith(written) for one in values)
    return f", and there it begins with {written}" if is_told else ""


def _later(key: str, why: str) -> _Answer:
    return _Answer(holds=None, reason=f"the Pod selects nodes by the label {key}: {why}")


def _shown(key: str, has: str | None) -> str:
    return "no such label" if has is None else f"the label {key}={has}"


def _is_more(has: str | None, values: tuple[str, ...], *, sign: int = 1) -> bool:
    numbers = [one for one in (has, *values) if one is not None and _NUMBER.fullmatch(one)]
    if len(numbers) != 2 or len(values) != 1:  # noqa: PLR2004
        return False
    left, right = map(int, numbers)
    return left * sign > right * sign
