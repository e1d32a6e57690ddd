"""A change of an option gives a group a new name exactly when CloudFormation has to replace it.

Two apps hold a group for each row of the table, one with the row's option as it was and one with it
changed; the second app has its groups in reverse order, one less and one more.
"""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from botocore.session import get_session

import eks_devices
from eks_device_constructs import (
    AcceleratedCluster,
    AcceleratedNodegroup,
    Delivery,
    DeviceDrivers,
    ExternalDrivers,
)
from eks_device_constructs.references import ClusterReference
from eks_devices import (
    Capacity,
    DeviceType,
    GpuDriver,
    GpuPlugin,
    GpuSharing,
    Mechanism,
    Mig,
    NodegroupOptions,
    OperatingSystem,
)
from eks_devices.maintenance import NodeRepair, UpdateConfig
from eks_devices.user_data import UserData

FILE = Path(eks_devices.__file__).parent / "data" / "nodegroup_properties.toml"
TABLE = tomllib.loads(FILE.read_text(encoding="utf-8"))
PROPERTIES = {row["name"]: row for row in TABLE["property"]}
ROWS = {f"{row['name']}: {row['case']}": row for row in (*TABLE["option"], *TABLE["parameter"])}
IN_PLACE = {name: row for name, row in ROWS.items() if row["effect"] != "replaces"}
REPLACING = {name: row for name, row in ROWS.items() if row["effect"] == "replaces"}

FIRST, SECOND = "cr-0123456789abcdef0", "cr-0123456789abcdef1"
AMI, OTHER_AMI = "ami-0123456789abcdef0", "ami-0123456789abcdef1"
START = datetime(2026, 12, 5, 11, 30, tzinfo=UTC)
PLUGIN = {"mechanism": Mechanism.DEVICE_PLUGIN}
DRA = {"mechanism": Mechanism.DRA}
BOTTLEROCKET = {"operating_system": OperatingSystem.BOTTLEROCKET}
SHARING = {"gpu_sharing": GpuSharing.time_slicing(replicas=4)}
MORE_TYPES = {"alternative_instance_types": ["g6e.2xlarge", "g6e.4xlarge"]}

Options = dict[str, Any]
TRN2: Options = {
    "instance_type": "trn2.48xlarge",
    "capacity": Capacity.block(FIRST),
    "max_size": 4,
}
P5: Options = {"instance_type": "p5.48xlarge", "max_size": 4}
G6E: Options = {"instance_type": "g6e.12xlarge", "max_size": 2}
GB200: Options = {
    "instance_type": "p6e-gb200.36xlarge",
    "capacity": Capacity.ultraserver_block(FIRST),
    "max_size": 9,
}

