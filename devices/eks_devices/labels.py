"""Syntax and limits of the labels and taints that a user gives a node group."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from ._data import read_toml
from ._frozen import FrozenDict
from .findings import Finding, fault, shown
from .names import (
    COMPUTE_DOMAIN_LABEL,
    GPU_CLIQUE_LABEL,
    GPU_PRESENT_LABEL,
    LABEL_PREFIX,
    TAINT_KEYS,
)
from .spec import NodegroupSpec
from .syntax import label_key, label_value
from .taints import Taint, TaintEffect, parse_taint
from .typecheck import is_token, path_step, wrong_type
from .vocabulary import DeviceType

# What the driver of ComputeDomains writes on a node, and what another value does.
_OF_DOMAINS: Final = {
    GPU_CLIQUE_LABEL: "Pods that are to share memory would be placed by another value",
    COMPUTE_DOMAIN_LABEL: "with another value there the node takes no Pod of a ComputeDomain",
}
_DOMAINS_SOURCE: Final = (
    "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/blob/v0.5.0/"
    "cmd/compute-domain-kubelet-plugin/computedomain.go"
)
_TAINT_FORM = 'a Taint, or a string such as "dedicated=training:NoSchedule"'


def _key_faults(key: object, path: str, code: str) -> tuple[Finding, ...]:
    longest = read_toml("limits.toml")["keys"]["longest"]
    return tuple(label_key(key, path, code=code, longest=longest))


def _value_faults(value: object, path: str) -> Iterator[Finding]:
    longest = read_toml("limits.toml")["keys"]["longest_value"]
    yield from label_value(value, path, shortest=1, longest=longest)


def label_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """Faults of the user's labels."""
    path = f"{spec.path}.labels"
    if not isinstance(spec.labels, FrozenDict):
        yield wrong_type(
            path, spec.labels, "a mapping of strings to strings", 'write {"key": "value"}'
        )
        return
    for key, value in spec.labels.items():
        at = f"{path}[{shown(key)}]"
        yield from _key_faults(key, at, "MalformedLabelKey") or _owned_label(key, at)
        yield from _value_faults(value, at)


def pool_faults(pool: object, path: str) -> Iterator[Finding]:
    """The fault of the name of a pool, which is the value of a label of its nodes."""
    yield from _value_faults(pool, path)


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


def driver_label_faults(spec: NodegroupSpec, devices: Collection[DeviceType]) -> Iterator[Finding]:
    """Faults of labels that a driver of ours writes on the nodes of a group.

    Args:
        spec: The group; its labels have no faults of their own.
        devices: The device types of its nodes.
    """
    domains = DeviceType.COMPUTE_DOMAIN
    if domains not in devices or domains in spec.external:
        return
    for key, otherwise in _OF_DOMAINS.items():
        if key in spec.labels:
            yield fault(
                "LabelOfDriver",
                f"{spec.path}.labels[{shown(key)}]",
                f"the driver of ComputeDomains writes this label on its nodes: {otherwise}",
                got=spec.labels[key],
                allowed=f"keys other than {', '.join(_OF_DOMAINS)}",
                fix="leave it out, or pass compute_domains=False",
                source=_DOMAINS_SOURCE,
            )


def _under(prefix: str, reserved: str) -> bool:
    return prefix == reserved or prefix.endswith("." + reserved)


def taint_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """Faults of the user's taints."""
    path, taints = f"{spec.path}.taints", spec.taints
    if taints is None:
        return
    if type(taints) is not tuple:
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
        yield wrong_type(path, given, _TAINT_FORM, "write a Taint or a string")
    else:
        yield from _key_faults(taint.key, path, "MalformedTaintKey")
        if not isinstance(taint.value, str) or taint.value:
            yield from _value_faults(taint.value, path)
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
        taint = default_taint(accelerator) if accelerator else None
        return (taint,) if taint else ()
    parsed = (parse_taint(one) if isinstance(one, str) else one for one in spec.taints)
    return tuple(taint for taint in parsed if taint is not None)


def default_taint(accelerator: DeviceType) -> Taint | None:
    """The taint that nodes with an accelerator have unless their group names its own."""
    key = TAINT_KEYS.get(accelerator)
    return Taint(key=key, value="present") if key else None
