"""Each rule of the checker can fail: a good node group, broken in one way, breaks that rule."""

from __future__ import annotations

import ast
import base64
import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.checker import catalogue, checker, pair
from tests.checker.checker import RULE_MODULES, check_size, compact, pairs
from tests.checker.pair import RULES, Pair, violations


class Draft:
    """A copy of a good node group, to break."""

    def __init__(self, pair: Pair) -> None:
        self.data: dict[str, Any] = copy.deepcopy(dict(pair.data))
        self.group: dict[str, Any] = copy.deepcopy(dict(pair.group))
        self.resources: dict[str, Any] = copy.deepcopy(dict(pair.resources))

    @property
    def interfaces(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.data["NetworkInterfaces"]
        return found

    @property
    def user_data(self) -> str:
        return base64.b64decode(self.data["UserData"]).decode()

    @user_data.setter
    def user_data(self, text: str) -> None:
        self.data["UserData"] = base64.b64encode(text.encode()).decode()

    @property
    def pair(self) -> Pair:
        return Pair(self.data, self.group, self.resources)


Change = Callable[[Draft], object]


def data(**values: Any) -> Change:
    return lambda draft: draft.data.update(values)


def group(**values: Any) -> Change:
    return lambda draft: draft.group.update(values)


def without(name: str) -> Change:
    def change(draft: Draft) -> None:
        draft.data.pop(name, None)
        draft.group.pop(name, None)

    return change


def interface(number: int, **values: Any) -> Change:
    return lambda draft: draft.interfaces[number].update(values)


def one_more(**values: Any) -> Change:
    return lambda draft: draft.interfaces.append(draft.interfaces[0] | values)


def no_interface(number: int) -> Change:
    return lambda draft: draft.interfaces.pop(number)


def no_group(part: str) -> Change:
    """Takes a security group from every interface."""

    def change(draft: Draft) -> None:
        for one in draft.interfaces:
            one["Groups"] = [found for found in one["Groups"] if part not in str(found)]

    return change


def own_rule(direction: str, **values: Any) -> Change:
    """Changes the rules that let a security group reach itself, or takes them away."""
    other = "SourceSecurityGroupId" if direction == "Ingress" else "DestinationSecurityGroupId"

    def change(draft: Draft) -> None:
        for name, one in list(draft.resources.items()):
            rule = one.get("Properties", {})
            same = rule.get(other) is not None and rule.get(other) == rule.get("GroupId")
            if one["Type"] == f"AWS::EC2::SecurityGroup{direction}" and same:
                rule.update(values)
                _ = draft.resources.pop(name) if not values else None

    return change


def volume(**values: Any) -> Change:
    return lambda draft: draft.data["BlockDeviceMappings"][0]["Ebs"].update(values)


def in_group(strategy: str) -> Change:
    def change(draft: Draft) -> None:
        properties = {"Strategy": strategy}
        draft.resources["Near"] = {"Type": "AWS::EC2::PlacementGroup", "Properties": properties}
        draft.data["Placement"] = {"GroupName": {"Ref": "Near"}}

    return change


def text(old: str, new: str) -> Change:
    def change(draft: Draft) -> None:
        assert old in draft.user_data, draft.user_data
        draft.user_data = draft.user_data.replace(old, new, 1)

    return change


def user_data(value: str) -> Change:
    def change(draft: Draft) -> None:
        draft.user_data = value

    return change


def multipart(kind: str, content: str) -> str:
    head = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="X"\n\n'
    return f'{head}--X\nContent-Type: {kind}; charset="us-ascii"\n\n{content}\n--X--\n'


def node_config(**spec: Any) -> str:
    config = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec}
    return multipart("application/node.eks.aws", json.dumps(config))


def repair(**values: Any) -> Change:
    return group(NodeRepairConfig={"Enabled": True, **values})


def together(*changes: Change) -> Change:
    return lambda draft: [change(draft) for change in changes]


