"""The system node group: what the names of types tell, its faults, and what comes of it."""

from __future__ import annotations

import gzip
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from tests.hostile import NUMBER_TOKEN, TOKEN, Hostile, HostileList, HostileMapping, HostileText

from eks_devices.instance_names import no_node_faults, parsed_name
from eks_devices.system_nodes import system_nodegroup_faults, system_nodegroup_plan

# Accelerated by its name, and the recorded answer knows nothing of its chips.
UNTOLD = {"trn2u.48xlarge"}
# Accelerated, and arm64 without a "g": no type of a system node group.
ARM_BY_ANOTHER_NAME = {"p6e-gb200.36xlarge", "p6e-gb300.36xlarge"}
ACCELERATORS = (
    "FpgaInfo",
    "GpuInfo",
    "InferenceAcceleratorInfo",
    "MediaAcceleratorInfo",
    "NeuronInfo",
)


def faults(name: Any = "System", **options: Any) -> list[str]:
    return [
        f"{one.code} {one.path.removeprefix('nodegroups.')}"
        for one in system_nodegroup_faults(name, options)
    ]


def plan(**options: Any) -> Any:
    assert faults(**options) == []
    return system_nodegroup_plan("System", options)  # type: ignore[arg-type]  # judged above


def recorded() -> dict[str, Any]:
    """EC2's answer of DescribeInstanceTypes for all its types, as moto recorded it."""
    spec = importlib.util.find_spec("moto")
    assert spec is not None
    assert spec.origin is not None
    file = Path(spec.origin).parent / "ec2/resources/instance_types.json.gz"
    content: dict[str, Any] = json.loads(gzip.decompress(file.read_bytes()))
    return content


def test_the_name_of_every_type_tells_what_ec2_says_of_it():
    wrong, judged = [], 0
    for name, record in recorded().items():
        parsed = parsed_name(name)
        assert parsed is not None, name
        if list(no_node_faults(parsed, "")) or name in UNTOLD | ARM_BY_ANOTHER_NAME:
            continue
        judged += 1
        architectures = record["ProcessorInfo"]["SupportedArchitectures"]
        accelerated = any(key in record for key in ACCELERATORS)
        if parsed.architecture not in architectures or parsed.is_accelerated != accelerated:
            wrong.append(name)

    assert wrong == []
    assert judged > 1000


@pytest.mark.parametrize(
    ("name", "architecture"),
    [
        ("m7g.large", "arm64"),
        ("c8gn.xlarge", "arm64"),
        ("t4g.medium", "arm64"),
        ("is4gen.medium", "arm64"),
        ("r8gb.metal-48xl", "arm64"),
        ("m7i-flex.large", "x86_64"),
        ("m5.large", "x86_64"),
        ("x2iezn.2xlarge", "x86_64"),
        ("u7i-12tb.224xlarge", "x86_64"),
        ("u-6tb1.56xlarge", "x86_64"),
        ("g6.xlarge", "x86_64"),
        ("g5g.xlarge", "arm64"),
    ],
)
def test_a_g_after_the_generation_is_a_graviton_processor(name: str, architecture: str):
    parsed = parsed_name(name)

    assert parsed is not None
    assert parsed.architecture == architecture


def test_the_defaults_are_two_ordinary_nodes():
    chosen = plan()

    assert (chosen.min_size, chosen.desired_size, chosen.max_size) == (2, 2, 2)
    assert chosen.disk_gib == 50
    assert faults(instance_types=chosen.instance_types) == []


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ({"min_size": 1}, (1, 1, 1)),
        ({"desired_size": 3}, (2, 3, 3)),
        ({"max_size": 5}, (2, 2, 5)),
        ({"min_size": 1, "desired_size": 2, "max_size": 4}, (1, 2, 4)),
        ({"autoscaled": True, "max_size": 9}, (2, None, 9)),
        ({"max_size": None, "desired_size": None}, (2, 2, 2)),
    ],
)
def test_sizes_that_nobody_named_follow_those_that_were(options: Any, sizes: Any):
    chosen = plan(**options)

    assert (chosen.min_size, chosen.desired_size, chosen.max_size) == sizes


def test_labels_of_a_user_stand_beside_the_one_with_the_group_s_name():
    assert plan().labels == {"eks-devices/nodegroup": "System"}
    assert plan(labels={"team": "platform"}).labels == {
        "eks-devices/nodegroup": "System",
        "team": "platform",
    }


