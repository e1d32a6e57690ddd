"""The construct tree, from which users may remove what they added."""

from __future__ import annotations

from constructs import IConstruct


def is_in_tree(construct: IConstruct) -> bool:
    """Whether a construct, and each one above it, was not removed again."""
    current = construct
    while (parent := current.node.scope) is not None:
        if parent.node.try_find_child(current.node.id) is not current:
            return False
        current = parent
    return True
