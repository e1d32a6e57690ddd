"""A user's own launch template properties: what is refused, what is told, and how they merge."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import botocore.session
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hostile import NUMBER_TOKEN, TOKEN, Hostile, HostileMapping, endless

import eks_devices
from eks_devices import (
    Capacity,
    Finding,
    NodegroupOptions,
    NodegroupSpec,
    OperatingSystem,
    Severity,
)
from eks_devices._data import read_json
from eks_devices.template_overlay import overlaid
from eks_devices.template_overrides import override_faults, override_findings

AT = "nodegroups.a.launch_template_overrides"
BLOCK: dict[str, Any] = {"capacity": Capacity.block("cr-0123456789abcdef0")}
SPOT: dict[str, Any] = {"capacity": Capacity.spot()}
BOTTLEROCKET: dict[str, Any] = {"operating_system": OperatingSystem.BOTTLEROCKET}
HUGE = 10**6000
DATA = Path(eks_devices.__file__).parent / "data"
ROWS = tomllib.loads((DATA / "launch_template.toml").read_text(encoding="utf-8"))


class IResolvable:
    """As `aws_cdk.IResolvable`, which this package knows by its name alone."""

    __jsii_type__ = "aws-cdk-lib.IResolvable"


class Resolvable:
    """What the CDK resolves when it writes the template; nothing else may look inside."""

    # What `jsii.implements(IResolvable)` writes.
    __jsii_type__: ClassVar[str | None] = None
    __jsii_ifaces__: ClassVar[list[type]] = [IResolvable]

    def resolve(self, _: object) -> NoReturn:
        raise AssertionError("a rule read a value that is known at deployment only")

    @property
    def creation_stack(self) -> NoReturn:
        raise AssertionError("a rule read a value that is known at deployment only")


class JsiiProxy:
    """As `jsii._reference_map.InterfaceDynamicProxy`: its class shows no method."""

    def __getattr__(self, name: str) -> Any:
        if name == "resolve":
            return lambda _: None
        raise AttributeError(name)


JsiiProxy.__module__ = "jsii._reference_map"


class JsiiClass(Resolvable):
    """As `aws_cdk.Intrinsic`, a class of jsii's own."""

    __jsii_type__ = "aws-cdk-lib.Intrinsic"
    __jsii_ifaces__: ClassVar[list[type]] = []


class Lookalike(Resolvable):
    """It has the methods, and jsii cannot pass it on."""

    __jsii_ifaces__: ClassVar[list[type]] = []


class OtherInterface(Resolvable):
    """It implements something else."""

    __jsii_ifaces__: ClassVar[list[type]] = [
        type("IAspect", (), {"__jsii_type__": "aws-cdk-lib.IAspect"})
    ]


class WithoutModule:
    """Its class does not say where it is from."""


WithoutModule.__module__ = 5  # type: ignore[assignment]


def spec_of(overrides: Any, **options: Any) -> NodegroupSpec:
    group: dict[str, Any] = {"name": "a", "instance_type": "p5.48xlarge", "max_size": 2}
    return NodegroupSpec(launch_template_overrides=overrides, **(group | options))


def faults(overrides: Any, **options: Any) -> list[Finding]:
    found = list(override_faults(spec_of(overrides, **options)))
    for one in found:
        assert one.severity is Severity.ERROR
        assert one.path.startswith(AT) or one.path == "nodegroups.a.disk_gib"
        assert all((one.message, one.got, one.allowed, one.fix)), one
    return found


def codes(overrides: Any, **options: Any) -> list[str]:
    return [one.code for one in faults(overrides, **options)]


def fault_of(overrides: Any, **options: Any) -> Finding:
    (found,) = faults(overrides, **options)
    return found


def told(overrides: Any, **options: Any) -> list[str]:
    assert faults(overrides, **options) == []
    found = list(override_findings(spec_of(overrides, **options)))
    assert all(one.severity is Severity.WARNING and one.fix and one.source for one in found)
    return [one.code for one in found]


def disk(device: str = "/dev/xvda", /, **ebs: Any) -> dict[str, Any]:
    return {"BlockDeviceMappings": [{"DeviceName": device, "Ebs": ebs}]}


def device(device: str = "/dev/xvda", /, **properties: Any) -> dict[str, Any]:
    return {"BlockDeviceMappings": [{"DeviceName": device, **properties}]}


