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
# More than any device has, and more digits than its bytes have.
_MOST_MEMORY: Final = 4 * 2**40
_DIGITS: Final = 12
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


def amount_shown(amount: Fraction) -> str:
    """An amount as a quantity: in Mi where these are whole, else the number itself."""
    return f"{amount / MIB}Mi" if amount and amount % MIB == 0 else str(amount)


def amounts_meant(value: object) -> tuple[str, ...]:
    """The quantities that a text is meant for: "10GB" for 10Gi or 10G; empty where there is none.

    The first is in powers of 1024 where the text leaves that open.
    """
    whole = "".join(value.split()) if isinstance(value, str) else ""
    if amount_of(whole) is not None:
        return (whole,)
    found = _BYTES.fullmatch(whole)
    if found is None:
        return ()
    number, unit, binary = found.groups()
    twos, tens = f"{number}{unit.upper()}i", f"{number}{unit.upper().replace('K', 'k')}"
    return (twos,) if binary else (twos, tens)


def bytes_meant(name: str, number: str) -> str:
    """The quantity that a number without a unit is meant for; empty where it may be bytes.

    "80" of a memory is 80Gi, and "81920" is 81920Mi: no device has so few bytes.

    Args:
        name: What there is an amount of.
        number: What is written.
    """
    if not name.casefold().endswith("memory") or not number.isdecimal() or len(number) > _DIGITS:
        return ""
    units = (unit for unit in ("Gi", "Mi", "Ki") if int(number) * _factor(unit) < _MOST_MEMORY)
    return next((f"{number}{one}" for one in units if 0 < int(number) < MIB * 2**10), "")


def amount_meant(value: object, *, otherwise: str = "a number with its unit, such as 10Gi") -> str:
    """What to write for what is no quantity, or less than nothing.

    Args:
        value: What is written.
        otherwise: What to write where it is near to no quantity.
    """
    amount = quantity_of(value)
    if amount is not None and amount < 0:
        return "write an amount of 0 or more"
    many = amounts_meant(value) or (otherwise,)
    return f"write {', or '.join(many)}" + " for powers of 1000" * (len(many) > 1)