# By row: a group, and what of it changes. Types without EFA use every subnet.
CHANGES: dict[str, tuple[Options, Options]] = {
    "instance_type: another type": (TRN2, {"instance_type": "trn1.32xlarge"}),
    "max_size: another number": (TRN2, {"max_size": 8}),
    "capacity: another way to buy": (G6E, {"capacity": Capacity.spot()}),
    "capacity: another reservation": (TRN2, {"capacity": Capacity.block(SECOND)}),
    "capacity: another reservation under the same key": (
        TRN2 | {"capacity": Capacity.block(FIRST, key="may")},
        {"capacity": Capacity.block(SECOND, key="may")},
    ),
    "capacity: another key": (
        TRN2 | {"capacity": Capacity.block(FIRST, key="may")},
        {"capacity": Capacity.block(FIRST, key="june")},
    ),
    "capacity: a start": (
        TRN2 | {"desired_size": 4},
        {"capacity": Capacity.block(FIRST, start=START)},
    ),
    "capacity: the nodes of an UltraServer": (
        GB200,
        {"capacity": Capacity.ultraserver_block(FIRST, nodes=9)},
    ),
    "mechanism: another mechanism": (TRN2, PLUGIN),
    "mechanism: the default one, named": (TRN2, DRA),
    "operating_system: another one": (TRN2 | PLUGIN, BOTTLEROCKET),
    "min_size: another number": (TRN2, {"min_size": 1}),
    "desired_size: another number": (TRN2, {"desired_size": 2}),
    "autoscaled: the mechanism left to the library": (TRN2, {"autoscaled": True}),
    "autoscaled: the mechanism named": (TRN2 | PLUGIN, {"autoscaled": True}),
    "efa: on or off": (TRN2, {"efa": False}),
    "efa: another number": (TRN2, {"efa": 8}),
    "high_ip_bandwidth: on or off": (P5, {"high_ip_bandwidth": True}),
    "compute_domains: on or off": (GB200, {"compute_domains": False}),
    "gpu_sharing: the mechanism left to the library": (G6E, SHARING),
    "gpu_sharing: the mechanism named": (G6E | PLUGIN, SHARING),
    "gpu_sharing: the mechanism named, on Bottlerocket": (G6E | PLUGIN | BOTTLEROCKET, SHARING),
    "gpu_driver: other gates": (
        G6E,
        {"gpu_driver": GpuDriver(feature_gates={"MPSSupport": True})},
    ),
    "gpu_driver: the driver of the host, on Bottlerocket": (
        G6E | BOTTLEROCKET | {"mechanism": Mechanism.DRA},
        {"gpu_driver": GpuDriver(host_service=True)},
    ),
    "gpu_plugin: the mechanism left to the library": (G6E, {"gpu_plugin": GpuPlugin(gds=True)}),
    "gpu_plugin: the mechanism named": (G6E | PLUGIN, {"gpu_plugin": GpuPlugin(gds=True)}),
    "gpu_plugin: the mechanism named, on Bottlerocket": (
        G6E | PLUGIN | BOTTLEROCKET,
        {"gpu_plugin": GpuPlugin(pass_device_specs=False)},
    ),
    "mig: another strategy of the device plugin": (
        P5 | PLUGIN,
        {"mig": Mig.uniform("1g.10gb")},
    ),
    "mig: other partitions": (P5, {"mig": Mig.uniform("1g.10gb")}),
    "shared_devices: the mechanism left to the library": (G6E, {"shared_devices": True}),
    "shared_devices: the mechanism named": (G6E | PLUGIN, {"shared_devices": True}),
    "preemption: the mechanism left to the library": (G6E, {"preemption": True}),
    "preemption: the mechanism named": (G6E | PLUGIN, {"preemption": True}),
    "neuron_cores: the mechanism left to the library": (TRN2, {"neuron_cores": True}),
    "neuron_cores: the mechanism named": (TRN2 | PLUGIN, {"neuron_cores": True}),
    "logical_neuron_cores: another number": (TRN2 | PLUGIN, {"logical_neuron_cores": 1}),
    "labels: another label": (TRN2, {"labels": {"team": "ml"}}),
    "taints: none": (TRN2, {"taints": ()}),
    "max_pods: another number": (TRN2, {"max_pods": 40}),
    "vpc_cni: another CNI": (TRN2, {"vpc_cni": False, "max_pods": 110}),
    "disk_gib: another size": (TRN2, {"disk_gib": 500}),
    "instance_store: on or off": (P5, {"instance_store": False}),
    "release_version: another release": (
        TRN2 | {"release_version": "1.34.4-20261023"},
        {"release_version": "1.34.5-20261110"},
    ),
    "ami_id: to or from EKS's own image": (TRN2, {"ami_id": AMI}),
    "ami_id: another image": (TRN2 | {"ami_id": AMI}, {"ami_id": OTHER_AMI}),
    "alternative_instance_types: another type": (
        G6E,
        {"alternative_instance_types": ["g6e.24xlarge"]},
    ),
    # The order is that in which EC2 tries the types.
    "alternative_instance_types: the same types in another order": (
        G6E | {"instance_type": "g6e.xlarge"} | MORE_TYPES,
        {"alternative_instance_types": MORE_TYPES["alternative_instance_types"][::-1]},
    ),
    "placement_group: on or off": (P5, {"placement_group": False}),
    "kubelet: another field": (TRN2, {"kubelet": {"cpuManagerPolicy": "static"}}),
    "hugepages_2mi: another number": (TRN2, {"hugepages_2mi": 1024}),
    "user_data: other user data": (
        TRN2,
        {"user_data": UserData.shell("#!/bin/bash\necho ready\n")},
    ),
    "node_repair: other rules": (TRN2, {"node_repair": NodeRepair(max_parallel=2)}),
    "update: another number": (TRN2, {"update": UpdateConfig(max_unavailable=2)}),
    "tags: another tag": (TRN2, {"tags": {"team": "ml"}}),
    "launch_template_overrides: another field": (
        TRN2,
        {"launch_template_overrides": {"Monitoring": {"Enabled": True}}},
    ),
}
# The same in both apps, whatever stands beside them.
BYSTANDERS: dict[str, Options] = {
    "Bystander1": TRN2,
    "Bystander2": G6E,
    "Bystander3": G6E | BOTTLEROCKET | PLUGIN,
    "Bystander4": P5,
}