# What a user might write, for which group, a word of the reason, and the option to use instead.
FORBIDDEN: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "IamInstanceProfile": ({"IamInstanceProfile": {"Name": "mine"}}, {}, "role of the node", ""),
    "InstanceInitiatedShutdownBehavior": (
        {"InstanceInitiatedShutdownBehavior": "stop"}, {}, "EKS alone decides", "",
    ),
    "HibernationOptions": ({"HibernationOptions": {"Configured": True}}, {}, "EKS alone", ""),
    "DisableApiTermination": ({"DisableApiTermination": True}, {}, "EKS ends instances", ""),
    "MetadataOptions.InstanceMetadataTags": (
        {"MetadataOptions": {"InstanceMetadataTags": "enabled"}}, {}, "slash", "",
    ),
    "MetadataOptions.HttpEndpoint": (
        {"MetadataOptions": {"HttpEndpoint": "disabled"}}, {}, "cannot join", "",
    ),
    "InstanceType": ({"InstanceType": "p5.48xlarge"}, {}, "EFA layout", "instance_type"),
    "InstanceRequirements": (
        {"InstanceRequirements": {"VCpuCount": {"Min": 1}}}, {}, "no plan knows",
        "alternative_instance_types",
    ),
    "ImageId": ({"ImageId": "ami-0123456789abcdef0"}, {}, "AMI type", "ami_id"),
    "UserData": ({"UserData": TOKEN}, {}, "replace the settings", "user_data"),
    "InstanceMarketOptions": (
        {"InstanceMarketOptions": {"MarketType": "spot"}}, {}, "capacity type", "capacity",
    ),
    "CapacityReservationSpecification": (
        {"CapacityReservationSpecification": {"CapacityReservationPreference": "none"}}, {},
        "capacity type", "capacity",
    ),
    "NetworkInterfaces": (
        {"NetworkInterfaces": [{"SubnetId": "subnet-0"}]}, {}, "SubnetId", "efa",
    ),
    "SecurityGroupIds": ({"SecurityGroupIds": ["sg-0"]}, {}, "cluster's group", ""),
    "SecurityGroups": ({"SecurityGroups": ["mine"]}, {}, "cluster's group", ""),
    "Placement.GroupName": (
        {"Placement": {"GroupName": "mine"}}, {}, "placement group", "placement_group",
    ),
    "Placement.GroupId": (
        {"Placement": {"GroupId": "pg-0"}}, {}, "placement group", "placement_group",
    ),
    "Placement.AvailabilityZone": (
        {"Placement": {"AvailabilityZone": "us-east-1a"}}, {}, "subnets", "",
    ),
    "Placement.PartitionNumber no-named-group": (
        {"Placement": {"PartitionNumber": 3}}, {}, "strategy cluster", "placement_group",
    ),
    "BlockDeviceMappings[].Ebs.VolumeSize plan-disk": (
        disk(VolumeSize=500), {}, "plan has the size", "disk_gib",
    ),
    "BlockDeviceMappings[].NoDevice plan-disk": (
        device("/dev/xvdb", NoDevice=""), BOTTLEROCKET, "Pods' files", "instance_store",
    ),
    "BlockDeviceMappings[].VirtualName plan-disk": (
        device(VirtualName="ephemeral0"), {}, "Pods' files", "instance_store",
    ),
    "BlockDeviceMappings[].NoDevice root-disk": (
        device(NoDevice=""), BOTTLEROCKET, "boot from", "",
    ),
    "BlockDeviceMappings[].VirtualName root-disk": (
        device(VirtualName="ephemeral0"), BOTTLEROCKET, "boot from", "",
    ),
    "BlockDeviceMappings[].Ebs.SnapshotId root-disk": (
        disk(SnapshotId="snap-0"), {}, "boot from", "ami_id",
    ),
    "Placement.Tenancy capacity-block": (
        {"Placement": {"Tenancy": "dedicated"}}, BLOCK, "default tenancy", "",
    ),
    "Placement.HostId capacity-block": (
        {"Placement": {"HostId": "h-0"}}, BLOCK, "default tenancy", "",
    ),
    "Placement.HostResourceGroupArn capacity-block": (
        {"Placement": {"HostResourceGroupArn": "arn:x"}}, BLOCK, "default tenancy", "",
    ),
    "Placement.Affinity capacity-block": (
        {"Placement": {"Affinity": "host"}}, BLOCK, "default tenancy", "",
    ),
    "Placement.Tenancy spot": ({"Placement": {"Tenancy": "host"}}, SPOT, "spot", "capacity"),
    "Placement.HostId spot": ({"Placement": {"HostId": "h-0"}}, SPOT, "spot", "capacity"),
    "Placement.HostResourceGroupArn spot": (
        {"Placement": {"HostResourceGroupArn": "arn:x"}}, SPOT, "spot", "capacity",
    ),
    "Placement.Affinity spot": ({"Placement": {"Affinity": "host"}}, SPOT, "spot", "capacity"),
    "Placement.SpreadDomain": ({"Placement": {"SpreadDomain": "x"}}, {}, "later", ""),
    "CpuOptions bare-metal": (
        {"CpuOptions": {"CoreCount": 8, "ThreadsPerCore": 1}}, {"instance_type": "g4dn.metal"},
        "bare metal", "",
    ),
    "TagSpecifications[].ResourceType not-spot": (
        {"TagSpecifications": [{"ResourceType": "spot-instances-request"}]}, {},
        "spot request", "capacity",
    ),
    "KernelId": ({"KernelId": "aki-0"}, {}, "kernel of their image", "ami_id"),
    "RamDiskId": ({"RamDiskId": "ari-0"}, {}, "kernel of their image", "ami_id"),
    "ElasticGpuSpecifications": (
        {"ElasticGpuSpecifications": [{"Type": "eg1.medium"}]}, {}, "ended", "",
    ),
    "ElasticInferenceAccelerators": (
        {"ElasticInferenceAccelerators": [{"Type": "eia1.medium"}]}, {}, "ended", "",
    ),
    "CreditSpecification": ({"CreditSpecification": {"CpuCredits": "standard"}}, {}, "only T", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_field_that_is_not_the_user_s_to_set_is_refused_by_name_and_reason(name: str):
    overrides, options, reason, instead = FORBIDDEN[name]
    field = name.partition(" ")[0].replace("[]", "")

    found = fault_of(overrides, **options)

    assert found.code == "ForbiddenTemplateField"
    assert found.message.startswith(f"{field}: ")
    assert reason in found.message
    assert found.path.endswith(f".{field.rpartition('.')[2]}")
    assert found.source.startswith("https://")
    assert instead in found.fix
    assert not instead or instead in NodegroupOptions.__annotations__


def test_every_refusal_is_tried():
    refusals = [
        f"{field} {row['when']}" if "when" in row else field
        for row in ROWS["forbidden"]
        for field in row["fields"]
    ]

    assert sorted(FORBIDDEN) == sorted(refusals)


def test_a_refused_field_is_refused_in_any_spelling_and_whatever_it_holds():
    for key in ("ImageId", "imageId", "image_id"):
        for value in ("ami-0", TOKEN, Resolvable(), None, 5, {"Ref": "Image"}, Hostile()):
            assert codes({key: value}) == ["ForbiddenTemplateField"]


@pytest.mark.parametrize(
    ("overrides", "options"),
    [
        ({"Placement": {"Tenancy": "dedicated"}}, {}),
        ({"Placement": {"Tenancy": "dedicated"}}, SPOT),
        ({"Placement": {"Tenancy": "default"}}, BLOCK),
        ({"Placement": {"PartitionNumber": 3}}, {"placement_group": "racks"}),
        ({"CpuOptions": {"AmdSevSnp": "disabled"}}, {}),
        ({"Placement": {"Tenancy": "host", "HostResourceGroupArn": "arn:x"}}, {}),
        ({"MetadataOptions": {"HttpEndpoint": "enabled", "InstanceMetadataTags": "disabled"}}, {}),
        ({"TagSpecifications": [{"ResourceType": "spot-instances-request"}]}, SPOT),
        (disk("/dev/xvdf", VolumeSize=500, VolumeType="gp3"), {}),
        (disk("/dev/xvda", VolumeSize=8), BOTTLEROCKET),
        # Images that were pulled before: Bottlerocket's own way to start fast.
        (disk("/dev/xvdb", SnapshotId="snap-0"), BOTTLEROCKET),
        (device("/dev/xvdf", NoDevice=""), {}),
    ],
)
def test_a_condition_refuses_nothing_beyond_it(overrides: Any, options: Any):
    assert faults(overrides, **options) == []


@pytest.mark.parametrize(
    ("overrides", "path", "fix"),
    [
        (
            {"MetadataOptions": {"HttpPutResponseHopLimt": 2}},
            "MetadataOptions.HttpPutResponseHopLimt",
            "did you mean HttpPutResponseHopLimit?",
        ),
        ({"metadataOptions": {}}, "metadataOptions", "write MetadataOptions"),
        ({"Monitoring": {"enabled": True}}, "Monitoring.enabled", "write Enabled"),
        (
            {"MetadataOptions": {"http_tokens": "required"}},
            "MetadataOptions.http_tokens",
            "write HttpTokens",
        ),
        ({"HttpTokens": "required"}, "HttpTokens", "did you mean MetadataOptions.HttpTokens?"),
        ({"Throughput": 1}, "Throughput", "did you mean BlockDeviceMappings[].Ebs.Throughput?"),
        (
            disk(Troughput=500),
            "BlockDeviceMappings[0].Ebs.Troughput",
            "did you mean Throughput?",
        ),
        (
            {
                "TagSpecifications": [
                    {"ResourceType": "volume", "Tags": [{"Key": "a", "Value": "", "Val": "b"}]}
                ]
            },
            "TagSpecifications[0].Tags[0].Val",
            "did you mean Value?",
        ),
        ({"LaunchTemplateData": {}}, "LaunchTemplateData", "construct's launch_template"),
        ({"": 1}, "''", "leave it out"),
        ({5: 1}, "5", "leave it out"),
        ({b"KeyName": "x"}, "b'KeyName'", "did you mean KeyName?"),
    ],
)
def test_an_unknown_field_is_named_with_what_was_meant(overrides: Any, path: str, fix: str):
    found = fault_of(overrides)

    assert (found.code, found.path) == ("UnknownTemplateField", f"{AT}.{path}")
    assert fix in found.fix


def test_an_unknown_field_is_shown_no_field_that_would_be_refused():
    allowed = fault_of({"Foo": 1}).allowed.split(", ")

    assert {"KeyName", "MetadataOptions", "BlockDeviceMappings"} <= set(allowed)
    assert not {"ImageId", "UserData", "NetworkInterfaces", "KernelId"} & set(allowed)


def test_faults_below_a_misspelt_table_are_told_too():
    found = faults({"metadata_options": {"http_endpoint": "disabled", "http_tokens": "on"}})

    assert [one.code for one in found] == [
        "UnknownTemplateField",
        "ForbiddenTemplateField",
        "UnknownTemplateField",
        "UnknownTemplateValue",
    ]


@pytest.mark.parametrize(
    ("overrides", "path"),
    [
        ({"Monitoring": True}, "Monitoring"),
        ({"Monitoring": [{"Enabled": True}]}, "Monitoring"),
        ({"Monitoring": Resolvable()}, "Monitoring"),
        ({"KeyName": {"Name": "ops"}}, "KeyName"),
        ({"KeyName": ["ops"]}, "KeyName"),
        ({"KeyName": b"ops"}, "KeyName"),
        ({"KeyName": None}, "KeyName"),
        ({"KeyName": Path("ops")}, "KeyName"),
        ({"KeyName": Hostile()}, "KeyName"),
        ({"KeyName": Lookalike()}, "KeyName"),
        ({"KeyName": OtherInterface()}, "KeyName"),
        ({"KeyName": WithoutModule()}, "KeyName"),
        ({"KeyName": float("nan")}, "KeyName"),
        ({"EbsOptimized": "true"}, "EbsOptimized"),
        ({"EbsOptimized": 1}, "EbsOptimized"),
        ({"CpuOptions": {"CoreCount": True, "ThreadsPerCore": 1}}, "CpuOptions.CoreCount"),
        ({"CpuOptions": {"CoreCount": "8", "ThreadsPerCore": 1}}, "CpuOptions.CoreCount"),
        ({"CpuOptions": {"CoreCount": 8.0, "ThreadsPerCore": 1}}, "CpuOptions.CoreCount"),
        ({"CpuOptions": {"CoreCount": float("nan"), "ThreadsPerCore": 1}}, "CpuOptions.CoreCount"),
        ({"CpuOptions": {"CoreCount": float("inf"), "ThreadsPerCore": 1}}, "CpuOptions.CoreCount"),
        ({"LicenseSpecifications": {"LicenseConfigurationArn": "x"}}, "LicenseSpecifications"),
        ({"LicenseSpecifications": "x"}, "LicenseSpecifications"),
        ({"LicenseSpecifications": Resolvable()}, "LicenseSpecifications"),
        ({"LicenseSpecifications": ["x"]}, "LicenseSpecifications[0]"),
        ({"BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": 5}]},
         "BlockDeviceMappings[0].Ebs"),
    ],
)  # fmt: skip
def test_a_value_of_a_wrong_type_is_named(overrides: Any, path: str):
    found = fault_of(overrides)

    assert (found.code, found.path) == ("WrongType", f"{AT}.{path}")


