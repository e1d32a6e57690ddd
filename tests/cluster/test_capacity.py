"""How many Pods a node has devices for, by claims and by device plugins, on every type."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from eks_device_operations.control_plane.pods import (
    claim,
    given,
    pod,
    remove,
    wait_bound,
    wait_decided,
)
from eks_devices import (
    AcceleratedInstanceType,
    DeviceRequest,
    DeviceType,
    EksDevicesError,
    GpuSharing,
    MatchAttribute,
    Mechanism,
    ResourceClaimTemplate,
)
from eks_devices.claims.on_nodegroup import claim_manifest
from eks_devices.names import EFA_CLASS, GPU_CLASS, NEURON_CLASS
from eks_devices.published import pcie_roots

Item = dict[str, Any]

SPACE = "train"
NO_DEVICES = "1 cannot allocate all claims"
PLUGIN = Mechanism.DEVICE_PLUGIN
PCIE_ROOT, DEVICE_GROUP = MatchAttribute.PCIE_ROOT, MatchAttribute.DEVICE_GROUP
ROOT = "resource.kubernetes.io/pcieRoot"
GPU, NEURON, EFA = "nvidia.com/gpu", "aws.amazon.com/neuron", "vpc.amazonaws.com/efa"


@dataclass(frozen=True)
class Filled:
    """A claim, how many Pods with one a node has devices for, and how many it has left then."""

    on: str
    fits: int
    requests: tuple[DeviceRequest, ...]
    match: MatchAttribute
    left: int = 0

    def claim(self):
        return ResourceClaimTemplate(
            name="fill", namespace=SPACE, requests=self.requests, match=self.match
        )

    def __str__(self):
        return f"{self.fits} on {self.on}"


def gpus(on, fits, count, efas=None, left=0):
    requests = (DeviceRequest.gpu(count), DeviceRequest.efa(efas))
    return Filled(on, fits, requests, PCIE_ROOT, left)


def neurons(on, fits, count):
    requests = (DeviceRequest.neuron(count), DeviceRequest.efa())
    return Filled(on, fits, requests, DEVICE_GROUP)


FILLED = (
    gpus("p5.48xlarge", 8, 1),
    gpus("p4d.24xlarge", 4, 2),
    gpus("p5en.48xlarge", 8, 1),
    # Whoever takes all EFAs of a root leaves a GPU that nobody can align.
    gpus("p5en.48xlarge", 4, 1, efas=4, left=4),
    gpus("p6-b200.48xlarge", 4, 2),
    neurons("trn2.48xlarge", 16, 1),
    neurons("trn2.48xlarge", 4, 4),
    neurons("trn2.48xlarge", 2, 8),
    neurons("trn2.48xlarge", 1, 16),
    neurons("trn1.32xlarge", 4, 4),
)
BY_PLUGIN = {
    "g6e.12xlarge": {GPU: 4},
    "p5.48xlarge": {GPU: 8, EFA: 32},
    "trn2.48xlarge": {NEURON: 16, f"{NEURON}core": 64, EFA: 16},
    "inf2.48xlarge": {NEURON: 12, f"{NEURON}core": 24},
    "inf1.24xlarge": {NEURON: 16, f"{NEURON}core": 64},
}
# GPUs and EFAs of claims with one PCIe root, tried on every type.
ON_ONE_ROOT = ((1, 1), (2, 1), (2, 0), (4, 1))
IN_ONE_GROUP = (1, 4)


def name_of(instance_type, mechanism):
    return f"{instance_type.replace('.', '-')}-{mechanism}"


def can_be_planned(group, planned):
    try:
        planned(group)
    except EksDevicesError:
        return False
    return True


@pytest.fixture(scope="module")
def groups(shared, spec, planned):
    """A node of every type with all its devices by DRA, and some by plugin, by name."""
    specs = []
    for instance_type in sorted(one.name for one in AcceleratedInstanceType.all()):
        name = name_of(instance_type, "dra")
        wanted = [
            spec(name, instance_type, mechanism=Mechanism.DRA, efa=efa) for efa in (True, False)
        ]
        specs += [one for one in wanted if can_be_planned(one, planned)][:1]
    specs += [spec(name_of(one, "plugin"), one, mechanism=PLUGIN) for one in BY_PLUGIN]
    sliced = GpuSharing.time_slicing(replicas=4)
    specs.append(spec("sliced", "g6e.12xlarge", mechanism=PLUGIN, gpu_sharing=sliced))

    plan = planned(*specs)
    shared.serve(plan, SPACE)
    return {group.name: group for group in plan.nodegroups}


@pytest.fixture
def start_pods(shared):
    """Make Pods, which go when the test is over."""
    pods: list[Item] = []

    def start(*items):
        pods.extend(items)
        for item in items:
            shared.api.create(item)

    yield start
    remove(shared.api, *pods)


def assert_refused(shared, *items, why, look_again=True):
    decided = wait_decided(shared.api, *items, look_again=look_again)
    for item, found in zip(items, decided, strict=True):
        assert (found.node, found.reason) == ("", "Unschedulable"), item["metadata"]["name"]
        assert why in found.message, item["metadata"]["name"]
    shared.tally["Pods refused"] += len(items)


@pytest.mark.parametrize("case", FILLED, ids=str)
def test_a_node_is_filled_to_the_last_device(shared, groups, start_pods, case):
    group = groups[name_of(case.on, "dra")]
    template = claim_manifest(case.claim(), group)
    shared.api.delete(template)  # a template cannot be changed
    shared.install(template)
    *first, last = (
        pod(f"fill-{index}", namespace=SPACE, group=group, templates=["fill"])
        for index in range(case.fits + 1)
    )

    start_pods(*first)
    for item in first:
        wait_bound(shared.api, item)
    start_pods(last)
    assert_refused(shared, last, why=NO_DEVICES, look_again=False)

    held = [one for item in first for one in names_of(given(shared.api, item))]
    assert len(set(held)) == len(held)
    assert len(held) == sum(one.count for one in group.devices) - case.left
    freed = names_of(given(shared.api, first[-1]))
    remove(shared.api, first[-1])
    wait_bound(shared.api, last)
    assert names_of(given(shared.api, last)) == freed
    shared.tally["Pods bound"] += case.fits + 1


def names_of(devices):
    return sorted((one.driver, one.device) for one in devices)


OFFERS = [
    *((name_of(on, "plugin"), *one) for on, has in BY_PLUGIN.items() for one in has.items()),
    ("sliced", GPU, 16),
]


@pytest.mark.parametrize("offer", OFFERS, ids=str)
def test_device_plugins_offer_what_is_planned(shared, groups, start_pods, offer):
    group_name, resource, count = offer
    group = groups[group_name]
    most, one, too_many = (
        pod(name, namespace=SPACE, group=group, limits={resource: number})
        for name, number in (("most", count - 1), ("one", 1), ("too-many", 1))
    )

    start_pods(most, one)
    for item in (most, one):
        wait_bound(shared.api, item)
    start_pods(too_many)
    assert_refused(shared, too_many, why=f"1 Insufficient {resource}", look_again=False)

    remove(shared.api, one)
    wait_bound(shared.api, too_many)
    shared.tally["Pods bound"] += 3


def raw_claim(name, classes, attribute):
    asked = [(kind, count) for kind, count in classes.items() if count]
    requests = [
        {"name": f"r-{index}", "exactly": {"deviceClassName": kind, "count": count}}
        for index, (kind, count) in enumerate(asked)
    ]
    kind = "ResourceClaimTemplate"
    return claim(kind, name, *requests, namespace=SPACE, match=attribute)


def answer_of(name, requests, match, group):
    """The claim that the library builds for a group, or the codes of its faults."""
    try:
        built = ResourceClaimTemplate(name=name, namespace=SPACE, requests=requests, match=match)
        return claim_manifest(built, group), set()
    except EksDevicesError as error:
        return None, {fault.code for fault in error.faults}


def on_one_root(group, gpus, efas):
    requests = [DeviceRequest.gpu(gpus), *([DeviceRequest.efa(efas)] if efas else [])]
    name = f"{group.name}-{gpus}-{efas}"
    built, codes = answer_of(name, requests, PCIE_ROOT, group)
    return built, codes, raw_claim(name, {GPU_CLASS: gpus, EFA_CLASS: efas}, ROOT)


def in_one_group(group, size):
    name = f"{group.name}-{size}"
    requests = [DeviceRequest.neuron(size), DeviceRequest.efa()]
    built, codes = answer_of(name, requests, DEVICE_GROUP, group)
    attribute = f"resource.aws.com/devicegroup{size}_id"
    return built, codes, raw_claim(name, {NEURON_CLASS: size, EFA_CLASS: 1}, attribute)


def compare(shared, start_pods, rounds):
    """Let the scheduler decide on claims that the library builds, and on those that it refuses."""
    told: Counter[str] = Counter()
    bound: list[Item] = []
    refused: list[Item] = []
    for group, (built, codes, by_hand) in rounds:
        told.update(codes or ["built"])
        name = by_hand["metadata"]["name"]
        shared.install(built or by_hand)
        item = pod(name, namespace=SPACE, group=group, templates=[name])
        (bound if built else refused).append(item)
    start_pods(*bound, *refused)
    for item in bound:
        wait_bound(shared.api, item)
    if refused:
        assert_refused(shared, *refused, why=NO_DEVICES)
    shared.tally["Pods bound"] += len(bound)
    return told


@pytest.mark.parametrize("shape", ON_ONE_ROOT)
def test_what_is_said_of_one_pcie_root_is_true_on_every_type(shared, groups, start_pods, shape):
    known = [one for one in by_dra(groups, DeviceType.GPU) if pcie_roots(one.instance_type)]

    told = compare(shared, start_pods, ((one, on_one_root(one, *shape)) for one in known))

    assert told["built"]
    assert told["PcieRootNotShared"] or told["PcieRootTooSmall"]


@pytest.mark.parametrize("size", IN_ONE_GROUP)
def test_what_is_said_of_device_groups_is_true_on_every_type(shared, groups, start_pods, size):
    known = by_dra(groups, DeviceType.NEURON)

    told = compare(shared, start_pods, ((one, in_one_group(one, size)) for one in known))

    assert told["built"] == 4
    assert told["NoDeviceGroups"] or told["NoSuchDevice"]


def by_dra(groups, device_type):
    return [
        group
        for group in groups.values()
        if (device_type, Mechanism.DRA)
        in ((one.device_type, one.mechanism) for one in group.devices)
    ]
