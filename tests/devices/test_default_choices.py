"""The mechanism of every type when nobody names one: a changed row here is a breaking release."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.short_names import AL2023, BOTTLEROCKET, DRA, PLUGIN

from eks_devices import (
    AcceleratedInstanceType,
    Capacity,
    DeviceType,
    EksDevicesError,
    Finding,
    GpuSharing,
    Mechanism,
    NodegroupPlan,
    NodegroupSpec,
    OperatingSystem,
    Severity,
    plan_nodegroup,
)

VERSIONS = ("1.34", "1.35", "1.36", "1.37")
BLOCK = Capacity.block("cr-0123456789abcdef0")

SIZES = {
    "g4dn": "xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge metal",
    "g5": "xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 24xlarge 48xlarge",
    "g5g": "xlarge 2xlarge 4xlarge 8xlarge 16xlarge metal",
    "g6": "xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 24xlarge 48xlarge",
    "g6e": "xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 24xlarge 48xlarge",
    "g6f": "large xlarge 2xlarge 4xlarge",
    "g7": "2xlarge 4xlarge 8xlarge 12xlarge 24xlarge 48xlarge",
    "g7e": "2xlarge 4xlarge 8xlarge 12xlarge 24xlarge 48xlarge",
    "gr6": "4xlarge 8xlarge",
    "gr6f": "4xlarge",
    "inf1": "xlarge 2xlarge 6xlarge 24xlarge",
    "inf2": "xlarge 8xlarge 24xlarge 48xlarge",
    "p3": "2xlarge 8xlarge 16xlarge",
    "p3dn": "24xlarge",
    "p4d": "24xlarge",
    "p4de": "24xlarge",
    "p5": "4xlarge 48xlarge",
    "p5e": "48xlarge",
    "p5en": "48xlarge",
    "p6-b200": "48xlarge",
    "p6-b300": "48xlarge",
    "p6e-gb200": "36xlarge",
    "trn1": "2xlarge 32xlarge",
    "trn1n": "32xlarge",
    "trn2": "3xlarge 48xlarge",
    "trn2u": "48xlarge",
}
TYPES = tuple(f"{family}.{size}" for family in SIZES for size in SIZES[family].split())
# EFA is on by default where a type is made for training over several nodes.
EFA_BY_DEFAULT = {
    "p4d.24xlarge": 4,
    "p4de.24xlarge": 4,
    "p5.4xlarge": 1,
    "p5.48xlarge": 32,
    "p5e.48xlarge": 32,
    "p5en.48xlarge": 16,
    "p6-b200.48xlarge": 8,
    "p6-b300.48xlarge": 16,
    "p6e-gb200.36xlarge": 4,
    "trn1.32xlarge": 8,
    "trn1n.32xlarge": 16,
    "trn2.48xlarge": 16,
    "trn2u.48xlarge": 16,
}
GPU_DRA = {"gpu": "dra"}
GPU_PLUGIN = {"gpu": "device-plugin"}
NEURON_DRA = {"neuron": "dra"}
NEURON_PLUGIN = {"neuron": "device-plugin"}
# Family: the choice on AL2023, the choice on Bottlerocket; None where there is no plan. EFA, where
# a type has it, follows the accelerator.
CHOICES: dict[str, tuple[dict[str, str], dict[str, str] | None]] = {
    "g4dn": (GPU_DRA, GPU_PLUGIN),
    "g5": (GPU_DRA, GPU_PLUGIN),
    "g5g": (GPU_DRA, GPU_PLUGIN),
    "g6": (GPU_DRA, GPU_PLUGIN),
    "g6e": (GPU_DRA, GPU_PLUGIN),
    "g6f": (GPU_DRA, GPU_PLUGIN),
    "g7": (GPU_DRA, GPU_PLUGIN),
    "g7e": (GPU_DRA, GPU_PLUGIN),
    "gr6": (GPU_DRA, GPU_PLUGIN),
    "gr6f": (GPU_DRA, GPU_PLUGIN),
    "inf1": (NEURON_PLUGIN, NEURON_PLUGIN),
    "inf2": (NEURON_PLUGIN, NEURON_PLUGIN),
    "p3": (GPU_DRA, GPU_PLUGIN),
    "p3dn": (GPU_DRA, GPU_PLUGIN),
    "p4d": (GPU_DRA, GPU_PLUGIN),
    "p4de": (GPU_DRA, GPU_PLUGIN),
    "p5": (GPU_DRA, GPU_PLUGIN),
    "p5e": (GPU_DRA, GPU_PLUGIN),
    "p5en": (GPU_DRA, GPU_PLUGIN),
    "p6-b200": (GPU_DRA, GPU_PLUGIN),
    "p6-b300": (GPU_DRA, GPU_PLUGIN),
    "p6e-gb200": ({"gpu": "dra", "compute-domain": "dra"}, None),
    "trn1": (NEURON_DRA, NEURON_PLUGIN),
    "trn1n": (NEURON_DRA, NEURON_PLUGIN),
    "trn2": (NEURON_DRA, NEURON_PLUGIN),
    "trn2u": (NEURON_DRA, NEURON_PLUGIN),
}
GPUS = tuple(name for name in TYPES if "gpu" in CHOICES[name.split(".")[0]][0])
NEURONS = tuple(name for name in TYPES if name not in GPUS)
PLANNED = [
    (name, system)
    for name in TYPES
    for system in (AL2023, BOTTLEROCKET)
    if (name, system) != ("p6e-gb200.36xlarge", BOTTLEROCKET)
]


def spec(name: str, **options: Any) -> NodegroupSpec:
    capacity = BLOCK if name.startswith("p6e") else Capacity.on_demand()
    values: dict[str, Any] = {"name": "a", "max_size": 4, "capacity": capacity}
    return NodegroupSpec(instance_type=name, **(values | options))


def planned(name: str, version: str = "1.35", **options: Any) -> NodegroupPlan:
    return plan_nodegroup(spec(name, **options), kubernetes_version=version)


def mechanisms(plan: NodegroupPlan) -> dict[str, str]:
    return {str(device.device_type): str(device.mechanism) for device in plan.devices}


def expected(name: str, system: OperatingSystem, *, efa: bool) -> dict[str, str]:
    choice = CHOICES[name.partition(".")[0]][0 if system is AL2023 else 1]
    assert choice is not None
    accelerator = next(iter(choice.values()))
    return choice | ({"efa": accelerator} if efa else {})


def test_the_table_names_every_type():
    assert len(TYPES) == 83
    assert sorted(TYPES) == [each.name for each in AcceleratedInstanceType.all()]
    assert set(CHOICES) == set(SIZES)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("family", SIZES)
def test_the_default_choice_of_a_family(family: str, version: str):
    for size in SIZES[family].split():
        name = f"{family}.{size}"
        plan = planned(name, version)

        assert mechanisms(plan) == expected(name, AL2023, efa=name in EFA_BY_DEFAULT)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("family", sorted(SIZES.keys() - {"p6e-gb200"}))
def test_the_default_choice_of_a_family_on_bottlerocket(family: str, version: str):
    for size in SIZES[family].split():
        name = f"{family}.{size}"
        plan = planned(name, version, operating_system=BOTTLEROCKET)

        assert mechanisms(plan) == expected(name, BOTTLEROCKET, efa=name in EFA_BY_DEFAULT)


@pytest.mark.parametrize("name", TYPES)
def test_efa_is_on_by_default_for_training_over_nodes_only(name: str):
    counts = {str(device.device_type): device.count for device in planned(name).devices}

    assert counts.get("efa", 0) == EFA_BY_DEFAULT.get(name, 0)


def test_efa_that_is_asked_for_follows_the_accelerator():
    with_efa = [name for name in TYPES if AcceleratedInstanceType.of(name).max_efa_interfaces]
    for name, system in itertools.product(with_efa, (AL2023, BOTTLEROCKET)):
        if (name, system) in PLANNED:
            plan = planned(name, efa=True, operating_system=system)

            assert mechanisms(plan) == expected(name, system, efa=True)
    assert len(with_efa) == 44


def test_efa_alone_is_drawn_by_dra_on_al2023_and_by_the_plugin_on_bottlerocket():
    types = AcceleratedInstanceType.efa_only()
    for each in types:
        on_al2023 = planned(each.name, efa=True)
        on_bottlerocket = planned(each.name, efa=True, operating_system=BOTTLEROCKET)

        assert mechanisms(on_al2023) == {"efa": "dra"}
        assert mechanisms(on_bottlerocket) == {"efa": "device-plugin"}
    assert len(types) == 260


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("option", ["autoscaled", "preemption", "shared_devices"])
def test_a_declaration_against_dra_gives_the_plugin(option: str, version: str):
    for name in TYPES:
        options: dict[str, Any] = {option: True}
        plan = planned(name, version, **options)

        accelerator, *_ = plan.devices
        assert set(mechanisms(plan).items()) - {("compute-domain", "dra")} == {
            (device, "device-plugin") for device in mechanisms(plan).keys() - {"compute-domain"}
        }
        if not name.startswith("inf"):
            assert accelerator.reason.startswith(f"{option} is declared, and ")


@pytest.mark.parametrize("option", ["autoscaled", "preemption", "shared_devices"])
def test_a_declaration_against_dra_holds_for_efa_alone(option: str):
    options: dict[str, Any] = {option: True}
    plan = planned("c5n.18xlarge", efa=True, **options)

    assert mechanisms(plan) == {"efa": "device-plugin"}


@pytest.mark.parametrize("name", NEURONS)
def test_pods_that_ask_for_cores_give_the_plugin(name: str):
    plan = planned(name, neuron_cores=True)

    assert set(mechanisms(plan).values()) == {"device-plugin"}


@pytest.mark.parametrize(
    "sharing", [GpuSharing.mps(replicas=2), GpuSharing.time_slicing(replicas=8)]
)
def test_shared_gpus_give_the_plugin(sharing: GpuSharing):
    for name in GPUS:
        chosen = mechanisms(planned(name, gpu_sharing=sharing))

        assert chosen.pop("compute-domain", "dra") == "dra"
        assert set(chosen.values()) == {"device-plugin"}


@pytest.mark.parametrize(
    ("name", "options", "reasons"),
    [
        (
            "trn2.48xlarge",
            {},
            [
                (
                    "the vendor ships the Neuron DRA driver for Trn2 on AL2023, and its "
                    "testing names Trn2"
                ),
                (
                    "follows the accelerator, because claims align two device types only when "
                    "both are claims"
                ),
            ],
        ),
        (
            "trn1.2xlarge",
            {},
            [
                (
                    "the vendor's chart lists Trn1 for the Neuron DRA driver, but its "
                    "testing names Trn2 only"
                )
            ],
        ),
        (
            "inf2.xlarge",
            {},
            ["the vendor's chart leaves Inf2 out of the Neuron DRA driver's nodes"],
        ),
        ("inf1.xlarge", {}, ["the Neuron DRA driver does not cover Inf1"]),
        (
            "g6e.12xlarge",
            {},
            [("the EKS guide recommends the NVIDIA DRA driver on AL2023 from Kubernetes 1.34 on")],
        ),
        (
            "g6e.12xlarge",
            {"operating_system": BOTTLEROCKET},
            [
                (
                    "Bottlerocket has the device plugin built in, and DRA there needs "
                    "1.63.0 or later with it off"
                )
            ],
        ),
        (
            "trn2.3xlarge",
            {"operating_system": BOTTLEROCKET},
            ["sources disagree on the Neuron DRA driver under Bottlerocket"],
        ),
        (
            "c5n.18xlarge",
            {"efa": True, "operating_system": BOTTLEROCKET},
            ["on Bottlerocket the EFA DRA driver was not tested under SELinux"],
        ),
        (
            "p6e-gb200.36xlarge",
            {"mechanism": {DeviceType.GPU: PLUGIN}, "efa": False},
            ["named by the node group", "ComputeDomains exist under DRA only"],
        ),
        (
            "g6e.12xlarge",
            {"mechanism": PLUGIN, "efa": 1},
            ["named by the node group", "named by the node group"],
        ),
        (
            "g6e.12xlarge",
            {"autoscaled": True, "preemption": True},
            [
                (
                    "autoscaled is declared, and an empty group publishes no "
                    "ResourceSlices, so Cluster Autoscaler never adds its first node"
                )
            ],
        ),
    ],
)
def test_a_choice_says_its_reason(name: str, options: dict[str, Any], reasons: list[str]):
    assert [device.reason for device in planned(name, **options).devices] == reasons


def test_the_reason_of_every_default_choice_is_a_finding():
    checked = 0
    for (name, system), version in itertools.product(PLANNED, VERSIONS):
        plan = planned(name, version, operating_system=system)
        told = [one for one in plan.findings if one.code == "MechanismChosen"]

        assert told == [
            Finding(
                code="MechanismChosen",
                severity=Severity.INFO,
                path="nodegroups.a.mechanism",
                message=f"{device.device_type} by {device.mechanism}: {device.reason}",
                fix="name the mechanism to keep it across releases",
            )
            for device in plan.devices
            if device.device_type is not DeviceType.COMPUTE_DOMAIN
        ]
        assert all(len(device.reason) > 20 for device in plan.devices)
        checked += len(told)
    assert checked > 660


def test_a_named_mechanism_is_no_finding():
    plan = planned("trn2.48xlarge", mechanism=DRA)

    assert "MechanismChosen" not in {one.code for one in plan.findings}
    assert [device.automatic for device in plan.devices] == [False, False]


@given(
    name=st.sampled_from(TYPES),
    autoscaled=st.booleans(),
    sizes=st.tuples(st.integers(0, 50), st.integers(0, 50), st.integers(1, 50)),
)
def test_sizes_never_change_the_choice(name: str, autoscaled: bool, sizes: tuple[int, int, int]):
    low, middle, high = sorted(sizes)
    desired = None if autoscaled else middle

    sized = planned(name, autoscaled=autoscaled, min_size=low, desired_size=desired, max_size=high)

    assert sized.devices == planned(name, autoscaled=autoscaled).devices


def test_one_named_mechanism_is_honoured_for_every_device_or_refused():
    honoured, refused = 0, 0
    for name, system, version, named, efa in itertools.product(
        TYPES, (AL2023, BOTTLEROCKET), ("1.33", *VERSIONS), (DRA, PLUGIN), (None, True)
    ):
        try:
            plan = planned(name, version, operating_system=system, mechanism=named, efa=efa)
        except EksDevicesError:
            refused += 1
            continue
        got = mechanisms(plan)
        assert got.pop("compute-domain", "dra") == "dra"
        assert set(got.values()) == {str(named)}
        honoured += 1
    assert (honoured, refused) == (2226, 1094)


def test_a_named_mechanism_per_device_is_honoured_or_refused():
    honoured, refused = 0, 0
    for name, system, version, accelerator, efa in itertools.product(
        EFA_BY_DEFAULT, (AL2023, BOTTLEROCKET), ("1.33", *VERSIONS), Mechanism, Mechanism
    ):
        device = DeviceType.GPU if name in GPUS else DeviceType.NEURON
        named = {device: accelerator, DeviceType.EFA: efa}
        try:
            plan = planned(name, version, operating_system=system, mechanism=named)
        except EksDevicesError:
            refused += 1
            continue
        got = {one.device_type: one.mechanism for one in plan.devices}
        assert got.pop(DeviceType.COMPUTE_DOMAIN, DRA) is DRA
        assert got == named
        honoured += 1
    assert (honoured, refused) == (424, 96)


@pytest.mark.parametrize("name", [*TYPES, "c5n.18xlarge"])
def test_there_is_no_default_on_1_33(name: str):
    efa = True if name == "c5n.18xlarge" else None
    with pytest.raises(EksDevicesError) as caught:
        planned(name, "1.33", efa=efa)

    assert "MechanismRequired" in {one.code for one in caught.value.faults}
