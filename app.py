"""The reference app: two clusters with accelerated node groups, without any AWS call.

Context values: `kubernetes_version`, `delivery`, reservations and the network of Blackwell; see
cdk.json.
"""

from __future__ import annotations

from importlib import import_module

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks

from eks_device_constructs import AcceleratedCluster, Delivery
from eks_devices import (
    Capacity,
    DeviceRequest,
    DeviceType,
    MatchAttribute,
    Mechanism,
    OperatingSystem,
    plan_cluster,
)

app = cdk.App()
version = app.node.get_context("kubernetes_version")
# A version that these clusters cannot have is told here, before kubectl's package is missing.
plan_cluster(kubernetes_version=version, nodegroups=(), keep={DeviceType.GPU: (Mechanism.DRA,)})


def delivery_of(stack: cdk.Stack) -> Delivery:
    """By kubectl, or with `--context delivery=gitops` as files in dist/."""
    how = app.node.get_context("delivery")
    if how == "gitops":
        return Delivery.gitops(f"dist/{stack.stack_name}")
    if how != "kubectl":
        raise ValueError(f"context delivery: got {how!r}; allowed: kubectl, gitops")
    minor = version.removeprefix("1.")
    package = import_module(f"aws_cdk.lambda_layer_kubectl_v{minor}")
    layer = getattr(package, f"KubectlV{minor}Layer")(stack, "Kubectl")
    return Delivery.kubectl(kubectl_layer=layer)


def make_cluster(stack: cdk.Stack, vpc: ec2.IVpc) -> AcceleratedCluster:
    """A cluster that gets the managers of its groups, with two ordinary nodes for system Pods."""
    cluster = AcceleratedCluster(
        stack,
        "Cluster",
        vpc=vpc,
        version=eks.KubernetesVersion.of(version),
        delivery=delivery_of(stack),
    )
    cluster.add_system_nodegroup(instance_types=["m7i.large"])
    return cluster


training = cdk.Stack(app, "Training", env=cdk.Environment(region="us-east-2"))
vpc = ec2.Vpc(training, "Vpc", max_azs=2)
cluster = make_cluster(training, vpc)

# Trainium2: Neuron devices and EFA by DRA, which is what nobody naming a mechanism gets.
trn2 = cluster.add_nodegroup(
    "Trn2",
    instance_type="trn2.48xlarge",
    subnet=vpc.private_subnets[0],
    capacity=Capacity.block(app.node.get_context("trn2_capacity_block")),
    max_size=4,
)
trn2.add_resource_claim_template(
    "neuron-4",
    namespace="train",
    create_namespace=True,
    requests=[DeviceRequest.neuron(4), DeviceRequest.efa()],
    match=MatchAttribute.DEVICE_GROUP,
)

# H100: one GPU with the EFAs of its PCIe root, or a whole node, which takes two claims.
p5 = cluster.add_nodegroup(
    "P5",
    instance_type="p5.48xlarge",
    subnet=vpc.private_subnets[1],
    capacity=Capacity.reservation(app.node.get_context("p5_reservation")),
    max_size=8,
)
p5.add_resource_claim_template(
    "gpu-1",
    namespace="train",
    requests=[DeviceRequest.gpu(1), DeviceRequest.efa()],
    match=MatchAttribute.PCIE_ROOT,
)
p5.add_resource_claim_template("node-gpus", namespace="train", requests=[DeviceRequest.gpu(8)])
p5.add_resource_claim_template("node-efas", namespace="train", requests=[DeviceRequest.efa()])

# L40S and Inferentia2 by device plugins: Pods ask for nvidia.com/gpu and aws.amazon.com/neuron.
cluster.add_nodegroup(
    "G6e",
    instance_type="g6e.12xlarge",
    mechanism=Mechanism.DEVICE_PLUGIN,
    max_size=4,
)
cluster.add_nodegroup(
    "Inf2",
    instance_type="inf2.48xlarge",
    operating_system=OperatingSystem.BOTTLEROCKET,
    max_size=4,
)

# GB200: 18 nodes of an UltraServer in a Local Zone share memory over NVLink. Its subnet was made
# beside a network that is there already, so both are imported.
blackwell = cdk.Stack(app, "Blackwell", env=cdk.Environment(region="us-east-1"))
network = ec2.Vpc.from_vpc_attributes(blackwell, "Vpc", **app.node.get_context("blackwell_network"))
gb200 = make_cluster(blackwell, network).add_nodegroup(
    "Gb200",
    instance_type="p6e-gb200.36xlarge",
    subnet=ec2.Subnet.from_subnet_id(
        blackwell, "LocalZone", app.node.get_context("local_zone_subnet")
    ),
    capacity=Capacity.ultraserver_block(app.node.get_context("gb200_capacity_block"), nodes=18),
    max_size=18,
)
gb200.add_compute_domain("trainer", namespace="train", nodes=18, create_namespace=True)
gb200.add_resource_claim_template(
    "gb200-node", namespace="train", requests=[DeviceRequest.gpu(4), DeviceRequest.efa()]
)
app.synth()
