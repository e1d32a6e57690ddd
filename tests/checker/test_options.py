"""What the options of a node group bring into its template, by the rules of EC2 and EKS."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from tests.checker.checker import check_size, pairs
from tests.checker.pair import Pair, violations

from eks_device_constructs import (
    AcceleratedCluster,
    AcceleratedNodegroup,
    AcceleratedNodegroupPool,
    ClusterReference,
)
from eks_devices import (
    Capacity,
    Mechanism,
    NodeRepair,
    OperatingSystem,
    RepairAction,
    RepairOverride,
    UpdateConfig,
    UpdateStrategy,
    UserData,
)

ID = "cr-0123456789abcdef0"
START = datetime(2026, 12, 5, 11, 30, tzinfo=UTC)
BOTTLEROCKET: dict[str, Any] = {"operating_system": OperatingSystem.BOTTLEROCKET}
G6E: dict[str, Any] = {"instance_type": "g6e.12xlarge"}
P5: dict[str, Any] = {"instance_type": "p5.48xlarge"}
TRN2: dict[str, Any] = {"instance_type": "trn2.48xlarge", "capacity": Capacity.block(ID)}
NODE_CONFIG = {"spec": {"containerd": {"config": "[plugins]\n"}}}
MULTIPART = (
    'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="MINE"\n\n'
    '--MINE\nContent-Type: text/cloud-config; charset="us-ascii"\n\npackages: [jq]\n\n--MINE--\n'
)
OVERRIDE = RepairOverride(
    condition="AcceleratedHardwareReady",
    reason="NvidiaXID64Error",
    wait_minutes=10,
    action=RepairAction.REBOOT,
)
OPTIONS: dict[str, dict[str, Any]] = {
    "one-efa": P5 | {"efa": 1},
    "half-the-efas": P5 | {"efa": 16},
    "no-efa": P5 | {"efa": False},
    "more-ip": P5 | {"high_ip_bandwidth": True},
    "more-ip-b300": {"instance_type": "p6-b300.48xlarge", "high_ip_bandwidth": True},
    "more-ip-b200": {"instance_type": "p6-b200.48xlarge", "high_ip_bandwidth": True, "efa": 4},
    "eight-efas-gb200": {
        "instance_type": "p6e-gb200.36xlarge",
        "capacity": Capacity.ultraserver_block(ID, nodes=18),
        "efa": 8,
    },
    "no-placement-group": P5 | {"placement_group": False},
    "named-placement-group": P5 | {"placement_group": "near"},
    "placement-group-without-efa": G6E | {"placement_group": True},
    "placement-group-of-a-reservation": P5
    | {"capacity": Capacity.reservation(ID), "placement_group": "near"},
    "block-with-start": TRN2 | {"capacity": Capacity.block(ID, start=START), "desired_size": 2},
    "reservation-with-start": P5
    | {"capacity": Capacity.reservation(ID, start=START), "min_size": 1},
    "autoscaled": G6E | {"autoscaled": True, "mechanism": Mechanism.DEVICE_PLUGIN},
    "sizes": G6E | {"min_size": 1, "desired_size": 2},
    "kubelet": G6E | {"kubelet": {"cpuManagerPolicy": "static"}},
    "hugepages": P5 | {"hugepages_2mi": 5128},
    "hugepages-bottlerocket": P5 | BOTTLEROCKET | {"hugepages_2mi": 5128},
    "logical-cores": TRN2 | {"mechanism": Mechanism.DEVICE_PLUGIN, "logical_neuron_cores": 1},
    "instance-store": G6E | BOTTLEROCKET | {"instance_store": True},
    "no-instance-store": G6E | {"instance_store": False},
    "max-pods": G6E | {"max_pods": 110},
    "disk": G6E | {"disk_gib": 1000},
    "release": G6E | {"release_version": "1.34.4-20261023"},
    "release-bottlerocket": G6E | BOTTLEROCKET | {"release_version": "1.66.0-0a1b2c3d"},
    "own-image": G6E | {"ami_id": "ami-0123456789abcdef0"},
    "own-image-efa": P5 | {"ami_id": "ami-0123456789abcdef0", "hugepages_2mi": 5128},
    "own-image-bottlerocket": G6E | BOTTLEROCKET | {"ami_id": "ami-0123456789abcdef0"},
    "own-image-and-user-data": G6E
    | {"ami_id": "ami-0123456789abcdef0", "user_data": UserData.node_config(NODE_CONFIG)},
    "shell": G6E | {"user_data": UserData.shell("#!/bin/bash\necho hello\n")},
    "node-config": G6E | {"user_data": UserData.node_config(NODE_CONFIG)},
    "multipart": G6E | {"user_data": UserData.mime(MULTIPART)},
    "all-user-data": G6E
    | {
        "user_data": UserData.combined(
            UserData.shell("#!/bin/bash\necho hello\n"),
            UserData.node_config(NODE_CONFIG),
            UserData.mime(MULTIPART),
        )
    },
    "settings": G6E
    | BOTTLEROCKET
    | {"user_data": UserData.bottlerocket('[settings.motd]\nmotd = "hello"\n')},
    "no-repair": G6E | {"node_repair": False},
    "repair": G6E | {"node_repair": NodeRepair(max_parallel_percentage=10, overrides=[OVERRIDE])},
    "update": G6E | {"update": UpdateConfig(max_unavailable_percentage=33)},
    "update-minimal": G6E
    | {"update": UpdateConfig(max_unavailable=1, strategy=UpdateStrategy.MINIMAL)},
    "tags": G6E | {"tags": {"team": "ml", "cost": ""}},
    "labels": G6E | {"labels": {"team": "ml", "example.com/team": "ml"}},
    "taints": G6E | {"taints": ["dedicated=ml:NoExecute", "spare:PreferNoSchedule"]},
    "no-taints": G6E | {"taints": ()},
    "overrides": P5
    | {
        "launch_template_overrides": {
            "Monitoring": {"Enabled": True},
            "MetadataOptions": {"HttpPutResponseHopLimit": 2},
            "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"Throughput": 500}}],
            "TagSpecifications": [
                {"ResourceType": "network-interface", "Tags": [{"Key": "a", "Value": "b"}]}
            ],
        }
    },
}


class World:
    """A stack with a cluster that takes groups in one subnet."""

    def __init__(self, outdir: str) -> None:
        self.app = cdk.App(outdir=outdir)
        self.stack = cdk.Stack(self.app, "Options", env=cdk.Environment(region="us-east-2"))
        self.vpc = ec2.Vpc(self.stack, "Vpc", max_azs=2)
        self.cluster = AcceleratedCluster(
            self.stack,
            "Cluster",
            vpc=self.vpc,
            version=eks.KubernetesVersion.of("1.34"),
            service_ipv4_cidr="172.20.0.0/16",
        )

    def add(self, name: str, **options: Any) -> None:
        self.cluster.add_nodegroup(
            name, **({"subnet": self.vpc.private_subnets[0], "max_size": 4} | options)
        )

    def pairs(self) -> dict[str, Pair]:
        folder = Path(self.app.synth().directory)
        template = json.loads((folder / "Options.template.json").read_text(encoding="utf-8"))
        assert check_size(template, "") == []
        found = pairs(template).values()
        return {pair.group["NodegroupName"].rpartition("-")[0]: pair for pair in found}


@pytest.fixture
def make_world(tmp_path) -> Callable[[], World]:
    return lambda: World(str(tmp_path / "out"))


@pytest.fixture(scope="session")
def with_options(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pair]:
    world = World(str(tmp_path_factory.mktemp("options")))
    for name, options in OPTIONS.items():
        world.add(name, **options)
    return world.pairs()


def texts_of(pair: Pair) -> list[str]:
    return [f"{one.rule}: {one.text}" for one in violations(pair)]


@pytest.mark.parametrize("name", OPTIONS)
def test_ec2_and_eks_accept_what_an_option_brings(with_options, name):
    assert texts_of(with_options[name]) == []


def test_ec2_and_eks_accept_types_of_equal_hardware(make_world):
    world = make_world()
    world.add("g5", instance_type="g5.2xlarge", alternative_instance_types=["g5.4xlarge"])

    (pair,) = world.pairs().values()

    assert pair.type_names == ["g5.2xlarge", "g5.4xlarge"]
    assert texts_of(pair) == []


def test_ec2_and_eks_accept_a_system_node_group(make_world):
    world = make_world()
    world.cluster.add_system_nodegroup(max_size=3)

    (pair,) = world.pairs().values()

    assert texts_of(pair) == []


def test_ec2_and_eks_accept_the_groups_of_a_pool(make_world):
    world = make_world()
    pool = AcceleratedNodegroupPool(
        world.stack,
        "Pool",
        cluster=world.cluster,
        instance_type="trn2.48xlarge",
        subnet=world.vpc.private_subnets[0],
        max_size=4,
    )
    pool.add(Capacity.block(ID))
    pool.add(Capacity.block("cr-0123456789abcdef1"))

    found = world.pairs()

    assert len(found) == 2
    assert [texts_of(pair) for pair in found.values()] == [[], []]


def test_ec2_and_eks_accept_a_security_group_and_a_role_of_ones_own(make_world):
    world = make_world()
    own = ec2.SecurityGroup(world.stack, "Own", vpc=world.vpc, allow_all_outbound=False)
    role = iam.Role(world.stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    world.add("p5", **P5, security_group=own, node_role=role)
    world.add("g6e", **G6E, security_group=own)

    found = world.pairs()

    assert {name: texts_of(pair) for name, pair in found.items()} == {"p5": [], "g6e": []}


def test_ec2_and_eks_accept_groups_of_a_cluster_made_elsewhere(make_world):
    world = make_world()
    reference = ClusterReference(
        name="theirs", version="1.35", security_group="sg-0123456789abcdef0", vpc=world.vpc
    )
    for name, options in {"p5": P5, "g6e": G6E}.items():
        AcceleratedNodegroup(
            world.stack,
            name,
            cluster=reference,
            subnet=world.vpc.private_subnets[0],
            max_size=2,
            **options,
        )

    found = world.pairs()

    assert {name: texts_of(pair) for name, pair in found.items()} == {"p5": [], "g6e": []}
