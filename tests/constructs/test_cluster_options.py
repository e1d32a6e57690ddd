"""What a user says of a new cluster: the resulting properties, and every fault.

cdk-nag does not look into clusters of aws_eks_v2, so logging, endpoints, encryption and access are
asserted here.
"""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Template
from tests.hostile import HostileList, Untouchable

from eks_device_constructs import AcceleratedCluster
from eks_device_constructs.node_role import node_role
from eks_devices import EksDevicesError

ADMIN = "arn:aws:iam::111122223333:role/dev/Admin"
USER = "arn:aws:iam::111122223333:user/somebody"
CNI_POLICY = ":iam::aws:policy/AmazonEKS_CNI_Policy"
Logs = eks.ClusterLoggingTypes


def cluster_of(world: Any) -> Any:
    return world.only("AWS::EKS::Cluster")["Properties"]


def resources(stack: cdk.Stack, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = Template.from_stack(stack).to_json()["Resources"]
    return {name: one for name, one in found.items() if one["Type"] == kind}


def addons_of(stack: cdk.Stack) -> dict[str, Any]:
    """The add-ons by name, and what each one waits for by the names of add-ons."""
    found = resources(stack, "AWS::EKS::Addon")
    return {one["Properties"]["AddonName"]: one for one in found.values()}


def policies_of(role: Any) -> set[str]:
    return {arn["Fn::Join"][1][-1].rpartition("/")[2] for arn in role["ManagedPolicyArns"]}


def role_of(stack: cdk.Stack, principal: str) -> Any:
    """The only role that a service may assume."""
    (found,) = (
        one
        for one in resources(stack, "AWS::IAM::Role").values()
        if one["Properties"]["AssumeRolePolicyDocument"]["Statement"][0]["Principal"]
        == {"Service": principal}
    )
    return found


@pytest.fixture
def stack(tmp_path) -> cdk.Stack:
    return cdk.Stack(cdk.App(outdir=str(tmp_path)), "Training")


# Properties of the cluster


def test_nothing_named_is_what_the_cdk_makes(make_world):
    cluster = cluster_of(make_world())

    assert "Name" not in cluster
    assert "Logging" not in cluster
    assert "EncryptionConfig" not in cluster
    assert "ServiceIpv4Cidr" not in cluster["KubernetesNetworkConfig"]
    assert cluster["AccessConfig"] == {"AuthenticationMode": "API"}
    assert cluster["ResourcesVpcConfig"]["EndpointPublicAccess"] is True
    assert cluster["ResourcesVpcConfig"]["EndpointPrivateAccess"] is True
    assert "PublicAccessCidrs" not in cluster["ResourcesVpcConfig"]


def test_name_and_range_of_services_reach_the_cluster(make_world):
    cluster = cluster_of(make_world(cluster_name="train-1", service_ipv4_cidr="172.20.0.0/16"))

    assert cluster["Name"] == "train-1"
    assert cluster["KubernetesNetworkConfig"]["ServiceIpv4Cidr"] == "172.20.0.0/16"
    assert cluster["AccessConfig"] == {"AuthenticationMode": "API"}


def test_name_and_range_of_services_may_be_known_at_deployment_only(stack):
    names = [cdk.CfnParameter(stack, id_).value_as_string for id_ in ("Name", "Services")]
    AcceleratedCluster(
        stack,
        "Cluster",
        vpc=ec2.Vpc(stack, "Vpc"),
        version=eks.KubernetesVersion.V1_34,
        cluster_name=names[0],
        service_ipv4_cidr=names[1],
    )

    (cluster,) = resources(stack, "AWS::EKS::Cluster").values()

    assert cluster["Properties"]["Name"] == {"Ref": "Name"}
    network = cluster["Properties"]["KubernetesNetworkConfig"]
    assert network["ServiceIpv4Cidr"] == {"Ref": "Services"}


@pytest.mark.parametrize(
    ("access", "public", "private", "cidrs"),
    [
        (eks.EndpointAccess.PRIVATE, False, True, None),
        (eks.EndpointAccess.PUBLIC_AND_PRIVATE, True, True, None),
        (
            eks.EndpointAccess.PUBLIC_AND_PRIVATE.only_from("203.0.113.0/24"),
            True,
            True,
            ["203.0.113.0/24"],
        ),
    ],
)
def test_the_api_server_is_reached_from_where_the_user_says(
    make_world, access, public, private, cidrs
):
    network = cluster_of(make_world(endpoint_access=access))["ResourcesVpcConfig"]

    assert network["EndpointPublicAccess"] is public
    assert network["EndpointPrivateAccess"] is private
    assert network.get("PublicAccessCidrs") == cidrs


def test_logs_reach_the_cluster_in_one_order(make_world):
    one = cluster_of(make_world(logging=[Logs.SCHEDULER, Logs.API, Logs.AUDIT]))
    another = cluster_of(make_world(logging={Logs.AUDIT, Logs.SCHEDULER, Logs.API}))

    kinds = [{"Type": "api"}, {"Type": "audit"}, {"Type": "scheduler"}]
    assert one["Logging"] == {"ClusterLogging": {"EnabledTypes": kinds}}
    assert another["Logging"] == one["Logging"]


def test_no_logs_are_no_logging(make_world):
    assert "Logging" not in cluster_of(make_world(logging=[]))


@pytest.mark.parametrize("kind", ["own", "imported"])
def test_a_key_encrypts_the_secrets(stack, kind):
    arn = "arn:aws:kms:us-east-2:111122223333:key/0"
    key = kms.Key(stack, "Key") if kind == "own" else kms.Key.from_key_arn(stack, "Key", arn)
    AcceleratedCluster(
        stack,
        "Cluster",
        vpc=ec2.Vpc(stack, "Vpc"),
        version=eks.KubernetesVersion.V1_34,
        secrets_encryption_key=key,
    )

    (cluster,) = resources(stack, "AWS::EKS::Cluster").values()

    (config,) = cluster["Properties"]["EncryptionConfig"]
    assert config["Resources"] == ["secrets"]
    assert config["Provider"] == {"KeyArn": stack.resolve(key.key_arn)}


# Administrators


def entries(world: Any) -> dict[str, Any]:
    return {
        name: one["Properties"]
        for name, one in world.template().find_resources("AWS::EKS::AccessEntry").items()
    }


def test_administrators_get_access_entries(make_world):
    found = entries(make_world(administrators=[ADMIN, USER]))

    assert {one["PrincipalArn"] for one in found.values()} == {ADMIN, USER}
    for one in found.values():
        (policy,) = one["AccessPolicies"]
        assert policy["AccessScope"]["Type"] == "cluster"
        assert policy["PolicyArn"]["Fn::Join"][1][-1].endswith("/AmazonEKSClusterAdminPolicy")


def test_without_administrators_there_is_no_access_entry(make_world):
    assert entries(make_world()) == {}


def test_another_order_of_administrators_changes_nothing(make_world):
    before = entries(make_world(administrators=[ADMIN, USER, cdk.Fn.import_value("Role")]))
    after = entries(make_world(administrators=[cdk.Fn.import_value("Role"), USER, ADMIN]))

    assert before == after
    assert len(before) == 3


def test_removing_an_administrator_leaves_the_others_alone(make_world):
    before = entries(make_world(administrators=[ADMIN, USER]))
    after = entries(make_world(administrators=[USER]))

    assert after.items() < before.items()


def test_roles_and_tokens_may_be_administrators(stack):
    role = iam.Role(stack, "Admin", assumed_by=iam.AccountRootPrincipal())
    imported = iam.Role.from_role_arn(stack, "Imported", ADMIN)
    parameter = cdk.CfnParameter(stack, "Parameter").value_as_string
    AcceleratedCluster(
        stack,
        "Cluster",
        vpc=ec2.Vpc(stack, "Vpc"),
        version=eks.KubernetesVersion.V1_34,
        administrators=[role, imported, parameter],
    )

    found = resources(stack, "AWS::EKS::AccessEntry").values()

    arns = [one["Properties"]["PrincipalArn"] for one in found]
    assert sorted(arns, key=str) == sorted(
        [stack.resolve(role.role_arn), ADMIN, {"Ref": "Parameter"}], key=str
    )


def test_roles_of_one_name_in_two_stacks_are_two_administrators(tmp_path):
    app = cdk.App(outdir=str(tmp_path))
    roles = []
    for name in ("One", "Two"):
        stack = cdk.Stack(app, name)
        roles.append(iam.Role(stack, "Admin", assumed_by=iam.AccountRootPrincipal()))
    home = cdk.Stack(app, "Training")
    AcceleratedCluster(
        home,
        "Cluster",
        vpc=ec2.Vpc(home, "Vpc"),
        version=eks.KubernetesVersion.V1_34,
        administrators=[roles[0], roles[1].role_arn],
    )

    assert len(resources(home, "AWS::EKS::AccessEntry")) == 2


@pytest.mark.parametrize("twice", ["role and arn", "role and token", "arns"])
def test_an_administrator_stands_in_the_list_once(stack, twice):
    role = iam.Role(stack, "Admin", assumed_by=iam.AccountRootPrincipal())
    given: dict[str, list[Any]] = {
        "role and arn": [iam.Role.from_role_arn(stack, "Imported", ADMIN), ADMIN],
        "role and token": [role, role.role_arn],
        "arns": [ADMIN, ADMIN],
    }

    with pytest.raises(EksDevicesError) as raised:
        AcceleratedCluster(
            stack,
            "Cluster",
            vpc=ec2.Vpc(stack, "Vpc"),
            version=eks.KubernetesVersion.V1_34,
            administrators=given[twice],
        )

    (fault,) = raised.value.faults
    assert (fault.code, fault.path) == ("RepeatedAdministrator", "administrators[1]")


# Node role and add-ons


def test_the_vpc_cni_has_a_role_of_its_own_and_the_nodes_none_of_its_permissions(make_world):
    stack = make_world().stack
    nodes = role_of(stack, "ec2.amazonaws.com")["Properties"]
    pods = role_of(stack, "pods.eks.amazonaws.com")["Properties"]

    assert policies_of(nodes) == {
        "AmazonEKSWorkerNodePolicy",
        "AmazonEC2ContainerRegistryPullOnly",
    }
    assert policies_of(pods) == {"AmazonEKS_CNI_Policy"}
    (statement,) = pods["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Action"] == ["sts:AssumeRole", "sts:TagSession"]
    (association,) = addons_of(stack)["vpc-cni"]["Properties"]["PodIdentityAssociations"]
    assert association["ServiceAccount"] == "aws-node"
    assert association["RoleArn"]["Fn::GetAtt"][0] in resources(stack, "AWS::IAM::Role")


@pytest.mark.parametrize(
    "addons",
    [(), ["vpc-cni"], ["vpc-cni", "kube-proxy"], ["eks-pod-identity-agent"], ["coredns"]],
)
def test_the_nodes_keep_the_permissions_of_a_vpc_cni_without_a_role(make_world, addons):
    stack = make_world(addons=addons).stack

    assert "AmazonEKS_CNI_Policy" in policies_of(role_of(stack, "ec2.amazonaws.com")["Properties"])
    for one in addons_of(stack).values():
        assert "PodIdentityAssociations" not in one["Properties"]


def test_the_nodes_of_isolated_subnets_keep_the_permissions_of_the_vpc_cni(stack):
    isolated = ec2.SubnetConfiguration(name="Nodes", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED)
    vpc = ec2.Vpc(stack, "Vpc", nat_gateways=0, subnet_configuration=[isolated])
    AcceleratedCluster(stack, "Cluster", vpc=vpc, version=eks.KubernetesVersion.V1_34)

    assert "AmazonEKS_CNI_Policy" in policies_of(role_of(stack, "ec2.amazonaws.com")["Properties"])
    assert "PodIdentityAssociations" not in addons_of(stack)["vpc-cni"]["Properties"]


def test_a_first_boot_has_the_agent_then_the_vpc_cni_then_the_nodes(make_world):
    world = make_world()
    world.add_trn2()
    found = world.template().to_json()["Resources"]
    addons = {
        one["Properties"]["AddonName"]: name
        for name, one in found.items()
        if one["Type"] == "AWS::EKS::Addon"
    }
    (group,) = (one for one in found.values() if one["Type"] == "AWS::EKS::Nodegroup")

    assert found[addons["vpc-cni"]]["DependsOn"] == [addons["eks-pod-identity-agent"]]
    assert {addons["vpc-cni"], addons["kube-proxy"]} < set(group["DependsOn"])
    assert addons["eks-node-monitoring-agent"] not in group["DependsOn"]


def test_the_nodes_role_loses_the_permissions_after_the_vpc_cni_has_them(make_world):
    stack = make_world().stack
    (cni,) = (
        name
        for name, one in resources(stack, "AWS::EKS::Addon").items()
        if one["Properties"]["AddonName"] == "vpc-cni"
    )

    assert role_of(stack, "ec2.amazonaws.com")["DependsOn"] == [cni]


def test_a_vpc_cni_without_a_role_comes_after_the_permissions_of_the_nodes(make_world):
    stack = make_world(addons=["vpc-cni"]).stack
    (nodes,) = (
        name
        for name, one in resources(stack, "AWS::IAM::Role").items()
        if "ec2.amazonaws.com" in str(one)
    )

    assert addons_of(stack)["vpc-cni"]["DependsOn"] == [nodes]


def test_a_role_of_the_user_is_the_role_of_the_nodes(stack):
    role = iam.Role(stack, "Own", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    cluster = AcceleratedCluster(
        stack,
        "Cluster",
        vpc=ec2.Vpc(stack, "Vpc"),
        version=eks.KubernetesVersion.V1_34,
        node_role=role,
    )
    cluster.add_nodegroup("G6e", instance_type="g6e.12xlarge", max_size=1)
    (group,) = resources(stack, "AWS::EKS::Nodegroup").values()

    assert group["Properties"]["NodeRole"] == stack.resolve(role.role_arn)
    assert cluster.node_role is role
    assert "ManagedPolicyArns" not in role_of(stack, "ec2.amazonaws.com")["Properties"]
    assert "DependsOn" not in role_of(stack, "ec2.amazonaws.com")


def test_addons_that_nobody_chose_are_those_of_the_fleet_without_coredns(make_world):
    found = addons_of(make_world().stack)

    assert sorted(found) == [
        "eks-node-monitoring-agent",
        "eks-pod-identity-agent",
        "kube-proxy",
        "vpc-cni",
    ]
    for one in found.values():
        assert one["Properties"]["ResolveConflicts"] == "OVERWRITE"
        assert "AddonVersion" not in one["Properties"]


def test_no_addons_leave_those_that_eks_installs_itself(make_world):
    world = make_world(addons=())

    assert addons_of(world.stack) == {}
    assert "BootstrapSelfManagedAddons" not in cluster_of(world)


def test_a_version_is_pinned_where_it_is_named(make_world):
    found = addons_of(
        make_world(addons={"vpc-cni": "v1.20.0-eksbuild.1", "kube-proxy": None}).stack
    )

    assert found["vpc-cni"]["Properties"]["AddonVersion"] == "v1.20.0-eksbuild.1"
    assert "AddonVersion" not in found["kube-proxy"]["Properties"]


def test_gpus_are_watched_on_tainted_nodes(make_world):
    agent = addons_of(make_world().stack)["eks-node-monitoring-agent"]["Properties"]

    assert (
        agent["ConfigurationValues"] == '{"dcgmAgent": {"tolerations": [{"operator": "Exists"}]}}'
    )


def test_addons_can_be_changed_by_hand(make_world):
    world = make_world()

    world.cluster.addons["vpc-cni"].preserve_on_delete = True

    assert addons_of(world.stack)["vpc-cni"]["Properties"]["PreserveOnDelete"] is True


def test_a_coredns_that_was_named_is_there_at_once_and_can_wait_for_nodes_of_the_user(make_world):
    world = make_world(addons=["coredns"])
    nodes = world.cluster.add_nodegroup("G6e", instance_type="g6e.12xlarge", max_size=1)

    world.cluster.addons["coredns"].node.add_dependency(nodes)

    (group,) = world.template().find_resources("AWS::EKS::Nodegroup")
    assert group in addons_of(world.stack)["coredns"]["DependsOn"]


@pytest.mark.parametrize(
    ("for_vpc_cni", "names"),
    [
        (True, {"AmazonEKS_CNI_Policy"}),
        (False, set()),
    ],
)
def test_a_node_role_can_be_made_for_a_cluster_made_elsewhere(stack, for_vpc_cni, names):
    node_role(stack, for_vpc_cni=for_vpc_cni)

    found = policies_of(role_of(stack, "ec2.amazonaws.com")["Properties"])

    assert found - names == {"AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly"}
    assert names <= found


# Faults

BAD: list[tuple[dict[str, Any], set[str]]] = [
    ({"cluster_name": ""}, {"MalformedClusterName cluster_name"}),
    ({"cluster_name": "a b"}, {"MalformedClusterName cluster_name"}),
    ({"cluster_name": "-a"}, {"MalformedClusterName cluster_name"}),
    ({"cluster_name": "x" * 101}, {"MalformedClusterName cluster_name"}),
    ({"cluster_name": "a\n"}, {"MalformedClusterName cluster_name"}),
    ({"cluster_name": 5}, {"WrongType cluster_name"}),
    ({"cluster_name": b"a"}, {"WrongType cluster_name"}),
    ({"cluster_name": Untouchable()}, {"WrongType cluster_name"}),
    ({"endpoint_access": "PRIVATE"}, {"WrongType endpoint_access"}),
    ({"endpoint_access": Untouchable()}, {"WrongType endpoint_access"}),
    ({"logging": "api"}, {"WrongType logging"}),
    ({"logging": None}, {"WrongType logging"}),
    ({"logging": HostileList([Logs.API])}, {"WrongType logging"}),
    ({"logging": ["api", Logs.API]}, {"WrongType logging[0]"}),
    ({"logging": [Logs.API, Logs.API]}, {"RepeatedLoggingType logging[1]"}),
    ({"secrets_encryption_key": "arn:aws:kms:x"}, {"WrongType secrets_encryption_key"}),
    ({"secrets_encryption_key": Untouchable()}, {"WrongType secrets_encryption_key"}),
    ({"service_ipv4_cidr": 5}, {"WrongType service_ipv4_cidr"}),
    ({"service_ipv4_cidr": "10.100.0.0"}, {"MalformedCidr service_ipv4_cidr"}),
    ({"service_ipv4_cidr": "10.100.0.1/16"}, {"MalformedCidr service_ipv4_cidr"}),
    ({"service_ipv4_cidr": "10.100.0.0/25"}, {"MalformedCidr service_ipv4_cidr"}),
    # Python would take the mask, and EKS does not.
    ({"service_ipv4_cidr": "10.100.0.0/255.255.0.0"}, {"MalformedCidr service_ipv4_cidr"}),
    ({"service_ipv4_cidr": "10.0.0.0/8"}, {"MalformedCidr service_ipv4_cidr"}),
    ({"service_ipv4_cidr": "100.64.0.0/16"}, {"MalformedCidr service_ipv4_cidr"}),
    ({"service_ipv4_cidr": "fd00::/108"}, {"MalformedCidr service_ipv4_cidr"}),
    # The network of the tests is 10.0.0.0/16.
    ({"service_ipv4_cidr": "10.0.128.0/20"}, {"MalformedCidr service_ipv4_cidr"}),
    ({"administrators": ADMIN}, {"WrongType administrators"}),
    ({"administrators": None}, {"WrongType administrators"}),
    ({"administrators": {ADMIN: 1}}, {"WrongType administrators"}),
    ({"administrators": [5, ADMIN]}, {"WrongType administrators[0]"}),
    ({"administrators": [Untouchable()]}, {"WrongType administrators[0]"}),
    ({"administrators": ["${Token[Other.9999]}"]}, {"UnknownToken administrators[0]"}),
    (
        {"administrators": ["Admin", "Admin"]},
        {
            "MalformedPrincipalArn administrators[0]",
            "RepeatedAdministrator administrators[1]",
        },
    ),
    ({"administrators": ["Admin"]}, {"MalformedPrincipalArn administrators[0]"}),
    (
        {"administrators": [ADMIN, "arn:aws:sts::111122223333:assumed-role/Admin/me"]},
        {"MalformedPrincipalArn administrators[1]"},
    ),
    (
        {"administrators": ["arn:aws:iam::111122223333:root"]},
        {"MalformedPrincipalArn administrators[0]"},
    ),
    (
        {
            "administrators": [
                "arn:aws:iam::111122223333:role/aws-service-role/eks.amazonaws.com/AWSServiceRole"
            ]
        },
        {"MalformedPrincipalArn administrators[0]"},
    ),
    ({"administrators": ["arn:aws:iam::1:role/A"]}, {"MalformedPrincipalArn administrators[0]"}),
    ({"node_role": ADMIN}, {"WrongType node_role"}),
    ({"node_role": Untouchable()}, {"WrongType node_role"}),
    ({"addons": "vpc-cni"}, {"WrongType addons"}),
    ({"addons": {"vpc-cni": "v1.18.4-eksbuild.1"}}, {"AddonTooOld addons[vpc-cni]"}),
    ({"cluster_nam": "x"}, {"UnknownOption cluster_nam"}),
    ({"tags": {}}, {"UnknownOption tags"}),
]


@pytest.fixture(scope="module")
def network(tmp_path_factory) -> Any:
    """A stack with a network, in which no cluster of a bad option is ever made."""
    folder = str(tmp_path_factory.mktemp("out"))
    stack = cdk.Stack(cdk.App(outdir=folder), "Training")
    return ec2.Vpc(stack, "Vpc", max_azs=2)


@pytest.mark.parametrize(("options", "expected"), BAD)
def test_a_bad_option_gives_exactly_its_faults(network, options, expected):
    anything: Any = AcceleratedCluster

    with pytest.raises(EksDevicesError) as raised:
        anything(
            network.stack, "Cluster", vpc=network, version=eks.KubernetesVersion.V1_34, **options
        )

    assert {f"{one.code} {one.path}" for one in raised.value.faults} == expected
    assert all(one.message and one.got and one.allowed and one.fix for one in raised.value.faults)
    assert network.stack.node.try_find_child("Cluster") is None


@pytest.mark.parametrize("cidr", ["172.20.0.0/16", "192.168.0.0/24", "10.96.0.0/12", "10.1.0.0/16"])
def test_a_good_range_of_services_is_taken(make_world, cidr):
    network = cluster_of(make_world(service_ipv4_cidr=cidr))["KubernetesNetworkConfig"]

    assert network["ServiceIpv4Cidr"] == cidr


@pytest.mark.parametrize(
    "arn",
    [
        "arn:aws-cn:iam::111122223333:role/Admin",
        "arn:aws-us-gov:iam::111122223333:role/a/b/Admin",
        "arn:aws-iso-b:iam::111122223333:user/a.b@c",
        "arn:aws:iam::111122223333:role/aws-reserved/sso.amazonaws.com/AWSReservedSSO_Admin_0a",
    ],
)
def test_principals_of_every_partition_are_taken(make_world, arn):
    (entry,) = entries(make_world(administrators=[arn])).values()

    assert entry["PrincipalArn"] == arn


def test_an_option_that_is_nearly_one_names_it(network):
    anything: Any = AcceleratedCluster
    with pytest.raises(EksDevicesError) as raised:
        anything(
            network.stack,
            "Cluster",
            vpc=network,
            version=eks.KubernetesVersion.V1_34,
            clusterName="x",
        )

    (one,) = raised.value.faults
    assert one.fix == "did you mean cluster_name?"
    assert "service_ipv4_cidr" in one.allowed


def test_faults_of_options_come_with_all_others(network):
    anything: Any = AcceleratedCluster
    with pytest.raises(EksDevicesError) as raised:
        anything(
            network.stack,
            "Cluster",
            vpc=None,
            version="1.34",
            delivery=5,
            node_role=5,
            logging=5,
            administrators=[5],
            addons=["x"],
            cluster_name="a b",
        )

    assert {one.path for one in raised.value.faults} == {
        "version",
        "vpc",
        "delivery",
        "cluster_name",
        "node_role",
        "logging",
        "administrators[0]",
        "addons[0]",
    }


def test_the_range_of_an_imported_network_is_kept_from_services(stack):
    vpc = ec2.Vpc.from_vpc_attributes(
        stack,
        "Vpc",
        vpc_id="vpc-0123",
        vpc_cidr_block="172.31.0.0/16",
        availability_zones=["us-east-2a"],
        private_subnet_ids=["subnet-0aaa"],
    )

    with pytest.raises(EksDevicesError) as raised:
        AcceleratedCluster(
            stack,
            "Cluster",
            vpc=vpc,
            version=eks.KubernetesVersion.V1_34,
            service_ipv4_cidr="172.31.0.0/20",
        )

    assert [one.code for one in raised.value.faults] == ["MalformedCidr"]


def test_an_imported_network_of_unknown_range_is_no_fault(stack):
    vpc = ec2.Vpc.from_vpc_attributes(
        stack,
        "Vpc",
        vpc_id="vpc-0123",
        availability_zones=["us-east-2a"],
        private_subnet_ids=["subnet-0aaa"],
    )
    AcceleratedCluster(
        stack,
        "Cluster",
        vpc=vpc,
        version=eks.KubernetesVersion.V1_34,
        service_ipv4_cidr="172.31.0.0/20",
    )

    assert len(resources(stack, "AWS::EKS::Cluster")) == 1
