"""The plan that manifests are held against: that of one cluster of a cloud assembly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from eks_devices import ClusterPlan
from eks_devices.plans import PLAN_FILE_SUFFIX

from .._outcome import COULD_NOT_LOOK, OperationError
from .._output import safe
from .assembly import Assembly, read_assembly
from .cluster_plan import cluster_plan
from .command import require_folder

_KEY: Final = "manifest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A cluster of a plan file: its path, its plan and the manifests of its claims.

    `nodegroup_names` are the names of its groups in EKS by those in the plan, `notes` lines about
    the assembly that are worth telling.
    """

    path: str
    plan: ClusterPlan
    claims: tuple[dict[str, Any], ...]
    nodegroup_names: dict[str, str]
    notes: tuple[str, ...] = ()


def read_plan(folder: str, cluster: str | None) -> Planned:
    """The plan of a cluster.

    Args:
        folder: The cloud assembly, or a plan file in it.
        cluster: The path of the cluster in its app; the only one unless given.

    Raises:
        OperationError: There is no such plan, or it cannot be read.
    """
    require_folder(folder)
    assembly = read_assembly(folder)
    found = {one.path: (file, one) for file, one in assembly.clusters}
    if not found:
        raise _nothing(folder, assembly)
    path = _chosen(list(found), cluster)
    file, entry = found[path]
    try:
        plan = cluster_plan(entry.json)
    except OperationError as error:
        raise OperationError(f"{assembly.folder / file}: {error}", code=error.code) from error
    manifests = (one.get(_KEY) for one in entry.claims_json if isinstance(one, dict))
    return Planned(
        path=path,
        plan=plan,
        claims=tuple(one for one in manifests if isinstance(one, dict)),
        nodegroup_names=entry.nodegroup_names,
        notes=_problems(assembly),
    )


def _nothing(folder: str, assembly: Assembly) -> OperationError:
    if problems := _problems(assembly):
        return OperationError(*problems, code=COULD_NOT_LOOK)
    return OperationError(
        f"{folder!r} holds no plan file (*{PLAN_FILE_SUFFIX}): synthesise the app with "
        "'cdk synth', or name the folder of its cloud assembly with --plan"
    )


def _problems(assembly: Assembly) -> tuple[str, ...]:
    return tuple(f"{assembly.folder / one.file}: {one.message}" for one in assembly.problems)


def _chosen(paths: list[str], wanted: str | None) -> str:
    known = ", ".join(safe(one) for one in sorted(paths))
    if wanted is None:
        if len(paths) == 1:
            return paths[0]
        raise OperationError(f"the plan has several clusters; name one with --cluster: {known}")
    if wanted not in paths:
        raise OperationError(f"the plan has no cluster {safe(wanted)!r}; it has: {known}")
    return wanted
