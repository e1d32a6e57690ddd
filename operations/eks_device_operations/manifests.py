"""Reads YAML files of manifests, and knows the line of each value in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._json_file import reason
from ._outcome import WRONG, OperationError

if TYPE_CHECKING:
    import yaml

_LARGEST = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ManifestDocument:
    """One document of a file; `content` is what it holds, None for an empty one."""

    file: str
    content: Any
    node: yaml.Node | None

    def line(self, steps: tuple[str | int, ...] = ()) -> int:
        """The line, from 1 on, of a value, or of the innermost one around it that is there."""
        node, found = self.node, 1
        for step in (None, *steps):
            node = node if step is None else _inner(node, step)
            if node is None:
                break
            found = node.start_mark.line + 1
        return found


def read_manifests(path: Path) -> list[ManifestDocument]:
    """The documents of a YAML or JSON file, in their order.

    Raises:
        OperationError: The file cannot be read, or is no YAML; the message leaves the file to be
            named by the caller.
    """
    import yaml  # noqa: PLC0415  (an extra)

    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        raise OperationError(f"cannot be read: {reason(error)}") from error
    if len(content) > _LARGEST:
        raise OperationError(f"is larger than {_LARGEST >> 20} MiB", code=WRONG)
    try:
        return list(_documents(str(path), content))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise OperationError(f"is not YAML: {error}", code=WRONG) from error


def _documents(file: str, content: bytes) -> Iterator[ManifestDocument]:
    import yaml  # noqa: PLC0415

    loader = yaml.SafeLoader(content)
    try:
        while loader.check_node():
            node = loader.get_node()
            yield ManifestDocument(file=file, content=loader.construct_document(node), node=node)
    finally:
        loader.dispose()


def _inner(node: Any, step: str | int) -> Any:
    if isinstance(step, int):
        items = node.value if isinstance(node.value, list) else []
        return items[step] if step < len(items) and not isinstance(items[step], tuple) else None
    pairs = node.value if isinstance(node.value, list) else []
    return next((one[1] for one in pairs if isinstance(one, tuple) and one[0].value == step), None)
