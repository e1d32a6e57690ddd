"""Fields of claims at the wrong place in a Pod, or of a form that the API server refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..._yaml_text import wrong_in_manifest
from ...findings import meant
from ...names import CLAIM_FIELDS
from ..documents import Steps, mapping, mappings, path_of
from ..pods import Container
from .claim_entries import ENTRY_FIELDS, entry_field_meant
from .context import Context, Told
from .readable import UNKNOWN

_SOURCE: Final = "https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/"
_OF_POD: Final = "resourceClaims"
_LISTED: Final = "claims"
_AMOUNTS: Final = ("limits", "requests")
_LISTED_FIELDS: Final = ("name", "request")
# Of a Pod's spec and of a container, those that decide where it runs and what it gets there.
_POD_FIELDS: Final = (_OF_POD, "tolerations", "nodeSelector", "affinity", "nodeName")
_CONTAINER_FIELDS: Final = ("resources",)
_OF_AFFINITY: Final = ("nodeAffinity", "podAffinity", "podAntiAffinity")
# Fields that are spelled much like those.
_REAL_FIELDS: Final = ("resources", "hostname")
# What a container has at the wrong place is told of itself.
_MISPLACED: Final = (*_POD_FIELDS, _LISTED)
_ENTRY: Final = "write a list: - name: ..."


def misplaced(context: Context) -> Iterator[Told]:
    """Claims are declared in the Pod's spec, as is where it runs, and listed below `resources`."""
    for container in context.containers:
        for steps in _places(container):
            allowed, fix = _home(context, container, steps)
            yield context.error(
                (*container.steps, *steps),
                "MisplacedClaimField",
                "the API server knows no such field here, and it does nothing",
                got=".".join(map(str, steps)),
                allowed=allowed,
                fix=fix,
                source=_SOURCE,
            )


def _home(context: Context, container: Container, steps: Steps) -> tuple[str, str]:
    """Where a field belongs that stands elsewhere, and what to do."""
    listed = "resources.claims of the container"
    if steps[-1] in _AMOUNTS:
        return f"resources.{steps[-1]} of the container", "move it right below resources:"
    if steps[-1] == _LISTED:
        return listed, "move it right below resources:"
    owner = mapping(container.content, "resources") if len(steps) > 1 else container.content
    entries = [one for _, one in mappings(owner, _OF_POD)]
    names_only = all(set(one) <= set(_LISTED_FIELDS) for one in entries)
    if steps[-1] == _OF_POD and entries and names_only and context.spec.get(_OF_POD):
        return listed, "write claims: below resources: containers list the Pod's claims by it"
    return f"spec.{steps[-1]} of the Pod", "move it to the Pod's spec, beside containers"


def _places(container: Container) -> Iterator[Steps]:
    """Where a container has a field that it, or its Pod, should have elsewhere."""
    yield from ((name,) for name in (*_MISPLACED, *_AMOUNTS) if name in container.content)
    resources = mapping(container.content, "resources")
    if _OF_POD in resources:
        yield "resources", _OF_POD
    for amounts in _AMOUNTS:
        if _LISTED in mapping(resources, amounts):
            yield "resources", amounts, _LISTED


def misspelt(context: Context) -> Iterator[Told]:
    """Fields that decide on devices, misspelt: kubectl refuses them, and others lose them."""
    yield from _misspelt(context, (), context.spec, _POD_FIELDS)
    for container in context.containers:
        yield from _misspelt(context, container.steps, container.content, _CONTAINER_FIELDS)
        at = (*container.steps, "resources")
        resources = mapping(container.content, "resources")
        yield from _unknown(context, at, resources, (*_AMOUNTS, _LISTED), but=(_OF_POD,))
        for index, one in mappings(resources, _LISTED):
            yield from _unlisted(context, (*at, _LISTED, index), one)
    for index, one in mappings(context.spec, _OF_POD):
        # A field of old versions in the place of those has a rule of its own.
        old = () if any(one.get(name) is not None for name in CLAIM_FIELDS) else ("source",)
        for name in one:
            if name not in ENTRY_FIELDS and name not in old:
                near = entry_field_meant(name, one)
                yield _no_field(context, (_OF_POD, index, name), name, ENTRY_FIELDS, near)


def _unlisted(context: Context, at: Steps, entry: Mapping[str, Any]) -> Iterator[Told]:
    """Fields of what a container lists; one beside no name is in the place of it."""
    for name, value in entry.items():
        if name not in _LISTED_FIELDS:
            near = meant(name, _LISTED_FIELDS)
            if "name" not in entry and isinstance(value, str):
                near = f"write name: {value}"
            yield _no_field(context, (*at, name), name, _LISTED_FIELDS, near)


