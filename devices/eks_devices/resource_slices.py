"""The ResourceSlices that the DRA drivers publish for a node, as far as anybody told.

What only a running node knows, such as the version of its driver, has an example in the data, so
that an expression which reads it finds something of the right type.
"""

from __future__ import annotations

from .gpu_slices import cut_on_request, gpu_devices
from .instance_types import AcceleratedInstanceType
from .names import (
    DRIVERS,
    EFA_DRIVER,
    NEURON_DRIVER,
    PCIE_ROOT_ATTRIBUTE,
    device_group_attribute,
)
from .plans import DevicePlan, NodegroupPlan
from .published import device_group_sizes, neuron_map, published
from .slice_values import Json, device_of, one_by_one
from .vocabulary import DeviceType


def resource_slices(group: NodegroupPlan, device: DevicePlan, *, node: str) -> tuple[Json, ...]:
    """What the DRA driver of a device type publishes for one node of a group: its whole pool.

    Devices of a type that nobody has told about have the attributes that their DeviceClass
    reads, and no others. The one device that stands for a whole node of an UltraServer is left
    out: how it is published is not documented. So are partitions that are cut on request from
    GPUs of which nobody told where they lie.

    Args:
        group: The plan of the node's group.
        device: One of its devices.
        node: The name of the Node object.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
    """
    cut = cut_on_request(group, device) if device.device_type is DeviceType.GPU else None
    if cut is None:
        return (resource_slice(group, device, node=node),)
    contents: list[Json] = [{"sharedCounters": [counters for counters, _ in cut]}]
    contents += [{"devices": devices} for _, devices in cut]
    names = ("counters", *(f"gpu-{index}" for index in range(len(cut))))
    return tuple(
        _slice(device, node, content, name=f"-{name}", of=len(contents))
        for name, content in zip(names, contents, strict=True)
    )


def resource_slice(group: NodegroupPlan, device: DevicePlan, *, node: str) -> Json:
    """The slice of drivers that publish one for a node; of those that cut on request, whole GPUs.

    Args:
        group: The plan of the node's group.
        device: One of its devices.
        node: The name of the Node object.
    """
    return _slice(device, node, {"devices": _devices(group, device)})


def _slice(device: DevicePlan, node: str, content: Json, *, name: str = "", of: int = 1) -> Json:
    driver = DRIVERS[device.device_type]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-{driver}{name}"},
        "spec": {
            "driver": driver,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": of},
            **content,
        },
    }


def _devices(group: NodegroupPlan, device: DevicePlan) -> list[Json]:
    device_type, name, count = device.device_type, group.instance_type, device.count
    if device_type is DeviceType.NEURON:
        return [_neuron(name, index, count) for index in range(count)]
    if device_type is DeviceType.GPU:
        return gpu_devices(group, device)
    if device_type is DeviceType.EFA:
        return _efas(name, count)
    # Of the channels of a node, the driver offers the first.
    return [device_of(f"{kind}-0", {"type": kind, "id": 0}) for kind in ("daemon", "channel")]


def _efas(name: str, count: int) -> list[Json]:
    data = published()
    alike = data["alike"][EFA_DRIVER]
    if (mapping := neuron_map(name)) is not None:
        addresses = list(dict.fromkeys(mapping["efas"]))[:count]
        return [_mapped_efa(name, one, mapping["efas"].index(one), alike) for one in addresses]
    record = data["efas"].get(name)
    if record is None:
        return [device_of(f"efa-{index}", alike) for index in range(count)]
    alike = alike | {
        f"{EFA_DRIVER}/pciSubsystem": record["pciSubsystem"],
        f"{EFA_DRIVER}/rdma": record["rdma"],
    }
    return [
        device_of(f"efa-{index}", alike | _place_of(*place))
        for index, place in enumerate(one_by_one(record)[:count])
    ]


def _place_of(root: str, numa_node: int | None = None) -> Json:
    numa = {} if numa_node is None else {f"{EFA_DRIVER}/numaNode": numa_node}
    return {PCIE_ROOT_ATTRIBUTE: root, **numa}


def _mapped_efa(name: str, address: str, neuron_index: int, alike: Json) -> Json:
    """An EFA beside Neuron devices: it is in the groups of the first of them."""
    device = "pci-" + address.replace(":", "-").replace(".", "-")
    place = {f"{EFA_DRIVER}/pciAddress": address}
    return device_of(device, alike | place | _groups(name, neuron_index))


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
    return device_of(
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
