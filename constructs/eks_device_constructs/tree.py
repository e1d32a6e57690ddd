"""The construct tree, from which users may remove what they added.

What never changes of a construct is asked for once, as each question is a message to another
process.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar, cast
from weakref import WeakKeyDictionary

from aws_cdk import Stack, Stage, Token
from constructs import Construct, IConstruct, Node

from .stable_names import identity

Answer = TypeVar("Answer")
Made = TypeVar("Made")


class Place(NamedTuple):
    """Where a construct stands; the app itself has no parent."""

    id: str
    parent: IConstruct | None


class Remembered(Generic[Answer]):
    """Decorates a question about a construct, which is then asked once."""

    def __init__(self, ask: Callable[[Any], Answer]) -> None:
        self._ask = ask
        self._answers: WeakKeyDictionary[IConstruct, Answer] = WeakKeyDictionary()
        functools.update_wrapper(self, ask)

    def __call__(self, construct: IConstruct) -> Answer:
        """The answer, asked for if it is not known."""
        if construct not in self._answers:
            self._answers[construct] = self._ask(construct)
        return self._answers[construct]

    def note(self, construct: IConstruct, answer: Answer) -> None:
        """Remember an answer that is known without asking."""
        self._answers[construct] = answer


@Remembered
def node_of(construct: IConstruct) -> Node:
    """The node of a construct."""
    return construct.node


@Remembered
def place_of(construct: IConstruct) -> Place:
    """Where a construct stands, whether it was removed since or not."""
    node = node_of(construct)
    return Place(node.id, node.scope)


@Remembered
def address_of(construct: IConstruct) -> str:
    """What tells a construct from all others of its app, and stays when they change."""
    return str(node_of(construct).addr)


@Remembered
def stack_of(construct: IConstruct) -> Stack:
    """The stack of a construct."""
    return Stack.of(construct)


@Remembered
def stage_of(construct: IConstruct) -> tuple[Stage | None, str]:
    """The stage of a construct and its path; both are empty outside of an app."""
    stage = Stage.of(construct)
    return stage, str(stage.node.path) if stage else ""


@Remembered
def environment_of(stack: Stack) -> tuple[str, str]:
    """The account and the Region of a stack; each is empty where only the deployment knows it."""
    return _literal(stack.account), _literal(stack.region)


def _literal(value: str) -> str:
    return "" if Token.is_unresolved(value) else value


@Remembered
def _identities(stack: IConstruct) -> dict[str, Any]:
    """What texts stand for in a stack, as far as it was asked."""
    del stack
    return {}


def identity_of(scope: IConstruct, value: str) -> Any:
    """What a text stands for in the stack of a scope; see `stable_names.identity`."""
    stack = stack_of(scope)
    known = _identities(stack)
    if value not in known:
        known[value] = identity(stack, value)
    return known[value]


def reference_of(construct: IConstruct) -> object:
    """What tells a construct from others: Python has a new object for each list it is in."""
    reference = getattr(construct, "__jsii_ref__", None)
    return construct if reference is None else reference.ref


def note_place(construct: IConstruct, scope: IConstruct, id: str) -> None:  # noqa: A002
    """Remember where a construct was just made."""
    place_of.note(construct, Place(id, scope))


def is_in_tree(construct: IConstruct, *, beside: IConstruct | None = None) -> bool:
    """Whether a construct, and each one above it, was not removed again.

    Args:
        construct: What may have been removed.
        beside: Another construct; what both stand in is taken to be there.
    """
    shared = ancestors(beside) if beside is not None else []
    current = construct
    while (parent := place_of(current).parent) is not None and current not in shared:
        found = node_of(parent).try_find_child(place_of(current).id)
        if found is None or reference_of(found) != reference_of(current):
            return False
        current = parent
    return True


def ancestors(construct: IConstruct) -> list[IConstruct]:
    """A construct and all that it stands in."""
    found = [construct]
    while (parent := place_of(found[-1]).parent) is not None:
        found.append(parent)
    return found


def top_stack(construct: IConstruct) -> Stack:
    """The stack that is deployed with a construct: nested ones are part of another."""
    stack = stack_of(construct)
    while stack.nested_stack_parent is not None:
        stack = stack.nested_stack_parent
    return stack


def child_of(construct: IConstruct, id: str) -> Construct | None:  # noqa: A002
    """The child of this id, None where there is none."""
    return cast("Construct | None", node_of(construct).try_find_child(id))


def once(
    scope: Construct,
    id: str,  # noqa: A002  (the CDK's own name for it)
    make: Callable[[Construct, str], Made],
) -> Made:
    """The child of this id, which all who ask for it share: made for the first of them."""
    found = child_of(scope, id)
    return make(scope, id) if found is None else cast(Made, found)