@dataclass(frozen=True)
class Drawn:
    """A group as CloudFormation sees it."""

    logical_ids: tuple[str, str]
    nodegroup: dict[str, Any]
    template: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.nodegroup["Properties"]["NodegroupName"])

    @property
    def properties(self) -> dict[str, Any]:
        """The properties by the names of the table."""
        values = dict(self.nodegroup["Properties"])
        reference, own = values.pop("LaunchTemplate"), dict(self.template["Properties"])
        # A new version is what another content of the template gives.
        values["LaunchTemplate.Version"] = [reference["Version"], own.pop("LaunchTemplateData")]
        values["LaunchTemplate.Id"] = [reference["Id"], own]
        return values

    def differences(self, other: Drawn) -> set[str]:
        mine, theirs = self.properties, other.properties
        return {one for one in {*mine, *theirs} if mine.get(one) != theirs.get(one)}


class App:
    """An app with a group for each row, with what the rows change or without."""

    def __init__(self, outdir: Path, *, changed: bool) -> None:
        self.changed = changed
        app = cdk.App(outdir=str(outdir))
        self.stack = cdk.Stack(app, "Training", env=cdk.Environment(region="us-east-2"))
        self.vpc = ec2.Vpc(self.stack, "Vpc", max_azs=2)
        self.delivery = Delivery.gitops(str(outdir / "gitops"))
        self.cluster = self._cluster("Cluster", "1.34", self.delivery)
        self.other = self._cluster("Other", "1.34")
        self.upgraded = self._cluster("Upgraded", "1.35" if changed else "1.34")
        self.reference = ClusterReference(
            name="elsewhere",
            version="1.34",
            security_group="sg-0123456789abcdef0",
            vpc=self.vpc,
            endpoint="https://example.eks.amazonaws.com",
            certificate_authority="Q0E=",
            service_ipv4_cidr="10.100.0.0/16",
        )
        self.groups: dict[str, AcceleratedNodegroup] = {}
        parts: list[Callable[[], None]] = [self._options, self._parameters, self._bystanders]
        for part in reversed(parts) if changed else parts:
            part()
        self.resources = json.loads(
            (Path(app.synth().directory) / "Training.template.json").read_text(encoding="utf-8")
        )["Resources"]

    def _cluster(self, name: str, version: str, delivery: Any = None) -> AcceleratedCluster:
        return AcceleratedCluster(
            self.stack,
            name,
            vpc=self.vpc,
            version=eks.KubernetesVersion.of(version),
            delivery=delivery,
        )

    def _ordered(self, names: Iterable[str]) -> list[str]:
        return sorted(names, reverse=self.changed)

    def add(self, row: str, id_: str, options: Options, **given: Any) -> None:
        """Make the group of a row; one subnet serves all but types without EFA."""
        efa = not options["instance_type"].startswith("g6e")
        subnet = {"subnet": self.vpc.private_subnets[0]} if efa else {}
        self.groups[row] = AcceleratedNodegroup(
            self.stack, id_, **({"cluster": self.cluster} | subnet | given | options)
        )

    def _options(self) -> None:
        ids = {row: f"Option{place}" for place, row in enumerate(CHANGES)}
        for row in self._ordered(CHANGES):
            base, change = CHANGES[row]
            # With an image of one's own, the user data says how to reach the cluster.
            given = {"cluster": self.reference} if row.startswith("ami_id") else {}
            self.add(row, ids[row], base | (change if self.changed else {}), **given)

    def _bystanders(self) -> None:
        for name in self._ordered(BYSTANDERS):
            self.add(name, name, BYSTANDERS[name])
        extra = "Added" if self.changed else "Removed"
        self.add(extra, extra, P5)

    def _parameters(self) -> None:
        service, own = iam.ServicePrincipal("ec2.amazonaws.com"), {"vpc": self.vpc}
        roles = [iam.Role(self.stack, f"Role{one}", assumed_by=service) for one in (1, 2)]
        groups = [ec2.SecurityGroup(self.stack, f"Group{one}", **own) for one in (1, 2)]  # type: ignore[arg-type]
        scoped = DeviceDrivers(
            self.stack,
            "Scoped",
            cluster=self.cluster,
            delivery=self.delivery,
            scope_name="team",
        )
        foreign = ExternalDrivers(foreign={DeviceType.GPU})
        changes: dict[str, tuple[Options, Options, Options]] = {
            "cluster: another cluster": (TRN2, {}, {"cluster": self.other}),
            "subnet: another subnet": (TRN2, {}, {"subnet": self.vpc.private_subnets[1]}),
            "node_role: another role": (TRN2, {"node_role": roles[0]}, {"node_role": roles[1]}),
            "security_group: another group": (
                TRN2,
                {"security_group": groups[0]},
                {"security_group": groups[1]},
            ),
            "drivers: another installation of this library": (TRN2, {}, {"drivers": scoped}),
            "drivers: the default one in another app": (
                TRN2,
                {"cluster": self.other},
                {"cluster": self.other, "drivers": ExternalDrivers()},
            ),
            "drivers: somebody else's manager": (G6E | PLUGIN, {}, {"drivers": foreign}),
            "drivers: somebody else's manager, on Bottlerocket": (
                G6E | PLUGIN | BOTTLEROCKET,
                {},
                {"drivers": foreign},
            ),
            "kubernetes_version: the next minor": (
                TRN2,
                {"cluster": self.upgraded},
                {"cluster": self.upgraded},
            ),
            "pool: another pool": (TRN2, {"pool": "first"}, {"pool": "second"}),
        }
        ids = {row: f"Parameter{place}" for place, row in enumerate(changes)}
        for row in self._ordered(changes):
            options, before, after = changes[row]
            self.add(row, ids[row], options, **(after if self.changed else before))

    def drawn(self, row: str) -> Drawn:
        group = self.groups[row]
        ids = [self.stack.get_logical_id(one) for one in (group.nodegroup, group.launch_template)]
        nodegroup, template = (self.resources[one] for one in ids)
        return Drawn(logical_ids=(ids[0], ids[1]), nodegroup=nodegroup, template=template)


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> App:
    return App(tmp_path_factory.mktemp("before"), changed=False)


