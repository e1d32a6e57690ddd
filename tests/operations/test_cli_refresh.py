"""`eks-devices refresh instance-types` on the command line; test_refresh.py holds its rules."""

import gzip
import importlib.util
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eks_device_operations._outcome import OperationError
from eks_device_operations.cli import main
from eks_device_operations.refresh import command
from eks_devices import instance_records

COMMITTED = Path(instance_records.data_folder())
FILES = ("instance_types.json", "efa_types.json")

Refresher = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def recorded() -> str:
    """The answer that moto recorded, from which the committed files are made."""
    spec = importlib.util.find_spec("moto")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "ec2/resources/instance_types.json.gz")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with the committed files."""
    data = tmp_path / "data"
    data.mkdir()
    for name in FILES:
        (data / name).write_bytes((COMMITTED / name).read_bytes())
    return data


@pytest.fixture
def refresh(capsys: pytest.CaptureFixture[str]) -> Refresher:
    def run(*arguments: object) -> tuple[int, str, str]:
        code = main(["refresh", "instance-types", *map(str, arguments)])
        output = capsys.readouterr()
        return code, output.out, output.err

    return run


def make_stale(folder: Path) -> None:
    path = folder / "instance_types.json"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if '"g5.xlarge":' not in line), encoding="utf-8")


def test_the_committed_data_is_up_to_date(recorded: str, refresh: Refresher):
    assert refresh("--from", recorded, "--check") == (
        0, "up to date: 79 accelerated, 260 with EFA only\n", ""
    )  # fmt: skip


def test_a_check_of_stale_data_ends_with_1_and_writes_nothing(
    recorded: str, folder: Path, refresh: Refresher
):
    make_stale(folder)
    before = (folder / "instance_types.json").read_bytes()

    code, text, errors = refresh("--from", recorded, "--check", "--data-folder", folder)

    assert (code, errors) == (1, "")
    assert text == "stale: instance_types.json\nadded: g5.xlarge\n"
    assert (folder / "instance_types.json").read_bytes() == before


def test_a_refresh_writes_and_ends_with_0(recorded: str, folder: Path, refresh: Refresher):
    make_stale(folder)

    code, text, _ = refresh("--from", recorded, "--data-folder", folder)

    assert code == 0
    assert text.startswith("written: instance_types.json\nadded: g5.xlarge\n")
    for name in FILES:
        assert (folder / name).read_bytes() == (COMMITTED / name).read_bytes()


def test_json_tells_what_changed(recorded: str, folder: Path, refresh: Refresher):
    make_stale(folder)

    code, text, _ = refresh("--from", recorded, "--check", "--json", "--data-folder", folder)

    assert code == 1
    assert json.loads(text) == {
        "schema": "eks-devices/refresh/v1",
        "check": True,
        "stale_files": ["instance_types.json"],
        "added": ["g5.xlarge"],
        "removed": [],
        "altered": [],
    }


def test_regions_are_passed_on_in_both_spellings(
    refresh: Refresher, monkeypatch: pytest.MonkeyPatch
):
    asked: list[str] = []

    def ask(*, regions: list[str], **_: Any) -> None:
        asked.extend(regions)
        raise OperationError("enough")

    monkeypatch.setattr(command, "refresh_instance_types", ask)

    refresh("--region", "us-east-1", "eu-west-1", "--region", "us-west-2", "--check")

    assert asked == ["us-east-1", "eu-west-1", "us-west-2"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "one of the arguments --from --region is required"),
        (["--check"], "one of the arguments --from --region is required"),
        (["--from"], "expected one argument"),
        (["--region"], "expected at least one argument"),
        (["--from", "a.json", "--region", "us-east-1"], "not allowed with argument --from"),
        (["--from", "a.json", "b.json"], "unrecognized arguments: b.json"),
        (["--from", "missing.json"], "'missing.json' cannot be read"),
        (["--from", ""], "'' cannot be read"),
        (["--from", "."], "'.' cannot be read"),
        (["--from", "a\0b"], "cannot be read: embedded null byte"),
        (["--from", "\x1b[2J"], "'\\x1b[2J' cannot be read"),
        (["--from", "missing.json", "--check"], "'missing.json' cannot be read"),
        (["--from", "a.json", "--data-folder", "missing"], "'missing' is no folder that can be"),
        (["--from", "a.json", "--data-folder", "a\0b"], "is no folder that can be written"),
        (
            ["--from", "a", "--check", "--data-folder", "gone"],
            "'gone' is no folder that can be read",
        ),
        (["--region", "us-east-1", "--check"], "EC2 in 'us-east-1' cannot be asked"),
        (["--region", "", "--check"], "EC2 in '' cannot be asked"),
        (["--region", "no region", "--check"], "EC2 in 'no region' cannot be asked"),
        (["--region", "\x1b[31m", "--check"], "EC2 in '\\x1b[31m' cannot be asked"),
    ],
)
def test_what_cannot_be_looked_at_ends_with_2(
    arguments: list[str],
    message: str,
    refresh: Refresher,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.chdir(tmp_path)

    code, text, errors = refresh(*arguments)

    assert (code, text) == (2, "")
    assert message in errors
    assert errors.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"\xff", "is not JSON"),
        (b"[" * 200_000, "is nested too deeply"),
        (b"\x1f\x8b\x00", "is not JSON"),
        (gzip.compress(b"[]", mtime=0), "got one without entries"),
        (b"null", "got NoneType"),
        (b'{"InstanceTypes": [null]}', "expected entries with an InstanceType"),
        (b'{"InstanceTypes": [{"InstanceType": "\\u001b[31m"}]}', "expected entries"),
        (b'{"InstanceTypes": [{}], "NextToken": "more"}', "only a part"),
    ],
)
def test_an_answer_that_is_wrong_ends_with_1_and_writes_nothing(
    content: bytes, message: str, tmp_path: Path, folder: Path, refresh: Refresher
):
    answer = tmp_path / "answer.json"
    answer.write_bytes(content)

    code, text, errors = refresh("--from", answer, "--data-folder", folder)

    assert (code, text) == (1, "")
    assert message in errors
    assert errors.replace("\n", "").isprintable()
    for name in FILES:
        assert (folder / name).read_bytes() == (COMMITTED / name).read_bytes()


def test_a_pipe_is_refused_at_once(refresh: Refresher, tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    code, text, errors = refresh("--from", pipe, "--check")

    assert (code, text) == (2, "")
    assert "cannot be read: it is not a file" in errors


def test_a_device_is_refused_at_once(refresh: Refresher):
    assert refresh("--from", "/dev/zero", "--check")[0] == 2


def test_missing_types_end_with_1_and_are_written_only_when_allowed(
    recorded: str, folder: Path, tmp_path: Path, refresh: Refresher
):
    answer = tmp_path / "answer.json"
    infos = json.loads(gzip.decompress(Path(recorded).read_bytes()))
    del infos["g5.xlarge"]
    answer.write_text(json.dumps(infos), encoding="utf-8")
    arguments = ("--from", answer, "--data-folder", folder)

    code, text, errors = refresh(*arguments)
    assert (code, text) == (1, "")
    assert "say --allow-removals" in errors
    assert "eks-devices: missing: g5.xlarge\n" in errors
    assert (folder / FILES[0]).read_bytes() == (COMMITTED / FILES[0]).read_bytes()

    assert refresh(*arguments, "--check")[0] == 1
    assert refresh(*arguments, "--check", "--allow-removals")[0] == 1

    code, text, errors = refresh(*arguments, "--allow-removals")
    assert (code, errors) == (0, "")
    assert text.startswith("written: instance_types.json\nREMOVED: g5.xlarge\n")
    assert refresh(*arguments, "--check")[0] == 0


def test_an_answer_that_unpacks_without_end_is_refused(refresh: Refresher, tmp_path: Path):
    bomb = tmp_path / "answer.json.gz"
    bomb.write_bytes(gzip.compress(bytes(65 << 20), compresslevel=1))

    code, _, errors = refresh("--from", bomb, "--check")

    assert code == 1
    assert "is larger than 64 MiB" in errors


def test_a_folder_that_cannot_be_written_names_the_way_out(
    recorded: str, refresh: Refresher, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere

    code, _, errors = refresh("--from", recorded)

    assert code == 2
    assert "belongs to a checkout of eks-devices" in errors
    assert "--data-folder" in errors


def test_a_missing_boto3_names_the_extra(refresh: Refresher, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "boto3", None)

    code, _, errors = refresh("--region", "us-east-1", "--check")

    assert code == 2
    assert 'in a checkout of eks-devices run pip install ".[operations]"' in errors
    assert "install the extra 'operations' from there" in errors
    assert not re.search(r"install ['\"]?eks-devices", errors)  # that name on PyPI is not ours


def test_what_to_refresh_must_be_known(capsys: pytest.CaptureFixture[str]):
    assert main(["refresh"]) == 2
    assert main(["refresh", "everything"]) == 2

    assert "WHAT" in capsys.readouterr().err
