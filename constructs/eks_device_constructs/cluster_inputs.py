"""Judges what a new cluster is given before anything of it is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Unpack

from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from eks_device_charts.manifests import ImageSource
from eks_device_charts.manifests.bundles import driver_faults
from eks_device_charts.manifests.installation import Installation
from eks_devices import Finding
from eks_devices.driver_planner import kept_drivers
from eks_devices.findings import fault
from eks_devices.installation_options import (
    InstallationOptions,
    NamedOptions,
    option_type_faults,
)
from eks_devices.keep import Keep, keep_faults
from eks_devices.kubernetes import minors

from .delivery import Delivery
from .driver_inputs import option_faults
from .drivers import regional
from .host_registry import known_by_names
from .inputs import version_faults, vpc_faults


def argument_faults(
    vpc: object, version: object, delivery: object, images: object, keep: object, **options: object
) -> Iterator[Finding]:
    """Every fault of a cluster's arguments; those of a shared directory come later."""
    wrong_version = list(version_faults(version))
    yield from [*wrong_version, *vpc_faults(vpc)]
    if delivery is not None:
        yield from option_faults(delivery, images)
    elif images is not None or keep is not None or _are_named(options):
        yield fault(
            "DeliveryNeeded",
            "delivery",
            f"images, keep, {', '.join(options)} say what to install, and nothing installs it",
            got=None,
            allowed="a Delivery",
            fix="pass delivery=Delivery.kubectl(...) or .gitops(...)",
        )
    yield from option_type_faults(**options)
    if isinstance(version, eks.KubernetesVersion) and not wrong_version:
        yield from keep_faults(keep, minors()[version.version])


def _are_named(options: Mapping[str, object]) -> bool:
    return any(value is not None for value in options.values())


def name_faults(scope: Construct, name: object) -> Iterator[Finding]:
    """The fault of a cluster that node groups joined by its name before it was made."""
    known = known_by_names(scope, [name]) if isinstance(name, str) else None
    if known is not None and known.host is None and not known.is_forgotten:
        yield fault(
            "ReferenceBeforeCluster",
            "cluster_name",
            "a node group or an installation joined the cluster by its name before it was made "
            "here, as one that something else made",
            got=name,
            allowed="a cluster that comes before its node groups",
            fix="make the cluster first, or name it otherwise",
        )


def first_installation_faults(
    scope: Construct,
    version: eks.KubernetesVersion,
    delivery: Delivery | None,
    images: ImageSource | None,
    keep: Keep | None,
    **once: Unpack[NamedOptions],
) -> Iterator[Finding]:
    """The faults that the cluster's installation would have, before the cluster is made."""
    if delivery is not None:
        yield from delivery.new_cluster_faults(scope)
        yield from delivery.version_faults(version.version)
        options = InstallationOptions().with_named(**once)
        installation = Installation(
            kubernetes_version=version.version, images=regional(images, scope), options=options
        )
        for driver in kept_drivers(keep or {}, options):
            yield from driver_faults(driver, installation)
