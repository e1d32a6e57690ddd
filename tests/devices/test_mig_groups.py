"""Groups whose GPUs are cut: what Pods find there, who cuts them, and by what they are told."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from tests.hostile import UncomparedText
from tests.short_names import BOTTLEROCKET, DRA, GPU, PLUGIN

from eks_devices import (
    Capacity,
    EksDevicesError,
    GpuDriver,
    Mig,
    MigStrategy,
    NodegroupPlan,
    NodegroupSpec,
    UserData,
    plan_nodegroup,
)
from eks_devices.user_data import user_data

NVIDIA = "settings.kubelet-device-plugins.nvidia"


def planned(mig: Mig, *, version: str = "1.36", **options: Any) -> NodegroupPlan:
    given: dict[str, Any] = {"instance_type": "p5.48xlarge", "max_size": 1} | options
    group = NodegroupSpec(name="g", mig=mig, **given)
    return plan_nodegroup(group, kubernetes_version=version)


def told(plan: NodegroupPlan) -> dict[str, Any]:
    (gpu,) = (one for one in plan.devices if one.device_type is GPU)
    return dict(gpu.settings)


RESOURCES = [
    (Mig.uniform("1g.10gb"), {"nvidia.com/gpu": 56}, "single"),
    (Mig.uniform("3g.40gb"), {"nvidia.com/gpu": 16}, "single"),
    (
        Mig.uniform("1g.10gb", strategy=MigStrategy.MIXED),
        {"nvidia.com/mig-1g.10gb": 56},
        "mixed",
    ),
    (
        Mig.layout("3g.40gb", "2g.20gb", "1g.10gb", "1g.10gb"),
        {"nvidia.com/mig-3g.40gb": 8, "nvidia.com/mig-2g.20gb": 8, "nvidia.com/mig-1g.10gb": 16},
        "mixed",
    ),
]


@pytest.mark.parametrize(("mig", "expected", "strategy"), RESOURCES)
def test_what_pods_ask_the_device_plugin_for(mig, expected, strategy):
    plan = planned(mig, mechanism={GPU: PLUGIN})
    gpus = {name: n for name, n in plan.extended_resources.items() if name.startswith("nvidia")}

    assert gpus == expected
    assert told(plan) == {"mig-strategy": strategy}


def test_profiles_of_another_kind_of_text_are_the_texts():
    text = UncomparedText("3g.40gb")
    layout = dataclasses.replace(Mig.layout("3g.40gb", "1g.10gb"), profiles=(text, "1g.10gb"))

    assert planned(layout, mechanism=PLUGIN) == planned(
        Mig.layout("3g.40gb", "1g.10gb"), mechanism=PLUGIN
    )


def test_what_pods_claim_under_dra():
    cut, on_request = planned(Mig.uniform("1g.10gb")), planned(Mig.dynamic())
    efa = "efa.networking.k8s.aws"

    assert cut.device_classes == ("mig.nvidia.com", efa)
    assert on_request.device_classes == ("gpu.nvidia.com", "mig.nvidia.com", efa)
    # The driver finds partitions by itself; only to make them it has to be told.
    assert told(cut) == {}
    assert told(on_request) == {"feature-gates": "DynamicMIG=true"}


def test_partitions_on_request_join_other_gates():
    plan = planned(Mig.dynamic(), gpu_driver=GpuDriver(feature_gates={"TimeSlicingSettings": True}))

    assert told(plan) == {"feature-gates": "DynamicMIG=true,TimeSlicingSettings=true"}


@pytest.mark.parametrize(
    ("version", "expected"), [("1.36", ["ControlPlanePatchFloor"]), ("1.37", [])]
)
def test_partitions_on_request_tell_which_control_plane_they_need(version, expected):
    found = planned(Mig.dynamic(), version=version).findings

    assert [one.code for one in found if one.code == "ControlPlanePatchFloor"] == expected
    assert [one.severity for one in found if one.code == "GpuDynamicMig"] == ["warning"]


def test_nodes_are_cut_before_the_kubelet_starts():
    for mechanism in (DRA, PLUGIN):
        text = user_data(planned(Mig.layout("4g.40gb", "3g.40gb"), mechanism=mechanism))
        assert text is not None
        assert "ExecStart=/usr/local/sbin/eks-devices-mig 4g.40gb,3g.40gb\n" in text
        assert "Requires=eks-devices-mig.service" in text


@pytest.mark.parametrize("mig", [Mig.dynamic(), Mig.uniform("1g.10gb", prepared=True)])
def test_nobody_cuts_what_is_cut_already_or_later(mig):
    assert "eks-devices-mig" not in (user_data(planned(mig)) or "")


def test_bottlerocket_cuts_by_its_settings():
    plan = planned(Mig.uniform("1g.10gb"), operating_system=BOTTLEROCKET)
    settings = {
        name.removeprefix(f"{NVIDIA}."): value
        for name, value in plan.bottlerocket_settings.items()
        if name.startswith(NVIDIA)
    }

    assert settings == {
        "device-partitioning-strategy": "mig",
        "mig.profile": {"h100.80gb": "1g.10gb"},
    }
    text = user_data(plan)
    assert text is not None
    assert '"h100.80gb" = "1g.10gb"' in text
    assert "eks-devices-mig" not in text


def test_a_type_that_bottlerocket_does_not_start_gets_no_advice_about_its_settings():
    block = Capacity.ultraserver_block("cr-0123456789abcdef0")
    options: dict[str, Any] = {"instance_type": "p6e-gb200.36xlarge", "capacity": block}

    with pytest.raises(EksDevicesError) as raised:
        planned(Mig.uniform("1g.24gb"), operating_system=BOTTLEROCKET, **options)

    assert {one.code for one in raised.value.faults} == {"BottlerocketGb200"}


def test_cutting_on_request_is_refused_where_dra_cannot_do_it_either():
    """The advice to name DRA would lead to the next fault."""

    def refused(**options: Any) -> tuple[str, str]:
        with pytest.raises(EksDevicesError) as raised:
            planned(Mig.dynamic(), **options)
        (found,) = raised.value.faults
        return found.code, str(found)

    code, text = refused(operating_system=BOTTLEROCKET)
    assert code == "GpuDynamicMigBottlerocket"
    assert "AL2023" in text

    code, text = refused(version="1.34", mechanism=PLUGIN)
    assert code == "GpuDynamicMigBelow136"
    assert "partitions on request, on Kubernetes 1.34" in text

    code, text = refused(mechanism=PLUGIN)
    assert code == "OptionOfOtherMechanism"
    assert "Mechanism.DRA" in text


def test_settings_of_a_user_may_say_the_same():
    own = f'[{NVIDIA}]\ndevice-partitioning-strategy = "mig"\n'
    plan = planned(
        Mig.uniform("1g.10gb"),
        operating_system=BOTTLEROCKET,
        user_data=UserData.bottlerocket(own),
    )

    assert plan.mig == Mig.uniform("1g.10gb")


def test_pods_that_get_no_toleration_by_themselves_are_told_of():
    def found(mig: Mig, **options: Any) -> list[str]:
        plan = planned(mig, mechanism=PLUGIN, **options)
        return [one.path for one in plan.findings if one.code == "TolerationNotAdded"]

    mixed = Mig.uniform("1g.10gb", strategy=MigStrategy.MIXED)
    assert found(mixed) == ["nodegroups.g.mig.strategy"]
    assert found(mixed, taints=()) == []
    assert found(Mig.uniform("1g.10gb")) == []


def test_other_partitions_make_other_nodes():
    first, second = (user_data(planned(Mig.uniform(one))) for one in ("1g.10gb", "1g.20gb"))

    assert first != second
    assert planned(Mig.uniform("1g.10gb")).to_dict()["mig"] == {
        "profiles": ["1g.10gb"],
        "fill": True,
        "dynamic": False,
        "prepared": False,
        "strategy": "single",
    }
