"""Every accelerated type, bought in every way, on every operating system.

Each either synthesises to what the checker accepts, or is refused as EC2 and EKS would refuse it.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from tests.checker import catalogue
from tests.checker.checker import check_size, pairs
from tests.checker.pair import Pair, violations

from eks_device_constructs import AcceleratedCluster
from eks_devices import AcceleratedInstanceType, Capacity, EksDevicesError, OperatingSystem

ID = "cr-0123456789abcdef0"
ARN = "arn:aws:resource-groups:us-east-2:111122223333:group/training"
PER_STACK = 100
PER_CLUSTER = 25
LAYOUTS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "devices/data/efa-layouts.json").read_text(encoding="utf-8")
)
# What DescribeInstanceTypes calls the usage that a purchase option needs.
USAGE = {
    "on-demand": "on-demand",
    "spot": "spot",
    "reservation": "on-demand",
    "reservation-group": "on-demand",
    "block": "capacity-block",
    "ultraserver-block": "capacity-block",
}
CAPACITY_TYPES = {"spot": "SPOT", "block": "CAPACITY_BLOCK", "ultraserver-block": "CAPACITY_BLOCK"}
PREFIXES = {OperatingSystem.AL2023: "AL2023_", OperatingSystem.BOTTLEROCKET: "BOTTLEROCKET_"}


@dataclass(frozen=True)
class Case:
    """One type, one way to buy it, one operating system."""

    type: catalogue.InstanceType
    capacity: str
    system: OperatingSystem

    @property
    def id(self) -> str:
        return f"{self.type.name.replace('.', '-')}-{self.capacity}-{self.system}"

    @property
    def nodes(self) -> int:
        """The instances of an UltraServer; four where the type is part of none."""
        return max(self.type.block_nodes, default=4)

    @property
    def options(self) -> dict[str, Any]:
        capacities = {
            "on-demand": Capacity.on_demand(),
            "spot": Capacity.spot(),
            "reservation": Capacity.reservation(ID),
            "reservation-group": Capacity.reservation_group(ARN),
            "block": Capacity.block(ID),
            "ultraserver-block": Capacity.ultraserver_block(ID, nodes=self.nodes),
        }
        return {
            "instance_type": self.type.name,
            "capacity": capacities[self.capacity],
            "operating_system": self.system,
            "efa": True if self.type.most_efa else None,
            "max_size": self.nodes,
        }

    @property
    def stays_in_a_zone(self) -> bool:
        return bool(self.type.most_efa) or self.capacity in ("reservation", "block")

    @property
    def refusals(self) -> set[str]:
        """The codes that EC2's and EKS's rules ask for, by the checker's catalogue."""
        found = set()
        in_ultraserver = self.capacity != "ultraserver-block" or self.type.block_nodes
        if USAGE[self.capacity] not in self.type.usage or not in_ultraserver:
            found.add("CapacityNotOffered")
        # The arm64 NVIDIA variant of Bottlerocket has a driver for G5g alone.
        if self.system is OperatingSystem.BOTTLEROCKET and self.type.family.startswith("p6e-gb"):
            found.add("BottlerocketGb200")
        return found


CASES = [
    Case(one, capacity, system)
    for one, capacity, system in itertools.product(
        catalogue.accelerated(), USAGE, (OperatingSystem.AL2023, OperatingSystem.BOTTLEROCKET)
    )
]


@dataclass(frozen=True)
class Outcome:
    """The pairs that synthesised, the codes of what was refused, and the templates' texts."""

    pairs: dict[str, Pair]
    refusals: dict[str, set[str]]
    templates: list[str]


class Stacks:
    """Stacks that take node groups until they are full, with a few clusters each."""

    def __init__(self, folder: Path) -> None:
        self.app = cdk.App(outdir=str(folder))
        self.taken = 0
        self.refusals: dict[str, set[str]] = {}
        self._open_stack()

    def add(self, case: Case) -> None:
        try:
            subnet = self.vpc.private_subnets[0] if case.stays_in_a_zone else None
            self.cluster.add_nodegroup(case.id, subnet=subnet, **case.options)
        except EksDevicesError as error:
            self.refusals[case.id] = {fault.code for fault in error.faults}
            return
        self.taken += 1
        if self.taken % PER_STACK == 0:
            self._open_stack()
        elif self.taken % PER_CLUSTER == 0:
            self._open_cluster()

    def _open_stack(self) -> None:
        self.stack = cdk.Stack(
            self.app,
            f"Types{self.taken}",
            env=cdk.Environment(region="us-east-2"),
            suppress_template_indentation=True,
        )
        self.vpc = ec2.Vpc(self.stack, "Vpc", max_azs=2)
        self._open_cluster()

    def _open_cluster(self) -> None:
        self.cluster = AcceleratedCluster(
            self.stack,
            f"Cluster{self.taken}",
            vpc=self.vpc,
            version=eks.KubernetesVersion.of("1.34"),
        )

    def texts(self) -> Iterator[str]:
        folder = Path(self.app.synth().directory)
        for file in sorted(folder.glob("Types*.template.json")):
            yield file.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    stacks = Stacks(tmp_path_factory.mktemp("types"))
    for case in CASES:
        stacks.add(case)
    texts = list(stacks.texts())
    drawn = [pair for text in texts for pair in pairs(json.loads(text)).values()]
    by_name = {pair.group["NodegroupName"].rpartition("-")[0]: pair for pair in drawn}
    return Outcome(by_name, stacks.refusals, texts)


