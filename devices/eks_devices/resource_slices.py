"""The ResourceSlices that the DRA drivers publish for a node, as far as anybody told.

What only a running node knows, such as the version of its driver, has an example in the data, so
that an expression which reads it finds something of the right type.
"""

from __future__ import annotations

from typing import Any

from .instance_types import AcceleratedInstanceType
from .mig import Partition, published_partitions
from .names import (
    DRIVERS,
    EFA_DRIVER,
    GPU_DRIVER,
    NEURON_DRIVER,
    PCIE_ROOT_ATTRIBUTE,
    device_group_attribute,
)
from .plans import DevicePlan, NodegroupPlan
from .published import device_group_sizes, neuron_map, published
from .vocabulary import DeviceType

Json = dict[str, Any]


def resource_slice(group: NodegroupPlan, device: DevicePlan, *, node: str) -> Json:
    """What the DRA driver of a device type publishes for one node of a group.

    Devices of a type that nobody has told about have the attributes that their DeviceClass
    reads, and no others. The one device that stands for a whole node of an UltraServer is left
    out: how it is published is not documented.

    Args:
        group: The plan of the node's group.
        device: One of its devices.
        node: The name of the Node object.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
    """
    driver = DRIVERS[device.device_type]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-{driver}"},
        "spec": {
            "driver": driver,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": _devices(group, device),
        },
    }


def _devices(group: NodegroupPlan, device: DevicePlan) -> list[Json]:
    device_type, name, count = device.device_type, group.instance_type, device.count
    if device_type is DeviceType.NEURON:
        return [_neuron(name, index, count) for index in range(count)]
    if device_type is DeviceType.GPU:
        return _cut(_gpus(name, count), group)
    if device_type is DeviceType.EFA:
        return _efas(name, count)
    # Of the channels of a node, the driver offers the first.
    return [_device(f"{kind}-0", {"type": kind, "id": 0}) for kind in ("daemon", "channel")]


def _device(name: str, attributes: Json, **capacity: str) -> Json:
    typed = {key: _typed(value) for key, value in attributes.items()}
    found: Json = {"name": name, "attributes": typed}
    if capacity:
        found["capacity"] = {key: {"value": value} for key, value in capacity.items()}
    return found


def _typed(value: Any) -> Json:
    """An attribute's value with its type; the data has them so already where JSON cannot tell."""
    names = {bool: "bool", int: "int", str: "string"}
    return {names[type(value)]: value} if type(value) in names else dict(value)


def _version(text: str) -> Json:
    return {"version": text}


def _gpus(name: str, count: int) -> list[Json]:
    data = published()
    record = data["gpus"].get(name)
    if record is None:
        return [_device(f"gpu-{index}", {"type": "gpu"}) for index in range(count)]
    model = data["gpuModels"][record["model"]]
    alike = {
        "type": "gpu",
        "productName": record["model"],
        "brand": model["brand"],
        "architecture": model["architecture"],
        "cudaComputeCapability": _version(model["cudaComputeCapability"]),
        **data["alike"][GPU_DRIVER],
    }
    memory = record.get("memory", model["memory"])
    return [
        _device(
            f"gpu-{index}",
            alike | {"uuid": f"GPU-{index}", PCIE_ROOT_ATTRIBUTE: root},
            memory=memory,
        )
        for index, (root, *_) in enumerate(_one_by_one(record))
    ]


def _cut(gpus: list[Json], group: NodegroupPlan) -> list[Json]:
    """GPUs, or their partitions where each is cut when its node boots: then no GPU is published.

    What the driver publishes to cut on request is left out: it needs counters that the API has
    from Kubernetes 1.36 on.
    """
    if group.mig is None or group.mig.is_dynamic:
        return gpus
    cut = published_partitions(group.mig, group.instance_type)
    return [_partition(gpu, one) for gpu in gpus for one in cut]


def _partition(gpu: Json, one: Partition) -> Json:
    attributes = {key: value for key, value in gpu["attributes"].items() if key != "uuid"}
    name = f"{gpu['name']}-{one.name}"
    own = {"type": "mig", "profile": one.profile, "uuid": f"MIG-{name}", "parentUUID": gpu["name"]}
    found = _device(name, own, **one.capacity)
    return found | {"attributes": attributes | found["attributes"]}


def _efas(name: str, count: int) -> list[Json]:
    data = published()
    alike = data["alike"][EFA_DRIVER]
    if (mapping := neuron_map(name)) is not None:
        addresses = list(dict.fromkeys(mapping["efas"]))[:count]
        return [_mapped_efa(name, one, mapping["efas"].index(one), alike) for one in addresses]
    record = data["efas"].get(name)
    if record is None:
        return [_device(f"efa-{index}", alike) for index in range(count)]
    alike = alike | {
        f"{EFA_DRIVER}/pciSubsystem": record["pciSubsystem"],
        f"{EFA_DRIVER}/rdma": record["rdma"],
    }
    return [
        _device(f"efa-{index}", alike | _place_of(*place))
        for index, place in enumerate(_one_by_one(record)[:count])
    ]


def _one_by_one(record: Json) -> list[tuple[Any, ...]]:
    """The place of each device: its PCIe root, and its NUMA node where that is published."""
    return [(root, *numa) for root, devices, *numa in record["roots"] for _ in range(devices)]


def _place_of(root: str, numa_node: int | None = None) -> Json:
    numa = {} if numa_node is None else {f"{EFA_DRIVER}/numaNode": numa_node}
    return {PCIE_ROOT_ATTRIBUTE: root, **numa}


def _mapped_efa(name: str, address: str, neuron_index: int, alike: Json) -> Json:
    """An EFA beside Neuron devices: it is in the groups of the first of them."""
    device = "pci-" + address.replace(":", "-").replace(".", "-")
    place = {f"{EFA_DRIVER}/pciAddress": address}
    return _device(device, alike | place | _groups(name, neuron_index))


def _groups(name: str, index: int) -> Json:
    """The connected groups of a Neuron device, which are those of its EFA as well."""
    mapping = neuron_map(name)
    if mapping is None:
        return {}
    ids = {1: mapping["efas"]} | {
        size: mapping[f"devicegroup{size}_id"] for size in device_group_sizes(name) if size > 1
    }
    return {device_group_attribute(size): found[index // size] for size, found in ids.items()}


def _neuron(name: str, index: int, count: int) -> Json:
    attributes: Json = {
        "deviceId": index,
        "instanceType": name,
        "resourceType": "neuron_device",
        **published()["alike"][NEURON_DRIVER],
    }
    return _device(
        f"neurondevice{index}",
        attributes | _torus(name, index, count) | _groups(name, index),
    )


def _torus(name: str, index: int, count: int) -> Json:
    instance = AcceleratedInstanceType.of(name)
    if count == 1 or not instance.multi_node_training or instance.ultraserver_sizes:
        return {}
    in_a_row = published()["neuronTorus"]["row"]
    row, column = divmod(index, in_a_row)
    place = {"topology_x": row, "topology_y": column, "topology4_id": row}
    return place if count < 2 * in_a_row else place | {"topology8_id": row // 2}
