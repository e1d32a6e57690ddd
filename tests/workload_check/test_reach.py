"""Whether Pods may be on the nodes of a group: labels, taints, schedulers."""

from __future__ import annotations

from typing import Any

import pytest
from tests.workload_manifests import (
    DRA,
    G6E,
    P4D,
    P5,
    PLUGIN,
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
    Capacity,
    DeviceType,
    EksDevicesError,
    GpuPlugin,
    NeuronInstallation,
    NodegroupSpec,
    Taint,
    TaintEffect,
    plan_cluster,
)

GPUS = {"nvidia.com/gpu": 1}
ONE = template("gpu", request())
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def labelled_plan() -> Any:
    spec = NodegroupSpec(
        name="g",
        instance_type="g6e.12xlarge",
        max_size=1,
        mechanism=PLUGIN,
        labels={"team": "vision", "rank": "7"},
    )
    return plan_cluster(kubernetes_version="1.36", nodegroups=[spec])


PLAN = labelled_plan()


def affinity(*terms: Any) -> dict[str, Any]:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}


def by(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def reached(**spec: Any) -> tuple[str, str]:
    return verdict(PLAN, pod(limits=GPUS, **spec))["g"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("team", "vision"),
        ("kubernetes.io/arch", "amd64"),
        ("kubernetes.io/os", "linux"),
        ("node.kubernetes.io/instance-type", "g6e.12xlarge"),
        ("beta.kubernetes.io/instance-type", "g6e.12xlarge"),
        ("eks-devices/nodegroup", "g"),
        ("nvidia.com/gpu.present", "true"),
    ],
)
def test_labels_that_nodes_have_are_known(key: str, value: str) -> None:
    assert reached(nodeSelector={key: value}) == ("feasible", "")
    assert reached(nodeSelector={key: f"not-{value}"}) == ("infeasible", "NodeSelectorDiffers")


@pytest.mark.parametrize(
    "key",
    [
        "topology.kubernetes.io/zone",
        "topology.k8s.aws/zone-id",
        "kubernetes.io/hostname",
        "eks.amazonaws.com/nodegroup",
        "eks.amazonaws.com/nodegroup-image",
        "feature.node.kubernetes.io/cpu-model.id",
        "cloud.google.com/gke-accelerator",
        "topology.gke.io/zone",
    ],
)
def test_labels_that_are_written_later_are_unknown(key: str) -> None:
    assert reached(nodeSelector={key: "x"}) == ("unknown", "LabelKnownAtRunTime")
    assert reached(affinity=affinity(by(key, "DoesNotExist")))[0] == "unknown"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("g-0a1b2c3d", ("feasible", "")),
        ("g", ("infeasible", "NodeSelectorDiffers")),
        ("g-4e5f6071", ("infeasible", "NodeSelectorDiffers")),
    ],
)
def test_the_name_of_a_group_in_eks_is_known_where_it_is_passed(value: str, expected: Any) -> None:
    asked = pod(limits=GPUS, nodeSelector={"eks.amazonaws.com/nodegroup": value})
    assert verdict(PLAN, asked, nodegroup_names={"g": "g-0a1b2c3d"})["g"] == expected


def test_who_selects_the_name_of_the_plan_by_ekss_label_is_told_of_ours() -> None:
    asked = pod(limits=GPUS, nodeSelector={"eks.amazonaws.com/nodegroup": "g"})
    report = checked(PLAN, asked, nodegroup_names={"g": "g-0a1b2c3d"})
    assert "write eks-devices/nodegroup: g instead" in message(report, "NoNodegroupServesPod")


@pytest.mark.parametrize("names", [{"g": 1}, {1: "g"}, ["g"], "g"])
def test_names_that_are_none_are_faults(names: Any) -> None:
    with pytest.raises(EksDevicesError, match="nodegroup_names"):
        checked(PLAN, pod(limits=GPUS), nodegroup_names=names)


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ({}, "ON_DEMAND"),
        ({"capacity": Capacity.spot()}, "SPOT"),
        ({"capacity": Capacity.block("cr-0123456789abcdef0")}, "CAPACITY_BLOCK"),
    ],
)
def test_how_instances_are_bought_is_known(options: Any, value: str) -> None:
    plan = plan_of(group("g", "p5.48xlarge", mechanism=PLUGIN, **options))
    for selected in ("ON_DEMAND", "SPOT", "CAPACITY_BLOCK"):
        asked = pod(limits=GPUS, nodeSelector={"eks.amazonaws.com/capacityType": selected})
        status, _ = verdict(plan, asked)["g"]
        assert (status == "feasible") is (selected == value)