JOINING = {
    "name": "training",
    "apiServerEndpoint": "https://example.com",
    "certificateAuthority": "Q0E=",
    "cidr": "10.100.0.0/16",
}
OWN_IMAGE = together(
    without("AmiType"),
    without("Version"),
    data(ImageId="ami-0123456789abcdef0"),
    user_data(node_config(cluster=JOINING)),
)
OVERRIDE = {
    "NodeMonitoringCondition": "AcceleratedHardwareReady",
    "NodeUnhealthyReason": "NvidiaXID13Error",
    "MinRepairWaitTimeMins": 10,
    "RepairAction": "NoAction",
}
PART = 'Content-Type: text/x-shellscript; charset="us-ascii"\n\n#!/bin/bash\n'
REFERENCE = {"Ref": "Elsewhere"}
TWO = [{"Ref": "A"}, {"Ref": "B"}]
TAINT = {"Key": "dedicated", "Effect": "NO_SCHEDULE"}
ARN = "arn:aws:resource-groups:us-east-2:111122223333:group/training"
ID = "cr-0123456789abcdef0"


def target(**values: Any) -> Change:
    return data(CapacityReservationSpecification={"CapacityReservationTarget": values})


def preference(value: str) -> Change:
    return lambda draft: draft.data.setdefault("CapacityReservationSpecification", {}).update(
        CapacityReservationPreference=value
    )


