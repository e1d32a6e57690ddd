"""One request of a claim: a number of equal devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._frozen import copied_list
from ..findings import raise_faults
from ..typecheck import plain_text
from .device_selectors import DeviceSelector
from .kinds import AllocationMode, IommuBackendPolicy, RequestKind
from .rendering import rendered_request
from .request_checks import request_faults
from .sharing import ClaimSharing
from .tolerations import DeviceToleration


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRequest:
    """A number of equal devices; make one with a factory.

    These are `gpu`, `mig`, `passthrough_gpu`, `neuron`, `ultraserver_node` and `efa`, and
    `first_available` for a list of alternatives. Every one takes `name`, a DNS label that is unique
    in its claim; the default is the kind. Where a count is taken, AllocationMode.ALL stands for
    every device of a node that matches.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
    """

    kind: RequestKind
    name: str
    count: int | None
    """How many devices; None, for EFA only, is filled from the instance type, and for
    AllocationMode.ALL means all of them."""
    selectors: Sequence[str | DeviceSelector] = ()
    """What must be true for a device: CEL expressions, and what `DeviceSelector` makes."""
    profile: str | None = None
    mode: int | None = None
    logical_neuron_cores: int | None = None
    instance_type: str | None = None
    driver_version: str | None = None
    sharing: ClaimSharing | None = None
    memory: str | None = None
    iommu_backend: IommuBackendPolicy | None = None
    enable_api_device: bool | None = None
    allocation: AllocationMode = AllocationMode.EXACT_COUNT
    tolerations: Sequence[DeviceToleration] = ()
    admin_access: bool = False
    alternatives: Sequence[DeviceRequest] = ()
    """Of a list, the requests of which the first that can be had is given."""

    @classmethod
    def gpu(
        cls,
        count: int | AllocationMode = 1,
        *,
        sharing: ClaimSharing | None = None,
        memory: str | None = None,
        name: str | None = None,
    ) -> DeviceRequest:
        """Whole GPUs of one node, one by default.

        Args:
            count: How many.
            sharing: How those who use the claim share the GPUs; by default the driver does
                nothing about it.
            memory: Memory of each GPU, a quantity of Kubernetes of at least 1Mi, for nodes that
                share GPUs between claims, `GpuDriver(consumable_shares="memory")`, from
                Kubernetes 1.36 on. By default all of it, and none with shares of another kind.
            name: The request's name, `gpu` by default.

        Raises:
            EksDevicesError: With every fault of the arguments; so do all factories.
        """
        return cls._make(RequestKind.GPU, name, count=count, sharing=sharing, memory=memory)

    @classmethod
    def passthrough_gpu(
        cls,
        count: int | AllocationMode = 1,
        *,
        iommu_backend: IommuBackendPolicy | None = None,
        enable_api_device: bool | None = None,
        name: str | None = None,
    ) -> DeviceRequest:
        """Whole GPUs for a virtual machine, taken from NVIDIA's kernel module; one by default.

        Only bare metal types have them, with `GpuDriver(feature_gates={"PassthroughSupport":
        True})`. A claim has no GPUs or partitions beside them.

        Args:
            count: How many.
            iommu_backend: The interface of the IOMMU; by default the driver's LegacyOnly.
            enable_api_device: Gives containers the device of that interface, `/dev/vfio/vfio` or
                `/dev/iommu`; by default the driver does not.
            name: The request's name, `vfio` by default.
        """
        return cls._make(
            RequestKind.VFIO,
            name,
            count=count,
            iommu_backend=iommu_backend,
            enable_api_device=enable_api_device,
        )

    @classmethod
    def mig(
        cls,
        profile: str,
        count: int | AllocationMode = 1,
        *,
        sharing: ClaimSharing | None = None,
        name: str | None = None,
    ) -> DeviceRequest:
        """Partitions of GPUs, one by default.

        Args:
            profile: The MIG profile as the driver publishes it, `1g.10gb`.
            count: How many; they may be on different GPUs of the node unless the claim matches
                `gpu.nvidia.com/parentUUID`.
            sharing: How those who use the claim share the partitions, `ClaimSharing.mps()`; by
                default the driver does nothing about it.
            name: The request's name, `mig` by default.
        """
        return cls._make(RequestKind.MIG, name, count=count, profile=profile, sharing=sharing)

    @classmethod
    def neuron(
        cls,
        count: int | AllocationMode = 1,
        *,
        logical_neuron_cores: int | None = None,
        instance_type: str | None = None,
        driver_version: str | None = None,
        name: str | None = None,
    ) -> DeviceRequest:
        """Neuron devices (chips), one by default.

        Args:
            count: How many; 1, 4, 8 or 16 where the claim matches DEVICE_GROUP.
            logical_neuron_cores: Physical cores per logical NeuronCore, 1 or 2, on chips that
                have them; by default the chip's own setting (2 on Trainium2).
            instance_type: Takes devices of nodes of this EC2 type only, `trn2.48xlarge`, and
                checks the claim against it; by default the nodes may be of any type.
            driver_version: Takes devices of nodes with this Neuron driver only, `2.29.0.0`; the
                texts are compared, so all four parts count. ResourceSlices of a node have it as
                `neuronDriverVersion`, and the AMI decides it: pin `release_version` of the group.
                By default it may be any.
            name: The request's name, `neuron` by default.
        """
        return cls._make(
            RequestKind.NEURON,
            name,
            count=count,
            logical_neuron_cores=logical_neuron_cores,
            instance_type=instance_type,
            driver_version=driver_version,
        )

    @classmethod
    def efa(
        cls, count: int | AllocationMode | None = None, *, name: str | None = None
    ) -> DeviceRequest:
        """Elastic Fabric Adapter interfaces.

        Args:
            count: How many; by default filled from the instance type: with DEVICE_GROUP the EFAs
                of the group, with PCIE_ROOT the GPUs' fair share of their root, otherwise every
                EFA of the type's default layout.
            name: The request's name, `efa` by default.
        """
        return cls._make(RequestKind.EFA, name, count=count)

    @classmethod
    def ultraserver_node(
        cls,
        *,
        mode: int = 4,
        logical_neuron_cores: int | None = None,
        instance_type: str | None = None,
        driver_version: str | None = None,
        name: str | None = None,
    ) -> DeviceRequest:
        """One whole node of a Trainium UltraServer.

        Args:
            mode: How many nodes of the UltraServer work together: 1, 2 or 4, all four by default.
            logical_neuron_cores: As in `neuron`.
            instance_type: As in `neuron`.
            driver_version: As in `neuron`.
            name: The request's name, `ultraserver-node` by default.
        """
        return cls._make(
            RequestKind.ULTRASERVER_NODE,
            name,
            count=1,
            mode=mode,
            logical_neuron_cores=logical_neuron_cores,
            instance_type=instance_type,
            driver_version=driver_version,
        )

    @classmethod
    def first_available(
        cls, *alternatives: DeviceRequest, name: str | None = None
    ) -> DeviceRequest:
        """The first of several requests that a node can serve; their order is the preference.

        Args:
            alternatives: 1 to 8 requests with names that differ; none of them is such a list, or
                has admin access. Constraints and containers may name them "<name>/<alternative>".
            name: The request's name, `first-available` by default.

        Raises:
            EksDevicesError: With every fault of the list.

        Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
        """
        return cls._make(RequestKind.FIRST_AVAILABLE, name, count=None, alternatives=alternatives)

    @classmethod
    def _make(cls, kind: RequestKind, name: str | None, **values: Any) -> DeviceRequest:
        mode = values["count"]
        if isinstance(mode, AllocationMode):
            values |= {"count": None, "allocation": mode}
        return cls(kind=kind, name=kind.value if name is None else name, **values)

    def where(self, cel: str | DeviceSelector) -> DeviceRequest:
        """A copy that takes only devices for which one more expression is true.

        In CEL an attribute that a device lacks is an error that stops the Pod's whole scheduling
        attempt, so guard it: `'a' in device.attributes['d'] && device.attributes['d'].a == 1`, as
        every DeviceSelector does.

        Raises:
            EksDevicesError: `MalformedSelector` for an expression that is empty or too long, with
                brackets or quotes that do not close, a single `=`, `&` or `|`, or nothing beside
                `&&` or `||` (the API server checks the rest), `WrongType`, `TooManySelectors`.
        """
        return replace(self, selectors=(*self.selectors, cel))

    def tolerating(self, *tolerations: DeviceToleration) -> DeviceRequest:
        """A copy that also takes devices with these taints, from Kubernetes 1.36 on.

        Raises:
            EksDevicesError: `WrongType`, or `TooManyTolerations`.
        """
        return replace(self, tolerations=(*self.tolerations, *tolerations))

    def with_admin_access(self) -> DeviceRequest:
        """A copy that gets devices which others use, as monitoring does, and takes them from none.

        The namespace of the claim needs the label `resource.kubernetes.io/admin-access: "true"`.

        Raises:
            EksDevicesError: `OptionDoesNotFit` for a list of alternatives.
        """
        return replace(self, admin_access=True)

    def __post_init__(self) -> None:
        """Copy the lists, and raise EksDevicesError with every fault."""
        for name in ("name", "profile", "memory", "instance_type", "driver_version"):
            object.__setattr__(self, name, plain_text(getattr(self, name)))
        for name in ("selectors", "tolerations", "alternatives"):
            object.__setattr__(self, name, copied_list(getattr(self, name)))
        raise_faults(request_faults(self))

    @property
    def is_open(self) -> bool:
        """Whether the number of EFAs is filled from the instance type."""
        exact = self.allocation is AllocationMode.EXACT_COUNT
        return exact and self.count is None and self.kind is RequestKind.EFA

    @property
    def takes_all(self) -> bool:
        """Whether every device of a node that matches is taken."""
        return self.allocation is AllocationMode.ALL

    @property
    def options(self) -> Sequence[DeviceRequest]:
        """The alternatives of a list; of any other request, itself."""
        return self.alternatives or (self,)

    def to_dict(self, *, count: int | None, instance_type: str | None = None) -> dict[str, Any]:
        """The request, which is no list of alternatives, as `resource.k8s.io/v1` takes it.

        Args:
            count: How many devices, where the request leaves it open too; None for all.
            instance_type: Type of the nodes; by default they may be of any type.
        """
        return rendered_request(self, (count,), instance_type)
