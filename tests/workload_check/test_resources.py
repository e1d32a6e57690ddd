"""What Pods ask for by resources: of device plugins, of DRA, and CPUs, memory and huge pages."""

from __future__ import annotations

from typing import Any

import pytest
from tests.workload_manifests import (
    DRA,
    EFA,
    G6E,
    NEURON,
    P4D,
    P5,
    PLUGIN,
    TRN1,
    TRN2,
    checked,
    codes,
    group,
    message,
    plan_of,
    pod,
    request,
    template,
    verdict,
)

from eks_devices import (
    DeviceType,
    GpuSharing,
    Mig,
    MigStrategy,
    NodegroupSpec,
    NvidiaInstallation,
    plan_cluster,
)

GPU_RESOURCE = "nvidia.com/gpu"
SHARED = group(
    "shared",
    "g6e.12xlarge",
    mechanism=PLUGIN,
    gpu_sharing=GpuSharing.time_slicing(replicas=4, rename=True),
)


@pytest.mark.parametrize(
    ("count", "expected"), [(4, ("feasible", "")), (5, ("infeasible", "TooFewDevices"))]
)
def test_a_plugin_offers_as_many_as_a_node_has(count: int, expected: Any) -> None:
    assert verdict(plan_of(G6E), pod(limits={GPU_RESOURCE: count})) == {"g6e": expected}


def test_the_number_to_write_is_told() -> None:
    report = checked(plan_of(G6E), pod(limits={GPU_RESOURCE: 5}))
    assert "at most 4 nvidia.com/gpu" in message(report, "NoNodegroupServesPod")


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("1.35", ("infeasible", "ClaimedDevices")),
        ("1.36", ("feasible", "")),
        ("1.37", ("feasible", "")),
    ],
)
def test_gpus_by_dra_are_had_by_the_resource_from_1_36_on(version: str, expected: Any) -> None:
    plan = plan_of(P5, version=version)
    assert verdict(plan, pod(limits={GPU_RESOURCE: 8})) == {"p5": expected}


def test_more_than_a_node_has_by_dra_is_told() -> None:
    assert verdict(plan_of(P5), pod(limits={GPU_RESOURCE: 9})) == {
        "p5": ("infeasible", "TooFewDevices")
    }


def test_a_cluster_without_the_mapping_has_claims_alone() -> None:
    spec = NodegroupSpec(name="p5", instance_type="p5.48xlarge", max_size=1, mechanism=DRA)
    plan = plan_cluster(
        kubernetes_version="1.36",
        nodegroups=[spec],
        nvidia=NvidiaInstallation(extended_resource=False),
    )
    assert verdict(plan, pod(limits={GPU_RESOURCE: 1})) == {"p5": ("infeasible", "ClaimedDevices")}


@pytest.mark.parametrize(
    ("version", "expected"),
    [("1.35", ("infeasible", "ResourceNotServed")), ("1.36", ("feasible", ""))],
)
def test_resources_named_after_classes_are_served_from_1_36_on(version: str, expected: Any) -> None:
    limits = {"deviceclass.resource.kubernetes.io/efa.networking.k8s.aws": 32}
    assert verdict(plan_of(P5, version=version), pod(limits=limits)) == {"p5": expected}


def test_a_class_of_the_manifests_may_stand_for_a_resource() -> None:
    neuron = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "chips"},
        "spec": {
            "extendedResourceName": "aws.amazon.com/neuron",
            "selectors": [{"cel": {"expression": f"device.driver == '{NEURON}'"}}],
        },
    }
    asks = pod(limits={"aws.amazon.com/neuron": 16})
    assert verdict(plan_of(TRN2), asks) == {"trn2": ("infeasible", "ClaimedDevices")}
    assert verdict(plan_of(TRN2), neuron, asks) == {"trn2": ("feasible", "")}
    old = verdict(plan_of(TRN2, version="1.35"), neuron, asks)
    assert old == {"trn2": ("infeasible", "ClaimedDevices")}