@pytest.mark.parametrize(
    "whole", [5, "KeyName", b"x", ["KeyName"], None, TOKEN, Hostile(), HostileMapping()]
)
def test_the_whole_must_be_a_mapping(whole: Any):
    found = fault_of(whole)

    assert found.code in {"WrongType", "TokenNotAllowed"}
    assert found.path == AT
    assert list(override_findings(spec_of(whole))) == []


def test_a_mapping_that_holds_itself_is_a_fault():
    circle: dict[str, Any] = {}
    circle["Monitoring"] = circle

    assert "without cycles" in fault_of(circle).allowed
    assert "without cycles" in fault_of(endless()).allowed


def test_a_token_stands_where_no_rule_has_to_read():
    assert codes({"Monitoring": TOKEN, "LicenseSpecifications": [TOKEN]}) == 2 * ["TokenNotAllowed"]
    assert codes(device(TOKEN)) == ["TokenNotAllowed"]
    assert codes({"BlockDeviceMappings": [{"DeviceName": Resolvable()}]}) == ["WrongType"]


@pytest.mark.parametrize("value", [TOKEN, NUMBER_TOKEN, Resolvable(), JsiiProxy(), JsiiClass()])
def test_a_leaf_may_be_known_at_deployment_only(value: Any):
    overrides = {
        "KeyName": value,
        "EbsOptimized": value,
        "MetadataOptions": {"HttpPutResponseHopLimit": value, "HttpTokens": value},
        "Placement": {"Tenancy": value},
        "TagSpecifications": [{"ResourceType": "volume", "Tags": [{"Key": "a", "Value": value}]}],
        **disk(Throughput=value, Iops=value, VolumeType=value, Encrypted=value),
    }

    assert told(overrides, **BLOCK) == []


