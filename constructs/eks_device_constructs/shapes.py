"""What values look like: jsii's interfaces have no class that `isinstance` could ask for."""

from __future__ import annotations

from typing import Any, TypeGuard

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from constructs import Node


def attribute(value: object, name: str) -> Any:
    """An attribute of a value, None where there is none.

    Imports of the CDK raise errors of several classes where they were not given it, and objects
    of a user's may raise anything.
    """
    try:
        return getattr(value, name, None)
    except Exception:  # noqa: BLE001  (whatever it raises, the attribute is not there)
        return None


def is_role(value: object) -> TypeGuard[iam.IRole]:
    """Whether a value is an IAM role, imported or not."""
    return not isinstance(value, type) and isinstance(attribute(value, "role_arn"), str)


def is_vpc(value: object) -> TypeGuard[ec2.IVpc]:
    """Whether a value is a network."""
    return _has(value, "private_subnets")


def is_subnet(value: object) -> TypeGuard[ec2.ISubnet]:
    """Whether a value is a subnet."""
    return _has(value, "subnet_id", "node", texts=("subnet_id",))


def is_security_group(value: object) -> TypeGuard[ec2.ISecurityGroup]:
    """Whether a value is a security group."""
    return _has(value, "security_group_id", "node", texts=("security_group_id",))


def is_key(value: object) -> TypeGuard[kms.IKey]:
    """Whether a value is a key of AWS KMS."""
    return _has(value, "key_ref")


def is_layer(value: object) -> TypeGuard[lambda_.ILayerVersion]:
    """Whether a value is a layer of AWS Lambda."""
    return _has(value, "layer_version_arn")


def is_kubectl_provider(value: object) -> TypeGuard[eks.IKubectlProvider]:
    """Whether a value applies Kubernetes objects at deployment."""
    return _has(value, "service_token", "node", texts=("service_token",))


def is_cluster(value: object) -> TypeGuard[eks.ICluster]:
    """Whether a value is a cluster of `aws_eks_v2`."""
    is_one = _has(value, "cluster_name", "node", texts=("cluster_name",))
    return is_one and not is_cluster_of_aws_eks(value) and not _is_cluster_of_ecs(value)


def is_cluster_of_aws_eks(value: object) -> bool:
    """Whether a value is a cluster of the older `aws_eks`, which has a role for kubectl."""
    try:
        return hasattr(value, "kubectl_role")
    except Exception:  # noqa: BLE001  (whatever it raises, it is none)
        return False


def _is_cluster_of_ecs(value: object) -> bool:
    """Whether a value is a cluster of `aws_ecs`, which has a name, too."""
    return attribute(value, "has_ec2_capacity") is not None


def _has(value: object, *names: str, texts: tuple[str, ...] = ()) -> bool:
    """Whether a value has attributes: a class of jsii says so without a message.

    Args:
        value: What was given; a class of the CDK itself is no construct.
        names: The attributes.
        texts: Those of them that are texts, and a node if it has one.
    """
    kind = type(value)
    if isinstance(value, type):
        return False
    if hasattr(kind, "__jsii_type__") and all(hasattr(kind, name) for name in names):
        return True
    found = {name: attribute(value, name) for name in names}
    if "node" in found and not isinstance(found["node"], Node):
        return False
    return all(
        one is not None and (name not in texts or isinstance(one, str))
        for name, one in found.items()
    )
