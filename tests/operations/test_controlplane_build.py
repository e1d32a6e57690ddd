"""When the binaries of the cluster tests are built, and what is said where they cannot be."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
# Stands for Go: it says what it was asked, and makes what a build would make.
GO = """#!/bin/sh
echo "$1" >>"$ASKED"
case "$1 $2" in
"list -m") [ -e "$OFFLINE" ] && { echo 'no route to host' >&2; exit 1; }; echo v1.34.99 ;;
"list -deps") printf 'a\\nb\\nc\\nd\\n' ;;
"build -v")
  [ -e "$BROKEN" ] && { echo '# a/b' >&2; echo 'a/b.go:1: undefined: x' >&2; exit 1; }
  for out; do case "$previous" in -o) made=$out ;; esac; previous=$out; done
  printf 'a\\nb\\nc\\nd\\n' >&2
  names="server kube-apiserver kube-controller-manager kube-scheduler"
  case "$*" in *-modfile=*) names=oracle ;; esac
  for name in $names; do
    echo new >"$made$name"; chmod +x "$made$name"
  done ;;
esac
"""


@pytest.fixture
def build(tmp_path):
    """Runs the build with a Go that only pretends, and with caches of its own."""
    path = tmp_path / "path"
    path.mkdir()
    go = path / "go"
    go.write_text(GO, encoding="utf-8")
    go.chmod(go.stat().st_mode | stat.S_IXUSR)

    def run(*arguments, go=True, module="controlplane", **environ):
        found = os.pathsep.join([str(path), "/usr/bin", "/bin"]) if go else str(tmp_path / "none")
        environment = {
            "PATH": found,
            "HOME": str(tmp_path),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "ASKED": str(tmp_path / "asked"),
            "BROKEN": str(tmp_path / "broken"),
            "OFFLINE": str(tmp_path / "offline"),
        }
        return subprocess.run(
            [sys.executable, "-m", f"tests.cluster.{module}.build", *arguments],
            cwd=ROOT,
            env=environment | environ,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def folder(tmp_path):
    return tmp_path / "cache" / "eks-devices" / "controlplane" / "1.34"


def test_it_builds_once_into_the_cache(build, tmp_path):
    first = build()

    assert first.returncode == 0, first.stderr
    assert "Kubernetes v1.34.99" in first.stdout
    assert "4 of 4 packages" in first.stdout
    assert {file.name for file in folder(tmp_path).iterdir()} == {*NAMES, "built-from"}
    asked = (tmp_path / "asked").read_text(encoding="utf-8")

    second = build()

    assert (second.returncode, second.stdout) == (0, "")
    assert (tmp_path / "asked").read_text(encoding="utf-8") == asked
    assert [one.name for one in folder(tmp_path).parent.iterdir()] == ["1.34"]


def test_another_minor_is_built_beside_it(build, tmp_path):
    done = build("1.36")

    assert done.returncode == 0, done.stderr
    assert (folder(tmp_path).parent / "1.36" / "etcd").is_file()


def test_a_minor_without_a_module_is_told(build):
    done = build("1.2")

    assert done.returncode == 2
    assert "no module of '1.2'; allowed: 1.34, 1.35, 1.36, 1.37" in done.stderr


def test_what_was_built_from_something_else_is_built_anew(build, tmp_path):
    build()
    (folder(tmp_path) / "built-from").write_text("something else", encoding="utf-8")
    (folder(tmp_path) / "etcd").write_text("old", encoding="utf-8")

    assert build().returncode == 0

    assert (folder(tmp_path) / "etcd").read_text(encoding="utf-8") == "new\n"


def test_a_build_that_fails_shows_why_and_leaves_what_was_there(build, tmp_path):
    build()
    (folder(tmp_path) / "built-from").write_text("older", encoding="utf-8")
    (tmp_path / "broken").touch()

    done = build()

    assert done.returncode == 2
    assert "undefined: x" in done.stderr
    assert (folder(tmp_path) / "built-from").read_text(encoding="utf-8") == "older"
    assert [one.name for one in folder(tmp_path).parent.iterdir()] == ["1.34"]


def test_modules_that_cannot_be_had_are_told(build, tmp_path):
    (tmp_path / "offline").touch()

    done = build()

    assert done.returncode == 2
    assert "no route to host" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(folder(tmp_path).parent.iterdir()) == []


def test_without_go_it_says_what_to_do(build):
    done = build(go=False)

    assert done.returncode == 2
    assert "There is no Go on this machine" in done.stderr
    assert "EKS_DEVICES_CONTROLPLANE" in done.stderr


def test_a_named_folder_is_used_and_nothing_is_built(build, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_text("#!/bin/sh\necho Kubernetes v1.34.1\n", encoding="utf-8")
        (folder / name).chmod(0o755)

    done = build(EKS_DEVICES_CONTROLPLANE=str(folder))

    assert done.returncode == 0
    assert f"The control plane v1.34.1 in {folder} is used" in done.stdout
    assert not (tmp_path / "cache").exists()


def test_a_named_folder_without_the_binaries_is_told(build, tmp_path):
    done = build(EKS_DEVICES_CONTROLPLANE=str(tmp_path))

    assert done.returncode == 2
    assert "lacks etcd, kube-apiserver" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_cache_that_cannot_be_made_is_told(build, tmp_path):
    (tmp_path / "file").touch()

    done = build(XDG_CACHE_HOME=str(tmp_path / "file"))

    assert done.returncode == 2
    assert "Not a directory" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_a_killed_build_left_goes_and_one_that_runs_stays(build, tmp_path):
    old, young = (folder(tmp_path).parent / name for name in (".1.34-old", ".1.34-young"))
    for left in (old, young):
        left.mkdir(parents=True)
    os.utime(old, (0, 0))

    assert build().returncode == 0

    assert not old.exists()
    assert young.exists()


def test_the_oracle_of_each_minor_is_built_beside_it(build, tmp_path):
    first = build(module="oracle")

    assert first.returncode == 0, first.stderr
    minors = sorted(folder(tmp_path).parents[1].glob("oracle/*"))
    assert [one.name for one in minors] == ["1.34", "1.35", "1.36", "1.37"]
    assert {file.name for one in minors for file in one.iterdir()} == {"oracle", "built-from"}

    assert build(module="oracle").stdout == ""
    # Nothing else is built anew when one is gone.
    (minors[1] / "oracle").unlink()
    again = build(module="oracle")
    assert again.stdout.count("Built the oracle") == 1
    assert str(minors[1]) in again.stdout


def test_the_oracle_of_one_minor_is_built_by_name(build, tmp_path):
    assert build("1.36", module="oracle").returncode == 0

    assert [one.name for one in folder(tmp_path).parents[1].glob("oracle/*")] == ["1.36"]


def test_an_oracle_that_cannot_be_built_is_told(build, tmp_path):
    without = build(module="oracle", go=False)
    (tmp_path / "broken").touch()
    broken = build(module="oracle")

    assert (without.returncode, broken.returncode) == (2, 2)
    assert "There is no Go on this machine, so the oracle" in without.stderr
    assert "EKS_DEVICES_ORACLE" in without.stderr
    assert "undefined: x" in broken.stderr


def test_named_oracles_are_used_and_nothing_is_built(build, tmp_path):
    oracle = tmp_path / "mine" / "1.36" / "oracle"
    oracle.parent.mkdir(parents=True)
    oracle.touch(mode=0o755)
    named = {"EKS_DEVICES_ORACLE": str(tmp_path / "mine")}

    found, lacking = build("1.36", module="oracle", **named), build(module="oracle", **named)

    assert (found.returncode, lacking.returncode) == (0, 2)
    assert "there is no oracle in" in lacking.stderr
    assert not (tmp_path / "cache").exists()
