"""`eks-devices check` on files that are right, wrong and hostile."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.workload_manifests import GPU, P4D, P5, plan_of, pod, request, template

from eks_device_operations.cli import main
from eks_devices import ClusterPlan
from eks_devices.plans import PLAN_FILE_SCHEMA

MOST_SECONDS = 5
TEXT = """\
# a template and the Pods that name it
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata:
  name: gpu
spec:
  spec:
    devices:
      requests:
      - name: gpu
        exactly:
          deviceClassName: gpu.nvidia.com
          count: COUNT
---
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  template:
    spec:
      tolerations:
      - key: nvidia.com/gpu
        operator: Exists
      resourceClaims:
      - name: gpu
        resourceClaimTemplateName: gpu
      containers:
      - name: main
        image: train
        resources:
          claims:
          - name: gpu
      restartPolicy: Never
"""
RIGHT, WRONG = TEXT.replace("COUNT", "4"), TEXT.replace("COUNT", "9")
PLAN = plan_of(P5, P4D)

Check = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "10000")


def entry(plan: ClusterPlan = PLAN, path: str = "T/Cluster", **more: Any) -> dict[str, Any]:
    return {"path": path, "plan": plan.to_dict(), **more}


def assembly(folder: Path, *clusters: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    content = {"schema": PLAN_FILE_SCHEMA, "clusters": list(clusters)}
    (folder / "T.eks-devices.json").write_text(json.dumps(content))
    stack = {"T": {"type": "aws:cloudformation:stack"}}
    (folder / "manifest.json").write_text(json.dumps({"artifacts": stack}))
    return folder


@pytest.fixture
def check(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> Check:
    """Checks texts, which are written to files pods0.yaml and so on, or files that are named."""
    monkeypatch.chdir(tmp_path)

    def run(*given: str | bytes | list[str], plan: Any = None) -> tuple[int, str, str]:
        if plan is None and not (tmp_path / "cdk.out").exists():
            assembly(tmp_path / "cdk.out", entry())
        arguments: list[str] = []
        for at, one in enumerate(given):
            if isinstance(one, list):
                arguments += one
                continue
            file = tmp_path / f"pods{at}.yaml"
            file.write_bytes(one if isinstance(one, bytes) else one.encode())
            arguments.append(file.name)
        code = main(["check", *arguments, *(["--plan", str(plan)] if plan else [])])
        output = capsys.readouterr()
        return code, output.out, output.err

    return run


def test_pods_that_a_group_serves_are_fine(check: Check) -> None:
    code, text, errors = check(RIGHT)
    assert (code, errors) == (0, "")
    assert "pods0.yaml:21: Job default/train: served by p5 (2 a node)" in text
    assert text.endswith("1 Pod template, 1 with devices, 1 of them served, 0 errors, 0 warnings\n")


@pytest.mark.parametrize(("name", "code"), [("p5-0a1b2c3d", 0), ("p5", 1)])
def test_names_of_groups_in_eks_come_from_the_plan_file(
    check: Check, tmp_path: Path, name: str, code: int
) -> None:
    plan = assembly(tmp_path / "cdk.out", entry(nodegroup_names={"p5": "p5-0a1b2c3d"}))
    selector = f"      nodeSelector: {{eks.amazonaws.com/nodegroup: {name}}}\n"
    selecting = RIGHT.replace("      tolerations:\n", f"{selector}      tolerations:\n")
    assert check(selecting, plan=plan)[0] == code


@pytest.mark.parametrize("names", [[], {"p5": 1}, "p5", None])
def test_names_that_a_plan_file_cannot_have_are_told(
    check: Check, tmp_path: Path, names: Any
) -> None:
    plan = assembly(tmp_path / "cdk.out", entry(nodegroup_names=names))
    code, _, errors = check(RIGHT, plan=plan)
    assert code == 2
    assert "T.eks-devices.json" in errors


def test_pods_that_nothing_serves_are_told_with_file_line_reason_and_fix(check: Check) -> None:
    code, text, _ = check(WRONG)
    first, claim, fix, *_ = text.splitlines()
    assert claim == "  by pods0.yaml:11: ResourceClaimTemplate default/gpu"
    assert code == 1
    assert first.startswith("pods0.yaml:21: error NoNodegroupServesPod Job default/train: ")
    assert "p5: request gpu: it wants 9 devices of a node that has at most 8" in first
    assert "p4d: their GPUs are handed out by the device plugin" in first
    assert fix == "  fix: for p5, ask for at most 8 devices"
    assert "served by none" in text


def test_claims_that_clash_are_told_with_the_file_of_the_other_one(check: Check) -> None:
    four, nine = (one.partition("---\n")[0] for one in (RIGHT, WRONG))
    _, text, _ = check(four, nine)
    assert "pods1.yaml:5: warning ClaimNameClash" in text
    assert "default/gpu in pods0.yaml asks for something else" in text
    code, text, _ = check(f"{four}---\n{nine}")
    assert code == 1
    assert "error ClaimNameClash" in text


def test_the_template_may_be_in_another_file(check: Check) -> None:
    claim, _, job = RIGHT.partition("---\n")
    assert check(job, claim)[0] == 0
    code, text, _ = check(job)
    assert code == 0
    assert "pods0.yaml:12: warning ClaimNotFound Job default/train: " in text


def test_json_tells_all_findings_and_verdicts(check: Check) -> None:
    code, text, _ = check(WRONG, ["--json"])
    told = json.loads(text)
    assert (code, told["schema"]) == (1, "eks-devices/check/v1")
    assert (told["cluster"], told["kubernetes_version"]) == ("T/Cluster", "1.36")
    (finding,) = told["findings"]
    assert {
        key: finding[key] for key in ("file", "line", "column", "path", "code", "severity")
    } == {
        "file": "pods0.yaml",
        "line": 21,
        "column": 5,
        "path": "spec.template.spec",
        "code": "NoNodegroupServesPod",
        "severity": "error",
    }
    (found,) = told["pods"]
    assert (found["kind"], found["name"], found["served_by"]) == ("Job", "train", [])
    assert [(one["nodegroup"], one["status"]) for one in found["verdicts"]] == [
        ("p5", "infeasible"),
        ("p4d", "infeasible"),
    ]


def test_json_tells_how_many_pods_a_node_serves_and_by_which_devices(check: Check) -> None:
    (found,) = json.loads(check(RIGHT, ["--json"])[1])["pods"]
    verdict = found["verdicts"][0]
    assert (found["served_by"], verdict["fits"]) == (["p5"], 2)
    assert [one["device"] for one in verdict["devices"]] == [f"gpu-{at}" for at in range(4)]


def test_a_folder_is_searched_and_hidden_files_and_the_plan_are_passed_over(
    check: Check, tmp_path: Path
) -> None:
    deep = tmp_path / "all" / "deep"
    deep.mkdir(parents=True)
    (deep / "a.yml").write_text(WRONG)
    (deep / "b.json").write_text(json.dumps(pod("gpu")))
    (deep / "c.txt").write_text("{{")
    (deep / ".d.yaml").write_text("{{")
    (tmp_path / "all" / ".git").mkdir()
    (tmp_path / "all" / ".git" / "e.yaml").write_text("{{")
    (deep / "round").symlink_to(tmp_path / "all")
    (deep / "s.yaml").write_text("kind: Service")
    plan = assembly(tmp_path / "all" / "cdk.out", entry())
    (plan / "tree.yaml").write_text("{{")
    code, text, errors = check(["all", "--json"], plan=plan)
    told = json.loads(text)
    assert (code, errors) == (1, "eks-devices: all: 1 of 3 files hold no Pod and no claim\n")
    assert [Path(one).name for one in told["files"]] == ["a.yml", "b.json", "s.yaml"]
    assert {one["code"] for one in told["findings"]} == {"NoNodegroupServesPod"}


def test_a_file_that_is_named_twice_is_read_once(check: Check) -> None:
    _, text, _ = check(WRONG, ["./pods0.yaml", "--json"])
    assert len(json.loads(text)["findings"]) == 1


def test_a_dash_reads_the_standard_input(check: Check, monkeypatch: Any) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(WRONG.encode())))
    code, text, _ = check(["-"])
    assert code == 1
    assert text.startswith("<stdin>:21: error")


def test_a_namespace_is_for_manifests_that_name_none(check: Check) -> None:
    there = RIGHT.replace("  name: gpu\nspec", "  name: gpu\n  namespace: train\nspec")
    assert "ClaimNotFound" in check(there)[1]
    assert "ClaimNotFound" not in check(there, ["-n", "train"])[1]
    assert "Job train/train" in check(there, ["--namespace", "train"])[1]


def test_claims_of_the_plan_are_known(check: Check, tmp_path: Path) -> None:
    claim = {
        "kind": "ResourceClaimTemplate",
        "namespace": "default",
        "name": "gpu",
        "nodegroups": ["p5"],
        "requests": [],
        "match": [],
        "manifest": template("gpu", request(GPU, 9)),
    }
    assembly(tmp_path / "cdk.out", entry(claims=[claim]))
    code, text, _ = check(RIGHT.partition("---\n")[2])
    assert code == 1
    assert "it wants 9 devices" in text


def test_of_several_clusters_one_is_named(check: Check, tmp_path: Path) -> None:
    other = plan_of(P4D)
    assembly(tmp_path / "cdk.out", entry(), entry(other, "T/Other"))
    code, _, errors = check(RIGHT)
    assert code == 2
    assert "T/Cluster, T/Other" in errors
    assert check(RIGHT, ["--cluster", "T/Cluster"])[0] == 0
    assert check(RIGHT, ["--cluster", "T/Other"])[0] == 1
    code, _, errors = check(RIGHT, ["--cluster", "T/None"])
    assert code == 2
    assert "T/Cluster, T/Other" in errors


@pytest.mark.parametrize("plan", ["nowhere", "empty", "."])
def test_without_a_plan_nothing_is_looked_at(check: Check, tmp_path: Path, plan: str) -> None:
    (tmp_path / "empty").mkdir()
    code, text, errors = check(RIGHT, plan=plan)
    assert (code, text) == (2, "")
    assert "cdk" in errors


def test_a_plan_that_cannot_be_read_is_told(check: Check, tmp_path: Path) -> None:
    folder = assembly(tmp_path / "cdk.out", entry())
    (folder / "T.eks-devices.json").write_text("{")
    code, _, errors = check(RIGHT)
    assert code == 2
    assert "T.eks-devices.json" in errors


def test_a_file_that_is_not_there_cannot_be_looked_at_and_others_are(check: Check) -> None:
    code, text, errors = check(WRONG, ["none.yaml"])
    assert code == 2
    assert "none.yaml: cannot be read" in errors
    assert "NoNodegroupServesPod" in text


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n---\n"])
def test_where_no_file_holds_anything_nothing_was_looked_at(check: Check, text: str) -> None:
    code, _, errors = check(text)
    assert code == 2
    assert errors == "eks-devices: pods0.yaml: holds no Pod and no claim\n"


def test_a_folder_without_files_is_nothing_to_look_at(check: Check, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    code, _, errors = check("", ["none"])
    assert code == 2
    assert "none: has no file that ends in .yaml, .yml or .json" in errors
    assert check(RIGHT, ["none"])[0] == 0


@pytest.mark.parametrize("text", ["a: 1\n", "- 1\n", "just text\n"])
def test_a_file_without_manifests_is_told_in_one_line(check: Check, text: str) -> None:
    code, _, errors = check(text)
    assert code == 0
    assert errors == "eks-devices: pods0.yaml: holds no Pod and no claim\n"


def test_manifests_of_other_kinds_make_no_noise(check: Check) -> None:
    code, text, errors = check("apiVersion: v1\nkind: Service\nmetadata: {name: s}\n")
    assert (code, errors) == (0, "eks-devices: pods0.yaml: holds no Pod and no claim\n")
    assert text == "0 Pod templates, 0 with devices, 0 errors, 0 warnings\n"


NO_YAML = {
    "open": "a: [\n",
    "tabs": "a:\n\tb: 1\n",
    "alias": "a: *b\n",
    "itself": "a: &a [*a]\n",
    "object": "a: !!python/object/apply:os.system ['true']\n",
    "key": "? {a: b}\n: c\n",
    "control": "a: \x01\n",
    "lists": "[" * 100_000,
    "mappings": "{a: " * 100_000,
    "dashes": "- " * 100_000,
    "bomb": "a: &a [x, x]\n"
    + "".join(
        f"{chr(98 + at)}: &{chr(98 + at)} [{f'*{chr(97 + at)}, ' * 9}]\n" for at in range(20)
    ),
}


@pytest.mark.parametrize("kind", NO_YAML)
def test_text_that_is_no_yaml_is_an_error_with_its_line(check: Check, kind: str) -> None:
    code, text, errors = check("kind: Pod\n---\n" + NO_YAML[kind] + "\n---\n" + WRONG)
    assert (code, errors) == (1, "")
    assert text.count("error NotYaml") == 1
    line = int(text.partition(": error NotYaml")[0].rpartition(":")[2])
    assert line >= 3
    assert "error NoNodegroupServesPod" in text


def test_bytes_that_are_no_text_are_an_error(check: Check) -> None:
    code, text, _ = check(b"a: \xff\xfe\xfa")
    assert code == 1
    assert "no text in UTF-8" in text


@pytest.mark.parametrize(
    "text",
    ["a: {{ .Values.b }}\n", "{{- if .Values.c }}\na: 1\n{{- end }}\n", "a: b\n{{ x }}: c\n"],
)
def test_a_template_is_told_to_be_one(check: Check, text: str) -> None:
    code, told, _ = check(text)
    assert code == 1
    assert "error TemplateNotRendered" in told
    assert "helm template" in told


def test_braces_in_the_text_of_a_manifest_make_no_template(check: Check) -> None:
    shell = RIGHT.replace("image: train", "image: train\n        args: ['{{.Name}}']")
    assert check(shell)[0] == 0


def test_a_key_that_stands_twice_is_told_and_the_last_one_counts(check: Check) -> None:
    twice = RIGHT.replace("          count: 4\n", "          count: 4\n          count: 9\n")
    code, text, _ = check(twice)
    assert code == 1
    assert "pods0.yaml:14: warning DuplicateKey " in text
    assert "line 13" in text
    assert "it wants 9 devices" in text


def test_a_line_that_lacks_between_objects_is_told(check: Check) -> None:
    _, text, _ = check(RIGHT.replace("---\n", ""))
    assert "warning DuplicateKey" in text
    assert "write --- in front of where another object begins" in text


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.encode("utf-8-sig"),
        lambda text: text.encode("utf-16"),
        lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    ],
    ids=["crlf", "bom", "utf-16", "utf-16-be"],
)
def test_every_way_to_write_text_is_read(check: Check, encode: Any) -> None:
    code, text, _ = check(encode(WRONG))
    assert code == 1
    assert "pods0.yaml:21: error NoNodegroupServesPod" in text


def test_anchors_and_merges_are_followed(check: Check) -> None:
    text = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: a}
spec:
  pytorchReplicaSpecs:
    Master:
      template: &pod
        spec: &spec
          containers:
          - {name: a, resources: {limits: {nvidia.com/gpu: 9}}}
    Worker:
      template: *pod
    Third:
      template:
        spec: {<<: *spec, hostNetwork: true}
"""
    _, told, _ = check(text, ["--json"])
    findings = json.loads(told)["findings"]
    assert [(one["line"], one["path"].rpartition(".template")[0]) for one in findings] == [
        (8, "spec.pytorchReplicaSpecs.Master"),
        (8, "spec.pytorchReplicaSpecs.Worker"),
        (15, "spec.pytorchReplicaSpecs.Third"),
    ]


