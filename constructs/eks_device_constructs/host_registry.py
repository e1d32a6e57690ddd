"""Remembers what stands for each cluster."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from aws_cdk import Reference, Token, Tokenization
from constructs import IConstruct

from .hosts import NodegroupHost
from .known_cluster import KnownCluster
from .tree import Remembered, address_of, environment_of, is_in_tree, stack_of, stage_of


class ClusterKey(NamedTuple):
    """What tells a cluster from all others of a stage.

    Two clusters of one name exist in two Regions or accounts. Where only the deployment knows
    these, stacks are taken to be in the same ones. A token is what it stands for: its text is a
    running counter.
    """

    environment: tuple[str, ...]
    name: str


# Functions of a template that read what only its stack has, and pseudo parameters that do not.
_OF_STACK = ("Fn::GetAtt", "Fn::Sub", "Fn::FindInMap", "Fn::If", "Fn::Transform")
_SHARED = ("AWS::AccountId", "AWS::Partition", "AWS::Region", "AWS::URLSuffix")

_hosts: WeakKeyDictionary[object, NodegroupHost] = WeakKeyDictionary()


def note_host(cluster: object, host: NodegroupHost) -> None:
    """Remember the host of a cluster that this app makes."""
    _hosts[cluster] = host


def host_of(cluster: object) -> NodegroupHost | None:
    """The host of a cluster, None for what is none of this app or had no group so far."""
    try:
        return _hosts.get(cluster)
    except TypeError:  # nothing that has no weak reference is a cluster
        return None


def note_names(host: NodegroupHost, names: Iterable[str | None]) -> None:
    """Let references to a cluster that this app makes find it by its name."""
    host.known.host = host
    for key in _keys(host.place, names):
        known = known_as(host.place, key)
        if known is None or known.is_forgotten:
            note_known(host.place, key, host.known)


def known_by_names(where: IConstruct, names: Iterable[str | None]) -> KnownCluster | None:
    """What references said of a cluster that this app makes, before it was made or had groups."""
    found = (known_as(where, key) for key in _keys(where, names))
    return next((one for one in found if one is not None), None)


def _keys(where: IConstruct, names: Iterable[str | None]) -> Iterator[ClusterKey]:
    for name in names:
        key = None if name is None else cluster_key(where, name)
        if key is not None:
            yield key


def known_as(where: IConstruct, key: ClusterKey) -> KnownCluster | None:
    """What is known of a cluster in the stage of a construct, None for nothing.

    A cluster that this app made and removed again is none.
    """
    known = _by_key(_stage(where)).get(key)
    is_removed = known is not None and known.host is not None and not is_in_tree(known.host.place)
    return None if is_removed else known


def note_known(where: IConstruct, key: ClusterKey, known: KnownCluster) -> None:
    """Remember what is known of a cluster that this app refers to."""
    _by_key(_stage(where))[key] = known


def cluster_key(where: IConstruct, name: str) -> ClusterKey | None:
    """The key of a cluster; None for a name that stands for nothing."""
    stack = stack_of(where)
    try:
        owners = [*owners_of(name)]
        # The attribute of a construct is resolved where the construct is.
        known: Any = (owners or [stack])[0].resolve(name)
    except Exception:  # noqa: BLE001  (the CDK does not know the token, and says so in several ways)
        return None
    if known is None:
        return None
    addresses = [address_of(one) for one in owners]
    text = json.dumps([*addresses, known], sort_keys=True, default=repr)
    if owners:
        return ClusterKey((), text)
    # What only its stack knows is something else in another one.
    of_stack = () if _is_shared(known) else (address_of(stack),)
    return ClusterKey((*environment_of(stack), *of_stack), text)


def _is_shared(known: Any) -> bool:
    """Whether a resolved text means the same in all stacks of an account and Region."""
    if isinstance(known, Mapping):
        return all(
            value in _SHARED if key == "Ref" else key not in _OF_STACK and _is_shared(value)
            for key, value in known.items()
        )
    if isinstance(known, Sequence) and not isinstance(known, str):
        return all(_is_shared(one) for one in known)
    return True


def owners_of(name: str) -> Iterator[Any]:
    """The stacks of the constructs that a token is of."""
    if Token.is_unresolved(name):
        for one in Tokenization.reverse_string(name).tokens:
            if isinstance(one, Reference):
                yield stack_of(one.target)


def _stage(where: IConstruct) -> IConstruct:
    return stage_of(where)[0] or stack_of(where)


@Remembered
def _by_key(stage: IConstruct) -> dict[ClusterKey, KnownCluster]:
    del stage
    return {}
