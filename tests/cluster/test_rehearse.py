"""Workloads of files, placed on the nodes of a plan by the real control plane."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eks_device_operations.cli import main
from eks_device_operations.rehearse.files import read_items
from eks_device_operations.rehearse.rehearsal import Rehearsal, rehearse_on
from eks_device_operations.rehearse.words import by_group
from eks_devices import DeviceRequest, GpuSharing, Mechanism, ResourceClaimTemplate
from eks_devices.plans import PLAN_FILE_SCHEMA, PLAN_FILE_SUFFIX

HERE = Path(__file__).parent / "workloads"
CASES = Path(__file__).parents[1] / "workload_check" / "cases"
TYPES = ("p5.48xlarge", "p4d.24xlarge", "trn2.48xlarge", "inf2.48xlarge")
SLICED = GpuSharing.time_slicing(replicas=4, rename=True)
DRA, PLUGIN = Mechanism.DRA, Mechanism.DEVICE_PLUGIN


@pytest.fixture(scope="module")
def found(shared, spec, planned):
    """What became of the workloads of three files on two nodes by DRA and three by plugin."""
    plan = planned(
        spec("p5", "p5.48xlarge", mechanism=DRA), spec("g6e", "g6e.12xlarge", mechanism=PLUGIN)
    )
    claim = ResourceClaimTemplate(
        name="of-the-plan", namespace="train", requests=[DeviceRequest.efa(2)]
    )
    files = ("plain.yaml", "claims.yaml", "expanded.yaml")
    rehearsal = Rehearsal(
        plan=plan,
        items=read_items([str(HERE / file) for file in files]).items,
        claims=[claim.to_dict(kubernetes_version="1.34")],
        nodes={"p5": 2, "g6e": 3},
        seconds=60,
    )
    found = rehearse_on(shared.api, rehearsal, kubelet_version="v1.34.9")
    shared.tally["workloads rehearsed"] += len(found.results)
    assert found.in_time
    return found


def of(found, name):
    return next(one for one in found.results if one.workload.item.name == name)


def bound(found, name):
    return [(one.group, dict(one.devices), one.count) for one in of(found, name).bound]


def reasons(found, name):
    (pending,) = of(found, name).pending
    return pending.count, dict(by_group(pending.obstacles, found.fleet)) or pending.message


def test_workloads_by_plugins_and_without_devices(found):
    assert bound(found, "allreduce") == [("g6e", {"nvidia.com/gpu": 4}, 2), ("ordinary", {}, 1)]
    assert bound(found, "over-quota") == [("g6e", {"nvidia.com/gpu": 1}, 1)]
    assert of(found, "over-quota").missing == 1
    assert "exceeded quota: team" in of(found, "over-quota").why_missing
    half = of(found, "half-in-quota")
    assert (sum(one.count for one in half.bound), half.missing) == (1, 1)
    assert "exceeded quota: team" in half.why_missing
    assert sum(one.count for one in of(found, "in-order").bound) == 3
    assert sum(one.count for one in of(found, "everywhere").bound) == 2 + 3 + 2


def test_kinds_without_a_controller_here(found):
    counts = {"pytorch": 3, "ray": 3, "lws": 4, "jobset": 4, "train": 2, "cron": 1}

    assert {name: sum(one.count for one in of(found, name).bound) for name in counts} == counts


def test_what_is_not_sent_or_not_taken(found):
    refused = {one.item.name: one for one in found.sent.refusals}
    assert refused.keys() == {"not-equal", "misspelt", "half-in-quota"}
    assert refused["not-equal"].line == 26
    assert "must be equal to nvidia.com/gpu limit of 2" in refused["not-equal"].message
    assert 'unknown field "spec.replica"' in refused["misspelt"].message
    assert [one.item.name for one in found.sent.passed_over] == ["elsewhere"]
    spaces = [f"namespace {name}" for name in ("bench", "kinds", "team", "train")]
    assert found.sent.made == [*spaces, "ServiceAccount default/keeper"]
    assert not found.is_fine


def test_workloads_with_claims_beside_the_check(found):
    assert bound(found, "fills-two-nodes") == [("p5", {"gpu.nvidia.com": 4}, 4)]
    count, why = reasons(found, "fills-two-nodes")
    assert (count, why["p5"]) == (1, "cannot allocate all claims")
    assert bound(found, "planned") == [("p5", {"dra.net": 2}, 1)]
    verdicts = {
        name: of(found, name).verdicts[0][0].status for name in ("fills-two-nodes", "nowhere")
    }
    assert verdicts == {"fills-two-nodes": "feasible", "nowhere": "infeasible"}
    _, why = reasons(found, "no-template")
    assert why == "there is no ResourceClaimTemplate forgotten in namespace train"
    assert {one.contradictions for one in found.results} == {()}


@pytest.fixture(scope="module")
def judged(start, spec, planned):
    """What became of the cases of `eks-devices check`, on nodes of both mechanisms."""
    plan = planned(
        *(
            spec(f"{name}-{way}".replace(".", "-"), name, mechanism=way)
            for name in TYPES
            for way in (DRA, PLUGIN)
            if (name, way) != ("inf2.48xlarge", DRA)
        ),
        spec("sliced", "g6e.12xlarge", mechanism=PLUGIN, gpu_sharing=SLICED),
    )
    items = read_items([str(CASES)]).items
    nodes = {group.name: 6 for group in plan.nodegroups}
    rehearsal = Rehearsal(plan=plan, items=items, nodes=nodes, seconds=90)
    with start() as world:
        found = rehearse_on(world.api, rehearsal, kubelet_version="v1.34.9")
        world.tally["workloads rehearsed"] += len(found.results)
    assert found.in_time
    return found


def test_check_and_scheduler_agree_on_every_case(judged):
    groups = {
        one.workload.item.name: {each.group for each in one.bound} - {"ordinary"}
        for one in judged.results
    }
    serving = {
        one.workload.item.name: {
            verdict.nodegroup
            for verdicts in one.verdicts
            for verdict in verdicts
            if verdict.status == "feasible"
        }
        for one in judged.results
    }

    assert all(groups[name] <= serving[name] for name in groups)
    assert {name for name in groups if groups[name]} == {name for name in serving if serving[name]}
    assert sum(map(bool, groups.values())) == 6
    assert {one.contradictions for one in judged.results} == {()}
    assert {one.item.name for one in judged.sent.refusals} == {"broken-on-purpose", "job"}


@pytest.fixture
def assembly(tmp_path, spec, planned):
    plan = planned(spec("g6e", "g6e.12xlarge", mechanism=PLUGIN))
    clusters = [{"path": "Stack/Cluster", "plan": plan.to_dict()}]
    file = tmp_path / f"Stack{PLAN_FILE_SUFFIX}"
    file.write_text(json.dumps({"schema": PLAN_FILE_SCHEMA, "clusters": clusters}))
    return str(file)


def test_the_command_tells_of_evicted_pods_and_leaves_nothing(
    assembly, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    file = str(HERE / "priorities.yaml")

    code = main(["rehearse", file, "--plan", assembly, "--nodes", "g6e=1", "--json"])

    found = json.loads(capsys.readouterr().out)
    assert (code, found["in_time"], found["refused"]) == (1, True, [])
    assert found["kubernetes"].startswith("v1.34.")
    low, first = found["workloads"]
    assert first["bound"] == [{"group": "g6e", "count": 1, "devices": {"nvidia.com/gpu": 4}}]
    assert (low["bound"], [one["count"] for one in low["pending"]]) == ([], [2])
    assert not list(tmp_path.glob("eks-devices-rehearse-*"))


@pytest.mark.parametrize("in_a_hurry", [False, True])
@pytest.mark.parametrize(("end", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_one_that_is_ended_leaves_no_process_and_no_folder(
    assembly, tmp_path, end, code, in_a_hurry
):
    own = tmp_path / "own"
    own.mkdir()
    command = [sys.executable, "-m", "eks_device_operations", "rehearse"]
    # What runs in the background of a shell ignores the signal, and so would what it starts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [*command, str(HERE / "priorities.yaml"), "--plan", assembly],
        env=os.environ | {"TMPDIR": str(own)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    signal.signal(signal.SIGINT, before)
    deadline = time.monotonic() + 30
    while not whole_plane(own) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert whole_plane(own)

    process.send_signal(end)
    # Who is in a hurry presses the keys until the folder is gone.
    while in_a_hurry and process.poll() is None and list(own.iterdir()):
        time.sleep(0.02)
        process.send_signal(end)
    _, said = process.communicate(timeout=30)

    assert process.returncode in ((code, -end) if in_a_hurry else (code,)), said
    assert running_in(own) == []
    assert list(own.iterdir()) == []


def whole_plane(folder):
    """Whether etcd, API server, controllers and scheduler run, each beside its keeper."""
    return len(running_in(folder)) >= 8


def running_in(folder):
    """The processes that have the folder among their arguments."""
    found = []
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = one.read_bytes()
        except OSError:
            continue
        if str(folder).encode() in words:
            found.append(one.parent.name)
    return found
