"""What the real scheduler gives to the claims of this library, and what it gives to nobody."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cluster.claim_cases import (
    CASES,
    DOMAIN,
    EFA,
    GPU,
    H200,
    OF_THE_APP,
    PCIE_ROOT,
    PRODUCT,
    SPACE,
    as_cases_name_them,
    as_written,
    group_specs,
    grown,
)

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
    ResourceClaimTemplate,
)
from eks_devices.claims.on_nodegroup import claim_manifest
from eks_devices.names import COMPUTE_DOMAIN_CHANNEL_CLASS

SNAPSHOTS = Path(__file__).parents[1] / "app" / "snapshots"
NO_DEVICES = "1 cannot allocate all claims"


@pytest.fixture(scope="module")
def groups(shared, spec, planned):
    """One node of each group, with all its devices."""
    plan = planned(*group_specs(spec))
    shared.serve(plan, SPACE)
    return as_cases_name_them(plan.nodegroups)


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
