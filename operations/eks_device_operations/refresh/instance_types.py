"""The refresh of the instance catalogue: ask or read, compare, write."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eks_devices import instance_records

from .answers import infos_in
from .describe import describe, read_file
from .errors import NoAnswerError
from .files import read_text, write_all
from .records import CatalogueRecords, to_catalogue
from .render import Differences, compare, render


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshResult:
    """What a refresh found, and what it did about it."""

    differences: Differences
    stale_files: tuple[str, ...]
    """Names of generated files whose text is not what the answer gives."""
    check: bool
    """Whether it only looked."""
    text: str
    """The report for people."""

    @property
    def changed(self) -> tuple[str, ...]:
        """Every type that was added, removed or altered, sorted."""
        found = self.differences
        return tuple(sorted((*found.added, *found.removed, *found.altered)))

    @property
    def exit_code(self) -> int:
        """1 when a check found stale files, else 0."""
        return int(self.check and bool(self.stale_files))


def refresh_instance_types(
    *, source_file: str | None, regions: Sequence[str], check: bool, data_folder: str
) -> RefreshResult:
    """Bring the generated files of the instance catalogue up to date.

    Args:
        source_file: A recorded answer of DescribeInstanceTypes, plain or .gz; None asks EC2.
        regions: Regions to ask when there is no file; several find types that one lacks.
        check: Compare only and write nothing.
        data_folder: The folder of the generated files.

    Returns:
        Which types changed, and the report.

    Raises:
        InvalidAnswerError: The answer is not what DescribeInstanceTypes gives.
        NoAnswerError: There is nothing to read, or the files cannot be written.
    """
    catalogue = to_catalogue(infos_in(_answer(source_file, regions)))
    texts = _texts(catalogue)
    old = {name: read_text(data_folder, name) for name in texts}
    stale = tuple(name for name in texts if old[name] != texts[name])
    differences = compare(_all_records(old), _all_records(texts))
    if stale and not check:
        write_all(data_folder, {name: texts[name] for name in stale})
    text = _report(differences, stale, catalogue, check=check)
    return RefreshResult(differences=differences, stale_files=stale, check=check, text=text)


def _answer(source_file: str | None, regions: Sequence[str]) -> Any:
    if source_file is not None and regions:
        raise NoAnswerError("give either a file or Regions: the catalogue has one source")
    if source_file is not None:
        return read_file(source_file)
    if not regions:
        raise NoAnswerError("name the Regions to ask, or a file that holds an answer")
    return list(describe(regions))


def _texts(catalogue: CatalogueRecords) -> dict[str, str]:
    return {
        instance_records.ACCELERATED_FILE: render(catalogue.accelerated),
        instance_records.EFA_FILE: render(catalogue.efa_only),
    }


def _all_records(texts: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for file, text in texts.items():
        # A file that people broke counts as empty: it is written anew.
        with contextlib.suppress(ValueError, AttributeError):
            found |= {name: (file, record) for name, record in json.loads(text).items()}
    return found


def _report(
    found: Differences, stale: Sequence[str], catalogue: CatalogueRecords, *, check: bool
) -> str:
    kinds = (("added", found.added), ("REMOVED", found.removed), ("changed", found.altered))
    lines = [_summary(stale, catalogue, check=check)]
    lines += [f"{kind}: {name}" for kind, names in kinds for name in names]
    if stale and not (found.added or found.removed or found.altered):
        lines.append("the records agree; only the text differs, as after an edit by hand")
    if stale and not check:
        lines.append("now say in instance_types.source.toml where this answer is from")
    return "\n".join(lines)


def _summary(stale: Sequence[str], catalogue: CatalogueRecords, *, check: bool) -> str:
    if stale:
        return f"{'stale' if check else 'written'}: {', '.join(stale)}"
    counts = f"{len(catalogue.accelerated)} accelerated, {len(catalogue.efa_only)} with EFA only"
    return f"up to date: {counts}"
