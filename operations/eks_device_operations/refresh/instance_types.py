"""The refresh of the instance catalogue: ask or read, compare, write."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eks_devices import instance_records

from .._outcome import FINE, WRONG, OperationError
from .answers import infos_in
from .describe import describe, read_answer
from .files import read_text, write_all
from .records import CatalogueRecords, to_catalogue
from .render import Differences, compare, render
from .soundness import require_sound


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
    def exit_code(self) -> int:
        """What the command ends with: a check that found stale files is not fine."""
        return WRONG if self.check and self.stale_files else FINE


def refresh_instance_types(
    *,
    source_file: str | None,
    regions: Sequence[str],
    check: bool,
    data_folder: str,
    allow_removals: bool = False,
) -> RefreshResult:
    """Bring the generated files of the instance catalogue up to date.

    Args:
        source_file: A recorded answer of DescribeInstanceTypes, plain or .gz; None asks EC2.
        regions: Regions to ask when there is no file; several find types that one lacks.
        check: Compare only and write nothing.
        data_folder: The folder of the generated files.
        allow_removals: Write an answer that lacks types of today's catalogue.

    Returns:
        Which types changed, and the report.

    Raises:
        OperationError: There is nothing to read, the answer is not what DescribeInstanceTypes
            gives, lacks types of today or gives a type that cannot be used, or the files cannot
            be written.
    """
    catalogue = to_catalogue(infos_in(_answer(source_file, regions)))
    texts = _texts(catalogue)
    old = {name: read_text(data_folder, name) for name in texts}
    stale = tuple(name for name in texts if old[name] != texts[name])
    differences = compare(_all_records(old), _all_records(texts))
    refused = () if allow_removals else _lost(old, catalogue)
    if refused and not check:
        raise OperationError(*_refusal(refused), code=WRONG)
    require_sound(catalogue, leave_out=refused)
    if stale and not check:
        write_all(data_folder, {name: texts[name] for name in stale})
    text = _report(differences, stale, catalogue, check=check, refused=refused)
    return RefreshResult(differences=differences, stale_files=stale, check=check, text=text)


def _answer(source_file: str | None, regions: Sequence[str]) -> Any:
    if source_file is not None and regions:
        raise OperationError("give either a file or Regions: the catalogue has one source")
    if source_file is not None:
        return read_answer(source_file)
    if not regions:
        raise OperationError("name the Regions to ask, or a file that holds an answer")
    return list(describe(regions))


def _lost(old: Mapping[str, str], catalogue: CatalogueRecords) -> tuple[str, ...]:
    """Types of today that the answer lacks, or of whose accelerators it knows nothing."""
    kept = {
        instance_records.ACCELERATED_FILE: catalogue.accelerated.keys(),
        instance_records.EFA_FILE: catalogue.accelerated.keys() | catalogue.efa_only.keys(),
    }
    known = _all_records(old)
    return tuple(sorted(name for name, (file, _) in known.items() if name not in kept[file]))


def _refusal(lost: Sequence[str]) -> list[str]:
    summary = (
        "nothing is written: the answer lacks types of today's catalogue, or their accelerators; "
        "ask the Regions that offer them too, or say --allow-removals"
    )
    return [summary, *(f"missing: {name}" for name in lost)]


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
    found: Differences,
    stale: Sequence[str],
    catalogue: CatalogueRecords,
    *,
    check: bool,
    refused: Sequence[str],
) -> str:
    kinds = (("added", found.added), ("REMOVED", found.removed), ("changed", found.altered))
    lines = [_summary(stale, catalogue, check=check)]
    lines += [f"{kind}: {name}" for kind, names in kinds for name in names]
    if stale and not (found.added or found.removed or found.altered):
        lines.append("the records agree; only the text differs, as after an edit by hand")
    if refused:
        lines.append(f"a refresh needs --allow-removals: {len(refused)} types would be lost")
    if stale and not check:
        lines.append("now say in instance_types.source.toml where this answer is from")
    return "\n".join(lines)


def _summary(stale: Sequence[str], catalogue: CatalogueRecords, *, check: bool) -> str:
    if stale:
        return f"{'stale' if check else 'written'}: {', '.join(stale)}"
    counts = f"{len(catalogue.accelerated)} accelerated, {len(catalogue.efa_only)} with EFA only"
    return f"up to date: {counts}"
