"""What is told first of claims whose selectors just miss the devices of a group."""

from __future__ import annotations

from typing import Any

import pytest
from tests.workload_manifests import (
    DRA,
    EFA,
    GPU,
    L4,
    NEURON,
    P4D,
    P5,
    PLUGIN,
    TRN1,
    TRN2,
    checked,
    group,
    message,
    plan_of,
    pod,
    request,
    template,
)

L40S = group("l40s", "g6e.12xlarge", mechanism=DRA)
DEVICE = "device.attributes['gpu.nvidia.com']"
AMOUNT = "device.capacity['gpu.nvidia.com'].memory"
MEMORY = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('{}')) >= 0"


def fix_of(*requests: Any, groups: Any = (L4, P5, L40S)) -> str:
    report = checked(plan_of(*groups), template("gpu", *requests), pod("gpu"))
    (found,) = (x.finding for x in report.remarks if x.finding.code == "NoNodegroupServesPod")
    return found.fix


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (
            f"{DEVICE}.productName == 'NVIDIA-L40S'",
            f"for l40s, write {DEVICE}.productName == 'NVIDIA L40S'",
        ),
        (f'{DEVICE}.architecture == "hopper"', f'for p5, write {DEVICE}.architecture == "Hopper"'),
        (MEMORY.format("80Gi"), "for p5, compare memory with at most 81152Mi"),
        (
            f"'productname' in {DEVICE} && {DEVICE}.productname == 'x'",
            "did you mean gpu.nvidia.com/productName?",
        ),
        (
            f"'index' in {DEVICE} && {DEVICE}.index == 0",
            "for p5, select by an attribute that is published: device.attributes",
        ),
        (
            f"'memory' in {DEVICE} && {DEVICE}.memory == 80",
            "did you mean device.capacity['gpu.nvidia.com'].memory?",
        ),
    ],
)
def test_the_value_to_write_is_told_and_not_a_group_that_could_not_have_it(
    selector: str, expected: str
) -> None:
    assert expected in fix_of(request("gpu.nvidia.com", 1, selector))


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ("k8s.io/pcieRoot", "for p5, did you mean resource.kubernetes.io/pcieRoot?"),
        ("resource.kubernetes.io/pcieRoot", "for p5, ask for at most 1 of gpu, or leave"),
    ],
)
def test_the_attribute_that_a_constraint_means_is_told(attribute: str, expected: str) -> None:
    wanted = template("gpu", request(count=2), constraints=[{"matchAttribute": attribute}])
    report = checked(plan_of(P5), wanted, pod("gpu"))
    (found,) = (x.finding for x in report.remarks if x.finding.code == "NoNodegroupServesPod")
    assert found.fix.startswith(expected)


def test_a_plugin_whose_devices_match_a_claim_is_told_first() -> None:
    wanted = request("gpu.nvidia.com", 1, f"{DEVICE}.architecture == 'Ampere'")
    assert fix_of(wanted, groups=(P5, P4D)).startswith("for p4d, ask for nvidia.com/gpu")


def test_partitions_of_gpus_that_are_whole_are_cut_where_that_can_be_done() -> None:
    assert (
        fix_of(request("mig.nvidia.com"), groups=(L40S, P5)) == "for p5, cut them: the group's mig="
    )
    assert "mig=" not in fix_of(request("mig.nvidia.com"), groups=(L40S,))


def test_values_that_are_not_alike_are_not_guessed() -> None:
    selector = f"{DEVICE}.productName == 'Gaudi'"
    assert "did you mean" not in fix_of(request("gpu.nvidia.com", 1, selector))


def test_the_last_alternative_is_the_one_that_is_read() -> None:
    asks = [
        {"name": name, **request("gpu.nvidia.com", 1, MEMORY.format(size))["exactly"]}
        for name, size in (("large", "900Gi"), ("small", "80Gi"))
    ]
    assert "81152Mi" in fix_of({"name": "gpu", "firstAvailable": asks})


def test_a_class_that_nobody_installs_is_told_with_who_would() -> None:
    wanted = request("compute-domain-default-channel.nvidia.com")
    gpus_only = pod("gpu", tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}])
    report = checked(plan_of(L4, P5, TRN2), template("gpu", wanted), gpus_only)
    (found,) = report.remarks
    assert found.finding.fix.startswith("make one by add_compute_domain")
    assert {one.code for one in report.pods[0].verdicts} == {"ClassNotInstalled"}


def test_a_toleration_is_not_told_of_nodes_that_have_no_such_devices() -> None:
    nothing_tolerated = pod(limits={"aws.amazon.com/neuron": 1}, tolerations=[])
    (found,) = checked(plan_of(L4, P5), nothing_tolerated).remarks
    assert "toleration" not in found.finding.fix


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("nvidia.com/gpus", "for p5, did you mean nvidia.com/gpu?"),
        ("nvidia.com/GPU", "for p5, did you mean nvidia.com/gpu?"),
        ("aws.amazon.com/neuroncores", "for trn1, did you mean aws.amazon.com/neuroncore"),
        ("nvidia.com/gpu.shared", ""),
        ("nvidia.com/mig-1g.10gb", ""),
    ],
)
def test_a_resource_with_a_slip_of_the_pen_is_told_as_it_should_be(name: str, meant: str) -> None:
    (found,) = checked(plan_of(P5, L4, TRN1), pod(limits={name: 1})).remarks
    assert found.finding.fix.startswith(meant)
    assert ("did you mean" in found.finding.fix) is bool(meant)


