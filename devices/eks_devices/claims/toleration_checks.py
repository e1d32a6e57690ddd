"""What a request says of tainted devices, and of those that others use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .._data import read_toml
from ..findings import Finding, fault
from ..typecheck import boolean, wrong_type
from .gpu_checks import option_does_not_fit
from .kinds import RequestKind
from .tolerations import DeviceToleration

if TYPE_CHECKING:
    from .requests import DeviceRequest


def toleration_faults(tolerations: object, path: str) -> Iterator[Finding]:
    """Faults of what a request tolerates."""
    limit = read_toml("limits.toml")["claims"]
    wanted = f"at most {limit['most_tolerations']} tolerations"
    if type(tolerations) is not tuple:
        yield wrong_type(path, tolerations, wanted, "use tolerating(DeviceToleration(...))")
        return
    if len(tolerations) > limit["most_tolerations"]:
        yield fault(
            "TooManyTolerations",
            path,
            "Kubernetes takes no more tolerations in a request",
            got=len(tolerations),
            allowed=wanted,
            fix="leave out the key, which stands for all taints",
            source=limit["source"],
        )
    for index, one in enumerate(tolerations):
        if not isinstance(one, DeviceToleration):
            fix = "write DeviceToleration(key=...)"
            yield wrong_type(f"{path}[{index}]", one, "a DeviceToleration", fix)


def access_faults(request: DeviceRequest, path: str) -> Iterator[Finding]:
    """Faults of what a request says of admin access."""
    yield from boolean(request.admin_access, path)
    access = request.admin_access
    if request.kind is RequestKind.FIRST_AVAILABLE and access is True:
        yield from option_does_not_fit(access, path, "requests that are no list of alternatives")
