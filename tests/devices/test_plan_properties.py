"""What holds for every plan: all types, versions, systems and mechanisms, and random fleets."""

import copy
import itertools
import json
import pickle
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.short_names import AL2023, BOTTLEROCKET, DRA, EFA, GPU, NEURON, PLUGIN

from eks_devices import (
    AcceleratedInstanceType,
    Capacity,
    ClusterPlan,
    CpuArchitecture,
    DeviceType,
    EksDevicesError,
    GpuDriver,
    GpuSharing,
    Mechanism,
    NodegroupPlan,
    NodegroupSpec,
    Severity,
    Taint,
    plan_cluster,
    plan_nodegroup,
)

VERSIONS = ("1.33", "1.34", "1.35", "1.36", "1.37")
BLOCK = Capacity.block("cr-0123456789abcdef0")
ACCELERATED = AcceleratedInstanceType.all()
EFA_ONLY = AcceleratedInstanceType.efa_only()
# Every fault that a group may have here, where only the mechanism and the system are in question.
CODES = {
    "BottlerocketGb200",
    "DeviceNotOnNodegroup",
    "DraBelow134",
    "MechanismRequired",
    "NeuronDraInf1",
}
FINDINGS = {
    "AmiDriverGap",
    "DraGroupAtZero",
    "EfaByOtherMechanism",
    "EfaDraBottlerocket",
    "GpuDraBottlerocket",
    "MechanismChosen",
    "NeuronDraBottlerocket",
    "NeuronDraInf2",
    "NeuronDraTrn1",
    "NodePatchFloor",
    "UltraServerNotNamed",
    "UnmanagedAccelerator",
    "UnverifiedInstanceType",
    "VcpuQuota",
    "VpcCniFloor",
}
AMI_TYPES = {
    (AL2023, "x86_64", NEURON): "AL2023_x86_64_NEURON",
    (AL2023, "x86_64", GPU): "AL2023_x86_64_NVIDIA",
    (AL2023, "arm64", GPU): "AL2023_ARM_64_NVIDIA",
    (AL2023, "x86_64", None): "AL2023_x86_64_STANDARD",
    (AL2023, "arm64", None): "AL2023_ARM_64_STANDARD",
    (BOTTLEROCKET, "x86_64", NEURON): "BOTTLEROCKET_x86_64",
    (BOTTLEROCKET, "x86_64", GPU): "BOTTLEROCKET_x86_64_NVIDIA",
    (BOTTLEROCKET, "arm64", GPU): "BOTTLEROCKET_ARM_64_NVIDIA",
    (BOTTLEROCKET, "x86_64", None): "BOTTLEROCKET_x86_64",
    (BOTTLEROCKET, "arm64", None): "BOTTLEROCKET_ARM_64",
}
RESOURCES = {
    GPU: {"nvidia.com/gpu"},
    NEURON: {"aws.amazon.com/neuron", "aws.amazon.com/neuroncore"},
    EFA: {"vpc.amazonaws.com/efa"},
}
CLASSES = {
    GPU: ("gpu.nvidia.com",),
    NEURON: ("neuron.aws.com",),
    EFA: ("efa.networking.k8s.aws",),
    DeviceType.COMPUTE_DOMAIN: (
        "compute-domain-daemon.nvidia.com",
        "compute-domain-default-channel.nvidia.com",
    ),
}
TAINTS = {
    GPU: (Taint(key="nvidia.com/gpu", value="present"),),
    NEURON: (Taint(key="aws.amazon.com/neuron", value="present"),),
    None: (),
}
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
LABEL_KEY = re.compile(r"([a-z0-9.-]+/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")


def spec(instance_type: str, **options: Any) -> NodegroupSpec:
    capacity = BLOCK if instance_type.startswith("p6e") else Capacity.on_demand()
    values: dict[str, Any] = {"name": "a", "max_size": 4, "capacity": capacity}
    return NodegroupSpec(instance_type=instance_type, **(values | options))


def planned(instance_type: str, version: str = "1.35", **options: Any) -> NodegroupPlan:
    return plan_nodegroup(spec(instance_type, **options), kubernetes_version=version)


