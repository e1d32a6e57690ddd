"""`eks-devices plan` on cloud assemblies that are right, wrong, and hostile."""

import copy
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from eks_device_operations.cli import main
from eks_devices import (
    Capacity,
    ClaimWebhook,
    DeviceType,
    DranetBuild,
    EfaInstallation,
    GpuDriver,
    GpuSharing,
    Mechanism,
    Mig,
    NeuronInstallation,
    NodegroupSpec,
    NvidiaInstallation,
    Taint,
    TaintEffect,
    plan_cluster,
)
from eks_devices.findings import info, warning
from eks_devices.plans import PLAN_FILE_SCHEMA, PLAN_FILE_SUFFIX

MAX_SECONDS = 0.25
RUNS = 25
COMMAND = [sys.executable, "-m", "eks_device_operations", "plan"]
BLOCK = Capacity.block("cr-0123456789abcdef0")
SMALL = plan_cluster(
    kubernetes_version="1.36",
    nodegroups=[
        NodegroupSpec(
            name="trn2",
            instance_type="trn2.48xlarge",
            capacity=BLOCK,
            mechanism=Mechanism.DRA,
            min_size=1,
            max_size=4,
        ),
        NodegroupSpec(
            name="g7",
            instance_type="g7.12xlarge",
            mechanism=Mechanism.DEVICE_PLUGIN,
            gpu_sharing=GpuSharing.time_slicing(replicas=4),
            autoscaled=True,
            max_size=2,
        ),
    ],
).to_dict()
LARGE = plan_cluster(
    kubernetes_version="1.34",
    nodegroups=[
        NodegroupSpec(
            name="gb200", instance_type="p6e-gb200.36xlarge", capacity=BLOCK, max_size=18
        ),
        *(
            NodegroupSpec(name=f"{family}-{number}", instance_type=name, max_size=2)
            for family, name in (("p5", "p5.48xlarge"), ("inf2", "inf2.48xlarge"))
            for number in range(10)
        ),
    ],
    keep={DeviceType.EFA: (Mechanism.DEVICE_PLUGIN,)},
).to_dict()
GOLDEN = """\
Training/Cluster: Kubernetes 1.36

GROUP  INSTANCE TYPE  NODES               CAPACITY              AMI TYPE              EFA  PODS
trn2   trn2.48xlarge  1-4, starts with 1  capacity-block        AL2023_x86_64_NEURON  16   51
                                          cr-0123456789abcdef0
g7     g7.12xlarge    0-2, autoscaled     on-demand             AL2023_x86_64_NVIDIA  -    250

GROUP  DEVICE  COUNT  MECHANISM      OWNER             PODS ASK FOR
trn2   neuron  16     dra            default           DeviceClass neuron.aws.com
trn2   efa     16     dra            default           DeviceClass efa.networking.k8s.aws
g7     gpu     2      device-plugin  default-60027e7a  nvidia.com/gpu: 8
OWNER: default-<hash> is of the default installation, with settings of its own.

GROUP  TAINTS
trn2   aws.amazon.com/neuron=present:NoSchedule
g7     nvidia.com/gpu=present:NoSchedule
Pods with claims must tolerate: aws.amazon.com/neuron=present:NoSchedule (group trn2). EKS adds
tolerations only to Pods that ask for extended resources.

To install:
DEVICE  MECHANISM      OWNER             SETTINGS                          FOR GROUPS
neuron  dra            default           -                                 trn2
gpu     device-plugin  default-60027e7a  replicas=4, sharing=time-slicing  g7
efa     dra            default           -                                 trn2

Warnings:
  MaxPodsAboveAddresses  nodegroups.g7.max_pods
    the rest waits for an address
    fix: turn prefix delegation on

Good to know:
  KubernetesSupportEnds  kubernetes_version: standard support ends some day

1 cluster, 2 node groups, 0 errors, 1 warning
"""


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


def plan_file(plan: Any = SMALL, path: str = "Training/Cluster") -> dict[str, Any]:
    return {"schema": PLAN_FILE_SCHEMA, "clusters": [{"path": path, "plan": plan}]}


def write(folder: Path, files: dict[str, Any], *, finished: bool = True) -> Path:
    """A cloud assembly with these files, and the manifests of those that are missing."""
    manifests = finished_by(files) if finished else {}
    for name, content in (manifests | files).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return folder


def manifest(*stacks: str, **nested: Any) -> dict[str, Any]:
    artifacts: dict[str, Any] = {name: {"type": "aws:cloudformation:stack"} for name in stacks}
    for name, folder in nested.items():
        artifacts[name] = {"type": "cdk:cloud-assembly", "properties": {"directoryName": folder}}
    return {"version": "54.0.0", "artifacts": artifacts}


def finished_by(files: dict[str, Any]) -> dict[str, Any]:
    """A manifest for each folder with plan files, as a synthesis that ends well leaves it."""
    plans = [Path(name) for name in files if name.endswith(PLAN_FILE_SUFFIX)]
    nested = {str(one.parent): str(one.parent) for one in plans if one.parent != Path()}
    return {
        str(place / "manifest.json"): manifest(
            *(one.name.removesuffix(PLAN_FILE_SUFFIX) for one in plans if one.parent == place),
            **({} if place.parts else nested),
        )
        for place in {Path(), *(one.parent for one in plans)}
        if plans
    }


Reporter = Callable[..., tuple[int, str, str]]


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> Reporter:
    def run(folder: Path | str, *options: str) -> tuple[int, str, str]:
        code = main(["plan", str(folder), *options])
        output = capsys.readouterr()
        return code, output.out, output.err

    return run


