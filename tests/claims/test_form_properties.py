"""What holds for claims of every form: they are what Kubernetes takes, and groups serve them."""

from __future__ import annotations

import functools
import json
from typing import Any

import kubernetes_validate
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.claim_rows import cluster

from eks_devices import (
    AllocationMode,
    ClusterPlan,
    DeviceRequest,
    DeviceSelector,
    DeviceToleration,
    DistinctAttribute,
    EksDevicesError,
    MatchAttribute,
    Mechanism,
    OpaqueConfig,
    ResourceClaimTemplate,
)
from eks_devices.claims.constraints import rendered_constraints
from eks_devices.claims.on_nodegroup import claim_findings, claim_manifest
from eks_devices.claims.rendering import rendered_request
from eks_devices.feasibility import Status, check_claims

ALL = AllocationMode.ALL
ROOT, DEVICES = MatchAttribute.PCIE_ROOT, MatchAttribute.DEVICE_GROUP
TYPES = ("p5.48xlarge", "p4d.24xlarge", "p5en.48xlarge", "trn2.48xlarge", "g6e.12xlarge")

counts: st.SearchStrategy[Any] = st.sampled_from([1, 1, 2, 3, 4, 8, 16, ALL])
selectors = st.sampled_from(
    [
        DeviceSelector.gpu_memory_at_least("70Gi"),
        DeviceSelector.gpu_memory_at_least("80Gi"),
        DeviceSelector.gpu_architecture("Hopper", "Ada Lovelace"),
        DeviceSelector.gpu_compute_capability_at_least("8.9"),
    ]
)


@st.composite
def plain(draw: st.DrawFn, name: str) -> DeviceRequest:
    """A request of any kind."""
    kind = draw(st.sampled_from(["gpu", "gpu", "neuron", "efa", "efa", "open"]))
    count = draw(counts)
    if kind == "gpu":
        gpu = DeviceRequest.gpu(count, name=name)
        return gpu.where(draw(selectors)) if draw(st.integers(0, 3)) == 0 else gpu
    if kind == "neuron":
        return DeviceRequest.neuron(count, name=name)
    return DeviceRequest.efa(None if kind == "open" else count, name=name)


@st.composite
def listed(draw: st.DrawFn, name: str) -> DeviceRequest:
    """A request of any kind, or a list of alternatives."""
    if draw(st.booleans()):
        return draw(plain(name))
    number = draw(st.integers(1, 3))
    options = [draw(plain(f"o{at}")) for at in range(number)]
    return DeviceRequest.first_available(*options, name=name)


@st.composite
def claims(draw: st.DrawFn) -> ResourceClaimTemplate:
    """A claim of one to three requests with constraints of every kind."""
    requests = [draw(listed(f"r{at}")) for at in range(draw(st.integers(1, 3)))]
    names = [one.name for one in requests]
    names += [f"{one.name}/{option.name}" for one in requests for option in one.alternatives]
    some = st.lists(st.sampled_from(names), max_size=3, unique=True)
    attributes = st.sampled_from([ROOT, ROOT, DEVICES])
    constraints: list[Any] = [
        draw(attributes).over(*draw(some)) for _ in range(draw(st.integers(0, 2)))
    ]
    try:
        return ResourceClaimTemplate(
            name="c",
            namespace="n",
            requests=requests,
            match=draw(st.sampled_from([None, None, ROOT, DEVICES])),
            constraints=constraints,
        )
    except EksDevicesError:
        assume(condition=False)
        raise


@functools.cache
def planned(instance_type: str) -> ClusterPlan:
    return cluster(instance_type, mechanism=Mechanism.DRA, efa=True)


@settings(max_examples=60, deadline=None)
@given(claims(), st.sampled_from(TYPES))
def test_what_a_group_takes_its_nodes_serve(claim, instance_type):
    plan = planned(instance_type)
    try:
        manifest = claim_manifest(claim, plan.nodegroups[0])
    except EksDevicesError:
        return

    (said,) = check_claims([manifest], plan)

    # Of some roots and long searches nothing is known before a node runs.
    assert said.status in (Status.FEASIBLE, Status.UNKNOWN), said
    claim_findings(claim, manifest, plan.nodegroups[0])
    kubernetes_validate.validate(json.loads(json.dumps(manifest)), "1.34", strict=True)


@settings(max_examples=60, deadline=None)
@given(claims(), st.sampled_from(TYPES))
def test_what_a_group_refuses_its_nodes_never_serve(claim, instance_type):
    """Beside all devices under a constraint, which a node may serve, and other nodes then not."""
    assume(not any(option.is_open for one in claim.requests for option in one.options))
    plan = planned(instance_type)
    try:
        claim_manifest(claim, plan.nodegroups[0])
    except EksDevicesError as error:
        codes = {one.code for one in error.faults}
    else:
        return

    (said,) = check_claims([unjudged(claim, instance_type)], plan)

    assert said.status is not Status.FEASIBLE or codes == {"AllWithConstraint"}, (codes, said)


def unjudged(claim: ResourceClaimTemplate, instance_type: str) -> dict[str, Any]:
    """The manifest of a claim that is written whatever is wrong with it."""
    requests = [
        rendered_request(one, [option.count for option in one.options], instance_type)
        for one in claim.requests
    ]
    devices = {"requests": requests, "constraints": rendered_constraints(claim, 2)}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": claim.name, "namespace": claim.namespace},
        "spec": {"spec": {"devices": devices}},
    }


@settings(max_examples=25, deadline=None)
@given(
    st.lists(plain("o"), min_size=1, max_size=1),
    st.booleans(),
    st.sampled_from([None, "1.36", "1.37"]),
)
def test_every_field_is_one_of_kubernetes(requests, access, version):
    (asked,) = requests
    asked = asked.tolerating(DeviceToleration(key="a/b", value="c"), DeviceToleration())
    asked = asked.with_admin_access() if access else asked
    claim = ResourceClaimTemplate(
        name="c",
        requests=[asked, DeviceRequest.gpu(2)],
        constraints=[DistinctAttribute.of("gpu.nvidia.com/uuid").over("gpu")],
        configs=[OpaqueConfig(driver="a.b", parameters={"c": [1]}, requests=["gpu"])],
    )
    try:
        manifest = claim.to_dict(kubernetes_version=version or "1.36")
    except EksDevicesError:
        # An open number of EFAs: everything else can be written without a type.
        assert asked.is_open
        return

    kubernetes_validate.validate(json.loads(json.dumps(manifest)), "1.35", strict=True)
