"""`eks-devices instances`, and what holds for every verb of the command."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eks_device_operations import instances
from eks_device_operations.cli import main
from eks_device_operations.instances import facts
from eks_devices import (
    AcceleratedInstanceType,
    EksDevicesError,
    NodegroupPlan,
    NodegroupSpec,
    plan_nodegroup,
)
from eks_devices.findings import fault

MAX_SECONDS = 0.25
RUNS = 25
COMMAND = [sys.executable, "-m", "eks_device_operations"]
TITLES = ["TYPE", "CHIPS", "MEMORY", "VCPUS", "EFA", "PODS", "CAPACITY", "AMI", "TYPE", "MECHANISM"]


@pytest.fixture(autouse=True)
def _wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    settings = {"capture_output": True, "text": True, **options}
    return subprocess.run([*COMMAND, *arguments], check=False, **settings)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command that finds nothing wrong prints."""
    assert main(arguments) == 0
    output = capsys.readouterr()
    assert output.err == ""
    return output.out


def test_every_type_with_data_has_a_row(capsys: pytest.CaptureFixture[str]):
    lines = printed(capsys, "instances").splitlines()
    rows = lines[1 : lines.index("")]

    assert lines[0].split() == TITLES
    assert sorted(row.split()[0] for row in rows) == [
        one.name for one in AcceleratedInstanceType.all()
    ]
    assert len(rows) == 83
    assert all(name in " ".join(lines[-2:]) for name in AcceleratedInstanceType.announced())


@pytest.mark.parametrize(
    "row",
    [
        "trn1n.32xlarge 16 x Trainium 32 GiB 128 16 198 on-demand, spot AL2023_x86_64_NEURON dra",
        "p6e-gb200.36xlarge 4 x GB200 - 144 4 - capacity-block AL2023_ARM_64_NVIDIA dra",
        "g6f.large 1/8 x L4 2.8 GiB 2 - 20 on-demand, spot AL2023_x86_64_NVIDIA dra",
    ],
)
def test_a_row_tells_what_matters(row: str, capsys: pytest.CaptureFixture[str]):
    lines = printed(capsys, "instances").splitlines()

    assert row in [" ".join(line.split()) for line in lines]


def test_a_row_tells_that_the_device_plugin_is_the_default(capsys: pytest.CaptureFixture[str]):
    lines = printed(capsys, "instances", "--family", "inf1").splitlines()

    assert all(line.endswith("AL2023_x86_64_NEURON  device-plugin") for line in lines[1:5])


def test_a_family_is_listed_small_sizes_first(capsys: pytest.CaptureFixture[str]):
    lines = printed(capsys, "instances", "--family", "trn1").splitlines()

    assert [line.split()[0] for line in lines[1:3]] == ["trn1.2xlarge", "trn1.32xlarge"]
    assert lines[4].startswith("2 types.")


def test_a_family_matches_exactly(capsys: pytest.CaptureFixture[str]):
    text = printed(capsys, "instances", "--family", "trn2")

    assert "trn2.48xlarge" in text
    assert "trn2u.48xlarge" not in text


def test_a_family_with_efa_only_is_listed(capsys: pytest.CaptureFixture[str]):
    text = printed(capsys, "instances", "--family", "hpc7a")

    assert "hpc7a.96xlarge" in text
    assert "AL2023_x86_64_STANDARD" in text
    assert "A plan of a type without CHIPS needs efa=True" in text


def test_the_list_of_accelerated_types_says_nothing_of_types_without(
    capsys: pytest.CaptureFixture[str],
):
    assert "efa=True" not in printed(capsys, "instances")


def test_a_type_with_efa_only_is_planned_as_it_is_told(capsys: pytest.CaptureFixture[str]):
    name = "hpc7a.96xlarge"
    document = json.loads(printed(capsys, "instances", name, "--json"))
    told = document["instance_types"][0]["defaults"]

    def planned(**options: Any) -> NodegroupPlan:
        spec = NodegroupSpec(name="hpc", instance_type=name, max_size=1, **options)
        return plan_nodegroup(spec, kubernetes_version=told["kubernetes_version"])

    with pytest.raises(EksDevicesError, match="NoDevices"):
        planned()
    plan = planned(**told["required_options"])

    assert told["required_options"] == {"efa": True}
    assert told["mechanisms"] == {one.device_type: one.mechanism for one in plan.devices}