def test_a_small_plan_reads_like_this(tmp_path: Path, report: Reporter):
    path, code = "nodegroups.g7.max_pods", "MaxPodsAboveAddresses"
    findings = [
        info(
            "KubernetesSupportEnds", "kubernetes_version", "standard support ends some day", fix="x"
        ),
        warning(code, path, "the rest waits for an address", fix="turn prefix delegation on"),
    ]
    plan = {**SMALL, "findings": [finding.to_dict() for finding in findings]}

    assert report(write(tmp_path, {"T.eks-devices.json": plan_file(plan)})) == (0, GOLDEN, "")


def test_json_holds_the_plans_as_they_are(tmp_path: Path, report: Reporter):
    folder = write(tmp_path, {"a.eks-devices.json": plan_file(LARGE)})

    code, text, errors = report(folder, "--json")

    assert (code, errors) == (0, "")
    assert json.loads(text) == {
        "schema": "eks-devices/plan-report/v1",
        "assembly": str(folder),
        "clusters": [
            {
                "path": "Training/Cluster",
                "file": "a.eks-devices.json",
                "plan": LARGE,
                "claims": [],
                "delivery": [],
            }
        ],
        "problems": [],
    }


def test_the_ways_of_delivery_are_told(tmp_path: Path, report: Reporter):
    ways = [{"kind": "gitops", "directory": "manifests\x1b/dev"}, {"kind": "kubectl"}]
    content = plan_file()
    content["clusters"][0]["delivery"] = ways
    folder = write(tmp_path, {"a.eks-devices.json": content})

    _, text, _ = report(folder)

    assert "\nDelivery: GitOps, folder manifests\\x1b/dev; kubectl\n" in text
    assert json.loads(report(folder, "--json")[1])["clusters"][0]["delivery"] == ways


@pytest.mark.parametrize("ways", [None, {}, [3], [{}], [{"kind": "gitops"}], [{"kind": 1}]])
def test_a_delivery_that_is_wrong_is_told(ways: Any, tmp_path: Path, report: Reporter):
    content = plan_file()
    content["clusters"][0]["delivery"] = ways

    code, _, errors = report(write(tmp_path, {"a.eks-devices.json": content}))

    assert (code, "is not a plan file" in errors) == (1, True)


def test_the_default_folder_is_that_of_cdk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    write(tmp_path / "cdk.out", {"a.eks-devices.json": plan_file()})
    monkeypatch.chdir(tmp_path)

    assert main(["plan"]) == 0
    assert "Training/Cluster" in capsys.readouterr().out


def test_a_device_says_what_pods_ask_for(tmp_path: Path, report: Reporter):
    _, text, _ = report(write(tmp_path, {"a.eks-devices.json": plan_file(LARGE)}))
    rows = {" ".join(line.split()) for line in text.splitlines()}

    assert "gb200 gpu 4 dra default DeviceClass gpu.nvidia.com" in rows
    assert "gb200 compute-domain 1 dra default the claim of a ComputeDomain" in rows
    assert "gb200 efa 4 dra default DeviceClass efa.networking.k8s.aws" in rows
    assert "efa device-plugin default - kept for others" in rows
    assert "UnverifiedInstanceType nodegroups.gb200.instance_type" in rows


def text_of(report: Reporter, folder: Path, *groups: NodegroupSpec, **options: Any) -> str:
    plan = plan_cluster(kubernetes_version="1.36", nodegroups=groups, **options).to_dict()
    code, text, _ = report(write(folder, {"a.eks-devices.json": plan_file(plan)}))
    assert code == 0
    return text


def p5(
    name: str, mechanism: Mechanism, taints: Sequence[Taint | str] | None = None
) -> NodegroupSpec:
    return NodegroupSpec(
        name=name, instance_type="p5.48xlarge", max_size=2, mechanism=mechanism, taints=taints
    )


CUT: list[tuple[dict[str, Any], str]] = [
    (
        {"mechanism": Mechanism.DRA, "mig": Mig.layout("3g.40gb", "2g.20gb")},
        "g gpu 8, each cut into 3g.40gb 2g.20gb dra default DeviceClass mig.nvidia.com",
    ),
    (
        {"mechanism": Mechanism.DRA, "mig": Mig.dynamic()},
        (
            "g gpu 8, cut on request dra <hash> "
            "DeviceClass gpu.nvidia.com, mig.nvidia.com, or nvidia.com/gpu"
        ),
    ),
    (
        {"mechanism": Mechanism.DEVICE_PLUGIN, "mig": Mig.layout("3g.40gb", "2g.20gb")},
        (
            "g gpu 8, each cut into 3g.40gb 2g.20gb device-plugin <hash> "
            "nvidia.com/mig-3g.40gb: 8, nvidia.com/mig-2g.20gb: 8"
        ),
    ),
    (
        {"gpu_sharing": GpuSharing.time_slicing(replicas=4, rename=True)},
        "g gpu 8 device-plugin <hash> nvidia.com/gpu.shared: 32",
    ),
]


@pytest.mark.parametrize(("options", "expected"), CUT)
def test_what_pods_ask_for_of_parts_and_shares(
    tmp_path: Path,
    report: Reporter,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    expected: str,
):
    monkeypatch.setenv("COLUMNS", "1000")
    group = NodegroupSpec(name="g", instance_type="p5.48xlarge", max_size=1, **options)

    rows = [" ".join(line.split()) for line in text_of(report, tmp_path, group).splitlines()]

    (found,) = [row for row in rows if row.startswith("g gpu")]
    assert re.sub(r"default-[0-9a-f]{8}", "<hash>", found) == expected


