"""What users of accelerated nodes reported, each as the behaviour that would have spared them.

tests/contract/user_reports.toml says which report each test is for. One stack holds groups of the
kinds that were reported, and every manager.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_lambda as lambda_
from aws_cdk.assertions import Template
from tests.charts.test_placement import COMPUTE_TYPE, expected, served
from tests.template_order import needed

from eks_device_charts import ImageSource, device_manifests
from eks_device_constructs import AcceleratedCluster, Delivery
from eks_devices import (
    AcceleratedInstanceType,
    Capacity,
    DeviceType,
    DriverRelease,
    Mechanism,
    NodegroupPlan,
    NodegroupSpec,
    plan_cluster,
    plan_nodegroup,
)

Values = dict[str, Any]
DRA, PLUGIN = Mechanism.DRA, Mechanism.DEVICE_PLUGIN
ID = "cr-0123456789abcdef0"
MANIFEST = "Custom::AWSCDK-EKS-KubernetesResource"
EVERY_MANAGER: dict[DeviceType, tuple[Mechanism, ...]] = {
    DeviceType.NEURON: (DRA, PLUGIN),
    DeviceType.GPU: (DRA, PLUGIN),
    DeviceType.COMPUTE_DOMAIN: (DRA,),
    DeviceType.EFA: (DRA, PLUGIN),
}
# The function that applies a manifest is called with at most this many bytes, and kubectl keeps a
# copy of each object in an annotation of at most as many.
LARGEST_MANIFEST = 256 * 1024


def kubectl(stack: cdk.Stack) -> Delivery:
    layer = lambda_.LayerVersion.from_layer_version_arn(
        stack, "Kubectl", "arn:aws:lambda:us-east-2:111122223333:layer:kubectl:1"
    )
    return Delivery.kubectl(kubectl_layer=layer)


class Fleet:
    """A template with node groups, by the names of their plans."""

    def __init__(self, template: Mapping[str, Any]) -> None:
        self.resources: dict[str, Values] = template["Resources"]

    def of_kind(self, kind: str) -> dict[str, Values]:
        return {name: one for name, one in self.resources.items() if one["Type"] == kind}

    def group(self, name: str) -> Values:
        return self.resources[self.id_of(name)]

    def id_of(self, name: str) -> str:
        groups = self.of_kind("AWS::EKS::Nodegroup").items()
        label = "eks-devices/nodegroup"
        (found,) = [key for key, one in groups if one["Properties"]["Labels"][label] == name]
        return found

    def data(self, name: str) -> Values:
        reference = self.group(name)["Properties"]["LaunchTemplate"]["Id"]["Ref"]
        data: Values = self.resources[reference]["Properties"]["LaunchTemplateData"]
        return data

    def manifests(self) -> list[str]:
        return [str(one["Properties"]["Manifest"]) for one in self.of_kind(MANIFEST).values()]

    def objects(self) -> list[Values]:
        return [item for text in self.manifests() for item in json.loads(text)]

    def containers(self) -> Iterator[Values]:
        for item in self.objects():
            if item["kind"] in ("DaemonSet", "Deployment"):
                pod = item["spec"]["template"]["spec"]
                yield from [*pod.get("initContainers", ()), *pod["containers"]]

    def needed(self, name: str) -> set[str]:
        """What a resource refers to or waits for, directly or not."""
        return needed(self.resources, name)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    app = cdk.App(outdir=str(tmp_path_factory.mktemp("reports")))
    stack = cdk.Stack(app, "Reports", env=cdk.Environment(region="us-east-2"))
    vpc = ec2.Vpc(stack, "Vpc", max_azs=2)
    version = eks.KubernetesVersion.of("1.34")
    cluster = AcceleratedCluster(
        stack, "Cluster", vpc=vpc, version=version, delivery=kubectl(stack), keep=EVERY_MANAGER
    )
    one: Values = {"subnet": vpc.private_subnets[0], "max_size": 2}
    cluster.add_nodegroup("Plain", instance_type="g6e.12xlarge", max_size=2)
    cluster.add_nodegroup("Switched", instance_type="g6e.12xlarge", efa=True, **one)
    cluster.add_nodegroup("P4d", instance_type="p4d.24xlarge", **one)
    cluster.add_nodegroup("Inf2", instance_type="inf2.48xlarge", max_size=2)
    block = Capacity.block(ID)
    cluster.add_nodegroup("Trn2", instance_type="trn2.48xlarge", capacity=block, **one)
    return Fleet(Template.from_stack(stack).to_json())


# Launch templates


def test_one_switch_brings_interfaces_security_group_placement_group_driver_and_manager(fleet):
    off, on = fleet.data("Plain"), fleet.data("Switched")
    groups = [json.dumps(one["Groups"]) for one in on["NetworkInterfaces"]]
    labels = fleet.group("Switched")["Properties"]["Labels"]

    assert [one["InterfaceType"] for one in on["NetworkInterfaces"]] == ["interface", "efa-only"]
    assert all("ClusterEfa" in text for text in groups)
    made = fleet.resources[on["Placement"]["GroupName"]["Ref"]]
    assert made["Properties"] == {"Strategy": "cluster"}
    assert fleet.group("Switched")["Properties"]["AmiType"] == "AL2023_x86_64_NVIDIA"
    assert ("efa", "dra", "default") in served(fleet.objects(), labels)
    assert {"NetworkInterfaces", "Placement"}.isdisjoint(off)
    assert "ClusterEfa" not in json.dumps(off)
    kinds = [kind for kind, _, _ in served(fleet.objects(), labels_of(fleet, "Plain"))]
    assert kinds == ["gpu"]


def labels_of(fleet: Fleet, name: str) -> dict[str, str]:
    labels: dict[str, str] = fleet.group(name)["Properties"]["Labels"]
    return labels


@pytest.mark.parametrize(("name", "cards"), [("P4d", 4), ("Trn2", 16), ("Switched", 1)])
def test_every_interface_names_its_network_card_and_none_a_subnet(fleet, name, cards):
    interfaces = fleet.data(name)["NetworkInterfaces"]
    efas = [one for one in interfaces if one["InterfaceType"] == "efa-only"]

    assert sorted(one["NetworkCardIndex"] for one in efas) == list(range(cards))
    assert all("SubnetId" not in one for one in interfaces)


@pytest.mark.parametrize("name", ["Plain", "Inf2", "P4d", "Trn2", "Switched"])
def test_security_groups_stand_in_the_interfaces_or_beside_them_and_never_in_both(fleet, name):
    data = fleet.data(name)
    in_interfaces = [one.get("Groups") for one in data.get("NetworkInterfaces", ())]

    assert all(in_interfaces)
    assert bool(in_interfaces) is ("SecurityGroupIds" not in data)
    assert "SecurityGroups" not in data


@pytest.mark.parametrize("name", ["Plain", "Trn2"])
def test_a_group_names_its_template_by_id_alone_and_follows_its_latest_version(fleet, name):
    template = fleet.group(name)["Properties"]["LaunchTemplate"]
    logical_id = template["Id"]["Ref"]

    assert template == {
        "Id": {"Ref": logical_id},
        "Version": {"Fn::GetAtt": [logical_id, "LatestVersionNumber"]},
    }


# Managers


@pytest.fixture(scope="module")
def every_manager() -> list[Values]:
    plan = plan_cluster(kubernetes_version="1.35", nodegroups=[], keep=EVERY_MANAGER)
    return device_manifests(plan, images=ImageSource(region="us-east-2"))


def plans_of(each: AcceleratedInstanceType) -> Iterator[NodegroupPlan]:
    """A type by plugin, and by DRA where that is there, with EFA where the type has it."""
    capacity = Capacity.block(ID) if each.name.startswith("p6e") else Capacity.on_demand()
    for mechanism in (PLUGIN,) if each.family == "inf1" else (PLUGIN, DRA):
        group = NodegroupSpec(
            name="a",
            instance_type=each.name,
            max_size=1,
            capacity=capacity,
            mechanism=mechanism,
            efa=True if each.max_efa_interfaces else None,
        )
        yield plan_nodegroup(group, kubernetes_version="1.35")


EVERY_TYPE = [*AcceleratedInstanceType.all(), *AcceleratedInstanceType.efa_only()]


def test_a_node_of_any_type_gets_the_managers_of_its_own_devices_and_no_others(every_manager):
    seen = set()
    for plan in (plan for each in EVERY_TYPE for plan in plans_of(each)):
        found = served(every_manager, dict(plan.labels))

        assert found == expected(plan), plan.instance_type
        assert ("efa" in [kind for kind, _, _ in found]) == bool(plan.network_interfaces)
        seen.add(plan.instance_type)
    # Those that lists of types came to late.
    assert {"p6-b200.48xlarge", "p5en.48xlarge", "g7.48xlarge", "trn2.48xlarge"} <= seen


@pytest.mark.parametrize("compute", ["auto", "fargate", "hybrid"])
def test_no_manager_lands_on_nodes_that_bring_their_own(every_manager, fleet, compute):
    for name in ("Trn2", "P4d", "Inf2"):
        labels = labels_of(fleet, name)

        assert served(every_manager, labels)
        assert served(every_manager, labels | {COMPUTE_TYPE: compute}) == []


def test_a_neuron_group_gets_one_plugin_and_that_is_the_pinned_one(fleet):
    release = DriverRelease.of(device_type=DeviceType.NEURON, mechanism=PLUGIN)
    images = [one["image"] for one in fleet.containers() if "neuron-device-plugin" in one["image"]]
    names = [
        item["metadata"]["name"]
        for item in fleet.objects()
        if item["kind"] == "DaemonSet" and "neuron-device-plugin" in json.dumps(item)
    ]

    assert served(fleet.objects(), labels_of(fleet, "Inf2")) == [
        ("neuron", "device-plugin", "default")
    ]
    assert images == [f"{release.image}:{release.tag}"]
    assert names == ["neuron-device-plugin"]


def test_nothing_that_is_installed_brings_a_kernel_driver_or_an_operator(fleet):
    images = {one["image"].rpartition(":")[0] for one in fleet.containers()}
    kinds = {item["kind"] for item in fleet.objects()}

    assert {image.partition("/")[2] for image in images} == {
        "neuron/neuron-dra-driver",
        "neuron/neuron-device-plugin",
        "dra-driver-nvidia/dra-driver-nvidia-gpu",
        "nvidia/k8s-device-plugin",
        "eks/dranet",
        "eks/aws-efa-k8s-device-plugin",
    }
    # Policies of the GPU and network operators, which load drivers.
    assert {"ClusterPolicy", "NVIDIADriver", "NicClusterPolicy"}.isdisjoint(kinds)


# kubectl and CloudFormation


def test_a_manifest_fits_into_the_call_that_applies_it(fleet):
    manifests = fleet.manifests()

    assert len(manifests) > len(EVERY_MANAGER)
    assert max(map(len, manifests)) < LARGEST_MANIFEST
    crds = [item for item in fleet.objects() if item["kind"] == "CustomResourceDefinition"]
    assert crds
    for text in manifests:
        # A large kind does not share a call with anything.
        assert '"CustomResourceDefinition"' not in text or len(json.loads(text)) == 1


def test_kubectl_prunes_nothing_whatever_its_version(fleet):
    for one in fleet.of_kind(MANIFEST).values():
        assert "PruneLabel" not in one["Properties"]
        assert "aws.cdk.eks/prune" not in one["Properties"]["Manifest"]


def test_a_cluster_that_applies_manifests_needs_a_kubectl(make_world, faults_of):
    found = faults_of(make_world, delivery=lambda _: Delivery.kubectl())

    assert found == {("KubectlLayerNeeded", "delivery.kubectl_layer")}


@pytest.mark.parametrize(("version", "refused"), [("1.34", False), ("1.35", False), ("1.36", True)])
def test_a_kubectl_of_another_minor_than_the_cluster_s_is_refused(
    make_world, faults_of, version, refused
):
    from aws_cdk.lambda_layer_kubectl_v34 import KubectlV34Layer

    def delivery(stack: cdk.Stack) -> Delivery:
        return Delivery.kubectl(kubectl_layer=KubectlV34Layer(stack, "Kubectl"))

    if refused:
        found = faults_of(make_world, version=version, delivery=delivery)
        assert found == {("KubectlOfOtherMinor", "delivery.kubectl_layer")}
    else:
        assert make_world(version=version, delivery=delivery).cluster


def test_a_group_is_deleted_before_all_that_it_needs(fleet):
    # CloudFormation deletes what a resource refers to or waits for after the resource itself.
    group = fleet.id_of("Switched")
    needed = fleet.needed(group)
    rules = ("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress")
    own = [name for kind in rules for name in fleet.of_kind(kind) if "Efa" in name]
    kinds = {fleet.resources[name]["Type"] for name in needed}

    assert {"AWS::EC2::LaunchTemplate", "AWS::EC2::PlacementGroup", MANIFEST} <= kinds
    assert {"AWS::EC2::SecurityGroup", "AWS::EKS::Cluster"} <= kinds
    assert len(own) == 2
    assert {*own} <= needed
    assert not [name for name in needed if group in fleet.needed(name)]
