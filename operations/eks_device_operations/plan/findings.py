"""The findings of a plan as text, alike ones together. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from eks_devices import Finding, Severity

from .._output import pairs, prose

_TITLES: Final = {
    Severity.ERROR: "Errors",
    Severity.WARNING: "Warnings",
    Severity.INFO: "Good to know",
}
_INDENT: Final = "  "


@dataclass(frozen=True, slots=True)
class _Told:
    """What findings that differ by their path alone say."""

    code: str
    message: str
    fix: str


def finding_lines(findings: Iterable[Finding], severity: Severity, *, width: int) -> list[str]:
    """The findings of one severity under a title; those that only tell come without the fix."""
    told = _alike(one for one in findings if one.severity is severity)
    if not told:
        return []
    lines = _brief if severity is Severity.INFO else _full
    return [
        f"{_TITLES[severity]}:",
        *(line for one, paths in told.items() for line in lines(one, ", ".join(paths), width)),
    ]


def _alike(findings: Iterable[Finding]) -> dict[_Told, list[str]]:
    """The paths of alike findings, those of one code next to each other."""
    by_code: dict[str, dict[_Told, list[str]]] = {}
    for one in findings:
        fix = "" if one.severity is Severity.INFO else one.fix
        told = _Told(one.code, one.message, fix)
        by_code.setdefault(one.code, {}).setdefault(told, []).append(one.path)
    return {told: paths for alike in by_code.values() for told, paths in alike.items()}


def _brief(told: _Told, paths: str, width: int) -> list[str]:
    text = f"{told.code}  {paths}: {told.message}"
    return prose(text, width=width, indent=_INDENT, hanging=_INDENT)


def _full(told: _Told, paths: str, width: int) -> Iterator[str]:
    yield from pairs([(told.code, paths)], width=width)
    yield from prose(told.message, width=width, indent=_INDENT * 2)
    if told.fix:
        yield from prose(f"fix: {told.fix}", width=width, indent=_INDENT * 2)
