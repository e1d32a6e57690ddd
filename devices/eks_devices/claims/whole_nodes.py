"""Claims for everything that a node has: as few as Kubernetes allows, or aligned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from .._frozen import frozen_dict
from ..findings import EksDevicesError, Finding, fault, raise_faults
from ..instance_types import AcceleratedInstanceType, lookup
from ..network import default_efa_count
from ..plans import NodegroupPlan
from ..published import pcie_roots
from ..syntax import dns_label
from ..typecheck import member, plain_text, wrong_type
from ..vocabulary import DeviceType, Mechanism
from .match import MatchAttribute
from .requests import DeviceRequest
from .syntax import DRA_PAGE, MOST_DEVICES
from .templates import DEFAULT_NAMESPACE, ResourceClaimTemplate

_EFA_PAGE: Final = "https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html"


class WholeNodeSplit(StrEnum):
    """How the devices of a node are shared out among the claims of its Pod."""

    FEWEST = "fewest"
    """One claim, or where that had more than 32 devices one for the accelerators, one for EFAs."""
    BY_PCIE_ROOT = "by-pcie-root"
    """A claim for the GPUs and EFAs of each PCIe root, so that each GPU is told its own EFAs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeNodeClaims:
    """The claims of a Pod that takes a whole node; made by `whole_node_claims`.

    `templates` are the objects, and `claims` says by which name the Pod has a claim of each: of one
    template it may have several. `use_claims` takes it as it is.
    """

    templates: tuple[ResourceClaimTemplate, ...]
    claims: Mapping[str, ResourceClaimTemplate]


def whole_node_claims(
    name: str,
    *,
    nodes: NodegroupPlan | str,
    namespace: str = DEFAULT_NAMESPACE,
    split: WholeNodeSplit = WholeNodeSplit.FEWEST,
) -> WholeNodeClaims:
    """Templates of the claims by which a Pod takes every accelerator and EFA of its node.

    Args:
        name: Begins the names of the templates, and is the name of a single one; a DNS label.
        nodes: The plan of a node group, or the name of an EC2 type, for which every EFA of the
            default layout is meant.
        namespace: The namespace of templates and Pods, `default` when left out.
        split: One claim where 32 devices hold it, else two, or one for each PCIe root.

    Raises:
        EksDevicesError: Malformed names, types that are not known, and for BY_PCIE_ROOT
            `PcieRootsUnknown` where nobody told which devices share a root, `PcieRootNotShared`
            where GPUs share none with EFAs, `FewerEfas` for a group without all EFAs of its type,
            `NoPcieRoots` for Neuron devices; `GpusAreCut` for a group whose GPUs are
            cut, and `ClaimNeedsDra` for one whose devices are by a device plugin.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html
    """
    faults = [*dns_label(plain_text(name), "name"), *member(split, WholeNodeSplit, "split")]
    node = _node(nodes)
    if isinstance(node, Finding):
        raise EksDevicesError([*faults, node])
    by_root = split is WholeNodeSplit.BY_PCIE_ROOT
    raise_faults([*faults, *(_root_faults(node) if by_root else ())])
    return (_by_root if by_root else _fewest)(node, plain_text(name), namespace)


@dataclass(frozen=True, slots=True)
class _Node:
    instance: AcceleratedInstanceType
    accelerators: int
    efas: int

    @property
    def requests(self) -> list[DeviceRequest]:
        """The accelerators first: Pods name claims for fewer devices before others."""
        is_gpu = self.instance.device_type is DeviceType.GPU
        factory = DeviceRequest.gpu if is_gpu else DeviceRequest.neuron
        found = [factory(self.accelerators)] if self.accelerators else []
        return found + ([DeviceRequest.efa(self.efas)] if self.efas else [])


def _node(nodes: object) -> _Node | Finding:
    if isinstance(nodes, NodegroupPlan):
        if nodes.mig is not None:
            return _cut(nodes)
        instance = AcceleratedInstanceType.of(nodes.instance_type)
        node = _Node(
            instance, _claimed(nodes, instance.device_type), _claimed(nodes, DeviceType.EFA)
        )
        return node if node.requests else _nothing_claimed(nodes)
    if not isinstance(nodes, str):
        fix = "pass plan of a node group, or an instance type"
        return wrong_type("nodes", nodes, "a NodegroupPlan, or the name of an EC2 type", fix)
    found = lookup(plain_text(nodes), "nodes")
    if isinstance(found, Finding):
        return found
    chip = found.accelerator
    return _Node(found, chip.count if chip else 0, default_efa_count(found))


