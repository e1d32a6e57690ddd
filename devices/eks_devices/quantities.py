"""Kubernetes quantities: what a text such as 10Gi amounts to."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

MIB: Final = 2**20

_TENS: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_TWOS: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
# More digits than any amount needs are refused: a number of thousands of them is slow to read.
_FORM = re.compile(
    r"([+-]?)([0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})"
    r"([KMGTPE]i|[numkMGTPE]?|[eE][+-]?[0-9]{1,9})",
    re.ASCII,
)
# What people write for a unit, with a letter for it.
_BYTES: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)([kmgtpe])(i?)b?", re.ASCII | re.IGNORECASE)
# Exponents beyond these are as large, or as small, as any that is compared with.
_MOST_TENS: Final = 200


def amount_of(text: str) -> Fraction | None:
    """What a quantity amounts to, "1Ki" to 1024; None for what is no quantity.

    Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
    """
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    sign, number, suffix = found.groups()
    amount = Fraction(number) * _factor(suffix)
    return -amount if sign == "-" else amount


def quantity_of(value: object) -> Fraction | None:
    """What a number or a quantity of a manifest amounts to; None for what is neither."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    if isinstance(value, float):
        # The API server reads 2.0 as it reads "2".
        return amount_of(float.__repr__(value))
    return amount_of(value.strip()) if isinstance(value, str) else None


def count_of(value: object) -> int:
    """How many of something that is counted an amount is; 0 for what is no such number."""
    amount = quantity_of(value)
    return int(amount) if amount and amount > 0 and amount.denominator == 1 else 0


def _factor(suffix: str) -> Fraction:
    if suffix in _TWOS:
        return Fraction(2) ** _TWOS[suffix]
    if suffix in _TENS:
        return Fraction(10) ** _TENS[suffix]
    return Fraction(10) ** max(-_MOST_TENS, min(int(suffix[1:]), _MOST_TENS))


def amount_meant(value: object) -> str:
    """What to write for what is no quantity: "10GB" is meant for 10Gi, or for 10G."""
    amount, whole = quantity_of(value), "".join(value.split()) if isinstance(value, str) else ""
    if amount is not None and amount < 0:
        return "write an amount of 0 or more"
    if amount is None and amount_of(whole) is not None:
        return f"write {whole}"
    found = _BYTES.fullmatch(whole)
    if found is None:
        return "write a number with its unit, such as 10Gi"
    number, unit, binary = found.groups()
    twos, tens = f"{number}{unit.upper()}i", unit.upper().replace("K", "k")
    return f"write {twos}" if binary else f"write {twos}, or {number}{tens} for powers of 1000"


def nearest_amount(text: str) -> str:
    """The quantity that a text is, or may be meant for; empty where there is none."""
    if amount_of(text) is not None:
        return text
    found = _BYTES.fullmatch("".join(text.split()))
    return f"{found[1]}{found[2].upper()}i" if found else ""
