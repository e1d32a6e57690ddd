"""The verb `check`: reads files and a plan, and holds the one against the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from eks_devices import EksDevicesError
from eks_devices.workload_check import (
    ClaimVerdicts,
    Document,
    PodVerdicts,
    WorkloadReport,
    check_workloads,
)
from eks_devices.workload_check.documents import path_of

from .._outcome import FINE, WRONG, OperationError, Outcome
from .._output import as_json, terminal_width
from ..manifests import ManifestDocument
from ..manifests.inputs import Input, read_files
from ..plan.planned import Planned, read_plan
from .found import Found, Places, all_found
from .text import as_text

_SCHEMA: Final = "eks-devices/check/v1"


def check_files(
    names: Sequence[str],
    *,
    plan: str,
    cluster: str | None = None,
    namespace: str = "default",
    json: bool,
) -> Outcome:
    """Check files against the plan of a cluster.

    Args:
        names: Files, folders, or `-` for the standard input.
        plan: The cloud assembly, or a plan file in it.
        cluster: The path of the cluster; needed where the plan has several.
        namespace: The namespace of manifests that name none.
        json: Whether to print JSON.

    Raises:
        OperationError: There is no plan, or the extra `check` is not installed.
    """
    planned = read_plan(plan, cluster)
    try:
        given = read_files(names, without=plan)
        documents = _documents(given.documents)
        report = _report([one for one, _ in documents.values()], planned, namespace)
    except EksDevicesError as error:
        raise OperationError(*map(_missing, error.faults)) from error
    places = Places({origin: source for origin, (_, source) in documents.items()})
    found = all_found(report, given.troubles, places)
    if json:
        text = _json(found, report, places, given, planned)
    else:
        text = as_text(found, report, places, width=terminal_width())
    looked_at = frozenset(documents[one][1].file for one in report.origins)
    is_wrong = any(one.finding.severity == "error" for one in found)
    return Outcome(
        code=max(WRONG if is_wrong else FINE, given.code),
        text=text,
        messages=(*planned.notes, *_messages(given, looked_at)),
    )


def _report(documents: Sequence[Document], planned: Planned, namespace: str) -> WorkloadReport:
    return check_workloads(
        documents,
        planned.plan,
        planned_claims=planned.claims,
        namespace=namespace,
        nodegroup_names=planned.nodegroup_names,
    )


def _missing(fault: Any) -> str:
    return f"{fault.message}: {fault.fix}"


def _documents(found: Sequence[ManifestDocument]) -> dict[str, tuple[Document, ManifestDocument]]:
    """Each manifest under a name of its own; what is no mapping is none."""
    return {
        str(at): (Document(origin=str(at), content=one.content, source=one.file), one)
        for at, one in enumerate(found)
        if isinstance(one.content, Mapping)
    }


def _messages(given: Input, looked_at: frozenset[str]) -> Iterator[str]:
    """What cannot be looked at, and files in which there is nothing to look at."""
    yield from (f"{name}: {error}" for name, error in given.problems)
    useful = looked_at | {one.file for one in given.troubles}
    for name in given.named:
        if name in given.files and name not in useful:
            yield f"{name}: holds no Pod and no claim"
    yield from given.empty_folders
    for folder in given.kustomizations:
        yield (
            f"{folder}: has a kustomization, of which the files are looked at and not what it "
            f"makes of them: kubectl kustomize {folder} | eks-devices check -"
        )
    for folder, files in given.folders.items():
        empty = [one for one in files if one in given.files and one not in useful]
        if empty:
            yield f"{folder}: {len(empty)} of {len(files)} files hold no Pod and no claim"


def _json(
    found: Sequence[Found],
    report: WorkloadReport,
    places: Places,
    given: Input,
    planned: Planned,
) -> str:
    return as_json(
        _SCHEMA,
        cluster=planned.path,
        kubernetes_version=planned.plan.kubernetes_version,
        files=list(given.files),
        findings=[one.to_dict() for one in found],
        pods=[_pod(one, places) for one in report.pods],
        claims=[_claim(one, places) for one in report.claims],
        problems=[{"file": name, "message": str(error)} for name, error in given.problems],
    )


def _pod(one: PodVerdicts, places: Places) -> dict[str, Any]:
    pod = one.pod
    return {
        **_place(places, pod.document, pod.steps),
        "path": path_of((*pod.document.base, *pod.steps)),
        "served_by": [each.nodegroup for each in one.serving],
        "verdicts": [each.to_dict() for each in one.verdicts],
    }


def _claim(one: ClaimVerdicts, places: Places) -> dict[str, Any]:
    verdicts = [each.to_dict() for each in one.verdicts]
    return {**_place(places, one.document, ()), "verdicts": verdicts}


def _place(places: Places, document: Document, steps: tuple[str | int, ...]) -> dict[str, Any]:
    file, line, column = places.of(document, steps)
    return {
        "file": file,
        "line": line,
        "column": column,
        "kind": document.kind,
        "namespace": document.namespace,
        "name": document.name,
    }
