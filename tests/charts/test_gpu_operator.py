"""NVIDIA's GPU operator beside our managers: on each node exactly one hands out the GPUs."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hostile import Hostile
from tests.short_names import BOTTLEROCKET, DRA, EFA, GPU, PLUGIN

from eks_device_charts import ImageSource, device_manifests, gpu_operator_values
from eks_devices import (
    Capacity,
    ClusterPlan,
    EksDevicesError,
    NodegroupSpec,
    Taint,
    plan_cluster,
)
from eks_devices.gpu_operator import gpu_operator_labels

OPERANDS = "nvidia.com/gpu.deploy.operands"
MIG_CONFIG = "nvidia.com/mig.config"
BLOCK = Capacity.block("cr-0123456789abcdef0")


def spec(name: str, instance_type: str = "g6e.12xlarge", **options: Any) -> NodegroupSpec:
    return NodegroupSpec(name=name, instance_type=instance_type, **({"max_size": 2} | options))


OURS_DRA = spec("dra", mechanism=DRA)
OURS_PLUGIN = spec("plugin", mechanism=PLUGIN)
BUILT_IN = spec("built-in", operating_system=BOTTLEROCKET)
OPERATORS = spec("operators", mechanism=PLUGIN, external={GPU})
OTHER_DRA = spec("other-dra", mechanism=DRA, external={GPU})
TRN2 = spec("trn2", "trn2.48xlarge", capacity=BLOCK)
HPC = spec("hpc", "hpc7a.96xlarge", efa=True)


def planned(*groups: NodegroupSpec, version: str = "1.34") -> ClusterPlan:
    return plan_cluster(kubernetes_version=version, nodegroups=list(groups))


def values(*groups: NodegroupSpec) -> dict[str, Any]:
    return gpu_operator_values(planned(*groups))


def fault_of(*groups: NodegroupSpec) -> tuple[str, str]:
    with pytest.raises(EksDevicesError) as error:
        values(*groups)
    (found,) = error.value.faults
    assert all((found.message, found.got, found.allowed, found.fix, found.source))
    return found.code, found.path


def operator_s_plugin_runs(chart: dict[str, Any], labels: dict[str, str]) -> bool:
    """What the operator does on a node with an NVIDIA GPU, as its controllers are written."""
    return chart["devicePlugin"]["enabled"] and labels.get(OPERANDS) != "false"


@pytest.mark.parametrize(
    "groups",
    [
        (),
        (TRN2, HPC),
        (OURS_DRA,),
        (OURS_PLUGIN,),
        (BUILT_IN,),
        (OTHER_DRA,),
        (OURS_DRA, OURS_PLUGIN, BUILT_IN, TRN2),
    ],
)
def test_without_a_group_of_its_own_the_operator_hands_out_nothing(groups):
    chart = values(*groups)

    for operand in ("devicePlugin", "gfd", "migManager", "driver", "toolkit", "sandboxWorkloads"):
        assert chart[operand]["enabled"] is False


@pytest.mark.parametrize("others", [(), (OURS_DRA,), (OURS_PLUGIN, BUILT_IN, TRN2)])
def test_the_operator_serves_its_groups_by_its_plugin(others):
    chart = values(OPERATORS, *others)

    assert chart["devicePlugin"]["enabled"] is True
    assert chart["gfd"]["enabled"] is True


@pytest.mark.parametrize("groups", [(OPERATORS,), (BUILT_IN,), (OURS_DRA, OPERATORS), ()])
def test_what_the_images_of_nodes_bring_is_off(groups):
    chart = values(*groups)

    assert chart["driver"] == chart["toolkit"] == {"enabled": False}
    # The chart refuses it without the operator's toolkit.
    assert chart["cdi"]["nriPluginEnabled"] is False


@pytest.mark.parametrize("groups", [(OPERATORS,), (OURS_DRA,), ()])
def test_the_resource_that_brings_a_dra_driver_to_every_node_is_not_made(groups):
    chart = values(*groups)

    assert chart["gpuCluster"] == {"deployCR": False}
    assert chart["clusterPolicy"] == {"deployCR": True}


def test_the_operator_finds_gpus_on_nodes_with_any_taint():
    tainted = spec("tainted", mechanism=PLUGIN, external={GPU}, taints=["team=vision:NoExecute"])
    chart = values(tainted)

    (taint,) = planned(tainted).nodegroups[0].taints
    assert isinstance(taint, Taint)
    for tolerations in (
        chart["daemonsets"]["tolerations"],
        chart["node-feature-discovery"]["worker"]["tolerations"],
    ):
        assert any(one.get("operator") == "Exists" and "key" not in one for one in tolerations)
    assert chart["nfd"]["enabled"] is True


def test_the_plugin_leaves_the_efa_devices_of_other_pods_alone():
    chart = values(spec("p5", "p5.48xlarge", mechanism={GPU: PLUGIN, EFA: DRA}, external={GPU}))

    assert {"name": "MOFED_ENABLED", "value": "false"} in chart["devicePlugin"]["env"]


def test_the_mig_manager_cuts_only_where_a_group_says_how():
    cut = spec(
        "cut", "p5.48xlarge", mechanism=PLUGIN, external={GPU}, labels={MIG_CONFIG: "all-1g.10gb"}
    )
    ours = spec("ours", "p5.48xlarge", mechanism=PLUGIN, labels={MIG_CONFIG: "all-1g.10gb"})

    assert values(cut)["migManager"]["enabled"] is True
    assert values(OPERATORS, ours)["migManager"]["enabled"] is False
    for chart in (values(cut, OPERATORS), values(OPERATORS)):
        assert chart["migManager"]["config"]["default"] == ""


def test_bottlerocket_has_a_plugin_and_no_operator():
    group = spec("br", mechanism=PLUGIN, external={GPU}, operating_system=BOTTLEROCKET)

    assert fault_of(group, OPERATORS) == ("OperatorOnBottlerocket", "nodegroups.br.external")


def test_a_group_of_the_operator_lets_it_in():
    shut = spec("shut", mechanism=PLUGIN, external={GPU}, labels={OPERANDS: "false"})

    assert fault_of(shut, OPERATORS) == ("OperatorShutOut", "nodegroups.shut.labels")


def test_bottlerocket_s_own_plugin_lives_beside_the_operator_s():
    plan = planned(OPERATORS, BUILT_IN)

    assert gpu_operator_values(plan)["devicePlugin"]["enabled"] is True
    runs = {
        group.name: operator_s_plugin_runs(gpu_operator_values(plan), dict(group.labels))
        for group in plan.nodegroups
    }
    assert runs == {"built-in": False, "operators": True}


@pytest.mark.parametrize("value", ["true", "yes"])
@pytest.mark.parametrize("group", [OURS_DRA, OURS_PLUGIN, BUILT_IN, OTHER_DRA])
def test_a_group_that_lets_the_operator_in_beside_its_manager_is_a_fault(group, value):
    let_in = dataclasses.replace(group, labels={OPERANDS: value})

    assert fault_of(let_in, OPERATORS) == ("TwoGpuManagers", f"nodegroups.{group.name}.labels")
    # Where the operator hands out nothing its exporter may run there.
    assert values(let_in)["devicePlugin"]["enabled"] is False


def test_every_fault_of_a_plan_is_told():
    let_in = [dataclasses.replace(one, labels={OPERANDS: "true"}) for one in (OURS_DRA, BUILT_IN)]
    group = spec("br", mechanism=PLUGIN, external={GPU}, operating_system=BOTTLEROCKET)

    with pytest.raises(EksDevicesError) as error:
        values(*let_in, group)

    assert sorted(one.code for one in error.value.faults) == [
        "OperatorOnBottlerocket",
        "TwoGpuManagers",
        "TwoGpuManagers",
    ]


@pytest.mark.parametrize("plan", [None, {}, [], "plan", Hostile(), planned(OURS_DRA).nodegroups[0]])
def test_what_is_no_plan_of_a_cluster_is_a_fault(plan):
    with pytest.raises(EksDevicesError, match="WrongType"):
        gpu_operator_values(plan)


def test_each_call_gives_values_of_its_own():
    plan = planned(OPERATORS)
    first = gpu_operator_values(plan)
    first["devicePlugin"]["enabled"] = "changed"
    first["daemonsets"]["tolerations"].clear()

    assert gpu_operator_values(plan)["devicePlugin"]["enabled"] is True
    assert gpu_operator_values(plan)["daemonsets"]["tolerations"]


@pytest.mark.parametrize(
    ("group", "labels"),
    [
        (OPERATORS, {}),
        (TRN2, {}),
        (HPC, {}),
        (OURS_DRA, {OPERANDS: "false"}),
        (OURS_PLUGIN, {OPERANDS: "false"}),
        (BUILT_IN, {OPERANDS: "false"}),
        (OTHER_DRA, {OPERANDS: "false"}),
    ],
)
def test_only_nodes_whose_gpus_somebody_else_serves_keep_the_operator_off(group, labels):
    plan = plan_cluster(kubernetes_version="1.34", nodegroups=[group])
    found = [gpu_operator_labels(one) for one in plan.nodegroups[0].devices]

    assert {key: one for each in found for key, one in each.items()} == labels


GROUPS = [
    {"mechanism": DRA},
    {"mechanism": PLUGIN},
    {"mechanism": PLUGIN, "external": {GPU}},
    {"mechanism": DRA, "external": {GPU}},
    {"operating_system": BOTTLEROCKET},
    {"instance_type": "trn2.48xlarge", "capacity": BLOCK},
    {"instance_type": "p5.48xlarge", "mechanism": {GPU: PLUGIN, EFA: DRA}, "external": {GPU}},
    {"instance_type": "p6e-gb200.36xlarge", "capacity": BLOCK},
]


@given(
    options=st.lists(st.sampled_from(GROUPS), min_size=1, max_size=5),
    version=st.sampled_from(["1.34", "1.36"]),
)
@settings(max_examples=60, deadline=None)
def test_the_gpus_of_each_node_have_exactly_one_manager(options, version):
    plan = planned(
        *(spec(f"g{number}", **one) for number, one in enumerate(options)), version=version
    )
    chart = gpu_operator_values(plan)
    ours = device_manifests(plan, images=ImageSource(region="us-east-2"))
    drivers = {
        (name, driver.owner)
        for driver in plan.drivers
        if driver.device_type is GPU
        for name in driver.nodegroups
    }

    assert ours or not plan.drivers
    for group in plan.nodegroups:
        gpus = [one for one in group.devices if one.device_type is GPU]
        if not gpus:
            assert OPERANDS not in group.labels
            continue
        (gpu,) = gpus
        managers = [
            operator_s_plugin_runs(chart, dict(group.labels)),
            (group.name, gpu.owner) in drivers,
            gpu.owner == "host",
            gpu.owner == "external" and gpu.mechanism is DRA,
        ]
        assert managers.count(True) == 1


def test_labels_depend_on_the_group_alone():
    others = [OPERATORS, OURS_PLUGIN, BUILT_IN]
    alone = {group.name: group.labels for group in planned(OURS_DRA).nodegroups}

    for many in itertools.permutations(others, 2):
        (group,) = (one for one in planned(OURS_DRA, *many).nodegroups if one.name == "dra")
        assert group.labels == alone["dra"]