def every_question() -> Iterator[tuple[AcceleratedInstanceType, str, NodegroupSpec]]:
    named: list[Any] = [None, DRA, PLUGIN]
    named += [{GPU: one, EFA: two} for one in Mechanism for two in Mechanism]
    named += [{NEURON: one, EFA: two} for one in Mechanism for two in Mechanism]
    named += [{NEURON: PLUGIN}, {GPU: PLUGIN}, {EFA: DRA}]
    for each, version, system, mechanism in itertools.product(
        ACCELERATED, VERSIONS, (AL2023, BOTTLEROCKET), named
    ):
        question = spec(each.name, mechanism=mechanism, operating_system=system)
        yield each, version, question
    for each, version, system, mechanism in itertools.product(
        EFA_ONLY, VERSIONS, (AL2023, BOTTLEROCKET), named[:3]
    ):
        yield each, version, spec(each.name, efa=True, mechanism=mechanism, operating_system=system)


@pytest.fixture(scope="module")
def answers() -> list[tuple[AcceleratedInstanceType, NodegroupSpec, NodegroupPlan]]:
    """Every plan that the questions give; those without one have known faults."""
    found, codes = [], set[str]()
    for each, version, question in every_question():
        try:
            plan = plan_nodegroup(question, kubernetes_version=version)
        except EksDevicesError as error:
            codes |= {one.code for one in error.faults}
            continue
        found.append((each, question, plan))
    assert codes == CODES
    return found


Answers = list[tuple[AcceleratedInstanceType, NodegroupSpec, NodegroupPlan]]


def test_there_are_thousands_of_plans(answers: Answers):
    questions = sum(1 for _ in every_question())

    assert questions == 83 * 5 * 2 * 14 + 260 * 5 * 2 * 3
    assert len(answers) == 10_220
    assert {plan.instance_type for _, _, plan in answers} == {
        each.name for each in (*ACCELERATED, *EFA_ONLY)
    }


def test_each_device_has_one_manager_and_one_mechanism(answers: Answers):
    for _, _, plan in answers:
        devices = [device.device_type for device in plan.devices]

        assert devices
        assert len(devices) == len(set(devices))
        for device in plan.devices:
            labels = plan.labels
            assert labels[f"eks-devices/{device.device_type}"] == device.mechanism
            assert labels[f"eks-devices/{device.device_type}-manager"] == device.owner
        managers = [key for key in plan.labels if key.endswith("-manager")]
        assert len(managers) == len(devices)


def test_the_accelerator_comes_first_and_is_there(answers: Answers):
    for each, _, plan in answers:
        if each.accelerator is not None:
            assert plan.devices[0].device_type is each.device_type
            assert plan.devices[0].count == each.accelerator.count
        assert all(device.count > 0 for device in plan.devices)


def test_extended_resources_are_those_of_device_plugins(answers: Answers):
    for _, _, plan in answers:
        by_plugin = [one.device_type for one in plan.devices if one.mechanism is PLUGIN]

        assert plan.extended_resources.keys() == {
            name for device in by_plugin for name in RESOURCES[device]
        }
        assert (plan.extended_resources == {}) == (by_plugin == [])
        assert all(type(count) is int and count > 0 for count in plan.extended_resources.values())


def test_device_classes_are_those_of_dra(answers: Answers):
    for _, _, plan in answers:
        by_dra = [one.device_type for one in plan.devices if one.mechanism is DRA]

        assert plan.device_classes == tuple(name for one in by_dra for name in CLASSES[one])
        assert (plan.device_classes == ()) == (by_dra == [])


def test_efas_are_interfaces(answers: Answers):
    for _, _, plan in answers:
        counts = {device.device_type: device.count for device in plan.devices}
        types = Counter(each.interface_type for each in plan.network_interfaces)

        assert types["efa"] + types["efa-only"] == counts.get(EFA, 0)
        assert (plan.network_interfaces == ()) == (EFA not in counts)


def test_the_ami_type_fits_the_node(answers: Answers):
    for each, question, plan in answers:
        system = question.operating_system

        assert plan.ami_type == AMI_TYPES[system, str(each.architecture), each.device_type]
        assert ("ARM" in plan.ami_type) == (each.architecture is CpuArchitecture.ARM64)


