"""What a node needs to join its cluster where EKS adds nothing to its user data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..vocabulary import OperatingSystem

if TYPE_CHECKING:
    from ..plans import NodegroupPlan

_EVERYWHERE = {
    "name": "a name",
    "endpoint": "an endpoint",
    "certificate_authority": "a certificate authority",
}
# Bottlerocket finds the address of its DNS by itself.
_ON_AL2023 = {"service_cidr": "a range of Services"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAccess:
    """What a node with an image of a user's own needs to join its cluster; texts may be tokens.

    Args:
        name: The cluster's name.
        endpoint: The URL of its API server; None where it is not known.
        certificate_authority: The certificate of its API server, in base64 as EKS shows it; None
            where it is not known.
        service_cidr: The address range of its Services, which AL2023 needs; None where it is not
            known.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
    """

    name: str
    endpoint: str | None = None
    certificate_authority: str | None = None
    service_cidr: str | None = None


def unknown_access(plan: NodegroupPlan, access: ClusterAccess | None) -> list[str]:
    """What the nodes of a plan need of their cluster, and nobody knows, in words.

    Args:
        plan: The drawn plan of a group with an image of a user's own.
        access: What is known of the cluster.
    """
    return [words for name, words in needed_access(plan).items() if not _is_known(access, name)]


def needed_access(plan: NodegroupPlan) -> dict[str, str]:
    """What nodes with an image of a user's own need, by the names of ClusterAccess, in words."""
    return _EVERYWHERE | (_ON_AL2023 if plan.operating_system is OperatingSystem.AL2023 else {})


def _is_known(access: ClusterAccess | None, name: str) -> bool:
    value = getattr(access, name, None)
    return isinstance(value, str) and value != ""