@pytest.mark.parametrize(
    "function",
    [
        {"Ref": "Parameter"},
        {"Ref": float("nan")},
        {"Ref": Hostile()},
        {"Fn::If": ["Condition", Hostile(), 1]},
        {"Fn::GetAtt": "Resource"},
        {"Fn::Nonsense": [1]},
        {"Fn::Transform": {}},
    ],
)
def test_a_function_of_cloudformation_comes_as_a_token_wherever_it_stands(function: Any):
    places: dict[str, dict[str, Any]] = {
        "": function,
        ".KeyName": {"KeyName": function},
        ".EbsOptimized": {"EbsOptimized": function},
        ".Monitoring": {"Monitoring": function},
        ".LicenseSpecifications": {"LicenseSpecifications": function},
        ".LicenseSpecifications[0]": {"LicenseSpecifications": [function]},
        ".MetadataOptions.HttpPutResponseHopLimit": {
            "MetadataOptions": {"HttpPutResponseHopLimit": function}
        },
        ".BlockDeviceMappings[0].Ebs.Iops": disk(Iops=function),
    }

    for place, overrides in places.items():
        found = fault_of(overrides)
        assert (found.code, found.path) == ("FunctionAsMapping", f"{AT}{place}")
        assert "token" in found.fix


@pytest.mark.parametrize(
    ("overrides", "code"),
    [
        ({"MetadataOptions": {"HttpTokens": "Required"}}, "UnknownTemplateValue"),
        ({"MetadataOptions": {"HttpTokens": ""}}, "UnknownTemplateValue"),
        ({"MetadataOptions": {"HttpPutResponseHopLimit": 0}}, "OutOfRange"),
        ({"MetadataOptions": {"HttpPutResponseHopLimit": 65}}, "OutOfRange"),
        ({"MetadataOptions": {"HttpPutResponseHopLimit": HUGE}}, "OutOfRange"),
        ({"Placement": {"Tenancy": "shared"}}, "UnknownTemplateValue"),
        ({"CpuOptions": {"CoreCount": 8, "ThreadsPerCore": 4}}, "OutOfRange"),
        ({"CpuOptions": {"CoreCount": HUGE, "ThreadsPerCore": 1}}, "OutOfRange"),
        (disk(VolumeInitializationRate=HUGE), "OutOfRange"),
        (disk(Iops=-1), "OutOfRange"),
        ({"TagSpecifications": [{"ResourceType": "snapshot"}]}, "UnknownTemplateValue"),
        (disk(VolumeType="gp4"), "UnknownTemplateValue"),
    ],
)
def test_a_value_that_ec2_does_not_take_is_a_fault(overrides: Any, code: str):
    assert codes(overrides) == [code]


