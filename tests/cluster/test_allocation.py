"""What the real scheduler gives to the claims of this library, and what it gives to nobody."""

from __future__ import annotations

import re
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from eks_device_operations.control_plane.pods import (
    claim,
    claims_of,
    given,
    wait_bound,
    wait_decided,
)
from eks_devices import (
    ComputeDomain,
    DeviceRequest,
    EksDevicesError,
    MatchAttribute,
    Mechanism,
    Mig,
    ResourceClaimTemplate,
)
from eks_devices.claims.on_nodegroup import claim_manifest
from eks_devices.names import COMPUTE_DOMAIN_CHANNEL_CLASS

Item = dict[str, Any]

SNAPSHOTS = Path(__file__).parents[1] / "app" / "snapshots"
SPACE = "train"
NO_DEVICES = "1 cannot allocate all claims"
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


def group_attribute(size):
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

    def claim(self, name):
        return ResourceClaimTemplate(
            name=name, namespace=SPACE, requests=self.requests, match=self.match
        )


def aligned(on, gpus, efas, *, over):
    """GPUs with their share of the EFAs at one PCIe root."""
    requests = (DeviceRequest.gpu(gpus), DeviceRequest.efa())
    gets = {GPU: gpus, EFA: efas}
    return Case(on, requests, gets, match=PCIE_ROOT, shares=ROOT, over=over)


def connected(on, neurons, efas, *, over="neuron"):
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


def name_of(instance_type):
    return instance_type.replace(".", "-")


@pytest.fixture(scope="module")
def groups(shared, spec, planned):
    """One node of each type, with all its devices by DRA, by type."""
    specs = [spec(name_of(one), one, mechanism=Mechanism.DRA, efa=True) for one in TYPES]
    plan = planned(*specs, spec(CUT, "p5.48xlarge", mig=LAYOUT, efa=False))
    shared.serve(plan, SPACE)
    by_type = {group.instance_type: group for group in plan.nodegroups if group.mig is None}
    return by_type | {group.name: group for group in plan.nodegroups}


def grown(manifest, request):
    """The claim with one device more, as somebody writes it by hand."""
    changed = deepcopy(manifest)
    changed["metadata"]["name"] += "-and-one"
    asked = changed["spec"]["spec"]["devices"]["requests"]
    next(one for one in asked if one["name"] == request)["exactly"]["count"] += 1
    return changed


def counts(devices):
    """How many devices of each driver there are, no device twice."""
    unique = {(one.driver, one.pool, one.device) for one in devices}
    assert len(unique) == len(devices)
    return Counter(one.driver for one in devices)


@pytest.mark.parametrize("name", CASES)
def test_a_claim_gets_its_devices(shared, groups, run, name):
    case = CASES[name]
    group = groups[case.on]

    item = run(
        name,
        claim_manifest(case.claim(name), group),
        group=group,
        templates=[name],
        namespace=SPACE,
    )
    node = wait_bound(shared.api, item)

    devices = given(shared.api, item)
    assert counts(devices) == case.gets
    assert {one.pool for one in devices} == {node} == {f"{group.name}-0"}
    if case.shares:
        assert len({one.attributes[case.shares] for one in devices}) == 1
    shared.tally["Pods bound"] += 1
    shared.tally["devices allocated"] += len(devices)


def test_one_device_more_is_never_given(shared, groups, run):
    """By the scheduler's word, and the library refuses each of these claims beforehand."""
    twins = []
    for name, case in CASES.items():
        if case.over:
            group, values = groups[case.on], case.claim(name)
            twin = grown(claim_manifest(values, group), case.over)
            with pytest.raises(EksDevicesError):
                claim_manifest(replace(values, requests=as_written(case, twin)), group)
            twin_name = twin["metadata"]["name"]
            twins.append(run(twin_name, twin, group=group, templates=[twin_name], namespace=SPACE))

    for item, found in zip(twins, wait_decided(shared.api, *twins), strict=True):
        assert (found.node, found.reason) == ("", "Unschedulable"), item["metadata"]["name"]
        assert NO_DEVICES in found.message, item["metadata"]["name"]
        assert given(shared.api, item) == []
    shared.tally["Pods refused"] += len(twins)


