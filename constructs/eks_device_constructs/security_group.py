"""The security groups that let EFA traffic pass between nodes."""

from __future__ import annotations

from typing import cast
from weakref import WeakSet

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from eks_devices import Finding
from eks_devices.findings import warning

from .tree import child_of

_SOURCE = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html"
# No user has constructs of these ids in a group of theirs.
_INGRESS, _EGRESS = "EksDevicesEfaIngress", "EksDevicesEfaEgress"
# These have both rules already.
_made: WeakSet[ec2.SecurityGroup] = WeakSet()


def efa_security_group(
    scope: Construct,
    id: str,  # noqa: A002  (the CDK's own name for it)
    vpc: ec2.IVpc,
) -> ec2.SecurityGroup:
    """A group that allows all traffic to and from itself, and out.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html
    """
    group = ec2.SecurityGroup(
        scope,
        id,
        vpc=vpc,
        allow_all_outbound=True,
        description="EFA traffic between the nodes of this cluster",
    )
    group.add_ingress_rule(group, ec2.Port.all_traffic(), "EFA from the group itself")
    _add_egress(group, "EfaEgress", group.security_group_id)
    _made.add(group)
    return group


def allow_efa(group: ec2.ISecurityGroup) -> None:
    """Let EFA traffic pass between the members of a user's group, once."""
    if not is_own(group) or group in _made:
        return
    # What the app makes itself is a construct, which the interface does not say.
    own, id_ = cast(Construct, group), group.security_group_id
    if child_of(own, _INGRESS) is None:
        ec2.CfnSecurityGroupIngress(
            own,
            _INGRESS,
            group_id=id_,
            source_security_group_id=id_,
            ip_protocol="-1",
            description="EFA from the group itself",
        )
    if child_of(own, _EGRESS) is None:
        _add_egress(own, _EGRESS, id_)


def _add_egress(scope: Construct, id_: str, group_id: str) -> None:
    """EFA frames are not IP: only a rule that names the group itself lets them out.

    The CDK drops such a rule from a group that allows all outbound traffic. So it is a resource.
    """
    ec2.CfnSecurityGroupEgress(
        scope,
        id_,
        group_id=group_id,
        destination_security_group_id=group_id,
        ip_protocol="-1",
        description="EFA to the group itself",
    )


def is_own(group: ec2.ISecurityGroup) -> bool:
    """Whether the app makes a group itself, so that rules may be added to it."""
    return isinstance(group.node.default_child, ec2.CfnSecurityGroup)


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