def test_a_number_that_nothing_narrower_bounds_has_the_size_of_ec2_s():
    named = {"placement_group": "racks"}

    for number in (-1, 2**31, HUGE):
        assert codes({"Placement": {"PartitionNumber": number}}, **named) == ["OutOfRange"]
    assert codes({"Placement": {"PartitionNumber": 7}}, **named) == []


SMALLER: dict[str, Any] = {
    "instance_type": "g6.4xlarge",
    "alternative_instance_types": ["g6.xlarge"],
}


@pytest.mark.parametrize(
    ("cores", "threads", "options", "most"),
    [
        (0, 1, {}, 192),
        (193, 1, {}, 192),
        (97, 2, {}, 96),
        (193, TOKEN, {}, 192),
        (3, 2, SMALLER, 2),
    ],
)
def test_nodes_have_no_more_cores_than_their_types(
    cores: int, threads: Any, options: Any, most: int
):
    found = fault_of({"CpuOptions": {"CoreCount": cores, "ThreadsPerCore": threads}}, **options)

    assert (found.code, found.path) == ("OutOfRange", f"{AT}.CpuOptions.CoreCount")
    assert found.allowed == f"a whole number from 1 to {most}"


@pytest.mark.parametrize(
    ("cores", "threads", "options"),
    [(192, 1, {}), (96, 2, {}), (TOKEN, 2, {}), (2, 2, SMALLER),
     (4000, 1, {"instance_type": "unknown.large"})],
)  # fmt: skip
def test_nodes_may_have_as_many_cores_as_their_types(cores: Any, threads: int, options: Any):
    assert codes({"CpuOptions": {"CoreCount": cores, "ThreadsPerCore": threads}}, **options) == []


@pytest.mark.parametrize("name", ["CoreCount", "ThreadsPerCore"])
def test_cores_and_their_threads_come_together(name: str):
    (missing,) = {"CoreCount", "ThreadsPerCore"} - {name}

    found = fault_of({"CpuOptions": {name: 2}})

    assert (found.code, found.fix) == ("MissingTemplateField", f"add {missing}")


@pytest.mark.parametrize(
    ("properties", "step", "needed"),
    [
        ({}, "", "Ebs or NoDevice or VirtualName"),
        ({"Ebs": {}}, ".Ebs", "VolumeSize or SnapshotId"),
        ({"Ebs": {"VolumeType": "gp3", "Encrypted": True}}, ".Ebs", "VolumeSize or SnapshotId"),
    ],
)
def test_a_device_that_is_added_says_what_it_is(properties: Any, step: str, needed: str):
    found = fault_of(device("/dev/xvdf", **properties))

    assert (found.code, found.path) == (
        "MissingTemplateField", f"{AT}.BlockDeviceMappings[0]{step}"
    )  # fmt: skip
    assert needed in found.allowed
    # An image of one's own may have the device, and the plan has its disk.
    assert codes(device("/dev/xvdf", **properties), ami_id="ami-0123456789abcdef0") == []
    assert codes(device("/dev/xvda", **properties)) == []


def test_a_device_has_a_name():
    found = fault_of(device("", Ebs={"VolumeSize": 10}))

    assert (found.code, found.path) == ("MissingTemplateField", f"{AT}.BlockDeviceMappings[0]")


def test_a_tag_has_a_value():
    found = fault_of({"TagSpecifications": [{"ResourceType": "volume", "Tags": [{"Key": "a"}]}]})

    assert (found.code, found.path) == (
        "MissingTemplateField", f"{AT}.TagSpecifications[0].Tags[0]"
    )  # fmt: skip


def tagged(kind: str, *keys: str) -> dict[str, Any]:
    tags = [{"Key": key, "Value": ""} for key in keys]
    return {"TagSpecifications": [{"ResourceType": kind, "Tags": tags}]}


def numbered(count: int, letter: str) -> list[str]:
    return [f"{letter}{number}" for number in range(count)]


@pytest.mark.parametrize("kind", ["instance", "volume"])
def test_tags_of_the_plan_and_of_the_template_are_counted_together(kind: str):
    tags = dict.fromkeys(numbered(30, "a"), "")

    found = fault_of(tagged(kind, *numbered(20, "b")), tags=tags)

    assert (found.code, found.path) == ("TooManyTags", f"{AT}.TagSpecifications[0]")
    assert (found.got, found.allowed[:10]) == ("51", "50 at most")
    assert codes(tagged(kind, *numbered(19, "b")), tags=tags) == []
    # Keys of both are one tag, and so is the name.
    assert codes(tagged(kind, "Name", "a0", *numbered(19, "b")), tags=tags) == []


def test_network_interfaces_have_the_tags_of_the_template_alone():
    tags = dict.fromkeys(numbered(49, "a"), "")

    assert codes(tagged("network-interface", *numbered(50, "b")), tags=tags) == []
    assert codes(tagged("network-interface", *numbered(51, "b")), tags=tags) == ["TooManyTags"]


