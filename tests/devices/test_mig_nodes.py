"""What cuts the GPUs of nodes: a service on AL2023, run here against a stand-in of the driver, and
settings of Bottlerocket."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from eks_devices._data import read_json, read_toml
from eks_devices._nested import nested
from eks_devices.instance_types import AcceleratedInstanceType
from eks_devices.mig import (
    Mig,
    MigStrategy,
    mig_bottlerocket_faults,
    mig_bottlerocket_release,
    mig_bottlerocket_settings,
    mig_commands,
)
from eks_devices.published import mig_profiles
from eks_devices.releases import release_number
from eks_devices.user_data.bottlerocket_toml import write_settings

A100, H100, B300 = "p4d.24xlarge", "p5.48xlarge", "p6-b300.48xlarge"
RTX_4500, RTX_6000 = "g7.12xlarge", "g7e.48xlarge"
UNIFORM = Mig.uniform("1g.10gb")

# Its state is files in $STATE: gpus (how many), current and pending (MIG mode), needs_reset, busy
# (how often enabling fails), refuses, cut (partitions), calls.
NVIDIA_SMI = """#!/bin/bash
cd "$STATE"
echo "$*" >> calls
gpus=$(cat gpus)
each() { for ((i = 0; i < gpus; i++)); do echo "$1"; done; }
case "$*" in
  -L)
    [[ -e unloaded ]] && exit 9
    for ((i = 0; i < gpus; i++)); do
      echo "GPU $i: NVIDIA (UUID: GPU-$i)"
      [[ -s cut ]] && sed 's/.*/  MIG &     Device  0: (UUID: MIG-0)/' cut
    done ;;
  *mode.current*) each "$(cat current)" ;;
  *mode.pending*) each "$(cat pending)" ;;
  "-mig 1")
    if [[ -s busy ]]; then sed -i 1d busy; echo "In use by another client"; exit 1; fi
    echo Enabled > pending
    [[ -e needs_reset ]] || echo Enabled > current ;;
  "mig -dci" | "mig -dgi") [[ -s cut ]] || exit 6; [[ $2 == -dgi ]] && : > cut ;;
  "mig -cgi"*)
    [[ -e refuses ]] && exit 1
    [[ -s cut ]] && exit 3
    [[ $(cat current) == Enabled ]] || exit 4
    tr , '\\n' <<< "$3" > cut; [[ -e loses ]] && sed -i 1d cut ;;
  *) exit 2 ;;