BREAKS: list[tuple[str, str, Change]] = [
    ("card-exists", "trn2", interface(1, NetworkCardIndex=16)),
    ("device-index-unique", "trn2", one_more()),
    ("device-index-range", "trn2", interface(1, DeviceIndex=2)),
    ("device-index-range", "gb200", interface(1, DeviceIndex=1)),
    ("interface-type-of-card", "b300", interface(-1, NetworkCardIndex=0, DeviceIndex=1)),
    ("interface-type-of-card", "gb200", interface(0, InterfaceType="nitro")),
    ("interface-type-of-card", "gb200", interface(1, InterfaceType="efa")),
    ("primary-interface", "trn2", no_interface(0)),
    (
        "primary-interface",
        "trn2",
        together(no_interface(1), interface(0, InterfaceType="efa-only")),
    ),
    ("one-efa-per-card", "trn2", interface(-1, NetworkCardIndex=1, DeviceIndex=1)),
    ("efa-count", "i7ie", one_more(NetworkCardIndex=1, InterfaceType="efa-only")),
    ("gb200-efa-cards", "gb200", interface(1, NetworkCardIndex=2)),
    ("efa-only-address", "trn2", interface(1, Ipv4PrefixCount=1)),
    ("public-address", "trn2", interface(0, AssociatePublicIpAddress=True)),
    ("interface-subnet", "trn2", interface(0, SubnetId="subnet-0123456789abcdef0")),
    ("interface-deleted", "trn2", interface(2, DeleteOnTermination=False)),
    ("groups-twice", "trn2", data(SecurityGroupIds=[REFERENCE])),
    ("interface-groups", "trn2", lambda draft: draft.interfaces[3]["Groups"].append(REFERENCE)),
    ("cluster-group", "trn2", no_group("ClusterSecurityGroupId")),
    (
        "cluster-group",
        "spot",
        lambda draft: draft.data.update(SecurityGroupIds=[own_group(draft)]),
    ),
    ("efa-group", "trn2", no_group("ClusterEfa")),
    ("efa-group", "trn2", own_rule("Egress")),
    ("efa-group", "trn2", own_rule("Egress", IpProtocol="tcp")),
    ("efa-group", "p5", own_rule("Ingress", SourceSecurityGroupId=REFERENCE)),
    ("prohibited-field", "trn2", data(IamInstanceProfile={"Name": "nodes"})),
    ("prohibited-field", "p5", data(InstanceInitiatedShutdownBehavior="terminate")),
    ("prohibited-field", "spot", data(HibernationOptions={"Configured": True})),
    ("prohibited-field", "spot", data(DisableApiTermination=True)),
    ("prohibited-field", "p5", data(InstanceRequirements={"VCpuCount": {"Min": 2}})),
    (
        "metadata-tags",
        "spot",
        data(MetadataOptions={"HttpTokens": "required", "InstanceMetadataTags": "enabled"}),
    ),
    ("imdsv2", "trn2", without("MetadataOptions")),
    ("imdsv2", "spot", data(MetadataOptions={"HttpTokens": "optional"})),
    ("imdsv2", "spot", data(MetadataOptions={"HttpTokens": "required", "HttpEndpoint": "x"})),
    (
        "imdsv2",
        "spot",
        data(MetadataOptions={"HttpTokens": "required", "HttpPutResponseHopLimit": 0}),
    ),
    ("volume-encrypted", "trn2", volume(Encrypted=False)),
    ("volume-deleted", "trn2", volume(DeleteOnTermination=False)),
    ("volume-size", "trn2", volume(VolumeSize=0)),
    (
        "volume-device",
        "bottlerocket",
        lambda draft: draft.data["BlockDeviceMappings"][0].update(DeviceName="/dev/xvda"),
    ),
    ("tags", "trn2", group(Tags={"aws:team": "ml"})),
    ("tags", "trn2", group(Tags={f"key{number}": "" for number in range(51)})),
    (
        "tags",
        "trn2",
        data(TagSpecifications=[{"ResourceType": "vpc", "Tags": [{"Key": "a", "Value": "b"}]}]),
    ),
    (
        "tags",
        "trn2",
        data(TagSpecifications=[{"ResourceType": "volume", "Tags": [{"Key": "a"}] * 2}]),
    ),
    ("usage-class", "spot", group(CapacityType="RESERVED")),
    (
        "usage-class",
        "spot",
        together(data(InstanceType="trn2u.48xlarge"), group(AmiType="AL2023_x86_64_NEURON")),
    ),
    ("block-market", "trn2", without("InstanceMarketOptions")),
    ("block-reservation", "trn2", without("CapacityReservationSpecification")),
    ("block-reservation", "trn2", target(CapacityReservationResourceGroupArn=ARN)),
    (
        "block-instance-type",
        "trn2",
        together(without("InstanceType"), group(InstanceTypes=["trn2.48xlarge"])),
    ),
    ("block-placement", "trn2", in_group("cluster")),
    ("block-placement", "trn2", data(Placement={"Tenancy": "dedicated"})),
    ("market-options", "spot", data(InstanceMarketOptions={"MarketType": "spot"})),
    ("market-options", "p5", data(InstanceMarketOptions={"MarketType": "capacity-block"})),
    ("spot-reservation", "spot", preference("open")),
    (
        "reservation-target",
        "reserved",
        target(CapacityReservationId=ID, CapacityReservationResourceGroupArn=ARN),
    ),
    ("reservation-target", "reserved", target()),
    ("reservation-target", "p5", data(CapacityReservationSpecification={})),
    ("reservation-target", "reserved", target(CapacityReservationId="cr-1")),
    ("reservation-target", "by-group", target(CapacityReservationResourceGroupArn="training")),
    ("reservation-preference", "reserved", preference("open")),
    ("reservation-preference", "by-group", preference("none")),
    ("reservation-preference", "p5", preference("capacity-reservations-first")),
    ("one-subnet", "p5", group(Subnets=TWO)),
    ("one-subnet", "trn2", group(Subnets=TWO)),
    ("one-subnet", "reserved", together(group(Subnets=TWO), without("NetworkInterfaces"))),
    ("one-subnet", "bottlerocket", in_group("cluster")),
    ("placement-strategy", "p5", in_group("spread")),
    (
        "placement-supported",
        "bottlerocket",
        together(
            data(InstanceType="t3.2xlarge"),
            group(AmiType="BOTTLEROCKET_x86_64", Subnets=TWO[:1]),
            without("UserData"),
            in_group("cluster"),
        ),
    ),
    ("required-property", "trn2", without("NodeRole")),
    ("name", "trn2", group(NodegroupName="a" * 64)),
    ("name", "trn2", group(NodegroupName="-a")),
    ("instance-type-once", "trn2", group(InstanceTypes=["trn2.48xlarge"])),
    ("instance-type-once", "p5", without("InstanceType")),
    (
        "instance-type-once",
        "p5",
        together(without("InstanceType"), group(InstanceTypes=["p5.48xlarge"] * 2)),
    ),
    ("instance-type-known", "p5", data(InstanceType="p9.48xlarge")),
    (
        "one-architecture",
        "bottlerocket",
        together(
            OWN_IMAGE,
            without("InstanceType"),
            group(InstanceTypes=["g5g.16xlarge", "g6e.12xlarge"]),
        ),
    ),
    ("ami-type", "spot", group(AmiType="AL2_x86_64_GPU")),
    ("ami-type", "spot", group(AmiType="AL2023_X86_64_NVIDIA")),
    ("ami-type", "spot", without("AmiType")),
    ("ami-architecture", "spot", group(AmiType="AL2023_ARM_64_NVIDIA")),
    ("ami-driver", "spot", group(AmiType="AL2023_x86_64_STANDARD")),
    ("ami-driver", "spot", group(AmiType="AL2023_x86_64_NEURON")),
    ("ami-driver", "i7ie", group(AmiType="AL2023_x86_64_NVIDIA")),
    ("ami-driver", "bottlerocket", group(AmiType="BOTTLEROCKET_x86_64")),
    ("ami-with-image", "spot", together(OWN_IMAGE, group(Version="1.34"))),
    ("ami-with-image", "spot", together(OWN_IMAGE, group(AmiType="CUSTOM"))),
    ("ami-with-image", "spot", together(OWN_IMAGE, group(ReleaseVersion="1.34.2-20261023"))),
    (
        "bottlerocket-gb200",
        "gb200",
        together(
            group(AmiType="BOTTLEROCKET_ARM_64_NVIDIA"),
            without("UserData"),
            without("BlockDeviceMappings"),
        ),
    ),
    ("release-version", "spot", group(ReleaseVersion="1.33.2-20261023")),
    ("release-version", "spot", group(ReleaseVersion="1.66.0-0a1b2c3d")),
    ("release-version", "bottlerocket", group(ReleaseVersion="1.34.2-20261023x")),
    ("cluster-version", "spot", group(Version="1.33")),
    (
        "launch-template-id",
        "spot",
        lambda draft: draft.group["LaunchTemplate"].update(Name="mine"),
    ),
    (
        "launch-template-version",
        "spot",
        lambda draft: draft.group["LaunchTemplate"].update(Version="1"),
    ),
    (
        "launch-template-version",
        "spot",
        lambda draft: draft.group["LaunchTemplate"].pop("Version"),
    ),
    ("in-launch-template", "spot", group(DiskSize=100)),
    ("in-launch-template", "spot", group(RemoteAccess={"Ec2SshKey": "mine"})),
    ("force-update", "spot", group(ForceUpdateEnabled=True)),
    ("scaling", "spot", group(ScalingConfig={"MinSize": 3, "MaxSize": 2})),
    ("scaling", "spot", group(ScalingConfig={"MinSize": 0, "DesiredSize": 3, "MaxSize": 2})),
    ("scaling", "spot", group(ScalingConfig={"MinSize": 0, "DesiredSize": 0, "MaxSize": 0})),
    ("scaling", "spot", group(ScalingConfig={"MaxSize": 2})),
    ("update-config", "spot", group(UpdateConfig={"UpdateStrategy": "MINIMAL"})),
    ("update-config", "spot", group(UpdateConfig={"MaxUnavailable": 0})),
    ("update-config", "spot", group(UpdateConfig={"MaxUnavailablePercentage": 101})),
    (
        "update-config",
        "spot",
        group(UpdateConfig={"MaxUnavailable": 1, "MaxUnavailablePercentage": 10}),
    ),
    (
        "update-config",
        "spot",
        group(UpdateConfig={"MaxUnavailable": 1, "UpdateStrategy": "minimal"}),
    ),
    (
        "node-repair-kind",
        "spot",
        repair(MaxUnhealthyNodeThresholdCount=1, MaxUnhealthyNodeThresholdPercentage=10),
    ),
    (
        "node-repair-kind",
        "spot",
        repair(MaxParallelNodesRepairedCount=1, MaxParallelNodesRepairedPercentage=10),
    ),
    ("node-repair-range", "spot", repair(MaxParallelNodesRepairedCount=0)),
    ("node-repair-range", "spot", repair(MaxUnhealthyNodeThresholdPercentage=101)),
    ("node-repair-range", "spot", group(NodeRepairConfig={"MaxParallelNodesRepairedCount": 1})),
    *[
        (
            "node-repair-override",
            "spot",
            repair(NodeRepairConfigOverrides=[OVERRIDE | {name: None}]),
        )
        for name in OVERRIDE
    ],
    (
        "node-repair-override",
        "spot",
        repair(NodeRepairConfigOverrides=[OVERRIDE | {"RepairAction": "Terminate"}]),
    ),
    (
        "node-repair-override",
        "spot",
        repair(NodeRepairConfigOverrides=[OVERRIDE | {"MinRepairWaitTimeMins": 0}]),
    ),
    ("label-key", "spot", group(Labels={"a" * 64: "b"})),
    ("label-key", "spot", group(Labels={"a/b/c": "d"})),
    ("label-value", "spot", group(Labels={"a": ""})),
    ("label-value", "spot", group(Labels={"a": "b" * 64})),
    ("label-prefix", "spot", group(Labels={"node-role.kubernetes.io/worker": "true"})),
    ("label-prefix", "spot", group(Labels={"eks.amazonaws.com/nodegroup": "mine"})),
    ("label-prefix", "spot", group(Labels={"k8s.io/team": "ml"})),
    (
        "taint-count",
        "spot",
        group(Taints=[TAINT | {"Key": f"key{number}"} for number in range(51)]),
    ),
    ("taint-effect", "spot", group(Taints=[TAINT | {"Effect": "NoSchedule"}])),
    ("taint-key", "spot", group(Taints=[TAINT | {"Key": "a" * 64}])),
    ("taint-key", "spot", group(Taints=[TAINT | {"Value": "a b"}])),
    ("taint-key", "spot", group(Taints=[TAINT, TAINT | {"Value": "b"}])),
    ("user-data-encoding", "spot", data(UserData="#!/bin/bash")),
    ("user-data-size", "spot", text("#!/bin/bash\n", "#!/bin/bash\n" + "# a\n" * 5000)),
    ("user-data-format", "spot", user_data("#!/bin/bash\necho hello\n")),
    ("user-data-format", "spot", user_data(multipart("text/x-unknown", "a"))),
    ("user-data-format", "spot", user_data(multipart("text/cloud-config", "a: \u00fc"))),
    (
        "user-data-format",
        "spot",
        user_data(multipart("text/cloud-config", "a: b").replace("--X--\n", "")),
    ),
    ("user-data-format", "bottlerocket", user_data(multipart("text/cloud-config", "a: b"))),
    ("user-data-script", "spot", text("#!/bin/bash\n", "echo hello\n")),
    ("user-data-script", "spot", text("#!/bin/bash\n", "#!/bin/bash\nif true; then\n")),
    ("node-config", "spot", user_data(multipart("application/node.eks.aws", "{"))),
    ("node-config", "spot", text('"NodeConfig"', '"Config"')),
    ("node-config", "spot", text("node.eks.aws/v1alpha1", "node.eks.aws/v1")),
    ("node-config", "spot", user_data(node_config(kubelet={"maxPods": 10}))),
    ("node-config", "spot", user_data(node_config(kubelets={}))),
    ("node-config-drop-in", "spot", text(".json <<", ".conf <<")),
    (
        "node-config-drop-in",
        "spot",
        user_data(multipart("text/x-shellscript", "#!/bin/sh\ncp a /etc/eks/nodeadm.d/a.json\n")),
    ),
    ("user-data-cluster", "spot", user_data(node_config(cluster=JOINING))),
    (
        "user-data-cluster",
        "bottlerocket",
        user_data('[settings.kubernetes]\ncluster-name = "training"\n'),
    ),
    (
        "user-data-joins",
        "spot",
        together(OWN_IMAGE, user_data(node_config(cluster=JOINING | {"cidr": ""}))),
    ),
    ("user-data-joins", "spot", together(OWN_IMAGE, without("UserData"))),
    (
        "user-data-joins",
        "bottlerocket",
        together(OWN_IMAGE, user_data('[settings.kubernetes]\ncluster-name = "training"\n')),
    ),
    (
        "user-data-kubelet",
        "spot",
        text("#!/bin/bash\n", "#!/bin/bash\nsystemctl restart kubelet\n"),
    ),
    ("user-data-kubelet", "spot", text("#!/bin/bash\n", "#!/bin/bash\nnodeadm init\n")),
    ("bottlerocket-settings", "bottlerocket", user_data('[settings."a.b"]\nc = 1\n')),
    ("bottlerocket-settings", "bottlerocket", user_data('[settings.a]\nb = "\\"c\\""\n')),
    ("bottlerocket-settings", "bottlerocket", user_data('[settings.a]\nb = [1, "c"]\n')),
    ("bottlerocket-settings", "bottlerocket", user_data("[setting.a]\nb = 1\n")),
    ("max-pods", "spot", user_data(node_config(kubelet={"config": {"maxPods": 251}}))),
    ("max-pods", "bottlerocket", user_data("[settings.kubernetes]\nmax-pods = 0\n")),
]


