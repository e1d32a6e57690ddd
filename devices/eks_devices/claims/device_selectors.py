"""Which devices of its class a request takes, as CEL that fails on no device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from .._frozen import copied_list
from ..findings import raise_faults
from ..names import EFA_DRIVER, GPU_DRIVER, NEURON_DRIVER, PCIE_ROOT_ATTRIBUTE
from ..names import device_group_attribute as group_attribute
from ..typecheck import plain_text
from .selector_checks import selector_value_faults

# Words that no field of CEL may have as its name.
# Source: https://github.com/google/cel-spec/blob/master/doc/langdef.md
_RESERVED: Final = frozenset(
    [
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import"),
        *("in", "let", "loop", "namespace", "null", "package", "return", "true", "var", "void"),
        "while",
    ]
)
_NUMA_NODE = f"{PCIE_ROOT_ATTRIBUTE.partition('/')[0]}/numaNode"


class SelectorTest(StrEnum):
    """How a selector compares what a device publishes."""

    ONE_OF = "one of"
    VERSION_AT_LEAST = "version at least"
    QUANTITY_AT_LEAST = "quantity at least"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSelector:
    """Devices with a certain attribute, for `where`; made by one of the factories.

    Each is an expression that is false for a device without the attribute, where CEL that reads it
    unguarded would stop the Pod's whole scheduling attempt. A node group compares them with what
    the drivers publish for its type. `str()` gives the expression.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
    """

    attribute: str
    """The qualified name of the attribute, or of the capacity, "gpu.nvidia.com/memory"."""
    values: Sequence[str | int | bool]
    """What is compared: any of these, or the one that is the least."""
    test: SelectorTest = SelectorTest.ONE_OF

    @classmethod
    def gpu_memory_at_least(cls, amount: str) -> DeviceSelector:
        """GPUs, or partitions, with so much memory.

        What counts is what the driver publishes, which is less than EC2 tells of many types: an
        H100 "with 80 GiB" has 81152Mi. Node groups tell (`MemoryAboveDriverNumber`). Leave a
        margin of 2 %, as drivers differ.

        Args:
            amount: A quantity of Kubernetes, "40Gi".

        Raises:
            EksDevicesError: With every fault of the arguments; so do all factories.
        """
        memory = f"{GPU_DRIVER}/memory"
        return cls(attribute=memory, values=[amount], test=SelectorTest.QUANTITY_AT_LEAST)

    @classmethod
    def gpu_product(cls, *names: str) -> DeviceSelector:
        """GPUs of these products, by the driver's name: "NVIDIA H100 80GB HBM3"."""
        return cls(attribute=f"{GPU_DRIVER}/productName", values=names)

    @classmethod
    def gpu_architecture(cls, *names: str) -> DeviceSelector:
        """GPUs of these architectures: "Hopper", "Blackwell"."""
        return cls(attribute=f"{GPU_DRIVER}/architecture", values=names)

    @classmethod
    def gpu_compute_capability_at_least(cls, version: str) -> DeviceSelector:
        """GPUs with this CUDA compute capability or a later one: "9.0"."""
        return cls._version(f"{GPU_DRIVER}/cudaComputeCapability", version)

    @classmethod
    def gpu_driver_at_least(cls, version: str) -> DeviceSelector:
        """GPUs of nodes with this NVIDIA driver or a later one: "580.82.07"."""
        return cls._version(f"{GPU_DRIVER}/driverVersion", version)

    @classmethod
    def gpu_cuda_driver_at_least(cls, version: str) -> DeviceSelector:
        """GPUs whose driver supports this version of CUDA or a later one: "13.0"."""
        return cls._version(f"{GPU_DRIVER}/cudaDriverVersion", version)

    @classmethod
    def gpu_numa_node(cls, *nodes: int) -> DeviceSelector:
        """GPUs, or partitions, near these NUMA nodes, from 0."""
        return cls(attribute=_NUMA_NODE, values=nodes)

    @classmethod
    def mig_profile(cls, *profiles: str) -> DeviceSelector:
        """Partitions of any of these MIG profiles, beside that of the request."""
        return cls(attribute=f"{GPU_DRIVER}/profile", values=profiles)

    @classmethod
    def pcie_root(cls, *roots: str) -> DeviceSelector:
        """GPUs or EFAs of these PCIe roots: "pci0000:44".

        The names may change with the platform: to have devices of one root, match PCIE_ROOT.
        """
        return cls(attribute=PCIE_ROOT_ATTRIBUTE, values=roots)

    @classmethod
    def efa_generation(cls, *generations: str) -> DeviceSelector:
        """EFAs of these generations, as DRANET names them: "efa1", "efa2"."""
        return cls(attribute=f"{EFA_DRIVER}/pciSubsystem", values=generations)

    @classmethod
    def efa_rdma(cls) -> DeviceSelector:
        """EFAs that DRANET tells of as RDMA devices."""
        return cls(attribute=f"{EFA_DRIVER}/rdma", values=[True])

    @classmethod
    def efa_numa_node(cls, *nodes: int) -> DeviceSelector:
        """EFAs near these NUMA nodes, from 0; of smaller types none is known."""
        return cls(attribute=f"{EFA_DRIVER}/numaNode", values=nodes)

    @classmethod
    def neuron_device(cls, *numbers: int) -> DeviceSelector:
        """Neuron devices of these numbers of their node, from 0."""
        return cls(attribute=f"{NEURON_DRIVER}/deviceId", values=numbers)

    @classmethod
    def device_group(cls, size: int, *ids: str) -> DeviceSelector:
        """Neuron devices, or their EFAs, of these connected groups.

        The ids are those of every node of a type: to have devices of one group, match
        DEVICE_GROUP.

        Args:
            size: Neuron devices in a group: 1, 4, 8 or 16.
            ids: As ResourceSlices have them, `devicegroup4_id`.
        """
        number = size if type(size) is int else 0
        return cls(attribute=group_attribute(number), values=ids)

    @classmethod
    def attribute_is(cls, attribute: str, *values: str | int | bool) -> DeviceSelector:
        """Devices for which an attribute has any of these values.

        Args:
            attribute: The qualified name, "gpu.nvidia.com/brand".
            values: Texts, whole numbers, or True or False; versions have helpers of their own.
        """
        return cls(attribute=attribute, values=values)

    @classmethod
    def _version(cls, attribute: str, version: str) -> DeviceSelector:
        return cls(attribute=attribute, values=[version], test=SelectorTest.VERSION_AT_LEAST)

    def __post_init__(self) -> None:
        """Copy the values, and raise EksDevicesError with every fault."""
        object.__setattr__(self, "attribute", plain_text(self.attribute))
        object.__setattr__(self, "values", copied_list(self.values))
        raise_faults(selector_value_faults(self.attribute, self.values, self.test))

    def __str__(self) -> str:
        """The CEL expression."""
        domain, _, name = self.attribute.partition("/")
        is_amount = self.test is SelectorTest.QUANTITY_AT_LEAST
        owner = f"device.{'capacity' if is_amount else 'attributes'}['{domain}']"
        read = f"{owner}['{name}']" if name in _RESERVED else f"{owner}.{name}"
        return f"'{name}' in {owner} && {self._compared(read)}"

    def _compared(self, read: str) -> str:
        if self.test is SelectorTest.ONE_OF:
            given = [*map(_literal, self.values)]
            return f"{read} == {given[0]}" if len(given) == 1 else f"{read} in [{', '.join(given)}]"
        make = "quantity" if self.test is SelectorTest.QUANTITY_AT_LEAST else "semver"
        least = self.values[0] if make == "quantity" else semantic(str(self.values[0]))
        return f"{read}.compareTo({make}('{least}')) >= 0"


def semantic(version: str) -> str:
    """A version of one to three numbers as a semantic version: "580.82.07" as "580.82.7"."""
    numbers = [str(int(one)) for one in version.split(".")]
    return ".".join([*numbers, "0", "0"][:3])


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    escaped = str(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
