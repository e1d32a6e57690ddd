"""Node groups and installations on clusters that the library did not make."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks as eks_v1
from aws_cdk import aws_eks_v2 as eks
from aws_cdk.assertions import Annotations, Match, Template
from tests.hostile import Hostile, Untouchable

from eks_device_constructs import (
    AcceleratedNodegroup,
    AuthenticationMode,
    ClusterReference,
    Delivery,
    DeviceDrivers,
    ExternalDrivers,
)
from eks_devices import (
    Capacity,
    DeviceRequest,
    DeviceType,
    EksDevicesError,
    Mechanism,
    OperatingSystem,
)

KUBECTL = "Custom::AWSCDK-EKS-KubernetesResource"
BLOCK = Capacity.block("cr-0123456789abcdef0")
TOKEN = "arn:aws:lambda:us-east-2:111122223333:function:kubectl"
G6E: dict[str, Any] = {"instance_type": "g6e.12xlarge", "max_size": 2}
OWN_IMAGE: dict[str, Any] = {
    "instance_type": "g6e.12xlarge",
    "max_size": 2,
    "ami_id": "ami-0123456789abcdef0",
}
ACCESS = {"endpoint": "https://theirs.example.com", "certificate_authority": "Q0E="}
P5: dict[str, Any] = {"instance_type": "p5.48xlarge", "max_size": 2, "capacity": BLOCK}


@pytest.fixture
def app(tmp_path) -> cdk.App:
    return cdk.App(outdir=str(tmp_path / "out"))


@pytest.fixture
def stack(app: cdk.App) -> cdk.Stack:
    return cdk.Stack(app, "Workers", env=cdk.Environment(region="us-east-2"))


def network(scope: cdk.Stack) -> ec2.IVpc:
    return ec2.Vpc.from_vpc_attributes(
        scope,
        "Vpc",
        vpc_id="vpc-0123456789abcdef0",
        availability_zones=["us-east-2a", "us-east-2b"],
        private_subnet_ids=["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
    )


def reference(scope: cdk.Stack | None = None, **options: Any) -> ClusterReference:
    given: dict[str, Any] = {
        "name": "theirs",
        "version": "1.34",
        "security_group": "sg-0123456789abcdef0",
    }
    given |= {"vpc": network(scope)} if scope else {}
    return ClusterReference(**(given | options))


def provider(scope: cdk.Stack) -> eks.IKubectlProvider:
    return eks.KubectlProvider.from_kubectl_provider_attributes(
        scope, "Provider", service_token=TOKEN
    )


def subnet_of(scope: cdk.Stack) -> ec2.ISubnet:
    return ec2.Subnet.from_subnet_id(scope, "Subnet", "subnet-0123456789abcdef2")


def group_of(scope: cdk.Stack, cluster: Any, name: str = "Gpus", **options: Any) -> Any:
    return AcceleratedNodegroup(scope, name, cluster=cluster, **(G6E | options))


def resources(scope: cdk.Stack, kind: str) -> list[Any]:
    return list(Template.from_stack(scope).find_resources(kind).values())


def faults_of(call: Any) -> list[str]:
    with pytest.raises(EksDevicesError) as caught:
        call()
    return [one.code for one in caught.value.faults]


def test_a_group_joins_a_cluster_by_its_name(stack: cdk.Stack):
    group_of(stack, reference(stack), drivers=ExternalDrivers())

    (group,) = resources(stack, "AWS::EKS::Nodegroup")
    (template,) = resources(stack, "AWS::EC2::LaunchTemplate")
    assert group["Properties"]["ClusterName"] == "theirs"
    assert group["Properties"]["Version"] == "1.34"
    assert group["Properties"]["Subnets"] == [
        "subnet-0123456789abcdef0",
        "subnet-0123456789abcdef1",
    ]
    data = template["Properties"]["LaunchTemplateData"]
    assert data["SecurityGroupIds"] == ["sg-0123456789abcdef0"]
    assert resources(stack, "AWS::EKS::Cluster") == []


def test_nodes_of_a_reference_get_a_role_with_the_policies_of_eks(stack: cdk.Stack):
    group_of(stack, reference(stack), drivers=ExternalDrivers())

    (role,) = resources(stack, "AWS::IAM::Role")
    policies = json.dumps(role["Properties"]["ManagedPolicyArns"])
    for name in (
        "AmazonEKSWorkerNodePolicy",
        "AmazonEKS_CNI_Policy",
        "AmazonEC2ContainerRegistryPullOnly",
    ):
        assert name in policies
    assert "ec2.amazonaws.com" in json.dumps(role["Properties"]["AssumeRolePolicyDocument"])


def test_groups_of_two_equal_references_share_what_the_cluster_has_once(stack: cdk.Stack):
    first, second = reference(stack), reference()
    for name, one in (("A", first), ("B", second)):
        group_of(stack, one, name, **P5, subnet=subnet_of_once(stack), drivers=ExternalDrivers())

    assert len(resources(stack, "AWS::EC2::SecurityGroup")) == 1
    assert len(resources(stack, "AWS::IAM::Role")) == 1


def subnet_of_once(scope: cdk.Stack) -> Any:
    return scope.node.try_find_child("Subnet") or subnet_of(scope)


def test_an_imported_cluster_of_the_cdk_takes_groups(stack: cdk.Stack):
    cluster = eks.Cluster.from_cluster_attributes(
        stack,
        "Theirs",
        cluster_name="theirs",
        cluster_security_group_id="sg-0123456789abcdef0",
        vpc=network(stack),
    )

    group_of(stack, cluster, kubernetes_version="1.35", drivers=ExternalDrivers())

    (group,) = resources(stack, "AWS::EKS::Nodegroup")
    assert group["Properties"]["Version"] == "1.35"


def test_a_cluster_of_the_cdk_in_the_same_app_tells_its_version(stack: cdk.Stack):
    cluster = eks.Cluster(
        stack,
        "Theirs",
        version=eks.KubernetesVersion.V1_35,
        vpc=ec2.Vpc(stack, "Vpc"),
        default_capacity_type=eks.DefaultCapacityType.NODEGROUP,
        default_capacity=0,
    )

    group_of(stack, cluster, drivers=ExternalDrivers())

    (group,) = resources(stack, "AWS::EKS::Nodegroup")
    assert group["Properties"]["Version"] == "1.35"
    assert "Ref" in group["Properties"]["ClusterName"]


def test_the_version_of_an_import_must_be_named(stack: cdk.Stack):
    cluster = eks.Cluster.from_cluster_attributes(
        stack, "Theirs", cluster_name="theirs", cluster_security_group_id="sg-0123456789abcdef0"
    )

    assert faults_of(lambda: group_of(stack, cluster)) == ["KubernetesVersionNeeded"]


def test_two_versions_of_one_cluster_are_refused(stack: cdk.Stack):
    group_of(stack, reference(stack), drivers=ExternalDrivers())

    call = lambda: group_of(stack, reference(version="1.35"), "Other")  # noqa: E731
    assert faults_of(call) == ["VersionsDiffer"]


@pytest.mark.parametrize(
    "cluster",
    [
        eks.Cluster,
        ClusterReference,
        SimpleNamespace(cluster_name="theirs", cluster_security_group_id="sg-0123456789abcdef0"),
        SimpleNamespace(cluster_name=5, node=None),
    ],
)
def test_what_only_looks_like_a_cluster_is_told(stack: cdk.Stack, cluster):
    call = lambda: group_of(stack, cluster, kubernetes_version="1.34", drivers=ExternalDrivers())  # noqa: E731

    assert faults_of(call) == ["WrongType"]


@pytest.mark.parametrize(
    "handler",
    [
        eks.KubectlProvider,
        SimpleNamespace(service_token=None, node=None),
        SimpleNamespace(service_token=TOKEN, node=None),
    ],
)
def test_what_only_looks_like_a_handler_is_told(handler):
    assert faults_of(lambda: Delivery.kubectl(provider=handler)) == ["WrongType"]
    assert faults_of(lambda: reference(kubectl_provider=handler)) == ["WrongType"]


def test_a_range_of_ipv6_for_services_is_told_to_be_left_out():
    with pytest.raises(EksDevicesError) as caught:
        reference(service_ipv4_cidr="fd00::/108")

    (one,) = caught.value.faults
    assert "clusters with IPv4 addresses" in one.message


def test_a_cluster_of_aws_eks_is_told_to_be_referred_to(stack: cdk.Stack):
    cluster = eks_v1.Cluster.from_cluster_attributes(stack, "Old", cluster_name="old")

    with pytest.raises(EksDevicesError) as caught:
        group_of(stack, cluster, kubernetes_version="1.34")

    (one,) = caught.value.faults
    assert one.path == "nodegroups.Gpus.cluster"
    assert "ClusterReference(name=cluster.cluster_name" in one.fix


def test_an_import_without_its_security_group_is_refused(stack: cdk.Stack):
    cluster = eks.Cluster.from_cluster_attributes(stack, "Theirs", cluster_name="theirs")

    call = lambda: group_of(stack, cluster, kubernetes_version="1.34")  # noqa: E731
    assert faults_of(call) == ["ClusterSecurityGroupNeeded"]


def test_without_the_network_a_group_names_its_subnet(stack: cdk.Stack):
    assert faults_of(lambda: group_of(stack, reference())) == ["NoSubnets"]

    group_of(stack, reference(), subnet=subnet_of(stack), drivers=ExternalDrivers())

    (group,) = resources(stack, "AWS::EKS::Nodegroup")
    assert group["Properties"]["Subnets"] == ["subnet-0123456789abcdef2"]


def test_without_the_network_efa_needs_a_security_group_of_the_user(stack: cdk.Stack):
    subnet = subnet_of(stack)
    options = P5 | {"subnet": subnet, "drivers": ExternalDrivers()}

    assert faults_of(lambda: group_of(stack, reference(), **options)) == ["VpcNeeded"]

    own = ec2.SecurityGroup.from_security_group_id(stack, "Own", "sg-0123456789abcdef9")
    group_of(stack, reference(), **options, security_group=own)

    (template,) = resources(stack, "AWS::EC2::LaunchTemplate")
    for one in template["Properties"]["LaunchTemplateData"]["NetworkInterfaces"]:
        assert one["Groups"] == ["sg-0123456789abcdef0", "sg-0123456789abcdef9"]
    Annotations.from_stack(stack).has_warning(
        "*", Match.string_like_regexp("imported, so no rules are added .*ack: eks-devices:EfaRules")
    )


def test_a_provider_applies_the_managers_of_a_reference(stack: cdk.Stack):
    cluster = reference(stack, kubectl_provider=provider(stack))
    DeviceDrivers(stack, "Drivers", cluster=cluster, delivery=Delivery.kubectl())

    group = group_of(stack, cluster)
    group.add_resource_claim_template("gpu", namespace="train", requests=[DeviceRequest.gpu(1)])

    manifests = resources(stack, KUBECTL)
    assert {one["Properties"]["ServiceToken"] for one in manifests} == {TOKEN}
    assert {one["Properties"]["ClusterName"] for one in manifests} == {"theirs"}
    kinds = [
        item["kind"]
        for one in manifests
        for item in json.loads(_text(one["Properties"]["Manifest"]))
    ]
    assert {"DaemonSet", "DeviceClass", "ResourceClaimTemplate", "ConfigMap"} <= {*kinds}


def _text(manifest: Any) -> str:
    """A manifest without its tokens."""
    if isinstance(manifest, str):
        return manifest
    parts = manifest["Fn::Join"][1]
    return "".join(one if isinstance(one, str) else "token" for one in parts)


def test_a_provider_may_be_named_by_the_delivery(stack: cdk.Stack):
    cluster = reference(stack)
    named = Delivery.kubectl(provider=provider(stack))

    DeviceDrivers(stack, "Drivers", cluster=cluster, delivery=named)

    (marker,) = resources(stack, KUBECTL)
    assert marker["Properties"]["ServiceToken"] == TOKEN


def test_without_a_provider_kubectl_cannot_reach_a_cluster(stack: cdk.Stack):
    call = lambda: DeviceDrivers(  # noqa: E731
        stack, "Drivers", cluster=reference(stack), delivery=Delivery.kubectl()
    )

    assert faults_of(call) == ["NoKubectlProvider"]


def test_gitops_serves_a_reference(app: cdk.App, stack: cdk.Stack):
    cluster = reference(stack)
    DeviceDrivers(stack, "Drivers", cluster=cluster, delivery=Delivery.gitops("manifests"))
    group_of(stack, cluster)

    out = Path(app.synth().directory)

    files = list((out / "eks-devices").rglob("*.yaml"))
    assert any("kind: DaemonSet" in one.read_text() for one in files)
    plan = json.loads((out / "Workers.eks-devices.json").read_text())
    ((entry),) = plan["clusters"]
    assert [one["name"] for one in entry["plan"]["nodegroups"]] == ["Gpus"]


def test_a_scoped_installation_stands_where_the_default_is_in_another_app(stack: cdk.Stack):
    cluster = reference(stack, kubectl_provider=provider(stack))
    scoped = DeviceDrivers(
        stack, "Drivers", cluster=cluster, delivery=Delivery.kubectl(), scope_name="team"
    )

    group = group_of(stack, cluster, drivers=scoped, mechanism=Mechanism.DEVICE_PLUGIN)

    owner = group.plan.labels["eks-devices/gpu-manager"]
    assert owner.startswith("team-")
    names = json.dumps([one["Properties"]["Manifest"] for one in resources(stack, KUBECTL)])
    assert owner in names


def test_scopes_of_one_name_in_two_apps_do_not_meet(tmp_path):
    owners = []
    for name in ("WorkersA", "WorkersB"):
        app = cdk.App(outdir=str(tmp_path / name))
        stack = cdk.Stack(app, name)
        cluster = reference(stack, kubectl_provider=provider(stack))
        scoped = DeviceDrivers(
            stack, "Drivers", cluster=cluster, delivery=Delivery.kubectl(), scope_name="team"
        )
        group = group_of(stack, cluster, drivers=scoped, mechanism=Mechanism.DEVICE_PLUGIN)
        owners.append(group.plan.labels["eks-devices/gpu-manager"])

    assert owners[0] != owners[1]


def test_groups_of_another_app_are_served_by_its_default_installation(stack: cdk.Stack):
    cluster = reference(stack, kubectl_provider=provider(stack))

    group = group_of(stack, cluster, drivers=ExternalDrivers(delivery=Delivery.kubectl()))
    group.add_resource_claim_template("gpu", namespace="train", requests=[DeviceRequest.gpu(1)])

    assert group.plan.labels["eks-devices/gpu-manager"] == "default"
    (claim,) = resources(stack, KUBECTL)
    assert "ResourceClaimTemplate" in json.dumps(claim["Properties"]["Manifest"])


def test_a_group_that_nothing_serves_warns_on_any_cluster(stack: cdk.Stack):
    group_of(stack, reference(stack))

    Annotations.from_stack(stack).has_warning(
        "*", Match.string_like_regexp("nothing installs the managers")
    )


def test_nodes_let_in_by_the_config_map_are_warned_of(stack: cdk.Stack):
    cluster = reference(stack, authentication_mode=AuthenticationMode.CONFIG_MAP)

    group_of(stack, cluster, drivers=ExternalDrivers())

    Annotations.from_stack(stack).has_warning("*", Match.string_like_regexp("aws-auth"))


@pytest.mark.parametrize("mode", [None, *AuthenticationMode][:3])
def test_access_entries_need_no_warning(stack: cdk.Stack, mode: Any):
    group_of(stack, reference(stack, authentication_mode=mode), drivers=ExternalDrivers())

    Annotations.from_stack(stack).has_no_warning("*", Match.string_like_regexp("aws-auth"))


def test_every_fault_of_a_reference_comes_at_once():
    wrong: Any = ClusterReference

    with pytest.raises(EksDevicesError) as caught:
        wrong(
            name="a b",
            version="1.20",
            security_group="mine",
            kubectl_provider=5,
            vpc="vpc-1",
            authentication_mode="API",
            endpoint=5,
            service_ipv4_cidr="everything",
        )

    assert sorted(f"{one.code} {one.path}" for one in caught.value.faults) == [
        "MalformedCidr cluster.service_ipv4_cidr",
        "MalformedClusterName cluster.name",
        "UnsupportedKubernetesVersion cluster.version",
        "WrongType cluster.authentication_mode",
        "WrongType cluster.endpoint",
        "WrongType cluster.kubectl_provider",
        "WrongType cluster.security_group",
        "WrongType cluster.vpc",
    ]


@pytest.mark.parametrize(
    "services",
    ["999.1.1.1/99", "10.100.0.0", "10.100.0.1/16", "10.100.0.0/30", "8.8.0.0/16", "fd00::/108"],
)
def test_a_range_that_no_cluster_has_for_services_is_refused(services):
    with pytest.raises(EksDevicesError) as caught:
        reference(service_ipv4_cidr=services)

    (one,) = caught.value.faults
    assert (one.code, one.path) == ("MalformedCidr", "cluster.service_ipv4_cidr")
    assert "describe-cluster" in one.fix


@pytest.mark.parametrize(
    "services",
    ["10.100.0.0/16", cdk.Token.as_string({"Ref": "Services"})],
    ids=["range", "token"],
)
def test_a_range_of_services_or_a_token_for_one_is_taken(services):
    assert reference(service_ipv4_cidr=services).service_ipv4_cidr == services


@pytest.mark.parametrize(
    ("option", "paths"),
    [
        ("name", {"cluster.name"}),
        ("security_group", {"cluster.security_group"}),
        ("kubectl_provider", {"cluster.kubectl_provider"}),
        ("vpc", {"cluster.vpc"}),
        ("authentication_mode", {"cluster.authentication_mode"}),
        ("endpoint", {"cluster.endpoint"}),
        ("certificate_authority", {"cluster.certificate_authority"}),
        ("service_ipv4_cidr", {"cluster.service_ipv4_cidr"}),
    ],
)
@pytest.mark.parametrize("kind", [Hostile, Untouchable])
def test_a_reference_answers_what_raises_with_a_fault(option, paths, kind):
    with pytest.raises(EksDevicesError) as caught:
        reference(**{option: kind()})

    assert {one.code for one in caught.value.faults} == {"WrongType"}
    assert {one.path for one in caught.value.faults} == paths


@pytest.mark.parametrize(
    ("option", "code"),
    [
        ("subnet", "WrongType"),
        ("security_group", "WrongType"),
        ("node_role", "WrongType"),
        ("drivers", "WrongType"),
        ("kubernetes_version", "VersionsDiffer"),
    ],
)
@pytest.mark.parametrize("kind", [Hostile, Untouchable])
def test_a_group_answers_what_raises_with_a_fault(stack: cdk.Stack, option, code, kind):
    cluster = reference(stack)
    group_of(stack, cluster, "First", drivers=ExternalDrivers())

    with pytest.raises(EksDevicesError) as caught:
        group_of(stack, cluster, **{option: kind()})

    found = {(one.code, one.path) for one in caught.value.faults}
    assert (code, f"nodegroups.Gpus.{option}") in found
    assert stack.node.try_find_child("Gpus") is None


@pytest.mark.parametrize("kind", [Hostile, Untouchable, object])
def test_what_is_no_cluster_is_told(stack: cdk.Stack, kind):
    with pytest.raises(EksDevicesError) as caught:
        group_of(stack, kind(), kubernetes_version="1.34")

    (one,) = caught.value.faults
    assert (one.code, one.path) == ("WrongType", "nodegroups.Gpus.cluster")


@pytest.mark.parametrize(
    ("known", "missing"),
    [
        ({}, ("endpoint", "certificate authority", "range of Services")),
        (ACCESS, ("range of Services",)),
        ({"service_ipv4_cidr": "10.100.0.0/16"}, ("endpoint", "certificate authority")),
    ],
)
def test_an_image_of_the_user_needs_what_joins_its_nodes(stack: cdk.Stack, known, missing):
    with pytest.raises(EksDevicesError) as caught:
        group_of(stack, reference(stack, **known), **OWN_IMAGE, drivers=ExternalDrivers())

    (one,) = caught.value.faults
    assert (one.code, one.path) == ("ClusterAccessNeeded", "nodegroups.Gpus.ami_id")
    for words in ("endpoint", "certificate authority", "range of Services"):
        assert (words in one.got) is (words in missing)
    assert "service_ipv4_cidr" in one.fix


def test_an_image_of_the_user_joins_a_reference_that_says_how(stack: cdk.Stack):
    cluster = reference(stack, **ACCESS, service_ipv4_cidr="10.100.0.0/16")

    group_of(stack, cluster, **OWN_IMAGE, drivers=ExternalDrivers())

    (template,) = resources(stack, "AWS::EC2::LaunchTemplate")
    encoded = template["Properties"]["LaunchTemplateData"]["UserData"]
    text = base64.b64decode(encoded).decode()
    for part in ("https://theirs.example.com", "Q0E=", "10.100.0.0/16"):
        assert part in text


def test_bottlerocket_joins_without_the_range_of_services(stack: cdk.Stack):
    bottlerocket = {"operating_system": OperatingSystem.BOTTLEROCKET}

    group_of(
        stack,
        reference(stack, **ACCESS),
        **OWN_IMAGE,
        **bottlerocket,
        mechanism=Mechanism.DEVICE_PLUGIN,
        drivers=ExternalDrivers(),
    )

    (template,) = resources(stack, "AWS::EC2::LaunchTemplate")
    assert "UserData" in template["Properties"]["LaunchTemplateData"]


def test_a_name_may_be_a_token(stack: cdk.Stack):
    name = cdk.Fn.import_value("ClusterName")

    group_of(stack, reference(stack, name=name), drivers=ExternalDrivers())

    (group,) = resources(stack, "AWS::EKS::Nodegroup")
    assert group["Properties"]["ClusterName"] == {"Fn::ImportValue": "ClusterName"}


def test_an_external_manager_of_a_device_type_works_on_any_cluster(stack: cdk.Stack):
    foreign = ExternalDrivers(foreign={DeviceType.GPU})

    group = group_of(stack, reference(stack), drivers=foreign, mechanism=Mechanism.DEVICE_PLUGIN)

    assert group.plan.labels["eks-devices/gpu-manager"] == "external"


def test_a_cluster_below_dra_takes_device_plugins(stack: cdk.Stack):
    cluster = reference(stack, version="1.33")

    group = group_of(stack, cluster, mechanism=Mechanism.DEVICE_PLUGIN, drivers=ExternalDrivers())

    assert group.plan.devices[0].mechanism is Mechanism.DEVICE_PLUGIN
    assert "DraBelow134" in faults_of(
        lambda: group_of(stack, cluster, "Other", mechanism=Mechanism.DRA)
    )


def test_groups_in_two_stacks_share_a_security_group_of_the_user(app: cdk.App, stack: cdk.Stack):
    other = cdk.Stack(app, "More", env=cdk.Environment(region="us-east-2"))
    for scope, name in ((stack, "A"), (other, "B")):
        own = ec2.SecurityGroup.from_security_group_id(scope, "Own", "sg-0123456789abcdef9")
        given = P5 | {"subnet": subnet_of(scope), "security_group": own}
        group_of(scope, reference(), name, **given, drivers=ExternalDrivers())

    for scope in (stack, other):
        (template,) = resources(scope, "AWS::EC2::LaunchTemplate")
        for one in template["Properties"]["LaunchTemplateData"]["NetworkInterfaces"]:
            assert one["Groups"] == ["sg-0123456789abcdef0", "sg-0123456789abcdef9"]


def test_kubectl_of_another_minor_is_refused(stack: cdk.Stack):
    from aws_cdk.lambda_layer_kubectl_v34 import KubectlV34Layer

    layer = KubectlV34Layer(stack, "Kubectl")
    cluster = reference(stack, version="1.36", kubectl_provider=provider(stack))

    call = lambda: DeviceDrivers(  # noqa: E731
        stack, "Drivers", cluster=cluster, delivery=Delivery.kubectl(kubectl_layer=layer)
    )

    assert faults_of(call) == ["KubectlOfOtherMinor"]
