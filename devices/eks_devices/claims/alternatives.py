"""What a list of alternatives may hold, of which a request gets the first that can be had."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .._data import read_toml
from ..findings import Finding, fault
from ..typecheck import path_step, wrong_type
from .gpu_checks import option_does_not_fit
from .kinds import RequestKind
from .syntax import DRA_PAGE

if TYPE_CHECKING:
    from .requests import DeviceRequest

_OF_ALTERNATIVES = ("selectors", "tolerations")


def alternative_faults(request: DeviceRequest, path: str) -> Iterator[Finding]:
    """Faults of the alternatives of a list, and of alternatives of what is none."""
    path = f"{path}.alternatives"
    if request.kind is not RequestKind.FIRST_AVAILABLE:
        is_none = type(request.alternatives) is tuple and not request.alternatives
        given = None if is_none else request.alternatives
        yield from option_does_not_fit(given, path, "DeviceRequest.first_available")
        return
    for name in _OF_ALTERNATIVES:
        own = getattr(request, name)
        if type(own) is not tuple or own:
            yield from option_does_not_fit(own, path.replace("alternatives", name), "alternatives")
    if type(request.alternatives) is not tuple:
        fix = "write first_available(DeviceRequest.gpu(8), ...)"
        yield wrong_type(path, request.alternatives, "a list of requests", fix)
        return
    yield from _number_faults(path, len(request.alternatives))
    names: set[object] = set()
    for index, one in enumerate(request.alternatives):
        yield from _one_faults(one, f"{path}[{index}]", names)


def _number_faults(path: str, number: int) -> Iterator[Finding]:
    limit = read_toml("limits.toml")["claims"]
    most = limit["most_alternatives"]
    if not 1 <= number <= most:
        yield fault(
            "AlternativeCount",
            path,
            "Kubernetes takes no such list",
            got=number,
            allowed=f"1 to {most} alternatives",
            fix="name at least one, and leave out those that matter least",
            source=limit["source"],
        )


def _one_faults(one: object, path: str, names: set[object]) -> Iterator[Finding]:
    from .requests import DeviceRequest  # noqa: PLC0415  (requests are checked by this module)

    if not isinstance(one, DeviceRequest):
        is_list = isinstance(one, (list, tuple))
        fix = "leave out the brackets" if is_list else "use a factory of DeviceRequest"
        yield wrong_type(path, one, "a DeviceRequest", fix)
        return
    if one.kind is RequestKind.FIRST_AVAILABLE:
        yield _not_here(path, one.kind.value, "a list of alternatives in another", "name them all")
    if one.admin_access is True:
        fix = "make a request of its own for admin access"
        what = "an alternative with admin access"
        yield _not_here(f"{path}.admin_access", one.admin_access, what, fix)
    if one.name in names:
        yield fault(
            "RepeatedRequestName",
            f"{path}.name",
            "two alternatives of a request have one name",
            got=one.name,
            allowed="names that differ within the list",
            fix=f'give each its own, name="{path_step(one.name)}-2"',
            source=DRA_PAGE,
        )
    names.add(one.name)


def _not_here(path: str, got: object, what: str, fix: str) -> Finding:
    return fault(
        "AlternativeDoesNotFit",
        path,
        f"Kubernetes has no field for {what}",
        got=got,
        allowed="plain requests",
        fix=fix,
        source=DRA_PAGE,
    )
