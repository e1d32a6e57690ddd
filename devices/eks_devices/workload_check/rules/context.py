"""What rules look at."""

from __future__ import annotations

from dataclasses import dataclass

from ...plans import ClusterPlan
from ..claimed import PodClaim
from ..pods import PodTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A Pod template, its claims and the node groups."""

    pod: PodTemplate
    claims: tuple[PodClaim, ...]
    plan: ClusterPlan
