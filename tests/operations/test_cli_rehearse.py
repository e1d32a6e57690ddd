"""`eks-devices rehearse` as far as it goes without a control plane, and what it reports."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.cluster_plans import cluster_of

from eks_device_operations._outcome import OperationError
from eks_device_operations.cli import main
from eks_device_operations.rehearse import command
from eks_device_operations.rehearse.files import Item
from eks_device_operations.rehearse.fleet import node_objects, nodes_of
from eks_device_operations.rehearse.minors import nearest_binaries
from eks_device_operations.rehearse.rehearsal import Rehearsed
from eks_device_operations.rehearse.report import as_document, report
from eks_device_operations.rehearse.results import Seen, results
from eks_device_operations.rehearse.send import Refusal, Sent
from eks_device_operations.rehearse.standing import NodeFacts
from eks_device_operations.rehearse.watching import PodState
from eks_device_operations.rehearse.workloads import split
from eks_devices import Mechanism
from eks_devices.feasibility import Status, Verdict
from eks_devices.plans import PLAN_FILE_SCHEMA, PLAN_FILE_SUFFIX

PLAN = cluster_of({"instance_type": "p5.48xlarge", "mechanism": Mechanism.DRA})
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: c, image: i}]}
"""
NAMES = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a plan of two clusters and a manifest, and no control plane anywhere."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("EKS_DEVICES_CONTROLPLANE", raising=False)
    clusters = [{"path": path, "plan": PLAN.to_dict()} for path in ("One/C", "Two/C")]
    content = {"schema": PLAN_FILE_SCHEMA, "clusters": clusters}
    file = tmp_path / f"both{PLAN_FILE_SUFFIX}"
    file.write_text(json.dumps(content), encoding="utf-8")
    content["clusters"] = clusters[:1]
    file = tmp_path / f"one{PLAN_FILE_SUFFIX}"
    file.write_text(json.dumps(content), encoding="utf-8")
    (tmp_path / "pod.yaml").write_text(POD, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(folder, capsys):
    def run(*arguments, plan="one", files=("pod.yaml",)):
        named = [str(folder / one) for one in files]
        code = main(
            ["rehearse", *named, "--plan", f"{folder}/{plan}{PLAN_FILE_SUFFIX}", *arguments]
        )
        return code, capsys.readouterr().err

    return run


def binaries(folder, minor):
    folder.mkdir(parents=True)
    for name in NAMES:
        (folder / name).write_text(f"#!/bin/sh\necho Kubernetes v{minor}.7\n", encoding="utf-8")
        (folder / name).chmod(0o755)


def test_without_binaries_it_says_how_to_get_them(run):
    code, said = run()

    assert code == 2
    assert "no control plane of 1.36" in said
    assert "make controlplane MINOR=" in said
    assert "EKS_DEVICES_CONTROLPLANE" in said


def test_of_several_clusters_one_must_be_named(run):
    code, said = run(plan="both")

    assert code == 2
    assert "--cluster: One/C, Two/C" in said
    assert "no control plane" in run("--cluster", "Two/C", plan="both")[1]
    assert "no cluster 'X'" in run("--cluster", "X", plan="both")[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--nodes", "g0"), "expected GROUP=N"),
        (("--nodes", "g7=1"), "allowed: g0, ordinary"),
        (("--timeout", "0"), "--timeout"),
        (("--timeout", "nan"), "--timeout"),
        (("--timeout", "soon"), "--timeout"),
    ],
)
def test_arguments_are_judged_before_anything_starts(run, arguments, said):
    code, told = run(*arguments)

    assert code == 2
    assert said in told


@pytest.mark.parametrize(
    ("text", "line"), [("a: b", 1), ("apiVersion: v1\nkind: List\nitems:\n- null", 4)]
)
def test_files_are_judged_before_anything_starts(run, folder, text, line):
    (folder / "wrong.yaml").write_text(text, encoding="utf-8")

    code, said = run(files=("pod.yaml", "wrong.yaml"))

    assert code == 1
    assert f"wrong.yaml:{line}: this is no object of Kubernetes" in said


