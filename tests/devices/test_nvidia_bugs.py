"""Known bugs and limits of NVIDIA's managers, each as what keeps a node group from it.

tests/contract/nvidia_bugs.toml says which bug each test is for. Expected values are written by hand
from the reports and the vendors' pages, not read from the library's data.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.short_names import BOTTLEROCKET, DOMAIN, DRA, EFA, GPU, PLUGIN

from eks_devices import (
    AcceleratedInstanceType,
    Capacity,
    Compute,
    EksDevicesError,
    Feature,
    Mechanism,
    Mig,
    NodegroupPlan,
    NodegroupSpec,
    NvidiaInstallation,
    OperatingSystem,
    Verdict,
    device_support,
    plan_cluster,
    plan_nodegroup,
)
from eks_devices.user_data import user_data

GPU_TYPES = [one.name for one in AcceleratedInstanceType.all() if one.device_type is GPU]


def planned(instance_type: str, version: str = "1.36", **options: Any) -> NodegroupPlan:
    block = Capacity.block("cr-0123456789abcdef0")
    bought = {"capacity": block} if instance_type.startswith("p6e") else {}
    given: dict[str, Any] = {"max_size": 1} | bought | options
    spec = NodegroupSpec(name="g", instance_type=instance_type, **given)
    return plan_nodegroup(spec, kubernetes_version=version)


def faults(instance_type: str, version: str = "1.36", **options: Any) -> list[str]:
    try:
        planned(instance_type, version, **options)
    except EksDevicesError as error:
        return [f"{one.code} {one.path.removeprefix('nodegroups.g.')}" for one in error.faults]
    return []


@pytest.mark.parametrize("patch", [0, 1, 2, 9])
def test_a_release_whose_kubelet_loses_dra_drivers_is_refused(patch):
    release = f"1.34.{patch}-20261023"
    told = ["NodePatchBelowFloor release_version"] if patch < 2 else []

    assert faults("g6e.12xlarge", "1.34", mechanism=DRA, release_version=release) == told
    assert faults("g6e.12xlarge", "1.34", mechanism=PLUGIN, release_version=release) == []


def test_nodes_of_another_minor_than_their_cluster_s_are_refused():
    for release, version in (("1.33.5-20261023", "1.34"), ("1.35.2-20261023", "1.34")):
        assert faults("g6e.12xlarge", version, release_version=release) == [
            "ReleaseOfOtherMinor release_version"
        ]


@pytest.mark.parametrize("instance_type", GPU_TYPES)
def test_compute_domains_are_on_nodes_that_nvlink_joins_and_on_no_others(instance_type):
    joined = instance_type.startswith("p6e-")
    device_types = {one.device_type for one in planned(instance_type).devices}

    assert (DOMAIN in device_types) == joined
    assert faults(instance_type, compute_domains=True) == (
        [] if joined else ["ComputeDomainNeedsNvlinkDomain compute_domains"]
    )


def test_a_driver_that_ends_at_an_incomplete_fabric_can_be_told_to_go_on():
    told = NvidiaInstallation(compute_domain_gates={"CrashOnNVLinkFabricErrors": False})
    kept: Any = {DOMAIN: (DRA,)}
    plan = plan_cluster(kubernetes_version="1.36", nodegroups=[], keep=kept, nvidia=told)

    (driver,) = plan.drivers
    assert driver.settings == {"feature-gates": "CrashOnNVLinkFabricErrors=false"}


@pytest.mark.parametrize("system", [OperatingSystem.AL2023, BOTTLEROCKET])
def test_nodes_that_are_to_be_cut_otherwise_start_with_other_user_data(system):
    """So the launch template changes, and EKS replaces nodes that still show the old resources."""
    texts = {
        user_data(planned("p5.48xlarge", mechanism=PLUGIN, operating_system=system, mig=mig))
        for mig in (None, Mig.uniform("1g.10gb"), Mig.uniform("3g.40gb"))
    }

    assert len(texts) == 3


def test_bottlerocket_cuts_no_partitions_of_several_sizes():
    mixed = Mig.layout("3g.40gb", "2g.20gb", "1g.10gb", "1g.10gb")
    options: dict[str, Any] = {"mechanism": PLUGIN, "mig": mixed}

    assert faults("p5.48xlarge", **options) == []
    refused = faults("p5.48xlarge", operating_system=BOTTLEROCKET, **options)
    assert refused
    assert {one.partition(" ")[2].partition(".")[0] for one in refused} == {"mig"}


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36", "1.37"])
def test_partitions_are_made_on_request_where_somebody_asks_for_it_and_kubernetes_can(version):
    without = planned("p5.48xlarge", version, mechanism=DRA)
    refused = faults("p5.48xlarge", version, mechanism=DRA, mig=Mig.dynamic())

    assert all("DynamicMIG" not in str(one.settings) for one in without.devices)
    assert bool(refused) == (version in ("1.34", "1.35"))


@pytest.mark.parametrize("instance_type", ["g4dn.xlarge", "g6.12xlarge", "g6e.12xlarge"])
def test_gpus_without_partitions_never_get_the_gate_that_makes_them(instance_type):
    assert faults(instance_type, mechanism=DRA, mig=Mig.dynamic()) != []


@pytest.mark.parametrize("system", [OperatingSystem.AL2023, BOTTLEROCKET])
@pytest.mark.parametrize("version", ["1.34", "1.36", "1.37"])
def test_karpenter_makes_no_nodes_for_time_slices(version, system):
    def verdict(mechanism: Mechanism, compute: Compute) -> Verdict:
        return device_support(
            device_type=GPU,
            mechanism=mechanism,
            compute=compute,
            operating_system=system,
            kubernetes_version=version,
            feature=Feature.TIME_SLICING,
        ).verdict

    for mechanism in Mechanism:
        assert verdict(mechanism, Compute.KARPENTER_DYNAMIC) is Verdict.NO
        assert verdict(mechanism, Compute.KARPENTER_STATIC) is not Verdict.YES
    assert verdict(PLUGIN, Compute.MANAGED) is Verdict.YES


@pytest.mark.parametrize("instance_type", GPU_TYPES)
def test_each_device_of_a_node_is_handed_out_once(instance_type):
    """A device plugin beside a DRA driver of the same GPUs would hand each out twice."""
    for mechanism in ({GPU: DRA, EFA: PLUGIN}, {GPU: PLUGIN, EFA: PLUGIN}):
        own = {key: one for key, one in mechanism.items() if key is GPU or has_efa(instance_type)}
        plan = planned(instance_type, mechanism=own)
        names = [one for one in plan.device_classes if one == "gpu.nvidia.com"]
        names += [one for one in plan.extended_resources if one == "nvidia.com/gpu"]

        assert names == ["gpu.nvidia.com" if mechanism[GPU] is DRA else "nvidia.com/gpu"]


def has_efa(instance_type: str) -> bool:
    return any(one.device_type is EFA for one in planned(instance_type).devices)


def test_gpus_older_than_time_slices_cannot_be_planned():
    for name in ("p2.xlarge", "g3.4xlarge"):
        with pytest.raises(EksDevicesError, match="UnknownInstanceType"):
            AcceleratedInstanceType.of(name)


def test_a_dra_group_whose_first_node_nobody_adds_says_so():
    def told(**options: Any) -> list[tuple[str, str]]:
        found = planned("g6e.12xlarge", **options).findings
        return [(one.severity, one.fix) for one in found if one.code == "DraGroupAtZero"]

    ((severity, fix),) = told(mechanism=DRA, autoscaled=True)
    assert severity == "warning"
    assert "min_size=1" in fix
    assert told(mechanism=DRA, autoscaled=True, min_size=1) == []
    assert [one for one, _ in told(mechanism=DRA)] == ["info"]
    # Unless somebody names DRA, the device plugin lets the autoscaler begin at zero.
    assert told(autoscaled=True) == []
    assert {one.mechanism for one in planned("g6e.12xlarge", autoscaled=True).devices} == {PLUGIN}