@pytest.fixture(scope="module")
def after(tmp_path_factory: pytest.TempPathFactory) -> App:
    return App(tmp_path_factory.mktemp("after"), changed=True)


def differences(row: str, before: App, after: App) -> set[str]:
    return before.drawn(row).differences(after.drawn(row))


# The two apps


@pytest.mark.parametrize("row", REPLACING)
def test_a_change_that_needs_a_new_group_gives_a_new_name(row, before, after):
    old, new = before.drawn(row).name, after.drawn(row).name

    assert old != new


@pytest.mark.parametrize("row", IN_PLACE)
def test_a_change_in_place_keeps_the_name(row, before, after):
    old, new = before.drawn(row).name, after.drawn(row).name

    assert old == new


@pytest.mark.parametrize("row", IN_PLACE)
def test_a_change_in_place_touches_what_the_table_says(row, before, after):
    assert differences(row, before, after) == set(ROWS[row].get("changes", ()))


@pytest.mark.parametrize("row", IN_PLACE)
def test_a_change_in_place_touches_nothing_that_replaces_or_is_refused(row, before, after):
    effects = {PROPERTIES[one]["effect"] for one in differences(row, before, after)}

    assert effects <= {"in place"}


@pytest.mark.parametrize("row", IN_PLACE)
def test_a_change_in_place_is_one_that_cloudformation_makes_at_once(row, before, after):
    found = differences(row, before, after)
    alone = {one for one in found if PROPERTIES[one].get("alone", False)}

    assert bool(alone and found - alone) == ROWS[row].get("together", False)


@pytest.mark.parametrize("row", ROWS)
def test_a_change_keeps_the_logical_ids(row, before, after):
    assert before.drawn(row).logical_ids == after.drawn(row).logical_ids


@pytest.mark.parametrize("row", ROWS)
def test_a_group_keeps_its_launch_template(row, before, after):
    """A template with another id is refused, and one that is replaced has another id."""
    assert "LaunchTemplate.Id" not in differences(row, before, after)