def test_labels_and_taints_keep_within_what_eks_takes(answers: Answers):
    for each, _, plan in answers:
        for key, value in plan.labels.items():
            assert len(key) <= 63
            assert LABEL_KEY.fullmatch(key)
            assert LABEL_VALUE.fullmatch(value)
        assert list(plan.labels) == sorted(plan.labels)
        assert plan.labels["eks-devices/nodegroup"] == "a"
        assert ("nvidia.com/gpu.present" in plan.labels) == (each.device_type is GPU)
        assert plan.taints == TAINTS[each.device_type]


def test_pods_fit_in_what_managed_node_groups_allow(answers: Answers):
    for each, _, plan in answers:
        if plan.max_pods is None:
            assert each.name == "p6e-gb200.36xlarge"
        else:
            assert 1 < plan.max_pods <= (110 if each.vcpus < 30 else 250)


def test_findings_are_known_and_none_is_an_error(answers: Answers):
    seen = {one.code for _, _, plan in answers for one in plan.findings}

    assert seen == FINDINGS
    assert all(
        one.severity in (Severity.WARNING, Severity.INFO) and one.message
        for _, _, plan in answers
        for one in plan.findings
    )
    assert all(len(set(plan.findings)) == len(plan.findings) for _, _, plan in answers)


def test_a_default_choice_gives_its_reason(answers: Answers):
    for _, _, plan in answers:
        told = [one.message for one in plan.findings if one.code == "MechanismChosen"]

        assert told == [
            f"{one.device_type} by {one.mechanism}: {one.reason}"
            for one in plan.devices
            if one.automatic
        ]
        assert all(one.reason for one in plan.devices)


def test_host_settings_are_for_bottlerocket(answers: Answers):
    plugin = "settings.kubelet-device-plugins.nvidia.enabled"
    ownership = "settings.kubernetes.device-ownership-from-security-context"
    for each, question, plan in answers:
        if question.operating_system is AL2023:
            assert plan.bottlerocket_settings == {}
            continue
        gpu_by_dra = plan.labels.get("eks-devices/gpu") == "dra"
        assert (plan.bottlerocket_settings.get(plugin) is False) == gpu_by_dra
        assert (plan.bottlerocket_settings.get(ownership) is True) == (each.device_type is NEURON)
        assert plan.bottlerocket_settings["settings.kubernetes.max-pods"] == plan.max_pods


def test_plans_are_values(answers: Answers):
    for _, question, plan in answers[::37]:
        again = plan_nodegroup(question, kubernetes_version=plan.kubernetes_version)

        assert again == plan
        assert hash(again) == hash(plan)
        assert pickle.loads(pickle.dumps(plan)) == plan  # noqa: S301 - our own bytes
        assert copy.deepcopy(plan) == plan
        assert json.loads(json.dumps(plan.to_dict())) == plan.to_dict()


def test_plans_of_different_groups_differ(answers: Answers):
    # Questions that name what is chosen anyway differ in the reason only.
    assert len({plan for _, _, plan in answers}) > 9_000


def test_a_replace_key_is_eight_hex_digits_and_tells_groups_apart(answers: Answers):
    keys: dict[str, set[tuple[object, ...]]] = {}
    for _, question, plan in answers:
        why = (
            plan.instance_type,
            question.operating_system,
            tuple((one.device_type, one.mechanism) for one in plan.devices),
        )
        keys.setdefault(plan.replace_key, set()).add(why)

    assert all(re.fullmatch("[0-9a-f]{8}", key) for key in keys)
    assert all(len(reasons) == 1 for reasons in keys.values())


BASE: dict[str, Any] = {"instance_type": "p5.48xlarge", "name": "a", "max_size": 4}
CHANGES: list[dict[str, Any]] = [
    {"mechanism": PLUGIN},
    {"mechanism": {EFA: PLUGIN}},
    {"efa": False},
    {"instance_type": "p5e.48xlarge"},
    {"operating_system": BOTTLEROCKET, "mechanism": DRA},
    {"operating_system": BOTTLEROCKET},
    {"capacity": Capacity.spot()},
    {"capacity": BLOCK},
    {"capacity": Capacity.block("cr-0123456789abcdef1")},
    {"capacity": Capacity.reservation("cr-0123456789abcdef0")},
    {"capacity": Capacity.block("${Token[TOKEN.7]}", key="july")},
    {"capacity": Capacity.block("${Token[TOKEN.7]}", key="august")},
]
NO_CHANGES: list[dict[str, Any]] = [
    {"name": "b"},
    {"min_size": 1, "desired_size": 2, "max_size": 9},
    {"labels": {"team": "a"}},
    {"taints": ()},
    {"taints": ["a=b:NoExecute"]},
    {"max_pods": 30},
    {"release_version": "1.35.2-20261023"},
    {"mechanism": DRA},
    {"mechanism": {GPU: DRA}},
    {"efa": 16},
    {"high_ip_bandwidth": True},
    {"scope": "team"},
]


