"""The reference app: one cluster with one Trainium2 node group, without any AWS call."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks

from eks_device_constructs import AcceleratedCluster
from eks_devices import Capacity

app = cdk.App()
stack = cdk.Stack(app, "Training", env=cdk.Environment(region="us-east-2"))
vpc = ec2.Vpc(stack, "Vpc", max_azs=2)
cluster = AcceleratedCluster(
    stack,
    "Cluster",
    vpc=vpc,
    version=eks.KubernetesVersion.of(app.node.get_context("kubernetes_version")),
)
cluster.add_nodegroup(
    "Trn2",
    instance_type="trn2.48xlarge",
    subnet=vpc.private_subnets[0],
    capacity=Capacity.block(app.node.get_context("trn2_capacity_block")),
    max_size=4,
)
app.synth()
