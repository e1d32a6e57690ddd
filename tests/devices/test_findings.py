"""Findings, and the error that carries them."""

import copy
import pickle

import pytest
from tests.hostile import Hostile, HostileText

from eks_devices import EksDevicesError, Finding, Severity
from eks_devices.findings import fault, info, meant, raise_faults, shown, warning
from eks_devices.typecheck import path_step

FAULT = fault(
    "TooManyEfaInterfaces",
    "nodegroups.a.efa",
    "g6e.12xlarge has 1 EFA interfaces",
    got=2,
    allowed="0 to 1",
    fix="ask for fewer",
    source="https://example.com",
)


def test_a_fault_in_one_line():
    assert str(FAULT) == (
        "nodegroups.a.efa: g6e.12xlarge has 1 EFA interfaces; got 2; allowed: 0 to 1; "
        "fix: ask for fewer [TooManyEfaInterfaces]"
    )


def test_what_is_empty_is_left_out():
    told = info("Told", "here", "so it is")

    assert str(told) == "here: so it is [Told]"
    assert told.to_dict() == {
        "code": "Told",
        "severity": "info",
        "path": "here",
        "message": "so it is",
    }


def test_a_warning_has_no_value_that_was_got():
    warned = warning("Warned", "here", "take care", fix="look", source="somewhere")

    assert warned == Finding(
        code="Warned",
        severity=Severity.WARNING,
        path="here",
        message="take care",
        fix="look",
        source="somewhere",
    )


def test_a_fault_as_plain_values():
    assert FAULT.to_dict() == {
        "code": "TooManyEfaInterfaces",
        "severity": "error",
        "path": "nodegroups.a.efa",
        "message": "g6e.12xlarge has 1 EFA interfaces",
        "fix": "ask for fewer",
        "source": "https://example.com",
        "got": "2",
        "allowed": "0 to 1",
    }


def test_an_error_of_one_fault_is_its_line():
    error = EksDevicesError([FAULT])

    assert isinstance(error, ValueError)
    assert error.faults == (FAULT,)
    assert str(error) == str(FAULT)


def test_an_error_of_more_is_a_list():
    assert str(EksDevicesError([FAULT, FAULT])) == f"2 faults:\n  - {FAULT}\n  - {FAULT}"


def pickled(error: EksDevicesError) -> EksDevicesError:
    again: EksDevicesError = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    return again


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, pickled])
def test_an_error_can_be_sent_to_another_process(clone):
    error = EksDevicesError([FAULT, FAULT])

    again = clone(error)

    assert type(again) is EksDevicesError
    assert again.faults == error.faults
    assert str(again) == str(error)


def test_no_faults_raise_nothing():
    raise_faults(iter(()))


def test_faults_are_raised_together():
    with pytest.raises(EksDevicesError) as caught:
        raise_faults(one for one in [FAULT, FAULT])

    assert caught.value.faults == (FAULT, FAULT)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\nb", r"'a\nb'"),
        (None, "None"),
        (Hostile(), "<Hostile>"),
        pytest.param(10**6000, "<int>", id="a huge number"),
        ("x" * 118, f"'{'x' * 118}'"),
        ("x" * 119, f"'{'x' * 116}..."),
    ],
)
def test_a_value_is_shown_short(value: object, text: str):
    assert shown(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        ("a b", "a b"),
        (Severity.ERROR, "error"),
        ("", "''"),
        ("a\n", r"'a\n'"),
        ("a\u202eb", r"'a\u202eb'"),
        (7, "7"),
        (Hostile(), "<Hostile>"),
        ("x" * 121, f"'{'x' * 116}..."),
    ],
)
def test_a_value_in_a_path(value: object, text: str):
    assert path_step(value) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("max_sizes", "did you mean max_size or min_size?"),
        ("maxSize", "did you mean max_size?"),
        ("MAX-SIZE", "did you mean max_size?"),
        ("colour", ""),
        ("", ""),
        (7, ""),
        (None, ""),
        (b"max_size", "did you mean max_size?"),
        (Hostile(), ""),
        (HostileText("labls"), "did you mean labels?"),
        pytest.param("max_size" * 100_000, "", id="a long one"),
    ],
)
def test_what_is_alike_may_be_meant(name: object, text: str):
    assert meant(name, ["max_size", "min_size", "labels"]) == text