@pytest.mark.parametrize("name", BYSTANDERS)
def test_other_groups_move_nothing_of_a_group_as_they_come_and_go(name, before, after):
    assert "Removed" in before.groups
    assert "Removed" not in after.groups
    assert differences(name, before, after) == set()
    assert before.drawn(name).logical_ids == after.drawn(name).logical_ids


def test_every_property_in_the_name_is_changed_by_an_option_or_parameter(before, after):
    named = {name for name, row in PROPERTIES.items() if row["here"] == "in the name"}
    touched = {one for row in REPLACING for one in differences(row, before, after)}

    assert named <= touched


def test_names_are_as_many_as_groups(before, after):
    for app in (before, after):
        names = [app.drawn(row).name for row in app.groups]

        assert len(set(names)) == len(names) == len(app.groups)


def test_what_the_table_calls_not_set_is_in_no_group(before, after):
    unset = {name for name, row in PROPERTIES.items() if row["here"] == "not set"}
    used: set[str] = set()
    for app in (before, after):
        for row in app.groups:
            used |= app.drawn(row).properties.keys()
            assert app.drawn(row).nodegroup["Properties"]["LaunchTemplate"].keys() == {
                "Id",
                "Version",
            }

    assert used == PROPERTIES.keys() - unset


# The table


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def test_the_table_has_every_option_and_no_other():
    assert {row["name"] for row in TABLE["option"]} == NodegroupOptions.__annotations__.keys()


def test_the_table_has_every_parameter_of_the_construct_and_no_other():
    parameters = inspect.signature(AcceleratedNodegroup.__init__).parameters.keys()

    assert {row["name"] for row in TABLE["parameter"]} == parameters - {
        "self",
        "scope",
        "id",
        "options",
    }


def test_the_table_has_every_property_of_cloudformation_and_no_other():
    parameters = inspect.signature(eks.CfnNodegroup.__init__).parameters.keys()
    names = {snake(name.partition(".")[0]) for name in PROPERTIES}

    assert names == parameters - {"self", "scope", "id"}


def test_each_row_has_two_groups_and_stands_once():
    parameters = {f"{row['name']}: {row['case']}" for row in TABLE["parameter"]}

    assert ROWS.keys() - parameters == CHANGES.keys()
    assert len(ROWS) == len(TABLE["option"]) + len(TABLE["parameter"])
    assert len(PROPERTIES) == len(TABLE["property"])


def test_rows_speak_of_effects_and_properties_that_there_are():
    for row in PROPERTIES.values():
        assert row["effect"] in {"replaces", "in place", "refused"}
        assert row["here"] in {"in the name", "in place", "fixed", "not set"}
    for row in ROWS.values():
        changes = row.get("changes", [])
        assert row["effect"] in {"replaces", "in place", "none"}
        assert bool(changes) == (row["effect"] == "in place")
        assert {PROPERTIES[one]["effect"] for one in changes} <= {"in place"}


EKS = get_session().get_service_model("eks")


def members(call: str) -> set[str]:
    """What an EKS call takes, by CloudFormation's names."""
    shape = EKS.operation_model(call).input_shape
    return {{"force": "ForceUpdateEnabled"}.get(one, one[0].upper() + one[1:])
            for one in shape.members}  # fmt: skip


@pytest.mark.parametrize("name", PROPERTIES)
def test_the_call_of_a_property_is_the_one_that_eks_has_for_it(name):
    row, top = PROPERTIES[name], name.partition(".")[0]
    updates = [call for call in ("UpdateNodegroupConfig", "UpdateNodegroupVersion")
               if top in members(call) - {"ClusterName", "NodegroupName"}]  # fmt: skip

    if row["effect"] == "in place":
        assert [row["call"]] == (updates or ["TagResource"])
    elif row["effect"] == "replaces":
        assert updates == []
        assert row["call"] == "CreateNodegroup"
        assert top in members("CreateNodegroup")
    else:
        assert row["call"] == ""


def test_what_changes_alone_is_what_makes_nodes_anew():
    alone = {name for name, row in PROPERTIES.items() if row.get("alone", False)}

    assert alone == {"LaunchTemplate.Version", "ReleaseVersion", "Version"}
    assert {PROPERTIES[name]["call"] for name in alone} == {"UpdateNodegroupVersion"}