def own_group(draft: Draft) -> object:
    """The security group of EFA in the template."""
    (name,) = [
        name
        for name, one in draft.resources.items()
        if one["Type"] == "AWS::EC2::SecurityGroup" and "Efa" in name
    ]
    return {"Fn::GetAtt": [name, "GroupId"]}


def found_in(draft: Draft) -> list[str]:
    return sorted({one.rule for one in violations(draft.pair)})


def test_a_synthesised_group_of_each_kind_breaks_no_rule(good_template):
    found = {
        pair.group["NodegroupName"]: [f"{one.rule}: {one.text}" for one in violations(pair)]
        for pair in pairs(good_template).values()
    }

    assert len(found) == 9
    assert {name: texts for name, texts in found.items() if texts} == {}


@pytest.mark.parametrize(
    ("rule", "name", "change"),
    BREAKS,
    ids=[f"{number}-{rule}" for number, (rule, _, _) in enumerate(BREAKS)],
)
def test_a_group_broken_in_one_way_breaks_that_rule_alone(good, rule, name, change):
    draft = Draft(good(name))

    change(draft)

    assert found_in(draft) == [rule]


def test_every_rule_has_a_group_that_breaks_it():
    assert RULE_MODULES
    assert {rule for rule, _, _ in BREAKS} == set(RULES)


