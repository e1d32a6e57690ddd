"""Writes Kubernetes objects as YAML files into the cloud assembly, and into a repository."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import cdk8s
import jsii
from aws_cdk import Stage
from constructs import Construct, IConstruct, IValidation

from eks_devices import EksDevicesError, Finding
from eks_devices.findings import fault, raise_faults

from .fleet import Fleet
from .tree import is_in_tree, top_stack

_FOLDER = "eks-devices"
# The CDK CLI tells the app so; unit tests must not write into a user's repository.
_DRIVEN_BY_CLI = "CDK_CLI_VERSION"
# The order of a plain `kubectl apply`; the number in a file's name depends on its kinds alone, so
# that another group or manager renames no file.
_FIRST_KINDS = {"Namespace": 0, "CustomResourceDefinition": 1}
_LAST_KINDS = {
    **dict.fromkeys(("DaemonSet", "Deployment"), 3),
    **dict.fromkeys(("ResourceClaim", "ResourceClaimTemplate", "ComputeDomain"), 4),
}

# Users' objects go with a namespace or a CRD that a tool prunes.
_KEEP = {
    "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
    "kustomize.toolkit.fluxcd.io/prune": "disabled",
}
_LONGEST_NAME = 120
# kubectl and Argo CD would read a file with an ending of JSON or YAML as an object.
_INDEX = ".index"

Texts = dict[str, str]


class GitopsSender:
    """Takes the objects of one construct to the folder that its cluster's objects share."""

    def __init__(self, scope: Construct, folder: GitopsFolder) -> None:
        self._scope = scope
        self._folder = folder

    def send(
        self,
        name: str,
        objects: Sequence[dict[str, Any]],
        *,
        after: Sequence[IConstruct] = (),
        overwrite: bool = True,
        retain: bool = False,
    ) -> list[IConstruct]:
        """Take objects that live and die together, for one file; there is nothing to wait for."""
        del after, overwrite  # the order of kinds and the tool's own ways replace these
        kept = [_kept(item) for item in objects] if retain else objects
        self._folder.add(f"{_rank(objects)}-{_short(name.lower())}.yaml", kept, self._scope)
        return []


class GitopsFolder:
    """The files of one cluster in one directory."""

    def __init__(self, cluster: IConstruct, fleet: Fleet, directory: str, number: int) -> None:
        self.cluster = cluster
        self._fleet = fleet
        self._directory = Path(directory)
        self._number = number
        self._files: dict[str, tuple[list[dict[str, Any]], Construct]] = {}
        # Where the groups of the cluster are finished, and after that.
        top_stack(cluster).node.add_validation(_Writer(self))

    def add(self, name: str, objects: Sequence[dict[str, Any]], owner: Construct) -> None:
        """Take a file, which is written if its owner is still there at synth."""
        self._files[name] = ([*objects], owner)

    def write(self) -> None:
        """Write into the assembly, and into the repository when the CDK CLI runs the app.

        What a synth refuses does not come to a repository, from where it would be applied.
        """
        stage, stack = Stage.of(self.cluster), top_stack(self.cluster)
        installation = f"{stack.artifact_id}-{self.cluster.node.addr[-8:]}"
        texts = {
            name: _yaml(objects)
            for name, (objects, owner) in self._files.items()
            if is_in_tree(owner)
        }
        if not is_in_tree(self.cluster):
            return
        inside = installation + (f"-{self._number}" if self._number else "")
        _fill(Path(stage.outdir if stage else ".") / _FOLDER / inside, installation, texts)
        if os.environ.get(_DRIVEN_BY_CLI) and not self._is_refused():
            _fill(self._directory, installation, texts)

    def _is_refused(self) -> bool:
        return bool(self._fleet.claim_faults or self._fleet.whole_faults(self._fleet.groups))


_folders: WeakKeyDictionary[IConstruct, dict[Path, GitopsFolder]] = WeakKeyDictionary()


def resolved(directory: str) -> Path:
    """The directory itself, whichever way it is written.

    Raises:
        EksDevicesError: No file system has such a path.
    """
    try:
        return Path(directory).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        path, fix = "delivery.directory", "name another directory"
        found = fault(
            "MalformedDirectory", path, str(error), got=directory, allowed="a path", fix=fix
        )
        raise EksDevicesError([found]) from None


