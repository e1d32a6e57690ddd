"""Node groups of every kind that the rules tell apart, synthesised once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from tests.checker.checker import pairs
from tests.checker.pair import Pair

from eks_device_constructs import AcceleratedCluster
from eks_devices import Capacity, OperatingSystem

ID = "cr-0123456789abcdef0"
ARN = "arn:aws:resource-groups:us-east-2:111122223333:group/training"
# The first two keep the subnets of the cluster, the others get one.
GROUPS: dict[str, dict[str, Any]] = {
    "spot": {"instance_type": "g6e.12xlarge", "capacity": Capacity.spot()},
    "bottlerocket": {
        "instance_type": "g6e.12xlarge",
        "operating_system": OperatingSystem.BOTTLEROCKET,
    },
    "trn2": {"instance_type": "trn2.48xlarge", "capacity": Capacity.block(ID)},
    "p5": {"instance_type": "p5.48xlarge"},
    "reserved": {"instance_type": "p5.48xlarge", "capacity": Capacity.reservation(ID)},
    "by-group": {"instance_type": "p5.48xlarge", "capacity": Capacity.reservation_group(ARN)},
    "b300": {"instance_type": "p6-b300.48xlarge"},
    "gb200": {
        "instance_type": "p6e-gb200.36xlarge",
        "capacity": Capacity.ultraserver_block(ID, nodes=9),
    },
    "i7ie": {"instance_type": "i7ie.48xlarge", "efa": True},
}


@pytest.fixture(scope="session")
def good_template(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The template with the groups."""
    app = cdk.App(outdir=str(tmp_path_factory.mktemp("good")))
    stack = cdk.Stack(app, "Good", env=cdk.Environment(region="us-east-2"))
    vpc = ec2.Vpc(stack, "Vpc", max_azs=2)
    version = eks.KubernetesVersion.of("1.34")
    cluster = AcceleratedCluster(stack, "Cluster", vpc=vpc, version=version)
    for name, options in GROUPS.items():
        subnet = None if name in ("spot", "bottlerocket") else vpc.private_subnets[0]
        cluster.add_nodegroup(name, subnet=subnet, max_size=4, labels={"team": "ml"}, **options)
    folder = Path(app.synth().directory)
    template: dict[str, Any] = json.loads((folder / "Good.template.json").read_text())
    return template


@pytest.fixture
def good(good_template) -> Callable[[str], Pair]:
    """The pair of a group by its name."""
    found = {pair.group["NodegroupName"][:-9]: pair for pair in pairs(good_template).values()}
    return lambda name: found[name]