def replace_key(**options: Any) -> str:
    group = NodegroupSpec(**(BASE | options))
    return plan_nodegroup(group, kubernetes_version="1.35").replace_key


def test_what_needs_new_nodes_changes_the_replace_key():
    keys = [replace_key(), *(replace_key(**options) for options in CHANGES)]

    assert len(set(keys)) == len(CHANGES) + 1


@pytest.mark.parametrize("options", NO_CHANGES, ids=list)
def test_what_changes_in_place_keeps_the_replace_key(options: dict[str, Any]):
    assert replace_key(**options) == replace_key()


def test_the_number_of_a_token_is_in_no_plan():
    seventh = Capacity.block("${Token[TOKEN.7]}", key="july")
    eighth = Capacity.block("${Token[TOKEN.8]}", key="july")

    plans = [
        plan_cluster(kubernetes_version="1.35", nodegroups=[spec("p5.48xlarge", capacity=one)])
        for one in (seventh, eighth)
    ]

    assert plans[0].nodegroups[0].replace_key == plans[1].nodegroups[0].replace_key
    assert plans[0].to_json() == plans[1].to_json()
    assert "Token[" not in plans[0].to_json()
    assert json.loads(plans[0].to_json())["nodegroups"][0]["capacity"] == {
        "kind": "capacity-block",
        "capacity_type": "CAPACITY_BLOCK",
        "reservation": "july",
    }


FLEET_TYPES = (
    "trn2.48xlarge", "trn1.2xlarge", "inf1.xlarge", "inf2.xlarge", "g6e.12xlarge", "g5g.xlarge",
    "p5.48xlarge", "p6e-gb200.36xlarge", "c5n.18xlarge", "f2.48xlarge", "g6f.large",
)  # fmt: skip
OPTIONS: dict[str, st.SearchStrategy[Any]] = {
    "mechanism": st.sampled_from([None, DRA, PLUGIN, {GPU: PLUGIN}, {EFA: DRA}]),
    "operating_system": st.sampled_from([AL2023, AL2023, BOTTLEROCKET]),
    "efa": st.sampled_from([None, True, False, 1]),
    "autoscaled": st.booleans(),
    "preemption": st.booleans(),
    "gpu_sharing": st.sampled_from([None, None, GpuSharing.mps(replicas=2)]),
    "scope": st.sampled_from([None, None, "team"]),
    "external": st.sampled_from([(), (), {GPU}, {EFA}]),
    "min_size": st.integers(0, 2),
    "labels": st.sampled_from([{}, {"team": "a"}]),
    "taints": st.sampled_from([None, (), ["a:NoSchedule"]]),
    "max_pods": st.sampled_from([None, 20]),
}
# As (type, options): most are planned, and those that are not say why.
GROUPS = st.tuples(
    st.sampled_from(FLEET_TYPES), st.fixed_dictionaries({}, optional=OPTIONS)
)  # fmt: skip
KEEP = {device: tuple(Mechanism) for device in (GPU, NEURON, EFA)}
KEEP[DeviceType.COMPUTE_DOMAIN] = (DRA,)


def judged(group: NodegroupSpec, version: str) -> NodegroupPlan | None:
    try:
        return plan_nodegroup(group, kubernetes_version=version)
    except EksDevicesError:
        return None


