"""One request of a claim: a number of equal devices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ..findings import Finding, fault, raise_faults
from ..instance_types import AcceleratedInstanceType
from ..mig.geometry import mig_profile_faults
from ..names import GPU_DRIVER, NEURON_DRIVER
from ..syntax import dns_label
from ..typecheck import member, path_step, plain_text, whole_number, wrong_type
from ._values import copied_list
from .kinds import RequestKind
from .syntax import MOST_SELECTORS, selector

ULTRASERVER_MODES: Final = (1, 2, 4)
"""Values of the driver's UltraServerConfig; the catalogue says which of them a type has.

Source: https://github.com/aws-neuron/aws-neuron-sdk (deploy/eks/dra.rst)
"""
LOGICAL_NEURON_CORES: Final = (1, 2)
"""Values of the driver's NeuronConfig; likewise."""

_NEURON_API: Final = f"{NEURON_DRIVER}/v1"

_OF_NEURON: Final = (RequestKind.NEURON, RequestKind.ULTRASERVER_NODE)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRequest:
    """A number of equal devices; make one with `gpu`, `mig`, `neuron`, `efa`, `ultraserver_node`.

    Every factory takes `name`, a DNS label that is unique in its claim; the default is the kind.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
    """

    kind: RequestKind
    name: str
    count: int | None
    """How many devices; None, for EFA only, is filled from the instance type."""
    selectors: Sequence[str] = ()
    """The user's CEL expressions, all of which must be true for a device."""
    profile: str | None = None
    mode: int | None = None
    logical_neuron_cores: int | None = None

    @classmethod
    def gpu(cls, count: int = 1, *, name: str | None = None) -> DeviceRequest:
        """Whole GPUs of one node, one by default.

        Raises:
            EksDevicesError: with every fault of the arguments; so do all factories.
        """
        return cls._make(RequestKind.GPU, name, count=count)

    @classmethod
    def mig(cls, profile: str, count: int = 1, *, name: str | None = None) -> DeviceRequest:
        """Partitions of GPUs, one by default.

        Args:
            profile: the MIG profile as the driver publishes it, `1g.10gb`.
            count: how many; they may be on different GPUs of the node unless the claim matches
                `gpu.nvidia.com/parentUUID`.
            name: the request's name, `mig` by default.
        """
        return cls._make(RequestKind.MIG, name, count=count, profile=profile)

    @classmethod
    def neuron(
        cls, count: int = 1, *, logical_neuron_cores: int | None = None, name: str | None = None
    ) -> DeviceRequest:
        """Neuron devices (chips), one by default.

        Args:
            count: how many; 1, 4, 8 or 16 where the claim matches DEVICE_GROUP.
            logical_neuron_cores: physical cores per logical NeuronCore, 1 or 2, on chips that
                have them; by default the chip's own setting (2 on Trainium2).
            name: the request's name, `neuron` by default.
        """
        return cls._make(
            RequestKind.NEURON, name, count=count, logical_neuron_cores=logical_neuron_cores
        )

    @classmethod
    def efa(cls, count: int | None = None, *, name: str | None = None) -> DeviceRequest:
        """Elastic Fabric Adapter interfaces.

        Args:
            count: how many; by default filled from the instance type: with DEVICE_GROUP the EFAs
                of the group, with PCIE_ROOT the GPUs' fair share of their root, otherwise every
                EFA of the type's default layout.
            name: the request's name, `efa` by default.
        """
        return cls._make(RequestKind.EFA, name, count=count)

    @classmethod
    def ultraserver_node(
        cls, *, mode: int = 4, logical_neuron_cores: int | None = None, name: str | None = None
    ) -> DeviceRequest:
        """One whole node of a Trainium UltraServer.

        Args:
            mode: how many nodes of the UltraServer work together: 1, 2 or 4, all four by default.
            logical_neuron_cores: as in `neuron`.
            name: the request's name, `ultraserver-node` by default.
        """
        kind = RequestKind.ULTRASERVER_NODE
        cores = logical_neuron_cores
        return cls._make(kind, name, count=1, mode=mode, logical_neuron_cores=cores)

    @classmethod
    def _make(cls, kind: RequestKind, name: str | None, **values: Any) -> DeviceRequest:
        return cls(kind=kind, name=kind.value if name is None else name, **values)

    def where(self, cel: str) -> DeviceRequest:
        """A copy that takes only devices for which one more CEL expression is true.

        An attribute that a device lacks is an error that stops the Pod's whole scheduling
        attempt, so guard it: `'a' in device.attributes['d'] && device.attributes['d'].a == 1`.

        Raises:
            EksDevicesError: `MalformedSelector`, `WrongType` or `TooManySelectors`.
        """
        return replace(self, selectors=(*self.selectors, cel))

    def __post_init__(self) -> None:
        """Copy the selectors, and raise EksDevicesError with every fault."""
        for name in ("name", "profile"):
            object.__setattr__(self, name, plain_text(getattr(self, name)))
        object.__setattr__(self, "selectors", copied_list(self.selectors))
        raise_faults(_faults(self))

    def to_dict(self, *, count: int, instance_type: str | None = None) -> dict[str, Any]:
        """The request as `resource.k8s.io/v1` takes it.

        Args:
            count: how many devices, where the request leaves it open too.
            instance_type: type of the nodes; by default they may be of any type.
        """
        exactly: dict[str, Any] = {
            "deviceClassName": self.kind.device_class,
            "allocationMode": "ExactCount",
            "count": count,
        }
        expressions = [*_own_expressions(self, instance_type), *self.selectors]
        if expressions:
            exactly["selectors"] = [{"cel": {"expression": text}} for text in expressions]
        return {"name": self.name, "exactly": exactly}

    def configs(self) -> list[dict[str, Any]]:
        """The opaque driver configurations of the request."""
        return [
            {
                "requests": [self.name],
                "opaque": {
                    "driver": NEURON_DRIVER,
                    "parameters": {"apiVersion": _NEURON_API, "kind": kind, field: value},
                },
            }
            for kind, field, value in (
                ("NeuronConfig", "logicalNeuronCore", self.logical_neuron_cores),
                ("UltraServerConfig", "ultraserverMode", self.mode),
            )
            if value is not None
        ]


