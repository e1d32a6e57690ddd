"""Judges the node groups of a CloudFormation template by the rules of EC2 and EKS.

The rules are written from public sources, each with its own, and share nothing with the code that
draws node groups: what both got wrong in the same way would go unseen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.checker import capacity_rules, ec2_rules, eks_rules, user_data_rules
from tests.checker.pair import Pair, Values, Violation, as_values, target_id, violations

RULE_MODULES = (ec2_rules, capacity_rules, eks_rules, user_data_rules)
LIMITS = "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html"
MOST_RESOURCES = 500
MOST_BYTES = 1_000_000


def check(
    launch_template_data: Values, nodegroup: Values, resources: Values | None = None
) -> list[Violation]:
    """What EC2 and EKS refuse of a launch template and the node group that uses it."""
    return violations(Pair(launch_template_data, nodegroup, resources or {}))


def pairs(template: Values) -> dict[str, Pair]:
    """The node groups of a template by logical id, each with its launch template."""
    return dict(_pairs(as_values(template.get("Resources"))))


def _pairs(resources: Values) -> Iterator[tuple[str, Pair]]:
    for logical_id, resource in resources.items():
        if resource["Type"] == "AWS::EKS::Nodegroup":
            group = resource["Properties"]
            reference = as_values(group.get("LaunchTemplate"))
            template_id = target_id(reference.get("Id"))
            found = as_values(resources.get(template_id or ""))
            data = as_values(found.get("Properties")).get("LaunchTemplateData", {})
            yield logical_id, Pair(data, group, resources)


def check_size(template: Values, text: str) -> list[Violation]:
    """What CloudFormation refuses of a template for its size alone."""
    count, size = len(template["Resources"]), len(text.encode())
    found = []
    if count > MOST_RESOURCES:
        found.append(Violation("template-resources", f"{count} resources", LIMITS))
    if size > MOST_BYTES:
        found.append(Violation("template-size", f"{size} bytes", LIMITS))
    return found


def compact(template: Values) -> str:
    """A template as a stack without indentation writes it."""
    return json.dumps(template, separators=(",", ":"))
