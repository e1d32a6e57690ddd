"""Judges what applies objects at deployment: a layer with kubectl, or a handler."""

from __future__ import annotations

import re
from collections.abc import Iterator

from eks_devices import Finding
from eks_devices.findings import fault
from eks_devices.typecheck import wrong_type

from .shapes import is_kubectl_provider, is_layer

# The name of the class in each package of the CDK says the minor of its kubectl.
_LAYER_CLASS = re.compile(r"KubectlV([0-9]+)Layer", re.ASCII)
_SKEW = "https://kubernetes.io/releases/version-skew-policy/#kubectl"


def kubectl_faults(layer: object, provider: object) -> Iterator[Finding]:
    """Faults of a layer and a provider, of which one may be named."""
    if layer is not None and not is_layer(layer):
        fix = 'pass KubectlV34Layer(stack, "Kubectl") of aws_cdk.lambda_layer_kubectl_v34'
        yield wrong_type("delivery.kubectl_layer", layer, "a lambda_.ILayerVersion", fix)
    yield from provider_faults(provider, "delivery.provider")
    if layer is not None and provider is not None:
        yield fault(
            "LayerAndProvider",
            "delivery",
            "a provider that exists has its own kubectl",
            got="kubectl_layer and provider",
            allowed="one of the two",
            fix="leave kubectl_layer out",
        )


def provider_faults(provider: object, path: str) -> Iterator[Finding]:
    """The fault of what is no handler."""
    if provider is not None and not is_kubectl_provider(provider):
        fix = "use eks.KubectlProvider.from_kubectl_provider_attributes(...) of aws_eks_v2"
        yield wrong_type(path, provider, "an eks.IKubectlProvider, or None", fix)


def layer_needed() -> Finding:
    """The fault of a new cluster without a layer for its handler."""
    return fault(
        "KubectlLayerNeeded",
        "delivery.kubectl_layer",
        "the handler of a new cluster needs a layer with kubectl",
        got=None,
        allowed="a lambda_.ILayerVersion",
        fix='pass kubectl_layer=KubectlV34Layer(stack, "Kubectl"), of the minor of the cluster',
    )


def no_provider(*, is_foreign: bool) -> Finding:
    """The fault of a cluster that nothing can apply objects to."""
    fix = "pass delivery=Delivery.kubectl(...) to the cluster itself"
    if is_foreign:
        fix = "pass Delivery.kubectl(provider=...), or kubectl_provider= where it is imported"
    return fault(
        "NoKubectlProvider",
        "delivery",
        "the cluster was made without a kubectl handler",
        got="Delivery.kubectl",
        allowed="Delivery.gitops, or a cluster with a kubectl handler",
        fix=fix,
    )


def layer_version_faults(layer: object, version: str) -> Iterator[Finding]:
    """The fault of a kubectl that is more than one minor away from its cluster."""
    match = _LAYER_CLASS.fullmatch(type(layer).__name__)
    minor = int(version.partition(".")[2])
    if match and abs(int(match.group(1)) - minor) > 1:
        yield fault(
            "KubectlOfOtherMinor",
            "delivery.kubectl_layer",
            "kubectl serves clusters that are one minor older or newer, and no others",
            got=type(layer).__name__,
            allowed=f"the layer of 1.{minor}",
            fix=f"use KubectlV{minor}Layer of aws_cdk.lambda_layer_kubectl_v{minor}",
            source=_SKEW,
        )
