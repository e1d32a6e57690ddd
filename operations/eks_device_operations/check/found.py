"""What is found, each with its place in a file. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from eks_devices import Finding, Severity
from eks_devices.workload_check import Document, Remark, WorkloadReport
from eks_devices.workload_check.documents import path_of

from ..manifests import ManifestDocument, Trouble

_DETAILS: Final = ("got", "allowed", "source")
_ORDER: Final = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A finding at a line and column of a file; `title` names the manifest, empty where none is.

    `related` are files, lines and titles of the claims that it is about.
    """

    file: str
    line: int
    column: int
    title: str
    path: str
    finding: Finding
    related: tuple[tuple[str, int, str], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain JSON values."""
        one = self.finding
        told = one.to_dict()
        more: dict[str, Any] = {key: told[key] for key in _DETAILS if key in told}
        if self.related:
            named = ("file", "line", "manifest")
            more["related"] = [dict(zip(named, each, strict=True)) for each in self.related]
        return {
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "manifest": self.title,
            "path": self.path,
            "code": one.code,
            "severity": str(one.severity),
            "message": one.message,
            "fix": one.fix,
            **more,
        }


class Places:
    """Where the manifests of a check stand.

    Args:
        documents: The documents of files by the manifests that were made of them.
    """

    def __init__(self, documents: Mapping[str, ManifestDocument]) -> None:
        self._documents = documents

    def of(self, document: Document, steps: tuple[str | int, ...] = ()) -> tuple[str, int, int]:
        """File, line and column of a value in a manifest."""
        known = self._documents[document.origin]
        return (known.file, *known.mark((*document.base, *steps)))

    def found(self, remark: Remark) -> Found:
        """A remark with its place."""
        file, line, column = self.of(remark.document, remark.steps)
        document = remark.document
        return Found(
            file=file,
            line=line,
            column=column,
            title=document.title if document.kind else "",
            path=path_of((*document.base, *remark.steps)),
            finding=remark.finding,
            related=tuple((*self.of(one, at)[:2], one.title) for one, at in remark.related),
        )


def all_found(report: WorkloadReport, troubles: list[Trouble], places: Places) -> list[Found]:
    """Everything that is found, in the order of files and lines, each thing once."""
    found = [*_troubles(troubles), *map(places.found, report.remarks)]
    files: dict[str, int] = {}
    for one in found:
        files.setdefault(one.file, len(files))
    found.sort(
        key=lambda one: (files[one.file], one.line, _ORDER[one.finding.severity], one.column)
    )
    return list(dict.fromkeys(found))


def _troubles(troubles: list[Trouble]) -> Iterator[Found]:
    for one in troubles:
        line, column = one.mark
        yield Found(
            file=one.file,
            line=line,
            column=column,
            title="",
            path=one.finding.path,
            finding=one.finding,
        )
