"""The devices of a node as its ResourceSlices would list them, as far as known before launch.

Values that only a running node knows (driver versions, uuids, addresses) are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ._data import read_json
from ._frozen import frozen_dict
from .instance_types import AcceleratedInstanceType
from .names import (
    EFA_DRIVER,
    GPU_DRIVER,
    NEURON_DRIVER,
    PCIE_ROOT_ATTRIBUTE,
    device_group_attribute,
)
from .network import efa_counts
from .published import device_group_ids, device_group_sizes
from .vocabulary import DeviceType

Attribute = Mapping[str, str | int | bool]
"""A typed value, `{"string": "gpu"}`."""

_EFA: Final = {"pciDevice": "Elastic Fabric Adapter (EFA)", "pciVendor": "Amazon.com, Inc."}


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedDevice:
    """One device of a ResourceSlice.

    `attributes` are in the form of the API, `{"type": {"string": "gpu"}}`; a name without a domain
    belongs to the driver's. `capacity` is `{"memory": {"value": "80Gi"}}`, empty for other devices.
    Names of GPUs and of EFAs beside Neuron devices are the drivers' own, other names are ours.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
    """

    driver: str
    name: str
    attributes: Mapping[str, Attribute]
    capacity: Mapping[str, Mapping[str, str]]


def published_devices(instance: AcceleratedInstanceType) -> tuple[PublishedDevice, ...] | None:
    """Every device that the DRA drivers publish on a node of the type.

    Returns:
        GPUs or Neuron devices, then EFAs, in device order; None where they are not known. MIG
        partitions are not among them: they depend on how a node is cut.

    Source: https://github.com/aws/karpenter-provider-aws (pkg/providers/drametadata)
    """
    data = read_json("published_devices.json")
    if instance.device_type is DeviceType.NEURON:
        return (*_neuron_devices(instance), *_efas_beside_neuron(instance))
    if instance.name not in data["gpus"]:
        return None
    return (*_gpus(data, data["gpus"][instance.name]), *_efas(data["efas"].get(instance.name)))


def _gpus(data: dict[str, Any], record: dict[str, Any]) -> Iterable[PublishedDevice]:
    model = data["gpuModels"][record["model"]]
    shared: dict[str, Attribute] = {
        **_texts({key: model[key] for key in ("architecture", "brand")}),
        **_texts({"productName": record["model"], "type": "gpu"}),
        "cudaComputeCapability": frozen_dict({"version": model["cudaComputeCapability"]}),
    }
    memory = frozen_dict({"value": record.get("memory", model["memory"])})
    for index, (root, _) in enumerate(_each(record["roots"])):
        yield PublishedDevice(
            driver=GPU_DRIVER,
            name=f"gpu-{index}",
            attributes=frozen_dict({**shared, **_texts({PCIE_ROOT_ATTRIBUTE: root})}),
            capacity=frozen_dict({"memory": memory}),
        )


def _efas(record: dict[str, Any] | None) -> Iterable[PublishedDevice]:
    if record is None:
        return
    shared: dict[str, Attribute] = {
        **_texts({**_EFA, "pciSubsystem": record["pciSubsystem"]}, EFA_DRIVER),
        f"{EFA_DRIVER}/rdma": frozen_dict({"bool": record["rdma"]}),
    }
    for index, (root, numa) in enumerate(_each(record["roots"])):
        attributes = {**shared, **_texts({PCIE_ROOT_ATTRIBUTE: root})}
        if numa is not None:
            attributes[f"{EFA_DRIVER}/numaNode"] = frozen_dict({"int": numa})
        yield _efa(f"efa-{index}", attributes)


def _efas_beside_neuron(instance: AcceleratedInstanceType) -> Iterable[PublishedDevice]:
    # Two Neuron devices may share an EFA; they are of the same groups then.
    beside: dict[str, int] = {}
    for device, address in enumerate(device_group_ids(instance.name, 1)):
        beside.setdefault(address, device)
    for address, device in beside.items():
        name = "pci-" + address.replace(":", "-").replace(".", "-")
        groups = _groups(instance.name, device)
        yield _efa(name, {**_texts({**_EFA, "pciAddress": address}, EFA_DRIVER), **groups})
    if not beside:
        for index in range(efa_counts(instance)):
            yield _efa(f"efa-{index}", _texts(_EFA, EFA_DRIVER))


def _efa(name: str, attributes: Mapping[str, Attribute]) -> PublishedDevice:
    return PublishedDevice(
        driver=EFA_DRIVER, name=name, attributes=frozen_dict(attributes), capacity=frozen_dict()
    )


def _neuron_devices(instance: AcceleratedInstanceType) -> Iterable[PublishedDevice]:
    shared = _texts({"instanceType": instance.name, "resourceType": "neuron_device"})
    for device in range(instance.accelerator.count if instance.accelerator else 0):
        number = {"deviceId": frozen_dict({"int": device})}
        yield PublishedDevice(
            driver=NEURON_DRIVER,
            name=f"neuron-{device}",
            attributes=frozen_dict({**shared, **number, **_groups(instance.name, device)}),
            capacity=frozen_dict(),
        )


def _groups(name: str, device: int) -> dict[str, Attribute]:
    ids = {size: device_group_ids(name, size)[device] for size in device_group_sizes(name)}
    return _texts({device_group_attribute(size): text for size, text in ids.items()})


def _texts(values: Mapping[str, str], domain: str = "") -> dict[str, Attribute]:
    prefix = f"{domain}/" if domain else ""
    return {f"{prefix}{key}": frozen_dict({"string": text}) for key, text in values.items()}


def _each(roots: Iterable[tuple[Any, ...]]) -> Iterable[tuple[str, int | None]]:
    """The root, and the NUMA node where one is published, of every device."""
    for root, devices, *numa in roots:
        for _ in range(devices):
            yield root, numa[0] if numa else None
