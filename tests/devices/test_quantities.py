"""Amounts as Kubernetes writes them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_devices.quantities import amount_meant, amount_of

AMOUNTS = {
    "0": 0,
    "1": 1,
    "1.": 1,
    ".5": Fraction(1, 2),
    "+12": 12,
    "-3": -3,
    "1n": Fraction(1, 10**9),
    "1u": Fraction(1, 10**6),
    "1500m": Fraction(3, 2),
    "2k": 2000,
    "2M": 2 * 10**6,
    "2G": 2 * 10**9,
    "2T": 2 * 10**12,
    "2P": 2 * 10**15,
    "2E": 2 * 10**18,
    "2Ki": 2048,
    "1.5Mi": 1572864,
    "10Gi": 10737418240,
    "1Ti": 2**40,
    "1Pi": 2**50,
    "1Ei": 2**60,
    "1e3": 1000,
    "1E3": 1000,
    "1e+06": 10**6,
    "12e-1": Fraction(6, 5),
}


@pytest.mark.parametrize(("text", "amount"), AMOUNTS.items(), ids=list(AMOUNTS))
def test_a_quantity_amounts_to_its_number_times_its_suffix(text, amount):
    assert amount_of(text) == amount


def test_exponents_of_any_size_are_read_at_once():
    assert amount_of("1e100") == 10**100
    large, small = amount_of("9e999999999"), amount_of("1e-999999999")
    assert large is not None
    assert small is not None
    assert 10**100 < large < 10**300
    assert 0 < small < Fraction(1, 10**100)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("10GB", "write 10Gi, or 10G for powers of 1000"),
        ("10 Gi", "write 10Gi"),
        ("1kb", "write 1Ki, or 1k for powers of 1000"),
        ("5GiB", "write 5Gi"),
        ("ten", "write a number with its unit, such as 10Gi"),
        (True, "write a number with its unit, such as 10Gi"),
        ("500 m", "write 500m"),
        ("1PB", "write 1Pi, or 1P for powers of 1000"),
        ("1.2.3GB", "write a number with its unit, such as 10Gi"),
        ("-4", "write an amount of 0 or more"),
        (-4, "write an amount of 0 or more"),
    ],
)
def test_what_people_write_for_units_is_told_as_kubernetes_has_it(text, fix):
    assert amount_meant(text) == fix


NONE = [
    "",
    " ",
    ".",
    "Gi",
    "1 Gi",
    "1gi",
    "1K",
    "1ki",
    "1mi",
    "1B",
    "1GB",
    "1e",
    "e3",
    "0x10",
    "1_0",
]
NONE += ["1Mi\n", "1,5Gi", "--1", "1e3.5", "NaN", "inf", "\u0661Gi", "1" * 41, "9" * 5000]


@pytest.mark.parametrize("text", NONE)
def test_what_kubernetes_does_not_read_is_no_quantity(text):
    assert amount_of(text) is None


@given(st.integers(min_value=0, max_value=10**30))
def test_a_suffix_multiplies(number):
    assert amount_of(f"{number}Mi") == 2**20 * number
    assert amount_of(f"{number}M") == 10**6 * number
    assert amount_of(f"{number}m") == Fraction(number, 1000)
