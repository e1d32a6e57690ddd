"""Stacks for the tests of the constructs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_lambda as lambda_
from aws_cdk.assertions import Template

from eks_device_constructs import (
    AcceleratedCluster,
    ClusterReference,
    Delivery,
    DeviceDrivers,
)
from eks_devices import Capacity, EksDevicesError


class World:
    """An app with one stack, a network and a cluster without groups."""

    def __init__(
        self,
        outdir: str,
        *,
        version: str = "1.34",
        region: str | None = "us-east-2",
        delivery: Callable[[cdk.Stack], Delivery] | None = None,
        **options: Any,
    ) -> None:
        self.app = cdk.App(outdir=outdir)
        self.stack = cdk.Stack(self.app, "Training", env=cdk.Environment(region=region))
        self.vpc = ec2.Vpc(self.stack, "Vpc", max_azs=2)
        self.cluster = AcceleratedCluster(
            self.stack,
            "Cluster",
            vpc=self.vpc,
            version=eks.KubernetesVersion.of(version),
            delivery=delivery(self.stack) if delivery else None,
            **options,
        )

    def add_trn2(self, name: str = "Trn2", **options: Any) -> Any:
        given = {
            "instance_type": "trn2.48xlarge",
            "subnet": self.vpc.private_subnets[0],
            "capacity": Capacity.block("cr-0123456789abcdef0"),
            "max_size": 4,
        }
        return self.cluster.add_nodegroup(name, **(given | options))

    def template(self) -> Template:
        return Template.from_stack(self.stack)

    def only(self, kind: str) -> dict[str, Any]:
        """The only resource of a type."""
        (resource,) = self.template().find_resources(kind).values()
        return dict(resource)


@pytest.fixture
def make_world(tmp_path) -> Callable[..., World]:
    count = iter(range(1000))

    def make(**options: Any) -> World:
        return World(str(tmp_path / f"out{next(count)}"), **options)

    return make


@pytest.fixture
def kubectl() -> Callable[[cdk.Stack], Delivery]:
    """A delivery by kubectl; any layer will do, as the handler is never run here."""

    def make(stack: cdk.Stack) -> Delivery:
        layer = lambda_.LayerVersion.from_layer_version_arn(
            stack, "Kubectl", "arn:aws:lambda:us-east-2:111122223333:layer:kubectl:1"
        )
        return Delivery.kubectl(kubectl_layer=layer)

    return make


@pytest.fixture
def make_served(make_world, kubectl) -> Callable[..., World]:
    """Makes worlds whose cluster installs what its groups need."""
    return lambda **options: make_world(**({"delivery": kubectl} | options))


@pytest.fixture
def cluster_of_others(tmp_path) -> tuple[cdk.Stack, Callable[..., DeviceDrivers]]:
    """A stack, and what makes installations there in a cluster of others."""
    stack = cdk.Stack(cdk.App(outdir=str(tmp_path / "out")), "Stack")
    cluster = ClusterReference(name="theirs", version="1.36", security_group="sg-0123456789abcdef0")
    delivery = Delivery.gitops(str(tmp_path / "manifests"))

    def install(id_: str = "Drivers", **options: Any) -> DeviceDrivers:
        return DeviceDrivers(stack, id_, cluster=cluster, delivery=delivery, **options)

    return stack, install


@pytest.fixture
def faults_of() -> Callable[..., set[tuple[str, str]]]:
    """The code and path of each fault of a call."""

    def find(call: Callable[..., Any], *args: Any, **options: Any) -> set[tuple[str, str]]:
        with pytest.raises(EksDevicesError) as raised:
            call(*args, **options)
        return {(one.code, one.path) for one in raised.value.faults}

    return find
