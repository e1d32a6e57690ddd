"""One cluster, or two of one name: what is known of it, and what stacks share of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_lambda as lambda_
from aws_cdk.assertions import Annotations, Match, Template

from eks_device_constructs import (
    AcceleratedCluster,
    AcceleratedNodegroup,
    AuthenticationMode,
    ClusterReference,
    Delivery,
    DeviceDrivers,
    ExternalDrivers,
)
from eks_devices import Capacity, DeviceRequest, EksDevicesError

NODEGROUP, ROLE, SECURITY_GROUP = (
    "AWS::EKS::Nodegroup",
    "AWS::IAM::Role",
    "AWS::EC2::SecurityGroup",
)
HANDLER = "arn:aws:lambda:us-east-2:111122223333:function:kubectl"
KUBECTL = "Custom::AWSCDK-EKS-KubernetesResource"
G6E: dict[str, Any] = {"instance_type": "g6e.12xlarge", "max_size": 2}
P5: dict[str, Any] = {
    "instance_type": "p5.48xlarge",
    "max_size": 2,
    "capacity": Capacity.block("cr-0123456789abcdef0"),
}


@pytest.fixture
def app(tmp_path) -> cdk.App:
    return cdk.App(outdir=str(tmp_path / "out"))


def stack_of(
    app: cdk.App, name: str = "Workers", region: str | None = "us-east-2", account: Any = None
) -> cdk.Stack:
    return cdk.Stack(app, name, env=cdk.Environment(region=region, account=account))


def network(scope: cdk.Stack, vpc_id: str = "vpc-0123456789abcdef0") -> ec2.IVpc:
    return ec2.Vpc.from_vpc_attributes(
        scope,
        f"Vpc{len(scope.node.children)}",
        vpc_id=vpc_id,
        availability_zones=["us-east-2a", "us-east-2b"],
        private_subnet_ids=["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
    )


def reference(**options: Any) -> ClusterReference:
    given = {"name": "theirs", "version": "1.34", "security_group": "sg-0123456789abcdef0"}
    return ClusterReference(**(given | options))


def imported(scope: cdk.Stack, **options: Any) -> eks.ICluster:
    given = {
        "cluster_name": "theirs",
        "cluster_security_group_id": "sg-0123456789abcdef0",
        "vpc": network(scope),
    }
    return eks.Cluster.from_cluster_attributes(scope, "Theirs", **(given | options))


def cluster_of_the_cdk(scope: cdk.Stack, **options: Any) -> eks.Cluster:
    return eks.Cluster(
        scope,
        "Theirs",
        version=eks.KubernetesVersion.V1_34,
        vpc=ec2.Vpc(scope, "Vpc", max_azs=2),
        default_capacity_type=eks.DefaultCapacityType.NODEGROUP,
        default_capacity=0,
        **options,
    )


def own_cluster(scope: cdk.Stack, **options: Any) -> AcceleratedCluster:
    vpc = ec2.Vpc(scope, "Vpc", max_azs=2)
    version = eks.KubernetesVersion.V1_34
    return AcceleratedCluster(scope, "Cluster", vpc=vpc, version=version, **options)


def subnet_in(scope: cdk.Stack) -> ec2.ISubnet:
    id_ = f"Subnet{len(scope.node.children)}"
    return ec2.Subnet.from_subnet_id(scope, id_, "subnet-0123456789abcdef2")


def group_of(scope: cdk.Stack, cluster: Any, name: str = "Gpus", **options: Any) -> Any:
    given = G6E | {"drivers": ExternalDrivers()} | options
    if "subnet" not in given:
        given["subnet"] = subnet_in(scope)
    return AcceleratedNodegroup(scope, name, cluster=cluster, **given)


def resources(scope: cdk.Stack, kind: str) -> list[Any]:
    return [
        one["Properties"]
        for one in Template.from_stack(scope).to_json().get("Resources", {}).values()
        if one["Type"] == kind
    ]


def names_of(app: cdk.App, *stacks: str) -> set[str]:
    out = Path(app.synth().directory)
    return {
        one["Properties"]["NodegroupName"]
        for stack in stacks
        for one in json.loads((out / f"{stack}.template.json").read_text())["Resources"].values()
        if one["Type"] == NODEGROUP
    }


ELSEWHERE = [
    {"region": "us-west-2", "account": "111122223333"},
    {"region": "us-east-2", "account": "444455556666"},
]


@pytest.mark.parametrize("elsewhere", ELSEWHERE)
@pytest.mark.parametrize("is_import", [True, False])
def test_a_name_in_two_places_stands_for_two_clusters(app, elsewhere, is_import):
    first = stack_of(app, "First", account="111122223333")
    second = stack_of(app, "Second", **elsewhere)

    for scope, version in ((first, "1.34"), (second, "1.35")):
        cluster = imported(scope) if is_import else reference(version=version, vpc=network(scope))
        DeviceDrivers(
            scope,
            "Drivers",
            cluster=cluster,
            kubernetes_version=version,
            delivery=Delivery.gitops(f"manifests-{version}"),
        )
        group_of(scope, cluster, drivers=None, kubernetes_version=version, **P5)

    for scope, version in ((first, "1.34"), (second, "1.35")):
        assert [one["Version"] for one in resources(scope, NODEGROUP)] == [version]
        assert len(resources(scope, SECURITY_GROUP)) == 1


def test_stacks_without_a_place_are_in_the_same_one(app, faults_of):
    first, second = cdk.Stack(app, "First"), cdk.Stack(app, "Second")
    group_of(first, reference())

    found = faults_of(group_of, second, reference(version="1.35"))

    assert found == {("VersionsDiffer", "nodegroups.Gpus.kubernetes_version")}


def test_a_token_stands_for_one_cluster_however_often_it_is_written(app, faults_of):
    stack = stack_of(app)
    vpc = network(stack)

    def cluster(**options: Any) -> ClusterReference:
        return reference(name=cdk.Fn.import_value("Theirs"), vpc=vpc, **options)

    DeviceDrivers(stack, "Drivers", cluster=cluster(), delivery=Delivery.gitops("manifests"))
    for name in ("A", "B"):
        group_of(stack, cluster(), name, drivers=None, **P5)

    assert len(resources(stack, SECURITY_GROUP)) == len(resources(stack, ROLE)) == 1
    Annotations.from_stack(stack).has_no_warning("*", Match.string_like_regexp("NoDrivers"))
    assert faults_of(group_of, stack, cluster(version="1.35"), "C") == {
        ("VersionsDiffer", "nodegroups.C.kubernetes_version")
    }


def test_a_token_that_nothing_stands_behind_is_told(app, faults_of):
    found = faults_of(group_of, stack_of(app), reference(name="${Token[TOKEN.99999]}"))

    assert ("UnknownToken", "nodegroups.Gpus.cluster.name") in found


@pytest.mark.parametrize("is_import", [True, False])
def test_no_name_of_a_group_depends_on_the_order_of_stacks(tmp_path, is_import):
    found = []
    for order in (("A", "B"), ("B", "A"), ("B",)):
        app = cdk.App(outdir=str(tmp_path / "".join(order)))
        stacks = {name: stack_of(app, name) for name in ("A", "B")}
        for name in order:
            scope = stacks[name]
            cluster = imported(scope) if is_import else reference(vpc=network(scope))
            version = "1.34"
            group_of(scope, cluster, f"Gpus{name}", kubernetes_version=version, **P5)
        found.append(names_of(app, *order))

    assert found[0] == found[1]
    assert found[2] < found[0]


def test_each_stack_has_its_own_role_and_efa_group_and_all_have_one_plan(app):
    first, second = stack_of(app, "First"), stack_of(app, "Second")
    for scope, name in ((first, "A"), (first, "B"), (second, "C")):
        group_of(scope, reference(vpc=network(scope)), name, **P5)

    out = Path(app.synth().directory)

    for scope in (first, second):
        assert len(resources(scope, SECURITY_GROUP)) == len(resources(scope, ROLE)) == 1
        assert "Fn::ImportValue" not in json.dumps(Template.from_stack(scope).to_json())
    (plan,) = json.loads((out / "First.eks-devices.json").read_text())["clusters"]
    assert [one["name"] for one in plan["plan"]["nodegroups"]] == ["A", "B", "C"]
    assert not (out / "Second.eks-devices.json").exists()


@pytest.mark.parametrize("is_import", [True, False])
def test_a_group_at_fault_leaves_nothing_and_its_version_may_be_corrected(
    app, faults_of, is_import
):
    stack = stack_of(app)
    cluster = imported(stack) if is_import else None
    given = {"subnet": subnet_in(stack), "instance_type": "p9.large"}
    before = [one.node.id for one in stack.node.children]

    faults_of(group_of, stack, cluster or reference(), kubernetes_version="1.34", **given)

    assert [one.node.id for one in stack.node.children] == before
    assert not list(Path(app.synth().directory).glob("*.eks-devices.json"))
    later = cluster or reference(version="1.35")
    group = group_of(stack, later, kubernetes_version="1.35")
    assert group.plan.kubernetes_version == "1.35"


def test_a_failed_installation_leaves_nothing(app, faults_of):
    stack = stack_of(app)

    faults_of(DeviceDrivers, stack, "Drivers", cluster=reference(), delivery=Delivery.kubectl())

    assert not stack.node.children


def test_the_version_of_a_cluster_of_the_app_is_not_contradicted(app, faults_of):
    stack = stack_of(app)
    cluster = cluster_of_the_cdk(stack)

    found = faults_of(group_of, stack, cluster, kubernetes_version="1.35")

    assert found == {("VersionsDiffer", "nodegroups.Gpus.kubernetes_version")}
    assert group_of(stack, cluster, kubernetes_version="1.34").plan.kubernetes_version == "1.34"


def test_a_later_reference_completes_an_earlier_one(app):
    stack = stack_of(app)
    access = {"endpoint": "https://theirs.example.com", "certificate_authority": "Q0E="}
    group_of(stack, reference(), "A")
    group_of(stack, reference(vpc=network(stack)), "B", **P5)
    group_of(stack, reference(**access), "C")

    # What any of them said is known to the next.
    joined = group_of(
        stack,
        reference(service_ipv4_cidr="10.100.0.0/16"),
        "D",
        **P5,
        ami_id="ami-0123456789abcdef0",
    )

    assert joined.plan.ami_type == "CUSTOM"


def test_an_import_takes_what_a_reference_said(app):
    stack = stack_of(app)
    group_of(stack, reference(), "A")

    bare = imported(stack, cluster_security_group_id=None, vpc=None)

    assert group_of(stack, bare, "B").plan.kubernetes_version == "1.34"


@pytest.mark.parametrize(
    ("option", "first", "second"),
    [
        ("security_group", "sg-0123456789abcdef0", "sg-0123456789abcdef1"),
        ("endpoint", "https://a.example.com", "https://b.example.com"),
        ("certificate_authority", "Q0E=", "Q0I="),
        ("service_ipv4_cidr", "10.100.0.0/16", "172.20.0.0/16"),
        ("authentication_mode", AuthenticationMode.API, AuthenticationMode.CONFIG_MAP),
    ],
)
def test_two_references_may_not_contradict_each_other(app, faults_of, option, first, second):
    stack = stack_of(app)
    group_of(stack, reference(**{option: first}), "A")

    found = faults_of(group_of, stack, reference(**{option: second}), "B")

    assert found == {("ReferencesDiffer", f"nodegroups.B.cluster.{option}")}
    assert stack.node.try_find_child("B") is None
    group_of(stack, reference(**{option: first}), "C")


def test_two_networks_of_one_cluster_are_refused(app, faults_of):
    stack = stack_of(app)
    group_of(stack, reference(vpc=network(stack)), "A")
    other = network(stack, "vpc-0123456789abcdef1")

    found = faults_of(group_of, stack, reference(vpc=other), "B")

    assert found == {("ReferencesDiffer", "nodegroups.B.cluster.vpc")}


def test_what_is_a_token_contradicts_nothing_and_counts_for_its_group(app):
    stack = stack_of(app)
    group_of(stack, reference(), "A")

    group_of(stack, reference(security_group=cdk.Fn.import_value("Group")), "B")

    groups = [
        one["LaunchTemplateData"]["SecurityGroupIds"]
        for one in resources(stack, "AWS::EC2::LaunchTemplate")
    ]
    assert groups == [["sg-0123456789abcdef0"], [{"Fn::ImportValue": "Group"}]]


def test_nodes_let_in_by_the_config_map_are_warned_of_once(app):
    stack = stack_of(app)
    for name in ("A", "B"):
        mode = AuthenticationMode.CONFIG_MAP
        group_of(stack, reference(authentication_mode=mode), name)

    found = Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp("aws-auth"))
    assert len(found) == 1


@pytest.mark.parametrize("by_token", [True, False])
@pytest.mark.parametrize("make", [own_cluster, cluster_of_the_cdk])
def test_a_reference_finds_a_cluster_of_the_app(app, faults_of, make, by_token):
    stack, workers = stack_of(app, "Cluster"), stack_of(app, "Workers")
    cluster = make(stack, cluster_name="ours")
    made = getattr(cluster, "cluster", cluster)
    group_of(stack, cluster, "A")
    name = made.cluster_name if by_token else "ours"

    group_of(workers, reference(name=name), "B")

    assert faults_of(group_of, workers, reference(name=name), "A") == {
        ("RepeatedName", "nodegroups.A.name")
    }
    assert faults_of(group_of, workers, reference(name=name, version="1.35"), "C") == {
        ("VersionsDiffer", "nodegroups.C.kubernetes_version")
    }
    # The cluster of this library is known before all its groups, and gives them its role.
    assert len(resources(workers, ROLE)) == (0 if make is own_cluster else 1)


def test_a_reference_to_the_apps_own_cluster_brings_no_second_installation(app, faults_of):
    stack = stack_of(app)
    own_cluster(stack, cluster_name="ours", delivery=Delivery.gitops("manifests"))

    found = faults_of(
        DeviceDrivers,
        stack,
        "Drivers",
        cluster=reference(name="ours"),
        delivery=Delivery.gitops("manifests"),
    )

    assert found == {("SecondDefaultInstallation", "drivers")}


def test_a_cluster_comes_before_references_to_it(app, faults_of):
    stack = stack_of(app)
    group_of(stack, reference(name="ours"))

    found = faults_of(own_cluster, stack, cluster_name="ours")

    assert found == {("ReferenceBeforeCluster", "cluster_name")}
    assert stack.node.try_find_child("Cluster") is None


@pytest.mark.parametrize("elsewhere", [*ELSEWHERE, {"region": None}])
@pytest.mark.parametrize("make", [own_cluster, cluster_of_the_cdk])
def test_nodes_join_clusters_of_their_own_place(app, faults_of, make, elsewhere):
    cluster = make(stack_of(app, "Cluster", account="111122223333"))
    other = stack_of(app, **elsewhere)

    found = faults_of(group_of, other, cluster)

    assert found == {("AnotherEnvironment", "nodegroups.Gpus.cluster")}
    assert other.node.try_find_child("Gpus") is None


def test_an_installation_stands_in_the_place_of_its_cluster(app, faults_of):
    cluster = imported(stack_of(app, "Cluster"))
    other = stack_of(app, region="us-west-2")

    found = faults_of(
        DeviceDrivers,
        other,
        "Drivers",
        cluster=cluster,
        kubernetes_version="1.34",
        delivery=Delivery.gitops("manifests"),
    )

    assert found == {("AnotherEnvironment", "drivers.cluster")}


def test_an_import_is_used_where_only_the_deployment_knows_the_place(app):
    cluster = imported(cdk.Stack(app, "Cluster"))

    group = group_of(stack_of(app), cluster, kubernetes_version="1.34")

    assert group.plan.name == "Gpus"


def test_addresses_of_an_ipv6_cluster_are_not_counted(app):
    stack = stack_of(app)
    vpc = ec2.Vpc(stack, "Dual", max_azs=2, ip_protocol=ec2.IpProtocol.DUAL_STACK)
    cluster = eks.Cluster(
        stack,
        "Theirs",
        version=eks.KubernetesVersion.V1_34,
        vpc=vpc,
        ip_family=eks.IpFamily.IP_V6,
        default_capacity_type=eks.DefaultCapacityType.NODEGROUP,
        default_capacity=0,
    )

    group_of(stack, cluster, subnet=None, max_size=400)

    app.synth()
    shown = Annotations.from_stack(stack)
    shown.has_warning("*", Match.string_like_regexp("IPv6 addresses.*ack: eks-devices:Ipv6Cluster"))
    shown.has_no_warning("*", Match.string_like_regexp("eks-devices:IpBudget"))


@pytest.mark.parametrize("family", [None, eks.IpFamily.IP_V4])
def test_clusters_with_ipv4_addresses_are_not_warned_of(app, family):
    stack = stack_of(app)

    group_of(stack, imported(stack, ip_family=family), kubernetes_version="1.34")

    Annotations.from_stack(stack).has_no_warning("*", Match.string_like_regexp("Ipv6Cluster"))


def test_what_is_wrong_with_the_cluster_hides_no_fault_of_the_group(app, faults_of):
    stack = stack_of(app)
    bare = imported(stack, cluster_security_group_id=None)
    wrong = {"instance_type": "p9.large", "max_size": 0, "drivers": 5}

    assert faults_of(group_of, stack, bare, **wrong) == {
        ("KubernetesVersionNeeded", "nodegroups.Gpus.kubernetes_version"),
        ("ClusterSecurityGroupNeeded", "nodegroups.Gpus.cluster"),
        ("UnknownInstanceType", "nodegroups.Gpus.instance_type"),
        ("OutOfRange", "nodegroups.Gpus.max_size"),
        ("WrongType", "nodegroups.Gpus.drivers"),
    }
    assert ("OutOfRange", "nodegroups.Gpus.max_size") in faults_of(group_of, stack, None, **wrong)


def test_a_right_group_of_a_wrong_cluster_has_no_fault_of_its_own(app, faults_of):
    found = faults_of(group_of, stack_of(app), None, **P5)

    assert found == {("WrongType", "nodegroups.Gpus.cluster")}


def made_provider(scope: cdk.Stack, cluster: AcceleratedCluster) -> eks.KubectlProvider:
    layer = lambda_.LayerVersion.from_layer_version_arn(
        scope, "Kubectl", "arn:aws:lambda:us-east-2:111122223333:layer:kubectl:1"
    )
    made: Any = cluster.cluster
    return eks.KubectlProvider(scope, "Provider", cluster=made, kubectl_layer=layer)


def namespaces(scope: cdk.Stack) -> list[str]:
    texts = [json.dumps(one["Manifest"]) for one in resources(scope, KUBECTL)]
    return [one for one in texts if '\\"kind\\":\\"Namespace\\"' in one and "train" in one]


def add_claim(group: Any, name: str = "gpu", *, create: bool = True) -> None:
    requests = [DeviceRequest.gpu(1)]
    group.add_resource_claim_template(
        name, namespace="train", create_namespace=create, requests=requests
    )


def test_a_namespace_stands_where_its_handler_is(app):
    cluster_stack, workers = stack_of(app, "Cluster"), stack_of(app, "Workers")
    cluster = own_cluster(cluster_stack)
    delivery = Delivery.kubectl(provider=made_provider(workers, cluster))
    group = group_of(workers, cluster, drivers=ExternalDrivers(delivery=delivery))

    add_claim(group)

    app.synth()
    assert len(namespaces(workers)) == 1
    assert not namespaces(cluster_stack)


def test_stacks_that_refer_to_a_cluster_do_not_wait_for_each_others_namespaces(app):
    stacks = [stack_of(app, "First"), stack_of(app, "Second")]
    groups = []
    for scope in stacks:
        provider = eks.KubectlProvider.from_kubectl_provider_attributes(
            scope, "Provider", service_token=HANDLER
        )
        delivery = Delivery.kubectl(provider=provider)
        drivers = ExternalDrivers(delivery=delivery)
        groups.append(group_of(scope, reference(), f"Gpus{scope.node.id}", drivers=drivers))
    for group in (*groups, *reversed(groups)):
        add_claim(group, f"gpu-{group.node.id.lower()}-{len(group.node.children)}")

    app.synth()

    assert [len(namespaces(one)) for one in stacks] == [1, 1]
    assert not [one for stack in stacks for one in stack.dependencies]


def test_a_claim_that_came_before_its_namespace_waits_for_it(app):
    workers = stack_of(app)
    cluster = own_cluster(stack_of(app, "Cluster"))
    delivery = Delivery.kubectl(provider=made_provider(workers, cluster))
    group = group_of(workers, cluster, drivers=ExternalDrivers(delivery=delivery))
    add_claim(group, create=False)

    add_claim(group, "later")

    template = Template.from_stack(workers).to_json()["Resources"]
    (space,) = [
        key
        for key, one in template.items()
        if one["Type"] == KUBECTL and '"kind":"Namespace"' in json.dumps(one).replace("\\", "")
    ]
    claims = [one for key, one in template.items() if one["Type"] == KUBECTL and key != space]
    assert [space in one["DependsOn"] for one in claims] == [True, True]


@pytest.mark.parametrize("make", [own_cluster, cluster_of_the_cdk])
def test_a_cluster_that_was_removed_again_binds_nobody(app, make):
    stack, workers = stack_of(app, "Cluster"), stack_of(app, "Workers")
    group_of(stack, make(stack, cluster_name="ours"), "A")
    for child in stack.node.children:
        stack.node.try_remove_child(child.node.id)

    group_of(workers, reference(name="ours", version="1.35"), "B")
    app.synth()

    assert [one["ClusterName"] for one in resources(workers, NODEGROUP)] == ["ours"]
    assert not workers.dependencies


def test_a_cluster_that_was_made_anew_is_found_by_its_name(app):
    stack, workers = stack_of(app, "Cluster"), stack_of(app, "Workers")
    own_cluster(stack, cluster_name="ours")
    stack.node.try_remove_child("Cluster")
    vpc: Any = stack.node.find_child("Vpc")
    version = eks.KubernetesVersion.V1_35
    AcceleratedCluster(stack, "Anew", vpc=vpc, version=version, cluster_name="ours")

    group = group_of(workers, reference(name="ours", version="1.35"))

    assert group.plan.kubernetes_version == "1.35"


def test_stacks_keep_tags_and_plan_when_the_first_was_removed(app):
    for name in ("First", "Second", "Third"):
        group_of(stack_of(app, name), reference(), f"Gpus{name}")
    cdk.Tags.of(app).add("team", "a")
    app.node.try_remove_child("First")

    out = Path(app.synth().directory)

    (plan,) = json.loads((out / "Second.eks-devices.json").read_text())["clusters"]
    assert [one["name"] for one in plan["plan"]["nodegroups"]] == ["GpusSecond", "GpusThird"]
    assert [one.name for one in out.glob("*.eks-devices.json")] == ["Second.eks-devices.json"]
    for name in ("Second", "Third"):
        assert '"team"' in (out / f"{name}.template.json").read_text()


@pytest.mark.parametrize("by_token", [True, False])
def test_a_group_on_a_cluster_of_the_cdk_renames_no_group_of_another_stack(tmp_path, by_token):
    found = []
    for with_group in (False, True):
        app = cdk.App(outdir=str(tmp_path / f"{with_group}"))
        stack, workers = stack_of(app, "Cluster"), stack_of(app, "Workers")
        made: Any = cluster_of_the_cdk(stack, cluster_name="ours")
        if with_group:
            group_of(stack, made, "A")
        name = made.cluster_name if by_token else "ours"
        group_of(workers, reference(name=name, vpc=network(workers)), "B", **P5)
        found.append(names_of(app, "Workers"))

    assert found[0] == found[1]


def test_two_clusters_of_one_name_are_two_where_only_the_deployment_knows_their_place(app):
    plans: list[Any] = []
    for version in (eks.KubernetesVersion.V1_34, eks.KubernetesVersion.V1_35):
        stack = cdk.Stack(app, f"Stack{len(plans)}")
        cluster = eks.Cluster(
            stack,
            "Theirs",
            version=version,
            vpc=ec2.Vpc(stack, "Vpc", max_azs=2),
            cluster_name="ours",
            default_capacity_type=eks.DefaultCapacityType.NODEGROUP,
            default_capacity=0,
        )
        plans.append(group_of(stack, cluster).plan)

    app.synth()

    assert [one.kubernetes_version for one in plans] == ["1.34", "1.35"]


@pytest.mark.parametrize("later", ["reference", "cdk", "own"])
def test_references_whose_groups_were_removed_bind_nobody(app, later):
    stack = stack_of(app)
    given = {"name": "ours", "security_group": "sg-0123456789abcdef1", "version": "1.35"}
    group_of(stack, reference(**given), "A")
    stack.node.try_remove_child("A")

    made: Any = reference(name="ours")
    if later != "reference":
        made = (own_cluster if later == "own" else cluster_of_the_cdk)(stack, cluster_name="ours")
    group_of(stack, made, "B")

    assert group_of(stack, reference(name="ours"), "C").plan.kubernetes_version == "1.34"
    app.synth()


OF_STACK = [
    lambda: cdk.Fn.ref("ClusterName"),
    lambda: cdk.Token.as_string(cdk.Fn.get_att("Cluster", "Name")),
    lambda: cdk.Fn.join("-", [cdk.Aws.STACK_NAME, "cluster"]),
    lambda: cdk.Fn.sub("${AWS::StackName}-cluster"),
]
SHARED = [
    lambda: cdk.Fn.import_value("Theirs"),
    lambda: cdk.Fn.join("-", [cdk.Aws.REGION, "cluster"]),
]


@pytest.mark.parametrize("name", OF_STACK)
def test_what_only_a_stack_knows_stands_for_two_clusters_in_two_stacks(app, name):
    for stack, version in (("First", "1.34"), ("Second", "1.35")):
        group = group_of(stack_of(app, stack), reference(name=name(), version=version))
        assert group.plan.kubernetes_version == version


@pytest.mark.parametrize("name", SHARED)
def test_what_all_stacks_know_stands_for_one_cluster(app, name, faults_of):
    group_of(stack_of(app, "First"), reference(name=name()))

    found = faults_of(group_of, stack_of(app, "Second"), reference(name=name(), version="1.35"))

    assert found == {("VersionsDiffer", "nodegroups.Gpus.kubernetes_version")}


@pytest.mark.parametrize("is_stage", [True, False])
def test_a_name_of_a_resource_elsewhere_is_told(app, faults_of, is_stage):
    theirs: Any = cdk.Stage(app, "Prod") if is_stage else app
    stack: Any = stack_of(theirs, "Cluster", region="us-east-2" if is_stage else "us-west-2")
    made = eks.CfnCluster(
        stack,
        "Theirs",
        role_arn="arn:aws:iam::111122223333:role/cluster",
        resources_vpc_config=eks.CfnCluster.ResourcesVpcConfigProperty(subnet_ids=[]),
    )

    found = faults_of(group_of, stack_of(app), reference(name=made.ref))

    code = "AnotherStage" if is_stage else "AnotherEnvironment"
    assert found == {(code, "nodegroups.Gpus.cluster")}


def handler_in(scope: cdk.Stack) -> eks.IKubectlProvider:
    return eks.KubectlProvider.from_kubectl_provider_attributes(
        scope, "Provider", service_token=HANDLER
    )


def test_a_group_waits_for_no_scope_that_waits_for_the_groups_own_stack(app, faults_of):
    first, second = stack_of(app, "First"), stack_of(app, "Second")
    cluster, delivery = reference(kubectl_provider=handler_in(first)), Delivery.kubectl()
    DeviceDrivers(first, "Drivers", cluster=cluster, delivery=delivery)
    scoped = DeviceDrivers(second, "Scope", cluster=cluster, delivery=delivery, scope_name="x")
    group_of(first, cluster, "A", drivers=None)
    group_of(second, cluster, "B", drivers=scoped)

    found = faults_of(group_of, first, cluster, "C", drivers=scoped)

    assert found == {("DriversInAnotherStack", "nodegroups.C.drivers")}
    app.synth()


@pytest.mark.parametrize("scope", [None, 5, "Workers", "app", "stage"])
def test_what_stands_in_no_stack_is_told(app, faults_of, scope):
    places = {"app": app, "stage": cdk.Stage(app, "Prod")}
    where = places.get(scope, scope)

    with pytest.raises(EksDevicesError) as caught:
        AcceleratedNodegroup(where, "Gpus", cluster=reference(), **G6E)

    (one,) = caught.value.faults
    assert (one.code, one.path) == ("WrongType", "nodegroups.Gpus.scope")
    assert faults_of(
        DeviceDrivers, where, "Drivers", cluster=reference(), delivery=Delivery.gitops("manifests")
    ) == {("WrongType", "drivers.scope")}
    vpc = ec2.Vpc(stack_of(app), "Vpc")
    version = eks.KubernetesVersion.V1_34
    assert faults_of(AcceleratedCluster, where, "Cluster", vpc=vpc, version=version) == {
        ("WrongType", "cluster.scope")
    }