def test_nodes_with_an_image_of_the_users_own_have_the_labels_that_it_writes() -> None:
    own = "ami-0123456789abcdef0"
    plan = plan_of(group("g", "g6e.12xlarge", mechanism=PLUGIN, ami_id=own))
    asked = pod(limits=GPUS, nodeSelector={"eks.amazonaws.com/capacityType": "SPOT"})
    assert verdict(plan, asked)["g"] == ("unknown", "LabelKnownAtRunTime")


@pytest.mark.parametrize(
    "key", ["team2", "nvidia.com/gpu.product", "karpenter.sh/nodepool", "zone"]
)
def test_all_other_labels_are_known_to_lack(key: str) -> None:
    assert reached(nodeSelector={key: "x"}) == ("infeasible", "NodeSelectorDiffers")


@pytest.mark.parametrize(
    "options",
    [
        {"gpu_plugin": GpuPlugin(feature_discovery=True)},
        {"external": frozenset({DeviceType.GPU})},
    ],
)
def test_labels_of_gpus_are_written_later_where_feature_discovery_runs(options: Any) -> None:
    plan = plan_of(group("g", "g6e.12xlarge", mechanism=PLUGIN, **options))
    asked = pod(limits=GPUS, nodeSelector={"nvidia.com/gpu.product": "NVIDIA-L40S"})
    assert verdict(plan, asked)["g"] == ("unknown", "LabelKnownAtRunTime")


def test_nodes_of_arm_have_its_name_in_kubernetes() -> None:
    plan = plan_of(group("g", "g5g.4xlarge", mechanism=PLUGIN))
    arm = pod(limits=GPUS, nodeSelector={"kubernetes.io/arch": "arm64"})
    assert verdict(plan, arm)["g"] == ("feasible", "")


@pytest.mark.parametrize(
    ("selector", "told"),
    [
        ({"teem": "vision"}, "for g, write team: vision"),
        ({"teem": "sound"}, "did you mean team?"),
        ({"team": "vison"}, "for g, write team: vision"),
        ({"eks-devices/nodegroup": "zzz"}, "nodes have eks-devices/nodegroup: g"),
        ({"nvidia.com/gpu.product": "NVIDIA-L40S"}, "GpuPlugin(feature_discovery=True)"),
    ],
)
def test_a_misspelt_label_is_told_what_is_near(selector: Any, told: str) -> None:
    report = checked(PLAN, pod(limits=GPUS, nodeSelector=selector))
    assert told in message(report, "NoNodegroupServesPod")


@pytest.mark.parametrize("value", [True, 7, ["a"]])
def test_a_label_that_is_no_text_is_told_at_its_place(value: Any) -> None:
    report = checked(PLAN, pod(limits=GPUS, nodeSelector={"team": value}))
    assert [(one.finding.code, one.steps) for one in report.remarks] == [
        ("WrongType", ("spec", "nodeSelector", "team"))
    ]


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (by("team", "In", "a", "vision"), "feasible"),
        (by("team", "In", "a", "b"), "infeasible"),
        (by("none", "In", "a"), "infeasible"),
        (by("team", "NotIn", "vision"), "infeasible"),
        (by("none", "NotIn", "vision"), "feasible"),
        (by("team", "Exists"), "feasible"),
        (by("none", "Exists"), "infeasible"),
        (by("none", "DoesNotExist"), "feasible"),
        (by("team", "DoesNotExist"), "infeasible"),
        (by("rank", "Gt", "6"), "feasible"),
        (by("rank", "Gt", "7"), "infeasible"),
        (by("rank", "Lt", "8"), "feasible"),
        (by("rank", "Lt", "7"), "infeasible"),
        (by("team", "Gt", "6"), "infeasible"),
        (by("none", "Lt", "6"), "infeasible"),
        (by("team", "Like", "vision"), "infeasible"),
        ({}, "infeasible"),
        ({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}, "unknown"),
        ({"matchExpressions": [], "matchFields": []}, "infeasible"),
    ],
)
def test_required_node_affinity_is_compared_as_kubernetes_does(term: Any, expected: str) -> None:
    assert reached(affinity=affinity(term))[0] == expected


