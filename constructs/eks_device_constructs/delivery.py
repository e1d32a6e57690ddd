"""How Kubernetes objects reach a cluster: by CDK's kubectl handler, or as files for GitOps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast

from aws_cdk import CfnResource, RemovalPolicy
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_lambda as lambda_
from constructs import Construct, IDependable

from eks_devices import EksDevicesError
from eks_devices.findings import raise_faults
from eks_devices.typecheck import text, wrong_type

from .gitops import gitops_sender

Object = dict[str, Any]

# More at once can exhaust an account's concurrent Lambda invocations.
_IN_FLIGHT = 5
# Without it a handler that fails to answer blocks the deployment for an hour.
_TIMEOUT_SECONDS = "900"


class Carrier(Protocol):
    """Takes the objects of one installation to its cluster."""

    def send(
        self,
        name: str,
        objects: Sequence[Object],
        *,
        after: Sequence[IDependable] = (),
        overwrite: bool = True,
        retain: bool = False,
    ) -> IDependable | None:
        """Send objects that live and die together, once those that they need were sent."""


class Delivery:
    """How objects reach a cluster; made by `kubectl` or `gitops`."""

    def __init__(
        self, *, kubectl_layer: lambda_.ILayerVersion | None, directory: str | None
    ) -> None:
        self.kubectl_layer = kubectl_layer
        self.directory = directory

    @classmethod
    def kubectl(cls, *, kubectl_layer: lambda_.ILayerVersion) -> Delivery:
        """Apply objects at deployment, by the kubectl handler of the AWS CDK.

        Args:
            kubectl_layer: The layer that holds kubectl, of the cluster's own minor: a package
                `aws-cdk.lambda-layer-kubectl-v34` exists per minor.

        Raises:
            EksDevicesError: It is no layer.
        """
        if not hasattr(kubectl_layer, "layer_version_arn"):
            fix = 'pass KubectlV34Layer(stack, "Kubectl") of aws_cdk.lambda_layer_kubectl_v34'
            wanted = "a lambda_.ILayerVersion"
            fault = wrong_type("delivery.kubectl_layer", kubectl_layer, wanted, fix)
            raise EksDevicesError([fault])
        return cls(kubectl_layer=kubectl_layer, directory=None)

    @classmethod
    def gitops(cls, directory: str) -> Delivery:
        """Write objects as YAML for a GitOps tool; nothing is applied and no Lambda is made.

        Args:
            directory: Where the files are copied when the CDK CLI runs the app. They are always
                in the cloud assembly, under `eks-devices/<installation>/`. Files of yours in it
                stay as they are.

        Raises:
            EksDevicesError: It is no text, or an empty one. A directory that two clusters share is
                refused where the second one uses it.
        """
        wanted, fix = "a path", 'name a directory, such as "manifests"'
        faults = list(text(directory, "delivery.directory", wanted, fix))
        if directory == "":
            faults = [wrong_type("delivery.directory", directory, wanted, fix)]
        raise_faults(faults)
        return cls(kubectl_layer=None, directory=directory)

    @property
    def kubectl_provider_options(self) -> eks.KubectlProviderOptions | None:
        """What a new cluster needs for this delivery."""
        if self.kubectl_layer is None:
            return None
        return eks.KubectlProviderOptions(kubectl_layer=self.kubectl_layer)

    def carrier(self, scope: Construct, cluster: eks.Cluster) -> Carrier:
        """What takes the objects of a construct to a cluster."""
        if self.directory is None:
            return _Kubectl(scope, cluster)
        return gitops_sender(scope, cluster, self.directory)


class _Kubectl:
    def __init__(self, scope: Construct, cluster: eks.Cluster) -> None:
        self._scope = scope
        self._cluster = cluster
        self._sent: list[eks.KubernetesManifest] = []

    def send(
        self,
        name: str,
        objects: Sequence[Object],
        *,
        after: Sequence[IDependable] = (),
        overwrite: bool = True,
        retain: bool = False,
    ) -> IDependable | None:
        manifest = eks.KubernetesManifest(
            self._scope,
            name,
            cluster=cast(eks.ICluster, self._cluster),
            manifest=list(objects),
            overwrite=overwrite,
            # kubectl prunes only some kinds, and labels what it may prune.
            prune=False,
            removal_policy=RemovalPolicy.RETAIN if retain else None,
        )
        resource = cast(CfnResource, manifest.node.find_child("Resource").node.default_child)
        resource.add_property_override("ServiceTimeout", _TIMEOUT_SECONDS)
        earlier = self._sent[-_IN_FLIGHT:][:1] if len(self._sent) >= _IN_FLIGHT else []
        for needed in (*after, *earlier):
            manifest.node.add_dependency(needed)
        self._sent.append(manifest)
        return manifest
