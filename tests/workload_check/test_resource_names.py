"""Names that are those of no resource are told with what to write on the nodes of the plan."""

from __future__ import annotations

from typing import Any

import pytest
from tests.workload_manifests import EFA, GPU, L4, NEURON, P5, TRN2, checked, plan_of, pod, verdict

CLASS = "deviceclass.resource.kubernetes.io/"
CLAIM = "claim them instead: resourceClaims of a ResourceClaimTemplate with deviceClassName: "


def fixes(name: str, *groups: Any, version: str = "1.36", amount: Any = 1) -> list[str]:
    report = checked(plan_of(*groups, version=version), pod(limits={name: amount, "memory": "8Gi"}))
    found = [one.finding for one in report.remarks]
    return [one.fix for one in found if one.code == "MalformedResourceName"]


@pytest.mark.parametrize(
    ("resource", "fix"),
    [
        ("gpu", "did you mean nvidia.com/gpu?"),
        ("neuron", "did you mean aws.amazon.com/neuron?"),
        ("neuroncores", "did you mean aws.amazon.com/neuroncore?"),
        ("NVIDIA.com/gpu", "write nvidia.com/gpu"),
        ("cpus", "did you mean cpu?"),
        ("storage", "did you mean ephemeral-storage?"),
        ("license", "write the name with its domain"),
    ],
)
def test_a_name_that_is_no_resource_is_told(resource: str, fix: str) -> None:
    assert fixes(resource, P5) == [fix]


@pytest.mark.parametrize(
    ("resource", "version", "groups", "fix"),
    [
        (GPU, "1.36", (P5, L4), "write nvidia.com/gpu"),
        (GPU, "1.35", (L4,), "write nvidia.com/gpu"),
        (GPU, "1.35", (P5,), f"{GPU} is the DeviceClass {GPU}: {CLAIM}{GPU}"),
        (GPU, "1.35", (P5, L4), f"write nvidia.com/gpu for l4, or for p5 {CLAIM}{GPU}"),
        (GPU, "1.36", (TRN2,), "write nvidia.com/gpu"),
        (NEURON, "1.35", (TRN2,), f"{NEURON} is the DeviceClass {NEURON}: {CLAIM}{NEURON}"),
        (NEURON, "1.36", (TRN2,), f"write {CLASS}{NEURON}"),
        ("dra.net", "1.36", (P5,), f"write {CLASS}{EFA}"),
        ("efa", "1.35", (P5,), f"efa is a name for devices of the DeviceClass {EFA}: {CLAIM}{EFA}"),
    ],
)
def test_a_class_in_the_place_of_a_resource_is_told_by_what_the_nodes_serve(
    resource: str, version: str, groups: Any, fix: str
) -> None:
    assert fixes(resource, *groups, version=version) == [fix]


@pytest.mark.parametrize(
    ("resource", "fix"),
    [
        ("amazonaws.com/efa", f"{CLAIM}{EFA}"),
        ("aws.amazon.com/efa", f"{CLAIM}{EFA}"),
        ("gpu.nvidia.com/gpu", "did you mean nvidia.com/gpu?"),
        (f"deviceclass.resource.k8s.io/{GPU}", f"did you mean {CLASS}{GPU}?"),
        (f"deviceclass/{GPU}", f"did you mean {CLASS}{GPU}?"),
    ],
)
def test_a_resource_of_a_domain_that_is_misspelt_is_that_of_no_stranger(
    resource: str, fix: str
) -> None:
    report = checked(plan_of(P5), pod(limits={resource: 1}))
    (found,) = (x.finding for x in report.remarks if x.finding.code == "NoNodegroupServesPod")
    assert found.fix == f"for p5, {fix}"


@pytest.mark.parametrize(
    ("device_class", "groups", "fix"),
    [
        (GPU, (P5, TRN2), f"for p5, {CLAIM}{GPU}"),
        ("gpu", (P5, TRN2), f"for p5, {CLAIM}{GPU}"),
        ("efa.amazonaws.com", (P5, L4), f"for p5, {CLAIM}{EFA}"),
        (NEURON, (P5, TRN2), f"for trn2, {CLAIM}{NEURON}"),
        (GPU, (L4, TRN2), "for l4, ask for nvidia.com/gpu"),
        ("h100", (P5,), "for p5, claim devices instead, of a class of the cluster"),
    ],
)
def test_resources_of_classes_before_there_are_any_are_told_by_the_class_that_is_meant(
    device_class: str, groups: Any, fix: str
) -> None:
    limits = {f"{CLASS}{device_class}": 1}
    report = checked(plan_of(*groups, version="1.35"), pod(limits=limits))
    assert [one.finding.fix for one in report.remarks] == [fix]


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"nvidia.com/gpu": 1}, f"for p5, {CLAIM}{GPU}"),
        ({"nvidia.com/gpu": 8}, f"for p5, {CLAIM}{GPU} and count: 8"),
        ({"nvidia.com/gpu": 9}, f"for p5, {CLAIM}{GPU} and count: 8, all that a node has"),
        ({"vpc.amazonaws.com/efa": 4}, f"for p5, {CLAIM}{EFA} and count: 4"),
        ({"aws.amazon.com/neurondevice": 2}, f"for trn2, {CLAIM}{NEURON} and count: 2"),
        ({"aws.amazon.com/neuroncore": 8}, f"for trn2, {CLAIM}{NEURON}"),
    ],
)
def test_devices_that_are_to_be_claimed_are_told_with_their_number(limits: Any, told: str) -> None:
    report = checked(plan_of(P5, TRN2, version="1.35"), pod(limits=limits))
    (found,) = (x.finding for x in report.remarks if x.finding.code == "NoNodegroupServesPod")
    assert found.fix == told


