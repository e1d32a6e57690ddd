"""The main job, as a user runs it: `cdk synth` of the reference app, with validation on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CDK = ROOT / "node_modules" / "aws-cdk" / "bin" / "cdk"


def synth(folder, *arguments, validation=True):
    environment = dict(os.environ)
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment["CDK_VALIDATION"] = "true" if validation else "false"
    environment["CDK_DISABLE_CLI_TELEMETRY"] = "true"
    command = ["node", str(CDK), "synth", "--quiet", "--output", str(folder), *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture(scope="module")
def assembly(tmp_path_factory):
    folder = tmp_path_factory.mktemp("assembly")
    done = synth(folder)
    assert done.returncode == 0, done.stderr
    return folder, done


def test_the_reference_app_synthesises_without_a_warning(assembly):
    _, done = assembly

    assert "WARNING" not in done.stderr
    assert "ERROR" not in done.stderr


def test_validation_ran_and_found_no_fault(assembly):
    folder, _ = assembly

    report = json.loads((folder / "validation-report.json").read_text(encoding="utf-8"))

    assert report


def test_the_template_holds_one_trainium_group_with_sixteen_efas(assembly):
    folder, _ = assembly
    resources = json.loads((folder / "Training.template.json").read_text())["Resources"].values()

    (group,) = [one for one in resources if one["Type"] == "AWS::EKS::Nodegroup"]
    (template,) = [one for one in resources if one["Type"] == "AWS::EC2::LaunchTemplate"]
    interfaces = template["Properties"]["LaunchTemplateData"]["NetworkInterfaces"]

    assert group["Properties"]["AmiType"] == "AL2023_x86_64_NEURON"
    assert [one["InterfaceType"] for one in interfaces] == ["interface"] + ["efa-only"] * 16


def test_the_plan_file_names_the_managers_that_are_needed(assembly):
    folder, _ = assembly
    content = json.loads((folder / "Training.eks-devices.json").read_text())

    (cluster,) = content["clusters"]
    drivers = [(one["device_type"], one["mechanism"]) for one in cluster["plan"]["drivers"]]

    assert drivers == [("neuron", "dra"), ("efa", "dra")]


def test_a_context_value_chooses_the_kubernetes_version(tmp_path):
    done = synth(tmp_path, "--context", "kubernetes_version=1.36", validation=False)

    assert done.returncode == 0, done.stderr
    content = json.loads((tmp_path / "Training.eks-devices.json").read_text())
    assert content["clusters"][0]["plan"]["kubernetes_version"] == "1.36"


def test_a_version_that_is_too_old_is_told_at_the_user_s_line(tmp_path):
    done = synth(tmp_path, "--context", "kubernetes_version=1.33", validation=False)

    assert done.returncode != 0
    assert "ClusterVersionTooOld" in done.stderr
    assert "app.py" in done.stderr
