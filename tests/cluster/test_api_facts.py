"""What a real API server makes of claims and devices, one test for each fact."""

from __future__ import annotations

import re

import pytest
from tests.feasibility.test_cel_advice import REFUSED, REFUSED_WHEN_NEW, TAKEN, TAKEN_LATER

from eks_device_operations.control_plane import ApiError
from eks_device_operations.control_plane.pods import (
    claim,
    make_namespace,
    pod,
    wait_bound,
    wait_decided,
)
from eks_devices._data import read_toml
from eks_devices.feasibility.cel.expressions import refusal
from eks_devices.kubernetes import minors

MINOR = "1.34"
SPACE = "facts"
API = "resource.k8s.io/v1"
CLASS = "gpu.example.com"
ADMIN_LABEL = {"resource.kubernetes.io/admin-access": "true"}
# Stages of kubernetes.toml as the API server tells of them, and whether the gate is on.
STAGES = {
    "alpha": ("ALPHA", "0"),
    "beta-off": ("BETA", "0"),
    "beta": ("BETA", "1"),
    "ga": ("", "1"),
}


@pytest.fixture(scope="module")
def node(shared):
    """A node without a taint, in a cluster without a manager."""
    make_namespace(shared.api, SPACE)
    return shared.join_other("plain")


def made(kind, name, spec, **more):
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name} | more, "spec": spec}


def asked(kind, exactly, *, namespace=SPACE):
    request = {"name": "gpu", "exactly": {"deviceClassName": CLASS} | exactly}
    return claim(kind, "gpu", request, namespace=namespace)


def test_gates_are_as_the_data_says(shared):
    text = shared.api.pool.request("GET", f"{shared.api.server}/metrics").data.decode()
    pattern = r'kubernetes_feature_enabled\{name="(\w+)",stage="(\w*)"\} ([01])'
    real = {name: (stage, on) for name, stage, on in re.findall(pattern, text)}

    gates = read_toml("kubernetes.toml")["gates"]

    assert {name: real.get(name) for name in gates} == {
        name: STAGES.get(stages[MINOR]) for name, stages in gates.items()
    }
    shared.tally["facts settled"] += len(gates)


def test_api_versions_are_as_the_data_says(shared):
    served = shared.api.request("GET", "/apis/resource.k8s.io")["versions"]

    assert [one["version"] for one in served] == list(minors()[MINOR].resource_api_versions)
    kinds = shared.api.request("GET", f"/apis/{API}")["resources"]
    assert "DeviceTaintRule" not in {one["kind"] for one in kinds}
    shared.tally["facts settled"] += 2


@pytest.mark.usefixtures("node")
def test_older_claims_are_not_understood(shared):
    requests = [{"name": "gpu", "deviceClassName": CLASS}]
    old = made("ResourceClaim", "old", {"devices": {"requests": requests}}, namespace=SPACE)

    with pytest.raises(ApiError, match="deviceClassName"):
        shared.api.create(old)
    with pytest.raises(ApiError) as caught:
        shared.api.create(old | {"apiVersion": "resource.k8s.io/v1beta1"})
    assert caught.value.code == 404


@pytest.mark.usefixtures("node")
@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate"])
def test_a_claim_cannot_be_changed(shared, kind):
    shared.install(asked(kind, {"count": 1}))

    with pytest.raises(ApiError, match="field is immutable"):
        shared.api.apply(asked(kind, {"count": 2}))
    shared.tally["facts settled"] += 1


def test_admin_access_needs_a_label_of_the_namespace(shared):
    exactly = {"adminAccess": True}
    for name, labels in (("users", {}), ("admins", ADMIN_LABEL)):
        meta = {"name": name, "labels": labels}
        shared.install({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})

    with pytest.raises(ApiError, match="admin access to devices requires the"):
        shared.api.create(asked("ResourceClaimTemplate", exactly, namespace="users"))

    shared.install(asked("ResourceClaimTemplate", exactly, namespace="admins"))
    shared.tally["facts settled"] += 1


@pytest.mark.usefixtures("node")
def test_expressions_are_refused_as_they_are_told(shared):
    field = "device.allowMultipleAllocations == false"
    told = [*(text for text, _ in (*REFUSED, *REFUSED_WHEN_NEW)), *TAKEN_LATER, field]
    for number, text in enumerate((*told, *TAKEN)):
        one = asked("ResourceClaim", {"selectors": [{"cel": {"expression": text}}]})
        one["metadata"]["name"] = f"told-{number}"
        why = ""
        try:
            shared.api.create(one)
        except ApiError as error:
            why = str(error)
        assert bool(why) == (refusal(text, MINOR) is not None), (text, why)
        # What the list has as taken may cost too much.
        assert bool(why) == (number < len(told)) or "exceeds cost limit" in why, text
        shared.tally["facts settled"] += 1


def test_names_of_extended_resources_are_dropped_without_a_word(shared):
    (kept,) = shared.install(made("DeviceClass", CLASS, {"extendedResourceName": "example.com/x"}))

    assert kept["spec"] == {}
    shared.tally["facts settled"] += 1


def test_no_claim_answers_for_an_extended_resource(shared, node):
    """With a class of that name, and a device of it on the node."""
    offer(shared, node, CLASS)
    resource = f"deviceclass.resource.kubernetes.io/{CLASS}"
    item = pod("implicit", namespace=SPACE, limits={resource: 1})
    shared.api.create(item)

    (found,) = wait_decided(shared.api, item)

    assert f"1 Insufficient {resource}" in found.message
    shared.tally["facts settled"] += 1


def test_taints_of_devices_are_dropped_without_a_word(shared, node):
    taint = {"key": "example.com/sick", "effect": "NoExecute"}
    kept = offer(shared, node, "sick.example.com", taints=[taint])
    exactly = {"deviceClassName": "sick.example.com"}
    template = asked("ResourceClaimTemplate", exactly)
    template["metadata"]["name"] = "sick"
    shared.install(template)
    item = pod("patient", namespace=SPACE, templates=["sick"])
    shared.api.create(item)

    assert wait_bound(shared.api, item) == node
    assert kept["spec"]["devices"] == [{"name": "one"}]
    shared.tally["facts settled"] += 1


def offer(shared, node, driver, **device):
    """A device of a driver on a node, and the class of its devices; the slice as it was kept."""
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": "one"} | device]
    spec = {"driver": driver, "nodeName": node, "pool": pool, "devices": devices}
    selector = {"cel": {"expression": f"device.driver == '{driver}'"}}
    kept, _ = shared.install(
        made("ResourceSlice", driver, spec),
        made("DeviceClass", driver, {"selectors": [selector]}),
    )
    return kept
