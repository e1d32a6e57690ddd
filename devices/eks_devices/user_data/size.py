"""How large user data may be."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .._data import read_toml
from ..findings import Finding
from ..typecheck import is_token
from .access import ClusterAccess, needed_access
from .parts import too_large
from .rendered import rendered

if TYPE_CHECKING:
    from ..plans import NodegroupPlan

# Stands for what joins the nodes beside an image of a user's own; the room left is for its texts.
_UNKNOWN = ClusterAccess(name="", endpoint="", certificate_authority="", service_cidr="")

_FIXES = {
    "user_data": "build it into an image of your own, or let a short script download the rest",
    "kubelet": "set fewer fields, or shorter ones",
    "labels": "leave labels out, or shorten them",
    "taints": "leave taints out, or shorten them",
    "ami_id": "name the cluster's certificate and endpoint as EKS shows them",
}


def user_data_size_faults(plan: NodegroupPlan, path: str) -> Iterator[Finding]:
    """The fault of user data that leaves no room for what joins the node.

    A plan does not know its cluster: about 2,400 bytes are left for what EKS adds, or for what
    `user_data` writes beside an image of a user's own.

    Args:
        plan: The drawn plan of a group.
        path: How faults name the group, "nodegroups.trn2".
    """
    if plan.user_data is None and plan.ami_id is None and not plan.kubelet:
        return  # what the library writes by itself is a small part of the room
    text = rendered(plan, None if plan.ami_id is None else _UNKNOWN) or ""
    room = read_toml("user_data.toml")["size"]["joining"]
    yield from _faults(text, _sizes(plan), path, room=room)


def joined_size_faults(plan: NodegroupPlan, access: ClusterAccess, path: str) -> Iterator[Finding]:
    """The fault of user data that EC2 refuses for its size, what joins the node included.

    Texts that are tokens count as what the others leave of the room for all of them.

    Args:
        plan: The drawn plan of a group with an image of a user's own.
        access: All that its nodes need to know of the cluster.
        path: How faults name the group, "nodegroups.trn2".
    """
    given = {name: getattr(access, name) for name in needed_access(plan)}
    tokens = {name: "" for name, value in given.items() if is_token(value)}
    text = rendered(plan, dataclasses.replace(access, **tokens)) or ""
    joining = sum(len(value) for name, value in given.items() if name not in tokens)
    sizes = _sizes(plan) | {"ami_id": joining}
    room = read_toml("user_data.toml")["size"]["joining"] - joining if tokens else 0
    yield from _faults(text, sizes, path, room=max(room, 0))


def _faults(text: str, sizes: dict[str, int], path: str, *, room: int) -> Iterator[Finding]:
    """The fault, which names the option that brings the most text."""
    limit, size = read_toml("user_data.toml")["size"], len(text.encode())
    if size > limit["most"] - room:
        option = max(sizes, key=sizes.__getitem__)
        allowed = f"at most {limit['most'] - room} bytes"
        allowed += f", which leaves {room} for what joins the node" if room else ""
        yield too_large(f"{path}.{option}", size, allowed, _FIXES[option])


def _sizes(plan: NodegroupPlan) -> dict[str, int]:
    """How much text an option brings; EKS sets labels and taints, except on an own image."""
    own = plan.user_data.parts if plan.user_data else ()
    sizes = {
        "user_data": sum(len(part.body()) for part in own),
        "kubelet": len(json.dumps(plan.kubelet)),
    }
    if plan.ami_id is not None:
        sizes["labels"] = sum(len(key) + len(value) for key, value in plan.labels.items())
        sizes["taints"] = sum(len(str(taint)) for taint in plan.taints)
    return sizes
