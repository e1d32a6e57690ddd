"""Writes Kubernetes objects as YAML files into the cloud assembly, and into a repository."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cdk8s
import jsii
from aws_cdk import Names, Stack, Stage
from constructs import Construct, IDependable, IValidation

_FOLDER = "eks-devices"
_INDEX = ".eks-devices-index.json"
# The CDK CLI tells the app so; unit tests must not write into a user's repository.
_DRIVEN_BY_CLI = "CDK_CLI_VERSION"


class GitopsFolder:
    """The files of one installation; objects that live and die together share one."""

    def __init__(self, scope: Construct, directory: str) -> None:
        self._scope = scope
        self._directory = Path(directory)
        self._files: dict[str, list[dict[str, Any]]] = {}
        Stack.of(scope).node.add_validation(_Writer(self))

    def send(
        self,
        name: str,
        objects: Sequence[dict[str, Any]],
        *,
        after: Sequence[IDependable] = (),
        overwrite: bool = True,
        retain: bool = False,
    ) -> IDependable | None:
        """Take objects for one file; the number in its name keeps the order."""
        del after, overwrite, retain  # a GitOps tool has its own ways for these
        self._files[f"{len(self._files):03d}-{name.lower()}.yaml"] = list(objects)
        return None

    def write(self) -> None:
        """Write into the assembly, and into the repository when the CDK CLI runs the app."""
        stage = Stage.of(self._scope)
        installation = Names.unique_resource_name(self._scope, max_length=64)
        inside = Path(stage.outdir if stage else ".") / _FOLDER / installation
        texts = {name: _yaml(objects) for name, objects in self._files.items()}
        _fill(inside, texts)
        if os.environ.get(_DRIVEN_BY_CLI):
            _fill(self._directory, texts)


def _yaml(objects: Sequence[dict[str, Any]]) -> str:
    return "".join(f"---\n{cdk8s.Yaml.stringify(item)}" for item in objects)


def _fill(folder: Path, texts: dict[str, str]) -> None:
    """Write files, and remove those that an earlier run wrote and this one does not."""
    folder.mkdir(parents=True, exist_ok=True)
    index = folder / _INDEX
    earlier = json.loads(index.read_text(encoding="utf-8")) if index.exists() else []
    for name in {*earlier} - {*texts}:
        (folder / Path(name).name).unlink(missing_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    index.write_text(json.dumps(sorted(texts), indent=1) + "\n", encoding="utf-8")


@jsii.implements(IValidation)
class _Writer:
    def __init__(self, folder: GitopsFolder) -> None:
        self._folder = folder

    def validate(self) -> list[str]:
        self._folder.write()
        return []
