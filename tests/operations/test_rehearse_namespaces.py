"""The namespaces that a rehearsal makes because no file has them."""

from __future__ import annotations

import textwrap

import pytest

from eks_device_operations.rehearse.files import Item, read_items
from eks_device_operations.rehearse.namespaces import missing_namespaces, told
from eks_devices import DeviceRequest, ResourceClaim, ResourceClaimTemplate

LABEL = "resource.kubernetes.io/admin-access"
ALL_SEEING = DeviceRequest.gpu().with_admin_access()


@pytest.fixture
def read(tmp_path):
    """The items of a YAML text."""

    def read(text):
        file = tmp_path / "objects.yaml"
        file.write_text(textwrap.dedent(text), encoding="utf-8")
        return read_items([str(file)]).items

    return read


def of_the_plan(claim):
    content = claim.to_dict(kubernetes_version="1.36", instance_type="g6e.12xlarge")
    return Item(file="the plan", content=content)


def made(items):
    return {
        one["metadata"]["name"]: one["metadata"].get("labels")
        for one in missing_namespaces(items, (), "lab")
    }


@pytest.mark.parametrize("kind", [ResourceClaim, ResourceClaimTemplate])
def test_one_of_a_planned_claim_with_admin_access_has_the_label(kind):
    watch = kind(name="watch", namespace="monitoring", requests=[DeviceRequest.efa(1), ALL_SEEING])
    plain = kind(name="plain", namespace="train", requests=[DeviceRequest.gpu()])

    assert made([of_the_plan(watch), of_the_plan(plain)]) == {
        "lab": None,
        "monitoring": {LABEL: "true"},
        "train": None,
    }


def test_one_of_a_file_is_what_the_file_says(read):
    watch = ResourceClaim(name="watch", namespace="monitoring", requests=[ALL_SEEING])
    space = "apiVersion: v1\nkind: Namespace\nmetadata: {name: monitoring}"

    assert made([of_the_plan(watch), *read(space)]) == {"lab": None}


@pytest.mark.parametrize(
    "devices",
    [
        "{requests: [{name: a, exactly: {deviceClassName: c, adminAccess: true}}]}",
        "{requests: [{name: a, exactly: true}]}",
        "{requests: {a: 1}}",
        "1",
    ],
)
def test_a_claim_of_a_file_labels_no_namespace(read, devices):
    text = f"""
    apiVersion: resource.k8s.io/v1
    kind: ResourceClaim
    metadata: {{name: c, namespace: train}}
    spec: {{devices: {devices}}}
    """

    assert made(read(text)) == {"lab": None, "train": None}


def test_the_report_says_which_have_the_label():
    watch = ResourceClaim(name="watch", namespace="monitoring", requests=[ALL_SEEING])

    assert [told(one) for one in missing_namespaces([of_the_plan(watch)], (), "lab")] == [
        "namespace lab",
        f"namespace monitoring with the label {LABEL}",
    ]
