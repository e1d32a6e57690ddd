"""The installation of device managers in a cluster, and what stands for one elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from aws_cdk import Stack, Token
from constructs import Construct, IDependable

from eks_device_charts.manifests import ImageSource
from eks_device_charts.manifests.assembly import MANAGERS
from eks_devices import (
    DevicePlan,
    DeviceType,
    DriverPlan,
    EksDevicesError,
    Mechanism,
    NodegroupPlan,
)
from eks_devices._frozen import FrozenDict
from eks_devices.cluster_planner import Keep, is_default, is_scoped, keep_faults
from eks_devices.findings import Finding, fault, raise_faults, warning
from eks_devices.kubernetes import minors
from eks_devices.names import DEFAULT_OWNER, EXTERNAL_OWNER, HOST_OWNER

from .delivery import Delivery, Object
from .hosts import NodegroupHost, host_of
from .inputs import no_cluster

if TYPE_CHECKING:
    from .cluster import AcceleratedCluster

# Kinds that other managers need too, or whose deletion takes users' objects along.
_ALONE = ("Namespace", "CustomResourceDefinition")


class ExternalDrivers:
    """Says that managers of a node group are installed by somebody else.

    Args:
        delivery: How this stack's claims reach the cluster; without it they do not.
        foreign: Device types that a manager of another maker serves. The other device types are
            served by a default installation of this library in another app.
    """

    def __init__(
        self, *, delivery: Delivery | None = None, foreign: Collection[DeviceType] = ()
    ) -> None:
        self.delivery = delivery
        self.foreign = tuple(foreign)
        self.scope_name: str | None = None

    def serve(self, plan: NodegroupPlan) -> list[IDependable]:
        """Nothing: somebody else installed the managers."""
        del plan
        return []


class DeviceDrivers(Construct):
    """The managers that a cluster's node groups need: each once, and each in its own manifest.

    The default installation of a cluster also holds what a cluster has once: namespaces, CRDs,
    permissions, DeviceClasses and controllers. A scoped one has DaemonSets only.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,  # noqa: A002  (the CDK's own name for it)
        *,
        cluster: AcceleratedCluster,
        delivery: Delivery,
        images: ImageSource | None = None,
        keep: Keep | None = None,
        scope_name: str | None = None,
    ) -> None:
        """Prepare the installation; managers come with the groups that need them.

        Args:
            scope: Where the construct stands.
            id: The construct's id.
            cluster: The cluster to install in.
            delivery: How objects reach the cluster.
            images: Where nodes pull images from; the stack's Region unless named.
            keep: Managers to hold although no group here needs them.
            scope_name: Makes a scoped installation of this name; the default one unless named.

        Raises:
            EksDevicesError: The cluster has a default installation already, or `keep` is wrong.
        """
        host = host_of(cluster)
        if host is None:
            raise EksDevicesError([no_cluster(cluster, "drivers.cluster")])
        raise_faults(_faults(host, keep, scope_name, self_path=f"{scope.node.path}/{id}"))
        super().__init__(scope, id)
        self.scope_name = scope_name
        self.foreign: tuple[DeviceType, ...] = ()
        self.delivery = delivery
        self._version = host.kubernetes_version
        self._images = images or ImageSource(region=_region(self))
        self._carrier = delivery.carrier(self, host.cluster)
        self._sent: dict[str, IDependable | None] = {}
        self._marker: list[IDependable] = []
        if scope_name is None:
            host.set_default(self, keep or {})
            self._marker = _present(
                [self._carrier.send("Marker", [_marker(self)], overwrite=False)]
            )
            self._keep(keep or {})

    def _keep(self, keep: Keep) -> None:
        for device_type, mechanisms in keep.items():
            for mechanism in mechanisms:
                self._install(_driver(device_type, mechanism, DEFAULT_OWNER, FrozenDict()))

    def serve(self, plan: NodegroupPlan) -> list[IDependable]:
        """Install what a group needs, where it is not there yet; returns what it waits for."""
        drivers = [
            _of_device(device) for device in plan.devices if _is_ours(device, self.scope_name)
        ]
        return [needed for driver in drivers for needed in self._install(driver)]

    def _install(self, driver: DriverPlan) -> list[IDependable]:
        manager = MANAGERS[driver.device_type, driver.mechanism]
        image = self._images.image(device_type=driver.device_type, mechanism=driver.mechanism)
        name = f"{driver.device_type}-{driver.mechanism}"
        first: list[IDependable] = []
        if is_default(driver.owner) and self.scope_name is None:
            first = self._share(name, manager.shared(self._version))
            if manager.controller:
                first += self._send(f"{name}-controller", manager.controller(image), first)
        return self._send(f"{name}-{driver.owner}", manager.own(driver, image), first)

    def _share(self, name: str, objects: list[Object]) -> list[IDependable]:
        """What a manager shares: namespaces and CRDs each alone, the rest together."""
        first: list[IDependable] = []
        for item in objects:
            if item["kind"] in _ALONE:
                first += self._send(f"{item['kind']}-{item['metadata']['name']}", [item], [])
        together = [item for item in objects if item["kind"] not in _ALONE]
        return first + (self._send(name, together, first) if together else [])

    def _send(
        self, name: str, objects: list[Object], after: list[IDependable]
    ) -> list[IDependable]:
        if name not in self._sent:
            needed = [*self._marker, *after]
            # Users' objects go with their namespace or CRD, so both stay when a manager goes.
            retain = any(item["kind"] in _ALONE for item in objects)
            self._sent[name] = self._carrier.send(name, objects, after=needed, retain=retain)
        return _present([self._sent[name]])


