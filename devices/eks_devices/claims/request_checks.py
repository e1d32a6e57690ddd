"""What can be said of one request of a claim by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ..findings import Finding, fault
from ..instance_types import lookup
from ..mig import mig_profile_faults
from ..syntax import dns_label, well_formed
from ..typecheck import member, path_step, whole_number, wrong_type
from ..vocabulary import DeviceType
from .alternatives import alternative_faults
from .device_selectors import DeviceSelector
from .gpu_checks import gpu_faults, option_does_not_fit
from .kinds import AllocationMode, RequestKind
from .selector_checks import selector_kind_faults
from .syntax import MOST_SELECTORS, selector
from .toleration_checks import access_faults, toleration_faults

if TYPE_CHECKING:
    from .requests import DeviceRequest

ULTRASERVER_MODES: Final = (1, 2, 4)
"""Values of the driver's UltraServerConfig; the catalogue says which of them a type has.

Source: https://github.com/aws-neuron/aws-neuron-sdk (deploy/eks/dra.rst)
"""
LOGICAL_NEURON_CORES: Final = (1, 2)
"""Values of the driver's NeuronConfig; likewise."""


_ATTRIBUTES: Final = "https://github.com/aws-neuron/aws-neuron-sdk/blob/master/deploy/eks/dra.rst"
_DRIVER_VERSION: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){3}", re.ASCII)
_OF_NEURON: Final = (RequestKind.NEURON, RequestKind.ULTRASERVER_NODE)


def request_faults(request: DeviceRequest) -> Iterator[Finding]:
    """Every fault of a request by itself."""
    path = f"requests.{path_step(request.name)}"
    yield from member(request.kind, RequestKind, f"{path}.kind")
    yield from dns_label(request.name, f"{path}.name")
    yield from _count_faults(request, f"{path}.count")
    yield from _selectors_faults(request, f"{path}.selectors")
    yield from toleration_faults(request.tolerations, f"{path}.tolerations")
    yield from access_faults(request, f"{path}.admin_access")
    yield from alternative_faults(request, path)
    # What the other options are for depends on the kind.
    if isinstance(request.kind, RequestKind):
        yield from _profile_faults(request, f"{path}.profile")
        yield from _neuron_faults(request, path)
        yield from gpu_faults(request, path)


def _count_faults(request: DeviceRequest, path: str) -> Iterator[Finding]:
    kind = request.kind
    yield from member(request.allocation, AllocationMode, path.replace(".count", ".allocation"))
    if kind is RequestKind.FIRST_AVAILABLE:
        yield from option_does_not_fit(request.count, path, "the alternatives")
    elif request.allocation is AllocationMode.ALL and kind is not RequestKind.ULTRASERVER_NODE:
        yield from option_does_not_fit(request.count, path, "requests for a number of devices")
    else:
        highest = 1 if kind is RequestKind.ULTRASERVER_NODE else None
        can_be_open = kind is RequestKind.EFA
        yield from whole_number(
            request.count, path, lowest=1, highest=highest, optional=can_be_open
        )


def _selectors_faults(request: DeviceRequest, path: str) -> Iterator[Finding]:
    selectors: object = request.selectors
    wanted = f"at most {MOST_SELECTORS} CEL expressions"
    if type(selectors) is not tuple:
        yield wrong_type(path, selectors, wanted, "write a list of strings, or use where()")
        return
    if len(selectors) > MOST_SELECTORS:
        yield fault(
            "TooManySelectors",
            path,
            "Kubernetes takes no more selectors in a request",
            got=len(selectors),
            allowed=wanted,
            fix="join expressions with &&",
        )
    for index, one in enumerate(selectors):
        if not isinstance(one, DeviceSelector):
            yield from selector(one, f"{path}[{index}]")
        elif isinstance(request.kind, RequestKind):
            yield from selector_kind_faults(one, request.kind.value, f"{path}[{index}]")


def _profile_faults(request: DeviceRequest, path: str) -> Iterator[Finding]:
    if request.kind is not RequestKind.MIG:
        yield from option_does_not_fit(request.profile, path, "MIG requests")
        return
    yield from mig_profile_faults(request.profile, path)


def _neuron_faults(request: DeviceRequest, path: str) -> Iterator[Finding]:
    cores, cores_path = request.logical_neuron_cores, f"{path}.logical_neuron_cores"
    if request.kind in _OF_NEURON:
        if cores is not None:
            yield from _one_of(cores, LOGICAL_NEURON_CORES, cores_path)
    else:
        yield from option_does_not_fit(cores, cores_path, "Neuron requests")
    yield from _node_faults(request, path)
    if request.kind is RequestKind.ULTRASERVER_NODE:
        yield from _one_of(request.mode, ULTRASERVER_MODES, f"{path}.mode")
    else:
        yield from option_does_not_fit(request.mode, f"{path}.mode", "UltraServer node requests")


def _node_faults(request: DeviceRequest, path: str) -> Iterator[Finding]:
    """Faults of what nodes with the devices must be."""
    name, version = request.instance_type, request.driver_version
    if request.kind not in _OF_NEURON:
        yield from option_does_not_fit(name, f"{path}.instance_type", "Neuron requests")
        yield from option_does_not_fit(version, f"{path}.driver_version", "Neuron requests")
        return
    if name is not None:
        yield from _type_faults(name, f"{path}.instance_type")
    if version is not None:
        yield from well_formed(
            version,
            f"{path}.driver_version",
            lambda text: _DRIVER_VERSION.fullmatch(text) is not None,
            code="MalformedDriverVersion",
            message="the Neuron driver publishes no version of this form, and texts are compared",
            allowed="four numbers, such as 2.29.0.0",
            fix="copy neuronDriverVersion from a ResourceSlice, or compare parts by where()",
            source=_ATTRIBUTES,
        )


def _type_faults(name: object, path: str) -> Iterator[Finding]:
    found = lookup(name, path)
    if isinstance(found, Finding):
        yield found
    elif found.device_type is not DeviceType.NEURON:
        yield fault(
            "NoSuchDevice",
            path,
            f"{found.name} has no Neuron devices",
            got=name,
            allowed="an instance type of Trainium or Inferentia",
            fix="name the type of the nodes, or leave it out",
            source=_ATTRIBUTES,
        )


def _one_of(value: object, allowed: tuple[int, ...], path: str) -> Iterator[Finding]:
    yield from whole_number(value, path, lowest=allowed[0], highest=allowed[-1])
    if type(value) is int and allowed[0] <= value <= allowed[-1] and value not in allowed:
        values = " or ".join(map(str, allowed))
        yield fault(
            "OutOfRange",
            path,
            "the driver does not know this value",
            got=value,
            allowed=values,
            fix=f"write {values}",
        )
