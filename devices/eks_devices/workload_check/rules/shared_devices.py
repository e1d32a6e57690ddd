"""Claims whose devices somebody expects to be shared."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from ..._data import read_toml
from ..._pod_specs import is_lasting
from ...names import TEMPLATE_KIND
from ...vocabulary import DeviceType
from ..claimed import PodClaim
from .claim_content import asks_of, shares_gpus, types_of
from .context import Context, Told, listed_claims
from .how_many import is_on_every_node, pods_at_once
from .whole import ToldOfDocument, Whole, of_pod

_PAGE: Final = (
    "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/"
)
_FIX: Final = (
    "let the Pods name one ResourceClaim by resourceClaimName, which puts all of them on one "
    "node, or leave the sharing out"
)
_WITHOUT_OWNERS: Final = (DeviceType.EFA, DeviceType.COMPUTE_DOMAIN)


def shared_templates(whole: Whole) -> Iterator[ToldOfDocument]:
    """Templates with devices for several Pods, of which each Pod gets its own."""
    users: dict[tuple[str, str], list[tuple[Context, PodClaim]]] = defaultdict(list)
    for context in whole.pods:
        for claim in context.claims:
            if claim.kind == TEMPLATE_KIND:
                users[context.pod.namespace, claim.object_name].append((context, claim))
    for (_, name), found in users.items():
        total = sum(pods_at_once(one.pod) + is_on_every_node(one.pod) for one, _ in found)
        for context, claim in found:
            is_part = any(one.is_part for one in asks_of(claim))
            if (
                not is_part
                and _lasting_users(context, claim) <= 1
                and (shares_gpus(claim) or (total > 1 and _is_named_for_sharing(name)))
            ):
                yield from of_pod(context, _own_devices(context, claim, total))


def _lasting_users(context: Context, claim: PodClaim) -> int:
    return sum(map(is_lasting, context.used_by(claim)))


def _is_named_for_sharing(name: str) -> bool:
    words = re.split(r"[-.]", name)
    return any(one in words for one in read_toml("pod_rules.toml")["shared_names"]["words"])


def _own_devices(context: Context, claim: PodClaim, total: int) -> Iterator[Told]:
    count = f"{total} Pods use the template at once, and each" if total > 1 else "each Pod"
    yield context.warn(
        claim.steps,
        "TemplateSharesNothing",
        f"{count} gets devices of its own from the template {claim.object_name}: a template "
        "shares none between Pods"
        + (", and its configuration of sharing changes nothing" if shares_gpus(claim) else ""),
        fix=_FIX,
        source=read_toml("pod_rules.toml")["shared_names"]["source"],
    )


def shared_by_containers(context: Context) -> Iterator[Told]:
    """Containers that run together and have the same devices of a claim."""
    for claim in context.claims:
        names = _together(context, claim)
        types = types_of(claim)
        if not names or shares_gpus(claim) or types <= {*_WITHOUT_OWNERS}:
            continue
        if DeviceType.NEURON in types:
            yield context.warn(
                claim.steps,
                "ContainersShareNeuron",
                f"containers {', '.join(names)} have the same Neuron devices of the claim "
                f"{claim.name}, and a core belongs to one process alone: the second one fails "
                "unless each takes cores of its own",
                fix="give the claim a request for each container, and list it by `request`",
                source=_PAGE,
            )
        else:
            yield context.tell(
                claim.steps,
                "ContainersShareClaim",
                f"containers {', '.join(names)} have the same devices of the claim {claim.name}, "
                "not one part each",
                fix="give the claim a request for each container, and list it by `request`, where "
                "they need devices of their own",
                source=_PAGE,
            )


def _together(context: Context, claim: PodClaim) -> list[str]:
    """The names of containers that run together and have some device in common."""
    users = [
        (one.name, request)
        for one in context.containers
        if is_lasting(one)
        for _, name, request in listed_claims(one)
        if name == claim.name
    ]
    return [
        name
        for name, request in users
        if any(name != other and (not request or not its or request == its) for other, its in users)
    ]


def only_in_init(context: Context) -> Iterator[Told]:
    """Claims that only containers use that end before the others start."""
    for claim in context.claims:
        users = context.used_by(claim)
        if users and not any(map(is_lasting, users)):
            yield context.tell(
                claim.steps,
                "ClaimOnlyInInit",
                f"only init containers use the claim {claim.name}, and its devices stay with the "
                "Pod until it ends",
                fix="do that work in a Pod of its own, or list the claim in the containers too",
                source=_PAGE,
            )


RULES = (shared_by_containers, only_in_init)
SET_RULES = (shared_templates,)
