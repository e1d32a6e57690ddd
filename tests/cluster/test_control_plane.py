"""The control plane itself: that it is the real thing, and that nothing of it is left over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eks_device_operations.control_plane import (
    ApiError,
    ControlPlane,
    group_node,
    plain_node,
    wait_for,
)

STARTS = """
import signal, sys, time
from pathlib import Path
# A run in the background inherits that Control-C is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
from eks_device_operations.control_plane import ControlPlane, find_binaries
with ControlPlane(find_binaries("1.34"), Path(sys.argv[1])) as plane:
    print(*[process.pid for process in plane.processes], flush=True)
    time.sleep(600)
"""


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks where Linux shows processes")


def test_it_is_a_release_of_the_minor_and_starts_soon(start):
    before = time.monotonic()
    with start() as world:
        assert time.monotonic() - before < 20
        version = world.api.request("GET", "/version")

    assert (version["major"], version["minor"]) == ("1", "34")
    assert version["gitVersion"] == world.plane.version


def test_nobody_may_do_anything_without_a_role(shared):
    stranger = shared.api.as_user("stranger", "system:authenticated")

    for path in ("/api/v1/secrets", "/api/v1/nodes", "/apis/resource.k8s.io/v1/resourceslices"):
        with pytest.raises(ApiError, match="403 Forbidden"):
            stranger.request("GET", path)


def test_a_node_may_change_itself_and_no_other_node(shared):
    for name in ("one", "two"):
        shared.join_other(name)
    one = shared.api.as_user("system:node:one", "system:nodes")

    one.merge("/api/v1/nodes/one/status", {"status": {"capacity": {"example.com/x": "1"}}})
    with pytest.raises(ApiError, match="403 Forbidden"):
        one.merge("/api/v1/nodes/two/status", {"status": {"capacity": {"example.com/x": "1"}}})


def test_a_node_may_not_give_itself_a_label_that_is_kept_from_nodes(shared):
    """So every label of a plan is one that a kubelet may register with."""
    node = plain_node(
        "bold",
        instance_type="m7i.large",
        kubelet_version="v1.34.2",
        labels={"node-restriction.kubernetes.io/x": "y"},
    )

    with pytest.raises(ApiError, match="not allowed to set"):
        shared.kubelets.join(node)


def test_leases_are_renewed_and_the_node_is_ready(shared, planned, spec):
    (group,) = planned(spec("g6e", "g6e.12xlarge")).nodegroups
    (name,) = shared.join(group)
    path = f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{name}"
    first = shared.api.find(path)["spec"]["renewTime"]

    wait_for(
        lambda: shared.api.find(path)["spec"]["renewTime"] != first, "a fresh lease", seconds=15
    )

    node = shared.api.find(f"/api/v1/nodes/{name}")
    assert [one["status"] for one in node["status"]["conditions"] if one["type"] == "Ready"] == [
        "True"
    ]
    assert {one["key"] for one in node["spec"]["taints"]} == {"nvidia.com/gpu"}


def test_a_node_is_what_its_group_says(planned, spec):
    (group,) = planned(spec("p5", "p5.48xlarge", labels={"team": "x"})).nodegroups

    node = group_node(group, "n", kubelet_version="v1.34.2")

    labels = node["metadata"]["labels"]
    assert group.labels.items() <= labels.items()
    assert labels["team"] == "x"
    assert labels["node.kubernetes.io/instance-type"] == "p5.48xlarge"
    assert labels["kubernetes.io/arch"] == "amd64"
    assert node["status"]["allocatable"]["cpu"] == "192"
    assert node["status"]["allocatable"]["pods"] == str(group.max_pods)
    assert node["spec"]["taints"][0]["key"] == "nvidia.com/gpu"
    assert node["spec"]["providerID"].startswith("aws:///us-east-2a/i-")


def alive(pids):
    return {pid for pid in pids if is_alive(pid)}


def is_alive(pid):
    """Whether a process runs; one that ended and was not asked for yet does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def children(pids):
    found = set()
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").iterdir():
            found |= set(map(int, (task / "children").read_text(encoding="utf-8").split()))
    return found


@pytest.fixture
def running(binaries, tmp_path):
    """A program that runs a control plane, and the processes of that."""
    environment = os.environ | {"EKS_DEVICES_CONTROLPLANE": str(binaries.folder)}
    program = subprocess.Popen(
        [sys.executable, "-c", STARTS, str(tmp_path / "plane")],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        assert program.stdout is not None
        keepers = set(map(int, program.stdout.readline().split()))
        everything = keepers | children(keepers)
        assert len(everything) == 8
        assert alive(everything) == everything
        yield program, keepers, everything
    finally:
        program.kill()
        program.communicate()


@LINUX
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_an_aborted_run_leaves_no_process_and_no_data(running, tmp_path, how):
    program, _, everything = running

    program.send_signal(how)

    wait_for(lambda: not alive(everything), "every process ended", seconds=15)
    program.wait(timeout=15)
    assert not list(tmp_path.rglob("data"))


@LINUX
def test_a_keeper_that_is_killed_takes_its_process_along(running):
    _, keepers, everything = running

    for pid in keepers:
        os.kill(pid, signal.SIGKILL)

    wait_for(lambda: not alive(everything), "every process ended", seconds=15)


def test_data_goes_and_logs_stay(binaries, tmp_path):
    with ControlPlane(binaries, tmp_path / "plane") as plane:
        assert len(plane.processes) == 4

    logs = sorted(file.name for file in tmp_path.rglob("*.log"))
    assert logs == [
        "etcd.log",
        "kube-apiserver.log",
        "kube-controller-manager.log",
        "kube-scheduler.log",
    ]
    assert not list(tmp_path.rglob("data"))
    assert {file.stat().st_mode & 0o077 for file in tmp_path.rglob("keys/*")} == {0}