@pytest.mark.parametrize(
    ("resource", "plan", "code"),
    [
        ("nvidia.com/gpu", plan_of(SHARED), "OtherResource"),
        ("nvidia.com/gpu.shared", plan_of(G6E), "OtherResource"),
        ("nvidia.com/gpu.shared", plan_of(P5), "ClaimedDevices"),
        ("nvidia.com/mig-1g.10gb", plan_of(G6E), "NotCut"),
        ("nvidia.com/mig-1g.10gb", plan_of(P5), "NotCut"),
        ("aws.amazon.com/neuroncore", plan_of(TRN2), "ClaimedDevices"),
        ("aws.amazon.com/neurondevice", plan_of(TRN1), "OtherResource"),
        ("vpc.amazonaws.com/efa", plan_of(P5), "ClaimedDevices"),
        ("vpc.amazonaws.com/efa", plan_of(G6E), "NoSuchDevices"),
        ("aws.amazon.com/neuron", plan_of(G6E), "NoSuchDevices"),
        ("nvidia.com/gpu", plan_of(TRN1), "NoSuchDevices"),
    ],
)
def test_why_a_node_has_nothing_of_a_resource(resource: str, plan: Any, code: str) -> None:
    (found,) = verdict(plan, pod(limits={resource: 1})).values()
    assert found == ("infeasible", code)


@pytest.mark.parametrize(
    ("resource", "count", "fix"),
    [
        (GPU_RESOURCE, 0.5, "ask for 1; for less than a whole GPU let Pods share one"),
        (GPU_RESOURCE, "1500m", "ask for 2; for less"),
        ("aws.amazon.com/neuron", 0.5, "ask for 1; a core alone is aws.amazon.com/neuroncore"),
        ("vpc.amazonaws.com/efa", 0.5, "ask for 1"),
        (GPU_RESOURCE, -0.5, "write the number"),
    ],
)
def test_a_part_of_a_device_is_told_how_it_is_had(resource: str, count: Any, fix: str) -> None:
    (remark,) = checked(plan_of(G6E), pod(limits={resource: count})).remarks
    assert remark.finding.code == "MalformedQuantity"
    assert remark.finding.fix.startswith(fix)


def test_a_number_with_a_point_is_one_of_devices_where_it_is_whole() -> None:
    assert verdict(plan_of(G6E), pod(limits={GPU_RESOURCE: 2.0})) == {"g6e": ("feasible", "")}
    report = checked(plan_of(G6E), pod(limits={GPU_RESOURCE: 5.0}))
    assert codes(report) == ["NoNodegroupServesPod"]


CUT_BY_DRA = group("cut", "p5.48xlarge", mechanism=DRA, mig=Mig.uniform("1g.10gb"))
CUT_WITH_ME = group(
    "cut", "p5.48xlarge", mechanism=DRA, mig=Mig.layout("1g.10gb+me", *["1g.10gb"] * 6)
)
CLAIM_ONE = (
    "claim them instead: resourceClaims of a ResourceClaimTemplate with deviceClassName: "
    "mig.nvidia.com and the selector device.attributes['gpu.nvidia.com'].profile == '{}'"
)


@pytest.mark.parametrize(
    ("plan", "profile", "code", "fix"),
    [
        (CUT_BY_DRA, "1g.10gb", "ClaimedDevices", CLAIM_ONE.format("1g.10gb")),
        (CUT_WITH_ME, "1g.10gb.me", "ClaimedDevices", CLAIM_ONE.format("1g.10gb+me")),
        (
            P5,
            "1g.10gb",
            "NotCut",
            "cut them: the group's mig=; " + CLAIM_ONE.format("1g.10gb"),
        ),
        (P5, "1g.11gb", "NotCut", "did you mean 1g.10gb"),
        (P4D, "1g.5gb", "NotCut", "cut them: the group's mig="),
        (G6E, "1g.10gb", "NotCut", "ask for a whole GPU, or choose nodes whose GPUs can be cut"),
    ],
)
def test_how_to_get_a_partition_is_told_as_the_nodes_hand_them_out(
    plan: Any, profile: str, code: str, fix: str
) -> None:
    (found,) = checked(plan_of(plan), pod(limits={f"nvidia.com/mig-{profile}": 1})).pods
    (said,) = found.verdicts
    assert said.code == code
    assert said.fix.startswith(fix)
    assert ("claim" in said.fix) == ("claim" in fix)