@pytest.mark.parametrize(
    ("overrides", "code"),
    [
        ({"BlockDeviceMappings": [{"Ebs": {"Iops": 4000, "VolumeType": "gp3"}}]},
         "MissingTemplateField"),
        ({"TagSpecifications": [{"Tags": []}]}, "MissingTemplateField"),
        ({"TagSpecifications": [{"ResourceType": "volume", "Tags": [{"Value": "x"}]}]},
         "MissingTemplateField"),
        ({"BlockDeviceMappings": [{"device_name": "/dev/xvdf"}]}, "UnknownTemplateField"),
        ({"BlockDeviceMappings": 2 * [{"DeviceName": "/dev/xvdf", "NoDevice": ""}]},
         "RepeatedTemplateEntry"),
        ({"TagSpecifications": 2 * [{"ResourceType": "volume"}]}, "RepeatedTemplateEntry"),
        ({"TagSpecifications": [
            {"ResourceType": "volume", "Tags": 2 * [{"Key": "a", "Value": "b"}]}
        ]}, "RepeatedTemplateEntry"),
        ({"TagSpecifications": [
            {"ResourceType": "volume", "Tags": [{"Key": "AWS:x", "Value": "b"}]}
        ]}, "ReservedTag"),
        ({"TagSpecifications": [{"ResourceType": "volume", "Tags": [{"Key": "", "Value": "b"}]}]},
         "MalformedTag"),
    ],
)  # fmt: skip
def test_entries_that_merge_by_name_have_one_name_each(overrides: Any, code: str):
    assert codes(overrides) == [code]


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ({"Key": "k" * 128, "Value": "v" * 256}, []),
        ({"Key": "k" * 129, "Value": ""}, [("MalformedTag", "Key")]),
        ({"Key": "a", "Value": "v" * 257}, [("MalformedTag", "Value")]),
        ({"Key": "a", "Value": TOKEN + "v" * 257}, []),
        ({"Key": "a", "Value": 5}, [("WrongType", "Value")]),
        ({"Key": "aws:a", "Value": "v" * 257}, [("ReservedTag", "Key"), ("MalformedTag", "Value")]),
        ({"Key": TOKEN, "Value": "b"}, [("TokenNotAllowed", "Key")]),
    ],
)
def test_a_tag_is_judged_as_one_of_the_option_for_tags(tag: Any, expected: Any):
    found = faults({"TagSpecifications": [{"ResourceType": "volume", "Tags": [tag]}]})

    at = f"{AT}.TagSpecifications[0].Tags[0]"
    assert [(one.code, one.path) for one in found] == [
        (code, f"{at}.{step}") for code, step in expected
    ]


@pytest.mark.parametrize(
    ("ebs", "code", "step"),
    [
        ({"Throughput": 1000}, "TooMuchThroughputForIops", "Throughput"),
        ({"Throughput": 1000, "Iops": 3999}, "TooMuchThroughputForIops", "Throughput"),
        ({"Throughput": 2001, "Iops": 9000}, "OutOfRange", "Throughput"),
        ({"Throughput": HUGE}, "OutOfRange", "Throughput"),
        ({"Iops": 2999}, "OutOfRange", "Iops"),
        ({"Iops": HUGE}, "OutOfRange", "Iops"),
        ({"VolumeType": "gp2", "Throughput": 200}, "VolumeTypeTakesNone", "Throughput"),
        ({"VolumeType": "gp2", "Iops": TOKEN}, "VolumeTypeTakesNone", "Iops"),
        ({"VolumeType": "io2"}, "MissingTemplateField", "Iops"),
        ({"VolumeType": "io1", "Iops": 10_001}, "TooManyIopsForSize", "Iops"),
        ({"VolumeType": "st1"}, "NoBootVolume", "VolumeType"),
        ({"KmsKeyId": "alias/mine", "Encrypted": False}, "KeyWithoutEncryption", "KmsKeyId"),
    ],
)
def test_a_disk_that_ebs_would_refuse_is_a_fault(ebs: Any, code: str, step: str):
    found = fault_of(disk(**ebs))

    assert (found.code, found.path) == (code, f"{AT}.BlockDeviceMappings[0].Ebs.{step}")


def test_the_fix_of_too_much_throughput_is_enough():
    found = fault_of(disk(Throughput=1000))

    assert "Iops: 4000" in found.fix
    assert faults(disk(Throughput=1000, Iops=4000)) == []


def test_the_size_of_the_plan_s_disk_counts():
    fast = disk(Iops=40_000)

    assert codes(fast, disk_gib=79) == ["TooManyIopsForSize"]
    assert codes(fast, disk_gib=80) == []


def test_a_disk_too_large_for_its_type_points_at_its_size():
    found = fault_of(disk("/dev/xvdb", VolumeType="st1"), disk_gib=100, **BOTTLEROCKET)

    assert (found.code, found.path) == ("OutOfRange", "nodegroups.a.disk_gib")


def test_another_volume_is_judged_by_what_the_user_gives():
    assert codes(disk("/dev/xvdf", VolumeSize=10, Throughput=300)) == ["VolumeTypeTakesNone"]
    assert codes(disk("/dev/xvdf", VolumeSize=10, VolumeType="gp3", Iops=5001)) == [
        "TooManyIopsForSize"
    ]
    assert codes(disk("/dev/xvdf", VolumeSize=HUGE, VolumeType="gp3")) == ["OutOfRange"]
    assert codes(disk("/dev/xvdf", VolumeSize=10, KmsKeyId="x")) == ["KeyWithoutEncryption"]