def test_a_folder_without_files_is_nothing_to_rehearse(run, folder):
    (folder / "none").mkdir()

    code, said = run(files=("none",))

    assert code == 2
    assert "none: has no file that ends in .yaml, .yml or .json" in said


def test_the_namespace_has_a_short_option_as_in_the_check(run):
    assert "no control plane" in run("-n", "train")[1]


def test_a_plan_that_is_not_there_is_told(run):
    code, said = run(plan="none")

    assert code == 2
    assert "plan" in said


def test_a_missing_extra_is_named(folder):
    hidden = "import sys; sys.modules['urllib3'] = None\n"
    code = "from eks_device_operations.cli import main\n"
    arguments = ["rehearse", f"{folder}/pod.yaml", "--plan", f"{folder}/one{PLAN_FILE_SUFFIX}"]

    done = subprocess.run(
        [sys.executable, "-c", f"{hidden}{code}sys.exit(main({arguments!r}))"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert 'pip install ".[controlplane,check]"' in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("there", "planned", "taken"),
    [
        (["1.34", "1.36"], "1.36", "1.36"),
        (["1.34", "1.36"], "1.35", "1.36"),
        (["1.34"], "1.37", "1.34"),
    ],
)
def test_the_nearest_control_plane_is_taken_and_said(tmp_path, there, planned, taken):
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    for minor in there:
        binaries(tmp_path / "eks-devices" / "controlplane" / minor, minor)

    found, note = nearest_binaries(planned, None, environ)

    assert found.version == f"v{taken}.7"
    assert (taken in note and planned in note) is (taken != planned)


def test_a_minor_that_is_asked_for_is_the_only_one(tmp_path):
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    binaries(tmp_path / "eks-devices" / "controlplane" / "1.34", "1.34")

    with pytest.raises(OperationError, match=r"of 1.36; there is 1.34"):
        nearest_binaries("1.34", "1.36", environ)


def test_a_named_folder_is_taken_whatever_its_minor(tmp_path):
    binaries(tmp_path / "mine", "1.35")

    found, note = nearest_binaries("1.34", None, {"EKS_DEVICES_CONTROLPLANE": f"{tmp_path}/mine"})

    assert found.version == "v1.35.7"
    assert "1.35" in note


FLEET = nodes_of(PLAN, {"g0": 2, "ordinary": 0})
NODES = {
    node["metadata"]["name"]: NodeFacts.of(node, each.name)
    for each in FLEET
    for node, *_ in node_objects(each, kubelet_version="v1.36.3")
}
ITEM = Item(
    file="jobs.yaml",
    content={
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a"},
        "spec": {"replicas": 4, "template": {"spec": {"containers": [{"name": "c"}]}}},
    },
)
SPEC = {"containers": [{"name": "c"}], "tolerations": [{"operator": "Exists"}]}
CANNOT = "0/2 nodes are available: {} cannot allocate all claims."


def state(name, *, node="", message="", claims=(), spec=SPEC):
    return PodState(
        workload=0,
        namespace="lab",
        name=name,
        node=node,
        reason="" if node or not message else "Unschedulable",
        message=message,
        spec=spec,
        claims=dict(claims) if isinstance(claims, dict) else {one: one for one in claims},
    )


def claim(node, count):
    devices = [
        {"driver": "gpu.nvidia.com", "pool": node, "device": f"gpu-{at}"} for at in range(count)
    ]
    return {"status": {"allocation": {"devices": {"results": devices}}}}


def rehearsed(
    *pods, status=Status.FEASIBLE, code="", claims=None, sent=None, item=ITEM, specs=1, **seen
):
    workloads, _ = split([item], namespace="lab")
    reason = "" if status == "feasible" else "why"
    verdict = Verdict(nodegroup="g0", status=status, code=code, reason=reason)
    found = Seen(nodes=NODES, pods=pods, claims=claims or {}, **seen)
    return Rehearsed(
        results=tuple(results(workloads, found, PLAN, {0: ((verdict,),) * specs})),
        sent=sent or Sent(),
        fleet=FLEET,
        in_time=True,
        seconds={"nodes": 1.0},
        check="",
    )


def text_of(found):
    return report(found, path="One/C", version="v1.36.3", width=1000)


def test_devices_of_bound_pods_and_groups_of_pending_ones_are_told():
    full = {("lab", one): claim(f"g0-{one}", 8) for one in ("0", "1")}
    found = rehearsed(
        state("a", node="g0-0", claims=["0"]),
        state("b", node="g0-1", claims=["1"]),
        state("c", message=CANNOT.format(2)),
        claims=full,
    )

    text = text_of(found)

    assert "Deployment lab/a (jobs.yaml): 2 of 4 Pods bound" in text
    assert "2 on g0, with 8 gpu.nvidia.com each" in text
    assert "g0: cannot allocate all claims" in text
    assert "the check says feasible" in text
    assert "1 Pod could not be made: their controller does not say why" in text
    assert "do not agree" not in text
    assert not found.is_fine


def test_under_words_that_name_no_node_the_check_is_told_of_each_group():
    found = rehearsed(state("a", message="CEL runtime error: no such key"), status=Status.ERROR)

    assert "    CEL runtime error: no such key\n    g0: the check says error: why" in text_of(found)


def test_what_the_check_says_of_pods_alike_is_told_once():
    quiet = rehearsed(state("a", message=CANNOT.format(2)), specs=2)
    failed = rehearsed(state("a", message="no such key"), status=Status.ERROR, specs=2)

    assert text_of(quiet).count("the check says feasible") == 1
    assert text_of(failed).count("g0: the check says error: why") == 1


def test_pods_that_wait_for_claims_of_their_own_for_one_reason_are_told_together():
    waiting = [
        state(name, message=f"claim lab/{name}-gpu-x7k2p: no such key", claims={"gpu": claimed})
        for name, claimed in (("a", "a-gpu-x7k2p"), ("b", "b-gpu-x7k2p"))
    ]
    found = rehearsed(*waiting, state("c", message="claim lab/shared: no such key"))

    (two, one) = sorted(as_json(found)["workloads"][0]["pending"], key=lambda one: -one["count"])
    assert (two["count"], two["message"]) == (2, "claim lab/a-gpu-x7k2p: no such key")
    assert one["count"] == 1


def test_a_stateful_set_is_said_to_wait_for_its_pod_without_a_node():
    ordered = Item(file="jobs.yaml", content=ITEM.content | {"kind": "StatefulSet"})

    text = text_of(
        rehearsed(state("a-0", node="g0-0"), state("a-1", message=CANNOT.format(2)), item=ordered)
    )

    why = "a StatefulSet makes one after the other, and a-1 has no node"
    assert f"2 Pods could not be made: {why}" in text


def test_what_the_check_and_the_scheduler_do_not_agree_on_is_told():
    bound = rehearsed(state("a", node="g0-0", claims=["0"]), status=Status.INFEASIBLE)
    refused = rehearsed(state("a", message=CANNOT.format(2)))

    assert "1 Pod is bound, and the check says infeasible: why" in text_of(bound)
    assert "refuses nodes of which nobody has devices" in text_of(refused)
    assert as_json(bound)["workloads"][0]["contradictions"]


def test_pods_that_get_a_node_and_that_a_driver_would_not_start_are_no_disagreement():
    bound = state("a", node="g0-0", claims=["0"])
    found = rehearsed(bound, status=Status.INFEASIBLE, code="PodNotStarted")

    assert as_json(found)["workloads"][0]["contradictions"] == []


@pytest.mark.parametrize("name", ["hugepages-2Mi", "hugepages-1Gi", "memory", "cpu"])
def test_what_no_empty_node_has_is_not_agreed_on_where_the_check_knows_how_much_that_is(name):
    containers = [{"name": "c", "resources": {"requests": {name: "20Ti"}}}]
    message = f"0/2 nodes are available: 2 Insufficient {name}."
    found = rehearsed(state("a", message=message, spec=SPEC | {"containers": containers}))

    told = "the check says that a node serves the Pod" in text_of(found)
    assert told is (name != "hugepages-1Gi")


def as_json(found):
    return json.loads(as_document(found, path="One/C", version="v1.36.3", width=100))


def test_a_document_holds_the_schedulers_own_words():
    message = CANNOT.format(2)
    found = as_json(rehearsed(state("a", message=message), state("b", node="g0-0")))

    (workload,) = found["workloads"]
    assert found["schema"] == "eks-devices/rehearsal/v1"
    assert found["nodes"][0] == {"group": "g0", "count": 2, "why": "as asked for"}
    assert workload["wanted"] == 4
    assert workload["bound"] == [{"group": "g0", "count": 1, "devices": {}}]
    assert workload["pending"][0]["message"] == message
    assert workload["pending"][0]["by_group"][0]["group"] == "g0"
    assert workload["check"][0][0]["status"] == "feasible"


def test_what_controllers_say_of_pods_they_cannot_make_is_told():
    failures = {("Deployment", "lab", "a"): "no PriorityClass with name x was found"}

    text = text_of(rehearsed(failures=failures))

    assert "4 Pods could not be made: no PriorityClass with name x was found" in text


def test_refusals_and_what_was_left_out_have_their_places():
    refusal = Refusal(item=ITEM, line=3, message="spec: Invalid value")
    sent = Sent(refusals=[refusal], passed_over=[refusal], made=["namespace lab"])

    found = rehearsed(sent=sent)
    text = text_of(found)

    assert text.count("jobs.yaml:3: Deployment a\n    spec: Invalid value") == 2
    assert "no file has them: namespace lab" in text
    assert "1 object refused" in text
    assert not found.is_fine


def test_evicted_pods_are_told():
    pods = [state(name, node="g0-0") for name in "abcd"]

    assert rehearsed(*pods).is_fine
    assert "1 Pod lost a node to Pods of higher priority" in text_of(
        rehearsed(*pods, evicted={0: 1})
    )
    assert not rehearsed(*pods, evicted={0: 1}).is_fine


def test_nothing_in_a_report_acts_on_a_terminal():
    nasty = Item(file="a\x1b[31m", content=ITEM.content | {"metadata": {"name": "n\x1b[2J\n"}})
    sent = Sent(refusals=[Refusal(item=nasty, line=1, message="\x1b]0;x\x07")])

    assert "\x1b" not in text_of(rehearsed(state("a", message="\x1b[0m"), sent=sent))


def ended_by(number: int) -> None:
    with command._ended_in_order():
        os.kill(os.getpid(), number)
        # The handler runs between two steps of the interpreter.
        time.sleep(1)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGHUP, 129), (signal.SIGTERM, 143)])
def test_a_rehearsal_that_is_told_to_end_says_by_which_signal(number: int, code: int) -> None:
    before = signal.signal(number, signal.SIG_DFL)
    try:
        with pytest.raises(SystemExit) as ended:
            ended_by(number)
        assert ended.value.code == code
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)


def test_a_signal_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with command._ended_in_order():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("word", ["0", "-1", "nan", "inf", "soon", "86401"])
def test_a_time_to_wait_that_is_none_is_told_with_what_it_may_be(
    word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rehearse", "x.yaml", f"--timeout={word}"]) == 2
    assert "expected seconds, more than 0 and at most 86400" in capsys.readouterr().err