def _own_expressions(request: DeviceRequest, instance_type: str | None) -> Iterator[str]:
    if request.profile is not None:
        yield _equals(GPU_DRIVER, "profile", request.profile)
    if request.kind is RequestKind.ULTRASERVER_NODE:
        yield _equals(NEURON_DRIVER, "resourceType", "neuron_node")
    if request.kind is RequestKind.NEURON and _may_be_whole_node(instance_type):
        yield _absent_or_equals(NEURON_DRIVER, "resourceType", "neuron_device")


def _may_be_whole_node(instance_type: str | None) -> bool:
    """Whether the driver may publish whole nodes of the type in the class of Neuron devices."""
    if instance_type is None:
        return True
    return bool(AcceleratedInstanceType.of(instance_type).ultraserver_sizes)


def _equals(domain: str, key: str, text: str) -> str:
    # Guarded: without the first half a device that lacks the key would stop the whole attempt.
    attributes = f"device.attributes['{domain}']"
    return f"'{key}' in {attributes} && {attributes}.{key} == '{text}'"


def _absent_or_equals(domain: str, key: str, text: str) -> str:
    attributes = f"device.attributes['{domain}']"
    return f"!('{key}' in {attributes}) || {attributes}.{key} == '{text}'"


def _faults(request: DeviceRequest) -> Iterator[Finding]:
    path = f"requests.{path_step(request.name)}"
    yield from member(request.kind, RequestKind, f"{path}.kind")
    yield from dns_label(request.name, f"{path}.name")
    yield from _count_faults(request, f"{path}.count")
    yield from _selectors_faults(request.selectors, f"{path}.selectors")
    yield from _profile_faults(request, f"{path}.profile")
    yield from _neuron_faults(request, path)


def _count_faults(request: DeviceRequest, path: str) -> Iterator[Finding]:
    highest = 1 if request.kind is RequestKind.ULTRASERVER_NODE else None
    can_be_open = request.kind is RequestKind.EFA
    yield from whole_number(request.count, path, lowest=1, highest=highest, optional=can_be_open)


def _selectors_faults(selectors: object, path: str) -> Iterator[Finding]:
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
    for index, text in enumerate(selectors):
        yield from selector(text, f"{path}[{index}]")


def _profile_faults(request: DeviceRequest, path: str) -> Iterator[Finding]:
    if request.kind is not RequestKind.MIG:
        yield from _foreign(request.profile, path, "MIG requests")
        return
    yield from mig_profile_faults(request.profile, path)


def _neuron_faults(request: DeviceRequest, path: str) -> Iterator[Finding]:
    cores, cores_path = request.logical_neuron_cores, f"{path}.logical_neuron_cores"
    if request.kind in _OF_NEURON:
        if cores is not None:
            yield from _one_of(cores, LOGICAL_NEURON_CORES, cores_path)
    else:
        yield from _foreign(cores, cores_path, "Neuron requests")
    if request.kind is RequestKind.ULTRASERVER_NODE:
        yield from _one_of(request.mode, ULTRASERVER_MODES, f"{path}.mode")
    else:
        yield from _foreign(request.mode, f"{path}.mode", "UltraServer node requests")


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


def _foreign(value: object, path: str, owner: str) -> Iterator[Finding]:
    if value is not None:
        yield fault(
            "OptionDoesNotFit",
            path,
            f"this option belongs to {owner}",
            got=value,
            allowed="None",
            fix="leave it out",
        )
