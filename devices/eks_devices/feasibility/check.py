"""The entry: the claims of a Pod against the node groups of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from .._frozen import FrozenDict
from ..claims.on_nodegroup import written_manifest
from ..claims.templates import ResourceClaim, ResourceClaimTemplate
from ..findings import EksDevicesError, Finding, raise_faults
from ..plans import ClusterPlan, NodegroupPlan
from ..typecheck import listed, wrong_type
from .classes import installed_classes
from .devices import node_devices
from .judge import Judgement, judged
from .minors import scheduler_of
from .of_types import single_types, verdict_of_types
from .reading.asked import Claim, path_of, read_manifest
from .reading.class_form import read_class
from .search.endings import Cause
from .slices import NodeDevices
from .verdicts import AllocatedDevice, Status, Verdict
from .wanted import Wanted

_BEFORE_THE_SEARCH: Final = (
    "ClassNotInstalled",
    "DistinctNotServed",
    "ExpressionInvalid",
    "TooManyDevicesInClaim",
)
_KINDS: Final = (ResourceClaim, ResourceClaimTemplate, Mapping)


def check_claims(
    claims: Sequence[Claim],
    plan: ClusterPlan | NodegroupPlan,
    *,
    device_classes: Sequence[Mapping[str, Any]] = (),
) -> tuple[Verdict, ...]:
    """Whether nodes of each group can serve all claims of one Pod, as the scheduler sees it.

    A node is looked at as it comes up, with nothing on it, by the scheduler of the group's minor.
    What it publishes later, such as the taints of a device that fails, is not foreseen. A
    ResourceClaim is one for all Pods that name it; of a template each Pod has a claim of its own.

    Args:
        claims: The claims of one Pod, or the templates of them: ours, or manifests of
            `resource.k8s.io/v1`.
        plan: The node groups: a cluster's plan, or that of one group.
        device_classes: Manifests of DeviceClasses beside those that come with the drivers.

    Returns:
        One verdict per group, in the order of the plan.

    Raises:
        EksDevicesError: A manifest is one that the API server refuses, `MalformedClaim`, or the
            extra `check` is not installed, `CheckExtraMissing`.
    """
    given, faults = listed(
        claims, _KINDS, "claims", many="a list of claims", one="a claim", fix="pass claims"
    )
    if not isinstance(plan, (ClusterPlan, NodegroupPlan)):
        fix = "pass what plan_cluster or plan_nodegroup returns"
        faults.append(wrong_type("plan", plan, "a ClusterPlan or a NodegroupPlan", fix))
    if not given and not faults:
        faults.append(wrong_type("claims", claims, "at least one claim", "pass the Pod's claims"))
    raise_faults(faults)
    read = _read(given, plan.kubernetes_version)
    return _verdicts(given, plan, device_classes=device_classes, read=read)


def verdicts_of_read(
    claims: Sequence[Mapping[str, Any]],
    plan: ClusterPlan,
    device_classes: Sequence[Mapping[str, Any]],
) -> tuple[Verdict, ...]:
    """The same of manifests whose faults are told already, or that nobody wrote.

    Claims are told by their names alone.
    """
    version = plan.kubernetes_version
    wanted = (
        read_manifest(one, "claim", kubernetes_version=version, is_written=False) for one in claims
    )
    names = (str(one["metadata"]["name"]) for one in claims)
    read = [replace(one, path=name) for one, name in zip(wanted, names, strict=True)]
    return _verdicts(claims, plan, device_classes=device_classes, read=read)


def _verdicts(
    given: Sequence[Claim],
    plan: ClusterPlan | NodegroupPlan,
    *,
    device_classes: object,
    read: Sequence[Wanted | None],
) -> tuple[Verdict, ...]:
    """One verdict per group."""
    classes = _classes(device_classes, plan.kubernetes_version)
    check = _Check(tuple(zip(given, read, strict=True)), classes)
    groups = plan.nodegroups if isinstance(plan, ClusterPlan) else (plan,)
    return tuple(map(check.verdict, groups))


def _classes(manifests: object, version: str) -> FrozenDict[str, tuple[str, ...]]:
    path = "device_classes"
    given, faults = listed(
        manifests, Mapping, path, many="a list of DeviceClasses", one="a manifest", fix="pass dicts"
    )
    raise_faults(faults)
    if not given:
        return installed_classes()
    own = (
        read_class(one, f"{path}[{index}]", kubernetes_version=version)
        for index, one in enumerate(given)
    )
    return FrozenDict({**installed_classes(), **dict(own)})


def _read(claims: Iterable[Claim], version: str) -> list[Wanted | None]:
    """What manifests ask for; None for claims of ours, which may depend on the group."""
    faults: list[Finding] = []
    found: list[Wanted | None] = []
    for index, one in enumerate(claims):
        if isinstance(one, (ResourceClaim, ResourceClaimTemplate)):
            found.append(None)
            continue
        try:
            path = f"claims[{index}]"
            found.append(read_manifest(one, path, kubernetes_version=version))
        except EksDevicesError as error:
            faults += error.faults
    raise_faults(faults)
    return found


class _Check:
    """Judges claims on groups; what holds for nodes with the same devices is looked at once.

    Args:
        claims: The claims, each as it was read; None for those of ours.
        classes: The expressions of the classes.
    """

    def __init__(
        self,
        claims: tuple[tuple[Claim, Wanted | None], ...],
        classes: FrozenDict[str, tuple[str, ...]],
    ) -> None:
        self._claims, self._classes = claims, classes
        self._known: dict[NodeDevices, Verdict] = {}

    def verdict(self, group: NodegroupPlan) -> Verdict:
        """The verdict of a group, from those of its instance types."""
        types = single_types(group)
        return verdict_of_types([(one.instance_type, self._of_type(one)) for one in types])

    def _of_type(self, group: NodegroupPlan) -> Verdict:
        node = node_devices(group)
        if node not in self._known:
            self._known[node] = self._of_node(group, node)
        found = self._known[node]
        return found if found.nodegroup == group.name else replace(found, nodegroup=group.name)

    def _of_node(self, group: NodegroupPlan, node: NodeDevices) -> Verdict:
        try:
            wanted = tuple(read or _of_ours(claim, group) for claim, read in self._claims)
        except _NotOnTypeError as error:
            return Verdict(
                nodegroup=group.name,
                status=Status.INFEASIBLE,
                code=error.fault.code,
                reason=error.fault.message,
                claim=error.path,
                fix=error.fault.fix,
            )
        found = _as_of(group.kubernetes_version, wanted, judged(wanted, node, self._classes))
        cause = found.cause
        return Verdict(
            nodegroup=group.name,
            status=found.status,
            code=cause.code,
            reason=cause.text,
            claim="" if cause.claim is None else wanted[cause.claim].path,
            **{name: getattr(cause, name) for name in _PLACES},
            fits=found.fits,
            devices=_devices(wanted, node, found),
        )


_PLACES: Final = ("request", "selector", "constraint", "device_class", "wants", "has", "fix")


def _as_of(version: str, wanted: tuple[Wanted, ...], found: Judgement) -> Judgement:
    """A judgement where the scheduler of a version does what it should; else it is unknown."""
    mistaken = scheduler_of(version).loses_alternatives and any(
        one.all_is_alternative for claim in wanted for one in claim.requests
    )
    if not mistaken or found.cause.code in _BEFORE_THE_SEARCH:
        return found
    text = (
        "an alternative other than the first asks for all devices, and the scheduler of "
        f"Kubernetes {version} goes on with the first one after one device of it"
    )
    return Judgement(Status.UNKNOWN, Cause("AllAsAlternative", text))


class _NotOnTypeError(Exception):
    """A claim of ours that its own rules refuse on the type of a group."""

    def __init__(self, path: str, fault: Finding) -> None:
        super().__init__()
        self.path, self.fault = path, fault


def _of_ours(claim: Any, group: NodegroupPlan) -> Wanted:
    try:
        manifest = written_manifest(claim, group)
    except EksDevicesError as error:
        raise _NotOnTypeError(path_of(claim), error.faults[0]) from error
    return read_manifest(manifest, path_of(claim), kubernetes_version=group.kubernetes_version)


def _devices(
    wanted: tuple[Wanted, ...], node: NodeDevices, found: Judgement
) -> tuple[AllocatedDevice, ...]:
    devices = []
    for pick in found.picks:
        claim, device = wanted[pick.claim], node.devices[pick.device]
        request = claim.requests[pick.request]
        option = f"/{request.options[pick.option].name}" if request.is_prioritised else ""
        devices.append(
            AllocatedDevice(
                claim=claim.path,
                request=f"{request.name}{option}",
                driver=device.driver,
                device=device.name,
            )
        )
    return tuple(devices)
