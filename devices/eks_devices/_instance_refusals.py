"""Why a name is no instance type of the catalogue, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable

from . import instance_records as records
from .findings import Finding, fault
from .typecheck import is_token

_LONGEST_NAME = 64  # No EC2 name is longer than about 25 characters.
_MOST_GUESSES = 3
_ALIKE = 0.85  # Below this, an ordinary type such as m5.large would be "g5.xlarge".
_ALIKE_IN_FAMILY = 0.7
_NO_GUESS = (
    "take a name that 'eks-devices instances' lists; "
    "types without accelerators and EFA need no node group of this library"
)
_NO_EFA = (
    "use one of these sizes for EFA; types without accelerators and EFA need no node group of "
    "this library"
)
# Names that other sizes of such a family have, so that they are no misspelling.
_ORDINARY_SIZES = frozenset(
    ["medium", "large", "xlarge", "metal", *(f"{count}xlarge" for count in (2, 3, 4, 6, 8, 9, 12))]
    + [f"{count}xlarge" for count in (16, 18, 24, 32, 48, 96)]
)
_ALPHABET = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-")


def refusal(name: object, path: str) -> Finding:
    """The fault for a name that the catalogue does not have."""
    if not isinstance(name, str):
        return _wrong_type(name, path)
    if is_token(name):
        return _token(name, path)
    entry = records.announced().get(name)
    return _unknown(name, path) if entry is None else _announced(name, path, entry)


def _wrong_type(name: object, path: str) -> Finding:
    return fault(
        "WrongType",
        path,
        f"an instance type is a string, not {type(name).__name__}",
        got=name,
        allowed="an EC2 API name, '<family>.<size>'",
        fix="write the name as EC2 does, in quotes",
    )


def _token(name: str, path: str) -> Finding:
    return fault(
        "TokenNotAllowed",
        path,
        "an instance type decides the AMI, the interfaces and the drivers, so it must be known "
        "when the plan is made",
        got=name,
        allowed="a literal EC2 API name",
        fix="pass the name itself, not a parameter or a value that is known at deployment only",
    )


def _announced(name: str, path: str, entry: records.Record) -> Finding:
    instead = _either(entry["instead"])
    return fault(
        "AnnouncedInstanceType",
        path,
        f"only the name is public so far: {entry['why']}",
        got=name,
        allowed=f"types with data; nearest: {instead}",
        fix=f"use {instead}; this one can be planned in a release that has its data",
        source=entry["source"],
    )


def _unknown(name: str, path: str) -> Finding:
    plain = _plain(name)
    sizes = _sizes(plain.partition(".")[0])
    nearest = _nearest(plain, sizes)
    meant = f"did you mean {_either(nearest)}?" if nearest else _NO_GUESS
    return fault(
        "UnknownInstanceType",
        path,
        "no instance type with accelerators or EFA has this name",
        got=name,
        allowed=", ".join(sizes) or _families(),
        fix=meant if plain in sizes or not _is_plain_family(plain, sizes) else _NO_EFA,
    )


def _is_plain_family(plain: str, sizes: list[str]) -> bool:
    """Whether a name is an ordinary size of a family whose larger sizes have EFA."""
    size = plain.partition(".")[2]
    of_efa = {*records.efa_only_names()}
    return bool(size and sizes) and of_efa.issuperset(sizes) and size in _ORDINARY_SIZES


def _sizes(family: str) -> list[str]:
    """The types of a family, small sizes first; empty for an unknown family."""
    known = (*records.accelerated_names(), *records.efa_only_names())
    sizes = [name for name in known if name.partition(".")[0] == family]
    return sorted(sizes, key=lambda size: (len(size), size))


def _families() -> str:
    families = {name.partition(".")[0] for name in records.accelerated_names()}
    return f"families with accelerators: {', '.join(sorted(families))}; or a type with EFA"


def _nearest(plain: str, sizes: list[str]) -> list[str]:
    """At most three names of the catalogue that were probably meant, best first."""
    import difflib  # noqa: PLC0415  (needed for mistakes only)

    if plain in sizes or plain in records.announced():
        return [plain]
    if sizes:
        return difflib.get_close_matches(plain, sizes, _MOST_GUESSES, _ALIKE_IN_FAMILY)
    known = (*records.accelerated_names(), *records.efa_only_names())
    return difflib.get_close_matches(plain, known, _MOST_GUESSES, _ALIKE)


def _plain(name: str) -> str:
    """What is left of a name without case, spaces and characters that look like others."""
    import unicodedata  # noqa: PLC0415  (needed for mistakes only)

    folded = unicodedata.normalize("NFKC", name[:_LONGEST_NAME]).lower()
    return "".join(character for character in folded if character in _ALPHABET)


def _either(names: Iterable[str]) -> str:
    return " or ".join(map(repr, names))
