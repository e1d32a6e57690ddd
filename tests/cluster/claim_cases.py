"""Claims of this library with what their Pods have to get, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from eks_devices import (
    DeviceRequest,
    MatchAttribute,
    Mechanism,
    Mig,
    NodegroupPlan,
    NodegroupSpec,
    ResourceClaimTemplate,
)

Item = dict[str, Any]

SPACE = "train"
GPU, NEURON, EFA = "gpu.nvidia.com", "neuron.aws.com", "dra.net"
DOMAIN = "compute-domain.nvidia.com"
ROOT = "resource.kubernetes.io/pcieRoot"
PRODUCT = f"{GPU}/productName"
PCIE_ROOT, DEVICE_GROUP = MatchAttribute.PCIE_ROOT, MatchAttribute.DEVICE_GROUP
TYPES = (
    "trn2.48xlarge",
    "trn1.32xlarge",
    "p4d.24xlarge",
    "p5.48xlarge",
    "p5en.48xlarge",
    "p6-b200.48xlarge",
    "p6e-gb200.36xlarge",
)
# A group whose GPUs are cut into one large partition and four small ones.
CUT = "cut"
LAYOUT = Mig.layout("3g.40gb", "1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb")
PARENT = f"{GPU}/parentUUID"
OF_ONE_GPU = MatchAttribute.of(PARENT)
H100, H200 = (
    f"'productName' in device.attributes['{GPU}'] && "
    f"device.attributes['{GPU}'].productName == '{name}'"
    for name in ("NVIDIA H100 80GB HBM3", "NVIDIA H200")
)


def group_attribute(size: int) -> str:
    return f"resource.aws.com/devicegroup{size}_id"


@dataclass(frozen=True)
class Case:
    """A claim on nodes of a group, what its Pod has to get, and what it may not ask for."""

    on: str
    """The type of the nodes, or the name of the group."""
    requests: tuple[DeviceRequest, ...]
    gets: dict[str, int]
    match: MatchAttribute | None = None
    shares: str = ""
    # What the claim's twin asks too much of; to refuse large claims takes the scheduler too long.
    over: str = ""

    def claim(self, name: str) -> ResourceClaimTemplate:
        return ResourceClaimTemplate(
            name=name, namespace=SPACE, requests=self.requests, match=self.match
        )


def aligned(on: str, gpus: int, efas: int, *, over: str) -> Case:
    """GPUs with their share of the EFAs at one PCIe root."""
    requests = (DeviceRequest.gpu(gpus), DeviceRequest.efa())
    gets = {GPU: gpus, EFA: efas}
    return Case(on, requests, gets, match=PCIE_ROOT, shares=ROOT, over=over)


def connected(on: str, neurons: int, efas: int, *, over: str = "neuron") -> Case:
    """A group of Neuron devices with its EFAs."""
    requests = (DeviceRequest.neuron(neurons), DeviceRequest.efa())
    gets = {NEURON: neurons, EFA: efas}
    return Case(on, requests, gets, match=DEVICE_GROUP, shares=group_attribute(neurons), over=over)


OF_THE_APP = {
    "neuron-4": connected("trn2.48xlarge", 4, 4),
    "gpu-1": aligned("p5.48xlarge", 1, 4, over="efa"),
    "node-gpus": Case("p5.48xlarge", (DeviceRequest.gpu(8),), {GPU: 8}, over="gpu"),
    "node-efas": Case("p5.48xlarge", (DeviceRequest.efa(),), {EFA: 32}),
    "gb200-node": Case(
        "p6e-gb200.36xlarge",
        (DeviceRequest.gpu(4), DeviceRequest.efa()),
        {GPU: 4, EFA: 4},
        over="efa",
    ),
}
CASES = OF_THE_APP | {
    "p4d-pair": aligned("p4d.24xlarge", 2, 1, over="efa"),
    "p5en-one": aligned("p5en.48xlarge", 1, 2, over=""),
    "p5en-pair": aligned("p5en.48xlarge", 2, 4, over="gpu"),
    "b200-pair": aligned("p6-b200.48xlarge", 2, 2, over="gpu"),
    "trn2-1": connected("trn2.48xlarge", 1, 1),
    "trn2-8": connected("trn2.48xlarge", 8, 8),
    "trn2-16": connected("trn2.48xlarge", 16, 16, over=""),
    "trn1-1": connected("trn1.32xlarge", 1, 1, over="efa"),
    "trn1-4": connected("trn1.32xlarge", 4, 2, over="efa"),
    "trn1-8": connected("trn1.32xlarge", 8, 4),
    "trn1-16": connected("trn1.32xlarge", 16, 8, over=""),
    "mig-small": Case(
        CUT, (DeviceRequest.mig("1g.10gb", 4),), {GPU: 4}, shares=PARENT, match=OF_ONE_GPU
    ),
    "mig-large": Case(CUT, (DeviceRequest.mig("3g.40gb", 8),), {GPU: 8}, over="mig"),
    "h100": Case(
        "p5.48xlarge", (DeviceRequest.gpu(8).where(H100),), {GPU: 8}, shares=PRODUCT, over="gpu"
    ),
}


def group_specs(spec: Callable[..., NodegroupSpec]) -> list[NodegroupSpec]:
    """A group of each type, with all its devices by DRA, and the one whose GPUs are cut."""
    by_type = [spec(one.replace(".", "-"), one, mechanism=Mechanism.DRA, efa=True) for one in TYPES]
    return [*by_type, spec(CUT, "p5.48xlarge", mig=LAYOUT, efa=False)]


def as_cases_name_them(groups: Iterable[NodegroupPlan]) -> dict[str, NodegroupPlan]:
    """Groups by type, and the one that is cut by its name."""
    return {group.instance_type if group.mig is None else group.name: group for group in groups}


def grown(manifest: Item, request: str) -> Item:
    """The claim with one device more, as somebody writes it by hand."""
    changed = deepcopy(manifest)
    changed["metadata"]["name"] += "-and-one"
    asked = changed["spec"]["spec"]["devices"]["requests"]
    next(one for one in asked if one["name"] == request)["exactly"]["count"] += 1
    return changed


def as_written(case: Case, manifest: Item) -> list[DeviceRequest]:
    """The requests of a case with the counts that a manifest has."""
    asked = manifest["spec"]["spec"]["devices"]["requests"]
    return [
        replace(one, count=written["exactly"]["count"])
        for one, written in zip(case.requests, asked, strict=True)
    ]
