"""Every accelerated type, bought in every way, on every operating system.

Each either synthesises to what the checker accepts, or is refused as EC2 and EKS would refuse it.
Types whose GPUs can be cut are drawn once more, cut in every way.
"""

from __future__ import annotations

import base64
import itertools
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email import message_from_string
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
from eks_devices import (
    AcceleratedInstanceType,
    Capacity,
    EksDevicesError,
    Mechanism,
    Mig,
    OperatingSystem,
)
from eks_devices.published import mig_profiles

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

    def __init__(self, folder: Path, version: str) -> None:
        self.app = cdk.App(outdir=str(folder))
        self.version = version
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
            version=eks.KubernetesVersion.of(self.version),
        )

    def texts(self) -> Iterator[str]:
        folder = Path(self.app.synth().directory)
        for file in sorted(folder.glob("Types*.template.json")):
            yield file.read_text(encoding="utf-8")


def drawn_of(cases: Iterable[Case], folder: Path, version: str) -> Outcome:
    stacks = Stacks(folder, version)
    for case in cases:
        stacks.add(case)
    texts = list(stacks.texts())
    drawn = [pair for text in texts for pair in pairs(json.loads(text)).values()]
    by_name = {pair.group["NodegroupName"].rpartition("-")[0]: pair for pair in drawn}
    return Outcome(by_name, stacks.refusals, texts)


@pytest.fixture(scope="session")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return drawn_of(CASES, tmp_path_factory.mktemp("types"), "1.34")


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

    assert drawn
    assert objections(outcome, drawn) == {}


def objections(outcome: Outcome, cases: Iterable[Case]) -> dict[str, list[str]]:
    """What the checker has against cases."""
    found = {
        case.id: [f"{one.rule}: {one.text}" for one in violations(outcome.pairs[case.id])]
        for case in cases
    }
    return {key: texts for key, texts in found.items() if texts}


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


# Types whose GPUs are cut. Per family the smallest partition, how many of it a GPU holds, and the
# GPU's name in Bottlerocket's settings, where it has one.
# https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
# https://bottlerocket.dev/en/os/latest/api/settings/kubelet-device-plugins/
PARTITIONS: dict[str, tuple[str, int, str]] = {
    "g7": ("1g.16gb", 2, ""),
    "g7e": ("1g.24gb", 4, "rtxpro6000.96gb"),
    "p4d": ("1g.5gb", 7, "a100.40gb"),
    "p4de": ("1g.10gb", 7, "a100.80gb"),
    "p5": ("1g.10gb", 7, "h100.80gb"),
    "p5e": ("1g.18gb", 7, "h200.141gb"),
    "p5en": ("1g.18gb", 7, "h200.141gb"),
    "p6-b200": ("1g.23gb", 7, "b200.180gb"),
    "p6-b300": ("1g.34gb", 7, "b300.269gb"),
}
AMPERE = ("p4d", "p4de")


@dataclass(frozen=True)
class Cut(Case):
    """A type with its GPUs cut into their smallest partitions, or on request."""

    mechanism: Mechanism
    on_request: bool

    @property
    def id(self) -> str:
        return f"{super().id}-{'on-request' if self.on_request else self.mechanism}"

    @property
    def options(self) -> dict[str, Any]:
        profile, _, _ = PARTITIONS[self.type.family]
        mig = Mig.dynamic() if self.on_request else Mig.uniform(profile)
        return super().options | {"mechanism": self.mechanism, "mig": mig}

    @property
    def refusals(self) -> set[str]:
        found = set()
        if self.on_request and self.type.family in AMPERE:
            found.add("DynamicMigNeedsHopper")
        if self.system is not OperatingSystem.BOTTLEROCKET:
            return found
        if self.on_request:
            return found | {"GpuDynamicMigBottlerocket"}
        if self.mechanism is Mechanism.DRA:
            found.add("GpuStaticMigDraBottlerocket")
        if not PARTITIONS[self.type.family][2]:
            found.add("MigProfileNotOnBottlerocket")
        return found

    @property
    def told(self) -> list[str]:
        """What of the user data cuts the GPUs."""
        profile, count, key = PARTITIONS[self.type.family]
        if self.on_request:
            return []
        if self.system is OperatingSystem.BOTTLEROCKET:
            return ['device-partitioning-strategy = "mig"', f'"{key}" = "{profile}"']
        return [f"ExecStart=/usr/local/sbin/eks-devices-mig {','.join([profile] * count)}"]


CUTS = [
    Cut(one, "on-demand", system, mechanism, on_request)
    for one in catalogue.accelerated()
    if one.family in PARTITIONS
    for system in (OperatingSystem.AL2023, OperatingSystem.BOTTLEROCKET)
    for mechanism, on_request in (
        (Mechanism.DEVICE_PLUGIN, False),
        (Mechanism.DRA, False),
        (Mechanism.DRA, True),
    )
]


@pytest.fixture(scope="session")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    # The first version whose scheduler knows partitions on request.
    return drawn_of(CUTS, tmp_path_factory.mktemp("cut"), "1.36")


def text_of(pair: Pair) -> str:
    return base64.b64decode(pair.data["UserData"]).decode()


def test_every_type_whose_gpus_can_be_cut_is_cut():
    able = {one.name for one in AcceleratedInstanceType.all() if mig_profiles(one.name)}

    assert {case.type.name for case in CUTS} == able
    assert len(CUTS) == len(able) * 2 * 3


def test_what_is_refused_of_cut_gpus_is_what_cannot_work(cut):
    expected = {case.id: case.refusals for case in CUTS if case.refusals}

    assert cut.refusals == expected
    assert cut.pairs.keys() == {case.id for case in CUTS} - expected.keys()


def test_ec2_and_eks_accept_every_group_of_cut_gpus(cut):
    drawn = [case for case in CUTS if not case.refusals]

    assert {case.type.family for case in drawn} == PARTITIONS.keys()
    assert objections(cut, drawn) == {}


def test_nodes_are_told_how_their_gpus_are_cut(cut):
    about_mig = re.compile(r'^(?:ExecStart=.*|device-partitioning.*|".*gb" = .*)$', re.MULTILINE)
    for case in CUTS:
        if not case.refusals:
            assert about_mig.findall(text_of(cut.pairs[case.id])) == case.told, case.id


def test_the_scripts_of_nodes_parse(cut):
    """The one that user data runs, and the one that it leaves for each boot."""
    found = {script for pair in cut.pairs.values() for script in scripts(text_of(pair))}
    left = re.compile(r"cat > /usr/local/sbin/\S+ <<'(\w+)'\n(.*?)\n\1\n", re.DOTALL)
    inner = {one[2] for script in found for one in left.finditer(script)}

    assert inner
    for script in found | inner:
        assert script.startswith("#!/bin/bash\n")
        done = subprocess.run(
            ["bash", "-n"], input=script, text=True, capture_output=True, check=False, timeout=60
        )
        assert done.stderr == ""


def scripts(text: str) -> list[str]:
    parts = message_from_string(text).walk()
    return [
        str(one.get_payload()) for one in parts if one.get_content_type() == "text/x-shellscript"
    ]
