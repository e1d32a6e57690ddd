"""The main job, as a user runs it: `cdk synth` of the reference app, with validation on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

NODEGROUP, TEMPLATE = "AWS::EKS::Nodegroup", "AWS::EC2::LaunchTemplate"
MANIFEST = "Custom::AWSCDK-EKS-KubernetesResource"


def resources(folder: Path, stack: str, kind: str) -> dict[str, dict[str, Any]]:
    content = json.loads((folder / f"{stack}.template.json").read_text(encoding="utf-8"))
    return {name: one for name, one in content["Resources"].items() if one["Type"] == kind}


def accelerated(folder: Path, stack: str) -> dict[str, dict[str, Any]]:
    """The properties of the accelerated node groups of a stack by the name of their plan."""
    groups = [one["Properties"] for one in resources(folder, stack, NODEGROUP).values()]
    named = [one for one in groups if any(key.endswith("-manager") for key in one["Labels"])]
    return {one["Labels"]["eks-devices/nodegroup"]: one for one in named}


def interfaces(folder: Path, stack: str, group: dict[str, Any]) -> list[tuple[int, int, str]]:
    template = resources(folder, stack, TEMPLATE)[group["LaunchTemplate"]["Id"]["Ref"]]
    drawn = template["Properties"]["LaunchTemplateData"].get("NetworkInterfaces", [])
    return [(one["NetworkCardIndex"], one["DeviceIndex"], one["InterfaceType"]) for one in drawn]


def objects(folder: Path, stack: str) -> list[dict[str, Any]]:
    manifests = resources(folder, stack, MANIFEST).values()
    return [item for one in manifests for item in json.loads(one["Properties"]["Manifest"])]


def test_the_only_warning_is_about_facts_that_nobody_could_check(assembly):
    _, done = assembly
    told = [line for line in done.stderr.splitlines() if line.startswith(("WARNING", "ERROR"))]

    # The others are CDK's own, about any subnet that is imported by its id.
    known = ("UnverifiedInstanceType", "routeTableId", "Could not auto-tag private subnet")
    assert [text for text in told if not any(one in text for one in known)] == []


def test_its_claims_are_told_nothing_but_how_long_one_is_searched(assembly):
    folder, _ = assembly
    files = folder.glob("*.eks-devices.json")
    clusters = [one for file in files for one in json.loads(file.read_text())["clusters"]]
    found = [finding for one in clusters for finding in one["plan"]["findings"]]

    assert sum(len(one["claims"]) for one in clusters) == 6
    about_claims = [one for one in found if "claim" in one["path"]]
    assert [one["code"] for one in about_claims] == ["LongSearch"]


def test_validation_ran_and_found_no_fault(assembly):
    folder, _ = assembly

    report = json.loads((folder / "validation-report.json").read_text(encoding="utf-8"))
    told = [
        violation
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
        if violation["severity"] != "info" and not violation["ruleName"].startswith("Annotation::")
    ]

    assert told == []


def test_each_group_has_its_ami_and_its_interfaces(assembly):
    folder, _ = assembly
    training, blackwell = accelerated(folder, "Training"), accelerated(folder, "Blackwell")

    amis = {name: one["AmiType"] for name, one in (training | blackwell).items()}
    efas = {
        name: sum(kind == "efa-only" for _, _, kind in interfaces(folder, "Training", one))
        for name, one in training.items()
    }

    assert amis == {
        "Trn2": "AL2023_x86_64_NEURON",
        "P5": "AL2023_x86_64_NVIDIA",
        "G6e": "AL2023_x86_64_NVIDIA",
        "Inf2": "BOTTLEROCKET_x86_64",
        "Gb200": "AL2023_ARM_64_NVIDIA",
    }
    assert efas == {"Trn2": 16, "P5": 32, "G6e": 0, "Inf2": 0}
    assert interfaces(folder, "Blackwell", blackwell["Gb200"]) == [
        (0, 0, "interface"),
        (1, 0, "efa-only"),
        (5, 0, "efa-only"),
        (9, 0, "efa-only"),
        (13, 0, "efa-only"),
    ]


def test_every_device_of_every_group_has_exactly_one_manager(assembly):
    folder, _ = assembly

    for stack in ("Training", "Blackwell"):
        daemon_sets = [item for item in objects(folder, stack) if item["kind"] == "DaemonSet"]
        terms = [
            one["spec"]["template"]["spec"]["affinity"]["nodeAffinity"][
                "requiredDuringSchedulingIgnoredDuringExecution"
            ]["nodeSelectorTerms"][0]["matchExpressions"]
            for one in daemon_sets
        ]
        for group in accelerated(folder, stack).values():
            labels = group["Labels"]
            for label in [name for name in labels if name.endswith("-manager")]:
                serving = [
                    term
                    for term in terms
                    if any(one["key"] == label for one in term)
                    and all(
                        (labels.get(one["key"]) in one["values"]) == (one["operator"] == "In")
                        for one in term
                    )
                ]
                assert len(serving) == 1, label


def test_claims_and_the_compute_domain_are_there(assembly):
    folder, _ = assembly
    kinds = ("ResourceClaimTemplate", "ComputeDomain")

    found = {
        (item["kind"], item["metadata"]["namespace"], item["metadata"]["name"])
        for stack in ("Training", "Blackwell")
        for item in objects(folder, stack)
        if item["kind"] in kinds
    }

    assert found == {
        ("ResourceClaimTemplate", "train", "neuron-4"),
        ("ResourceClaimTemplate", "train", "gpu-1"),
        ("ResourceClaimTemplate", "train", "node-gpus"),
        ("ResourceClaimTemplate", "train", "node-efas"),
        ("ComputeDomain", "train", "trainer"),
        ("ResourceClaimTemplate", "train", "gb200-node"),
    }


@pytest.mark.parametrize("version", ["1.35", "1.36", "1.37"])
def test_a_context_value_chooses_the_kubernetes_version(synth, tmp_path, version):
    done = synth(tmp_path, "--context", f"kubernetes_version={version}", validation=False)

    assert done.returncode == 0, done.stderr
    content = json.loads((tmp_path / "Training.eks-devices.json").read_text())
    assert content["clusters"][0]["plan"]["kubernetes_version"] == version
    classes = {
        item["metadata"]["name"]: item["spec"].get("extendedResourceName")
        for item in objects(tmp_path, "Training")
        if item["kind"] == "DeviceClass"
    }
    # Below 1.36 the API server would drop the name without a word.
    assert classes["gpu.nvidia.com"] == (None if version == "1.35" else "nvidia.com/gpu")


def test_a_wrong_value_is_told_at_the_user_s_line(synth, tmp_path):
    done = synth(tmp_path, "--context", "p5_reservation=p5-in-may", validation=False)

    assert done.returncode != 0
    assert "got 'p5-in-may'" in done.stderr
    assert "MalformedReservation" in done.stderr
    assert "app.py" in done.stderr


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("kubernetes_version=1.33", "DraBelow134"),
        ("kubernetes_version=1.99", "UnsupportedKubernetesVersion"),
        ("delivery=gitop", "allowed: kubectl, gitops"),
    ],
)
def test_a_wrong_context_value_is_told(synth, tmp_path, value, told):
    done = synth(tmp_path, "--context", value, validation=False)

    assert done.returncode != 0
    assert told in done.stderr


def test_two_synths_are_byte_identical(synth, assembly, tmp_path):
    folder, _ = assembly
    done = synth(tmp_path, validation=False)

    assert done.returncode == 0, done.stderr
    for name in ("Training", "Blackwell"):
        for suffix in ("template.json", "eks-devices.json"):
            again = (tmp_path / f"{name}.{suffix}").read_bytes()
            assert again == (folder / f"{name}.{suffix}").read_bytes()


def test_the_same_objects_are_files_for_gitops(synth, assembly, tmp_path):
    folder, _ = assembly
    done = synth(tmp_path, "--context", "delivery=gitops", validation=False)

    assert done.returncode == 0, done.stderr
    for stack in ("Training", "Blackwell"):
        (installation,) = (tmp_path / "eks-devices").glob(f"{stack}*")
        files = sorted(installation.glob("*.yaml"))
        written = [item for file in files for item in yaml.safe_load_all(file.read_text())]
        by_kubectl = objects(folder, stack)
        assert sorted(map(_text, map(_unmarked, written))) == sorted(map(_text, by_kubectl))
        assert [_rank(item) for item in written] == sorted(map(_rank, written))
        content = json.loads((tmp_path / f"{stack}.template.json").read_text())
        assert MANIFEST not in {one["Type"] for one in content["Resources"].values()}


def _unmarked(item):
    """An object without the annotations that tell a GitOps tool to let it stay."""
    metadata = {key: one for key, one in item["metadata"].items() if key != "annotations"}
    return item | {"metadata": metadata}


def _text(item):
    return json.dumps(item, sort_keys=True)


def _rank(item):
    """The order that a plain `kubectl apply` needs."""
    order = ("Namespace", "CustomResourceDefinition")
    return order.index(item["kind"]) if item["kind"] in order else len(order)
