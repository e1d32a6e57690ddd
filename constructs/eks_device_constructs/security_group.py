"""The security group that lets EFA traffic pass between nodes."""

from __future__ import annotations

from aws_cdk import aws_ec2 as ec2
from constructs import Construct


def efa_security_group(scope: Construct, vpc: ec2.IVpc) -> ec2.SecurityGroup:
    """A group that allows all traffic to and from itself, and out.

    EFA frames are not IP: only a rule that names the group itself lets them out, and the CDK
    drops such a rule from a group that allows all outbound traffic. So it is a resource here.

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
    ec2.CfnSecurityGroupEgress(
        group,
        "EfaEgress",
        group_id=group.security_group_id,
        destination_security_group_id=group.security_group_id,
        ip_protocol="-1",
        description="EFA to the group itself",
    )
    return group