def test_values_are_read_as_kubernetes_reads_them(check: Check) -> None:
    """Dates stay text, `yes` is no text, and amounts in base 60 are none."""
    text = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  nodeSelector: {date: 2026-12-01, time: 22:30, spot: yes}
  containers:
  - {name: a, resources: {limits: {nvidia.com/gpu: 1}}}
"""
    _, told, _ = check(text, ["--json"])
    wrong = [one["path"] for one in json.loads(told)["findings"] if one["code"] == "WrongType"]
    assert wrong == ["spec.nodeSelector.spot"]


def test_no_control_character_reaches_the_terminal(check: Check) -> None:
    text = WRONG.replace("name: train\n", 'name: "tr\\e[31main\\u202e"\n')
    _, told, errors = check(text)
    assert "\x1b" not in told + errors
    assert "\u202e" not in told + errors


@pytest.mark.parametrize(
    "text",
    [
        "kind: [1]\n",
        "kind: Pod\nspec: []\n",
        "kind: Pod\nmetadata: 5\nspec: {containers: {}}\n",
        "kind: Pod\nspec: {containers: [null, 5, {name: 7, resources: []}], resourceClaims: 5}\n",
        "kind: Pod\nspec: {containers: [{}], resourceClaims: [5, {name: 1}, {}], tolerations: 1}\n",
        "kind: Pod\nspec: {containers: [{}], resourceClaims: [{}], affinity: {nodeAffinity: []}}\n",
        "kind: Pod\nspec: {containers: [{resources: {limits: {nvidia.com/gpu: }}}]}\n",
        "kind: Pod\nspec: {containers: [{resources: {limits: {a/b: 1}}}], nodeSelector: 1}\n",
        "kind: List\nitems: 5\n",
        "kind: List\nitems: [5, {kind: List, items: [{}]}]\n",
        "kind: ResourceClaim\napiVersion: [resource.k8s.io/v1]\nspec: 5\n",
        "kind: ResourceClaim\napiVersion: resource.k8s.io/v1beta1\nspec: {devices: []}\n",
        "kind: DeviceClass\napiVersion: resource.k8s.io/v1\nspec: 5\nmetadata: {name: x}\n",
        "kind: TrainJob\napiVersion: trainer.kubeflow.org/v1alpha1\nspec: {trainer: 5}\n",
        "kind: ComputeDomain\nspec: {channel: {resourceClaimTemplate: 5}}\n",
    ],
)
def test_manifests_of_another_shape_are_told_or_passed_over(check: Check, text: str) -> None:
    code, _, errors = check(text)
    assert code in (0, 1)
    assert "Traceback" not in errors


def test_jinja_or_helm_in_a_folder_does_not_hide_the_rest(check: Check, tmp_path: Path) -> None:
    (tmp_path / "chart").mkdir()
    (tmp_path / "chart" / "a.yaml").write_text("{{ a }}")
    (tmp_path / "chart" / "b.yaml").write_text(WRONG)
    code, text, _ = check(["chart"])
    assert code == 1
    assert "TemplateNotRendered" in text
    assert "NoNodegroupServesPod" in text


def test_a_chart_in_a_folder_is_told_once(check: Check, tmp_path: Path) -> None:
    templates = tmp_path / "all" / "chart" / "templates"
    templates.mkdir(parents=True)
    (templates.parent / "Chart.yaml").write_text("name: chart\n")
    (templates.parent / "values.yaml").write_text("a: [\n")
    for name in "ab":
        (templates / f"{name}.yaml").write_text("a: {{ b }}\n")
    (tmp_path / "all" / "job.yaml").write_text(WRONG)
    code, text, errors = check(["all"])
    assert (code, errors) == (1, "")
    assert text.count("TemplateNotRendered") == 1
    assert "fix: render it first: helm template all/chart | eks-devices check -" in text
    assert "NoNodegroupServesPod" in text


def test_a_kustomization_is_told_to_be_looked_at_as_it_is(check: Check, tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "kustomization.yaml").write_text("kind: Kustomization\n")
    (tmp_path / "base" / "job.yaml").write_text(RIGHT)
    code, _, errors = check(["base"])
    assert code == 0
    assert "kubectl kustomize base | eks-devices check -" in errors


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read_is_told(check: Check, tmp_path: Path) -> None:
    file = tmp_path / "secret.yaml"
    file.write_text(RIGHT)
    file.chmod(0)
    code, _, errors = check(["secret.yaml"])
    assert code == 2
    assert "secret.yaml: cannot be read" in errors


def test_a_pipe_is_no_file_to_wait_for(check: Check, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    code, _, errors = check(["pipe.yaml"])
    assert code == 2
    assert "not a file" in errors


def test_a_name_with_a_zero_byte_is_told(check: Check) -> None:
    code, _, errors = check(["a\0b.yaml"])
    assert code == 2
    assert "cannot be read" in errors


@pytest.mark.parametrize("package", ["yaml", "cel_expr_python"])
def test_the_missing_extra_is_named(tmp_path: Path, package: str) -> None:
    plan = assembly(tmp_path / "cdk.out", entry())
    (tmp_path / "pods.yaml").write_text(RIGHT)
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from eks_device_operations.cli import main\n"
        f"sys.exit(main(['check', {str(tmp_path / 'pods.yaml')!r}, '--plan', {str(plan)!r}]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert 'pip install ".[check]"' in result.stderr
    assert "Traceback" not in result.stderr


def test_other_verbs_load_neither_yaml_nor_the_engine(tmp_path: Path) -> None:
    plan = assembly(tmp_path / "cdk.out", entry())
    code = (
        "import sys\nfrom eks_device_operations.cli import main\n"
        "def told():\n"
        "    names = ('yaml', 'cel_expr_python', 'eks_devices.workload_check', "
        "'eks_devices.feasibility')\n"
        "    print([one for one in names if one in sys.modules], file=sys.stderr)\n"
        f"main(['plan', {str(plan)!r}]); main(['instances']); told()\n"
        "main(['instances', 'p5.48xlarge']); told()\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    # What selectors read of a named type needs the rules about claims, and no engine.
    assert result.stderr == "[]\n['eks_devices.feasibility']\n"


def test_two_thousand_documents_take_a_second(check: Check) -> None:
    """Processor time, which other work on the machine does not count in; 0.8 alone."""
    job = WRONG.partition("---\n")[2]
    parts = (f"---\n{job}".replace("train\n", f"train{at}\n", 1) for at in range(1999))
    text = WRONG + "".join(parts)
    start = time.process_time()
    code, _, _ = check(text, ["--json"])
    assert code == 1
    assert time.process_time() - start < MOST_SECONDS
