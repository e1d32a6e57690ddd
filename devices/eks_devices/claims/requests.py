"""One request of a claim: a number of equal devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._frozen import copied_list
from ..findings import raise_faults
from ..typecheck import plain_text
from .kinds import IommuBackendPolicy, RequestKind
from .request_checks import request_faults
from .selectors import own_expressions
from .sharing import ClaimSharing


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRequest:
    """A number of equal devices; make one with a factory.

    These are `gpu`, `mig`, `passthrough_gpu`, `neuron`, `ultraserver_node` and `efa`. Every one
    takes `name`, a DNS label that is unique in its claim; the default is the kind.

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
    instance_type: str | None = None
    driver_version: str | None = None
    sharing: ClaimSharing | None = None
    memory: str | None = None
    iommu_backend: IommuBackendPolicy | None = None
    enable_api_device: bool | None = None

    @classmethod
    def gpu(
        cls,
        count: int = 1,
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
        count: int = 1,
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
        count: int = 1,
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
        count: int = 1,
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
    def efa(cls, count: int | None = None, *, name: str | None = None) -> DeviceRequest:
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
    def _make(cls, kind: RequestKind, name: str | None, **values: Any) -> DeviceRequest:
        return cls(kind=kind, name=kind.value if name is None else name, **values)

    def where(self, cel: str) -> DeviceRequest:
        """A copy that takes only devices for which one more CEL expression is true.

        An attribute that a device lacks is an error that stops the Pod's whole scheduling
        attempt, so guard it: `'a' in device.attributes['d'] && device.attributes['d'].a == 1`.

        Raises:
            EksDevicesError: `MalformedSelector` for an expression that is empty or too long, with
                brackets or quotes that do not close, a single `=`, `&` or `|`, or nothing beside
                `&&` or `||` (the API server checks the rest), `WrongType`, `TooManySelectors`.
        """
        return replace(self, selectors=(*self.selectors, cel))

    def __post_init__(self) -> None:
        """Copy the selectors, and raise EksDevicesError with every fault."""
        for name in ("name", "profile", "memory", "instance_type", "driver_version"):
            object.__setattr__(self, name, plain_text(getattr(self, name)))
        object.__setattr__(self, "selectors", copied_list(self.selectors))
        raise_faults(request_faults(self))

    def to_dict(self, *, count: int, instance_type: str | None = None) -> dict[str, Any]:
        """The request as `resource.k8s.io/v1` takes it.

        Args:
            count: How many devices, where the request leaves it open too.
            instance_type: Type of the nodes; by default they may be of any type.
        """
        exactly: dict[str, Any] = {
            "deviceClassName": self.kind.device_class,
            "allocationMode": "ExactCount",
            "count": count,
        }
        expressions = [*own_expressions(self, instance_type), *self.selectors]
        if expressions:
            exactly["selectors"] = [{"cel": {"expression": text}} for text in expressions]
        if self.memory is not None:
            exactly["capacity"] = {"requests": {"memory": self.memory}}
        return {"name": self.name, "exactly": exactly}
