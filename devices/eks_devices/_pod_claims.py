"""Claims that a Pod spec makes from a template, and the containers that list them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ._pod_specs import POD_SPEC, Container, PodSpec
from .findings import Finding


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


def names_of(entries: Iterable[dict[str, Any]]) -> list[str]:
    """What entries of a Pod spec call themselves; empty for what has no name that is a text."""
    return [_text(one, "name") for one in entries]


def _text(entry: dict[str, Any], field: str) -> str:
    value = entry.get(field)
    return value if isinstance(value, str) else ""
