"""One readable file for each template, to see in a review what a change does to a deployment."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest
import yaml

MANIFEST = "Custom::AWSCDK-EKS-KubernetesResource"
WHOLE = (
    "AWS::EKS::Nodegroup",
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::SecurityGroupEgress",
    "AWS::EC2::SecurityGroupIngress",
)
DIGEST = re.compile(r"[0-9a-f]{64}")


class Dumper(yaml.SafeDumper):
    """Texts of several lines as blocks."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


Dumper.add_representer(str, _text)


def readable(resource: dict[str, Any]) -> Any:
    """What a review of a resource looks at; the objects themselves have snapshots of their own."""
    kind, properties = resource["Type"], resource.get("Properties", {})
    if kind == MANIFEST:
        shown: Any = [identity(item) for item in json.loads(properties["Manifest"])]
    elif kind == "AWS::EC2::LaunchTemplate":
        shown = launch_template(properties["LaunchTemplateData"])
    elif kind in WHOLE:
        shown = properties
    else:
        return kind
    kept = {key: resource[key] for key in ("DeletionPolicy", "DependsOn") if key in resource}
    return {"Type": kind, **kept, "Properties": shown}


def identity(item: dict[str, Any]) -> str:
    metadata = item["metadata"]
    return "/".join([item["kind"], *filter(None, [metadata.get("namespace")]), metadata["name"]])


def launch_template(data: dict[str, Any]) -> dict[str, Any]:
    shown = {key: data[key] for key in sorted({*data} - {"NetworkInterfaces", "UserData"})}
    if "UserData" in data:
        shown["UserData"] = base64.b64decode(data["UserData"]).decode()
    if "NetworkInterfaces" in data:
        first = data["NetworkInterfaces"][0]
        shown["Groups of each interface"] = first["Groups"]
        shown["Interfaces (card, device, type)"] = [
            f"{one['NetworkCardIndex']} {one['DeviceIndex']} {one['InterfaceType']}"
            for one in data["NetworkInterfaces"]
        ]
    return shown


@pytest.mark.parametrize("stack", ["Training", "Blackwell"])
def test_the_template_of_a_stack(assembly, snapshot, stack):
    folder, _ = assembly
    content = json.loads((folder / f"{stack}.template.json").read_text(encoding="utf-8"))
    shown = {name: readable(one) for name, one in sorted(content["Resources"].items())}

    text = yaml.dump(shown, Dumper=Dumper, sort_keys=False, width=110)

    snapshot(f"{stack}.yaml", DIGEST.sub("DIGEST", text))