esac
exit 0
"""
SLEEP = """#!/bin/bash
if [[ $1 == infinity ]]; then kill $PPID; fi
"""
SYSTEMCTL = """#!/bin/bash
echo "systemctl $*" >> "$STATE/calls"
"""


class Node:
    """A node whose user data ran, with the service that it left."""

    def __init__(self, root: Path, mig: Mig, name: str) -> None:
        self.root, self.state = root, root / "state"
        for folder in ("state", "bin", "usr/local/sbin", "etc/systemd/system", "var/lib"):
            (root / folder).mkdir(parents=True)
        tools = (("nvidia-smi", NVIDIA_SMI), ("sleep", SLEEP), ("systemctl", SYSTEMCTL))
        for tool, text in tools:
            (root / "bin" / tool).write_text(text)
            (root / "bin" / tool).chmod(0o755)
        self.set(gpus="2", current="Disabled", pending="Disabled", cut="", calls="")
        lines = ["set -euo pipefail", *mig_commands(mig, name)]
        script = "\n".join(lines)
        for folder in ("/usr/local/sbin", "/etc/systemd", "/var/lib"):
            script = script.replace(folder, f"{root}{folder}")
        assert self.bash(script).returncode == 0
        self.after_user_data = self.calls()
        self.set(calls="")

    def set(self, **files: str) -> None:
        for name, text in files.items():
            (self.state / name).write_text(f"{text}\n" if text else "")

    def bash(self, script: str) -> subprocess.CompletedProcess[str]:
        path = f"{self.root}/bin:{os.environ['PATH']}"
        return subprocess.run(
            ["/bin/bash", "-c", script],
            env={"PATH": path, "STATE": str(self.state)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def unit(self) -> str:
        (unit,) = (self.root / "etc/systemd/system").glob("*.service")
        return unit.read_text()

    def boot(self) -> subprocess.CompletedProcess[str]:
        """What systemd does before it starts the kubelet."""
        (command,) = [
            line.removeprefix("ExecStart=")
            for line in self.unit().splitlines()
            if line.startswith("ExecStart=")
        ]
        return self.bash(f"exec {command}")

    def calls(self) -> list[str]:
        return (self.state / "calls").read_text().splitlines()

    def cut(self) -> list[str]:
        return (self.state / "cut").read_text().split()


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path, UNIFORM, H100)


def test_user_data_only_leaves_a_service_that_the_kubelet_requires(node: Node):
    (drop_in,) = (node.root / "etc/systemd/system/kubelet.service.d").iterdir()
    (unit,) = (node.root / "etc/systemd/system").glob("*.service")

    assert node.after_user_data == ["systemctl daemon-reload"]
    assert drop_in.read_text().splitlines()[1:] == [f"Requires={unit.name}", f"After={unit.name}"]
    assert "Before=kubelet.service" in node.unit()
    assert "[Install]" not in node.unit()


def test_a_node_is_cut_before_it_joins(node: Node):
    assert node.boot().returncode == 0
    assert node.cut() == ["1g.10gb"] * 7
    assert f"mig -cgi {','.join(['1g.10gb'] * 7)} -C" in node.calls()


def test_partitions_are_created_in_the_order_of_the_layout(tmp_path: Path):
    node = Node(tmp_path, Mig.layout("3g.40gb", "2g.20gb", "1g.10gb+me"), H100)

    assert node.boot().returncode == 0
    assert "mig -cgi 3g.40gb,2g.20gb,1g.10gb+me -C" in node.calls()


def test_a_node_that_is_cut_is_left_alone(node: Node):
    node.boot()
    node.set(calls="")

    assert node.boot().returncode == 0
    assert not any(call.startswith(("mig ", "-mig")) for call in node.calls())


def test_a_node_is_cut_again_after_a_boot(node: Node):
    node.boot()
    node.set(current="Disabled", pending="Disabled", cut="")

    assert node.boot().returncode == 0
    assert node.cut() == ["1g.10gb"] * 7


def test_a_node_that_somebody_cut_otherwise_is_cut_anew(node: Node):
    node.set(current="Enabled", pending="Enabled", cut="3g.40gb")

    assert node.boot().returncode == 0
    assert node.cut() == ["1g.10gb"] * 7


def test_gpus_that_need_a_reset_boot_once_more(tmp_path: Path):
    node = Node(tmp_path, Mig.uniform("1g.5gb"), A100)
    node.set(needs_reset="yes")

    assert node.boot().returncode != 0
    assert "systemctl --no-block reboot" in node.calls()
    assert node.cut() == []
    node.set(current="Enabled", calls="")
    assert node.boot().returncode == 0
    assert node.cut() == ["1g.5gb"] * 7
    assert not any("reboot" in call for call in node.calls())
    assert list((node.root / "var/lib").iterdir()) == []


def test_a_node_does_not_boot_again_and_again(tmp_path: Path):
    node = Node(tmp_path, Mig.uniform("1g.5gb"), A100)
    node.set(needs_reset="yes")
    node.boot()
    node.set(calls="")
    second = node.boot()

    assert second.returncode == 1
    assert "MIG mode cannot be enabled" in second.stderr
    assert not any("reboot" in call for call in node.calls())


def test_gpus_that_are_busy_for_a_moment_are_cut(node: Node):
    node.set(busy="1\n2\n3")

    assert node.boot().returncode == 0
    assert node.cut() == ["1g.10gb"] * 7


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        ({"unloaded": "yes"}, "the driver shows no GPU"),
        ({"gpus": "0"}, "the driver shows no GPU"),
        ({"busy": "\n".join("abcdefghijklmnop")}, "MIG mode cannot be enabled"),
        ({"refuses": "yes"}, "the GPUs cannot be cut into 1g.10gb,"),
        ({"loses": "yes"}, "the GPUs are not cut into 1g.10gb,"),
    ],
)
def test_a_node_that_cannot_be_cut_does_not_join_and_says_why(
    node: Node, trouble: Mapping[str, str], said: str
):
    node.set(**trouble)
    done = node.boot()

    assert done.returncode == 1
    assert said in done.stderr
    assert "does not join" in done.stderr
    assert not any("reboot" in call for call in node.calls())


@pytest.mark.parametrize(
    ("mig", "name"),
    [
        (Mig.dynamic(), H100),
        (Mig.uniform("1g.10gb", prepared=True), H100),
        (Mig.layout("3g.40gb", prepared=True), H100),
        (UNIFORM, "trn2.48xlarge"),
    ],
)
def test_nobody_cuts_what_is_cut_or_cannot_be(mig, name):
    assert mig_commands(mig, name) == ()


def test_what_cuts_a_node_leaves_room_for_other_user_data():
    assert len("\n".join(mig_commands(UNIFORM, H100))) < 2500


@pytest.mark.parametrize(
    ("mig", "name", "key"),
    [
        (Mig.uniform("2g.10gb"), A100, "a100.40gb"),
        (Mig.uniform("1g.10gb"), "p4de.24xlarge", "a100.80gb"),
        (Mig.uniform("1g.10gb"), "p5.4xlarge", "h100.80gb"),
        (Mig.layout("3g.40gb", "3g.40gb"), H100, "h100.80gb"),
        (Mig.uniform("1g.35gb"), "p5en.48xlarge", "h200.141gb"),
        (Mig.uniform("7g.180gb"), "p6-b200.48xlarge", "b200.180gb"),
        (Mig.uniform("4g.135gb"), B300, "b300.269gb"),
        (Mig.uniform("1g.24gb"), RTX_6000, "rtxpro6000.96gb"),
    ],
)
def test_bottlerocket_is_told_the_profile_of_the_model(mig, name, key):
    instance = AcceleratedInstanceType.of(name)
    settings = nested(dict(mig_bottlerocket_settings(mig, name)))

    assert list(mig_bottlerocket_faults(mig, instance, "mig")) == []
    assert settings == {
        "settings": {
            "kubelet-device-plugins": {
                "nvidia": {
                    "device-partitioning-strategy": "mig",
                    "mig": {"profile": {key: mig.profiles[0]}},
                }
            }
        }
    }
    assert f'"{key}" = "{mig.profiles[0]}"' in write_settings(settings)


@pytest.mark.parametrize(
    ("mig", "name", "faults"),
    [
        (Mig.uniform("4g.40gb"), H100, ["MigProfileNotOnBottlerocket mig.profiles"]),
        (Mig.uniform("1g.10gb+me"), H100, ["MigProfileNotOnBottlerocket mig.profiles"]),
        (Mig.uniform("1g.24gb+gfx"), RTX_6000, ["MigProfileNotOnBottlerocket mig.profiles"]),
        (Mig.uniform("1g.16gb"), RTX_4500, ["MigProfileNotOnBottlerocket mig.profiles"]),
        (Mig.layout("3g.40gb"), H100, ["BottlerocketMigIsUniform mig.profiles"]),
        (Mig.layout("3g.40gb", "2g.20gb"), H100, ["BottlerocketMigIsUniform mig.profiles"]),
        (
            Mig.uniform("1g.10gb", strategy=MigStrategy.MIXED),
            H100,
            ["BottlerocketMigIsSingle mig.strategy"],
        ),
        (Mig.uniform("1g.10gb", prepared=True), H100, ["BottlerocketCutsItself mig.is_prepared"]),
        (
            Mig.uniform("4g.40gb", prepared=True, strategy=MigStrategy.MIXED),
            H100,
            [
                "BottlerocketCutsItself mig.is_prepared",
                "BottlerocketMigIsSingle mig.strategy",
                "MigProfileNotOnBottlerocket mig.profiles",
            ],
        ),
        (Mig.dynamic(), H100, []),
    ],
)
def test_what_bottlerocket_does_not_cut_is_told(mig, name, faults):
    instance = AcceleratedInstanceType.of(name)
    found = list(mig_bottlerocket_faults(mig, instance, "mig"))

    assert [f"{one.code} {one.path}" for one in found] == faults


@pytest.mark.parametrize("mig", [Mig.dynamic(), Mig.uniform("1g.10gb", prepared=True)])
def test_bottlerocket_is_told_nothing_where_it_cuts_nothing(mig):
    assert mig_bottlerocket_settings(mig, H100) == ()
    assert mig_bottlerocket_release(mig, H100) is None


@pytest.mark.parametrize(
    ("profile", "name", "release"),
    [
        ("2g.10gb", A100, "1.34.0"),
        ("1g.10gb", A100, "1.40.0"),
        ("1g.10gb", H100, "1.34.0"),
        ("1g.23gb", "p6-b200.48xlarge", "1.40.0"),
        ("1g.34gb", B300, "1.53.0"),
        ("1g.24gb", RTX_6000, "1.54.0"),
        ("1g.16gb", RTX_4500, None),
    ],
)
def test_the_first_release_of_bottlerocket_that_cuts_so(profile, name, release):
    assert mig_bottlerocket_release(Mig.uniform(profile), name) == release


def test_bottlerockets_profiles_are_those_of_the_gpus():
    facts = read_toml("bottlerocket_gpu.toml")
    profiles = read_json("published_devices.json")["migProfiles"]

    for model, row in facts["mig"].items():
        assert set(row["profiles"]) <= set(profiles[model]["profiles"])
        assert set(row.get("profiles_since", {})) < set(row["profiles"])
    assert set(facts["mig"]["NVIDIA H200"]["profiles"]) < set(mig_profiles("p5en.48xlarge") or ())


def test_bottlerockets_settings_have_values_and_releases():
    keys = {"key", "type", "since", "source", "checked"}
    others = {"default", "values", "values_since", "least", "most", "note", "table", "judged_by"}

    for row in read_toml("bottlerocket_gpu.toml")["setting"]:
        assert keys <= set(row) <= keys | others
        assert len(release_number(row["since"])) == 3
        assert set(row.get("values_since", {})) <= set(row.get("values", []))
        assert row["type"] != "text" or row["default"] in row["values"]
        assert row["type"] != "number" or row["least"] <= row["default"] <= row.get("most", 99)