@pytest.mark.parametrize("wrong", [Hostile(), 5, "al2023", None, TOKEN])
def test_other_options_of_a_wrong_type_never_crash_the_rules(wrong: Any):
    overrides = {"Placement": {"Tenancy": "default"}, **disk(Iops=4000)}

    for option in ("operating_system", "capacity", "disk_gib"):
        list(override_faults(spec_of(overrides, **{option: wrong})))
        list(override_findings(spec_of(overrides, **{option: wrong})))


@pytest.mark.parametrize(
    ("overrides", "code"),
    [
        ({"MetadataOptions": {"HttpPutResponseHopLimit": 2}}, "PodsReachNodeRole"),
        ({"MetadataOptions": {"HttpTokens": "optional"}}, "InstanceMetadataV1"),
        (disk(Encrypted=False), "VolumeNotEncrypted"),
        (disk(DeleteOnTermination=False), "VolumesOutliveNodes"),
        (disk(KmsKeyId="alias/mine"), "KeyForAutoScaling"),
        (disk(KmsKeyId=TOKEN), "KeyForAutoScaling"),
        (disk("/dev/xvdf", VolumeSize=10), "VolumeNotEncrypted"),
        (disk("/dev/xvdf", VolumeSize=10, Encrypted=False), "VolumeNotEncrypted"),
    ],
)
def test_what_ec2_accepts_and_a_user_should_know_is_told(overrides: Any, code: str):
    assert told(overrides) == [code]


def test_nothing_is_told_of_what_is_as_the_plan_has_it():
    metadata = {"HttpPutResponseHopLimit": 1, "HttpTokens": "required"}

    assert told({"MetadataOptions": metadata, **disk(Encrypted=True)}) == []
    assert told(disk("/dev/xvdf", VolumeSize=10, Encrypted=True)) == []
    assert told(disk("/dev/xvdf", SnapshotId="snap-0")) == []
    assert told(disk("/dev/xvda", VolumeType="gp3"), **BOTTLEROCKET) == []
    assert told({}) == []


# Merging

