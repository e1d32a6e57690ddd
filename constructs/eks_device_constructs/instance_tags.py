"""Tags of a node group's instances and volumes: EKS gives them none of the group's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks

from eks_devices.template_overrides import merged

_KINDS = ("instance", "volume")
_FIELD = "TagSpecifications"


def instance_tags(name: str, tags: Mapping[str, str]) -> dict[str, Any]:
    """The field of a launch template that tags what an instance brings."""
    named = {"Name": name, **tags}
    drawn = [{"Key": key, "Value": value} for key, value in sorted(named.items())]
    return {_FIELD: [{"ResourceType": kind, "Tags": drawn} for kind in _KINDS]}


def inherit_tags(
    template: ec2.CfnLaunchTemplate,
    nodegroup: eks.CfnNodegroup,
    name: str,
    tags: Mapping[str, str],
    overrides: Mapping[str, Any],
) -> None:
    """Give instances the tags that `Tags.of(...)` gave the group, which are known at synth.

    The group itself gets none: CloudFormation refuses to update its tags together with its launch
    template, so that a new tag of the stack would fail the deployment.

    Args:
        template: The group's launch template.
        nodegroup: The group.
        name: The name of its instances.
        tags: The group's own tags, which win over inherited ones.
        overrides: What a user overrides of the template, which wins over both.
    """
    inherited = nodegroup.tags.tag_values()
    if not inherited:
        return
    nodegroup.add_property_deletion_override("Tags")
    own = {_FIELD: overrides[_FIELD]} if _FIELD in overrides else {}
    drawn = merged(instance_tags(name, {**inherited, **tags}), own)[_FIELD]
    template.add_property_override(f"LaunchTemplateData.{_FIELD}", drawn)
