"""What a user asks for: one accelerated node group."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Required, TypedDict

from ._frozen import FrozenDict, frozen_dict
from .capacity import Capacity
from .findings import raise_faults
from .sharing import GpuSharing
from .taints import Taint
from .typecheck import path_step, wrong_type
from .vocabulary import DeviceType, Mechanism, OperatingSystem


class NodegroupOptions(TypedDict, total=False):
    """The options of an accelerated node group; `NodegroupSpec` documents each one."""

    instance_type: Required[str]
    max_size: Required[int]
    capacity: Capacity
    mechanism: Mechanism | Mapping[DeviceType, Mechanism] | None
    operating_system: OperatingSystem
    min_size: int
    desired_size: int | None
    autoscaled: bool
    efa: bool | int | None
    high_ip_bandwidth: bool
    compute_domains: bool | None
    gpu_sharing: GpuSharing | None
    shared_devices: bool
    preemption: bool
    neuron_cores: bool
    logical_neuron_cores: int | None
    labels: Mapping[str, str]
    taints: Sequence[Taint | str] | None
    max_pods: int | None
    disk_gib: int | None
    release_version: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodegroupSpec:
    """One accelerated node group, as a user asks for it; `plan_nodegroup` judges it.

    Args:
        name: Names the group in plans and labels; unique in a cluster.
        instance_type: An EC2 API name with accelerators or EFA.
        max_size: The most nodes; no default, because each may cost up to $100 an hour.
        capacity: How instances are bought; on demand unless named.
        mechanism: One mechanism for every device, or one per device type. Left out, DRA where
            the vendor tests it for the type and operating system and nothing below speaks
            against it, else the device plugin; EFA follows the accelerator.
        operating_system: AL2023 unless named.
        min_size: The fewest nodes; 0 unless named.
        desired_size: Nodes at creation; `min_size` unless named.
        autoscaled: An autoscaler sets the size, from 0 on; DesiredSize is left out.
        efa: EFA interfaces of a node: a number, True for every one, False for none. Left out, on
            for types made for multi-node training and off for others.
        high_ip_bandwidth: Adds the interfaces that EC2 documents for more IP bandwidth.
        compute_domains: Whether nodes serve ComputeDomains; on for types with an NVLink domain
            across nodes unless named.
        gpu_sharing: Offers each GPU several times; whole GPUs unless named.
        shared_devices: Declares that several Pods are to share one device.
        preemption: Declares that PriorityClasses must free devices.
        neuron_cores: Declares that Pods ask for single NeuronCores.
        logical_neuron_cores: Physical cores in a logical one (LNC) on the whole node, device
            plugin only; the chip's default unless named.
        labels: Labels of your own.
        taints: Taints of the nodes, as values or in kubectl's form. Left out, the taint that
            EKS tolerates for Pods with the accelerator's extended resource; `()` is none.
        max_pods: Pods of a node; what the interfaces have addresses for unless named.
        disk_gib: Size of the volume for images and Pods' files in GiB; 200 unless named.
        release_version: A pinned AMI release, "1.34.2-20261023" on AL2023, "1.66.0-0a1b2c3d" on
            Bottlerocket; the newest unless named.
        subnet_count: How many subnets the nodes spread over; not judged unless known.
        scope: The installation whose managers serve the group; the default one unless named.
        external: Device types that somebody else's manager serves.
        unknown_options: Options that do not exist, for the plan to name.
    """

    name: str
    instance_type: str
    max_size: int
    capacity: Capacity = dataclasses.field(default_factory=Capacity.on_demand)
    mechanism: Mechanism | Mapping[DeviceType, Mechanism] | None = None
    operating_system: OperatingSystem = OperatingSystem.AL2023
    min_size: int = 0
    desired_size: int | None = None
    autoscaled: bool = False
    efa: bool | int | None = None
    high_ip_bandwidth: bool = False
    compute_domains: bool | None = None
    gpu_sharing: GpuSharing | None = None
    shared_devices: bool = False
    preemption: bool = False
    neuron_cores: bool = False
    logical_neuron_cores: int | None = None
    labels: Mapping[str, str] = dataclasses.field(default_factory=FrozenDict)
    taints: Sequence[Taint | str] | None = None
    max_pods: int | None = None
    disk_gib: int | None = None
    release_version: str | None = None
    subnet_count: int | None = None
    scope: str | None = None
    external: Collection[DeviceType] = ()
    unknown_options: tuple[Any, ...] = dataclasses.field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        """Copy collections; values of a wrong type stay as they are, for the plan to name."""
        for name in ("name", "instance_type", "release_version", "scope"):
            object.__setattr__(self, name, _plain(getattr(self, name)))
        for name, copy in (("mechanism", frozen_dict), ("labels", _texts)):
            value = getattr(self, name)
            if isinstance(value, Mapping) and not isinstance(value, FrozenDict):
                object.__setattr__(self, name, _copied(value, copy))
        if isinstance(self.taints, Sequence) and not isinstance(self.taints, _NO_LISTS):
            object.__setattr__(self, "taints", _copied(self.taints, tuple))
        if isinstance(self.external, Collection) and not isinstance(self.external, _NO_LISTS):
            object.__setattr__(self, "external", _copied(self.external, _sorted))

    @property
    def path(self) -> str:
        """Where findings of this group point."""
        return f"nodegroups.{path_step(self.name)}"

    def option_at(self, path: str) -> str:
        """The option that the path of a finding points at."""
        step = path[len(self.path) + 1 :]
        return step.partition(".")[0].partition("[")[0]

    @classmethod
    def from_options(
        cls,
        name: str,
        options: Mapping[str, Any],
        *,
        subnet_count: int | None = None,
        scope: str | None = None,
        external: Collection[DeviceType] = (),
    ) -> NodegroupSpec:
        """The group that a mapping of `NodegroupOptions` asks for.

        Options that are unknown or missing are faults of the plan, with all its others.

        Raises:
            EksDevicesError: `WrongType`, for options that are no mapping.
        """
        if not isinstance(options, Mapping):
            path = f"nodegroups.{path_step(name)}"
            raise_faults([wrong_type(path, options, "a mapping of options", "pass a mapping")])
        known = NodegroupOptions.__annotations__
        given: dict[str, Any] = dict.fromkeys(("instance_type", "max_size"))
        given |= {key: value for key, value in options.items() if key in known}
        unknown = tuple(key for key in options if key not in known)
        return cls(
            name=name,
            subnet_count=subnet_count,
            scope=scope,
            external=external,
            unknown_options=unknown,
            **given,
        )


# Collections that nobody means as a list of values; the plan names them.
_NO_LISTS = (str, bytes, bytearray, Mapping, tuple)


def _copied(value: Any, copy: Callable[[Any], Any]) -> Any:
    try:
        return copy(value)
    except Exception:  # noqa: BLE001  (a collection that cannot be read is named by the plan)
        return value


def _plain(value: Any) -> Any:
    """A member of an enum, or another kind of text, as the text itself."""
    return str.__str__(value) if isinstance(value, str) else value


def _texts(values: Mapping[Any, Any]) -> FrozenDict[Any, Any]:
    return FrozenDict((_plain(key), _plain(value)) for key, value in values.items())


def _sorted(values: Collection[Any]) -> tuple[Any, ...]:
    return tuple(sorted(values, key=str))