def test_who_else_answers_for_gpus_is_told(
    tmp_path: Path, report: Reporter, monkeypatch: pytest.MonkeyPatch
):
    """From 1.36 on Pods that ask for nvidia.com/gpu land on nodes of either mechanism."""
    monkeypatch.setenv("COLUMNS", "1000")

    def asked(version: str, **options: Any) -> str:
        plan = plan_cluster(
            kubernetes_version=version,
            nodegroups=[p5("g", Mechanism.DRA)],
            nvidia=NvidiaInstallation(**options),
        )
        folder = tmp_path / f"{version}{options}"
        _, text, _ = report(write(folder, {"a.eks-devices.json": plan_file(plan.to_dict())}))
        (row,) = [line for line in text.splitlines() if line.startswith("g      gpu")]
        return row.partition("DeviceClass ")[2]

    assert asked("1.35") == "gpu.nvidia.com"
    assert asked("1.36") == "gpu.nvidia.com, or nvidia.com/gpu"
    assert asked("1.36", extended_resource=False) == "gpu.nvidia.com"


EXTRAS: list[tuple[dict[str, Any], str]] = [
    ({}, ""),
    (
        {
            "nvidia": NvidiaInstallation(
                claim_webhook=ClaimWebhook.cert_manager(), network_policies=True
            )
        },
        (
            "Also: the webhook that checks claims for NVIDIA's drivers, which needs cert-manager; "
            "NetworkPolicies of NVIDIA's managers, where the CNI enforces them."
        ),
    ),
    (
        {"neuron": NeuronInstallation(scheduler_extension=True)},
        (
            "Also: Neuron's scheduler extension and the scheduler that asks it, for Pods with "
            "schedulerName: neuron-scheduler."
        ),
    ),
    (
        {"neuron": NeuronInstallation(ultraserver_operator=True)},
        "Also: Neuron's UltraServer operator, a beta.",
    ),
]


@pytest.mark.parametrize(("options", "expected"), EXTRAS)
def test_what_an_option_installs_beside_managers_is_told(
    tmp_path: Path,
    report: Reporter,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    expected: str,
):
    monkeypatch.setenv("COLUMNS", "1000")
    groups = [p5("g", Mechanism.DRA)]
    plan = plan_cluster(kubernetes_version="1.36", nodegroups=groups, **options).to_dict()

    _, text, _ = report(write(tmp_path, {"a.eks-devices.json": plan_file(plan)}))

    assert [line for line in text.splitlines() if line.startswith("Also")] == [expected][
        : bool(expected)
    ]


def test_settings_are_told_as_the_managers_are_told_them(
    tmp_path: Path, report: Reporter, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "1000")
    driver = GpuDriver(feature_gates={"MPSSupport": True})
    group = NodegroupSpec(name="g", instance_type="p5.48xlarge", max_size=1, gpu_driver=driver)
    plugin = NodegroupSpec(
        name="h",
        instance_type="g6e.12xlarge",
        max_size=1,
        gpu_sharing=GpuSharing.time_slicing(replicas=2, fail_requests_greater_than_one=True),
    )

    text = text_of(report, tmp_path, group, plugin)

    assert " feature-gates=MPSSupport=true " in text
    assert " replicas=2, sharing=time-slicing, single-replica-requests=true " in text


def test_another_build_of_the_driver_of_efa_is_told_with_its_manager(
    tmp_path: Path, report: Reporter, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "1000")
    upstream = EfaInstallation(build=DranetBuild.UPSTREAM)

    text = text_of(report, tmp_path, p5("g", Mechanism.DRA), efa=upstream)

    assert re.search(r"^efa +dra +default +build=upstream +g$", text, re.MULTILINE)
    assert "build=" not in text_of(report, tmp_path, p5("g", Mechanism.DRA))


def test_only_pods_with_claims_are_told_to_tolerate(
    tmp_path: Path, report: Reporter, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "1000")
    preferred = Taint(key="soft", effect=TaintEffect.PREFER_NO_SCHEDULE)
    own: list[Taint | str] = ["nvidia.com/gpu=present:NoSchedule", "only/mine:NoExecute", preferred]

    text = text_of(
        report,
        tmp_path,
        p5("a", Mechanism.DRA),
        p5("b", Mechanism.DRA, own),
        p5("c", Mechanism.DEVICE_PLUGIN),
        p5("d", Mechanism.DRA, ()),
    )
    lines = text.splitlines()
    start = lines.index("GROUP  TAINTS")

    assert lines[start + 1 : start + 4] == [
        "a      nvidia.com/gpu=present:NoSchedule",
        "b      nvidia.com/gpu=present:NoSchedule, only/mine:NoExecute, soft:PreferNoSchedule",
        "c      nvidia.com/gpu=present:NoSchedule",
    ]
    assert lines[start + 4] == (
        "Pods with claims must tolerate: nvidia.com/gpu=present:NoSchedule (groups a, b); "
        "only/mine:NoExecute (group b). EKS adds tolerations only to Pods that ask for extended "
        "resources."
    )


def test_groups_without_claims_or_taints_say_nothing_of_tolerations(
    tmp_path: Path, report: Reporter
):
    plugin, untainted = p5("a", Mechanism.DEVICE_PLUGIN), p5("b", Mechanism.DRA, ())

    assert "tolerate" not in text_of(report, tmp_path / "a", plugin)
    assert "TAINTS" not in text_of(report, tmp_path / "b", untainted)