@settings(max_examples=300, deadline=None)
@given(groups=st.lists(GROUPS, max_size=6), version=st.sampled_from(VERSIONS[1:]))
def test_a_group_alone_is_the_same_group_in_any_cluster(
    groups: list[tuple[str, dict[str, Any]]], version: str
):
    specs = [
        spec(name, name=f"g{place}", **options) for place, (name, options) in enumerate(groups)
    ]
    fleet = [(one, alone) for one in specs if (alone := judged(one, version)) is not None]
    members = [one for one, _ in fleet]
    plan = plan_cluster(kubernetes_version=version, nodegroups=members, keep=KEEP)

    assert plan.nodegroups == tuple(alone for _, alone in fleet)
    assert [one.to_dict() for one in plan.nodegroups] == [alone.to_dict() for _, alone in fleet]
    backwards = plan_cluster(kubernetes_version=version, nodegroups=members[::-1], keep=KEEP)
    assert backwards.nodegroups == plan.nodegroups[::-1]
    assert {(one.device_type, one.mechanism, one.owner, one.settings) for one in plan.drivers} == {
        (one.device_type, one.mechanism, one.owner, one.settings) for one in backwards.drivers
    }
    assert_a_value(plan)
    assert_drivers(plan)


def assert_a_value(plan: ClusterPlan) -> None:
    assert hash(plan) == hash(copy.deepcopy(plan))
    assert pickle.loads(pickle.dumps(plan)) == plan  # noqa: S301 - our own bytes
    assert copy.deepcopy(plan) == plan
    assert json.loads(plan.to_json()) == plan.to_dict() | {"schema": "eks-devices/plan/v1"}
    assert plan.to_json() == copy.deepcopy(plan).to_json()


def assert_drivers(plan: ClusterPlan) -> None:
    keys = [(one.device_type, one.mechanism, one.owner) for one in plan.drivers]
    assert len(keys) == len(set(keys))
    served = {(key, name) for key, one in zip(keys, plan.drivers, strict=True)
              for name in one.nodegroups}  # fmt: skip
    assert served == {
        ((device.device_type, device.mechanism, device.owner), group.name)
        for group in plan.nodegroups
        for device in group.devices
        if device.owner not in ("host", "external")
    }


def test_a_collection_of_the_caller_can_change_afterwards():
    labels, taints = {"team": "a"}, ["a:NoSchedule"]
    mechanism, external = {GPU: PLUGIN}, {EFA}
    group = spec("g6e.12xlarge", labels=labels, taints=taints, mechanism=mechanism,
                 external=external)  # fmt: skip
    before = plan_nodegroup(group, kubernetes_version="1.35")

    labels["team"] = "b"
    taints.append("b:NoSchedule")
    mechanism[GPU] = DRA
    external.add(GPU)

    assert plan_nodegroup(group, kubernetes_version="1.35") == before


def test_a_plan_cannot_be_changed():
    plan = planned("g6e.12xlarge", mechanism=PLUGIN)

    for change in (
        lambda: plan.labels.update(a="b"),
        lambda: plan.extended_resources.pop("nvidia.com/gpu"),
        lambda: setattr(plan, "name", "b"),
        lambda: setattr(plan.devices[0], "owner", "b"),
    ):
        with pytest.raises((TypeError, AttributeError)):
            change()


@pytest.mark.parametrize(
    ("name", "options", "resources"),
    [
        (
            "trn2.48xlarge",
            {"efa": False},
            {"aws.amazon.com/neuron": 16, "aws.amazon.com/neuroncore": 64},
        ),
        (
            "trn2.48xlarge",
            {"logical_neuron_cores": 1, "efa": False},
            {"aws.amazon.com/neuron": 16, "aws.amazon.com/neuroncore": 128},
        ),
        ("trn1.2xlarge", {}, {"aws.amazon.com/neuron": 1, "aws.amazon.com/neuroncore": 2}),
        ("inf1.24xlarge", {}, {"aws.amazon.com/neuron": 16, "aws.amazon.com/neuroncore": 64}),
        ("inf2.48xlarge", {}, {"aws.amazon.com/neuron": 12, "aws.amazon.com/neuroncore": 24}),
        ("g6e.12xlarge", {}, {"nvidia.com/gpu": 4}),
        ("g6f.large", {}, {"nvidia.com/gpu": 1}),
        (
            "g6e.12xlarge",
            {"gpu_sharing": GpuSharing.time_slicing(replicas=10)},
            {"nvidia.com/gpu": 40},
        ),
        ("g6e.48xlarge", {"efa": 3}, {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 3}),
        ("p5.48xlarge", {}, {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32}),
        ("p6e-gb200.36xlarge", {"efa": 8}, {"nvidia.com/gpu": 4, "vpc.amazonaws.com/efa": 8}),
    ],
)
def test_the_extended_resources_of_a_node(
    name: str, options: dict[str, Any], resources: dict[str, int]
):
    plan = planned(name, mechanism=PLUGIN, **options)

    assert plan.extended_resources == resources


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ({"max_size": 4}, (0, 0, 4)),
        ({"max_size": 4, "min_size": 2}, (2, 2, 4)),
        ({"max_size": 4, "min_size": 1, "desired_size": 3}, (1, 3, 4)),
        ({"max_size": 4, "autoscaled": True}, (0, None, 4)),
        ({"max_size": 4, "autoscaled": True, "min_size": 1}, (1, None, 4)),
    ],
)
def test_the_sizes_of_a_group(options: dict[str, Any], sizes: tuple[int, int | None, int]):
    plan = planned("g6e.12xlarge", **options)

    assert (plan.min_size, plan.desired_size, plan.max_size) == sizes


