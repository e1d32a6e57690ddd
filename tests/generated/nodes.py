"""Nodes that claims are judged on: those of planned groups, and some that are made up."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.generated.expressions import Words

from eks_device_charts import ImageSource, device_manifests
from eks_devices import (
    AcceleratedInstanceType,
    Capacity,
    Mechanism,
    Mig,
    NodegroupPlan,
    NodegroupSpec,
    plan_cluster,
)
from eks_devices._frozen import FrozenDict
from eks_devices.feasibility.minors import scheduler_of
from eks_devices.feasibility.slices import NodeDevices, read_slices
from eks_devices.resource_slices import resource_slices

Json = dict[str, Any]

API = "resource.k8s.io/v1"
ONE, TWO = "card.example.com", "port.example.com"
NODE = "node"
PLUGIN = "by-plugin"
BLOCK = Capacity.block("cr-0123456789abcdef0")
LAYOUTS = {
    "cut": Mig.layout("3g.40gb", "1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb"),
    "alike": Mig.layout(*["2g.20gb"] * 3),
}
MADE_UP = Words(
    domains=(ONE, ONE, ONE, TWO, "other.example.com", "no.example.com"),
    names=("root", "index", "fast", "version", "mixed", "group", "own", "nothing"),
    capacities=("memory", "slots", "nothing"),
    drivers=(ONE, TWO, "nobody"),
)
CLASSES: Mapping[str, tuple[str, ...]] = FrozenDict(
    {
        "any": (),
        "one": (f"device.driver == '{ONE}'",),
        "two": (f"device.driver == '{TWO}'",),
        "rooted": (f"device.driver == '{ONE}'", f"'root' in device.attributes['{ONE}']"),
        "fragile": (f"device.driver == '{ONE}' && device.attributes['{ONE}'].root == 'x'",),
        "none": ("false",),
    }
)


@dataclass(frozen=True, eq=False)
class Place:
    """A node: what the allocator is told of it, and what is judged instead.

    `group` is the plan of the node's group, where it has one; other nodes are made up.
    """

    name: str
    slices: tuple[Json, ...]
    group: NodegroupPlan | None = None

    def devices(self, minor: str) -> NodeDevices:
        """What the scheduler of a minor looks at on the node."""
        return _read(self, minor)


@functools.lru_cache(maxsize=4096)
def _read(place: Place, minor: str) -> NodeDevices:
    return read_slices(place.slices, scheduler_of(minor))


def class_manifest(name: str, expressions: tuple[str, ...]) -> Json:
    selectors = [{"cel": {"expression": one}} for one in expressions]
    spec = {"selectors": selectors} if selectors else {}
    return {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def specs() -> list[NodegroupSpec]:
    """A group of each type with all that it has by DRA, some without EFAs, and special ones."""
    found = []
    for one in AcceleratedInstanceType.all():
        # The Neuron DRA driver does not cover Inf1, and UltraServer types come with a block.
        if one.name.startswith(("inf1.", "p6e")):
            continue
        found.append(_spec(one.name, one.name, mechanism=Mechanism.DRA))
        if one.max_efa_interfaces:
            found.append(_spec(f"{one.name}.efa", one.name, mechanism=Mechanism.DRA, efa=True))
    found.append(_spec("gb200", "p6e-gb200.36xlarge", efa=True, capacity=BLOCK))
    found += [_spec(name, "p5.48xlarge", mig=mig) for name, mig in LAYOUTS.items()]
    plugin = Mechanism.DEVICE_PLUGIN
    return [*found, _spec(PLUGIN, "p5.48xlarge", mechanism=plugin, efa=True)]


def _spec(name: str, instance_type: str, **options: Any) -> NodegroupSpec:
    name = name.replace(".", "-")
    return NodegroupSpec(name=name, instance_type=instance_type, max_size=1, **options)


@functools.cache
def planned(minor: str) -> tuple[Place, ...]:
    """A node of each group, as it is said to publish, for a Kubernetes minor."""
    plan = plan_cluster(kubernetes_version=minor, nodegroups=specs())
    return tuple(
        Place(
            group.name,
            tuple(
                item
                for one in group.devices
                if one.mechanism is Mechanism.DRA
                for item in resource_slices(group, one, node=NODE)
            ),
            group=group,
        )
        for group in plan.nodegroups
    )


@functools.cache
def installed(minor: str) -> tuple[Json, ...]:
    """The DeviceClasses that come with the drivers of all groups."""
    plan = plan_cluster(kubernetes_version=minor, nodegroups=specs())
    manifests = device_manifests(plan, images=ImageSource(region="us-east-2"))
    return tuple(one for one in manifests if one["kind"] == "DeviceClass")


def made_up(rng: Random, name: str, *, most: int = 8) -> Place:
    """A node whose devices have attributes of all kinds, or lack them."""
    drivers = [ONE, TWO] if rng.random() < 0.25 else [ONE]
    slices = tuple(
        _slice(rng, driver, max(rng.randint(0, most), rng.randint(0, most))) for driver in drivers
    )
    return Place(name, slices)


def _slice(rng: Random, driver: str, size: int) -> Json:
    present = rng.choice([1.0, 1.0, 0.9, 0.5])
    devices = [
        {
            "name": f"d{index}",
            "attributes": {
                name: value
                for name, value in _attributes(rng, driver).items()
                if rng.random() < present
            },
            "capacity": {
                name: {"value": value}
                for name, value in _capacities(rng).items()
                if rng.random() < present
            },
        }
        for index in range(size)
    ]
    pool = {"name": NODE, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": driver, "nodeName": NODE, "pool": pool, "devices": devices}
    metadata = {"name": f"{NODE}-{driver}"}
    return {"apiVersion": API, "kind": "ResourceSlice", "metadata": metadata, "spec": spec}


def _attributes(rng: Random, driver: str) -> Json:
    return {
        "root": {"string": rng.choice("xxyz")},
        "index": {"int": rng.randint(0, 3)},
        "fast": {"bool": rng.random() < 0.7},
        "version": {"version": rng.choice(["1.2.3", "1.2.3", "2.0.0-rc.1", "1.2.3+build"])},
        "mixed": rng.choice(
            [{"string": "1"}, {"int": 1}, {"bool": True}, {"version": "1.0.0"}, {"string": "true"}]
        ),
        f"{driver}/own": {"string": rng.choice("xy")},
        "other.example.com/group": {"int": rng.randint(0, 1)},
        "other.example.com/root": {"string": rng.choice("xy")},
    }


def _capacities(rng: Random) -> dict[str, str]:
    sizes = ["80Gi", "81559Mi", "40Gi", "1", "100m", "1500m", "85899345920", "80e9"]
    return {"memory": rng.choice(sizes), "slots": rng.choice("123")}