def test_terms_are_alternatives_and_their_expressions_hold_together() -> None:
    bad, good, later = (
        by("none", "Exists"),
        by("team", "Exists"),
        by("kubernetes.io/hostname", "In", "a"),
    )
    assert reached(affinity=affinity(bad, good))[0] == "feasible"
    assert reached(affinity=affinity(bad, later))[0] == "unknown"
    assert reached(affinity=affinity(bad, bad))[0] == "infeasible"
    both = {"matchExpressions": [*good["matchExpressions"], *bad["matchExpressions"]]}
    assert reached(affinity=affinity(both))[0] == "infeasible"
    certain = {"matchExpressions": [*later["matchExpressions"], *bad["matchExpressions"]]}
    assert reached(affinity=affinity(certain))[0] == "infeasible"
    assert reached(affinity=affinity())[0] == "infeasible"


def test_preferred_affinity_keeps_nobody_away() -> None:
    preferred = {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "preference": by("x", "Exists")}
        ]
    }
    assert reached(affinity={"nodeAffinity": preferred})[0] == "feasible"


def tainted(*taints: Taint) -> Any:
    spec = NodegroupSpec(
        name="g", instance_type="g6e.12xlarge", max_size=1, mechanism=DRA, taints=taints
    )
    return plan_cluster(kubernetes_version="1.37", nodegroups=[spec])


TEAM = Taint(key="team", value="5")


@pytest.mark.parametrize(
    ("toleration", "is_one"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "team", "operator": "Exists"}, True),
        ({"key": "team", "operator": "Equal", "value": "5"}, True),
        ({"key": "team", "value": "5"}, True),
        ({"key": "team", "value": "5", "effect": "NoSchedule"}, True),
        ({"key": "team", "value": "5", "effect": "NoExecute"}, False),
        ({"key": "team", "value": "6"}, False),
        ({"key": "team"}, False),
        ({"key": "other", "operator": "Exists"}, False),
        ({"key": "team", "operator": "Gt", "value": "4"}, False),
    ],
)
def test_tolerations_are_compared_as_kubernetes_does(toleration: Any, is_one: bool) -> None:
    found = verdict(tainted(TEAM), ONE, pod("gpu", tolerations=[toleration]))["g"]
    assert found == (("feasible", "") if is_one else ("infeasible", "TaintNotTolerated"))


@pytest.mark.parametrize("operator", ["Gt", "Lt"])
def test_operators_whose_gate_is_off_are_told(operator: str) -> None:
    toleration = {"key": "team", "operator": operator, "value": "4"}
    report = checked(tainted(TEAM), ONE, pod("gpu", tolerations=[toleration]))
    assert codes(report) == ["OperatorNotServed", "NoNodegroupServesPod"]


def test_the_toleration_to_write_is_told() -> None:
    report = checked(plan_of(P5), ONE, pod("gpu", tolerations=[]))
    told = message(report, "NoNodegroupServesPod")
    assert "of the Pod's spec: {key: nvidia.com/gpu, operator: Exists}" in told


def test_eks_adds_tolerations_for_resources_and_none_for_claims() -> None:
    assert verdict(plan_of(G6E), pod(limits=GPUS, tolerations=None))["g6e"] == ("feasible", "")
    for version, status in (("1.35", "infeasible"), ("1.36", "feasible")):
        plan = plan_of(P5, version=version)
        assert verdict(plan, pod(limits=GPUS, tolerations=[]))["p5"][0] == status
    assert verdict(plan_of(P5), ONE, pod("gpu", tolerations=[]))["p5"][1] == "TaintNotTolerated"
    by_class = {"deviceclass.resource.kubernetes.io/gpu.nvidia.com": 1}
    found = verdict(plan_of(P5), pod(limits=by_class, tolerations=[]))
    assert found["p5"][1] == "TaintNotTolerated"


def test_what_eks_adds_does_not_outlive_a_taint_that_evicts() -> None:
    plan = tainted(Taint(key="nvidia.com/gpu", effect=TaintEffect.NO_EXECUTE))
    assert verdict(plan, pod(limits=GPUS, tolerations=[]))["g"][1] == "TaintNotTolerated"