PLAN: dict[str, Any] = {
    "InstanceType": "p5.48xlarge",
    "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 1},
    "BlockDeviceMappings": [
        {"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 200, "VolumeType": "gp3"}}
    ],
    "TagSpecifications": [
        {"ResourceType": kind, "Tags": [{"Key": "Name", "Value": "a"}]}
        for kind in ("instance", "volume")
    ],
    "LicenseSpecifications": [{"LicenseConfigurationArn": "old"}],
}


def laid_over(overrides: dict[str, Any]) -> dict[str, Any]:
    before = copy.deepcopy(PLAN)
    result = overlaid(PLAN, spec_of(overrides).launch_template_overrides)
    assert before == PLAN
    return result


def test_tables_merge_by_key():
    result = laid_over({"MetadataOptions": {"HttpPutResponseHopLimit": 2}, "KeyName": "ops"})

    assert result["MetadataOptions"] == {"HttpTokens": "required", "HttpPutResponseHopLimit": 2}
    assert result == PLAN | {"KeyName": "ops", "MetadataOptions": result["MetadataOptions"]}


def test_block_devices_merge_by_name_and_new_ones_follow():
    result = laid_over(
        {
            "BlockDeviceMappings": [
                {"DeviceName": "/dev/xvdf", "Ebs": {"VolumeSize": 50}},
                {"DeviceName": "/dev/xvda", "Ebs": {"Throughput": 500}},
            ]
        }
    )

    assert result["BlockDeviceMappings"] == [
        {
            "DeviceName": "/dev/xvda",
            "Ebs": {"VolumeSize": 200, "VolumeType": "gp3", "Throughput": 500},
        },
        {"DeviceName": "/dev/xvdf", "Ebs": {"VolumeSize": 50}},
    ]


def test_tags_merge_by_resource_and_key():
    result = laid_over(
        {
            "TagSpecifications": [
                {
                    "ResourceType": "volume",
                    "Tags": [{"Key": "team", "Value": "ml"}, {"Key": "Name", "Value": "disk"}],
                },
                {"ResourceType": "network-interface", "Tags": [{"Key": "team", "Value": "ml"}]},
            ]
        }
    )

    assert result["TagSpecifications"] == [
        {"ResourceType": "instance", "Tags": [{"Key": "Name", "Value": "a"}]},
        {
            "ResourceType": "volume",
            "Tags": [{"Key": "Name", "Value": "disk"}, {"Key": "team", "Value": "ml"}],
        },
        {"ResourceType": "network-interface", "Tags": [{"Key": "team", "Value": "ml"}]},
    ]


def test_other_lists_replace():
    result = laid_over({"LicenseSpecifications": [{"LicenseConfigurationArn": "new"}]})

    assert result["LicenseSpecifications"] == [{"LicenseConfigurationArn": "new"}]


def test_what_is_known_at_deployment_only_replaces_as_a_whole():
    plan = {"KeyName": TOKEN, "Monitoring": {"Enabled": True}}
    token = Resolvable()

    result = overlaid(plan, {"KeyName": token, "Monitoring": {"Enabled": token}})

    assert result == {"KeyName": token, "Monitoring": {"Enabled": token}}


def test_the_result_holds_plain_lists_and_tables_that_are_no_part_of_the_input():
    result = laid_over({"BlockDeviceMappings": [{"DeviceName": "/dev/xvdf", "Ebs": {"Iops": 1}}]})

    result["BlockDeviceMappings"][1]["Ebs"]["Iops"] = 2
    result["BlockDeviceMappings"].append({})
    result["MetadataOptions"]["HttpTokens"] = "optional"
    result["TagSpecifications"][0]["Tags"].clear()

    assert PLAN["MetadataOptions"]["HttpTokens"] == "required"
    assert PLAN["TagSpecifications"][0]["Tags"]


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
NAMES = st.sampled_from(["A", "B", "C", "Ebs", "DeviceName", "ResourceType", "Key"])
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
ENTRIES = st.lists(
    st.builds(
        lambda name, more: {**more, "DeviceName": name},
        st.sampled_from(["x", "y", "z"]),
        st.dictionaries(NAMES, VALUES, max_size=2),
    ),
    max_size=3,
)
TAGS = st.lists(
    st.fixed_dictionaries(
        {
            "ResourceType": st.sampled_from(["instance", "volume"]),
            "Tags": st.lists(
                st.fixed_dictionaries({"Key": st.sampled_from(["a", "b"]), "Value": LEAVES}),
                max_size=3,
            ),
        }
    ),
    max_size=2,
)
TEMPLATES = st.dictionaries(NAMES, VALUES, max_size=3).flatmap(
    lambda rest: st.fixed_dictionaries(
        {}, optional={"BlockDeviceMappings": ENTRIES, "TagSpecifications": TAGS}
    ).map(lambda lists: rest | lists)
)


@given(TEMPLATES)
def test_laying_nothing_over_changes_nothing(data: dict[str, Any]):
    assert overlaid(data, {}) == data


@given(TEMPLATES, TEMPLATES)
def test_laying_the_same_over_twice_is_laying_it_over_once(data: Any, overrides: Any):
    before = copy.deepcopy((data, overrides))

    once = overlaid(data, overrides)

    assert overlaid(once, overrides) == once
    assert (data, overrides) == before


@given(TEMPLATES, TEMPLATES)
def test_fields_that_are_not_named_stay(data: Any, overrides: Any):
    result = overlaid(data, overrides)

    assert not list(lost(data, overrides, result))
    assert result.keys() == data.keys() | overrides.keys()


def lost(data: Any, overrides: Any, result: Any) -> Iterator[str]:
    """What the result lacks of the data, though no override names it."""
    for name in data:
        if name not in overrides and result[name] != data[name]:
            yield name
        elif isinstance(data[name], dict) and isinstance(overrides.get(name), dict):
            yield from lost(data[name], overrides[name], result[name])
    named = {one.get("DeviceName") for one in overrides.get("BlockDeviceMappings", ())}
    for one in data.get("BlockDeviceMappings", ()):
        if one["DeviceName"] not in named and one not in result["BlockDeviceMappings"]:
            yield one["DeviceName"]


# Data

EC2 = botocore.session.get_session().get_service_model("ec2")


def leaves(kind: Any, model: Any, path: str) -> Iterator[tuple[str, str, str]]:
    """Each field of ours with its kind, and the type that EC2's API gives it."""
    if isinstance(kind, list):
        assert model.type_name == "list", path
        yield from leaves(kind[0], model.member, path)
    elif isinstance(kind, dict):
        for name, inner in kind.items():
            assert name in model.members, f"{path}.{name}"
            yield from leaves(inner, model.members[name], f"{path}.{name}")
    else:
        yield path, kind, model.type_name


def test_fields_that_may_be_set_are_those_of_ec2_s_own_api():
    refused = {name for row in ROWS["forbidden"] if "when" not in row for name in row["fields"]}
    fields = {
        name: kind
        for name, kind in read_json("launch_template_fields.json").items()
        if name not in refused
    }

    found = list(leaves(fields, EC2.shape_for("RequestLaunchTemplateData"), ""))

    assert len(found) > 40
    types = {"text": "string", "number": "integer", "boolean": "boolean"}
    assert [one for one in found if types[one[1]] != one[2]] == []


def field_kind(field: str) -> Any:
    kind: Any = read_json("launch_template_fields.json")
    for step in field.split("."):
        kind = kind[step.removesuffix("[]")]
        kind = kind[0] if step.endswith("[]") else kind
    return kind


def test_texts_of_rows_stand_in_a_sentence_of_others():
    for row in (*ROWS["forbidden"], *ROWS["finding"]):
        assert not any(str(row.get(key, "")).endswith(".") for key in ("reason", "message", "fix"))


def test_every_row_is_about_a_field_that_exists():
    for row in ROWS["forbidden"]:
        assert row.keys() <= {"fields", "values", "when", "reason", "fix", "source", "checked"}
        assert all(field_kind(field) for field in row["fields"])
    for row in ROWS["allowed"]:
        assert field_kind(row["field"]) == ("number" if "range" in row else "text")
    for row in ROWS["needed"]:
        kind = field_kind(row["field"])
        assert row.keys() <= {
            "field", "one_of", "beside", "when", "message", "fix", "source", "checked"
        }  # fmt: skip
        assert {*row["one_of"], row.get("beside", row["one_of"][0])} <= kind.keys()
    for row in ROWS["finding"]:
        kind = field_kind(row["field"])
        assert set(row["without"]) <= kind.keys() if "without" in row else isinstance(kind, str)
    kinds = EC2.shape_for("VolumeType").enum
    assert sorted(ROWS["volumes"]["types"]) == sorted(kinds)