def test_more_devices_to_claim_than_a_node_has_are_told_at_once() -> None:
    report = checked(plan_of(P5, version="1.35"), pod(limits={"nvidia.com/gpu": 9}))
    (found,) = (one.finding for one in report.remarks)
    assert "and a node has 8 of the 9 that it wants" in found.message


@pytest.mark.parametrize("resource", ["amd.com/gpu", "gpu.intel.com/i915", "example.com/efa"])
def test_resources_of_others_are_left_alone(resource: str) -> None:
    report = checked(plan_of(P5), pod(limits={resource: 1}))
    assert (report.remarks, report.pods) == ((), ())


@pytest.mark.parametrize(
    "resource",
    ["cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "hugepages-1Gi", "hugepages-2M", "a/b"],
)
def test_a_name_of_a_resource_is_told_nothing(resource: str) -> None:
    assert fixes(resource, P5) == []


@pytest.mark.parametrize(
    ("resource", "meant"),
    [
        ("hugepages-2MB", "2Mi"),
        ("hugepages-2MiB", "2Mi"),
        ("hugepages-2mi", "2Mi"),
        ("hugepages-2m", "2Mi"),
        ("hugepages-2048kB", "2Mi"),
        ("hugepages-1GB", "1Gi"),
        ("hugepages-1048576kB", "1Gi"),
        ("hugepages-64KB", "64Ki"),
        ("hugepages-0", "2Mi"),
        ("hugepages-", "2Mi"),
        ("hugepages", "2Mi"),
        ("hugepage-2Mi", "2Mi"),
        ("HugePages_2MB", "2Mi"),
    ],
)
def test_a_size_of_huge_pages_that_is_refused_is_told_with_the_one_that_is_meant(
    resource: str, meant: str
) -> None:
    limits = {"nvidia.com/gpu": 1, resource: "512Mi", "memory": "8Gi"}
    assert fixes(resource, P5, amount="512Mi") == [f"did you mean hugepages-{meant}?"]
    assert verdict(plan_of(P5), pod(limits=limits)) == {"p5": ("infeasible", "PodRefused")}


def test_a_size_of_huge_pages_of_the_whole_pod_is_told_as_well() -> None:
    limits = {"hugepages-2MB": "512Mi", "memory": "8Gi"}
    report = checked(plan_of(P5), pod(limits={"nvidia.com/gpu": 1}, resources={"limits": limits}))
    (found,) = report.remarks
    assert found.finding.code == "MalformedResourceName"
    assert found.steps == ("spec", "resources", "limits", "hugepages-2MB")
    assert found.finding.fix == "did you mean hugepages-2Mi?"


@pytest.mark.parametrize(
    ("resource", "meant"),
    [("hugepages-2048Ki", "2Mi"), ("hugepages-4Mi", "2Mi"), ("hugepages-1024Mi", "1Gi")],
)
def test_a_size_of_huge_pages_that_no_kernel_has_is_served_by_no_node(
    resource: str, meant: str
) -> None:
    limits = {"nvidia.com/gpu": 1, resource: "1Gi", "memory": "8Gi"}
    report = checked(plan_of(P5), pod(limits=limits))
    (found,) = (one.finding for one in report.remarks)
    assert f"p5: the nodes have no {resource}, but hugepages-2Mi and hugepages-1Gi" in found.message
    assert found.fix == f"for p5, did you mean hugepages-{meant}?"


@pytest.mark.parametrize(
    ("resource", "amount", "fix"),
    [
        ("hugepages-1Gi", "512Mi", 'write "1024Mi"'),
        ("hugepages-2Mi", "3Mi", 'write "4Mi"'),
        ("hugepages-2Mi", "255", 'write the amount with its unit, such as "5120Mi"'),
        ("hugepages-2M", "512Mi", "did you mean hugepages-2Mi?"),
    ],
)
def test_pages_that_are_not_whole_are_told_with_a_number_that_is(
    resource: str, amount: str, fix: str
) -> None:
    report = checked(plan_of(P5), pod(limits={resource: amount, "memory": "8Gi"}))
    assert [one.finding.fix for one in report.remarks] == [fix]
