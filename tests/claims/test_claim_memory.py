"""Amounts of memory that claims ask for."""

from __future__ import annotations

import pytest
from tests.hostile import LIST_TOKEN, NUMBER_TOKEN, TOKEN, Hostile, HostileText, Untouchable

from eks_devices.claims.syntax import memory_faults


@pytest.mark.parametrize("text", ["1Mi", "1048576", "1.5Gi", "2M", "1e7", "0.001Gi", "99Ei"])
def test_memory_from_a_mebibyte_on_is_fine(text):
    assert list(memory_faults(text, "m")) == []


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("1M", "OutOfRange"),
        ("1048575", "OutOfRange"),
        ("1023Ki", "OutOfRange"),
        ("0", "OutOfRange"),
        ("-10Gi", "OutOfRange"),
        ("10GB", "MalformedQuantity"),
        ("", "MalformedQuantity"),
        ("9" * 5000, "MalformedQuantity"),
        (10, "WrongType"),
        (None, "WrongType"),
        (b"10Gi", "WrongType"),
        (["10Gi"], "WrongType"),
        (Hostile(), "WrongType"),
        (HostileText("ten"), "MalformedQuantity"),
        (TOKEN, "TokenNotAllowed"),
        (LIST_TOKEN, "TokenNotAllowed"),
        (NUMBER_TOKEN, "TokenNotAllowed"),
    ],
)
def test_other_values_are_no_memory(value, code):
    (found,) = memory_faults(value, "m")

    assert (found.code, found.path) == (code, "m")
    assert found.got
    assert "1Mi" in found.allowed
    assert found.fix


def test_a_value_that_cannot_be_looked_at_is_no_memory():
    assert [one.code for one in memory_faults(Untouchable(), "m")] == ["WrongType"]