def _present(found: Sequence[IDependable | None]) -> list[IDependable]:
    return [one for one in found if one is not None]


def _region(scope: Construct) -> str | None:
    region = Stack.of(scope).region
    return None if Token.is_unresolved(region) else region


def _is_ours(device: DevicePlan, scope_name: str | None) -> bool:
    return is_default(device.owner) if scope_name is None else is_scoped(device.owner)


def _of_device(device: DevicePlan) -> DriverPlan:
    return _driver(device.device_type, device.mechanism, device.owner, device.settings)


def _driver(device_type: DeviceType, mechanism: Mechanism, owner: str, settings: Any) -> DriverPlan:
    return DriverPlan(
        device_type=device_type,
        mechanism=mechanism,
        owner=owner,
        settings=settings,
        nodegroups=(),
    )


def _faults(
    host: NodegroupHost, keep: object, scope_name: object, *, self_path: str
) -> Iterator[Finding]:
    yield from keep_faults(keep, minors()[host.kubernetes_version])
    if scope_name is not None and not (
        isinstance(scope_name, str) and host.is_new_scope(scope_name)
    ):
        yield fault(
            "RepeatedScope",
            "drivers.scope_name",
            "a scoped installation needs a name of its own, of type str",
            got=scope_name,
            allowed="each name once in a cluster",
            fix="choose another name",
        )
    if scope_name is None and host.drivers is not None:
        yield fault(
            "SecondDefaultInstallation",
            "drivers",
            "a cluster has one default installation, and this one has it already",
            got=self_path,
            allowed="one DeviceDrivers without scope_name",
            fix="use the first one, or pass scope_name=...",
        )


def unserved(plan: NodegroupPlan, serving: object) -> list[Finding]:
    """The warning of a group whose devices nothing hands out."""
    ours = [one for one in plan.devices if one.owner not in (HOST_OWNER, EXTERNAL_OWNER)]
    if serving is not None or not ours:
        return []
    devices = ", ".join(f"{one.device_type} by {one.mechanism}" for one in ours)
    return [
        warning(
            "NoDrivers",
            f"nodegroups.{plan.name}.drivers",
            f"nothing installs the managers that the group needs: {devices}",
            fix="pass delivery=Delivery.kubectl(...) or .gitops(...) to the cluster, or "
            "drivers=ExternalDrivers() where another app installs them",
        )
    ]


def _marker(drivers: Construct) -> Object:
    """A ConfigMap that may not exist yet, so that a second default installation fails."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "eks-devices-installation",
            "namespace": "kube-system",
            "labels": {"app.kubernetes.io/managed-by": "eks-devices"},
        },
        "data": {"installation": drivers.node.path},
    }
