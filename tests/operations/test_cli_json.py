"""With `--json` every verb writes one document, also where it could not look."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eks_device_operations.cli import main


@pytest.mark.parametrize(
    "arguments",
    [
        ["instances", "p5.49xlarge"],
        ["instances", "--family", "p55"],
        ["plan", "nowhere"],
        ["check", "pods.yaml", "--plan", "nowhere"],
        ["check", "nothing.yaml"],
        ["rehearse", "pods.yaml", "--plan", "nowhere"],
        ["rehearse", "empty"],
        ["rehearse", "broken.yaml"],
        ["refresh", "instance-types", "--from", "nothing.json"],
    ],
    ids=" ".join,
)
def test_what_could_not_be_looked_at_is_told_in_a_document(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    (tmp_path / "empty").mkdir()
    (tmp_path / "pods.yaml").write_text("kind: Pod")
    (tmp_path / "broken.yaml").write_text("kind: [")
    monkeypatch.chdir(tmp_path)

    code = main([*arguments, "--json"])
    output = capsys.readouterr()
    plain = main(arguments)
    told = capsys.readouterr()

    document = json.loads(output.out)
    assert document["schema"] == "eks-devices/error/v1"
    assert [f"eks-devices: {one}" for one in document["errors"]] == output.err.splitlines()
    assert (told.out, told.err, plain) == ("", output.err, code)
    assert code != 0


@pytest.mark.parametrize(
    "arguments",
    [[], ["chekc"], ["plan", "--cluster"], ["rehearse", "a", "--timeout", "no"], ["refresh"]],
    ids=" ".join,
)
def test_arguments_that_are_no_command_line_are_told_in_a_document_too(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
):
    code = main([*arguments, "--json"])
    output = capsys.readouterr()

    document = json.loads(output.out)
    assert (code, document["schema"]) == (2, "eks-devices/error/v1")
    (told,) = document["errors"]
    assert output.err.endswith(f"error: {told}\n")
    assert (main(arguments), capsys.readouterr().out) == (2, "")


@pytest.mark.parametrize(
    ("ending", "code"), [(KeyboardInterrupt(), 130), (SystemExit(143), 143)], ids=str
)
def test_what_a_signal_ends_is_told_in_a_document_too(
    ending: BaseException,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    def ends(*_: object, **__: object) -> None:
        raise ending

    monkeypatch.setattr("eks_device_operations.plan.show_plan", ends)

    assert main(["plan", "--json"]) == code
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "eks-devices/error/v1"
    assert main(["plan"]) == code
    assert capsys.readouterr().out == ""
