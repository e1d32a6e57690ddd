"""The installation of device managers in a cluster, and what stands for one elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

from aws_cdk import Stack, Token
from constructs import Construct, IConstruct

from eks_device_charts.manifests import ImageSource
from eks_device_charts.manifests.bundles import (
    HEALTH_BUNDLE,
    Bundle,
    bundles,
    driver_faults,
    installation_marker,
)
from eks_device_charts.manifests.installation import Installation
from eks_device_charts.manifests.release_rules import group_release_faults
from eks_devices import (
    ClaimChecks,
    DeviceType,
    DriverPlan,
    EfaInstallation,
    EksDevicesError,
    Finding,
    NeuronInstallation,
    NodegroupPlan,
    NvidiaInstallation,
)
from eks_devices.driver_planner import drivers_of, kept_drivers
from eks_devices.findings import fault, raise_faults
from eks_devices.installation_options import InstallationOptions, NamedOptions
from eks_devices.keep import Keep, frozen_keep
from eks_devices.typecheck import wrong_type

from .addons import serves_identity
from .delivery import Delivery
from .driver_inputs import external_faults, installation_faults, mode_faults
from .hosts import AnyCluster, NodegroupHost
from .inputs import place_faults, scope_faults
from .joining import find_host
from .neuron_recovery import NeuronRecovery, recovery_findings
from .references import ClusterReference
from .sent import Sent
from .tree import top_stack

if TYPE_CHECKING:
    from .cluster import AcceleratedCluster


class ExternalDrivers:
    """Says that managers of a node group are installed by somebody else.

    Without `foreign`, the default installation of this library lives in another app and serves
    the group. With it, somebody else's managers serve those device types, and the default
    installation of the cluster serves the others.

    Args:
        delivery: How this stack's claims reach the cluster; by that of the cluster's default
            installation unless named, and not at all where there is none.
        foreign: Device types that a manager of another maker serves; none unless named.

    Raises:
        EksDevicesError: A value has the wrong type.
    """

    def __init__(
        self, *, delivery: Delivery | None = None, foreign: Collection[DeviceType] = ()
    ) -> None:
        raise_faults(external_faults(delivery, foreign))
        self.delivery = delivery
        self.foreign = tuple(foreign)


class DeviceDrivers(Construct):
    """The managers that a cluster's node groups need: each once, and each in its own manifest.

    The default installation of a cluster also holds what a cluster has once: namespaces, CRDs,
    permissions, DeviceClasses and controllers. A scoped one has DaemonSets and what
    only they need, and beside a default one the options of that.

    Attributes:
        delivery: How objects reach the cluster.
        scope_name: The name of a scoped installation; None for the default one.
        scope_address: What tells it from one of another app in a cluster that apps share.
        named_options: What it was given of what a cluster has once.
    """

    delivery: Delivery
    scope_name: str | None
    scope_address: str
    named_options: NamedOptions

    def __init__(
        self,
        scope: Construct,
        id: str,  # noqa: A002  (the CDK's own name for it)
        *,
        cluster: AcceleratedCluster | AnyCluster | ClusterReference,
        delivery: Delivery,
        images: ImageSource | None = None,
        keep: Keep | None = None,
        scope_name: str | None = None,
        kubernetes_version: str | None = None,
        nvidia: NvidiaInstallation | None = None,
        neuron: NeuronInstallation | None = None,
        efa: EfaInstallation | None = None,
        claim_checks: ClaimChecks | None = None,
    ) -> None:
        """Prepare the installation; managers come with the groups that are added later.

        Args:
            scope: Where the construct stands.
            id: Its id.
            cluster: The cluster to install in.
            delivery: How objects reach the cluster.
            images: Where nodes pull images from; the stack's Region unless named.
            keep: Managers to hold although no group here needs them; for a default one.
            scope_name: Makes a scoped installation of this name; the default one unless named.
            kubernetes_version: The minor of a cluster that was imported, "1.34".
            nvidia: What NVIDIA's managers have once in the cluster; their defaults unless named.
            neuron: What Neuron's managers have once, likewise.
            efa: What the EFA managers have once, likewise.
            claim_checks: How claims are told that no node can serve, as of `ClusterReference`.

        Raises:
            EksDevicesError: Every fault of the values, and of what the cluster has already.
        """
        host = _host(cluster, scope, kubernetes_version)
        images, keep = regional(images, scope), frozen_keep(keep)
        once = NamedOptions(nvidia=nvidia, neuron=neuron, efa=efa)
        own = installation_faults(host, delivery, images, keep, scope_name, **once)
        raise_faults([*own, *place_faults(scope, id, host.place), *mode_faults(host, claim_checks)])
        kept = _kept(keep or {}, _installation(host, images, **once))
        super().__init__(scope, id)
        self._images, self.named_options = images, once
        self.delivery, self.scope_name = delivery, scope_name
        self._join(host.choosing(claim_checks), keep or {}, kept)

    def _join(self, host: NodegroupHost, keep: Keep, kept: Sequence[DriverPlan]) -> None:
        host.join()
        self._host = host
        self.scope_address = top_stack(self).stack_name if host.is_foreign else ""
        self._carrier = self.delivery.carrier(self, host)
        self._marker: list[IConstruct] = []
        self._waited: list[IConstruct] = []
        if self.scope_name is not None:
            self._host.fleet.scoped[self.scope_name] = self
            return
        self._host.fleet.set_default(self, keep, self.options)
        marker = installation_marker(self.node.path)
        self._marker = self._carrier.send(marker.name, marker.objects, overwrite=False)
        for driver in kept:
            self._install(driver)

    @property
    def _installation(self) -> Installation:
        """What is drawn from now: the default installation may come after a scope."""
        return _installation(self._host, self._images, **self.named_options)

    def serving_faults(self, host: NodegroupHost, plan: NodegroupPlan) -> list[Finding]:
        """What keeps this installation from serving a group of a cluster."""
        if host.known is not self._host.known:
            fix = "pass a DeviceDrivers of the group's own cluster"
            path = f"nodegroups.{plan.name}.drivers"
            return [wrong_type(path, self.node.path, "an installation of the same cluster", fix)]
        installation = self._installation
        drivers = self._drivers_of(plan)
        faults = [one for driver in drivers for one in driver_faults(driver, installation)]
        faults += group_release_faults(plan, installation.images)
        return [*faults, *self._default_faults(plan)]

    @property
    def options(self) -> InstallationOptions:
        """What a cluster has once, as managers that are added now are told."""
        return self._installation.options

    def _drivers_of(self, plan: NodegroupPlan) -> tuple[DriverPlan, ...]:
        return drivers_of(plan, self._installation.options)

    def _default_faults(self, plan: NodegroupPlan) -> Iterator[Finding]:
        host = self._host
        if host.is_foreign or self.scope_name is None or host.fleet.drivers is not None:
            return
        if not host.fleet.has_default_elsewhere:
            yield fault(
                "ScopeWithoutDefault",
                f"nodegroups.{plan.name}.drivers",
                "a scoped installation uses what the default one holds, and there is none",
                got=self.node.path,
                allowed="scopes beside a default installation",
                fix="make a DeviceDrivers without scope_name first, or pass delivery= to the "
                "cluster",
            )

    def stack_faults(self, scope: Construct, plan: NodegroupPlan) -> Iterator[Finding]:
        """The fault of a group whose stack would wait for one that waits for it."""
        theirs, needed = top_stack(scope).node.path, self.delivery.waits_for(self._host)
        if needed is None or not drivers_of(plan) or top_stack(self).node.path == theirs:
            return
        if theirs in {top_stack(one).node.path for one in (needed, *self._waits_for(plan))}:
            yield fault(
                "DriversInAnotherStack",
                f"nodegroups.{plan.name}.drivers",
                "the group would wait for a stack that waits for the group's own",
                got=self.node.path,
                allowed="an installation in the stack of the group",
                fix="make the group in the stack of its drivers: AcceleratedNodegroup(stack, ...)",
            )

    def _waits_for(self, plan: NodegroupPlan) -> Iterator[IConstruct]:
        """What the default installation sent, and what this one sends waits for."""
        yield from self._waited
        for driver in self._drivers_of(plan):
            for bundle in bundles(driver, self._installation):
                yield from self._needed(bundle)

    def _needed(self, bundle: Bundle) -> list[IConstruct]:
        """What is not here is in the default installation of another app."""
        known, way = self._host.sent, self.delivery.way
        return [one for name in bundle.needs for one in known.bundle(name, way) or []]

    def serve(self, plan: NodegroupPlan) -> list[IConstruct]:
        """Install what a group needs, where it is not there yet; returns what it waits for."""
        return [needed for driver in self._drivers_of(plan) for needed in self._install(driver)]

    def _install(self, driver: DriverPlan) -> list[IConstruct]:
        """The manager's own bundle comes last, and waits for the others."""
        sent: list[IConstruct] = []
        for bundle in bundles(driver, self._installation):
            sent = self._send(bundle)
        return sent

    def _send(self, bundle: Bundle) -> list[IConstruct]:
        known, way = self._host.sent, self.delivery.way
        sent = known.bundle(bundle.name, way)
        if sent is None:
            needed = self._needed(bundle)
            self._waited += needed
            after = [*self._marker, *needed, *self._role_of(bundle)]
            sent = self._carrier.send(
                bundle.name, bundle.objects, after=after, retain=bundle.retain
            )
            known.note_bundle(bundle.name, way, Sent(by=self, manifests=sent))
        return sent

    def _role_of(self, bundle: Bundle) -> list[IConstruct]:
        """What gives the Pods of a bundle a role of AWS, which those made before it never get."""
        health = self._installation.options.neuron.health
        if bundle.name != HEALTH_BUNDLE or health is None or not health.calls_aws:
            return []
        host = self._host
        served, waits = serves_identity(host.cluster), self.delivery.uses_kubectl
        found = recovery_findings(health, serves_identity=served, waits=waits)
        host.fleet.tell(self, found)
        made = NeuronRecovery(self, cluster_name=host.cluster_name, health=health)
        return [made.association]