def test_a_plan_holds_what_was_given_when_it_was_made():
    labels, tags = {"team": "platform"}, {"cost": "42"}
    chosen = plan(labels=labels, tags=tags, release_version="1.34.4-20261023")
    labels["team"] = tags["cost"] = "changed"

    assert chosen.labels["team"] == "platform"
    assert chosen.tags == {"cost": "42"}
    assert chosen.release_version == "1.34.4-20261023"
    assert hash(chosen) == hash(
        plan(labels={"team": "platform"}, tags={"cost": "42"}, release_version="1.34.4-20261023")
    )


@pytest.mark.parametrize(
    ("types", "ami_type"),
    [
        (["m7i.large", "m6i.large"], "AL2023_x86_64_STANDARD"),
        (("m7g.large", "c8gn.xlarge"), "AL2023_ARM_64_STANDARD"),
    ],
)
def test_the_image_is_of_the_architecture_of_the_types(types: Any, ami_type: str):
    assert plan(instance_types=types).ami_type == ami_type
    assert plan(instance_types=types).instance_types == tuple(types)


TWENTY = [f"m{generation}.{size}" for generation in (5, 6, 7, 8) for size in
          ("large", "xlarge", "2xlarge", "4xlarge", "8xlarge")]  # fmt: skip


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ("m5.large", ["WrongType"]),
        (b"m5.large", ["WrongType"]),
        ({"m5.large"}, ["WrongType"]),
        ({"m5.large": 1}, ["WrongType"]),
        (5, ["WrongType"]),
        (True, ["WrongType"]),
        (TOKEN, ["TokenNotAllowed"]),
        ([], ["WrongType"]),
        (Hostile(), ["WrongType"]),
        (HostileList(["m5.large"]), ["WrongType"]),
        ([5], ["WrongType [0]"]),
        ([Hostile()], ["WrongType [0]"]),
        ([TOKEN], ["TokenNotAllowed [0]"]),
        ([HostileText("m5")], ["UnknownInstanceType [0]"]),
        (["m5"], ["UnknownInstanceType [0]"]),
        (["M5.large"], ["UnknownInstanceType [0]"]),
        (["m5.large\n"], ["UnknownInstanceType [0]"]),
        (["large.m"], ["UnknownInstanceType [0]"]),
        (["m5.large", "m5.large"], ["RepeatedInstanceType [1]"]),
        (["p5.48xlarge"], ["AcceleratedSystemNodes [0]"]),
        (["g6.xlarge"], ["AcceleratedSystemNodes [0]"]),
        (["trn2.48xlarge"], ["AcceleratedSystemNodes [0]"]),
        (["inf2.xlarge"], ["AcceleratedSystemNodes [0]"]),
        (["trn9.48xlarge"], ["AcceleratedSystemNodes [0]"]),
        (["g4ad.xlarge"], ["AcceleratedSystemNodes [0]"]),
        (["dl1.24xlarge"], ["AcceleratedSystemNodes [0]"]),
        (["gr6.4xlarge"], ["AcceleratedSystemNodes [0]"]),
        (["a1.large"], ["NoNodeOnInstanceType [0]"]),
        (["mac2.metal"], ["NoNodeOnInstanceType [0]"]),
        (["mac-m4.metal"], ["NoNodeOnInstanceType [0]"]),
        (["m7g.large", "m7i.large"], ["MixedArchitectures"]),
        (["m7g.large", "p5.48xlarge"], ["AcceleratedSystemNodes [1]", "MixedArchitectures"]),
        (TWENTY, []),
        ([*TWENTY, "c5.large"], ["TooManyInstanceTypes"]),
    ],
)
def test_bad_types_give_exactly_their_faults(types: Any, expected: list[str]):
    prefix = "System.instance_types"

    assert faults(instance_types=types) == [
        f"{code} {prefix}{index}" for code, _, index in (one.partition(" ") for one in expected)
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"min_size": 0}, ["OutOfRange System.min_size"]),
        ({"min_size": None}, ["WrongType System.min_size"]),
        ({"min_size": True}, ["WrongType System.min_size"]),
        ({"min_size": 1.0}, ["WrongType System.min_size"]),
        ({"min_size": NUMBER_TOKEN}, ["TokenNotAllowed System.min_size"]),
        ({"max_size": 0}, ["OutOfRange System.max_size"]),
        ({"max_size": "3"}, ["WrongType System.max_size"]),
        ({"max_size": float("nan")}, ["WrongType System.max_size"]),
        ({"max_size": 10**10}, ["OutOfRange System.max_size"]),
        ({"desired_size": Hostile()}, ["WrongType System.desired_size"]),
        ({"max_size": 1}, ["SizesOutOfOrder System.max_size"]),
        ({"desired_size": 1}, ["SizesOutOfOrder System.desired_size"]),
        ({"desired_size": 4, "max_size": 3}, ["SizesOutOfOrder System.desired_size"]),
        (
            {"autoscaled": True, "desired_size": 3, "max_size": 4},
            ["DesiredSizeWithAutoscaler System.desired_size"],
        ),
        ({"autoscaled": "yes"}, ["WrongType System.autoscaled"]),
        ({"disk_gib": 10}, ["OutOfRange System.disk_gib"]),
        ({"disk_gib": False}, ["WrongType System.disk_gib"]),
        ({"disk_gib": 65_537}, ["OutOfRange System.disk_gib"]),
        ({"disk_gib": 65_536}, []),
        ({"labels": {"eks-devices/gpu": "x"}}, ["OwnLabel System.labels['eks-devices/gpu']"]),
        ({"labels": {"team": "a b"}}, ["MalformedLabelValue System.labels['team']"]),
        ({"labels": None}, ["WrongType System.labels"]),
        ({"labels": Hostile()}, ["WrongType System.labels"]),
        ({"labels": HostileMapping()}, ["WrongType System.labels"]),
        ({"tags": Hostile()}, ["WrongType System.tags"]),
        ({"release_version": Hostile()}, ["WrongType System.release_version"]),
        ({"tags": {"aws:team": "a"}}, ["ReservedTag System.tags[aws:team]"]),
        ({"tags": {"team": "v" * 257}}, ["MalformedTag System.tags[team]"]),
        ({"tags": [("team", "a")]}, ["WrongType System.tags"]),
        ({"tags": dict.fromkeys(map(str, range(49)), "")}, []),
        ({"tags": dict.fromkeys(map(str, range(50)), "")}, ["TooManyTags System.tags"]),
        ({"tags": {"Name": "a", **dict.fromkeys(map(str, range(49)), "")}}, []),
        (
            {"release_version": "1.66.0-0a1b2c3d"},
            ["MalformedReleaseVersion System.release_version"],
        ),
        ({"release_version": TOKEN}, ["TokenNotAllowed System.release_version"]),
        ({"release_version": 1.34}, ["WrongType System.release_version"]),
        ({"max_sise": 3}, ["UnknownOption System.max_sise"]),
        ({"taints": ()}, ["UnknownOption System.taints"]),
        (
            {"min_size": 0, "instance_types": 1, "disk_gib": 1, "x": 1},
            [
                "UnknownOption System.x",
                "WrongType System.instance_types",
                "OutOfRange System.min_size",
                "OutOfRange System.disk_gib",
            ],
        ),
    ],
)
def test_other_options_give_exactly_their_faults(options: Any, expected: list[str]):
    assert faults(**options) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("", ["MalformedName ''.name"]),
        ("a b", ["MalformedName a b.name"]),
        ("x" * 64, [f"MalformedName {'x' * 64}.name"]),
        (5, ["WrongType 5.name"]),
        (TOKEN, [f"TokenNotAllowed {TOKEN}.name"]),
    ],
)
def test_bad_names_are_faults(name: Any, expected: list[str]):
    assert faults(name) == expected


def test_every_fault_says_what_was_given_what_is_allowed_and_what_to_change():
    bad: dict[str, Any] = {"max_size": 1, "desired_size": 1, "autoscaled": True, "maxsize": 1}
    bad["instance_types"] = ["p5.48xlarge", "m7g.large", "m7g.large", "a1.large", "x"]
    found = list(system_nodegroup_faults("a b", bad))

    assert len(found) > 8
    for one in found:
        assert all((one.message, one.got, one.allowed, one.fix)), one


def test_accelerated_types_are_sent_to_add_nodegroup():
    (fault,) = system_nodegroup_faults("System", {"instance_types": ["p5.48xlarge"]})

    assert "add_nodegroup" in fault.fix
