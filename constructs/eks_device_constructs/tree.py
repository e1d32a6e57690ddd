"""The construct tree, from which users may remove what they added."""

from __future__ import annotations

from constructs import IConstruct


def is_in_tree(construct: object) -> bool:
    """Whether a construct, and each one above it, was not removed again."""
    current: IConstruct = construct  # type: ignore[assignment]
    while (parent := current.node.scope) is not None:
        if parent.node.try_find_child(current.node.id) is None:
            return False
        current = parent
    return True