def test_devices_of_several_kinds_are_told_to_be_claimed_in_one_template() -> None:
    asked = {GPU_RESOURCE: 2, "nvidia.com/mig-1g.10gb": 1, "vpc.amazonaws.com/efa": 2}
    plan = plan_of(P5, version="1.35")
    told = [one.finding for one in checked(plan, pod(limits=asked)).remarks]
    (fix,) = [one.fix for one in told if one.code == "NoNodegroupServesPod"]
    assert fix.startswith("for p5, cut them: the group's mig=; claim them instead: ")
    assert fix.count("ResourceClaimTemplate with a request for each: ") == 1
    for name in ("gpu.nvidia.com", "mig.nvidia.com", "efa.networking.k8s.aws"):
        assert fix.count(f"deviceClassName: {name}") == 1


@pytest.mark.parametrize(
    ("profile", "expected"),
    [("1g.5gb", ("feasible", "")), ("2g.10gb", ("infeasible", "NotCut"))],
)
def test_partitions_are_had_where_gpus_are_cut_into_them(profile: str, expected: Any) -> None:
    cut = group(
        "cut",
        "p4d.24xlarge",
        mechanism=PLUGIN,
        mig=Mig.layout("3g.20gb", "1g.5gb", strategy=MigStrategy.MIXED),
    )
    assert verdict(plan_of(cut), pod(limits={f"nvidia.com/mig-{profile}": 1})) == {"cut": expected}


@pytest.mark.parametrize(
    "sharing",
    [
        GpuSharing.mps(replicas=4),
        GpuSharing.time_slicing(replicas=4, fail_requests_greater_than_one=True),
    ],
)
def test_shares_that_are_handed_out_one_by_one(sharing: GpuSharing) -> None:
    plan = plan_of(group("s", "g6e.12xlarge", mechanism=PLUGIN, gpu_sharing=sharing))
    assert verdict(plan, pod(limits={GPU_RESOURCE: 1})) == {"s": ("feasible", "")}
    assert verdict(plan, pod(limits={GPU_RESOURCE: 2})) == {"s": ("infeasible", "SharesOneByOne")}


def test_what_somebody_else_hands_out_is_not_known() -> None:
    others = group("g", "g6e.12xlarge", mechanism=PLUGIN, external=frozenset({DeviceType.GPU}))
    found = verdict(plan_of(others), pod(limits={"nvidia.com/gpu.shared": 1}))
    assert found == {"g": ("unknown", "OwnerUnknown")}


def test_a_resource_that_nobody_knows_is_unknown_beside_devices_and_ignored_alone() -> None:
    fuse = {"smarter-devices/fuse": 1}
    assert checked(plan_of(G6E), pod(limits=fuse)).pods == ()
    found = verdict(plan_of(G6E), pod(limits={GPU_RESOURCE: 1, **fuse}))
    assert found == {"g6e": ("unknown", "ResourceUnknown")}


def containers(*main: int, init: Any = ()) -> dict[str, Any]:
    """A Pod of containers that take GPUs; of init containers, a text is one that stays."""

    def one(name: str, count: Any, **more: Any) -> dict[str, Any]:
        return {"name": name, "resources": {"limits": {GPU_RESOURCE: int(count)}}, **more}

    before = [
        one(f"i{at}", count, **({"restartPolicy": "Always"} if isinstance(count, str) else {}))
        for at, count in enumerate(init)
    ]
    after = [one(f"c{at}", count) for at, count in enumerate(main)]
    return pod(initContainers=before, containers=after)