def test_owners_are_told_where_they_are_not_the_default(
    tmp_path: Path, report: Reporter, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "1000")
    plan = copy.deepcopy(SMALL)
    first, second = plan["nodegroups"][0]["devices"]
    first["owner"], second["owner"] = "host", "external"
    plan["nodegroups"][1]["devices"][0]["owner"] = "team-60027e7a"

    _, text, _ = report(write(tmp_path, {"a.eks-devices.json": plan_file(plan)}))

    (note,) = [line for line in text.splitlines() if line.startswith("OWNER:")]
    assert note == (
        "OWNER: host is part of the node's operating system; external is installed by somebody "
        "else; <scope>-<hash> is of the installation with that scope."
    )


def test_the_default_owner_needs_no_note(tmp_path: Path, report: Reporter):
    assert "OWNER:" not in text_of(report, tmp_path, p5("a", Mechanism.DRA))


def test_alike_findings_are_told_once(tmp_path: Path, report: Reporter):
    findings = [
        warning("Odd", "nodegroups.a", "it is odd", fix="mend it"),
        info("Fine", "nodegroups.a", "it is so", fix="leave it"),
        warning("Other", "nodegroups.a", "it is other", fix="mend it"),
        warning("Odd", "nodegroups.b", "it is odd", fix="mend it"),
        warning("Odd", "nodegroups.c", "it is odder", fix="mend it"),
        info("Fine", "nodegroups.b", "it is so", fix="leave that too"),
        info("Fine", "nodegroups.c", "it is different", fix="leave it"),
    ]
    plan = {**SMALL, "findings": [finding.to_dict() for finding in findings]}

    _, text, _ = report(write(tmp_path, {"a.eks-devices.json": plan_file(plan)}))

    assert (
        text[text.index("Warnings:") :]
        == """\
Warnings:
  Odd  nodegroups.a, nodegroups.b
    it is odd
    fix: mend it
  Odd  nodegroups.c
    it is odder
    fix: mend it
  Other  nodegroups.a
    it is other
    fix: mend it

Good to know:
  Fine  nodegroups.a, nodegroups.b: it is so
  Fine  nodegroups.c: it is different

1 cluster, 2 node groups, 0 errors, 4 warnings
"""
    )


def clusters_in(report: Reporter, folder: Path) -> list[tuple[str, str]]:
    _, text, _ = report(folder, "--json")
    return [(one["path"], one["file"]) for one in json.loads(text)["clusters"]]


def test_stages_are_found_by_the_manifest(tmp_path: Path, report: Reporter):
    folder = write(
        tmp_path,
        {
            "manifest.json": manifest("Dev", Prod="assembly-Prod", Odd="elsewhere"),
            "Dev.eks-devices.json": plan_file(path="Dev"),
            "assembly-Prod/manifest.json": manifest("Prod", Inner="assembly-Inner"),
            "assembly-Prod/Prod.eks-devices.json": plan_file(path="Prod"),
            "assembly-Prod/assembly-Inner/Inner.eks-devices.json": plan_file(path="Inner"),
            "elsewhere/Odd.eks-devices.json": plan_file(path="Odd"),
            "assembly-Gone/Gone.eks-devices.json": plan_file(path="Gone"),
            "other/Other.eks-devices.json": plan_file(path="Other"),
        },
    )

    assert clusters_in(report, folder) == [
        ("Dev", "Dev.eks-devices.json"),
        ("Prod", "assembly-Prod/Prod.eks-devices.json"),
        ("Odd", "elsewhere/Odd.eks-devices.json"),
        ("Inner", "assembly-Prod/assembly-Inner/Inner.eks-devices.json"),
    ]
    assert report(folder)[0] == 0


def test_stages_are_found_by_name_without_a_manifest(tmp_path: Path, report: Reporter):
    folder = write(
        tmp_path,
        {
            "assembly-Prod/Prod.eks-devices.json": plan_file(path="Prod"),
            "asset.123/Other.eks-devices.json": plan_file(path="Other"),
        },
        finished=False,
    )

    assert clusters_in(report, folder) == [("Prod", "assembly-Prod/Prod.eks-devices.json")]


@pytest.mark.parametrize(
    ("files", "unfinished"),
    [
        ({"a.eks-devices.json": plan_file()}, [""]),
        ({"assembly-b/b.eks-devices.json": plan_file()}, [""]),
        (
            {"a.eks-devices.json": plan_file(), "assembly-b/b.eks-devices.json": plan_file()},
            [""],
        ),
        (
            {
                "manifest.json": manifest("a", b="assembly-b"),
                "a.eks-devices.json": plan_file(),
                "assembly-b/b.eks-devices.json": plan_file(),
            },
            ["/assembly-b"],
        ),
    ],
)
def test_a_synthesis_that_did_not_finish_is_told_once(
    files: dict[str, Any], unfinished: list[str], tmp_path: Path, report: Reporter
):
    folder = write(tmp_path, files, finished=False)
    code, text, errors = report(folder)
    document = json.loads(report(folder, "--json")[1])

    assert code == 1
    assert "Training/Cluster" in text
    told = [line.partition(" synthesis did not finish")[0] for line in errors.splitlines()]
    assert told == [f"eks-devices: {folder}{one}:" for one in unfinished]
    assert ["did not finish" in one["message"] for one in document["problems"]] == [True]


def test_an_error_that_the_cdk_came_over_does_not_end_a_synthesis(tmp_path: Path, report: Reporter):
    # The CDK notes errors there that it caught itself, too.
    files = {"a.eks-devices.json": plan_file(), "manifest.json": manifest("a")}
    folder = write(tmp_path, files | {"error.txt": b"CannotReferenceImportedSubnets"})

    assert report(folder)[::2] == (0, "")


