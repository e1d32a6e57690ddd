"""A plan that is read from a file is the plan that was written, as far as a file tells it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.cluster_plans import cluster_of

from eks_device_operations._outcome import OperationError
from eks_device_operations.plan.cluster_plan import cluster_plan
from eks_devices import (
    Capacity,
    ClusterPlan,
    DeviceType,
    DranetBuild,
    EfaInstallation,
    GpuDriver,
    GpuSharing,
    Mechanism,
    Mig,
    NeuronError,
    NeuronHealth,
    NeuronInstallation,
    NodeRepair,
    NvidiaInstallation,
    OperatingSystem,
    RepairAction,
    RepairOverride,
    Taint,
    UpdateConfig,
    UpdateStrategy,
)
from eks_devices.feasibility import check_claims

BLOCK = Capacity.block("cr-0123456789abcdef0", start=datetime(2026, 12, 5, 11, 30, tzinfo=UTC))
GROUPS: list[dict[str, Any]] = [
    {"instance_type": "p5.48xlarge", "capacity": Capacity.reservation("cr-0123456789abcdef0")},
    {"instance_type": "trn2.48xlarge", "capacity": BLOCK, "desired_size": 1},
    {"instance_type": "trn1.32xlarge", "mechanism": Mechanism.DEVICE_PLUGIN},
    {"instance_type": "p4d.24xlarge", "mig": Mig.uniform("1g.5gb")},
    {"instance_type": "p5en.48xlarge", "mig": Mig.dynamic(), "efa": 4},
    {"instance_type": "g6e.12xlarge", "gpu_driver": GpuDriver(consumable_shares="memory")},
    {
        "instance_type": "g6.12xlarge",
        "mechanism": Mechanism.DEVICE_PLUGIN,
        "gpu_sharing": GpuSharing.time_slicing(replicas=4),
        "taints": [Taint(key="team", value="vision")],
        "labels": {"team": "vision"},
        "max_pods": 40,
        "kubelet": {"podPidsLimit": 4096},
    },
    {
        "instance_type": "g5.48xlarge",
        "operating_system": OperatingSystem.BOTTLEROCKET,
        "node_repair": NodeRepair(
            max_parallel=1,
            overrides=[
                RepairOverride(
                    condition="AcceleratedHardwareReady",
                    reason="NvidiaXID64Error",
                    wait_minutes=5,
                    action=RepairAction.REPLACE,
                )
            ],
        ),
        "update": UpdateConfig(max_unavailable=2, strategy=UpdateStrategy.MINIMAL),
    },
]


def _read_again(plan: ClusterPlan) -> ClusterPlan:
    return cluster_plan(json.loads(plan.to_json()))


@pytest.mark.parametrize("group", GROUPS, ids=lambda one: str(one["instance_type"]))
def test_a_group_is_read_as_it_was_written(group: dict[str, Any]) -> None:
    plan = cluster_of(group)
    told = _read_again(plan).to_dict()
    assert told == plan.to_dict() | {"findings": []}


def test_installations_are_read_as_they_were_written() -> None:
    plan = cluster_of(
        {"instance_type": "trn2.48xlarge"},
        {"instance_type": "p5.48xlarge"},
        nvidia=NvidiaInstallation(nodes_per_imex_domain=9, network_policies=True),
        neuron=NeuronInstallation(
            health=NeuronHealth(recovery=True, recovers_from=[NeuronError.DMA])
        ),
        efa=EfaInstallation(build=DranetBuild.UPSTREAM),
    )
    again = _read_again(plan)
    assert again.to_dict() == plan.to_dict() | {"findings": []}
    assert (again.nvidia, again.efa) == (plan.nvidia, plan.efa)


def test_claims_get_the_same_verdicts_from_a_plan_of_a_file() -> None:
    plan = cluster_of(*GROUPS)
    for kind in ("gpu.nvidia.com", "mig.nvidia.com", "neuron.aws.com", "efa.networking.k8s.aws"):
        request = {"name": "all", "exactly": {"deviceClassName": kind, "count": 4}}
        claim = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": "four"},
            "spec": {"devices": {"requests": [request]}},
        }
        assert check_claims([claim], _read_again(plan)) == check_claims([claim], plan)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"kubernetes_version": None}, "kubernetes_version"),
        ({"nodegroups": [{}]}, "'sizes' is missing"),
        ({"nodegroups": "p5"}, "nodegroups"),
        ({"efa": {"build": "own"}}, "own"),
        ({"kubernetes_version": "1.1"}, "kubernetes_version"),
    ],
)
def test_what_is_no_plan_is_refused(change: dict[str, Any], told: str) -> None:
    content = cluster_of({"instance_type": "p5.48xlarge"}).to_dict() | change
    with pytest.raises(OperationError, match=told) as error:
        cluster_plan(content)
    assert error.value.code == 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"instance_types": []}, "instance_types"),
        ({"instance_type": "p0.large"}, "p0.large"),
        ({"labels": {"a": {}}}, "'a' is"),
    ],
)
def test_what_is_no_group_is_refused(change: dict[str, Any], told: str) -> None:
    content = cluster_of({"instance_type": "p5.48xlarge"}).to_dict()
    content["nodegroups"][0] |= change
    with pytest.raises(OperationError, match=told) as error:
        cluster_plan(content)
    assert error.value.code == 1


def test_settings_that_are_nested_can_be_looked_up() -> None:
    content = cluster_of({"instance_type": "p5.48xlarge"}).to_dict()
    content["nodegroups"][0]["devices"][0]["settings"] = {"a": {"b": [1]}}
    (group,) = cluster_plan(content).nodegroups
    assert hash(group.devices[0].settings) == hash(group.devices[0].settings)


def test_every_device_type_is_known_again() -> None:
    plan = cluster_of(*GROUPS)
    types = {one.device_type for group in _read_again(plan).nodegroups for one in group.devices}
    assert types >= {DeviceType.GPU, DeviceType.NEURON, DeviceType.EFA}