def _claimed(plan: NodegroupPlan, device_type: DeviceType | None) -> int:
    device = None if device_type is None else plan.device_of(device_type)
    return device.count if device is not None and device.mechanism is Mechanism.DRA else 0


def _fewest(node: _Node, name: str, namespace: str) -> WholeNodeClaims:
    requests = node.requests
    if node.accelerators + node.efas <= MOST_DEVICES:
        shares = {name: requests}
    else:
        shares = {f"{name}-{one.kind.value}": [one] for one in requests}
    made = [
        ResourceClaimTemplate(name=one, namespace=namespace, requests=asked)
        for one, asked in shares.items()
    ]
    return WholeNodeClaims(
        templates=tuple(made), claims=frozen_dict((one.name, one) for one in made)
    )


def _by_root(node: _Node, name: str, namespace: str) -> WholeNodeClaims:
    (shape,), number = {*_shapes(node)}, len(_shapes(node))
    gpus, efas = shape
    requests = [DeviceRequest.gpu(gpus)] + ([DeviceRequest.efa(efas)] if efas else [])
    template = ResourceClaimTemplate(
        name=name, namespace=namespace, requests=requests, match=MatchAttribute.PCIE_ROOT
    )
    claims = frozen_dict((f"{name}-{index}", template) for index in range(number))
    return WholeNodeClaims(templates=(template,), claims=claims)


def _shapes(node: _Node) -> list[tuple[int, int]]:
    """GPUs and EFAs of each PCIe root that has any which are claimed."""
    roots = pcie_roots(node.instance.name) or ()
    found = [(one.gpus, one.efas if node.efas else 0) for one in roots]
    return [one for one in found if any(one)]


def _root_faults(node: _Node) -> list[Finding]:
    instance = node.instance
    if instance.device_type is not DeviceType.GPU or not node.accelerators:
        message = "only GPUs that are claimed share PCIe roots with EFAs"
        return [_refused("NoPcieRoots", message, "claims of Neuron devices match DEVICE_GROUP; ")]
    if pcie_roots(instance.name) is None:
        message = f"nobody told which devices of {instance.name} share a PCIe root"
        return [_refused("PcieRootsUnknown", message, "read ResourceSlices of such a node, or ")]
    if node.efas not in (0, default_efa_count(instance)):
        message = f"the nodes have {node.efas} EFAs, and which roots those are on is not known"
        return [_refused("FewerEfas", message, "give the group every EFA, efa=True, or ")]
    if len({*_shapes(node)}) > 1:
        message = f"no EFA of {instance.name} shares a PCIe root with a GPU"
        return [_refused("PcieRootNotShared", message, "")]
    return []


def _refused(code: str, message: str, other: str) -> Finding:
    return fault(
        code,
        "split",
        message,
        got="WholeNodeSplit.BY_PCIE_ROOT",
        allowed="WholeNodeSplit.FEWEST",
        fix=f"{other}use WholeNodeSplit.FEWEST",
        source=_EFA_PAGE,
    )


def _cut(plan: NodegroupPlan) -> Finding:
    return fault(
        "GpusAreCut",
        "nodes",
        f"every GPU of node group {plan.name} is cut, or may be",
        got=plan.name,
        allowed="a group without mig",
        fix="ask for its partitions by DeviceRequest.mig(...)",
        source=DRA_PAGE,
    )


def _nothing_claimed(plan: NodegroupPlan) -> Finding:
    return fault(
        "ClaimNeedsDra",
        "nodes",
        f"no device of node group {plan.name} is claimed",
        got=plan.name,
        allowed="a group with devices by Mechanism.DRA",
        fix="use mechanism=Mechanism.DRA for the group, or ask for its extended resources",
        source=DRA_PAGE,
    )