def _host(cluster: object, scope: Construct, version: object) -> NodegroupHost:
    """What stands for the cluster of an installation, or why nothing does."""
    raise_faults(scope_faults(scope, "drivers"))
    host = find_host(cluster, scope, version, "drivers")
    if isinstance(host, list):
        raise EksDevicesError(host)
    return host


def _installation(
    host: NodegroupHost, images: ImageSource, **once: Unpack[NamedOptions]
) -> Installation:
    """What is drawn from; options that are not named are those of the cluster."""
    return Installation(
        kubernetes_version=host.kubernetes_version,
        images=images,
        options=host.fleet.options.with_named(**once),
    )


def _kept(keep: Keep, installation: Installation) -> tuple[DriverPlan, ...]:
    """The managers to hold although no group needs them, each of which can be drawn."""
    kept = kept_drivers(keep, installation.options)
    raise_faults(one for driver in kept for one in driver_faults(driver, installation))
    return kept


def regional(images: object, scope: Construct) -> ImageSource:
    """The source of images with the stack's Region, where it names none itself."""
    source = ImageSource() if images is None else images
    region = Stack.of(scope).region
    if not isinstance(source, ImageSource) or source.region or Token.is_unresolved(region):
        return source  # type: ignore[return-value]  # a wrong type is a fault of its own
    return replace(source, region=region)
