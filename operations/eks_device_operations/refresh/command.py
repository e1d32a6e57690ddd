"""The verb `refresh instance-types`: the refresh of the catalogue behind the command line."""

from __future__ import annotations

import os
from collections.abc import Sequence

from eks_devices import instance_records

from .._outcome import OperationError, Outcome
from .._output import as_json, safe
from .instance_types import RefreshResult, refresh_instance_types

_SCHEMA = "eks-devices/refresh/v1"
_CHECKOUT = (
    "the generated data belongs to a checkout of eks-devices; name its folder with --data-folder"
)


def run_refresh(
    *,
    source_file: str | None,
    regions: Sequence[str],
    check: bool,
    allow_removals: bool,
    data_folder: str | None,
    json: bool,
) -> Outcome:
    """Refresh the instance catalogue, or tell whether it is stale."""
    folder = data_folder or instance_records.data_folder()
    _require_folder(folder, writable=not check)
    result = refresh_instance_types(
        source_file=source_file,
        regions=regions,
        check=check,
        allow_removals=allow_removals,
        data_folder=folder,
    )
    text = as_json(_SCHEMA, **_values(result)) if json else _lines(result.text)
    return Outcome(code=result.exit_code, text=text)


def _require_folder(folder: str, *, writable: bool) -> None:
    """Fail before EC2 is asked, which takes a while."""
    try:
        found = os.access(folder, os.W_OK if writable else os.R_OK)
    except ValueError:  # a null byte
        found = False
    if not found:
        done = "written" if writable else "read"
        raise OperationError(f"{folder!r} is no folder that can be {done}: {_CHECKOUT}")


def _lines(text: str) -> str:
    return "".join(f"{safe(line)}\n" for line in text.splitlines())


def _values(result: RefreshResult) -> dict[str, object]:
    found = result.differences
    return {
        "check": result.check,
        "stale_files": list(result.stale_files),
        "added": list(found.added),
        "removed": list(found.removed),
        "altered": list(found.altered),
    }
