"""The security groups that let EFA traffic pass between nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from eks_devices import Finding
from eks_devices.findings import warning
from eks_devices.typecheck import wrong_type

_SOURCE = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html"
_INGRESS, _EGRESS = "EfaIngress", "EfaEgress"


def efa_security_group(scope: Construct, vpc: ec2.IVpc) -> ec2.SecurityGroup:
    """A group that allows all traffic to and from itself, and out.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html
    """
    group = ec2.SecurityGroup(
        scope,
        "EfaSecurityGroup",
        vpc=vpc,
        allow_all_outbound=True,
        description="EFA traffic between the nodes of this cluster",
    )
    group.add_ingress_rule(group, ec2.Port.all_traffic(), "EFA from the group itself")
    _add_egress(group, group.security_group_id)
    return group


def allow_efa(group: ec2.ISecurityGroup) -> None:
    """Let EFA traffic pass between the members of a user's group, once."""
    if not is_own(group) or group.node.try_find_child(_EGRESS) is not None:
        return
    id_ = group.security_group_id
    ec2.CfnSecurityGroupIngress(
        _construct(group),
        _INGRESS,
        group_id=id_,
        source_security_group_id=id_,
        ip_protocol="-1",
        description="EFA from the group itself",
    )
    _add_egress(group, id_)


def _add_egress(group: Any, id_: str) -> None:
    """EFA frames are not IP: only a rule that names the group itself lets them out.

    The CDK drops such a rule from a group that allows all outbound traffic. So it is a resource.
    """
    ec2.CfnSecurityGroupEgress(
        group,
        _EGRESS,
        group_id=id_,
        destination_security_group_id=id_,
        ip_protocol="-1",
        description="EFA to the group itself",
    )


def is_own(group: ec2.ISecurityGroup) -> bool:
    """Whether the app makes a group itself, so that rules may be added to it."""
    return isinstance(group.node.default_child, ec2.CfnSecurityGroup)


def security_group_faults(group: Any, path: str) -> Iterator[Finding]:
    """The fault of what is no security group."""
    if group is not None and not (hasattr(group, "security_group_id") and hasattr(group, "node")):
        fix = "pass one group, ec2.SecurityGroup(...) or .from_security_group_id(...)"
        yield wrong_type(path, group, "one ec2.ISecurityGroup, or None", fix)


def efa_rules_demanded(group: ec2.ISecurityGroup, path: str) -> Finding:
    """What a group that was imported must have, because nothing is added to it here."""
    return warning(
        "EfaRulesDemanded",
        path,
        "the security group is imported, so no rules are added to it: EFA needs one for all "
        "traffic from the group itself, and one for all traffic to the group itself, even where "
        "traffic to anywhere is allowed",
        fix=f"make sure that {group.node.path} has both, or leave security_group out",
        source=_SOURCE,
    )


def _construct(group: Any) -> Construct:
    return group  # type: ignore[no-any-return]  # what the app makes is a construct