def test_the_rules_share_no_code_with_what_draws_node_groups():
    modules = [*RULE_MODULES, catalogue, checker, pair]
    imported = {
        name
        for module in modules
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")))
        for name in names_imported(node)
    }

    assert "tests.checker.pair" in imported
    assert not [name for name in imported if name.startswith("eks_device")]


def names_imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    return [str(node.module)] if isinstance(node, ast.ImportFrom) else []


def test_every_rule_names_a_public_source():
    assert all(source.startswith("https://") for _, source in RULES.values())


PASSES: dict[str, tuple[str, Change]] = {
    "the older layout, an efa on every card": (
        "p5",
        lambda draft: draft.data.update(
            NetworkInterfaces=[
                draft.interfaces[0]
                | {"NetworkCardIndex": card, "DeviceIndex": min(card, 1), "InterfaceType": "efa"}
                for card in range(32)
            ]
        ),
    ),
    "a plain interface beside the efa of a card": (
        "p5",
        one_more(NetworkCardIndex=4, DeviceIndex=1),
    ),
    "every odd card of gb200": (
        "gb200",
        lambda draft: draft.interfaces.extend(
            draft.interfaces[1] | {"NetworkCardIndex": card} for card in (3, 7, 11, 15)
        ),
    ),
    "a cluster made elsewhere": (
        "p5",
        together(
            group(ClusterName="training"),
            lambda draft: [one.update(Groups=["sg-1", "sg-2"]) for one in draft.interfaces],
        ),
    ),
    "a group in a placement group": ("p5", in_group("cluster")),
    "an image of one's own": ("spot", OWN_IMAGE),
    "an image of one's own whose user data CloudFormation fills": (
        "spot",
        together(
            OWN_IMAGE,
            data(
                UserData={
                    "Fn::Base64": {
                        "Fn::Join": [
                            "",
                            [
                                node_config(cluster=JOINING).partition("training")[0],
                                REFERENCE,
                                node_config(cluster=JOINING).partition("training")[2],
                            ],
                        ]
                    }
                }
            ),
        ),
    ),
    "a reservation that is a parameter": ("reserved", target(CapacityReservationId=REFERENCE)),
    "only reservations": ("reserved", preference("capacity-reservations-only")),
    "sizes that are parameters": (
        "spot",
        group(ScalingConfig={"MinSize": REFERENCE, "MaxSize": 1}),
    ),
    "a group that repairs its nodes": (
        "spot",
        repair(MaxParallelNodesRepairedCount=1, NodeRepairConfigOverrides=[OVERRIDE]),
    ),
    "an update by percentage": (
        "spot",
        group(UpdateConfig={"MaxUnavailablePercentage": 33, "UpdateStrategy": "DEFAULT"}),
    ),
    "types of equal hardware": (
        "spot",
        together(without("InstanceType"), group(InstanceTypes=["g6e.12xlarge", "g6e.16xlarge"])),
    ),
    "no user data": ("spot", without("UserData")),
    "a label that the kubelet takes": (
        "spot",
        group(Labels={"node.kubernetes.io/team": "ml", "nvidia.com/gpu.present": "true"}),
    ),
}


@pytest.mark.parametrize(("name", "change"), PASSES.values(), ids=PASSES)
def test_what_ec2_and_eks_accept_breaks_no_rule(good, name, change):
    draft = Draft(good(name))

    change(draft)

    assert [(one.rule, one.text) for one in violations(draft.pair)] == []


def test_a_template_may_have_500_resources_and_a_megabyte():
    small = {"Resources": {f"A{number}": {"Type": "T"} for number in range(500)}}
    many = {"Resources": {f"A{number}": {"Type": "T"} for number in range(501)}}

    assert check_size(small, compact(small)) == []
    assert [one.rule for one in check_size(many, compact(many))] == ["template-resources"]
    assert [one.rule for one in check_size(small, "a" * 1_000_001)] == ["template-size"]


def test_the_own_table_holds_what_the_recorded_answer_lacks():
    assert not catalogue.OWN.keys() & catalogue.recorded().keys()
    for name in catalogue.CORRECTED:
        assert "NeuronInfo" not in catalogue.recorded()[name]


def test_a_template_without_node_groups_has_no_pairs():
    assert pairs({"Resources": {"A": {"Type": "AWS::EC2::VPC", "Properties": {}}}}) == {}
