"""Each rule of the support matrix, asked: the verdicts are those of the guide and the vendors."""

import itertools
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.short_names import BOTTLEROCKET, DRA, EFA, GPU, NEURON, PLUGIN

import eks_devices
from eks_devices import (
    Capacity,
    Compute,
    DeviceType,
    EksDevicesError,
    Feature,
    GpuDriver,
    GpuSharing,
    Mechanism,
    NodegroupPlan,
    NodegroupSpec,
    OperatingSystem,
    Severity,
    Support,
    Verdict,
    device_support,
    plan_nodegroup,
)
from eks_devices.support import find_support

RULES: list[dict[str, Any]] = tomllib.loads(
    (Path(eks_devices.__file__).parent / "data/support.toml").read_text(encoding="utf-8")
)["rule"]
TYPES = {
    "": None,
    "g6e": "g6e.12xlarge",
    "p6e-gb200": "p6e-gb200.36xlarge",
    "trn1": "trn1.32xlarge",
    "trn1n": "trn1n.32xlarge",
    "trn2": "trn2.48xlarge",
    "trn2u": "trn2u.48xlarge",
    "inf1": "inf1.xlarge",
    "inf2": "inf2.xlarge",
    "c5n": "c5n.18xlarge",
}
# device, mechanism, compute, system, family or -, version, feature: verdict, rule
ANSWERS = """
gpu dra managed al2023 g6e 1.33: no dra-below-1.34
neuron dra managed al2023 trn2 1.33: no dra-below-1.34
efa dra self-managed bottlerocket - 1.33: no dra-below-1.34
compute-domain dra managed al2023 p6e-gb200 1.33: no dra-below-1.34
gpu dra auto-mode auto-mode-image - 1.33: no dra-below-1.34
gpu dra managed al2023 g6e 1.33 time-slicing: no dra-below-1.34
gpu dra managed al2023 g6e 1.37 second-mechanism: no second-mechanism
efa device-plugin managed bottlerocket - 1.34 second-mechanism: no second-mechanism
neuron device-plugin karpenter-static al2023 trn2 1.35 second-mechanism: no second-mechanism
gpu dra managed al2023 p5 1.37 all-with-constraint: no all-with-constraint
efa dra auto-mode auto-mode-image - 1.36 all-with-constraint: no all-with-constraint
gpu dra managed al2023 g6e 1.35 reused-claim: limited reused-claim
efa dra karpenter-static bottlerocket - 1.34 reused-claim: limited reused-claim
efa dra managed al2023 - 1.36 reused-claim: yes reused-claim-fixed
neuron dra managed al2023 inf1 1.35 reused-claim: no neuron-dra-inf1
gpu dra managed al2023 g6e 1.37 device-taint-rule: yes device-taint-rule
neuron dra self-managed al2023 trn2 1.37 device-taint-rule: yes device-taint-rule
gpu dra managed al2023 g6e 1.36 device-taint-rule: no device-taint-rule-below-1.37
gpu dra managed bottlerocket g6e 1.34 device-taint-rule: no device-taint-rule-below-1.37
neuron dra managed al2023 inf1 1.37 device-taint-rule: no neuron-dra-inf1
gpu dra fargate al2023 g6e 1.36: no fargate-dra
neuron dra fargate al2023 trn2 1.36: no fargate-dra
efa device-plugin fargate al2023 - 1.36: no fargate-device-plugin
gpu device-plugin fargate al2023 g6e 1.33: no fargate-device-plugin
gpu dra managed al2023 g6e 1.34: yes gpu-dra-al2023
gpu dra self-managed al2023 p6e-gb200 1.37: yes gpu-dra-al2023
gpu dra managed bottlerocket g6e 1.34: yes gpu-dra-bottlerocket
gpu dra managed bottlerocket g6e 1.34 host-service: yes gpu-dra-host-bottlerocket
gpu dra karpenter-static al2023 g6e 1.34: yes gpu-dra-karpenter-static
gpu dra karpenter-static bottlerocket g6e 1.37: yes gpu-dra-karpenter-static
gpu dra karpenter-dynamic al2023 g6e 1.34: limited gpu-dra-karpenter-dynamic
gpu dra karpenter-dynamic bottlerocket g6e 1.37: limited gpu-dra-karpenter-dynamic
gpu dra auto-mode auto-mode-image g6e 1.36: yes gpu-dra-auto-mode
gpu dra auto-mode auto-mode-image g6e 1.35: no gpu-dra-auto-mode-below-1.36
gpu dra auto-mode auto-mode-image g6e 1.34: no gpu-dra-auto-mode-below-1.36
gpu device-plugin managed al2023 g6e 1.33: yes gpu-device-plugin
gpu device-plugin auto-mode auto-mode-image g6e 1.37: yes gpu-device-plugin
gpu device-plugin karpenter-dynamic bottlerocket g6e 1.34: yes gpu-device-plugin
gpu device-plugin managed al2023 p5 1.34 static-mig: yes gpu-static-mig-plugin
gpu device-plugin karpenter-static al2023 p5 1.34 static-mig: yes gpu-static-mig-plugin
gpu device-plugin managed bottlerocket p5 1.34 static-mig: yes gpu-static-mig-plugin-bottlerocket
gpu device-plugin auto-mode auto-mode-image p5 1.36 static-mig: no gpu-static-mig-auto-mode
gpu device-plugin karpenter-dynamic al2023 p5 1.36 static-mig: no not-documented
gpu dra managed al2023 p5 1.34 static-mig: yes gpu-static-mig-dra
gpu dra managed bottlerocket p5 1.34 static-mig: no gpu-static-mig-dra-bottlerocket
gpu dra managed al2023 p6e-gb200 1.36 static-mig: no gpu-mig-gb200
gpu device-plugin managed al2023 p6e-gb300 1.36 static-mig: no gpu-mig-gb200
gpu dra managed al2023 p5 1.36 dynamic-mig: limited gpu-dynamic-mig
gpu dra managed al2023 p5 1.35 dynamic-mig: no gpu-dynamic-mig-below-1.36
gpu dra managed bottlerocket p5 1.37 dynamic-mig: no gpu-dynamic-mig-bottlerocket
gpu dra managed al2023 p6e-gb200 1.37 dynamic-mig: no gpu-dynamic-mig-gb200
gpu device-plugin managed al2023 p5 1.37 dynamic-mig: no not-documented
gpu device-plugin managed al2023 g6e 1.33 time-slicing: yes gpu-time-slicing-plugin
gpu device-plugin managed bottlerocket g6e 1.34 time-slicing: yes gpu-time-slicing-plugin
gpu dra managed al2023 g6e 1.34 time-slicing: limited gpu-time-slicing-dra
gpu device-plugin managed al2023 g6e 1.34 mps: yes gpu-mps-plugin
gpu dra managed al2023 g6e 1.34 mps: limited gpu-mps-dra
gpu device-plugin managed bottlerocket g6e 1.34 mps: yes gpu-mps-plugin-bottlerocket
gpu dra managed bottlerocket g6e 1.34 time-slicing: unproven gpu-time-slicing-dra-bottlerocket
gpu dra managed bottlerocket g6e 1.34 mps: unproven gpu-mps-dra-bottlerocket
gpu device-plugin karpenter-static al2023 g6e 1.34 time-slicing: limited gpu-time-slicing-karpenter-static
gpu dra karpenter-static al2023 g6e 1.36 time-slicing: limited gpu-time-slicing-dra-karpenter-static
gpu dra karpenter-static al2023 g6e 1.35 time-slicing: no not-documented
gpu device-plugin karpenter-dynamic al2023 g6e 1.34 time-slicing: no gpu-time-slicing-karpenter-dynamic
gpu dra karpenter-dynamic bottlerocket g6e 1.37 time-slicing: no gpu-time-slicing-karpenter-dynamic
gpu device-plugin auto-mode auto-mode-image g6e 1.34 time-slicing: no gpu-time-slicing-auto-mode
gpu dra auto-mode auto-mode-image g6e 1.36 time-slicing: no gpu-time-slicing-auto-mode
gpu dra managed al2023 g6e 1.36 extended-resource: yes gpu-extended-resource
gpu dra managed bottlerocket g6e 1.37 extended-resource: yes gpu-extended-resource
gpu dra managed al2023 g6e 1.35 extended-resource: no gpu-extended-resource-below-1.36
gpu dra managed al2023 g6e 1.36 health-taints: limited gpu-health-taints
gpu dra managed al2023 g6e 1.35 health-taints: no gpu-health-taints-below-1.36
compute-domain dra managed al2023 p6e-gb200 1.34: yes compute-domain-al2023
compute-domain dra self-managed al2023 p6e-gb200 1.37: yes compute-domain-al2023
compute-domain dra karpenter-static al2023 p6e-gb200 1.36: no compute-domain-karpenter
compute-domain dra karpenter-dynamic bottlerocket p6e-gb200 1.36: no bottlerocket-gb200
compute-domain dra karpenter-dynamic bottlerocket - 1.36: no compute-domain-karpenter
compute-domain dra auto-mode auto-mode-image p6e-gb200 1.36: no compute-domain-auto-mode
compute-domain dra managed bottlerocket - 1.36: no compute-domain-bottlerocket
gpu device-plugin managed bottlerocket p6e-gb200 1.34: no bottlerocket-gb200
efa dra managed bottlerocket p6e-gb200 1.36: no bottlerocket-gb200
compute-domain device-plugin managed al2023 p6e-gb200 1.36: no compute-domain-plugin
efa dra managed al2023 - 1.34: yes efa-dra-al2023
efa dra managed al2023 trn2 1.37: yes efa-dra-al2023
efa dra managed bottlerocket c5n 1.34: yes efa-dra-bottlerocket
efa dra managed bottlerocket - 1.34 host-service: yes efa-dra-host-bottlerocket
efa dra karpenter-static bottlerocket - 1.34: yes efa-dra-karpenter-static
efa dra karpenter-dynamic al2023 - 1.34: limited efa-dra-karpenter-dynamic
efa dra auto-mode auto-mode-image - 1.36: yes efa-dra-auto-mode
efa dra auto-mode auto-mode-image - 1.35: no efa-dra-auto-mode-below-1.36
efa device-plugin managed al2023 - 1.33: yes efa-device-plugin
efa device-plugin auto-mode auto-mode-image - 1.34: yes efa-device-plugin
efa dra managed al2023 - 1.34 shared-claim: limited efa-shared-claim
neuron dra managed al2023 trn2 1.34: yes neuron-dra-trn2
neuron dra self-managed al2023 trn2u 1.37: yes neuron-dra-trn2
neuron dra managed al2023 trn3 1.35: yes neuron-dra-trn3
neuron dra managed al2023 trn1 1.34: yes neuron-dra-trn1
neuron dra managed al2023 trn1n 1.34: yes neuron-dra-trn1
neuron dra managed al2023 inf2 1.34: unproven neuron-dra-inf2
neuron dra managed al2023 inf1 1.37: no neuron-dra-inf1
neuron dra managed bottlerocket inf1 1.37: no neuron-dra-inf1
neuron dra karpenter-static al2023 inf1 1.37: no neuron-dra-inf1
neuron dra auto-mode auto-mode-image inf1 1.37: no neuron-dra-inf1
neuron dra managed bottlerocket trn2 1.34: unproven neuron-dra-bottlerocket
neuron dra managed bottlerocket inf2 1.34: unproven neuron-dra-bottlerocket
neuron dra karpenter-static al2023 trn2 1.34: yes neuron-dra-karpenter-static
neuron dra karpenter-static bottlerocket trn2 1.34: no not-documented
neuron dra karpenter-dynamic al2023 trn2 1.37: unproven neuron-dra-karpenter-dynamic
neuron dra auto-mode auto-mode-image trn2 1.37: no neuron-dra-auto-mode
neuron device-plugin managed al2023 inf1 1.33: yes neuron-device-plugin
neuron device-plugin auto-mode auto-mode-image trn2 1.37: yes neuron-device-plugin
neuron dra managed al2023 trn2 1.36 health-taints: limited neuron-health-taints
neuron dra managed al2023 trn2 1.35 health-taints: no neuron-health-taints-below-1.36
neuron dra managed al2023 - 1.35: yes neuron-dra-trainium
neuron dra karpenter-static al2023 inf2 1.35: unproven neuron-dra-inf2
neuron device-plugin managed auto-mode-image trn2 1.35: no not-documented
neuron device-plugin auto-mode al2023 trn2 1.35: no not-documented
"""  # noqa: E501 - a question in one line reads best
QUESTIONS = [tuple(line.split(": ")) for line in ANSWERS.strip().splitlines()]