def test_a_plan_file_that_is_named_needs_no_manifest(tmp_path: Path, report: Reporter):
    files = {"a.eks-devices.json": plan_file(path="A"), "b.eks-devices.json": plan_file(path="B")}
    folder = write(tmp_path, files, finished=False)

    assert clusters_in(report, folder / "a.eks-devices.json") == [("A", "a.eks-devices.json")]
    assert report(folder / "a.eks-devices.json")[::2] == (0, "")
    code, text, errors = report(folder / "c.eks-devices.json")
    assert (code, text.startswith("0 clusters")) == (2, True)
    assert f"{folder}/c.eks-devices.json: cannot be read: No such file" in errors


def test_links_in_circles_end_and_each_file_is_read_once(tmp_path: Path, report: Reporter):
    folder = write(tmp_path, {"a.eks-devices.json": plan_file(path="A")})
    (folder / "assembly-self").symlink_to(folder)
    (folder / "assembly-loop").symlink_to(folder / "assembly-loop")
    (folder / "b.eks-devices.json").symlink_to(folder / "a.eks-devices.json")

    assert clusters_in(report, folder) == [("A", "a.eks-devices.json")]


def test_manifests_in_circles_end(tmp_path: Path, report: Reporter):
    folder = write(
        tmp_path,
        {
            "manifest.json": manifest("a", One="assembly-One", Same="assembly-One", Self="."),
            "a.eks-devices.json": plan_file(path="A"),
            "assembly-One/manifest.json": manifest("b"),
            "assembly-One/b.eks-devices.json": plan_file(path="B"),
        },
    )

    assert [path for path, _ in clusters_in(report, folder)] == ["A", "B"]


def test_a_plan_file_of_no_artifact_is_passed_over(tmp_path: Path, report: Reporter):
    files = {
        "manifest.json": manifest("New"),
        "New.eks-devices.json": plan_file(path="New/Cluster"),
        "Old.eks-devices.json": plan_file(path="Old/Cluster"),
    }
    code, text, errors = report(write(tmp_path, files))

    assert code == 0
    assert "New/Cluster" in text
    assert "Old/Cluster" not in text
    assert "Old.eks-devices.json: passed over: the manifest beside it has no such" in errors


def test_a_folder_with_left_over_plan_files_only_holds_no_plan(tmp_path: Path, report: Reporter):
    files = {"manifest.json": manifest("New"), "Old.eks-devices.json": plan_file()}

    assert report(write(tmp_path, files))[0] == 2


def test_error_findings_end_with_1(tmp_path: Path, report: Reporter):
    plan = copy.deepcopy(SMALL)
    plan["findings"].append(
        {"code": "Bad", "severity": "error", "path": "x", "message": "wrong", "fix": "mend it"}
    )
    code, text, errors = report(write(tmp_path, {"a.eks-devices.json": plan_file(plan)}))

    assert (code, errors) == (1, "")
    assert "Errors:\n  Bad  x\n    wrong\n    fix: mend it\n" in text
    assert text.endswith("1 error, 2 warnings\n")


def test_a_file_without_clusters_is_fine(tmp_path: Path, report: Reporter):
    files = {"a.eks-devices.json": {"schema": PLAN_FILE_SCHEMA, "clusters": []}}

    assert report(write(tmp_path, files)) == (
        0, "0 clusters, 0 node groups, 0 errors, 0 warnings\n", ""
    )  # fmt: skip


def test_a_mark_of_byte_order_is_fine(tmp_path: Path, report: Reporter):
    content = b"\xef\xbb\xbf" + json.dumps(plan_file()).encode()

    assert report(write(tmp_path, {"a.eks-devices.json": content}))[0] == 0


def test_other_keys_are_fine(tmp_path: Path, report: Reporter):
    plan = {**SMALL, "later": [None, {"a": 1.5}]}

    assert report(write(tmp_path, {"a.eks-devices.json": {**plan_file(plan), "more": 1}}))[0] == 0


def test_a_wrong_file_does_not_hide_the_others(tmp_path: Path, report: Reporter):
    files = {"a.eks-devices.json": plan_file(), "b.eks-devices.json": b"{"}
    folder = write(tmp_path, files)

    code, text, errors = report(folder)
    document = json.loads(report(folder, "--json")[1])

    assert code == 1
    assert "Training/Cluster" in text
    assert errors.count("\n") == 1
    assert [problem["file"] for problem in document["problems"]] == ["b.eks-devices.json"]


