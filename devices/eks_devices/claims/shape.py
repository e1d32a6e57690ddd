"""What can be said of a claim before its instance type is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ..findings import Finding, fault, shown
from ..published import all_device_group_sizes
from ..typecheck import wrong_type
from .asked import Asked, asks_for, count_of, group_size, open_path, request_path
from .choices import View, choices, has_more_choices, parts
from .constraints import config_faults, constraint_type_faults, named_faults, size_faults
from .kinds import RequestKind
from .match import MatchAttribute
from .opaque import config_type_faults
from .passthrough import passthrough_faults
from .requests import DeviceRequest
from .syntax import DRA_PAGE

MOST_REQUESTS: Final = 32
"""The API server takes no more requests in a claim (resource.k8s.io types)."""

_GROUPED = (RequestKind.NEURON, RequestKind.EFA)
_ON_ROOTS = (RequestKind.GPU, RequestKind.MIG, RequestKind.VFIO, RequestKind.EFA)
_GROUPS_PAGE = "https://github.com/aws-neuron/connected-device-maps-over-efa-for-neuron"
_ULTRASERVER_PAGE = "https://aws.amazon.com/ec2/ultraservers/"


def type_faults(asked: Asked) -> Iterator[Finding]:
    """Faults of what is of the wrong Python type in a claim, or too few or many."""
    path, requests, match = asked.path, asked.requests, asked.match
    wanted = "a list of DeviceRequest"
    if type(requests) is not tuple:
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
    yield from constraint_type_faults(asked.constraints, f"{path}.constraints")
    yield from config_type_faults(asked.configs, f"{path}.configs")


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
    """Faults of requests that contradict each other or the match.

    Of alternatives each has to do in some choice.
    """
    named = [*_repeated(asked), *named_faults(asked), *config_faults(asked)]
    yield from named
    yield from () if named else size_faults(asked)
    sound: set[str] = set()
    faulty: dict[str, list[Finding]] = {}
    for view in choices(asked):
        faults = [view.placed(one) for one in contradictions(view)]
        for place in view.places:
            if faults:
                faulty.setdefault(place, faults)
            else:
                sound.add(place)
    # Where not every choice was looked at, the others may be sound.
    told = {} if has_more_choices(asked) else faulty
    yield from dict.fromkeys(
        one for place, found in told.items() if place not in sound for one in found
    )


def contradictions(view: View) -> Iterator[Finding]:
    """Faults of requests of one choice that contradict each other or what they are to match."""
    yield from _open_efa(view)
    yield from _ultraserver(view)
    yield from _whole_and_parts(view)
    yield from passthrough_faults(view)
    for part in parts(view):
        assert part.match is not None  # noqa: S101  (what a part is)
        yield from map(part.placed, _match(part, part.match))


def _match(asked: Asked, match: MatchAttribute) -> Iterator[Finding]:
    size = group_size(asked)
    if size is not None:
        yield from _device_group(asked, match, size)
    if match.is_pcie_root:
        yield from _strangers(
            asked,
            _ON_ROOTS,
            "GPUs, their partitions and EFAs have PCIe roots",
            {RequestKind.NEURON: "MatchAttribute.DEVICE_GROUP"},
        )


def _repeated(asked: Asked) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, one in enumerate(asked.requests):
        if one.name in seen:
            path = f"{asked.path}.requests[{index}].name"
            yield fault(
                "RepeatedRequestName",
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
    if open_path(asked) and len(efas) > 1:
        yield fault(
            "EfaCountAmbiguous",
            open_path(asked),
            "an open EFA count stands for all EFAs of a claim, and there is another EFA request",
            got=len(efas),
            allowed="one EFA request, or a count in each",
            fix="write the counts, or keep one EFA request",
        )


def _ultraserver(asked: Asked) -> Iterator[Finding]:
    nodes = count_of(asked, RequestKind.ULTRASERVER_NODE)
    if nodes > 1:
        yield fault(
            "OutOfRange",
            request_path(asked, RequestKind.ULTRASERVER_NODE),
            "a claim is for one node, and a node is one UltraServer node",
            got=nodes,
            allowed="1 UltraServer node request",
            fix="give each Pod a claim of its own from a ResourceClaimTemplate",
        )


def _whole_and_parts(asked: Asked) -> Iterator[Finding]:
    if asks_for(asked, RequestKind.ULTRASERVER_NODE) and asks_for(asked, RequestKind.NEURON):
        yield fault(
            "NodeAndItsDevices",
            request_path(asked, RequestKind.NEURON),
            "an UltraServer node already holds every Neuron device of the node",
            got="Neuron devices beside a whole node",
            allowed="DeviceRequest.ultraserver_node() or DeviceRequest.neuron(), not both",
            fix="drop one of the two requests",
            source=_ULTRASERVER_PAGE,
        )


def _device_group(asked: Asked, match: MatchAttribute, size: int) -> Iterator[Finding]:
    strangers = list(
        _strangers(
            asked,
            _GROUPED,
            "Neuron devices and their EFAs form device groups",
            dict.fromkeys(_ON_ROOTS, "MatchAttribute.PCIE_ROOT"),
        )
    )
    yield from strangers
    if match.is_sized and not asks_for(asked, RequestKind.NEURON):
        if strangers:
            return
        yield fault(
            "MatchDoesNotFit",
            f"{asked.path}.match",
            "the size of a device group is the number of Neuron devices, and none is asked for",
            got="no Neuron request",
            allowed=f"{_sizes()} Neuron devices",
            fix="add DeviceRequest.neuron(4), or leave the match out",
            source=_GROUPS_PAGE,
        )
    elif size not in all_device_group_sizes():
        yield _no_such_group(asked, match)
    elif count_of(asked, RequestKind.NEURON) > size:
        yield _group_too_small(asked, size)


def _no_such_group(asked: Asked, match: MatchAttribute) -> Finding:
    path, got = f"{asked.path}.match", match.attribute
    if match.is_sized:
        path = f"{request_path(asked, RequestKind.NEURON)}.count"
        got = f"{shown(count_of(asked, RequestKind.NEURON))} devices"
    return fault(
        "DeviceGroupSize",
        path,
        "connected groups of Neuron devices come in fixed sizes",
        got=got,
        allowed=_sizes(),
        fix=f"ask for {_sizes()} devices with MatchAttribute.DEVICE_GROUP, or leave the match out",
        source=_GROUPS_PAGE,
    )


def _group_too_small(asked: Asked, size: int) -> Finding:
    return fault(
        "DeviceGroupSize",
        f"{request_path(asked, RequestKind.NEURON)}.count",
        f"a connected group of {size} has fewer Neuron devices",
        got=count_of(asked, RequestKind.NEURON),
        allowed=f"at most {size}",
        fix=f"ask for {size} or fewer, or use MatchAttribute.DEVICE_GROUP",
        source=_GROUPS_PAGE,
    )


def _sizes() -> str:
    return ", ".join(map(str, all_device_group_sizes()))


def _strangers(
    asked: Asked, kinds: tuple[RequestKind, ...], message: str, instead: Mapping[RequestKind, str]
) -> Iterator[Finding]:
    """Faults of requests that no match of this kind is for.

    Args:
        asked: The claim.
        kinds: What the match is for.
        message: The same in words.
        instead: The match that other kinds have instead.
    """
    for index, one in enumerate(asked.requests):
        if one.kind not in kinds:
            other = instead.get(one.kind)
            yield fault(
                "MatchDoesNotFit",
                f"{asked.path}.requests[{index}]",
                f"only {message}, so this claim could never be allocated",
                got=one.kind.value,
                allowed=", ".join(kinds),
                fix=f"match these devices and their EFAs by {other}, in a claim of their own"
                if other
                else "leave the match out, or split the claim",
                source=DRA_PAGE,
            )
