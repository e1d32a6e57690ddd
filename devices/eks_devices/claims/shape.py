"""What can be said of a claim before its instance type is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_devices.findings import Finding, fault
from eks_devices.published import DEVICE_GROUP_SIZES
from eks_devices.typecheck import wrong_type

from .asked import Asked
from .kinds import RequestKind
from .match import MatchAttribute
from .requests import DeviceRequest
from .syntax import DRA_PAGE

MOST_REQUESTS: Final = 32
"""The API server takes no more requests in a claim (resource.k8s.io types)."""

_SIZES = ", ".join(map(str, DEVICE_GROUP_SIZES))
_GROUPED = (RequestKind.NEURON, RequestKind.EFA)
_ON_ROOTS = (RequestKind.GPU, RequestKind.MIG, RequestKind.EFA)
_GROUPS_PAGE = "https://github.com/aws-neuron/connected-device-maps-over-efa-for-neuron"


def type_faults(path: str, requests: object, match: object) -> Iterator[Finding]:
    """Faults of requests and match that are of the wrong Python type, or too few or many."""
    wanted = "a list of DeviceRequest"
    if not isinstance(requests, tuple):
        yield wrong_type(f"{path}.requests", requests, wanted, "write [DeviceRequest.gpu()]")
    else:
        yield from _number_faults(f"{path}.requests", len(requests))
        for index, one in enumerate(requests):
            if not isinstance(one, DeviceRequest):
                one_path, fix = f"{path}.requests[{index}]", "use a factory of DeviceRequest"
                yield wrong_type(one_path, one, "a DeviceRequest", fix)
    if match is not None and not isinstance(match, MatchAttribute):
        wanted = "MatchAttribute.PCIE_ROOT, .DEVICE_GROUP, .of(...) or None"
        yield wrong_type(f"{path}.match", match, wanted, "name a MatchAttribute")


def _number_faults(path: str, number: int) -> Iterator[Finding]:
    allowed = f"1 to {MOST_REQUESTS} requests"
    if number == 0:
        message, fix = "the claim asks for nothing", "add a request, DeviceRequest.gpu()"
        yield fault("NoRequests", path, message, got=number, allowed=allowed, fix=fix)
    elif number > MOST_REQUESTS:
        yield fault(
            "TooManyRequests",
            path,
            "Kubernetes takes no more requests in a claim",
            got=number,
            allowed=allowed,
            fix="use counts, or split the claim",
            source=DRA_PAGE,
        )


def shape_faults(asked: Asked) -> Iterator[Finding]:
    """Faults of requests that contradict each other or the match."""
    yield from _duplicates(asked)
    yield from _open_efa(asked)
    yield from _ultraserver(asked)
    if asked.match is not None and asked.match.is_device_group:
        yield from _device_group(asked)
    if asked.match is not None and asked.match.is_pcie_root:
        yield from _strangers(asked, _ON_ROOTS, "GPUs, their partitions and EFAs have PCIe roots")


def _duplicates(asked: Asked) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, one in enumerate(asked.requests):
        if one.name in seen:
            path = f"{asked.path}.requests[{index}].name"
            yield fault(
                "DuplicateRequestName",
                path,
                "two requests of a claim have one name",
                got=one.name,
                allowed="names that differ within the claim",
                fix='give each its own, DeviceRequest.gpu(name="second")',
                source=DRA_PAGE,
            )
        seen.add(one.name)


def _open_efa(asked: Asked) -> Iterator[Finding]:
    efas = [one for one in asked.requests if one.kind is RequestKind.EFA]
    if asked.open_path and len(efas) > 1:
        yield fault(
            "EfaCountAmbiguous",
            asked.open_path,
            "an open EFA count stands for all EFAs of a claim, and there is another EFA request",
            got=len(efas),
            allowed="one EFA request, or a count in each",
            fix="write the counts, or keep one EFA request",
        )


def _ultraserver(asked: Asked) -> Iterator[Finding]:
    nodes = asked.total(RequestKind.ULTRASERVER_NODE)
    if nodes > 1:
        yield fault(
            "OutOfRange",
            asked.path_of(RequestKind.ULTRASERVER_NODE),
            "a claim is for one node, and a node is one UltraServer node",
            got=nodes,
            allowed="1 UltraServer node request",
            fix="give each Pod a claim of its own from a ResourceClaimTemplate",
        )


def _device_group(asked: Asked) -> Iterator[Finding]:
    yield from _strangers(asked, _GROUPED, "Neuron devices and their EFAs form device groups")
    if not asked.has(RequestKind.NEURON):
        yield fault(
            "MatchDoesNotFit",
            f"{asked.path}.match",
            "the size of a device group is the number of Neuron devices, and none is asked for",
            got="no Neuron request",
            allowed=f"{_SIZES} Neuron devices",
            fix="add DeviceRequest.neuron(4), or leave the match out",
            source=_GROUPS_PAGE,
        )
    elif asked.total(RequestKind.NEURON) not in DEVICE_GROUP_SIZES:
        yield _group_size(asked)


def _group_size(asked: Asked) -> Finding:
    return fault(
        "DeviceGroupSize",
        f"{asked.path_of(RequestKind.NEURON)}.count",
        "connected groups of Neuron devices come in fixed sizes",
        got=asked.total(RequestKind.NEURON),
        allowed=_SIZES,
        fix=f"ask for {_SIZES} devices, or leave the match out",
        source=_GROUPS_PAGE,
    )


def _strangers(asked: Asked, kinds: tuple[RequestKind, ...], message: str) -> Iterator[Finding]:
    for index, one in enumerate(asked.requests):
        if one.kind not in kinds:
            yield fault(
                "MatchDoesNotFit",
                f"{asked.path}.requests[{index}]",
                f"only {message}, so this claim could never be allocated",
                got=one.kind.value,
                allowed=", ".join(kinds),
                fix="match by another attribute, or split the claim",
                source=DRA_PAGE,
            )
