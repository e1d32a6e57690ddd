"""Tags of a node group's instances and volumes: EKS gives them none of the group's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks

from eks_devices import Finding
from eks_devices.launch_template import TAG_FIELD, tag_specifications
from eks_devices.tags import tag_count_faults
from eks_devices.typecheck import path_step


def inherit_tags(
    template: ec2.CfnLaunchTemplate,
    nodegroup: eks.CfnNodegroup,
    name: str,
    tags: Mapping[str, str],
    overrides: Mapping[str, Any],
) -> list[Finding]:
    """Give instances the tags that `Tags.of(...)` gave the group, which are known at synth.

    The group itself gets none: CloudFormation refuses to update its tags together with its launch
    template, so that a new tag of the stack would fail the deployment.

    Args:
        template: The group's launch template.
        nodegroup: The group.
        name: The name of its instances.
        tags: The group's own tags, which win over inherited ones.
        overrides: What a user overrides of the template, which wins over both.

    Returns:
        Why EC2 would start no instance: all tags together are too many.
    """
    inherited = nodegroup.tags.tag_values()
    if not inherited:
        # The faults of the plan have counted the others.
        return []
    nodegroup.add_property_deletion_override("Tags")
    drawn = tag_specifications(name, {**inherited, **tags}, overrides)
    template.add_property_override(f"LaunchTemplateData.{TAG_FIELD}", drawn)
    path = f"nodegroups.{path_step(name)}.tags"
    keys = [{tag["Key"] for tag in one["Tags"]} for one in drawn]
    return [*dict.fromkeys(one for some in keys for one in tag_count_faults(some, path))]
