"""What a user asks for: one accelerated node group."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Required, TypedDict

from ._frozen import FrozenDict, deep_frozen, frozen_dict
from .capacity import Capacity
from .findings import raise_faults
from .gpu_options import GpuDriver, GpuPlugin
from .maintenance import NodeRepair, UpdateConfig
from .mig import Mig
from .sharing import GpuSharing
from .taints import Taint
from .typecheck import path_step, plain_text, wrong_type
from .user_data import UserData
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
    gpu_driver: GpuDriver | None
    gpu_plugin: GpuPlugin | None
    mig: Mig | None
    shared_devices: bool
    preemption: bool
    neuron_cores: bool
    logical_neuron_cores: int | None
    labels: Mapping[str, str]
    taints: Sequence[Taint | str] | None
    max_pods: int | None
    vpc_cni: bool
    disk_gib: int | None
    instance_store: bool | None
    release_version: str | None
    ami_id: str | None
    alternative_instance_types: Sequence[str]
    placement_group: bool | str | None
    kubelet: Mapping[str, Any]
    hugepages_2mi: int | None
    user_data: UserData | None
    node_repair: bool | NodeRepair
    update: UpdateConfig | None
    tags: Mapping[str, str]
    launch_template_overrides: Mapping[str, Any]


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
        autoscaled: An autoscaler sets the size, from 0 on; DesiredSize is left out. EKS refuses
            a `min_size` above the nodes that run: let the autoscaler add nodes first.
        efa: EFA interfaces of a node: a number, True for every one, False for none. Left out, on
            for types made for multi-node training and off for others.
        high_ip_bandwidth: Adds the interfaces that EC2 documents for more IP bandwidth.
        compute_domains: Whether nodes serve ComputeDomains; on for types with an NVLink domain
            across nodes unless named.
        gpu_sharing: Lets the device plugin offer each GPU several times; whole GPUs unless named.
        gpu_driver: Options of the NVIDIA DRA driver on the nodes; its own defaults unless named.
        gpu_plugin: Options of the NVIDIA device plugin on the nodes; its own defaults unless
            named, except that RDMA devices are never handed out with a GPU.
        mig: Cuts each GPU into partitions when nodes boot, or lets the DRA driver cut on request;
            whole GPUs unless named.
        shared_devices: Declares that several Pods are to share one device.
        preemption: Declares that PriorityClasses must free devices.
        neuron_cores: Declares that Pods ask for single NeuronCores.
        logical_neuron_cores: Physical cores in a logical one (LNC) on the whole node, device
            plugin only; the chip's default unless named.
        labels: Labels of your own.
        taints: Taints of the nodes, as values or in kubectl's form. Left out, the taint that
            EKS tolerates for Pods with the accelerator's extended resource; `()` is none.
        max_pods: Pods of a node; what the interfaces have addresses for unless named.
        vpc_cni: Whether Pods get addresses from the VPC CNI; with another CNI name `max_pods`.
        disk_gib: Size of the volume for images and Pods' files in GiB; 200 unless named.
        instance_store: Joins the local disks to one array (RAID 0) for images and Pods' files.
            Left out, on AL2023 where the type has local disks, off on Bottlerocket.
        release_version: A pinned AMI release, "1.34.2-20261023" on AL2023, "1.66.0-0a1b2c3d" on
            Bottlerocket; the newest unless named.
        ami_id: An image of your own, `ami-...`, built for the operating system; EKS's unless
            named.
        alternative_instance_types: More types that EC2 may start instead; their devices, EFA
            interfaces, architecture and managers must be those of `instance_type`.
        placement_group: True for a cluster placement group of the group's own, the name of one
            that exists, False for none. Left out, on for EFA without a reservation.
        kubelet: Fields of the kubelet's configuration, AL2023 only: {"cpuManagerPolicy": ...}.
        hugepages_2mi: Huge pages of 2 MiB that a node reserves at boot; the AMI's unless named.
        user_data: User data of your own, beside what the plan needs.
        node_repair: Whether EKS replaces or reboots unhealthy nodes, or how; on unless named.
        update: How an update of the group takes nodes away; on reserved capacity one by one,
            before their replacement, unless named.
        tags: Tags of the instances and volumes, beside those of `Tags.of(...)`; a change of
            either starts new nodes.
        launch_template_overrides: Properties of CloudFormation's LaunchTemplateData, merged into
            what the plan gives.
        subnet_count: How many subnets the nodes spread over; not judged unless known.
        subnet_cidrs: The address ranges of those subnets, as far as they are known.
        scope: The installation whose managers serve the group; the default one unless named.
        scope_address: Tells installations of one name in two apps apart; nothing unless named.
        pool: The pool that the group belongs to; none unless named.
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
    gpu_driver: GpuDriver | None = None
    gpu_plugin: GpuPlugin | None = None
    mig: Mig | None = None
    shared_devices: bool = False
    preemption: bool = False
    neuron_cores: bool = False
    logical_neuron_cores: int | None = None
    labels: Mapping[str, str] = dataclasses.field(default_factory=FrozenDict)
    taints: Sequence[Taint | str] | None = None
    max_pods: int | None = None
    vpc_cni: bool = True
    disk_gib: int | None = None
    instance_store: bool | None = None
    release_version: str | None = None
    ami_id: str | None = None
    alternative_instance_types: Sequence[str] = ()
    placement_group: bool | str | None = None
    kubelet: Mapping[str, Any] = dataclasses.field(default_factory=FrozenDict)
    hugepages_2mi: int | None = None
    user_data: UserData | None = None
    node_repair: bool | NodeRepair = True
    update: UpdateConfig | None = None
    tags: Mapping[str, str] = dataclasses.field(default_factory=FrozenDict)
    launch_template_overrides: Mapping[str, Any] = dataclasses.field(default_factory=FrozenDict)
    subnet_count: int | None = None
    subnet_cidrs: Sequence[str] = ()
    scope: str | None = None
    scope_address: str = ""
    pool: str | None = None
    external: Collection[DeviceType] = ()
    unknown_options: tuple[Any, ...] = dataclasses.field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        """Copy collections; values of a wrong type stay as they are, for the plan to name."""
        for name in _TEXTS:
            object.__setattr__(self, name, plain_text(getattr(self, name)))
        for name, copy in _MAPPINGS:
            value = getattr(self, name)
            if isinstance(value, Mapping) and not isinstance(value, FrozenDict):
                object.__setattr__(self, name, _copied(value, copy))
        for name in _LISTS:
            value = getattr(self, name)
            if _is_list(value, Sequence):
                object.__setattr__(self, name, _copied(value, _listed))
        if type(self.external) is not tuple and _is_list(self.external, Collection):
            object.__setattr__(self, "external", _copied(self.external, _sorted))

    @property
    def path(self) -> str:
        """Where findings of this group point."""
        return _path(self.name) if type(self.name) is str else f"nodegroups.{path_step(self.name)}"

    @property
    def uses_host_service(self) -> bool:
        """Whether the operating system is to run the DRA driver of the GPUs itself."""
        return isinstance(self.gpu_driver, GpuDriver) and self.gpu_driver.host_service

    def option_at(self, path: str) -> str:
        """The option that the path of a finding points at."""
        step = path[len(self.path) + 1 :]
        return step.partition(".")[0].partition("[")[0]

    @classmethod
    def from_options(
        cls,
        name: str,
        options: Mapping[str, Any],
        **context: Any,
    ) -> NodegroupSpec:
        """The group that a mapping of `NodegroupOptions` asks for.

        Options that are unknown or missing are faults of the plan, with all its others.

        Args:
            name: Name of the group.
            options: What a user gave.
            context: Attributes that are no options, `scope` for instance.

        Raises:
            EksDevicesError: `WrongType`, for options that are no mapping.
        """
        if not isinstance(options, Mapping):
            path = f"nodegroups.{path_step(name)}"
            raise_faults([wrong_type(path, options, "a mapping of options", "pass a mapping")])
        known = NodegroupOptions.__annotations__
        given: dict[str, Any] = dict.fromkeys(("instance_type", "max_size"))
        texts = {plain_text(key): value for key, value in options.items()}
        given |= {key: value for key, value in texts.items() if key in known}
        unknown = tuple(key for key in texts if key not in known)
        return cls(name=name, unknown_options=unknown, **context, **given)


@functools.lru_cache(maxsize=1024)
def _path(name: str) -> str:
    """Every rule asks for it."""
    return f"nodegroups.{path_step(name)}"


def _is_list(value: Any, kind: type) -> bool:
    """Whether somebody means a collection as a list of values; the plan names what is none."""
    return isinstance(value, kind) and not isinstance(value, (str, bytes, bytearray, Mapping))


def _copied(value: Any, copy: Callable[[Any], Any]) -> Any:
    try:
        return copy(value)
    except Exception:  # noqa: BLE001  (a collection that cannot be read is named by the plan)
        return value


def _texts(values: Mapping[Any, Any]) -> FrozenDict[Any, Any]:
    return FrozenDict((plain_text(key), plain_text(value)) for key, value in values.items())


def _listed(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(map(plain_text, values))


def _sorted(values: Collection[Any]) -> tuple[Any, ...]:
    return tuple(sorted(values, key=str))


_TEXTS = ("name", "instance_type", "release_version", "ami_id", "placement_group", "scope", "pool")
_LISTS = ("taints", "alternative_instance_types", "subnet_cidrs")
_MAPPINGS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("mechanism", frozen_dict),
    ("labels", _texts),
    ("tags", _texts),
    ("kubelet", deep_frozen),
    ("launch_template_overrides", deep_frozen),
)