def test_a_resource_that_no_node_of_a_version_has_is_not_what_is_meant() -> None:
    (found,) = checked(plan_of(P5, version="1.35"), pod(limits={"nvidia.com/gpus": 1})).remarks
    assert "did you mean" not in found.finding.fix


def test_a_group_whose_name_is_misspelt_is_told_by_its_label() -> None:
    big = group("P5", "p5.48xlarge", mechanism=DRA)
    misspelt = pod("gpu", nodeSelector={"eks-devices/nodegroup": "p5"})
    report = checked(plan_of(L40S, big), template("gpu", request()), misspelt)
    (found,) = report.remarks
    assert found.finding.fix == "for P5, write eks-devices/nodegroup: P5"


def test_the_fix_of_a_verdict_is_that_of_its_own_reason() -> None:
    selector = MEMORY.format("80Gi")
    asked = pod("gpu", nodeSelector={"eks-devices/nodegroup": "p5"}, tolerations=[])
    report = checked(
        plan_of(L4, P5, L40S), template("gpu", request("gpu.nvidia.com", 1, selector)), asked
    )
    found = {one.nodegroup: one for one in report.pods[0].verdicts}

    assert found["l40s"].code == "NodeSelectorDiffers"
    assert "memory" not in found["l40s"].fix
    assert (found["p5"].code, found["p5"].wants, found["p5"].has) == ("NoDeviceMatches", 1, 0)
    assert found["p5"].fix.startswith("compare memory with at most 81152Mi")
    assert "toleration" not in found["p5"].fix
    told = next(x.finding.fix for x in report.remarks if x.finding.code == "NoNodegroupServesPod")
    assert told.startswith("for p5, ")
    assert "compare memory" in told
    assert "tolerations" in told


@pytest.mark.parametrize(("version", "code"), [("1.35", "claim them"), ("1.36", "did you mean")])
def test_a_class_that_is_misspelt_in_a_resource_is_not_repeated(version: str, code: str) -> None:
    limits = {"deviceclass.resource.kubernetes.io/gpu.nvida.com": 1}
    report = checked(plan_of(P5, version=version), pod(limits=limits))
    (found,) = (x.finding for x in report.remarks if x.finding.code == "NoNodegroupServesPod")

    assert code in found.fix
    assert "gpu.nvidia.com" in found.fix
    assert "nvida" not in found.fix


def test_a_class_of_devices_that_a_group_has_is_meant_first() -> None:
    fix = fix_of(request("team.aws.co", 1), groups=(P5,))
    assert fix == "did you mean neuron.aws.com?"
    of_p5 = own_class("team-b", "device.driver == 'gpu.nvidia.com'")
    of_none = own_class("team-a", "device.driver == 'neuron.aws.com'")
    gpu = template("gpu", request("team-c", 1))
    report = checked(plan_of(P5), of_none, of_p5, gpu, pod("gpu"))
    assert "did you mean team-b or team-a?" in [one.finding.fix for one in report.remarks]


def own_class(name: str, expression: str) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("efa.amazonaws.com", EFA),
        ("efa.aws.com", EFA),
        ("efa", EFA),
        ("dra.net", EFA),
        ("dranet", EFA),
        ("networking.k8s.aws", EFA),
        ("neuron.amazonaws.com", NEURON),
        ("neuron", NEURON),
        ("trainium", NEURON),
        ("nvidia.com", GPU),
        ("nvidia", GPU),
        ("gpu", GPU),
        ("gpus.nvidia.com", GPU),
        ("big-gpu", GPU),
        ("mig", "mig.nvidia.com"),
        ("mif.nvidia.com", "mig.nvidia.com"),
        ("vfio.nvidia.com", "vfio.gpu.nvidia.com"),
        ("compute-domain.nvidia.com", "compute-domain-default-channel.nvidia.com"),
    ],
)
def test_a_class_is_meant_by_what_people_call_its_devices(name: str, meant: str) -> None:
    assert fix_of(request(name, 1), groups=(P5, TRN2)) == f"did you mean {meant}?"


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        (
            "vfio.gpu.nvidia.com",
            "for p5, claim a whole GPU, deviceClassName: gpu.nvidia.com, or",
        ),
        (
            "compute-domain-daemon.nvidia.com",
            "leave the claim out: this class is for the Pods of",
        ),
    ],
)
def test_classes_of_what_no_driver_publishes_here_are_told_what_to_claim(
    name: str, fix: str
) -> None:
    assert fix in fix_of(request(name, 1), groups=(P5, TRN2))