SETTINGS = "settings.kubelet-device-plugins.nvidia"


@pytest.mark.parametrize(
    ("options", "owner", "settings_of_the_host"),
    [
        ({}, "host", {}),
        ({"mechanism": DRA}, "default", {f"{SETTINGS}.enabled": False}),
        (
            {"mechanism": PLUGIN, "external": {GPU}},
            "external",
            {f"{SETTINGS}.enabled": False},
        ),
        (
            {"gpu_sharing": GpuSharing.time_slicing(replicas=4)},
            "host",
            {
                f"{SETTINGS}.device-sharing-strategy": "time-slicing",
                f"{SETTINGS}.time-slicing.replicas": 4,
                # Without these it would offer nvidia.com/gpu.shared, and one of them to a Pod.
                f"{SETTINGS}.time-slicing.rename-by-default": False,
                f"{SETTINGS}.time-slicing.fail-requests-greater-than-one": False,
            },
        ),
        ({"scope": "team"}, "host", {}),
        ({"scope": "team", "mechanism": DRA}, "team-ca8b67e6", {f"{SETTINGS}.enabled": False}),
    ],
)
def test_the_owner_and_the_host_settings_of_a_gpu_on_bottlerocket(
    options: dict[str, Any], owner: str, settings_of_the_host: dict[str, Any]
):
    plan = planned("g6e.12xlarge", operating_system=BOTTLEROCKET, **options)

    assert plan.devices[0].owner == owner
    assert plan.bottlerocket_settings == settings_of_the_host | {
        "settings.kubernetes.max-pods": 250
    }


def test_owners_depend_on_scope_and_settings():
    sharing = [GpuSharing.mps(replicas=2), GpuSharing.time_slicing(replicas=2)]
    owners = [
        planned("g6e.12xlarge", scope=scope, gpu_sharing=shared).devices[0].owner
        for scope in (None, "x", "y")
        for shared in (None, *sharing, GpuSharing.mps(replicas=3))
    ]

    assert len(set(owners)) == 12
    assert owners[0] == "default"
    assert all(re.fullmatch("default-[0-9a-f]{8}", owner) for owner in owners[1:4])
    assert all(re.fullmatch("x-[0-9a-f]{8}", owner) for owner in owners[4:8])


@pytest.mark.parametrize(
    ("name", "options", "code", "severity"),
    [
        ("p6e-gb200.36xlarge", {}, "UnverifiedInstanceType", Severity.WARNING),
        ("p3.2xlarge", {}, "UnverifiedInstanceType", Severity.WARNING),
        ("f2.48xlarge", {"efa": True}, "UnmanagedAccelerator", Severity.WARNING),
        ("trn2.48xlarge", {"max_pods": 52}, "MaxPodsAboveAddresses", Severity.WARNING),
        ("g7.12xlarge", {}, "AmiDriverGap", Severity.WARNING),
        ("g7.12xlarge", {"operating_system": BOTTLEROCKET}, "AmiDriverGap", Severity.WARNING),
        (
            "g6e.12xlarge",
            {"release_version": "1.35.2-20261003"},
            "ReleaseToAvoid",
            Severity.WARNING,
        ),
        ("g6e.12xlarge", {}, "DraGroupAtZero", Severity.INFO),
        ("g6e.12xlarge", {"min_size": 0, "desired_size": 0}, "DraGroupAtZero", Severity.INFO),
        (
            "g6e.12xlarge",
            {"autoscaled": True, "mechanism": DRA},
            "DraGroupAtZero",
            Severity.WARNING,
        ),
        (
            "g6e.12xlarge",
            {"preemption": True, "mechanism": DRA},
            "DeclaredAgainstDra",
            Severity.WARNING,
        ),
        (
            "g6e.12xlarge",
            {"gpu_driver": GpuDriver(feature_gates={"MPSSupport": True})},
            "GpuMpsDra",
            Severity.WARNING,
        ),
    ],
)
def test_a_plan_tells_what_is_worth_knowing(
    name: str, options: dict[str, Any], code: str, severity: Severity
):
    found = [one for one in planned(name, **options).findings if one.code == code]

    assert [one.severity for one in found] == [severity]
    assert found[0].message
    assert found[0].fix


