"""Finding the binaries of a control plane, and processes that fail: with scripts in their place."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

import pytest

from eks_device_operations._outcome import OperationError
from eks_device_operations.control_plane import ControlPlane, find_binaries, wait_for
from eks_device_operations.control_plane.binaries import cache_folder, minors_here
from eks_device_operations.control_plane.processes import Process, free_ports, wait_until

NAMES = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")


def script(file, *lines):
    file.write_text("\n".join(("#!/bin/sh", *lines, "")), encoding="utf-8")
    file.chmod(0o755)


@pytest.fixture
def folder(tmp_path):
    """Four scripts that print a version and fail at everything else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in NAMES:
        script(
            folder / name,
            '[ "$1" = --version ] && { echo "Kubernetes v1.34.7"; exit 0; }',
            f'echo "{name} cannot listen"; exit 3',
        )
    return folder


def named(folder):
    return {"EKS_DEVICES_CONTROLPLANE": str(folder)}


def test_a_named_folder_is_taken_with_its_version(folder):
    found = find_binaries("1.34", named(folder))

    assert found.folder == folder
    assert found.version == "v1.34.7"
    assert found.path("etcd") == folder / "etcd"


def test_without_a_name_the_cache_is_asked(folder, tmp_path):
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    place = tmp_path / "cache" / "eks-devices" / "controlplane" / "1.34"
    assert cache_folder("1.34", environ) == place

    with pytest.raises(OperationError, match="build them, or set EKS_DEVICES_CONTROLPLANE"):
        find_binaries("1.34", environ)

    place.parent.mkdir(parents=True)
    folder.rename(place)
    assert find_binaries("1.34", environ).version == "v1.34.7"


def test_a_cache_in_the_home_folder_is_the_default():
    assert cache_folder("1.34", {}) == Path.home() / ".cache/eks-devices/controlplane/1.34"


def test_the_minors_of_the_cache_are_those_that_are_whole(folder, tmp_path):
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert minors_here(environ) == ()

    place = tmp_path / "cache" / "eks-devices" / "controlplane"
    for name in ("1.36", "1.9", "1.34", ".1.35-x", "bin"):
        shutil.copytree(folder, place / name)
    shutil.copytree(folder, place / "1.37")
    (place / "1.37" / "etcd").unlink()

    assert minors_here(environ) == ("1.9", "1.34", "1.36")


def test_a_named_folder_has_one_minor(folder):
    assert minors_here(named(folder)) == ("1.34",)
    (folder / "etcd").unlink()

    with pytest.raises(OperationError, match="lacks etcd"):
        minors_here(named(folder))


def test_every_missing_binary_is_named(folder):
    (folder / "etcd").unlink()
    (folder / "kube-scheduler").chmod(0o644)

    with pytest.raises(OperationError) as caught:
        find_binaries("1.34", named(folder))

    text = str(caught.value)
    assert f"EKS_DEVICES_CONTROLPLANE names {folder}" in text
    assert "lacks etcd, kube-scheduler (as executable files)" in text
    assert "unset EKS_DEVICES_CONTROLPLANE" in text


def test_a_named_folder_that_is_not_there_is_not_replaced_by_the_cache(tmp_path):
    with pytest.raises(OperationError, match="lacks etcd, kube-apiserver"):
        find_binaries("1.34", named(tmp_path / "nowhere"))


def test_one_binary_of_another_minor_is_refused(folder):
    script(folder / "kube-scheduler", 'echo "Kubernetes v1.33.0"')

    with pytest.raises(OperationError, match=r"kube-scheduler is v1\.33\.0; allowed: 1\.34"):
        find_binaries("1.34", named(folder))


def test_another_minor_is_refused(folder):
    with pytest.raises(OperationError, match=r"kube-apiserver is v1\.34\.7; allowed: 1\.36"):
        find_binaries("1.36", named(folder))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["exit 1"], "does not run on this machine"),
        (["echo hello"], "says 'hello', not a version"),
    ],
)
def test_a_binary_that_is_none_is_told(folder, lines, message):
    script(folder / "kube-apiserver", *lines)

    with pytest.raises(OperationError, match=message):
        find_binaries("1.34", named(folder))


def test_a_binary_for_another_machine_is_told(folder):
    (folder / "kube-apiserver").write_bytes(b"\x7fELF")

    with pytest.raises(OperationError, match="does not run on this machine"):
        find_binaries("1.34", named(folder))


def test_a_component_that_ends_is_told_with_its_log(folder, tmp_path):
    with (
        pytest.raises(OperationError) as caught,
        ControlPlane(find_binaries("1.34", named(folder)), tmp_path / "plane"),
    ):
        pass

    text = str(caught.value)
    assert "etcd ended before it was ready" in text
    assert "etcd cannot listen" in text
    assert (tmp_path / "plane" / "start-1" / "etcd.log").is_file()


def test_a_port_that_somebody_takes_is_tried_again(folder, tmp_path):
    script(folder / "etcd", "echo 'bind: address already in use'; exit 1")

    with (
        pytest.raises(OperationError, match="address already in use"),
        ControlPlane(find_binaries("1.34", named(folder)), tmp_path / "plane"),
    ):
        pass

    assert len(list((tmp_path / "plane").glob("start-*/etcd.log"))) == 3


def test_the_api_of_a_plane_that_does_not_run_is_refused(folder, tmp_path):
    plane = ControlPlane(find_binaries("1.34", named(folder)), tmp_path / "plane")

    with pytest.raises(OperationError, match="does not run"):
        _ = plane.api


def python(code):
    return [sys.executable, "-c", code]


def test_a_process_that_never_answers_is_told(tmp_path):
    process = Process("sleeper", python("import time; time.sleep(60)"), tmp_path / "log")
    try:
        with pytest.raises(OperationError, match="sleeper is not ready after 0 s"):
            wait_until(lambda: False, process, 0.1)
    finally:
        process.stop()
    assert process.has_ended()


def test_a_process_that_will_not_end_is_ended(tmp_path):
    stubborn = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('ready', flush=True); time.sleep(60)"
    )
    process = Process("stubborn", python(stubborn), tmp_path / "log")
    wait_for(lambda: process.last_lines() == "ready", "the process ignores requests to end")
    before = time.monotonic()

    process.stop()
    process.stop()

    assert time.monotonic() - before < 5


def test_the_data_of_a_process_goes_with_it(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "file").touch()
    process = Process("keeper of data", python("import time; time.sleep(60)"), tmp_path / "a")
    other = Process("owner", python("import time; time.sleep(60)"), tmp_path / "b", data=data)

    process.stop()
    assert data.exists()
    other.stop()
    assert not data.exists()


def test_the_end_of_a_log_is_short(tmp_path):
    process = Process("chatty", python("print(*range(1000), sep='\\n')"), tmp_path / "log")
    wait_for(process.has_ended, "the process ended")

    process.stop()
    assert process.last_lines().splitlines() == [str(number) for number in range(988, 1000)]


def test_free_ports_are_different():
    ports = free_ports(20)

    assert len(set(ports)) == 20
    assert all(1024 < port < 65536 for port in ports)


def test_waiting_says_for_what():
    with pytest.raises(TimeoutError, match="after 0 s, still waiting: rain"):
        wait_for(lambda: None, "rain", seconds=0.1)
    assert wait_for(lambda: "sun", "sun") == "sun"