def _misspelt(
    context: Context, at: Steps, owner: Mapping[str, Any], fields: tuple[str, ...]
) -> Iterator[Told]:
    for name in owner:
        if name in CLAIM_FIELDS and not at:
            near = f"write {_OF_POD}: [{{name: gpu, {name}: {owner[name]!s:.63}}}]"
            yield _no_field(context, (name,), name, fields, near)
        elif name in _OF_AFFINITY and not at:
            yield _no_field(context, (name,), name, fields, "put it below affinity:")
        elif name not in (*fields, *_REAL_FIELDS, *_MISPLACED) and (near := meant(name, fields)):
            yield _no_field(context, (*at, name), name, fields, near)


def _unknown(
    context: Context,
    at: Steps,
    owner: Mapping[str, Any],
    fields: tuple[str, ...],
    *,
    but: tuple[str, ...] = (),
) -> Iterator[Told]:
    for name in owner:
        if name not in fields and name not in but:
            home = "put it below limits:" if _is_amount(name, fields) else ""
            yield _no_field(context, (*at, name), name, fields, home or meant(name, fields))


def _is_amount(name: str, fields: tuple[str, ...]) -> bool:
    """Whether a field of `resources` is a resource of which an amount is meant."""
    return "limits" in fields and ("/" in name or name in _PLAIN or name.startswith("hugepages-"))


_PLAIN: Final = ("cpu", "memory", "ephemeral-storage")


def _no_field(
    context: Context, steps: Steps, name: str, fields: tuple[str, ...], near: str
) -> Told:
    return context.error(
        steps,
        "UnknownField",
        "the API has no such field, so kubectl refuses the Pod, and others lose what it says",
        got=name,
        allowed=", ".join(fields),
        fix=near or "leave it out",
        source=_SOURCE,
    )


def malformed(context: Context) -> Iterator[Told]:
    """Both are lists of mappings."""
    yield from _wrong(context, (_OF_POD,), context.spec.get(_OF_POD))
    for container in context.containers:
        listed = mapping(container.content, "resources").get(_LISTED)
        yield from _wrong(context, (*container.steps, "resources", _LISTED), listed)
        yield from _no_mappings(context, container)


def _no_mappings(context: Context, container: Container) -> Iterator[Told]:
    """Resources, limits and requests that are no mappings."""
    given = container.content.get("resources")
    resources = mapping(container.content, "resources")
    values: list[tuple[Steps, Any]] = [(("resources",), given)]
    values += [(("resources", one), resources.get(one)) for one in _AMOUNTS]
    for steps, value in values:
        if value is not None and value is not UNKNOWN and not isinstance(value, dict):
            at = (*container.steps, *steps)
            yield (
                at,
                wrong_in_manifest(_path(context, at), value, "a mapping", "write name: amount"),
            )


def _wrong(context: Context, steps: Steps, value: Any) -> Iterator[Told]:
    if value is None or value is UNKNOWN:
        return
    if not isinstance(value, list):
        yield steps, wrong_in_manifest(_path(context, steps), value, "a list", _ENTRY)
        return
    for index, one in enumerate(value):
        if not isinstance(one, dict) and one is not UNKNOWN:
            at = (*steps, index)
            yield at, wrong_in_manifest(_path(context, at), one, "a mapping", _as_entry(one))


def _as_entry(value: object) -> str:
    """What to write for an entry that is no mapping: a name, or the request of a claim."""
    if not isinstance(value, str):
        return _ENTRY
    name, _, request = value.partition("/")
    return f"write - {{name: {name}, request: {request}}}" if request else f"write - name: {value}"


def _path(context: Context, steps: Steps) -> str:
    return path_of((*context.pod.steps, *steps))


def has_strays(context: Context) -> bool:
    """Whether claims stand where they are not read, so that others than these are not missed."""
    about_claims = (steps for one in context.containers for steps in _places(one))
    is_stray = any(steps[-1] in (_OF_POD, _LISTED) for steps in about_claims)
    return is_stray or _has_misspelt_claims(context.spec) or any(malformed(context))


def _has_misspelt_claims(spec: Mapping[str, Any]) -> bool:
    others = (one for one in spec if one not in _POD_FIELDS)
    return not spec.get(_OF_POD) and any(meant(one, [_OF_POD]) for one in others)


RULES = (misplaced, malformed, misspelt)