NO_PLAN_FILE = "is not a plan file of schema 'eks-devices/plan-file/v1'"
CONTENTS: list[tuple[bytes, str]] = [
    (b"", "is not JSON"),
    (b"\0\0\0", "is not JSON"),
    (b"<html>", "is not JSON"),
    (b'{"schema": ', "is not JSON"),
    (b"\xff\xfe{\0}\0", "'schema' is missing"),
    (b"\xff\xfe\xff", "is not JSON"),
    (b"\x1f\x8bno gzip", "is not JSON"),
    (b'{"schema": "\xc3\x28"}', "is not JSON"),
    (b"NaN", "NaN is not a number of JSON"),
    (b'{"schema": Infinity}', "Infinity is not a number of JSON"),
    (b'{"schema": 1e999}', "a number is too large"),
    (b'{"schema": ' + b"9" * 5000 + b"}", "is not JSON"),
    (b"[" * 100_000, "is nested too deeply"),
    (b'{"a":' * 100_000, "is nested too deeply"),
    (b"[" * 300 + b"]" * 300, "is nested too deeply"),
    (b"null", NO_PLAN_FILE),
    (b"[]", NO_PLAN_FILE),
    (b'"text"', NO_PLAN_FILE),
    (b"1.5", NO_PLAN_FILE),
    (b"{}", f"{NO_PLAN_FILE}: 'schema' is missing"),
    (b'{"schema": null}', f"{NO_PLAN_FILE}: 'schema' is None"),
    (b'{"schema": {"a": [null]}}', f"{NO_PLAN_FILE}: 'schema' is {{'a'"),
    (b'{"schema": "eks-devices/plan-file/v2"}', "its schema is 'eks-devices/plan-file/v2'"),
    (b'{"schema": "eks-devices/plan/v1"}', "synthesise again with this version"),
    (b'{"schema": "\\u001b[31m"}', "its schema is '\\x1b[31m'"),
    (b'{"schema": "' + b"x" * 5000 + b'"}', "xxx; synthesise again"),
    (b'{"schema": "eks-devices/plan-file/v1"}', f"{NO_PLAN_FILE}: 'clusters' is missing"),
    (b'{"schema": "eks-devices/plan-file/v1", "clusters": null}', "'clusters' is None"),
    (b'{"schema": "eks-devices/plan-file/v1", "clusters": [null]}', NO_PLAN_FILE),
    (b'{"schema": "eks-devices/plan-file/v1", "clusters": [{}]}', "'path' is missing"),
    (
        b'{"schema": "eks-devices/plan-file/v1", "clusters": [{"path": 1, "plan": []}]}',
        "'path' is 1",
    ),
]


@pytest.mark.parametrize(("content", "message"), CONTENTS)
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_content_that_is_no_plan_file_is_told(
    content: bytes, message: str, options: tuple[str, ...], tmp_path: Path, report: Reporter
):
    folder = write(tmp_path, {"bad.eks-devices.json": content})

    code, text, errors = report(folder, *options)

    assert code == 1
    assert message in errors
    assert errors.startswith(f"eks-devices: {folder}/bad.eks-devices.json: ")
    assert errors.replace("\n", "").isprintable()
    assert not options or json.loads(text)["clusters"] == []


MISSING = object()
GROUP = "nodegroups.0"
NO_PLAN = "is not a plan of schema 'eks-devices/plan/v1'"
CHANGES: list[tuple[str, Any, str]] = [
    ("schema", "eks-devices/plan/v2", "its schema is 'eks-devices/plan/v2'"),
    ("schema", MISSING, "'schema' is missing"),
    ("kubernetes_version", 1.34, "'kubernetes_version' is 1.34"),
    ("nodegroups", MISSING, "'nodegroups' is missing"),
    ("nodegroups", {"0": {}}, "'nodegroups' is {'0'"),
    ("nodegroups.0", None, "None stands where an object"),
    ("nodegroups.1", "g7", "'g7' stands where an object"),
    (f"{GROUP}.name", MISSING, "'name' is missing"),
    (f"{GROUP}.name", ["\x1b]0;x\x07"], "'name' is ["),
    (f"{GROUP}.sizes", None, "'sizes' is None"),
    (f"{GROUP}.sizes.max", "4", "'max' is '4'"),
    (f"{GROUP}.sizes.min", True, "'min' is True"),
    (f"{GROUP}.sizes.desired", 1.5, "'desired' is 1.5"),
    (f"{GROUP}.sizes.desired", MISSING, "'desired' is missing"),
    (f"{GROUP}.capacity", "spot", "'capacity' is 'spot'"),
    (f"{GROUP}.capacity.reservation", None, "'reservation' is None"),
    (f"{GROUP}.ami_type", None, "'ami_type' is None"),
    (f"{GROUP}.max_pods", "51", "'max_pods' is '51'"),
    (f"{GROUP}.max_pods", MISSING, "'max_pods' is missing"),
    (f"{GROUP}.network_interfaces.3", [], "[] stands where an object"),
    (f"{GROUP}.network_interfaces.3.InterfaceType", 5, "'InterfaceType' is 5"),
    (f"{GROUP}.devices.0.count", None, "'count' is None"),
    (f"{GROUP}.devices.0.device_type", "tpu", "'tpu' is not a valid DeviceType"),
    (f"{GROUP}.devices.0.device_type", [], "'device_type' is []"),
    (f"{GROUP}.devices.0.mechanism", "cdi", "'cdi' is not a valid Mechanism"),
    (f"{GROUP}.devices.0.mechanism", "x" * 5000, "'xxx"),
    (f"{GROUP}.taints", MISSING, "'taints' is missing"),
    (f"{GROUP}.taints", "a=b:NoSchedule", "'taints' is 'a=b:NoSchedule'"),
    (f"{GROUP}.taints.0", None, "None stands where an object"),
    (f"{GROUP}.taints.0.value", None, "'value' is None"),
    (f"{GROUP}.taints.0.effect", "\x1b[2J", "is not a valid TaintEffect"),
    (f"{GROUP}.extended_resources", {"a": "b"}, "'a' is 'b'"),
    (f"{GROUP}.extended_resources", [1], "'extended_resources' is [1]"),
    (f"{GROUP}.device_classes", [None], "'device_classes' is [None]"),
    ("drivers", None, "'drivers' is None"),
    ("drivers.0.nodegroups", "trn2", "'nodegroups' is 'trn2'"),
    ("drivers.0.owner", MISSING, "'owner' is missing"),
    ("drivers.0.settings", {"a": None}, "'a' is None"),
    ("drivers.0.settings", {"\n": 0.5}, "is 0.5"),
    ("findings", MISSING, "'findings' is missing"),
    ("findings.0", [], "[] stands where an object"),
    ("findings.0.severity", "fatal", "'fatal' is not a valid Severity"),
    ("findings.0.fix", {}, "'fix' is {}"),
    ("findings", [None] * 25, "None stands where an object"),
]


