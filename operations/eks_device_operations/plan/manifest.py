"""Which artifacts the manifest of a cloud assembly has."""

from __future__ import annotations

from typing import Any, Final

from .content import field, understood

_NESTED_TYPE: Final = "cdk:cloud-assembly"

Artifacts = dict[str, str | None]
"""By name: the folder of a nested assembly; None for artifacts of other kinds."""


def artifacts_of(content: Any) -> Artifacts:
    """The artifacts that the content of a manifest lists.

    Raises:
        OperationError: It is no manifest.
    """
    return understood(_artifacts, content, "the manifest of a cloud assembly")


def _artifacts(content: Any) -> Artifacts:
    artifacts = field({"artifacts": {}, **content}, "artifacts", dict)
    return {name: _nested_folder(artifact) for name, artifact in artifacts.items()}


def _nested_folder(artifact: Any) -> str | None:
    if field(artifact, "type", str) != _NESTED_TYPE:
        return None
    return field(field(artifact, "properties", dict), "directoryName", str)