def test_the_checker_knows_the_accelerated_types_of_the_library():
    known = {one.name for one in catalogue.accelerated()}

    assert known == {one.name for one in AcceleratedInstanceType.all()}
    assert len(CASES) == len(known) * 6 * 2


def test_blocks_are_sold_for_the_types_that_the_ec2_guide_lists():
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
    assert {one.name for one in catalogue.accelerated() if "capacity-block" in one.usage} == {
        "p4d.24xlarge",
        "p4de.24xlarge",
        "p5.4xlarge",
        "p5.48xlarge",
        "p5e.48xlarge",
        "p5en.48xlarge",
        "p6-b200.48xlarge",
        "p6-b300.48xlarge",
        "p6e-gb200.36xlarge",
        "trn1.32xlarge",
        "trn2.3xlarge",
        "trn2.48xlarge",
        "trn2u.48xlarge",
    }


def test_what_is_refused_is_what_ec2_and_eks_refuse(outcome):
    expected = {case.id: case.refusals for case in CASES if case.refusals}

    assert outcome.refusals == expected
    assert outcome.pairs.keys() == {case.id for case in CASES} - expected.keys()


def test_refusals_are_few_and_have_two_reasons():
    """The table in numbers: 70 types in no block, 81 in no UltraServer, GB200 in nothing else."""
    found = Counter((case.capacity, code) for case in CASES for code in sorted(case.refusals))

    assert found == {
        ("on-demand", "CapacityNotOffered"): 2,  # GB200 on both operating systems
        ("spot", "CapacityNotOffered"): 4,  # and trn2u
        ("reservation", "CapacityNotOffered"): 2,
        ("reservation-group", "CapacityNotOffered"): 2,
        ("block", "CapacityNotOffered"): 2 * 70,
        ("ultraserver-block", "CapacityNotOffered"): 2 * 81,
        **{(capacity, "BottlerocketGb200"): 1 for capacity in USAGE},
    }


@pytest.mark.parametrize("name", [one.name for one in catalogue.accelerated()])
def test_ec2_and_eks_accept_every_group_of_a_type(outcome, name):
    drawn = [case for case in CASES if case.type.name == name and not case.refusals]

    found = {
        case.id: [f"{one.rule}: {one.text}" for one in violations(outcome.pairs[case.id])]
        for case in drawn
    }

    assert drawn
    assert {key: texts for key, texts in found.items() if texts} == {}


def test_groups_are_of_the_type_system_and_purchase_option_that_were_asked_for(outcome):
    for case in CASES:
        if not case.refusals:
            pair = outcome.pairs[case.id]
            assert pair.type_names == [case.type.name]
            assert pair.ami_type.startswith(PREFIXES[case.system])
            assert pair.capacity_type == CAPACITY_TYPES.get(case.capacity, "ON_DEMAND")
            assert bool(pair.target) is (case.capacity not in ("on-demand", "spot"))


def test_efa_groups_have_every_efa_of_their_documented_layout(outcome):
    keys = ("NetworkCardIndex", "DeviceIndex", "InterfaceType")
    for case in CASES:
        if not case.refusals:
            interfaces = outcome.pairs[case.id].interfaces
            found = [{key: one[key] for key in keys} for one in interfaces]
            wanted = LAYOUTS[case.type.name]["recommended"] if case.type.most_efa else []
            assert found == wanted, case.id


def test_a_hundred_groups_fit_into_one_stack(outcome):
    full = [text for text in outcome.templates if len(pairs(json.loads(text))) == PER_STACK]

    assert len(full) == len(outcome.pairs) // PER_STACK > 0
    assert [check_size(json.loads(text), text) for text in full] == [[]] * len(full)
