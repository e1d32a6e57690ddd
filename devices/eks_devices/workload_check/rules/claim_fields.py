"""Fields of claims at the wrong place in a Pod, or of a form that the API server refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ...typecheck import wrong_type
from ..documents import Steps, mapping, path_of
from ..pods import Container
from .context import Context, Told
from .readable import UNKNOWN

_SOURCE: Final = "https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/"
_OF_POD: Final = "resourceClaims"
_LISTED: Final = "claims"
_ENTRY: Final = "write a list: - name: ..."


def misplaced(context: Context) -> Iterator[Told]:
    """Claims are declared in the Pod's spec, and listed below `resources` of a container."""
    for container in context.containers:
        for steps in _places(container):
            is_of_pod = steps[-1] == _OF_POD
            yield context.error(
                (*container.steps, *steps),
                "MisplacedClaimField",
                "the API server knows no such field here, and the container gets no device by it",
                got=".".join(map(str, steps)),
                allowed="spec.resourceClaims of the Pod"
                if is_of_pod
                else "resources.claims of the container",
                fix="move it to the Pod's spec, beside containers"
                if is_of_pod
                else "move it right below resources:",
                source=_SOURCE,
            )


def _places(container: Container) -> Iterator[Steps]:
    """Where a container has a field of claims that it should have elsewhere."""
    yield from ((name,) for name in (_OF_POD, _LISTED) if name in container.content)
    resources = mapping(container.content, "resources")
    if _OF_POD in resources:
        yield "resources", _OF_POD
    for amounts in ("limits", "requests"):
        if _LISTED in mapping(resources, amounts):
            yield "resources", amounts, _LISTED


def malformed(context: Context) -> Iterator[Told]:
    """Both are lists of mappings."""
    yield from _wrong(context, (_OF_POD,), context.spec.get(_OF_POD))
    for container in context.containers:
        listed = mapping(container.content, "resources").get(_LISTED)
        yield from _wrong(context, (*container.steps, "resources", _LISTED), listed)


def _wrong(context: Context, steps: Steps, value: Any) -> Iterator[Told]:
    if value is None or value is UNKNOWN:
        return
    if not isinstance(value, list):
        yield steps, wrong_type(_path(context, steps), value, "a list", _ENTRY)
        return
    for index, one in enumerate(value):
        if not isinstance(one, dict) and one is not UNKNOWN:
            at = (*steps, index)
            fix = f"write - name: {one}" if isinstance(one, str) else _ENTRY
            yield at, wrong_type(_path(context, at), one, "a mapping", fix)


def _path(context: Context, steps: Steps) -> str:
    return path_of((*context.pod.steps, *steps))


def has_strays(context: Context) -> bool:
    """Whether claims stand where they are not read, so that others than these are not missed."""
    return any(any(_places(one)) for one in context.containers) or any(malformed(context))


RULES = (misplaced, malformed)