def asked(question: str) -> Support:
    device, mechanism, compute, system, family, version, *feature = question.split()
    values: dict[str, Any] = {
        "device_type": DeviceType(device),
        "mechanism": Mechanism(mechanism),
        "compute": Compute(compute),
        "operating_system": OperatingSystem(system),
        "feature": Feature(feature[0]) if feature else None,
    }
    family = family.removeprefix("-")
    if family in TYPES:
        return device_support(kubernetes_version=version, instance_type=TYPES[family], **values)
    # Families whose types are only announced, or that stand for several.
    place = list(values.values())[:4]
    return find_support(*place, family=family, version=version, feature=values["feature"])


@pytest.mark.parametrize(("question", "answer"), QUESTIONS)
def test_an_answer(question: str, answer: str):
    support = asked(question)

    assert f"{support.verdict} {support.rule}" == answer
    assert support.allowed == (support.verdict is not Verdict.NO)
    assert support.message
    assert support.source
    assert support.checked == "2026-11-30"
    assert support.fix or support.allowed
    if support.verdict in (Verdict.LIMITED, Verdict.UNPROVEN):
        assert support.warn
        assert not support.automatic
    if support.verdict is Verdict.NO:
        assert not support.automatic


def test_every_rule_answers_a_question():
    answered = {answer.split()[1] for _, answer in QUESTIONS}

    assert answered == {rule["id"] for rule in RULES} | {"not-documented"}