def as_written(case, manifest):
    """The requests of a case with the counts that a manifest has."""
    asked = manifest["spec"]["spec"]["devices"]["requests"]
    return [
        replace(one, count=written["exactly"]["count"])
        for one, written in zip(case.requests, asked, strict=True)
    ]


def test_these_are_the_claims_of_the_reference_app():
    lines = "".join(path.read_text(encoding="utf-8") for path in SNAPSHOTS.glob("*.yaml"))

    found = set(re.findall(r"- (?:ResourceClaimTemplate|ComputeDomain)/train/(\S+)", lines))

    assert found == {*OF_THE_APP, "trainer"}


def test_a_whole_node_is_two_claims_of_one_pod(shared, groups, run):
    group = groups["p5.48xlarge"]
    names = ["node-gpus", "node-efas"]
    claims = [claim_manifest(CASES[name].claim(name), group) for name in names]

    item = run("whole-node", *claims, group=group, templates=names, namespace=SPACE)
    wait_bound(shared.api, item)
    second = run("second", group=group, templates=["node-efas"], namespace=SPACE)

    assert counts(given(shared.api, item)) == {GPU: 8, EFA: 32}
    (found,) = wait_decided(shared.api, second)
    assert NO_DEVICES in found.message


def test_containers_of_a_pod_use_one_claim_together(shared, groups, run):
    group = groups["p5.48xlarge"]
    manifest = claim_manifest(CASES["gpu-1"].claim("gpu-1"), group)

    item = run("two", manifest, group=group, templates=["gpu-1"], containers=2, namespace=SPACE)
    wait_bound(shared.api, item)

    assert counts(given(shared.api, item)) == {GPU: 1, EFA: 4}
    (held,) = claims_of(shared.api, item)
    assert [one["name"] for one in held["status"]["reservedFor"]] == ["two"]


@pytest.mark.usefixtures("groups")
def test_a_selector_chooses_the_node(shared, run):
    """Without a node selector, among nodes of every type."""
    values = ResourceClaimTemplate(
        name="h200", namespace=SPACE, requests=[DeviceRequest.gpu(2).where(H200)], match=PCIE_ROOT
    )
    tolerations = [{"operator": "Exists"}]

    manifest = values.to_dict(kubernetes_version="1.34")
    item = run("h200", manifest, templates=["h200"], tolerations=tolerations, namespace=SPACE)

    assert wait_bound(shared.api, item) == "p5en-48xlarge-0"
    assert {one.attributes[PRODUCT] for one in given(shared.api, item)} == {"NVIDIA H200"}


def channel_template(domain):
    """What the controller of ComputeDomains makes, which does not run here."""
    exactly = {"deviceClassName": COMPUTE_DOMAIN_CHANNEL_CLASS, "count": 1}
    request = {"name": "channel", "exactly": exactly}
    return claim("ResourceClaimTemplate", domain.channel, request, namespace=SPACE)


def test_a_pod_of_a_compute_domain_gets_its_channel_and_its_devices(shared, groups, run):
    group = groups["p6e-gb200.36xlarge"]
    domain = ComputeDomain(name="trainer", namespace=SPACE, nodes=18)
    node = claim_manifest(CASES["gb200-node"].claim("gb200-node"), group)
    names = ["gb200-node", domain.channel]
    made = [claim_manifest(domain, group), channel_template(domain), node]

    item = run("member", *made, group=group, templates=names, namespace=SPACE)
    wait_bound(shared.api, item)
    second = run("second", group=group, templates=[domain.channel], namespace=SPACE)

    devices = given(shared.api, item)
    assert counts(devices) == {GPU: 4, EFA: 4, DOMAIN: 1}
    assert {one.device for one in devices if one.driver == DOMAIN} == {"channel-0"}
    (found,) = wait_decided(shared.api, second)
    assert NO_DEVICES in found.message
