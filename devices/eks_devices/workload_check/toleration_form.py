"""Tolerations of Pods that the API server refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .._yaml_text import AsYaml, wrong_in_manifest
from ..findings import Finding, alike, fault, meant
from ..kubernetes import gate_is_on
from ..plans import ClusterPlan
from ..syntax import is_label_key, is_label_value
from ..taints import Taint, TaintEffect
from ..typecheck import is_token
from .documents import Steps, path_of
from .pods import PodTemplate

COMPARED: Final = ("Lt", "Gt")
GATE: Final = "TaintTolerationComparisonOperators"
_OPERATORS: Final = ("Equal", "Exists", *COMPARED)
_EFFECTS: Final = tuple(str(one) for one in TaintEffect)
_SECONDS: Final = "tolerationSeconds"
_TEXTS: Final = ("key", "operator", "value", "effect")
_FIELDS: Final = (*_TEXTS, _SECONDS)
# Those of the control plane about nodes that are lost, which alone have this effect by themselves.
_OF_LOST_NODES: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_PATCH: Final = "$patch"
_AS_TAINT: Final = "write it as the taint has it, in letters, digits, '-', '_' and '.'"
_PAGE: Final = "https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/"

Told = tuple[Steps, Finding]


def toleration_faults(pod: PodTemplate, plan: ClusterPlan) -> Iterator[Told]:
    """What the API server has against what Pods tolerate, with the steps to it.

    Args:
        pod: The template.
        plan: The cluster, whose nodes have the taints that may be meant.
    """
    given = pod.spec.get("tolerations")
    steps: Steps = ("tolerations",)
    if given is None or is_token(given):
        return
    if not isinstance(given, (list, tuple)):
        yield _wrong(steps, given, "a list", "write - key: ...")
        return
    for index, one in enumerate(given):
        if isinstance(one, Mapping) and _PATCH in one:
            # A word to who merges it into another list.
            continue
        if isinstance(one, Mapping) or one is None:
            yield from _of_one(one or {}, (*steps, index), plan)
        elif not is_token(one):
            yield _wrong((*steps, index), one, "a mapping", "write - key: ...")


def as_meant(toleration: Mapping[str, Any]) -> Mapping[str, Any]:
    """A toleration with the operator and the effect that misspelt ones are meant for."""
    words = {"operator": _OPERATORS, "effect": _EFFECTS}
    wrong = {
        name: one for name, one in words.items() if toleration.get(name) not in ("", None, *one)
    }
    near = {name: alike(toleration[name], known)[:1] for name, known in wrong.items()}
    return {**toleration, **{name: found[0] for name, found in near.items() if found}}


def _of_one(toleration: Mapping[str, Any], at: Steps, plan: ClusterPlan) -> Iterator[Told]:
    for name in toleration:
        if name not in _FIELDS:
            fix = meant(name, _FIELDS) or "leave it out"
            yield _refused((*at, name), "UnknownField", name, ", ".join(_FIELDS), fix)
    others = [name for name in _TEXTS if not isinstance(toleration.get(name), (str, type(None)))]
    for name in others:
        yield _wrong((*at, name), toleration[name], "a text", "write it in quotes")
    if not others and not any(is_token(toleration.get(name)) for name in _TEXTS):
        words = {name: toleration.get(name) or "" for name in _TEXTS}
        yield from _of_words(words, at, plan.kubernetes_version)
        yield from _of_seconds(toleration, at, plan)


def _of_words(words: Mapping[str, str], at: Steps, version: str) -> Iterator[Told]:
    key, operator, value, effect = (words[name] for name in _TEXTS)
    if operator and operator not in _OPERATORS:
        fix = meant(operator, _OPERATORS) or "write Equal, or Exists for every value"
        yield _malformed((*at, "operator"), operator, "Exists or Equal", fix)
    elif operator in COMPARED and not gate_is_on(GATE, version):
        yield _not_served((*at, "operator"), operator, version)
    if effect and effect not in _EFFECTS:
        allowed = f"{', '.join(_EFFECTS)}, or none for all"
        yield _malformed((*at, "effect"), effect, allowed, meant(effect, _EFFECTS))
    if key and not is_label_key(key):
        yield _malformed((*at, "key"), key, "the key of a taint, such as nvidia.com/gpu", "")
    if not key and operator in ("", "Equal", *COMPARED):
        fix = "write the key, or operator: Exists for every taint"
        yield _malformed((*at, "key"), key, "a key, beside every operator but Exists", fix)
    if value and operator == "Exists":
        fix = "leave the value out, or write operator: Equal"
        yield _malformed((*at, "value"), value, "no value beside operator: Exists", fix)
    elif not is_label_value(value):
        yield _malformed((*at, "value"), value, "the value of a taint", "")


def _of_seconds(toleration: Mapping[str, Any], at: Steps, plan: ClusterPlan) -> Iterator[Told]:
    seconds = toleration.get(_SECONDS)
    if seconds is None or is_token(seconds):
        return
    steps = (*at, _SECONDS)
    if type(seconds) is not int:
        yield _wrong(steps, seconds, "a whole number", "write the number without quotes")
    elif toleration.get("effect") != str(TaintEffect.NO_EXECUTE):
        allowed = f"none but for effect: {TaintEffect.NO_EXECUTE}"
        yield _malformed(steps, seconds, allowed, _without_seconds(toleration, plan))


def _without_seconds(toleration: Mapping[str, Any], plan: ClusterPlan) -> str:
    """What to write for seconds of a toleration for a taint that evicts nobody.

    With the other effect it would no longer be one of the taint that is meant.
    """
    key, effect = toleration.get("key") or "", toleration.get("effect") or ""
    met = [one for one in _taints(plan) if key in ("", one.key)]
    evicting = [one for one in met if one.effect is TaintEffect.NO_EXECUTE]
    if key in _OF_LOST_NODES or (met and evicting == met):
        return f"write effect: {TaintEffect.NO_EXECUTE}"
    leave = f"leave {_SECONDS} out"
    staying = [str(one) for one in met if one not in evicting and effect in ("", one.effect)]
    if staying:
        return f"{leave}: it is for taints that evict Pods, and {staying[0]} of the nodes does not"
    if effect:
        return f"{leave}: it is for taints that evict Pods, and those with {effect} do not"
    return f"{leave}, or where the taint has it, write effect: {TaintEffect.NO_EXECUTE}"


def _taints(plan: ClusterPlan) -> list[Taint]:
    return list(dict.fromkeys(one for group in plan.nodegroups for one in group.taints))


def _not_served(steps: Steps, operator: str, version: str) -> Told:
    return steps, fault(
        "OperatorNotServed",
        path_of(steps),
        f"the API server of Kubernetes {version} on EKS refuses this operator, whose feature gate "
        f"{GATE} is off",
        got=AsYaml(operator),
        allowed="Equal, Exists",
        fix="name the value, or tolerate every value with Exists",
        source=_PAGE,
    )


def _malformed(steps: Steps, got: Any, allowed: str, fix: str) -> Told:
    return _refused(steps, "MalformedToleration", got, allowed, fix or _AS_TAINT)


def _refused(steps: Steps, code: str, got: Any, allowed: str, fix: str) -> Told:
    message = "the API server takes no such toleration"
    return steps, fault(
        code, path_of(steps), message, got=AsYaml(got), allowed=allowed, fix=fix, source=_PAGE
    )


def _wrong(steps: Steps, value: Any, wanted: str, fix: str) -> Told:
    return steps, wrong_in_manifest(path_of(steps), value, wanted, fix)