@pytest.mark.parametrize("name", ["migration", "hydra.net", "h100"])
def test_a_class_like_none_is_told_those_of_the_nearest_nodes(name: str) -> None:
    fix = fix_of(request(name, 1), groups=(P5, TRN2))
    assert fix == f"name a DeviceClass of the cluster, such as {GPU}, {EFA}"


@pytest.mark.parametrize(
    ("mechanism", "told"),
    [
        (DRA, {"NoNodegroupServesPod": "deviceClassName: neuron.aws.com"}),
        (
            PLUGIN,
            dict.fromkeys(["NoNodegroupServesPod", "RetiredResource"], "aws.amazon.com/neuron"),
        ),
    ],
)
def test_the_retired_name_of_neuron_devices_is_told_by_what_the_nodes_serve(
    mechanism: Any, told: dict[str, str]
) -> None:
    limits = {"aws.amazon.com/neurondevice": 1}
    plan = plan_of(group("trn2", "trn2.48xlarge", mechanism=mechanism))
    found = {x.finding.code: x.finding.fix for x in checked(plan, pod(limits=limits)).remarks}

    assert {*found} == {*told}
    assert all(told[code] in fix for code, fix in found.items())


P4D_DRA = group("p4d", "p4d.24xlarge", mechanism=DRA)
P5EN = group("p5en", "p5en.48xlarge", mechanism=DRA)
H100 = f"{DEVICE}.productName == 'NVIDIA H100 80GB HBM3'"


@pytest.mark.parametrize(
    ("selector", "code", "fix"),
    [
        (
            f"{AMOUNT} >= '80Gi'",
            "ExpressionInvalid",
            f"write {AMOUNT}.compareTo(quantity('80Gi')) >= 0",
        ),
        (
            f"{AMOUNT} >= '200Gi'",
            "ExpressionInvalid",
            (
                f"for p5en, write {AMOUNT}.compareTo(quantity('143360Mi')) >= 0, for these devices "
                "have memory 143360Mi"
            ),
        ),
        (
            f"{DEVICE}.productName = 'H200'",
            "ExpressionInvalid",
            (
                f"for p5en, write == for =: {DEVICE}.productName == 'NVIDIA H200', for these "
                "devices have productName NVIDIA H200"
            ),
        ),
        (
            f"'H100' in {DEVICE}.productName",
            "AttemptFailsOnNodegroup",
            f"write {DEVICE}.productName.contains('H100')",
        ),
        (
            f"{DEVICE}.productname == 'H100'",
            "AttemptFailsOnNodegroup",
            f"did you mean gpu.nvidia.com/productName? That is {H100}",
        ),
    ],
)
def test_an_expression_that_is_refused_is_told_for_the_group_whose_devices_are_nearest(
    selector: str, code: str, fix: str
) -> None:
    plan = plan_of(TRN2, P4D_DRA, P5, P5EN)
    report = checked(plan, template("gpu", request("gpu.nvidia.com", 1, selector)), pod("gpu"))
    (found,) = (one.finding for one in report.remarks if one.finding.code == code)
    assert found.fix == fix


def test_a_value_that_no_running_node_has_is_told() -> None:
    wanted = request("gpu.nvidia.com", 1, f"{DEVICE}.addressingMode == 'hmm'")
    report = checked(plan_of(P5), template("gpu", wanted), pod("gpu"))
    (found,) = (one.finding for one in report.remarks)
    assert (found.code, found.severity) == ("NotKnownBeforeNodesRun", "info")
    told = f"addressingMode is None, HMM or ATS: write {DEVICE}.addressingMode == 'HMM'"
    assert found.fix == f"for p5, {told}"
    assert found.message.endswith(f"p5: it reads gpu.nvidia.com/addressingMode; {told}")


def test_a_domain_that_is_cut_short_is_told() -> None:
    plan = plan_of(group("p5", "p5.48xlarge", mechanism=PLUGIN))
    report = checked(plan, pod(limits={"nvidia/gpu": 1}))
    assert "did you mean nvidia.com/gpu?" in message(report, "NoNodegroupServesPod")


def test_the_toleration_is_told_where_another_groups_is_there() -> None:
    neuron = [{"key": "aws.amazon.com/neuron", "operator": "Exists"}]
    report = checked(plan_of(P5, TRN2), template("gpu", request()), pod("gpu", tolerations=neuron))
    assert "{key: nvidia.com/gpu, operator: Exists}" in message(report, "NoNodegroupServesPod")


def test_limits_beside_resources_are_told() -> None:
    container = {"name": "a", "image": "a", "limits": {"nvidia.com/gpu": 1}}
    report = checked(plan_of(P5), pod(containers=[container]))
    assert "move it right below resources:" in message(report, "MisplacedClaimField")


def test_what_api_servers_refuse_stays_an_error_beside_what_is_not_known() -> None:
    wrong = template("gpu", request("gpu.nvidia.com", 1, "device.driver = 'x'"))
    limits = {"hugepages-2Mi": "99Gi", "memory": "1Gi"}
    (found,) = checked(plan_of(P5), wrong, pod("gpu", limits=limits)).pods
    assert [(str(one.status), one.code) for one in found.verdicts] == [
        ("error", "ExpressionInvalid")
    ]
