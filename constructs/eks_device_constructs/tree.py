"""The construct tree, from which users may remove what they added."""

from __future__ import annotations

from aws_cdk import Stack
from constructs import IConstruct


def is_in_tree(construct: IConstruct) -> bool:
    """Whether a construct, and each one above it, was not removed again."""
    current = construct
    while (parent := current.node.scope) is not None:
        if parent.node.try_find_child(current.node.id) is not current:
            return False
        current = parent
    return True


def top_stack(construct: IConstruct) -> Stack:
    """The stack that is deployed with a construct: nested ones are part of another."""
    stack = Stack.of(construct)
    while stack.nested_stack_parent is not None:
        stack = stack.nested_stack_parent
    return stack