@pytest.mark.parametrize(
    "plan", [plan_of(G6E), plan_of(group("g6e", "g6e.12xlarge", mechanism=DRA))]
)
@pytest.mark.parametrize(
    ("manifest", "status"),
    [
        (containers(2, 2), "feasible"),
        (containers(2, 3), "infeasible"),
        (containers(4, init=[4, 4]), "feasible"),
        (containers(1, init=[5]), "infeasible"),
        (containers(3, init=["1"]), "feasible"),
        (containers(4, init=["1"]), "infeasible"),
        (containers(1, init=["1", 3]), "feasible"),
        (containers(1, init=["1", 4]), "infeasible"),
        (containers(1, init=[4, "1"]), "feasible"),
    ],
)
def test_containers_are_summed_as_the_scheduler_does(plan: Any, manifest: Any, status: str) -> None:
    assert verdict(plan, manifest)["g6e"][0] == status


@pytest.mark.parametrize("amount", ["one", "1 0", "1.5", -1, 1.5, True, [1], {"a": 1}])
def test_amounts_that_are_none_are_told_at_their_place(amount: Any) -> None:
    report = checked(plan_of(G6E), pod(limits={GPU_RESOURCE: amount, "vpc.amazonaws.com/efa": 0}))
    steps = [one.steps for one in report.remarks]
    assert ("spec", "containers", 0, "resources", "limits", GPU_RESOURCE) in steps


@pytest.mark.parametrize("amount", ["lots", "1 Gi", "-1", "16gb"])
def test_amounts_of_memory_that_are_none_are_told(amount: Any) -> None:
    report = checked(plan_of(G6E), pod(limits={GPU_RESOURCE: 1, "memory": amount}))
    assert codes(report) == ["MalformedQuantity"]


def test_a_request_that_differs_from_its_limit_is_refused() -> None:
    both = {"limits": {GPU_RESOURCE: 2}, "requests": {GPU_RESOURCE: 1}}
    report = checked(plan_of(G6E), pod(containers=[{"name": "a", "image": "x", "resources": both}]))
    assert codes(report) == ["RequestNotEqualToLimit"]


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"cpu": "192"}, ""),
        ({"cpu": 192.5}, "TooFewCpus"),
        ({"cpu": "193"}, "TooFewCpus"),
        ({"memory": f"{2048 * 1024 - 10256}Mi"}, ""),
        ({"memory": "2047Gi"}, "TooLittleMemory"),
        ({"hugepages-2Mi": "5120Mi", "memory": "1Gi"}, ""),
    ],
)
def test_a_node_has_no_more_than_its_type(limits: Any, code: str) -> None:
    found = verdict(plan_of(P5), pod(limits={GPU_RESOURCE: 1, **limits}))
    assert found["p5"][1] == code


def test_what_efa_sets_aside_in_huge_pages_is_no_memory_unless_the_group_says_otherwise() -> None:
    all_memory = pod(limits={GPU_RESOURCE: 1, "memory": "2048Gi"})
    report = checked(plan_of(P5), all_memory)
    told = message(report, "NoNodegroupServesPod")
    assert "with at most 2086896 MiB, since 10256 MiB are set aside in huge pages" in told
    assert report.remarks[0].finding.fix == "for p5, ask for less memory than 2086896Mi"
    own = group("p5", "p5.48xlarge", mechanism=DRA, hugepages_2mi=0)
    assert verdict(plan_of(own), all_memory) == {"p5": ("feasible", "")}


def test_huge_pages_are_those_that_the_group_reserves_and_are_lost_to_memory() -> None:
    plan = plan_of(group("p5", "p5.48xlarge", mechanism=DRA, hugepages_2mi=1024))
    pages = {GPU_RESOURCE: 1, "hugepages-2Mi": "2Gi", "memory": "1Gi"}
    assert verdict(plan, pod(limits=pages)) == {"p5": ("feasible", "")}
    more = {**pages, "hugepages-2Mi": "2050Mi"}
    assert verdict(plan, pod(limits=more)) == {"p5": ("infeasible", "TooFewHugePages")}
    all_memory = {GPU_RESOURCE: 1, "memory": "2048Gi"}
    assert verdict(plan, pod(limits=all_memory)) == {"p5": ("infeasible", "TooLittleMemory")}