def test_a_family_of_announced_names_is_listed(capsys: pytest.CaptureFixture[str]):
    text = printed(capsys, "instances", "--family", "trn3")

    assert text == "Announced, names without data so far: trn3.48xlarge.\n"


def test_a_named_type_is_told_in_full(capsys: pytest.CaptureFixture[str]):
    text = printed(capsys, "instances", "trn2.48xlarge")

    assert text.splitlines()[:11] == [
        "trn2.48xlarge",
        "  devices              16 x Trainium2 (AWS), 96 GiB each, 8 NeuronCores each",
        "  node                 192 vCPUs, 2048 GiB, x86_64, 7600 GB of local disks",
        "  capacity             capacity-block, on-demand, spot",
        "  logical NeuronCores  sizes 1, 2; default 2",
        "  EFA                  16 (on unless a node group says otherwise)",
        "  EFA layout           card/device:type 0/0:interface 0/1:efa-only 1-15/0:efa-only",
        "  default              neuron by dra, efa by dra (Kubernetes 1.37, AL2023)",
        "  AMI type             AL2023_x86_64_NEURON",
        "  Pods                 51",
        "  cards                0-15: 2 interfaces (interface, efa, efa-only), 200 Gbps",
    ]
    assert "neuron  dra            bottlerocket  unproven" in text
    assert "efa     device-plugin  al2023        yes" in text


def test_the_modes_of_an_ultraserver_are_not_its_size(capsys: pytest.CaptureFixture[str]):
    text = printed(capsys, "instances", "trn2u.48xlarge")

    assert "UltraServer          4 instances, in modes of 1 or 2 or 4 nodes" in text
    assert "UltraServer" not in printed(capsys, "instances", "trn2.48xlarge")


def test_an_ultraserver_type_tells_its_domain_and_its_weak_sources(
    capsys: pytest.CaptureFixture[str],
):
    text = printed(capsys, "instances", "p6e-gb200.36xlarge")

    assert "UltraServer  9 or 18 instances" in text
    assert "EFA          4, 8 at most" in text
    assert "0/0:interface 1,5,9,13/0:efa-only" in text
    assert "unverified   put together from documentation" in text
    assert "compute-domain  device-plugin  al2023        no" in text


@pytest.mark.parametrize("name", ["g7.2xlarge", "trn1.32xlarge"])
def test_a_default_with_a_warning_tells_it(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "1000")
    document = json.loads(printed(capsys, "instances", name, "--json"))
    (warning,) = document["instance_types"][0]["defaults"]["warnings"]

    lines = [" ".join(line.split()) for line in printed(capsys, "instances", name).splitlines()]

    assert f"warning {warning['message']}; {warning['fix']}" in lines


