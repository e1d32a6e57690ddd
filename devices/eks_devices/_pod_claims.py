"""Claims that a Pod spec makes from a template, and the containers that list them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ._pod_specs import POD_SPEC, Container, PodSpec
from .claims.syntax import DRA_PAGE
from .claims.templates import DeviceClaim, ResourceClaim
from .findings import Finding, fault


def made_claim(
    pod: PodSpec, template: str, name: str, taken: Callable[[str, dict[str, Any]], Finding]
) -> str:
    """The name of the Pod's claim from a template, which is added where there is none yet.

    Args:
        pod: The Pod spec, which is changed.
        template: The name of the ResourceClaimTemplate; empty where it is not known.
        name: What a new claim is called.
        taken: The fault of another claim of that name, given its path and what it is.
    """
    entries = list(pod.entries(pod.values, "resourceClaims", POD_SPEC))
    made = [one for _, one in entries if _text(one, "resourceClaimTemplateName") == template]
    if template and made and _text(made[0], "name"):
        return _text(made[0], "name")
    pod.faults += [taken(path, one) for path, one in entries if _text(one, "name") == name]
    listed = pod.part(pod.values, "resourceClaims", list, POD_SPEC)
    claim = {"name": name, "resourceClaimTemplateName": template}
    pod.values["resourceClaims"] = [*listed, claim]
    return name


def list_claim(pod: PodSpec, containers: Iterable[Container], name: str) -> None:
    """Let containers use a claim of the Pod, those that do not already.

    Args:
        pod: The Pod spec, which is changed.
        containers: The containers.
        name: What the Pod calls the claim.
    """
    for one in containers:
        resources = one.values["resources"] = pod.part(one.values, "resources", dict, one.path)
        if name not in names_of(pod.claims(one)):
            listed = pod.part(resources, "claims", list, f"{one.path}.resources")
            resources["claims"] = [*listed, {"name": name}]


def add_claim(pod: PodSpec, name: str, claim: DeviceClaim) -> None:
    """Give the Pod a claim, where it has none of this name; another one of it is a fault.

    Args:
        pod: The Pod spec, which is changed.
        name: What the Pod calls the claim.
        claim: The claim that it shares with others, or the template of its own.
    """
    is_shared = isinstance(claim, ResourceClaim)
    field = "resourceClaimName" if is_shared else "resourceClaimTemplateName"
    made = {"name": name, field: claim.name}
    for path, one in pod.entries(pod.values, "resourceClaims", POD_SPEC):
        if _text(one, "name") == name:
            has = {key: value for key, value in one.items() if value is not None}
            pod.faults += [] if has == made else [_other_claim(path, one, claim)]
            return
    listed = pod.part(pod.values, "resourceClaims", list, POD_SPEC)
    pod.values["resourceClaims"] = [*listed, made]


def list_request(pod: PodSpec, container: Container, name: str, request: str | None) -> None:
    """Let a container use a claim of the Pod, or one request of it.

    Args:
        pod: The Pod spec, which is changed.
        container: The container.
        name: What the Pod calls the claim.
        request: The request; None for all of them.
    """
    made = {"name": name} if request is None else {"name": name, "request": request}
    resources = container.values["resources"] = pod.part(
        container.values, "resources", dict, container.path
    )
    if made not in pod.claims(container):
        listed = pod.part(resources, "claims", list, f"{container.path}.resources")
        resources["claims"] = [*listed, made]


def _other_claim(path: str, entry: dict[str, Any], claim: DeviceClaim) -> Finding:
    return fault(
        "ClaimNameTaken",
        path,
        "the Pod has another claim of this name",
        got=entry,
        allowed=f"a claim by {claim.name}",
        fix="rename one of them: pass a mapping of the Pod's names to claims",
        source=DRA_PAGE,
    )


def names_of(entries: Iterable[dict[str, Any]]) -> list[str]:
    """What entries of a Pod spec call themselves; empty for what has no name that is a text."""
    return [_text(one, "name") for one in entries]


def _text(entry: dict[str, Any], field: str) -> str:
    value = entry.get(field)
    return value if isinstance(value, str) else ""