def test_requests_of_the_whole_pod_count_instead_of_those_of_containers() -> None:
    large = pod(limits={GPU_RESOURCE: 1, "cpu": 1}, resources={"requests": {"cpu": "500"}})
    assert verdict(plan_of(P5), large) == {"p5": ("infeasible", "TooFewCpus")}


@pytest.mark.parametrize(
    ("limits", "fits"),
    [
        ({GPU_RESOURCE: 2}, 4),
        ({GPU_RESOURCE: 1, "cpu": "60"}, 3),
        ({GPU_RESOURCE: 1, "memory": "1000Gi"}, 2),
        ({GPU_RESOURCE: 3}, 2),
    ],
)
@pytest.mark.parametrize("mechanism", [DRA, PLUGIN])
def test_how_many_pods_a_node_has_room_for(mechanism: Any, limits: Any, fits: int) -> None:
    plan = plan_of(group("p5", "p5.48xlarge", mechanism=mechanism))
    (found,) = checked(plan, pod(limits=limits)).pods
    assert found.verdicts[0].fits == fits


def test_a_node_has_no_room_for_more_pods_than_its_kubelet_takes() -> None:
    plan = plan_of(group("g", "g6e.12xlarge", mechanism=PLUGIN, max_pods=3))
    (found,) = checked(plan, pod(limits={GPU_RESOURCE: 1})).pods
    assert found.verdicts[0].fits == 3


BOTH = (template("gpu", request()), pod("gpu", limits={GPU_RESOURCE: 1}))


def test_devices_that_are_asked_for_in_two_ways_are_told_so() -> None:
    report = checked(plan_of(P5, P4D, version="1.35"), *BOTH)
    assert codes(report) == ["BothMechanisms"]
    assert "claim alone" in message(report, "BothMechanisms")


def test_devices_by_dra_may_be_asked_for_in_both_ways_from_1_36_on() -> None:
    assert verdict(plan_of(P5), *BOTH) == {"p5": ("feasible", "")}
    all_of_them = template("gpu", request(count=8))
    report = checked(plan_of(P5), all_of_them, BOTH[1])
    assert codes(report) == ["NoNodegroupServesPod"]


def test_a_node_has_room_for_as_many_pods_as_it_reserves_huge_pages_for() -> None:
    limits = {"hugepages-2Mi": "5Gi", "memory": "8Gi"}
    one = template("gpu", request(count=1))
    (found,) = checked(plan_of(P5), one, pod("gpu", limits=limits)).pods
    assert found.verdicts[0].fits == 2
    more = group("p5", "p5.48xlarge", mechanism=DRA, hugepages_2mi=4 * 2560)
    (found,) = checked(plan_of(more), one, pod("gpu", limits=limits)).pods
    assert found.verdicts[0].fits == 4
    (found,) = checked(plan_of(P5), one, pod("gpu", limits=limits | {"hugepages-2Mi": "2Mi"})).pods
    assert found.verdicts[0].fits == 8


def test_pods_with_efa_are_told_how_much_a_node_has_for_all_of_them() -> None:
    report = checked(plan_of(P5), template("efa", request(EFA)), pod("efa"))
    (found,) = (x.finding for x in report.remarks if x.finding.code == "EfaWithoutHugePages")
    assert "p5 has 10256Mi, or what its hugepages_2mi says" in found.fix
    assert found.fix.startswith('add hugepages-2Mi: "5120Mi" to its limits, beside memory or cpu')
    assert "libfabric has its buffers in ordinary pages" in found.message
    assert found.message.endswith("users report an end at 95 GB")


