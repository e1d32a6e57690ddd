"""The verb `plan`: reads a cloud assembly and reports every plan in it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from eks_devices import Severity
from eks_devices.plans import PLAN_FILE_SUFFIX

from .._json_file import reason
from .._outcome import FINE, WRONG, OperationError, Outcome
from .._output import as_json, terminal_width
from .assembly import Assembly, read_assembly
from .report import report

_SCHEMA: Final = "eks-devices/plan-report/v1"

_EXPECTED: Final = "expected the cloud assembly that 'cdk synth' writes, cdk.out by default"


def show_plan(folder: str, *, json: bool) -> Outcome:
    """Report every plan of a cloud assembly."""
    require_folder(folder)
    assembly = read_assembly(folder)
    if not assembly.files and not assembly.problems:
        raise OperationError(
            f"{folder!r} holds no plan file (*{PLAN_FILE_SUFFIX}): synthesise an app with an "
            "accelerated node group, or name the folder of its cloud assembly"
        )
    if json:
        text = _json(assembly)
    else:
        text = report([cluster for _, cluster in assembly.clusters], width=terminal_width())
    return Outcome(code=_code(assembly), text=text, messages=_messages(assembly))


def require_folder(folder: str) -> None:
    """Raise OperationError unless a folder, or a plan file, is named that can be read."""
    if not folder:
        raise OperationError(f"the name of the folder is empty; {_EXPECTED}")
    if folder.endswith(PLAN_FILE_SUFFIX):
        return
    try:
        next(Path(folder).iterdir(), None)
    except (OSError, ValueError) as error:
        raise OperationError(f"{folder!r} cannot be read: {reason(error)}; {_EXPECTED}") from error


def _json(assembly: Assembly) -> str:
    clusters = [
        {
            "path": cluster.path,
            "file": file,
            "plan": cluster.json,
            "claims": cluster.claims_json,
            "delivery": cluster.delivery_json,
        }
        for file, cluster in assembly.clusters
    ]
    problems = [{"file": one.file, "message": one.message} for one in assembly.problems]
    return as_json(_SCHEMA, assembly=str(assembly.folder), clusters=clusters, problems=problems)


def _code(assembly: Assembly) -> int:
    found = [one.severity for _, cluster in assembly.clusters for one in cluster.plan.findings]
    codes = [problem.code for problem in assembly.problems]
    return max([*codes, WRONG if Severity.ERROR in found else FINE])


def _messages(assembly: Assembly) -> tuple[str, ...]:
    problems = [f"{assembly.folder / one.file}: {one.message}" for one in assembly.problems]
    notes = [
        f"{assembly.folder / file}: passed over: the manifest beside it has no such "
        "artifact, so it is left over from an earlier synth"
        for file in assembly.left_over
    ]
    return (*problems, *notes)