def changed(path: str, value: Any) -> dict[str, Any]:
    """The small plan with one value changed or taken away."""
    plan = copy.deepcopy(SMALL)
    *parents, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    place: Any = plan
    for key in parents:
        place = place[key]
    if value is MISSING:
        del place[last]
    else:
        place[last] = value
    return plan


@pytest.mark.parametrize(("path", "value", "message"), CHANGES)
def test_a_plan_with_a_wrong_value_is_told(
    path: str, value: Any, message: str, tmp_path: Path, report: Reporter
):
    folder = write(tmp_path, {"bad.eks-devices.json": plan_file(changed(path, value))})

    code, text, errors = report(folder)

    assert code == 1
    assert errors.startswith(f"eks-devices: {folder}/bad.eks-devices.json: {NO_PLAN}: ")
    assert message in errors
    assert len(errors) < len(str(folder)) + 400
    assert "Training/Cluster" not in text
    assert errors.replace("\n", "").isprintable()


NO_MANIFEST = "is not the manifest of a cloud assembly"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is not JSON"),
        (b"[]", NO_MANIFEST),
        (b"1", NO_MANIFEST),
        ({"artifacts": None}, f"{NO_MANIFEST}: 'artifacts' is None"),
        ({"artifacts": {"a": 1}}, f"{NO_MANIFEST}: 1 stands where an object"),
        ({"artifacts": {"a": {}}}, f"{NO_MANIFEST}: 'type' is missing"),
        ({"artifacts": {"a": {"type": "cdk:cloud-assembly"}}}, "'properties' is missing"),
        (manifest(a=None), "'directoryName' is None"),
        (manifest(a=""), "artifact 'a' is in no folder beside it: ''"),
        (manifest(a=".."), "artifact 'a' is in no folder beside it: '..'"),
        (manifest(a="b/../.."), "is in no folder beside it: 'b/../..'"),
        (manifest(a="/etc"), "is in no folder beside it: '/etc'"),
        (manifest(a="gone"), "is in no folder beside it: 'gone'"),
        (manifest(a="x" * 5000), "is in no folder beside it: 'xxx"),
        (manifest(a="a\0b"), "is in no folder beside it: 'a\\x00b"),
        (manifest(**{"a\x1b[2J": "gone"}), "artifact 'a\\x1b[2J' is in no folder"),
    ],
)
def test_a_manifest_that_is_wrong_is_told(
    content: Any, message: str, tmp_path: Path, report: Reporter
):
    files = {"manifest.json": content, "a.eks-devices.json": plan_file()}
    folder = write(tmp_path / "out", files)
    code, _, errors = report(folder)

    assert code == 1
    assert errors.startswith(f"eks-devices: {folder}/manifest.json: ")
    assert message in errors
    assert errors.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        ("missing", "cannot be read: No such file or directory; expected the cloud assembly"),
        ("file", "cannot be read: Not a directory; expected the cloud assembly"),
        ("empty", "holds no plan file (*.eks-devices.json)"),
        ("plain", "holds no plan file (*.eks-devices.json)"),
        ("", "the name of the folder is empty"),
        ("a\0b", "cannot be read: embedded null byte"),
        ("x" * 5000, "cannot be read: File name too long"),
        ("loop", "cannot be read: Too many levels of symbolic links"),
        ("\x1b[31m", "'\\x1b[31m' cannot be read"),
        ("\udcff", "'\\udcff' cannot be read"),
    ],
)
def test_a_folder_without_plans_is_told(
    folder: str,
    message: str,
    tmp_path: Path,
    report: Reporter,
    monkeypatch: pytest.MonkeyPatch,
):
    write(tmp_path, {"file": b"", "plain/manifest.json": manifest("a"), "a/b": b""})
    (tmp_path / "empty").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.chdir(tmp_path)

    code, text, errors = report(folder, "--json")

    assert code == 2
    assert errors == "".join(f"eks-devices: {one}\n" for one in json.loads(text)["errors"])
    assert message in errors
    assert errors.replace("\n", "").isprintable()


def test_two_folders_are_one_too_many(capsys: pytest.CaptureFixture[str]):
    assert main(["plan", "a", "b"]) == 2
    assert "unrecognized arguments: b" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Path.mkdir, "it is not a file"),
        (os.mkfifo, "it is not a file"),
        (lambda path: path.symlink_to(path), "Too many levels of symbolic links"),
        (lambda path: path.symlink_to("gone"), "No such file or directory"),
    ],
)
def test_a_plan_file_that_is_no_file_could_not_be_looked_at(
    make: Callable[[Path], None], message: str, tmp_path: Path, report: Reporter
):
    make(write(tmp_path, {"manifest.json": manifest("x")}) / "x.eks-devices.json")

    code, _, errors = report(tmp_path)

    assert code == 2
    assert errors == (f"eks-devices: {tmp_path}/x.eks-devices.json: cannot be read: {message}\n")


def test_a_huge_file_is_not_read(tmp_path: Path, report: Reporter):
    with (tmp_path / "x.eks-devices.json").open("wb") as file:
        file.truncate(1 << 40)

    code, _, errors = report(tmp_path)

    assert code == 1
    assert "is larger than 64 MiB" in errors