def test_devices_that_are_claimed_and_asked_for_beside_are_told_with_their_sum() -> None:
    two, resource = template("gpu", request(count=2)), {GPU_RESOURCE: 2}
    report = checked(plan_of(P5), two, pod("gpu", limits=resource))
    assert codes(report) == ["AskedForTwice"]
    assert "4 devices in all" in message(report, "AskedForTwice")
    assert not report.is_wrong
    assert codes(checked(plan_of(P5), two, pod("gpu"))) == []
    other = template("efa", request(EFA))
    assert codes(checked(plan_of(P5), other, pod("efa", limits=resource))) == []


def test_pods_with_efa_are_told_the_pages_that_a_group_itself_reserves() -> None:
    own = plan_of(group("p5", "p5.48xlarge", mechanism=DRA, hugepages_2mi=2048))
    report = checked(own, template("efa", request(EFA)), pod("efa"))
    (found,) = [x.finding for x in report.remarks if x.finding.code == "EfaWithoutHugePages"]
    assert "p5 has 4096Mi" in found.fix


@pytest.mark.parametrize(
    ("pages", "has"),
    [
        ({"hugepages-2Mi": "20Gi"}, "the nodes set 10256 MiB aside"),
        ({"hugepages-1Gi": "1Gi"}, "the nodes set none aside"),
    ],
)
def test_more_huge_pages_than_nodes_are_known_to_have_leave_it_open(
    pages: dict[str, str], has: str
) -> None:
    report = checked(
        plan_of(P5), template("gpu", request()), pod("gpu", limits={**pages, "memory": "1Gi"})
    )
    (found,) = report.pods[0].verdicts
    assert (str(found.status), found.code) == ("unknown", "HugePagesUnknown")
    assert has in found.reason
    assert not report.is_wrong


def test_huge_pages_of_nodes_without_efa_are_not_known() -> None:
    plan = plan_of(group("g6e", "g6e.12xlarge", mechanism=DRA))
    report = checked(
        plan,
        template("gpu", request()),
        pod("gpu", limits={"hugepages-2Mi": "2Mi", "memory": "1Gi"}),
    )
    (found,) = report.pods[0].verdicts
    assert (found.code, "set none aside" in found.reason) == ("HugePagesUnknown", True)


@pytest.mark.parametrize(
    ("options", "storage", "expected"),
    [
        ({}, "30400G", "feasible"),
        ({}, "30401G", "TooLittleStorage"),
        ({"instance_store": False}, "200Gi", "feasible"),
        ({"instance_store": False}, "201Gi", "TooLittleStorage"),
        ({"instance_store": False, "disk_gib": 500}, "500Gi", "feasible"),
        ({"instance_store": False, "ami_id": "ami-0123456789abcdef0"}, "900Gi", "feasible"),
    ],
)
def test_storage_is_that_of_the_local_disks_or_the_volume(
    options: Any, storage: str, expected: str
) -> None:
    plan = plan_of(group("p5", "p5.48xlarge", mechanism=PLUGIN, **options))
    found = verdict(plan, pod(limits={GPU_RESOURCE: 1, "ephemeral-storage": storage}))
    assert expected in found["p5"]


@pytest.mark.parametrize(
    ("instance_store", "fix"),
    [
        (True, "ask for less ephemeral-storage than 28312Gi"),
        (False, "ask for less ephemeral-storage than 200Gi, or raise disk_gib of the group"),
    ],
)
def test_the_storage_to_write_is_told(instance_store: bool, fix: str) -> None:
    plan = plan_of(group("p5", "p5.48xlarge", mechanism=PLUGIN, instance_store=instance_store))
    report = checked(plan, pod(limits={GPU_RESOURCE: 1, "ephemeral-storage": "40Ti"}))
    told = message(report, "NoNodegroupServesPod")
    assert "it wants 40960 GiB of ephemeral-storage" in told
    assert told.endswith(f"for p5, {fix}")