@pytest.mark.parametrize(
    ("name", "options", "code"),
    [
        ("g6e.12xlarge", {"desired_size": 1}, "DraGroupAtZero"),
        ("g6e.12xlarge", {"mechanism": PLUGIN}, "DraGroupAtZero"),
        ("g6e.12xlarge", {"autoscaled": True, "min_size": 1, "mechanism": DRA}, "DraGroupAtZero"),
        ("g6e.12xlarge", {}, "NodePatchFloor"),
        ("trn2.48xlarge", {"max_pods": 51}, "MaxPodsAboveAddresses"),
        ("p6e-gb200.36xlarge", {"max_pods": 250}, "MaxPodsAboveAddresses"),
        ("g6e.12xlarge", {"release_version": "1.35.2-20261002"}, "ReleaseToAvoid"),
        ("g7e.12xlarge", {}, "AmiDriverGap"),
    ],
)
def test_a_plan_does_not_tell_what_is_not_so(name: str, options: dict[str, Any], code: str):
    assert code not in {one.code for one in planned(name, **options).findings}


def test_the_floor_of_nodes_is_told_on_1_34_unless_a_release_is_pinned():
    pinned = planned("g6e.12xlarge", "1.34", release_version="1.34.2-20261023")
    (told,) = [one for one in planned("g6e.12xlarge", "1.34").findings
               if one.code == "NodePatchFloor"]  # fmt: skip

    assert told.message == (
        "DRA needs nodes of 1.34.2 or later: the kubelet of 1.34.0 and 1.34.1 loses the driver's "
        "registration"
    )
    assert "NodePatchFloor" not in {one.code for one in pinned.findings}


def test_one_finding_for_two_devices_is_told_once():
    plan = planned("p5.48xlarge", mechanism=DRA, shared_devices=True)

    assert [one.path for one in plan.findings if one.code == "DeclaredAgainstDra"] == [
        "nodegroups.a.shared_devices"
    ]


def test_the_plan_of_a_cluster_sorts_its_managers_and_joins_its_findings():
    plan = plan_cluster(
        kubernetes_version="1.34",
        nodegroups=(one for one in [
            spec("g6e.12xlarge", name="gpus", mechanism=PLUGIN, efa=1),
            spec("trn2.48xlarge", name="chips"),
            spec("trn2.3xlarge", name="chip", desired_size=1),
        ]),
        keep={EFA: [DRA, PLUGIN], GPU: (DRA,)},
    )  # fmt: skip

    assert [
        (one.device_type, one.mechanism, one.owner, one.nodegroups) for one in plan.drivers
    ] == [
        ("neuron", "dra", "default", ("chips", "chip")),
        ("gpu", "device-plugin", "default", ("gpus",)),
        ("gpu", "dra", "default", ()),
        ("efa", "device-plugin", "default", ("gpus",)),
        ("efa", "dra", "default", ("chips",)),
    ]
    assert [one.code for one in plan.of_severity(Severity.WARNING)] == []
    assert [one.code for one in plan.findings] == [
        "KubernetesSupportEnds", "VpcCniFloor", "VcpuQuota",
        "MechanismChosen", "MechanismChosen", "VpcCniFloor", "VcpuQuota", "NodePatchFloor",
        "DraGroupAtZero", "MechanismChosen", "VcpuQuota", "NodePatchFloor",
    ]  # fmt: skip


def test_an_empty_cluster_has_a_plan():
    plan = plan_cluster(kubernetes_version="1.37", nodegroups=[])

    assert (plan.nodegroups, plan.drivers) == ((), ())
    assert [one.code for one in plan.findings] == ["KubernetesSupportUnknown"]
