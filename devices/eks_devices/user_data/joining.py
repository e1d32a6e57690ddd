"""User data as a node gets it, with what joins the node to its cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..findings import Finding, fault, raise_faults
from ..typecheck import wrong_type
from .access import ClusterAccess, needed_access, unknown_access
from .rendered import rendered
from .size import joined_size_faults

if TYPE_CHECKING:
    from ..plans import NodegroupPlan

_TEMPLATES = "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"


def user_data(plan: NodegroupPlan, *, access: ClusterAccess | None = None) -> str | None:
    """The user data of a group's nodes, None where nothing differs from the AMI's own.

    EKS merges it with its own part, which joins the node to the cluster. Beside an image of a
    user's own it merges nothing: then the text is complete.

    Args:
        plan: The plan of the group.
        access: The cluster; read only for an image of a user's own, which needs it.

    Raises:
        EksDevicesError: For an image of a user's own: `ClusterAccessNeeded` without a cluster,
            `UserDataTooLarge` where there is no room for what joins its nodes.

    Sources: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html,
    https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html,
    https://github.com/awslabs/amazon-eks-ami/blob/main/nodeadm/README.md
    """
    raise_faults(access_faults(plan, access, f"nodegroups.{plan.name}"))
    return rendered(plan, None if plan.ami_id is None else access)


def access_faults(plan: NodegroupPlan, access: object, path: str) -> Iterator[Finding]:
    """The fault of an image of a user's own whose nodes could not join; none for EKS's images.

    Nodes cannot join where something of their cluster is not known, or where their user data with
    all of it is larger than EC2 takes.

    Args:
        plan: The drawn plan of a group.
        access: A ClusterAccess; None where nothing is known of the cluster.
        path: How faults name the group, "nodegroups.trn2".
    """
    if plan.ami_id is None:
        return
    if access is not None and not isinstance(access, ClusterAccess):
        yield wrong_type(
            f"{path}.ami_id.access", access, "a ClusterAccess", "use ClusterAccess(...)"
        )
        return
    unknown = unknown_access(plan, access)
    if access is not None and not unknown:
        yield from joined_size_faults(plan, access, path)
        return
    yield fault(
        "ClusterAccessNeeded",
        f"{path}.ami_id",
        "EKS adds nothing to the user data of an image of your own, and what a node needs to "
        "join this cluster is not known",
        got=f"a cluster without {' and '.join(unknown)}",
        allowed=f"a cluster with {', '.join(needed_access(plan).values())}",
        fix="tell them by ClusterReference(endpoint=, certificate_authority=, service_ipv4_cidr=) "
        "with values of `aws eks describe-cluster`; AcceleratedCluster(service_ipv4_cidr=) is for "
        "a new cluster, and replaces one that is deployed",
        source=_TEMPLATES,
    )