def of_version(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def holds(rule: dict[str, Any], compute: str, system: str, family: str, version: str) -> bool:
    return (
        compute in rule["compute"]
        and system in rule["operating_system"]
        and family in rule.get("families", [family])
        and of_version(rule.get("kubernetes_min", "0.0"))
        <= of_version(version)
        <= of_version(rule.get("kubernetes_max", "9.99"))
    )


def rules_for(device: str, mechanism: str, feature: str) -> list[dict[str, Any]]:
    return [
        rule
        for rule in RULES
        if rule["device"] in ("any", device)
        and rule["mechanism"] in ("any", mechanism)
        and rule.get("feature", "") == feature
    ]


def test_no_two_rules_of_one_specificity_disagree():
    families = ["", "g6e", *sorted({name for rule in RULES for name in rule.get("families", ())})]
    places = list(
        itertools.product(
            Compute, OperatingSystem, families, ("1.33", "1.34", "1.35", "1.36", "1.37")
        )
    )
    questions = 0
    for device, mechanism, feature in itertools.product(DeviceType, Mechanism, ["", *Feature]):
        rules = rules_for(device, mechanism, feature)
        for place in places:
            verdicts: dict[tuple[bool, bool], set[str]] = {}
            for rule in rules:
                if holds(rule, *place):
                    key = ("families" in rule, rule["device"] != "any")
                    verdicts.setdefault(key, set()).add(rule["verdict"])
            assert all(len(each) == 1 for each in verdicts.values()), (device, feature, place)
            questions += 1
    assert questions == 4 * 2 * 13 * 6 * 3 * len(families) * 5


def test_a_feature_is_never_allowed_where_the_mechanism_is_not():
    for device, mechanism, compute, system, family, version in itertools.product(
        DeviceType,
        Mechanism,
        Compute,
        OperatingSystem,
        ("g6e", "inf1", "inf2", "trn2", "p6e-gb200"),
        ("1.33", "1.34", "1.37"),
    ):
        whole = find_support(device, mechanism, compute, system, family=family, version=version)
        if not whole.allowed and (whole.rule != "not-documented" or device is not NEURON):
            for feature in Feature:
                with_feature = find_support(
                    device,
                    mechanism,
                    compute,
                    system,
                    family=family,
                    version=version,
                    feature=feature,
                )
                assert not with_feature.allowed


@pytest.mark.parametrize("device", [GPU, NEURON, EFA])
@pytest.mark.parametrize("mechanism", [DRA, PLUGIN])
def test_fargate_serves_nothing(device: DeviceType, mechanism: Mechanism):
    support = device_support(device_type=device, mechanism=mechanism, compute=Compute.FARGATE)

    assert support.verdict is Verdict.NO
    assert support.message == "Fargate runs neither DaemonSets nor accelerated instances"


def test_auto_mode_has_its_own_image_unless_another_system_is_named():
    values: dict[str, Any] = {"mechanism": DRA, "compute": Compute.AUTO_MODE}

    assert device_support(device_type=GPU, **values).rule == "gpu-dra-auto-mode"
    assert device_support(device_type=NEURON, **values).rule == "neuron-dra-auto-mode"


def test_the_newest_version_is_asked_unless_one_is_named():
    support = device_support(
        device_type=GPU,
        mechanism=DRA,
        feature=Feature.DEVICE_TAINT_RULE,
    )

    assert support.rule == "device-taint-rule"


def test_the_reason_why_dra_is_refused_below_1_34():
    support = device_support(device_type=GPU, mechanism=DRA, kubernetes_version="1.33")

    assert support.code == "DraBelow134"
    assert support.message == (
        "DRA needs Kubernetes 1.34: 1.33 serves only the beta API of resource.k8s.io, which this "
        "library does not emit"
    )
    assert support.source == (
        "https://docs.aws.amazon.com/eks/latest/userguide/device-management.html"
    )


def test_a_plan_gives_that_reason():
    group = NodegroupSpec(name="a", instance_type="g6e.12xlarge", max_size=1, mechanism=DRA)

    with pytest.raises(EksDevicesError) as caught:
        plan_nodegroup(group, kubernetes_version="1.33")

    (fault,) = caught.value.faults
    assert fault.code == "DraBelow134"
    assert fault.message.startswith("DRA needs Kubernetes 1.34: 1.33 serves only the beta API")
    assert "mechanism=Mechanism.DEVICE_PLUGIN" in fault.fix


def planned(instance_type: str, **options: Any) -> NodegroupPlan:
    block = Capacity.block("cr-0123456789abcdef0")
    capacity = block if instance_type.startswith("p6e") else Capacity.on_demand()
    group = NodegroupSpec(
        name="a", instance_type=instance_type, max_size=1, capacity=capacity, **options
    )
    return plan_nodegroup(group, kubernetes_version="1.35")


@pytest.mark.parametrize(
    ("instance_type", "options", "codes"),
    [
        ("trn1.2xlarge", {}, ["NeuronDraTrn1"]),
        ("trn1n.32xlarge", {"mechanism": DRA}, ["NeuronDraTrn1"]),
        ("trn1.2xlarge", {"mechanism": PLUGIN}, []),
        ("trn2.48xlarge", {}, []),
        ("trn2.48xlarge", {"mechanism": DRA}, []),
        ("inf2.xlarge", {"mechanism": DRA}, ["NeuronDraInf2"]),
        ("inf2.xlarge", {}, []),
        ("inf1.xlarge", {}, []),
        ("g6e.12xlarge", {"mechanism": DRA}, []),
        (
            "g6e.12xlarge",
            {"mechanism": DRA, "operating_system": BOTTLEROCKET},
            ["GpuDraBottlerocket"],
        ),
        (
            "p5.48xlarge",
            {"mechanism": DRA, "operating_system": BOTTLEROCKET},
            ["GpuDraBottlerocket", "EfaDraBottlerocket"],
        ),
        (
            "trn2.3xlarge",
            {"mechanism": DRA, "operating_system": BOTTLEROCKET},
            ["NeuronDraBottlerocket"],
        ),
        ("trn2.3xlarge", {"operating_system": BOTTLEROCKET}, []),
        (
            "g6e.12xlarge",
            {"gpu_driver": GpuDriver(feature_gates={"TimeSlicingSettings": True})},
            ["GpuTimeSlicingDra"],
        ),
        (
            "g6e.12xlarge",
            {"gpu_driver": GpuDriver(feature_gates={"MPSSupport": True})},
            ["GpuMpsDra"],
        ),
        (
            "g6e.12xlarge",
            {
                "mechanism": DRA,
                "operating_system": BOTTLEROCKET,
                "gpu_driver": GpuDriver(feature_gates={"MPSSupport": True}),
            },
            ["GpuDraBottlerocket", "GpuMpsDraBottlerocket"],
        ),
        ("g6e.12xlarge", {"gpu_sharing": GpuSharing.mps(replicas=2)}, []),
        ("g6e.12xlarge", {"mechanism": DRA, "preemption": True}, ["DeclaredAgainstDra"]),
        # A declaration speaks against DRA for the devices that it is about only.
        (
            "trn2.48xlarge",
            {"mechanism": {NEURON: PLUGIN, EFA: DRA}, "neuron_cores": True},
            [],
        ),
        (
            "g6e.12xlarge",
            {
                "mechanism": {GPU: PLUGIN, EFA: DRA},
                "efa": 1,
                "gpu_sharing": GpuSharing.mps(replicas=2),
            },
            [],
        ),
    ],
)
def test_a_plan_warns_where_the_matrix_says_so(
    instance_type: str, options: dict[str, Any], codes: list[str]
):
    findings = planned(instance_type, **options).findings
    warnings = [one for one in findings if one.severity is Severity.WARNING]

    assert [one.code for one in warnings] == codes
    assert all(one.message and one.fix and one.source for one in warnings)
