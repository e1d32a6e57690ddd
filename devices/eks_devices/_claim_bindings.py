"""Which claims a Pod is to have, by its names for them, and what of them its containers use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ._pod_specs import Container, PodSpec
from .claims.constraints import unknown_request
from .claims.syntax import DRA_PAGE
from .claims.templates import DeviceClaim, ResourceClaim, ResourceClaimTemplate
from .claims.whole_nodes import WholeNodeClaims
from .findings import Finding, fault, meant
from .syntax import dns_label
from .typecheck import as_list, listed, members, path_step, plain_text, wrong_type

_KINDS: Final = (ResourceClaim, ResourceClaimTemplate, WholeNodeClaims)
_WANTED: Final = "claims, templates of claims, or what whole_node_claims returns"


def named_claims(pod: PodSpec, claims: object) -> dict[str, DeviceClaim]:
    """The claims by the names that the Pod has for them; what is no claim is a fault of the Pod.

    Args:
        pod: The Pod spec, which gets the faults.
        claims: What was given as its claims.
    """
    given: Any = [claims] if isinstance(claims, WholeNodeClaims) else claims
    if isinstance(given, Mapping):
        try:
            pairs = [(plain_text(name), one) for name, one in given.items()]
        except Exception:  # noqa: BLE001  (a collection of a user's may raise anything)
            pod.faults.append(wrong_type("claims", given, _WANTED, "pass a dict"))
            pairs = []
    else:
        found, faults = listed(
            given, _KINDS, "claims", many=f"a list of {_WANTED}", one="a claim", fix="pass a claim"
        )
        pod.faults += faults
        pairs = [pair for one in found for pair in _pairs(one)]
    named: dict[str, DeviceClaim] = {}
    for name, one in pairs:
        path = f"claims.{path_step(name)}"
        wrong = [*dns_label(name, path)]
        if not isinstance(one, (ResourceClaim, ResourceClaimTemplate)):
            wrong.append(wrong_type(path, one, "a claim or a template", "pass a claim"))
        elif not wrong and name in named:
            wrong.append(_taken(path, name))
        pod.faults += wrong
        if not wrong:
            named[name] = one
    return named


def _pairs(claim: Any) -> list[tuple[str, DeviceClaim]]:
    return [*claim.claims.items()] if isinstance(claim, WholeNodeClaims) else [(claim.name, claim)]


def uses_of(
    pod: PodSpec, users: object, named: Mapping[str, DeviceClaim]
) -> list[tuple[Container, list[tuple[str, str | None]]]]:
    """The containers, each with what it uses: claims, and requests of them or None for all.

    Args:
        pod: The Pod spec, which gets the faults.
        users: What was given as the containers.
        named: The claims of the Pod.
    """
    every: list[tuple[str, str | None]] = [(name, None) for name in named]
    if users is None:
        return [(one, every) for one in _only(pod)]
    if not isinstance(users, Mapping):
        return [(one, every) for one in pod.named(users)]
    try:
        pairs = [(plain_text(name), used) for name, used in users.items()]
    except Exception:  # noqa: BLE001  (a collection of a user's may raise anything)
        pod.faults.append(wrong_type("containers", users, "a mapping of names", "pass a dict"))
        return []
    found = []
    for name, used in pairs:
        uses = [*_used(pod, used, f"containers.{path_step(name)}", named)]
        found += [(one, uses) for one in pod.named([name])]
    idle = [name for name in named if all(name != one for _, uses in found for one, _ in uses)]
    pod.faults += [] if pod.faults else [_used_by_none(name) for name in idle]
    return found


def _used(
    pod: PodSpec, given: object, path: str, named: Mapping[str, DeviceClaim]
) -> Iterator[tuple[str, str | None]]:
    texts = members(given, ordered=True)
    if texts is None:
        fix = as_list(given, path, "gpus/gpu-0")
        pod.faults.append(wrong_type(path, given, "a list of names of claims", fix))
    for index, one in enumerate(map(plain_text, texts or ())):
        at = f"{path}[{index}]"
        if not isinstance(one, str):
            pod.faults.append(wrong_type(at, one, "the name of a claim", "write its name"))
            continue
        name, slash, request = one.partition("/")
        if name not in named:
            pod.faults.append(_unknown_claim(name, at, [*named]))
            continue
        known = [asked.name for asked in named[name].requests]
        if slash and request not in known:
            pod.faults.append(unknown_request(request, at, known))
            continue
        yield name, request if slash else None


def _only(pod: PodSpec) -> list[Container]:
    """The one container of a Pod that is no init container."""
    every = [one for one in pod.containers if not one.is_init]
    if len(every) > 1:
        pod.faults.append(
            fault(
                "ContainersNeeded",
                "containers",
                "the Pod has several containers, and which of them uses the claims is not known",
                got=None,
                allowed=", ".join(one.name for one in every),
                fix='name containers=["..."], or {"...": ["<claim>/<request>"]}',
                source=DRA_PAGE,
            )
        )
    return every


def _used_by_none(name: str) -> Finding:
    return fault(
        "ClaimUsedByNone",
        f"claims.{name}",
        "no container uses the claim, so the Pod would hold its devices for nothing",
        got="no container",
        allowed="a container or more",
        fix="name it for a container, or leave the claim out",
        source=DRA_PAGE,
    )


def _unknown_claim(name: str, path: str, known: list[str]) -> Finding:
    return fault(
        "UnknownClaim",
        path,
        "the Pod has no claim of this name",
        got=name,
        allowed=", ".join(known),
        fix=meant(name, known) or "name a claim that is passed",
        source=DRA_PAGE,
    )


def _taken(path: str, name: str) -> Finding:
    return fault(
        "ClaimNameTaken",
        path,
        "two claims of the Pod have one name",
        got=name,
        allowed="names that differ within the Pod",
        fix='pass a mapping, {"first": ..., "second": ...}',
        source=DRA_PAGE,
    )