@pytest.mark.parametrize(
    "taint",
    [
        Taint(key="team", effect=TaintEffect.PREFER_NO_SCHEDULE),
        Taint(key="node.cilium.io/agent-not-ready", effect=TaintEffect.NO_EXECUTE),
    ],
)
def test_taints_that_keep_nobody_away_for_long(taint: Taint) -> None:
    assert verdict(tainted(taint), ONE, pod("gpu", tolerations=[]))["g"] == ("feasible", "")


def test_pods_of_daemon_sets_tolerate_what_befalls_nodes() -> None:
    plan = tainted(Taint(key="node.kubernetes.io/unschedulable"))
    manifest = pod("gpu", tolerations=[])
    assert verdict(plan, ONE, manifest)["g"][1] == "TaintNotTolerated"
    assert verdict(plan, ONE, {**manifest, "kind": "DaemonSet"})["g"] == ("feasible", "")


def test_another_scheduler_is_unknown_and_devices_that_are_not_there_stay_so() -> None:
    mine = {"schedulerName": "mine"}
    assert reached(**mine) == ("unknown", "OtherScheduler")
    assert reached(**mine, tolerations=[]) == ("unknown", "OtherScheduler")
    found = verdict(PLAN, pod(limits={"nvidia.com/gpu": 9}, **mine))["g"]
    assert found == ("infeasible", "TooFewDevices")
    assert reached(schedulerName="default-scheduler")[0] == "feasible"


def test_neurons_scheduler_is_known_where_the_plan_has_it() -> None:
    asked = pod(limits={"aws.amazon.com/neuron": 4}, schedulerName="neuron-scheduler")
    spec = NodegroupSpec(name="g", instance_type="trn1.32xlarge", max_size=1, mechanism=PLUGIN)
    for installed, status in ((True, "feasible"), (False, "unknown")):
        neuron = NeuronInstallation(scheduler_extension=installed)
        plan = plan_cluster(kubernetes_version="1.36", nodegroups=[spec], neuron=neuron)
        assert verdict(plan, asked)["g"][0] == status


def test_a_named_node_is_unknown_and_its_claims_are_warned_of() -> None:
    report = checked(plan_of(P5), ONE, pod("gpu", nodeName="ip-10-0-0-1"))
    assert codes(report) == ["NodeNameSkipsScheduler", "NotKnownBeforeNodesRun"]


def test_pods_for_windows_are_for_no_node() -> None:
    assert reached(os={"name": "windows"}) == ("infeasible", "OtherSystem")
    assert reached(os={"name": "linux"})[0] == "feasible"


def test_pods_that_differ_in_one_thing_are_told_apart_in_one_check() -> None:
    plan = tainted(Taint(key="node.kubernetes.io/unschedulable"))
    plain, anywhere = pod("gpu", tolerations=[]), [{"operator": "Exists"}]
    manifests = [
        plain,
        {**plain, "kind": "DaemonSet"},
        pod("gpu", tolerations=anywhere),
        pod("gpu", tolerations=anywhere, os={"name": "windows"}),
    ]
    found = [one.verdicts[0] for one in checked(plan, ONE, *manifests).pods]
    assert [(str(one.status), one.code) for one in found] == [
        ("infeasible", "TaintNotTolerated"),
        ("feasible", ""),
        ("feasible", ""),
        ("infeasible", "OtherSystem"),
    ]


def test_more_tolerations_may_stand_in_a_runtime_that_nobody_has() -> None:
    claimed = {"name": "gpu", "resourceClaimTemplateName": "gpu"}
    job = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "train"},
        "spec": {
            "runtimeRef": {"name": "torch"},
            "podTemplateOverrides": [{"spec": {"resourceClaims": [claimed]}}],
        },
    }
    same = pod(tolerations=None)
    same["spec"] = {"containers": [{"name": "node"}], "resourceClaims": [claimed]}
    found = [one.verdicts[0] for one in checked(plan_of(P5), ONE, same, job).pods]
    assert [(str(one.status), one.code) for one in found] == [
        ("infeasible", "TaintNotTolerated"),
        ("unknown", "TaintNotTolerated"),
    ]


def test_groups_are_told_apart_by_their_labels() -> None:
    found = verdict(
        plan_of(G6E, P4D, TRN2), pod(limits=GPUS, nodeSelector={"eks-devices/nodegroup": "p4d"})
    )
    assert [one[0] for one in found.values()] == ["infeasible", "feasible", "infeasible"]