def test_a_file_without_permission_could_not_be_looked_at(
    tmp_path: Path, report: Reporter, monkeypatch: pytest.MonkeyPatch
):
    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    folder = write(tmp_path, {"a.eks-devices.json": plan_file()})
    monkeypatch.setattr(Path, "open", refused)  # nothing is unreadable for root

    code, _, errors = report(folder)

    assert code == 2
    assert "a.eks-devices.json: cannot be read: Permission denied" in errors


def test_a_nested_folder_without_permission_could_not_be_looked_at(
    tmp_path: Path, report: Reporter, monkeypatch: pytest.MonkeyPatch
):
    files = {"a.eks-devices.json": plan_file(), "assembly-b/b.eks-devices.json": plan_file()}
    folder, real = write(tmp_path, files), Path.iterdir

    def refused(self: Path) -> Any:
        if self.name == "assembly-b":
            raise PermissionError(13, "Permission denied")
        return real(self)

    monkeypatch.setattr(Path, "iterdir", refused)

    code, text, errors = report(folder)

    assert code == 2
    assert "Training/Cluster" in text
    assert errors == f"eks-devices: {folder}/assembly-b: cannot be read: Permission denied\n"


HOSTILE = "\x1b[31m\x1b]0;title\x07\r\nError:\u202e\u2028\ud800\x9b2J\x00"


def test_no_control_character_reaches_the_terminal(tmp_path: Path, report: Reporter):
    plan = copy.deepcopy(SMALL)
    group, device, driver = (
        plan["nodegroups"][0], plan["nodegroups"][1]["devices"][0], plan["drivers"][0]
    )  # fmt: skip
    group |= dict.fromkeys(("name", "instance_type", "ami_type"), HOSTILE)
    group["capacity"] = {"kind": HOSTILE, "reservation": HOSTILE}
    device |= {"owner": HOSTILE, "settings": {HOSTILE: HOSTILE}}
    driver |= {"owner": HOSTILE, "settings": {HOSTILE: HOSTILE}, "nodegroups": [HOSTILE]}
    group["taints"] = [{"key": HOSTILE, "value": HOSTILE, "effect": "NoSchedule"}]
    plan["kubernetes_version"] = HOSTILE
    plan["findings"].append({
        "code": HOSTILE, "severity": "info", "path": HOSTILE, "message": HOSTILE, "fix": HOSTILE
    })  # fmt: skip
    name = "\x1b[31m\n.eks-devices.json"
    artifact = name.removesuffix(".eks-devices.json")
    files = {"manifest.json": manifest(artifact), name: plan_file(plan, path=HOSTILE)}
    folder = write(tmp_path, files)

    for options in ((), ("--json",)):
        code, text, errors = report(folder, *options)

        assert code == 0
        assert (text + errors).replace("\n", "").isprintable()
    assert "\nError" not in report(folder)[1]


@pytest.mark.parametrize("width", ["1", "60", "80", "100", "140", "100000"])
def test_lines_fit_the_terminal_and_values_stay_whole(
    width: str, tmp_path: Path, report: Reporter, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", width)

    code, text, _ = report(write(tmp_path, {"a.eks-devices.json": plan_file(LARGE)}))

    assert code == 0
    assert all(value in text for value in ("p6e-gb200.36xlarge", "cr-0123456789abcdef0"))
    assert max(map(len, text.splitlines())) <= max(int(width), 60)


def test_a_value_without_end_is_cut(tmp_path: Path, report: Reporter):
    plan = changed("nodegroups.0.name", "x" * 1_000_000)

    _, text, _ = report(write(tmp_path, {"a.eks-devices.json": plan_file(plan)}))

    assert len(text) < 20_000


def test_the_report_is_there_within_a_quarter_of_a_second(tmp_path: Path, is_quick: Any):
    folder = write(tmp_path, {"a.eks-devices.json": plan_file(LARGE)})

    assert is_quick([*COMMAND, str(folder)], seconds=MAX_SECONDS, runs=RUNS)


def test_a_report_loads_no_data_and_no_framework(tmp_path: Path):
    folder = write(tmp_path, {"a.eks-devices.json": plan_file()})
    code = (
        "import sys; from eks_device_operations.cli import main; main(['plan', sys.argv[1]]); "
        "print(sorted(sys.modules.keys() & {'tomllib', 'boto3', 'jsii', 'aws_cdk', 'cdk8s'}))"
    )
    command = [sys.executable, "-c", code, str(folder)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)

    assert result.stdout.splitlines()[-1] == "[]"


def test_a_group_shows_when_its_nodes_come_and_what_else_ec2_may_start(
    tmp_path: Path, report: Reporter, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "1000")
    start = datetime(2026, 12, 5, 11, 30, tzinfo=UTC)
    block = Capacity.block("cr-0123456789abcdef0", start=start)
    late = NodegroupSpec(
        name="late", instance_type="p5.48xlarge", capacity=block, max_size=4, desired_size=2
    )
    mixed = NodegroupSpec(
        name="mixed",
        instance_type="g5.xlarge",
        alternative_instance_types=["g5.2xlarge", "g5.4xlarge"],
        max_size=2,
    )

    rows = [" ".join(line.split()) for line in text_of(report, tmp_path, late, mixed).splitlines()]

    assert any(
        row.startswith("late p5.48xlarge 0-4, 2 from 2026-12-05T11:30:00 UTC") for row in rows
    )
    assert any(row.startswith("mixed g5.xlarge or 2 more 0-2, starts with 0") for row in rows)
