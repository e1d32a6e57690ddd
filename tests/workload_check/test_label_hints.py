"""Pods that select no node, or nodes without their devices, are told what to select or ask for."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.workload_manifests import (
    DRA,
    EFA,
    L4,
    NEURON,
    P5,
    PLUGIN,
    TRN2,
    checked,
    group,
    message,
    plan_of,
    pod,
    request,
    template,
)

from eks_devices import GpuPlugin

FLEET = plan_of(P5, L4, TRN2)
TYPE = "node.kubernetes.io/instance-type"
GPUS = {"nvidia.com/gpu": 1}
SELECT = "nodeSelector: {{eks-devices/nodegroup: {}}}"
NEURONS = "ask for what its nodes have: deviceClassName: neuron.aws.com"
SELECT_TRN2 = SELECT.format("trn2")
GPU = "ask for what its nodes have: nvidia.com/gpu in limits"
CLAIM = (
    "claim them instead: resourceClaims of a ResourceClaimTemplate with deviceClassName: "
    "neuron.aws.com"
)


@pytest.mark.parametrize(
    ("selector", "fix"),
    [
        ({TYPE: "p5"}, f"for p5, write {TYPE}: p5.48xlarge"),
        ({TYPE: "g6"}, f"for l4, write {TYPE}: g6.12xlarge"),
        ({TYPE: "p5.48xl"}, f"for p5, write {TYPE}: p5.48xlarge"),
        ({TYPE: "p5e.48xlarge"}, f"for p5, write {TYPE}: p5.48xlarge"),
        ({TYPE: "H100"}, f"for p5, write {TYPE}: p5.48xlarge"),
        ({"instance-type": "g6.12xlarge"}, f"for l4, write {TYPE}: g6.12xlarge"),
        ({"karpenter.k8s.aws/instance-family": "p5"}, f"for p5, write {TYPE}: p5.48xlarge"),
        ({"karpenter.k8s.aws/instance-gpu-name": "l4"}, f"for l4, select by {TYPE}: g6.12xlarge"),
        ({"accelerator": "nvidia-h100"}, f"for p5, select by {TYPE}: p5.48xlarge"),
        ({"alpha.eksctl.io/nodegroup-name": "l4"}, "for l4, write eks-devices/nodegroup: l4"),
        ({"eks-devices/nodegroup": "P5"}, "for p5, write eks-devices/nodegroup: p5"),
        ({"eks-devices/gpu": "DRA"}, "for p5, write eks-devices/gpu: dra"),
    ],
)
def test_the_value_that_is_meant_by_a_label_is_told_of_the_group_that_has_it(
    selector: Any, fix: str
) -> None:
    report = checked(FLEET, pod(limits=GPUS, nodeSelector=selector))
    assert message(report, "NoNodegroupServesPod").endswith(f" | {fix}")


@pytest.mark.parametrize(
    ("product", "told"),
    [
        ("H100", f"for p5, labels that describe GPUs are there .*select by {TYPE}: p5.48xlarge"),
        (
            "NVIDIA-L4",
            f"for l4, labels that describe GPUs are there .*select by {TYPE}: g6.12xlarge",
        ),
        ("NVIDIA-A100", f"select by {TYPE}, of which nodes have g6.12xlarge, p5.48xlarge, trn2"),
    ],
)
def test_labels_of_gpu_models_are_told_as_types_of_instances(product: str, told: str) -> None:
    selector = {"nvidia.com/gpu.product": product}
    report = checked(FLEET, pod(limits=GPUS, nodeSelector=selector))
    assert re.search(told, message(report, "NoNodegroupServesPod"))


@pytest.mark.parametrize(
    ("product", "told"),
    [("L4", ", and there it begins with NVIDIA-L4"), ("NVIDIA-L4-SHARED", "runs")],
)
def test_a_model_that_is_written_later_is_told_as_it_begins(product: str, told: str) -> None:
    plugin = GpuPlugin(feature_discovery=True)
    found = group("l4", "g6.12xlarge", mechanism=PLUGIN, gpu_plugin=plugin)
    selecting = pod(limits=GPUS, nodeSelector={"nvidia.com/gpu.product": product})
    report = checked(plan_of(found), selecting)
    assert message(report, "NotKnownBeforeNodesRun").endswith(f"{told} | ")


@pytest.mark.parametrize(
    ("name", "limits", "fix"),
    [
        (
            "trn2",
            GPUS,
            f"select the nodes of p5, l4 instead: {SELECT.format('p5')}; or for trn2, {NEURONS}",
        ),
        (
            "l4",
            {"aws.amazon.com/neuron": 1},
            f"select the nodes of trn2 instead: {SELECT_TRN2}, and {CLAIM}; or for l4, {GPU}",
        ),
    ],
)
def test_a_group_without_the_devices_of_a_pod_that_selects_it_is_told_both_ways(
    name: str, limits: Any, fix: str
) -> None:
    selecting = pod(limits=limits, nodeSelector={"eks-devices/nodegroup": name})
    assert message(checked(FLEET, selecting), "NoNodegroupServesPod").endswith(f" | {fix}")


def test_a_claim_of_another_class_than_the_selected_group_has_is_told_both_ways() -> None:
    selecting = pod("gpu", nodeSelector={"eks-devices/nodegroup": "trn2"})
    report = checked(FLEET, template("gpu", request()), selecting)
    assert message(report, "NoNodegroupServesPod").endswith(
        f" | select the nodes of p5 instead: {SELECT.format('p5')}; or for trn2, {NEURONS}"
    )


def test_devices_that_no_node_has_both_of_are_for_pods_of_their_own() -> None:
    both = template("both", request(), request(NEURON))
    report = checked(plan_of(P5, TRN2), both, pod("both"))
    assert message(report, "NoNodegroupServesPod").endswith(
        "devices of gpu.nvidia.com and neuron.aws.com in Pods of their own, as no node has both"
    )


def test_a_group_of_gpus_without_efas_is_told_to_need_one_with_both() -> None:
    both = template("both", request(), request(EFA))
    own = group("g6e", "g6e.12xlarge", mechanism=DRA)
    report = checked(plan_of(own, TRN2), both, pod("both"))
    assert message(report, "NoNodegroupServesPod").endswith(
        f" | add a node group whose nodes have both, devices of {EFA} and gpu.nvidia.com"
    )


@pytest.mark.parametrize(
    ("limits", "version", "is_told"),
    [
        (GPUS, "1.35", True),
        ({"vpc.amazonaws.com/efa": 1}, "1.36", True),
        # EKS still adds the toleration for the resource that stays.
        ({**GPUS, "vpc.amazonaws.com/efa": 1}, "1.36", False),
    ],
)
def test_pods_that_are_to_claim_devices_are_told_the_taints_that_they_meet_then(
    limits: Any, version: str, *, is_told: bool
) -> None:
    plan = plan_of(P5, version=version)
    told = message(checked(plan, pod(limits=limits, tolerations=[])), "NoNodegroupServesPod")
    assert "claim them instead: " in told
    entry = "tolerations of the Pod's spec: {key: nvidia.com/gpu, operator: Exists}"
    assert (entry in told) == is_told


@pytest.mark.parametrize(
    ("operator", "values", "fix"),
    [
        ("NotIn", ["p5"], "for p5, leave p5 out of the values of NotIn"),
        ("DoesNotExist", [], "for p5, leave the expression with DoesNotExist out"),
    ],
)
def test_nodes_that_are_left_out_are_told_by_what_leaves_them_out(
    operator: str, values: Any, fix: str
) -> None:
    key = "eks-devices/nodegroup"
    given = {"key": key, "operator": operator, **({"values": values} if values else {})}
    required = {"nodeSelectorTerms": [{"matchExpressions": [given]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    report = checked(plan_of(P5), pod(limits=GPUS, affinity=affinity))
    assert message(report, "NoNodegroupServesPod").endswith(f" | {fix}")


def test_a_daemon_set_that_comes_to_no_node_makes_no_pods() -> None:
    lost = pod(limits=GPUS, kind="DaemonSet", nodeSelector={"foo": "bar"})
    told = message(checked(FLEET, lost), "NoNodegroupServesPod")
    assert "and the DaemonSet makes none, for it comes to none of their nodes" in told
    assert told.endswith(f"| select the nodes of p5, l4 instead: {SELECT.format('p5')}")


@pytest.mark.parametrize(
    ("version", "fix"),
    [
        ("1.35", "serve it: nodeSelector: {eks-devices/nodegroup: l4}"),
        ("1.36", "serve it, those of p5, l4"),
    ],
)
def test_a_daemon_set_that_waits_on_nodes_is_told_those_that_serve_it(
    version: str, fix: str
) -> None:
    plan = plan_of(P5, L4, TRN2, version=version)
    told = message(checked(plan, pod(limits=GPUS, kind="DaemonSet")), "DaemonSetPodsWait")
    assert told.endswith(f" | select the nodes that can {fix}")