def test_a_type_without_a_default_plan_tells_why(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def refused(*_: object, **__: object) -> None:
        raise EksDevicesError([fault("Odd", "x", "no AMI", got=1, allowed="2", fix="wait")])

    monkeypatch.setattr(facts, "plan_nodegroup", refused)

    assert "warning     no AMI; wait" in printed(capsys, "instances", "p5.48xlarge")
    assert "p5.48xlarge" in printed(capsys, "instances")


def test_a_type_with_efa_only_is_found_by_name(capsys: pytest.CaptureFixture[str]):
    text = printed(capsys, "instances", "c5n.18xlarge")

    assert "no accelerator that Kubernetes on EKS manages" in text
    assert "EFA         1 (off unless a node group says efa=True; a plan needs it)" in text
    assert "default     with efa=True: efa by dra (Kubernetes" in text


def test_names_are_told_once_and_in_their_order(capsys: pytest.CaptureFixture[str]):
    names = ("p5.48xlarge", "g5.xlarge", "p5.48xlarge")
    lines = printed(capsys, "instances", *names).splitlines()

    assert [line for line in lines if line in names] == ["p5.48xlarge", "g5.xlarge"]


def test_every_type_can_be_told_in_full(capsys: pytest.CaptureFixture[str]):
    every = (*AcceleratedInstanceType.all(), *AcceleratedInstanceType.efa_only())
    text = printed(capsys, "instances", *(one.name for one in every))

    assert text.count("  cards  ") == len(every)
    assert text.isascii()


def test_json_has_every_fact(capsys: pytest.CaptureFixture[str]):
    document = json.loads(printed(capsys, "instances", "--json"))
    found = {one["name"]: one for one in document["instance_types"]}

    assert document["schema"] == "eks-devices/instances/v1"
    assert len(found) == 83
    assert document["announced"] == list(AcceleratedInstanceType.announced())
    assert found["p5.48xlarge"]["accelerator"]["count"] == 8
    assert found["p5.48xlarge"]["efa"]["count"] == 32
    assert found["p5.48xlarge"]["defaults"]["required_options"] == {}
    assert found["p5.48xlarge"]["defaults"]["mechanisms"] == {"gpu": "dra", "efa": "dra"}
    assert len(found["p5.48xlarge"]["network_cards"]) == 32
    assert found["trn2u.48xlarge"]["support"][0]["verdict"] == "yes"


def test_json_of_names_holds_those_alone(capsys: pytest.CaptureFixture[str]):
    document = json.loads(printed(capsys, "instances", "c5n.18xlarge", "--json"))

    assert [one["name"] for one in document["instance_types"]] == ["c5n.18xlarge"]
    assert document["instance_types"][0]["accelerator"] is None
    assert document["announced"] == []


@pytest.mark.parametrize("width", [70, 80, 100, 120, 140])
@pytest.mark.parametrize("names", [(), ("p6e-gb200.36xlarge", "trn2.48xlarge")])
def test_lines_fit_the_terminal_and_names_stay_whole(
    width: int,
    names: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("COLUMNS", str(width))

    text = printed(capsys, "instances", *names)

    assert max(map(len, text.splitlines())) <= width
    for name in names or [one.name for one in AcceleratedInstanceType.all()]:
        assert name in text


def test_a_narrow_terminal_says_what_it_left_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "80")

    assert "Left out, too wide here: AMI TYPE, CAPACITY" in printed(capsys, "instances")


BAD = [
    ([], "name a verb: instances, plan, check, rehearse or refresh"),
    (["instance"], "invalid choice: 'instance'"),
    ([""], "invalid choice: ''"),
    (["\x1b[31mred"], "invalid choice"),
    (["--no-such-option"], "unrecognized arguments: --no-such-option"),
    (["instances", "--jso"], "unrecognized arguments: --jso"),
    (["instances", "--\x1b[31m"], "unrecognized arguments: --\\x1b[31m"),
    (["instances", "--family"], "expected one argument"),
    (["instances", "--json=yes"], "ignored explicit argument 'yes'"),
    (["instances", "--family", "trn9"], "no family 'trn9'"),
    (["instances", "--family", "trn9"], "families with accelerators: g4dn, g5,"),
    (["instances", "--family", ""], "no family ''"),
    (["instances", "--family", "TRN2"], "no family 'TRN2'"),
    (["instances", "--family", "trn"], "no family 'trn'"),
    (["instances", "--family", "m5"], "no family 'm5'"),
    (["instances", "--family", "\x1b[2J"], "no family '\\x1b[2J'"),
    (["instances", "trn2.48xlarg"], "did you mean 'trn2.48xlarge'"),
    (["instances", "TRN2.48XLARGE"], "did you mean 'trn2.48xlarge'"),
    (["instances", "p5"], "no instance type with accelerators or EFA has this name"),
    (["instances", "m5.large"], "no instance type with accelerators or EFA has this name"),
    (["instances", ""], "no instance type with accelerators or EFA has this name"),
    (["instances", "x" * 5000], "no instance type with accelerators or EFA has this name"),
    (["instances", "p5.48xlarge\n"], "did you mean 'p5.48xlarge'"),
    (["instances", "p5\x1b[31m.48xlarge"], "no instance type with accelerators or EFA"),
    (["instances", "\udcff"], "no instance type with accelerators or EFA has this name"),
    (["instances", "trn3.48xlarge"], "only the name is public so far"),
    (["instances", "trn2.48xlarge", "nope"], "got 'nope'"),
    (["instances", "trn2.48xlarge", "--family", "p5"], "is not of the family 'p5'"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_a_bad_input_is_told_and_nothing_is_printed(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
):
    code = main(arguments)

    output = capsys.readouterr()
    assert code == 2
    assert message in output.err
    assert output.out == ""
    assert output.err.replace("\n", "").isprintable()


def test_every_bad_name_is_told_at_once(capsys: pytest.CaptureFixture[str]):
    assert main(["instances", "one", "p5.48xlarge", "two"]) == 2

    lines = capsys.readouterr().err.splitlines()
    assert ["got 'one'" in lines[0], "got 'two'" in lines[1], len(lines)] == [True, True, 2]


@pytest.mark.parametrize(
    "arguments", [[], ["instances"], ["plan"], ["refresh"], ["refresh", "instance-types"]]
)
def test_help_is_there_for_every_verb(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    text = printed(capsys, *arguments, "--help")

    assert text.startswith(" ".join(["usage: eks-devices", *arguments[:1]]))
    assert "exit codes: 0 fine" in " ".join(text.split())


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]):
    assert printed(capsys, "--version").startswith("eks-devices ")


def test_an_interrupt_ends_with_130(monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(instances, "show_instances", interrupted)

    assert main(["instances"]) == 130


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [("instances", "--json"), ("--help",), ("plan", "--help")])
def test_a_reader_that_goes_away_is_no_failure(arguments: tuple[str, ...], unbuffered: str):
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as stream:
        result = run(
            *arguments,
            capture_output=False,
            stdout=stream,
            stderr=subprocess.PIPE,
            env=environment,
        )

    assert result.stderr == ""
    assert result.returncode == 0


def test_output_that_cannot_be_written_is_told():
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        result = run("instances", capture_output=False, stdout=full, stderr=subprocess.PIPE)

    assert result.returncode == 2
    assert result.stderr == ("eks-devices: the output cannot be written: No space left on device\n")


def test_a_closed_output_is_no_failure(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdout", None)

    assert main(["instances"]) == 0


def test_an_encoding_without_a_character_gets_its_number():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = run("instances", "p5\u00fc.48xlarge", env=environment)

    assert result.returncode == 2
    assert "p5\\xfc.48xlarge" in result.stderr


def test_a_pipe_gets_one_line_for_each_type():
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    result = run("instances", "--family", "p5", env=environment, stdin=subprocess.DEVNULL)

    row = "p5.4xlarge 1 x H100 80 GiB 16 1 89 capacity-block, on-demand, spot"
    assert " ".join(result.stdout.splitlines()[1].split()).startswith(row)


def test_no_verb_loads_what_it_does_not_need():
    code = (
        "import sys; from eks_device_operations.cli import main; main(['instances']); "
        "names = {name.partition('.')[0] for name in sys.modules}; "
        "print(sorted(names & {'aws_cdk', 'boto3', 'botocore', 'cdk8s', 'constructs', 'jsii'}))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert result.stdout.splitlines()[-1] == "[]"


def test_the_list_is_there_within_a_quarter_of_a_second(is_quick: Any):
    assert is_quick([*COMMAND, "instances"], seconds=MAX_SECONDS, runs=RUNS)


def test_what_selectors_read_is_listed_with_its_driver_type_and_values(capsys):
    lines = [
        " ".join(one.split()) for one in printed(capsys, "instances", "p5.48xlarge").splitlines()
    ]
    own = "gpu.nvidia.com device.attributes['gpu.nvidia.com']"
    assert f"{own}.architecture string Hopper" in lines
    assert f"{own}.driverVersion version known on the node" in lines
    assert "dra.net device.attributes['dra.net'].numaNode int 0, 1" in lines

    (record,) = json.loads(printed(capsys, "instances", "p5.48xlarge", "--json"))["instance_types"]
    assert {
        "driver": "gpu.nvidia.com",
        "expression": "device.capacity['gpu.nvidia.com'].memory",
        "type": "quantity",
        "values": ["81152Mi"],
    } in record["published"]


def test_a_type_without_devices_by_dra_lists_nothing_to_read(capsys):
    (record,) = json.loads(printed(capsys, "instances", "inf1.xlarge", "--json"))["instance_types"]
    assert record["published"] == []
    assert "READ" not in printed(capsys, "instances", "inf1.xlarge")