def gitops_sender(
    scope: Construct, cluster: IConstruct, fleet: Fleet, directory: str
) -> GitopsSender:
    """What takes the objects of a construct to the directory of its cluster."""
    known = _folders.setdefault(scope.node.root, {})
    where = resolved(directory)
    if where not in known or known[where].cluster is not cluster:
        number = sum(folder.cluster is cluster for folder in known.values())
        known[where] = GitopsFolder(cluster, fleet, directory, number)
    return GitopsSender(scope, known[where])


def directory_faults(where: IConstruct, directory: str) -> Iterator[Finding]:
    """The fault of a directory that holds the objects of another cluster than this construct."""
    mine = resolved(directory)
    others = [
        folder.cluster
        for path, folder in _folders.get(where.node.root, {}).items()
        if (mine.is_relative_to(path) or path.is_relative_to(mine))
        and folder.cluster is not where
        and is_in_tree(folder.cluster)
    ]
    if not others:
        return
    yield fault(
        "SharedDirectory",
        "delivery.directory",
        f"the directory, or one in or around it, is that of the cluster {others[0].node.path}",
        got=directory,
        allowed="a directory for each cluster, as a GitOps tool applies it whole",
        fix="name another directory, with the cluster's or the stage's name in it for instance",
    )


def _kept(item: dict[str, Any]) -> dict[str, Any]:
    """An object that Argo CD and Flux leave alone when its file goes."""
    metadata = item["metadata"]
    annotations = metadata.get("annotations", {}) | _KEEP
    return item | {"metadata": metadata | {"annotations": annotations}}


def _short(name: str) -> str:
    """A name that every file system takes."""
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[:_LONGEST_NAME]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _rank(objects: Sequence[dict[str, Any]]) -> int:
    kinds = {item["kind"] for item in objects}
    first = [_FIRST_KINDS[kind] for kind in kinds if kind in _FIRST_KINDS]
    last = [_LAST_KINDS[kind] for kind in kinds if kind in _LAST_KINDS]
    return max([*first, *last], default=2)


def _yaml(objects: Sequence[dict[str, Any]]) -> str:
    return "".join(f"---\n{cdk8s.Yaml.stringify(item)}" for item in objects)


def _fill(folder: Path, installation: str, texts: Texts) -> None:
    """Write files, and remove those that an earlier run wrote and this one does not.

    Raises:
        EksDevicesError: The folder holds another installation, or a file that no run wrote has
            the name of one to write.
    """
    folder.mkdir(parents=True, exist_ok=True)
    index = folder / f".eks-devices-{installation}{_INDEX}"
    others = sorted(one for one in folder.glob(f".eks-devices-*{_INDEX}") if one != index)
    raise_faults(_of_another(folder, one) for one in others)
    earlier = _listed(index)
    foreign = [name for name in texts if name not in earlier and (folder / name).exists()]
    raise_faults(_foreign(folder / name) for name in foreign if not _same(folder / name, texts))
    for name in {*earlier} - {*texts}:
        (folder / name).unlink(missing_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    index.write_text(json.dumps(sorted(texts), indent=1) + "\n", encoding="utf-8")


def _of_another(folder: Path, index: Path) -> Finding:
    return fault(
        "DirectoryOfAnother",
        "delivery.directory",
        "the directory holds the files of another installation, or of this one under an earlier "
        "name of its stack or cluster",
        got=str(index),
        allowed="a directory for each cluster",
        fix=f"name another directory; after a change of name, empty {folder} first",
    )


def _same(file: Path, texts: Texts) -> bool:
    """Whether a file has the text to write, as after a merge that lost the index."""
    return file.is_file() and file.read_bytes() == texts[file.name].encode()


def _foreign(file: Path) -> Finding:
    return fault(
        "FileInTheWay",
        "delivery.directory",
        "a file that this installation did not write has the name of one that it writes",
        got=str(file),
        allowed="a directory without such files",
        fix="move the file away, or name another directory",
    )


def _listed(index: Path) -> list[str]:
    """The files of an earlier run; an index that somebody broke lists none."""
    try:
        names = json.loads(index.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    return [name for name in names if _is_ours(name)] if isinstance(names, list) else []


def _is_ours(name: object) -> bool:
    return isinstance(name, str) and name.endswith(".yaml") and name == Path(name).name


@jsii.implements(IValidation)
class _Writer:
    def __init__(self, folder: GitopsFolder) -> None:
        self._folder = folder

    def validate(self) -> list[str]:
        try:
            self._folder.write()
        except EksDevicesError as error:
            return [str(one) for one in error.faults]
        except OSError as error:
            return [f"delivery.directory: a file cannot be written: {error}"]
        return []
