"""How Kubernetes objects reach a cluster: by CDK's kubectl handler, or as files for GitOps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from aws_cdk import CfnResource, RemovalPolicy
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_lambda as lambda_
from constructs import Construct, IConstruct

from eks_devices import Finding
from eks_devices.findings import raise_faults
from eks_devices.typecheck import text, wrong_type

from .gitops import directory_faults, gitops_sender, resolved
from .kubectl_inputs import kubectl_faults, layer_needed, layer_version_faults, no_provider
from .sent import note_ours

if TYPE_CHECKING:
    from .hosts import NodegroupHost

Object = dict[str, Any]

# More at once can exhaust an account's concurrent Lambda invocations.
_IN_FLIGHT = 5
# Without it a handler that fails to answer blocks the deployment for an hour.
_TIMEOUT_SECONDS = "900"


class Carrier(Protocol):
    """Takes the objects of one construct to its cluster."""

    def send(
        self,
        name: str,
        objects: Sequence[Object],
        *,
        after: Sequence[IConstruct] = (),
        overwrite: bool = True,
        retain: bool = False,
    ) -> list[IConstruct]:
        """Send objects that live and die together; returns what to wait for."""


class Delivery(ABC):
    """How objects reach a cluster; made by `kubectl` or `gitops`."""

    @staticmethod
    def kubectl(
        *,
        kubectl_layer: lambda_.ILayerVersion | None = None,
        provider: eks.IKubectlProvider | None = None,
    ) -> Delivery:
        """Apply objects at deployment, by the kubectl handler of the AWS CDK.

        Args:
            kubectl_layer: The layer that holds kubectl, of the cluster's own minor: a package
                `aws-cdk.lambda-layer-kubectl-v34` exists per minor. An `AcceleratedCluster` needs
                it to make its handler.
            provider: A handler that exists, for a cluster made elsewhere; that of the cluster
                unless named.

        Raises:
            EksDevicesError: It is no layer, no provider, or both are named.
        """
        return _KubectlDelivery(kubectl_layer, provider)

    @staticmethod
    def gitops(directory: str) -> Delivery:
        """Write objects as YAML for a GitOps tool; nothing is applied and no Lambda is made.

        Args:
            directory: Where the files are copied when the CDK CLI runs the app. They are always
                in the cloud assembly, under `eks-devices/<installation>/`. Files of yours in it
                stay as they are.

        Raises:
            EksDevicesError: It is no text, or an empty one. A directory that two clusters share is
                refused where the second one uses it.
        """
        return _GitopsDelivery(directory)

    @property
    def kubectl_provider_options(self) -> eks.KubectlProviderOptions | None:
        """What a new cluster needs for this delivery."""
        return None

    @property
    @abstractmethod
    def way(self) -> str:
        """What tells apart the ways of delivery that do not wait for each other."""

    @abstractmethod
    def to_dict(self) -> dict[str, str]:
        """This way as plain JSON values, for the plan file."""

    @property
    def uses_kubectl(self) -> bool:
        """Whether objects are applied at deployment."""
        return self.kubectl_provider_options is not None

    def waits_for(self, host: NodegroupHost) -> IConstruct | None:
        """What objects wait for before they are applied; None where nothing applies them."""
        del host
        return None

    def uses_handler_of(self, host: NodegroupHost) -> bool:
        """Whether the kubectl handler that this app made with a cluster applies objects to it."""
        del host
        return False

    def new_cluster_faults(self, scope: Construct) -> Iterator[Finding]:
        """What keeps objects from reaching a cluster that is to be made."""
        del scope
        yield from ()

    def version_faults(self, version: str) -> Iterator[Finding]:
        """What keeps this way from serving a cluster of a Kubernetes version."""
        del version
        yield from ()

    @abstractmethod
    def faults(self, host: NodegroupHost) -> Iterator[Finding]:
        """What keeps objects from reaching a cluster this way."""

    @abstractmethod
    def carrier(self, scope: Construct, host: NodegroupHost) -> Carrier:
        """What takes the objects of a construct to a cluster."""


class _KubectlDelivery(Delivery):
    def __init__(
        self,
        kubectl_layer: lambda_.ILayerVersion | None,
        provider: eks.IKubectlProvider | None,
    ) -> None:
        raise_faults(kubectl_faults(kubectl_layer, provider))
        self._layer = kubectl_layer
        self._provider = provider

    @property
    def way(self) -> str:
        return "kubectl"

    def to_dict(self) -> dict[str, str]:
        return {"kind": "kubectl"}

    @property
    def uses_kubectl(self) -> bool:
        return True

    @property
    def kubectl_provider_options(self) -> eks.KubectlProviderOptions | None:
        return eks.KubectlProviderOptions(kubectl_layer=self._layer) if self._layer else None

    def new_cluster_faults(self, scope: Construct) -> Iterator[Finding]:
        del scope
        if self._layer is None:
            yield layer_needed()

    def version_faults(self, version: str) -> Iterator[Finding]:
        yield from layer_version_faults(self._layer, version)

    def faults(self, host: NodegroupHost) -> Iterator[Finding]:
        yield from layer_version_faults(self._layer, host.kubernetes_version)
        if host.kubectl_provider is None and self._provider is None:
            yield no_provider(is_foreign=host.is_foreign)

    def waits_for(self, host: NodegroupHost) -> IConstruct | None:
        provider = self._provider or host.kubectl_provider
        is_made = host.cluster is None and isinstance(provider, eks.KubectlProvider)
        return provider if is_made else host.place

    def uses_handler_of(self, host: NodegroupHost) -> bool:
        return host.cluster is not None and self._provider is None

    def carrier(self, scope: Construct, host: NodegroupHost) -> Carrier:
        return _Kubectl(scope, host.kubectl_cluster(self._provider))


class _GitopsDelivery(Delivery):
    def __init__(self, directory: str) -> None:
        wanted, fix = "a path", 'name a directory, such as "manifests"'
        faults = list(text(directory, "delivery.directory", wanted, fix))
        if isinstance(directory, str) and (not directory.strip() or "\0" in directory):
            faults = [wrong_type("delivery.directory", directory, wanted, fix)]
        raise_faults(faults)
        resolved(directory)
        self._directory = directory

    @property
    def way(self) -> str:
        return f"gitops {resolved(self._directory)}"

    def to_dict(self) -> dict[str, str]:
        return {"kind": "gitops", "directory": self._directory}

    def new_cluster_faults(self, scope: Construct) -> Iterator[Finding]:
        yield from directory_faults(scope, self._directory)

    def faults(self, host: NodegroupHost) -> Iterator[Finding]:
        yield from directory_faults(host.plan_home, self._directory)

    def carrier(self, scope: Construct, host: NodegroupHost) -> Carrier:
        return gitops_sender(scope, host.plan_home, host.fleet, self._directory)


class _Kubectl:
    def __init__(self, scope: Construct, cluster: eks.ICluster) -> None:
        self._scope = scope
        self._cluster = cluster
        # A chain never leaves its construct: through others it could close a circle.
        self._chain: list[IConstruct] = []

    def send(
        self,
        name: str,
        objects: Sequence[Object],
        *,
        after: Sequence[IConstruct] = (),
        overwrite: bool = True,
        retain: bool = False,
    ) -> list[IConstruct]:
        manifest = eks.KubernetesManifest(
            self._scope,
            name,
            cluster=self._cluster,
            manifest=list(objects),
            overwrite=overwrite,
            # kubectl prunes only some kinds, and labels what it may prune.
            prune=False,
            removal_policy=RemovalPolicy.RETAIN if retain else None,
        )
        note_ours(manifest)
        resource = cast(CfnResource, manifest.node.find_child("Resource").node.default_child)
        resource.add_property_override("ServiceTimeout", _TIMEOUT_SECONDS)
        for needed in (*after, *self._earlier()):
            manifest.node.add_dependency(needed)
        self._chain.append(manifest)
        return [manifest]

    def _earlier(self) -> list[IConstruct]:
        """What the next manifest waits for, so that few run at once."""
        return [self._chain[-_IN_FLIGHT]] if len(self._chain) >= _IN_FLIGHT else []
