"""The verb `plan`: what the clusters of a cloud assembly will get, and what is worth knowing."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from eks_devices import Severity
from eks_devices.plans import PLAN_FILE_SUFFIX

from ._json_file import reason
from ._output import FINE, WRONG, CannotLookError, Outcome, as_json, terminal_width
from ._plan_files import Assembly, read_assembly
from ._plan_report import report

_SCHEMA: Final = "eks-devices/plan-report/v1"

_EXPECTED: Final = "expected the cloud assembly that 'cdk synth' writes, cdk.out by default"


def show_plan(folder: str, *, json: bool) -> Outcome:
    """Report every plan of a cloud assembly."""
    _require_folder(folder)
    assembly = read_assembly(folder)
    if not assembly.files and not assembly.problems:
        raise CannotLookError(
            f"{folder!r} holds no plan file (*{PLAN_FILE_SUFFIX}): synthesise an app with an "
            "accelerated node group, or name the folder of its cloud assembly"
        )
    text = _json(assembly) if json else report(assembly.clusters, width=terminal_width())
    return Outcome(code=_code(assembly), text=text, messages=_messages(assembly))


def _require_folder(folder: str) -> None:
    if not folder:
        raise CannotLookError(f"the name of the folder is empty; {_EXPECTED}")
    try:
        next(Path(folder).iterdir(), None)
    except (OSError, ValueError) as error:
        raise CannotLookError(f"{folder!r} cannot be read: {reason(error)}; {_EXPECTED}") from error


def _json(assembly: Assembly) -> str:
    clusters = [{"path": one.path, "file": one.file, "plan": one.plan} for one in assembly.clusters]
    problems = [{"file": one.file, "message": one.message} for one in assembly.problems]
    return as_json(_SCHEMA, assembly=str(assembly.folder), clusters=clusters, problems=problems)


def _code(assembly: Assembly) -> int:
    codes = [problem.code for problem in assembly.problems]
    findings: list[dict[str, Any]] = [
        finding for cluster in assembly.clusters for finding in cluster.plan["findings"]
    ]
    errors = any(finding["severity"] == Severity.ERROR for finding in findings)
    return max([*codes, WRONG if errors else FINE])


def _messages(assembly: Assembly) -> tuple[str, ...]:
    problems = [f"{assembly.folder / one.file}: {one.message}" for one in assembly.problems]
    notes = [
        f"{assembly.folder / file}: passed over: the manifest beside it has no such "
        "artifact, so it is left over from an earlier synth"
        for file in assembly.left_over
    ]
    return (*problems, *notes)
