"""Writes Kubernetes objects as YAML files into the cloud assembly, and into a repository."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import cdk8s
import jsii
from aws_cdk import Names, Stack, Stage
from constructs import Construct, IConstruct, IDependable, IValidation

from eks_devices import EksDevicesError, Finding
from eks_devices.findings import fault

from .tree import is_in_tree

_FOLDER = "eks-devices"
# The CDK CLI tells the app so; unit tests must not write into a user's repository.
_DRIVEN_BY_CLI = "CDK_CLI_VERSION"
# The order of a plain `kubectl apply`; the number in a file's name depends on its kinds alone, so
# that another group or manager renames no file.
_FIRST_KINDS = {"Namespace": 0, "CustomResourceDefinition": 1}
_LAST_KINDS = {"DaemonSet": 3, "Deployment": 3, "ResourceClaimTemplate": 4, "ComputeDomain": 4}

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
        after: Sequence[IDependable] = (),
        overwrite: bool = True,
        retain: bool = False,
    ) -> IDependable | None:
        """Take objects that live and die together, for one file."""
        del after, overwrite, retain  # a GitOps tool has its own ways for these
        self._folder.add(f"{_rank(objects)}-{name.lower()}.yaml", objects, self._scope)
        return None


class GitopsFolder:
    """The files of one cluster in one directory."""

    def __init__(self, scope: Construct, cluster: IConstruct, directory: str) -> None:
        self.cluster = cluster
        self._scope = scope
        self._directory = Path(directory)
        self._files: dict[str, tuple[list[dict[str, Any]], Construct]] = {}
        Stack.of(scope).node.add_validation(_Writer(self))

    def add(self, name: str, objects: Sequence[dict[str, Any]], owner: Construct) -> None:
        """Take a file, which is written if its owner is still there at synth."""
        self._files[name] = ([*objects], owner)

    def write(self) -> None:
        """Write into the assembly, and into the repository when the CDK CLI runs the app."""
        stage = Stage.of(self._scope)
        installation = Names.unique_resource_name(self._scope, max_length=64)
        texts = {
            name: _yaml(objects)
            for name, (objects, owner) in self._files.items()
            if is_in_tree(owner)
        }
        _fill(Path(stage.outdir if stage else ".") / _FOLDER / installation, installation, texts)
        if os.environ.get(_DRIVEN_BY_CLI):
            _fill(self._directory, installation, texts)


_folders: WeakKeyDictionary[IConstruct, dict[Path, GitopsFolder]] = WeakKeyDictionary()


def gitops_sender(scope: Construct, cluster: IConstruct, directory: str) -> GitopsSender:
    """What takes the objects of a construct to the directory of its cluster.

    Raises:
        EksDevicesError: The directory holds the objects of another cluster.
    """
    known = _folders.setdefault(scope.node.root, {})
    where = Path(directory).resolve()
    if where not in known:
        known[where] = GitopsFolder(scope, cluster, directory)
    if known[where].cluster is not cluster:
        raise EksDevicesError([_taken(directory, known[where].cluster)])
    return GitopsSender(scope, known[where])


def _taken(directory: str, cluster: IConstruct) -> Finding:
    return fault(
        "SharedDirectory",
        "delivery.directory",
        f"the directory holds the objects of the cluster {cluster.node.path}",
        got=directory,
        allowed="a directory for each cluster, as a GitOps tool applies it whole",
        fix="name another directory, with the cluster's or the stage's name in it for instance",
    )


def _rank(objects: Sequence[dict[str, Any]]) -> int:
    kinds = {item["kind"] for item in objects}
    first = [_FIRST_KINDS[kind] for kind in kinds if kind in _FIRST_KINDS]
    last = [_LAST_KINDS[kind] for kind in kinds if kind in _LAST_KINDS]
    return max([*first, *last], default=2)


def _yaml(objects: Sequence[dict[str, Any]]) -> str:
    return "".join(f"---\n{cdk8s.Yaml.stringify(item)}" for item in objects)


def _fill(folder: Path, installation: str, texts: Texts) -> None:
    """Write files, and remove those that an earlier run wrote and this one does not."""
    folder.mkdir(parents=True, exist_ok=True)
    index = folder / f".eks-devices-{installation}.json"
    for name in {*_listed(index)} - {*texts}:
        (folder / Path(name).name).unlink(missing_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    index.write_text(json.dumps(sorted(texts), indent=1) + "\n", encoding="utf-8")


def _listed(index: Path) -> list[str]:
    """The files of an earlier run; an index that somebody broke lists none."""
    try:
        names = json.loads(index.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


@jsii.implements(IValidation)
class _Writer:
    def __init__(self, folder: GitopsFolder) -> None:
        self._folder = folder

    def validate(self) -> list[str]:
        self._folder.write()
        return []
