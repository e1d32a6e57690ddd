"""The documents of a file, each by itself: one that is no YAML hides no other."""

from __future__ import annotations

import codecs
import itertools
import json
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from eks_devices import EksDevicesError, Finding, Severity
from eks_devices._frozen import deep_frozen
from eks_devices.extras import how_to_install
from eks_devices.findings import fault, warning
from eks_devices.workload_check.documents import path_of

from .._json_file import reason
from .._outcome import WRONG, OperationError
from ._composer import ComposeError, Composer, Mark, Place

MOST_BYTES: Final = 64 * 1024 * 1024
_NEXT: Final = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_DIRECTIVE: Final = re.compile(r"^%", re.MULTILINE)
_TEMPLATE: Final = re.compile(r"\{\{.*?\}\}")
_LONGEST_SHOWN: Final = 60
_UNRENDERED: Final = "TemplateNotRendered"
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_START: Final = (1, 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ManifestDocument:
    """One document of a file: its value, which cannot change, and where what is in it stands."""

    file: str
    content: Any
    place: Place

    def mark(self, steps: tuple[str | int, ...] = ()) -> Mark:
        """Line and column, from 1 on, of a value, or of the innermost one around it."""
        return self.place.of(steps)

    def line(self, steps: tuple[str | int, ...] = ()) -> int:
        """The line of a value, or of the innermost one around it that is there."""
        return self.mark(steps)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What is wrong with the text of a file, and where."""

    file: str
    mark: Mark
    finding: Finding


@dataclass(slots=True, kw_only=True)
class Manifests:
    """The documents of a file that hold anything, and what is wrong with its text."""

    documents: list[ManifestDocument] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)


def read_manifests(path: Path) -> list[ManifestDocument]:
    """The documents of a YAML or JSON file, in their order.

    Raises:
        OperationError: The file cannot be read, or is no YAML; the message leaves the file to be
            named by the caller.
        EksDevicesError: PyYAML is not installed.
    """
    found = manifests_of(str(path), file_content(path))
    for one in found.troubles:
        if one.finding.code != "DuplicateKey":
            text = f"is not YAML: {one.finding.message} in line {one.mark[0]}"
            raise OperationError(text, code=WRONG)
    return found.documents


def file_content(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        OperationError: It cannot be read, or is larger than is sensible.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise OperationError("cannot be read: it is not a file")
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise OperationError(f"cannot be read: {reason(error)}") from error
    if len(content) > MOST_BYTES:
        raise OperationError(f"is larger than {MOST_BYTES >> 20} MiB", code=WRONG)
    return content


def manifests_of(file: str, content: bytes) -> Manifests:
    """The documents of the content of a file, and what is wrong with it.

    Raises:
        EksDevicesError: PyYAML is not installed.
    """
    found = Manifests()
    try:
        text = _decoded(content)
    except UnicodeError:
        found.troubles.append(_no_yaml(file, "it is no text in UTF-8 or UTF-16", _START))
        return found
    for part, line in _parts(text):
        _read_part(file, part, line, found)
    return found


def _decoded(content: bytes) -> str:
    for bom, encoding in _BOMS:
        if content.startswith(bom):
            return content[len(bom) :].decode(encoding)
    return content.decode()


def _parts(text: str) -> Iterator[tuple[str, int]]:
    """The documents as texts, each with the number of lines before it."""
    if _DIRECTIVE.search(text):
        # A directive stands before the line that begins its document.
        yield text, 0
        return
    starts = [0, *(one.start() for one in _NEXT.finditer(text)), len(text)]
    line = 0
    for start, end in itertools.pairwise(starts):
        part = text[start:end]
        if part.strip():
            yield part, line
        line += part.count("\n")


def _read_part(file: str, text: str, line: int, found: Manifests) -> None:
    yaml = _yaml()
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for one in Composer(yaml, yaml.parse(text, Loader=loader), line=line).documents():
            found.troubles += [_repeated(file, each) for each in one.repeated]
            if one.value is not None:
                found.documents.append(
                    ManifestDocument(file=file, content=one.value, place=one.place)
                )
    except ComposeError as error:
        _no_document(file, text, str(error), error.mark, found)
    except yaml.YAMLError as error:
        _no_document(file, text, *_told(error, text, line), found)
    except (ValueError, RecursionError) as error:
        _no_document(file, text, str(error), (line + 1, 1), found)


def _yaml() -> Any:
    try:
        import yaml  # noqa: PLC0415  (an extra, and slow to import)
    except ImportError as error:
        raise EksDevicesError([_missing()]) from error
    return yaml


def _missing() -> Finding:
    return fault(
        "CheckExtraMissing",
        "check",
        "PyYAML, which reads the files, is not installed",
        got="no package yaml",
        allowed="the extra check of eks-devices",
        fix=how_to_install("check"),
    )


def _told(error: Any, text: str, line: int) -> tuple[str, Mark]:
    """What the parser says of a mistake, and where it is."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        # A character that no YAML has; its place is a number.
        place = getattr(error, "position", None)
        before = text[: place if isinstance(place, int) else 0]
        return str(getattr(error, "reason", error)), (line + 1 + before.count("\n"), 1)
    parts = (getattr(error, "context", None), getattr(error, "problem", None))
    return ", ".join(filter(None, parts)), (mark.line + 1 + line, mark.column + 1)


def _no_document(file: str, text: str, message: str, mark: Mark, found: Manifests) -> None:
    if text.lstrip()[:1] in ("{", "[") and (plain := _json(text)) is not None:
        # JSON that is laid out with tabs is no YAML.
        found.documents.append(ManifestDocument(file=file, content=plain, place=Place(mark)))
    elif template := _TEMPLATE.search(text):
        # A chart is told once, and not for each of its documents.
        if not any(one.finding.code == _UNRENDERED for one in found.troubles):
            found.troubles.append(_template(file, template[0], mark))
    else:
        found.troubles.append(_no_yaml(file, message, mark))


def _json(text: str) -> Any:
    try:
        return deep_frozen(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _no_yaml(file: str, message: str, mark: Mark) -> Trouble:
    return Trouble(
        file=file,
        mark=mark,
        finding=Finding(
            code="NotYaml",
            severity=Severity.ERROR,
            path="",
            message=f"this is no YAML that Kubernetes reads: {message}",
            fix="mend the text",
        ),
    )


def chart_trouble(file: str, chart: str) -> Trouble:
    """What is told of a Helm chart: only what it makes can be looked at."""
    message = "this is a chart, and what it makes is not known before it is rendered"
    return _unrendered(file, _START, message, chart)


def _template(file: str, text: str, mark: Mark) -> Trouble:
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
    message = f"this is a template and no manifest yet: {shown} stands in it"
    return _unrendered(file, mark, message, "CHART")


def _unrendered(file: str, mark: Mark, message: str, chart: str) -> Trouble:
    return Trouble(
        file=file,
        mark=mark,
        finding=Finding(
            code=_UNRENDERED,
            severity=Severity.ERROR,
            path="",
            message=message,
            fix=f"render it first: helm template {chart} | eks-devices check -",
        ),
    )


_OF_OBJECTS: Final = ("apiVersion", "kind", "metadata")
_FIXES: Final = {
    False: "leave one of the two out",
    True: "leave one of the two out, or write --- in front of where another object begins",
}


def _repeated(file: str, one: Any) -> Trouble:
    steps = path_of(one.steps)
    return Trouble(
        file=file,
        mark=one.mark,
        finding=warning(
            "DuplicateKey",
            steps,
            f"the key {one.steps[-1]} stands in line {one.first[0]} too, and the last one counts",
            fix=_FIXES[len(one.steps) == 1 and one.steps[-1] in _OF_OBJECTS],
        ),
    )
