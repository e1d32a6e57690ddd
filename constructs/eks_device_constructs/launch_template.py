"""Makes the launch template of a node group."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from aws_cdk import Fn
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from eks_devices.typecheck import is_token


def launch_template(scope: Construct, data: Mapping[str, Any]) -> ec2.CfnLaunchTemplate:
    """The launch template of a group, from `eks_devices.launch_template`.

    It is an L1: the L2 knows neither network cards nor capacity blocks. Its data is one override
    in CloudFormation's own words: what a user overrides is merged, and no key can vanish.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
    """
    template = ec2.CfnLaunchTemplate(scope, "LaunchTemplate", launch_template_data={})
    template.add_property_override("LaunchTemplateData", data)
    return template


def encoded(text: str | None) -> str | None:
    """User data in base64; where it holds tokens, CloudFormation encodes it."""
    if text is None:
        return None
    if is_token(text):
        return Fn.base64(text)
    return base64.b64encode(text.encode()).decode()
