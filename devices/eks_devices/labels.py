"""Syntax and limits of the labels and taints that a user gives a node group."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ._data import read_toml
from ._frozen import FrozenDict
from .findings import Finding, fault, shown
from .kubernetes import is_token
from .names import GPU_PRESENT_LABEL, LABEL_PREFIX, TAINT_KEYS
from .spec import NodegroupSpec
from .taints import Taint, TaintEffect, parse_taint
from .typecheck import path_step, wrong_type
from .vocabulary import DeviceType

_NAME = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
_DNS_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_KEY = re.compile(rf"(?:{_DNS_LABEL}(?:\.{_DNS_LABEL})*/)?{_NAME}", re.ASCII)
_VALUE = re.compile(_NAME, re.ASCII)
_TAINT_FORM = 'a Taint, or a text such as "dedicated=training:NoSchedule"'
_SYNTAX = "https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/"


def _longest() -> int:
    return int(read_toml("limits.toml")["keys"]["longest"])


def is_label_value(value: str) -> bool:
    """Whether EKS and Kubernetes take a text as the value of a node label."""
    return len(value) <= _longest() and _VALUE.fullmatch(value) is not None


def _key_fault(key: object, path: str, code: str) -> Finding | None:
    allowed = (
        f"letters, digits, '-', '_', '.', an optional DNS prefix with '/', 1 to {_longest()} in all"
    )
    if not isinstance(key, str) or is_token(key):
        return wrong_type(path, key, allowed, "write the key as a text")
    if len(key) <= _longest() and _KEY.fullmatch(key):
        return None
    return fault(
        code,
        path,
        "the key has the wrong form",
        got=key,
        allowed=allowed,
        fix="shorten or respell the key",
        source=_SYNTAX,
    )


def label_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """Faults of the user's labels."""
    path = f"{spec.path}.labels"
    if not isinstance(spec.labels, FrozenDict):
        yield wrong_type(path, spec.labels, "a mapping of texts to texts", 'write {"key": "value"}')
        return
    for key, value in spec.labels.items():
        at = f"{path}[{shown(key)}]"
        wrong_key = _key_fault(key, at, "MalformedLabelKey")
        yield from (wrong_key,) if wrong_key else _owned_label(key, at)
        yield from _label_value(value, at)


def _owned_label(key: str, path: str) -> Iterator[Finding]:
    limits = read_toml("limits.toml")["labels"]
    prefix, slash, _ = key.rpartition("/")
    if key.startswith(LABEL_PREFIX) or key == GPU_PRESENT_LABEL:
        yield fault(
            "OwnLabel",
            path,
            "this label is set by the library, and managers select by it",
            got=key,
            allowed=f"keys without the prefix {LABEL_PREFIX}, and others than {GPU_PRESENT_LABEL}",
            fix="choose a key of your own",
        )
    elif any(_under(prefix + slash, reserved) for reserved in limits["reserved"]):
        yield fault(
            "ReservedLabel",
            path,
            limits["message"],
            got=key,
            source=limits["source"],
            allowed=f"keys without the prefixes {', '.join(limits['reserved'])}",
            fix="move the label under a prefix of your own",
        )


def _under(prefix: str, reserved: str) -> bool:
    return prefix == reserved or prefix.endswith("." + reserved)


def _label_value(value: object, path: str) -> Iterator[Finding]:
    allowed = f"1 to {_longest()} letters, digits, '-', '_' or '.', letters or digits at both ends"
    if not isinstance(value, str) or is_token(value):
        yield wrong_type(path, value, allowed, "write the value as a text")
    elif not is_label_value(value):
        yield fault(
            "MalformedLabelValue",
            path,
            "the value has the wrong form",
            got=value,
            allowed=allowed,
            fix="shorten or respell the value",
            source=_SYNTAX,
        )


def taint_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """Faults of the user's taints."""
    path, taints = f"{spec.path}.taints", spec.taints
    if taints is None:
        return
    if not isinstance(taints, tuple):
        yield wrong_type(path, taints, f"a sequence, each {_TAINT_FORM}", "write a list or tuple")
        return
    limits = read_toml("limits.toml")["taints"]
    if len(taints) > limits["most"]:
        yield fault(
            "TooManyTaints",
            path,
            "EKS takes no more taints on a node group",
            got=len(taints),
            allowed=f"{limits['most']} at most",
            fix="leave taints out",
            source=limits["source"],
        )
    for index, taint in enumerate(taints[: limits["most"]]):
        yield from _taint_faults(taint, f"{path}[{index}]")
    yield from _repeated(taints[: limits["most"]], path)


def _taint_faults(given: object, path: str) -> Iterator[Finding]:
    taint = parse_taint(given) if isinstance(given, str) else given
    if is_token(given):
        yield wrong_type(path, given, _TAINT_FORM, "write the taint itself")
    elif isinstance(given, str) and taint is None:
        yield fault(
            "MalformedTaint",
            path,
            "this is not a taint",
            got=given,
            allowed=_TAINT_FORM,
            fix="write key=value:Effect, with Effect one of " + ", ".join(TaintEffect),
        )
    elif not isinstance(taint, Taint):
        yield wrong_type(path, given, _TAINT_FORM, "write a Taint or a text")
    else:
        wrong_key = _key_fault(taint.key, path, "MalformedTaintKey")
        yield from (wrong_key,) if wrong_key else ()
        if not isinstance(taint.value, str) or taint.value:
            yield from _label_value(taint.value, path)
        if not isinstance(taint.effect, TaintEffect):
            yield wrong_type(path, taint.effect, ", ".join(TaintEffect), "name a TaintEffect")


def _repeated(taints: tuple[object, ...], path: str) -> Iterator[Finding]:
    parsed = [parse_taint(one) if isinstance(one, str) else one for one in taints]
    pairs = [
        (path_step(one.key), str(one.effect))
        for one in parsed
        if isinstance(one, Taint) and isinstance(one.key, str) and isinstance(one.effect, str)
    ]
    for key, effect in sorted({pair for pair in pairs if pairs.count(pair) > 1}):
        yield fault(
            "RepeatedTaint",
            path,
            "a key may have an effect once only",
            got=f"{key}:{effect}",
            allowed="each pair of key and effect once",
            fix="leave one of the two out",
        )


def taints_of(spec: NodegroupSpec, accelerator: DeviceType | None) -> tuple[Taint, ...]:
    """The taints of a group: the user's, else the accelerator's default one."""
    if spec.taints is None:
        key = TAINT_KEYS.get(accelerator) if accelerator else None
        return (Taint(key=key, value="present"),) if key else ()
    parsed = (parse_taint(one) if isinstance(one, str) else one for one in spec.taints)
    return tuple(taint for taint in parsed if taint is not None)
