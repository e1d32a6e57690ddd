"""Exactly one manager for each device type of a node: brute force over small fleets.

Nodes, DaemonSets and the host service of Bottlerocket are simulated by the rule of selection: a
DaemonSet serves one device type, mechanism and owner, selects nodes by both labels, and stays away
from nodes that somebody else's compute makes.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from tests.short_names import DOMAIN, DRA, EFA, GPU, NEURON, PLUGIN

from eks_devices import (
    Capacity,
    ClusterPlan,
    DriverPlan,
    EksDevicesError,
    GpuDriver,
    GpuSharing,
    NodegroupPlan,
    NodegroupSpec,
    OperatingSystem,
    plan_cluster,
    plan_nodegroup,
)
from eks_devices._frozen import FrozenDict
from eks_devices.cluster_planner import join_plans
from eks_devices.kubernetes import minors

BOTTLEROCKET = {"operating_system": OperatingSystem.BOTTLEROCKET}
HOST_PLUGIN = "settings.kubelet-device-plugins.nvidia.enabled"
GATED = GpuDriver(feature_gates={"MPSSupport": True})
SLICES, MPS = GpuSharing.time_slicing(replicas=2), GpuSharing.mps(replicas=2)
G6E: dict[str, Any] = {"instance_type": "g6e.12xlarge"}
TRN2: dict[str, Any] = {"instance_type": "trn2.48xlarge"}
P6E: dict[str, Any] = {
    "instance_type": "p6e-gb200.36xlarge",
    "capacity": Capacity.block("cr-0123456789abcdef0"),
}
C5N: dict[str, Any] = {"instance_type": "c5n.18xlarge", "efa": True}
SHAPES: tuple[dict[str, Any], ...] = (
    G6E,
    G6E | {"mechanism": PLUGIN},
    G6E | {"gpu_driver": GATED},
    G6E | {"gpu_sharing": MPS},
    G6E | {"gpu_sharing": SLICES},
    G6E | {"scope": "x", "mechanism": DRA},
    G6E | {"scope": "x", "mechanism": PLUGIN},
    G6E | {"scope": "x", "gpu_sharing": MPS},
    G6E | {"scope": "y", "mechanism": PLUGIN},
    G6E | {"external": {GPU}, "mechanism": PLUGIN},
    G6E | {"external": {GPU}, "mechanism": DRA, "efa": 1},
    G6E | {"mechanism": {GPU: PLUGIN, EFA: DRA}, "efa": 1},
    G6E | {"mechanism": {GPU: DRA, EFA: PLUGIN}, "efa": 1, "external": {EFA}},
    G6E | {"mechanism": {GPU: DRA, EFA: PLUGIN}, "efa": 1, "scope": "x"},
    G6E | BOTTLEROCKET,
    G6E | BOTTLEROCKET | {"mechanism": DRA},
    G6E | BOTTLEROCKET | {"gpu_sharing": SLICES},
    G6E | BOTTLEROCKET | {"external": {GPU}, "mechanism": PLUGIN},
    G6E | BOTTLEROCKET | {"external": {GPU}, "mechanism": DRA},
    G6E | BOTTLEROCKET | {"scope": "x", "mechanism": PLUGIN},
    G6E | BOTTLEROCKET | {"scope": "x", "mechanism": DRA},
    G6E | BOTTLEROCKET | {"efa": 1, "mechanism": {EFA: DRA}},
    TRN2,
    TRN2 | {"mechanism": PLUGIN},
    TRN2 | {"mechanism": {NEURON: PLUGIN, EFA: DRA}},
    TRN2 | {"external": {NEURON}, "mechanism": PLUGIN},
    TRN2 | {"scope": "x"},
    TRN2 | BOTTLEROCKET,
    {"instance_type": "inf2.xlarge", "mechanism": DRA},
    {"instance_type": "inf1.xlarge"},
    P6E,
    P6E | {"mechanism": {GPU: PLUGIN}},
    P6E | {"compute_domains": False},
    P6E | {"scope": "x"},
    P6E | {"external": {DOMAIN}},
    C5N,
    C5N | {"mechanism": PLUGIN, "scope": "x"},
    C5N | BOTTLEROCKET,
)
VERSION = "1.35"
KEEP_ALL = {GPU: (DRA, PLUGIN), NEURON: (DRA, PLUGIN), EFA: (DRA, PLUGIN), DOMAIN: (DRA,)}
OTHERS = ("auto", "fargate", "hybrid")

Labels = Mapping[str, str]
# What a DaemonSet asks of a node's labels.
Selection = Callable[[DriverPlan, Labels], bool]


@dataclass(frozen=True)
class Node:
    """A node as managers see it, and the device types that its Pods ask for."""

    labels: Labels
    devices: frozenset[str]
    host_service: bool


def by_both_labels(driver: DriverPlan, labels: Labels) -> bool:
    return (
        labels.get(f"eks-devices/{driver.device_type}") == driver.mechanism
        and labels.get(f"eks-devices/{driver.device_type}-manager") == driver.owner
        and labels.get("eks.amazonaws.com/compute-type") not in OTHERS
    )


def by_mechanism_alone(driver: DriverPlan, labels: Labels) -> bool:
    return by_both_labels(
        driver, {**labels, f"eks-devices/{driver.device_type}-manager": driver.owner}
    )


def by_owner_alone(driver: DriverPlan, labels: Labels) -> bool:
    return by_both_labels(driver, {**labels, f"eks-devices/{driver.device_type}": driver.mechanism})


def by_labels_anywhere(driver: DriverPlan, labels: Labels) -> bool:
    return by_both_labels(driver, {**labels, "eks.amazonaws.com/compute-type": "ec2"})


def node_of(plan: NodegroupPlan) -> Node:
    bottlerocket = plan.operating_system is OperatingSystem.BOTTLEROCKET
    has_gpu = "NVIDIA" in plan.ami_type
    # The variant with NVIDIA's driver starts its own plugin unless it is told not to.
    runs = bottlerocket and has_gpu and plan.bottlerocket_settings.get(HOST_PLUGIN, True) is True
    devices = {str(device.device_type) for device in plan.devices}
    return Node(labels=plan.labels, devices=frozenset(devices), host_service=runs)


def other_nodes(plan: ClusterPlan) -> Iterator[Node]:
    """Nodes that nothing here manages, some with labels that somebody copied."""
    copied = plan.nodegroups[0].labels
    yield Node(labels={}, devices=frozenset(), host_service=False)
    for compute in OTHERS:
        labels = {**copied, "eks.amazonaws.com/compute-type": compute}
        yield Node(labels=labels, devices=frozenset(), host_service=False)


def managers(node: Node, drivers: tuple[DriverPlan, ...], selects: Selection) -> list[str]:
    """The device type of each manager on a node: two of one type share the devices."""
    found = [str(driver.device_type) for driver in drivers if selects(driver, node.labels)]
    found += [
        key.removeprefix("eks-devices/").removesuffix("-manager")
        for key, owner in node.labels.items()
        if key.endswith("-manager") and owner == "external"
        if node.labels.get("eks.amazonaws.com/compute-type") not in OTHERS
    ]
    return found + (["gpu"] if node.host_service else [])


def wrong_nodes(plan: ClusterPlan, selects: Selection = by_both_labels) -> list[str]:
    """What is wrong with the managers of a fleet; empty when each device has exactly one."""
    wrong = []
    for node in (*map(node_of, plan.nodegroups), *other_nodes(plan)):
        counted = Counter(managers(node, plan.drivers, selects))
        if counted != Counter(node.devices):
            wrong.append(f"{sorted(node.devices)} managed by {dict(counted)}")
    return wrong


@pytest.fixture(scope="module")
def groups() -> dict[tuple[int, int], NodegroupPlan]:
    """Every shape planned alone, once for each place in a fleet."""
    return {
        (shape, place): plan_nodegroup(
            NodegroupSpec(name=f"g{place}", max_size=2, **SHAPES[shape]),
            kubernetes_version=VERSION,
        )
        for shape in range(len(SHAPES))
        for place in range(3)
    }


def fleets(size: int) -> Iterator[tuple[int, ...]]:
    return itertools.combinations_with_replacement(range(len(SHAPES)), size)


def test_every_device_of_every_node_has_exactly_one_manager(
    groups: dict[tuple[int, int], NodegroupPlan],
):
    judged, refused, codes, minor = 0, 0, set[str](), minors()[VERSION]
    for size, keep in itertools.product((1, 2, 3), (KEEP_ALL, {})):
        for shapes in fleets(size):
            members = tuple(groups[shape, place] for place, shape in enumerate(shapes))
            try:
                plan = join_plans(minor, members, keep=keep)
            except EksDevicesError as error:
                codes |= {one.code for one in error.faults}
                refused += 1
                continue
            judged += 1
            assert wrong_nodes(plan) == [], [SHAPES[shape] for shape in shapes]
    assert codes == {"ScopeWithoutDefault"}
    assert judged + refused == 2 * (38 + 741 + 9_880)
    assert judged == 16_724


def test_a_manager_has_the_settings_of_every_group_that_it_serves(
    groups: dict[tuple[int, int], NodegroupPlan],
):
    minor = minors()[VERSION]
    for shapes in fleets(2):
        members = tuple(groups[shape, place] for place, shape in enumerate(shapes))
        plan = join_plans(minor, members, keep=KEEP_ALL)
        settings = {
            (one.device_type, one.mechanism, one.owner): one.settings for one in plan.drivers
        }
        for group in plan.nodegroups:
            for device in group.devices:
                key = (device.device_type, device.mechanism, device.owner)
                if device.owner not in ("host", "external"):
                    assert settings[key] == device.settings


def fleet(*shapes: dict[str, Any], keep: Any = KEEP_ALL) -> ClusterPlan:
    specs = [
        NodegroupSpec(name=f"g{place}", max_size=2, **shape) for place, shape in enumerate(shapes)
    ]
    return plan_cluster(kubernetes_version=VERSION, nodegroups=specs, keep=keep)


# Each rule below is right for one group, and gives a device two managers, or a foreign node one.
@pytest.mark.parametrize(
    ("selects", "shapes"),
    [
        (by_mechanism_alone, (G6E | {"mechanism": PLUGIN}, G6E | {"gpu_sharing": MPS})),
        (by_mechanism_alone, (TRN2, TRN2 | {"scope": "x"})),
        (by_mechanism_alone, (G6E | {"external": {GPU}, "mechanism": DRA},)),
        (by_mechanism_alone, (G6E | BOTTLEROCKET,)),
        (by_owner_alone, (G6E, G6E | {"mechanism": PLUGIN})),
        (by_labels_anywhere, (G6E,)),
    ],
)
def test_a_planted_fault_of_the_selection_is_noticed(
    selects: Selection, shapes: tuple[dict[str, Any], ...]
):
    plan = fleet(*shapes)

    assert wrong_nodes(plan) == []
    assert wrong_nodes(plan, selects) != []


def test_a_manager_that_is_missing_is_noticed():
    plan = fleet(TRN2, keep={})

    assert wrong_nodes(replace(plan, drivers=plan.drivers[1:])) == [
        "['efa', 'neuron'] managed by {'efa': 1}"
    ]


def test_a_host_service_that_was_not_switched_off_is_noticed():
    plan = fleet(G6E | BOTTLEROCKET | {"mechanism": DRA})
    (group,) = plan.nodegroups
    left_on = replace(plan, nodegroups=(replace(group, bottlerocket_settings=FrozenDict()),))

    assert wrong_nodes(left_on) == ["['gpu'] managed by {'gpu': 2}"]


def test_a_host_service_that_was_switched_off_for_nothing_is_noticed():
    plan = fleet(G6E | BOTTLEROCKET)
    (group,) = plan.nodegroups
    off: FrozenDict[str, Any] = FrozenDict({HOST_PLUGIN: False})
    switched_off = replace(plan, nodegroups=(replace(group, bottlerocket_settings=off),))

    assert wrong_nodes(switched_off) == ["['gpu'] managed by {}"]
