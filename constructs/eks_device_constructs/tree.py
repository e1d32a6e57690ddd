"""The construct tree, from which users may remove what they added.

What never changes of a construct is asked for once, as each question is a message to another
process.
"""

from __future__ import annotations

from typing import NamedTuple, cast
from weakref import WeakKeyDictionary

from aws_cdk import Stack, Stage
from constructs import Construct, IConstruct, Node


class Place(NamedTuple):
    """Where a construct stands; the app itself has no parent."""

    id: str
    parent: IConstruct | None


_places: WeakKeyDictionary[IConstruct, Place] = WeakKeyDictionary()
_nodes: WeakKeyDictionary[IConstruct, Node] = WeakKeyDictionary()
_stacks: WeakKeyDictionary[IConstruct, Stack] = WeakKeyDictionary()
_addresses: WeakKeyDictionary[IConstruct, str] = WeakKeyDictionary()
_stages: WeakKeyDictionary[IConstruct, tuple[Stage | None, str]] = WeakKeyDictionary()


def reference_of(construct: IConstruct) -> object:
    """What tells a construct from others: Python has a new object for each list it is in."""
    reference = getattr(construct, "__jsii_ref__", None)
    return construct if reference is None else reference.ref


def node_of(construct: IConstruct) -> Node:
    """The node of a construct."""
    known = _nodes.get(construct)
    if known is None:
        known = _nodes[construct] = construct.node
    return known


def place_of(construct: IConstruct) -> Place:
    """Where a construct stands, whether it was removed since or not."""
    known = _places.get(construct)
    if known is None:
        node = node_of(construct)
        known = _places[construct] = Place(node.id, node.scope)
    return known


def note_place(construct: IConstruct, scope: IConstruct, id: str) -> None:  # noqa: A002
    """Remember where a construct was just made."""
    _places[construct] = Place(id, scope)


def address_of(construct: IConstruct) -> str:
    """What tells a construct from all others of its app, and stays when they change."""
    known = _addresses.get(construct)
    if known is None:
        known = _addresses[construct] = str(node_of(construct).addr)
    return known


def is_in_tree(construct: IConstruct, *, beside: IConstruct | None = None) -> bool:
    """Whether a construct, and each one above it, was not removed again.

    Args:
        construct: What may have been removed.
        beside: Another construct; what both stand in is taken to be there.
    """
    shared = ancestors(beside) if beside is not None else []
    current = construct
    while (parent := place_of(current).parent) is not None and current not in shared:
        if node_of(parent).try_find_child(place_of(current).id) is not current:
            return False
        current = parent
    return True


def ancestors(construct: IConstruct) -> list[IConstruct]:
    """A construct and all that it stands in."""
    found = [construct]
    while (parent := place_of(found[-1]).parent) is not None:
        found.append(parent)
    return found


def stack_of(construct: IConstruct) -> Stack:
    """The stack of a construct."""
    known = _stacks.get(construct)
    if known is None:
        known = _stacks[construct] = Stack.of(construct)
    return known


def stage_of(construct: IConstruct) -> tuple[Stage | None, str]:
    """The stage of a construct and its path; both are empty outside of an app."""
    known = _stages.get(construct)
    if known is None:
        stage = Stage.of(construct)
        known = _stages[construct] = (stage, str(stage.node.path) if stage else "")
    return known


def top_stack(construct: IConstruct) -> Stack:
    """The stack that is deployed with a construct: nested ones are part of another."""
    stack = stack_of(construct)
    while stack.nested_stack_parent is not None:
        stack = stack.nested_stack_parent
    return stack


def child_of(construct: IConstruct, id: str) -> Construct | None:  # noqa: A002
    """The child of this id, None where there is none."""
    return cast("Construct | None", node_of(construct).try_find_child(id))
