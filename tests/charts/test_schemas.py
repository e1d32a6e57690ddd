"""Every object is what its API takes, on every version; custom resources what their CRD takes."""

from typing import Any

import jsonschema  # type: ignore[import-untyped]
import kubernetes_validate
import pytest

from eks_devices import ComputeDomain

# What EKS serves from 1.34 on.
SERVED = {
    "v1",
    "admissionregistration.k8s.io/v1",
    "apiextensions.k8s.io/v1",
    "apps/v1",
    "networking.k8s.io/v1",
    "policy/v1",
    "rbac.authorization.k8s.io/v1",
    "resource.k8s.io/v1",
}
DOMAIN = ComputeDomain(name="job", namespace="train")
CLIQUE: dict[str, Any] = {
    "apiVersion": "resource.nvidia.com/v1beta1",
    "kind": "ComputeDomainClique",
    "metadata": {"name": "uid.clique", "namespace": "nvidia"},
    "daemons": [{"nodeName": "a", "ipAddress": "10.0.0.1", "cliqueID": "c", "index": 0}],
}


def test_every_object_fits_its_schema(manifests, installation, version):
    items = manifests(installation, version=version)

    assert items
    for item in items:
        kubernetes_validate.validate(item, version, strict=True)


def test_a_misspelt_field_would_be_noticed(find):
    item = find("DaemonSet", "neuron-dra")
    item["spec"]["template"]["spec"]["hostNetWork"] = True

    with pytest.raises(kubernetes_validate.ValidationError, match="hostNetWork"):
        kubernetes_validate.validate(item, "1.34", strict=True)


def test_every_api_version_is_served(manifests, installation):
    assert {item["apiVersion"] for item in manifests(installation)} <= SERVED


def schema_of(crd: dict[str, Any]) -> dict[str, Any]:
    """The schema of a CRD's only version, closed as the API server prunes what it does not name."""
    (version,) = crd["spec"]["versions"]
    assert (version["name"], version["served"], version["storage"]) == ("v1beta1", True, True)
    return closed(version["schema"]["openAPIV3Schema"])


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    if "properties" in schema:
        properties = {name: closed(one) for name, one in schema["properties"].items()}
        return schema | {"properties": properties, "additionalProperties": False}
    return schema | ({"items": closed(schema["items"])} if "items" in schema else {})


def faults(crd: dict[str, Any], value: dict[str, Any]) -> list[str]:
    validator = jsonschema.Draft202012Validator(schema_of(crd))
    return [error.message for error in validator.iter_errors(value)]


@pytest.fixture
def domains(find):
    return find(
        "CustomResourceDefinition", "compute-domain-dra", name="computedomains.resource.nvidia.com"
    )


@pytest.fixture
def cliques(find):
    return find(
        "CustomResourceDefinition",
        "compute-domain-dra",
        name="computedomaincliques.resource.nvidia.com",
    )


def test_a_compute_domain_fits_its_crd(domains):
    value = DOMAIN.to_dict(kubernetes_version="1.34")

    assert f"{domains['spec']['group']}/v1beta1" == value["apiVersion"]
    assert domains["spec"]["names"]["kind"] == value["kind"]
    assert faults(domains, value) == []
    assert faults(domains, value | {"status": {"status": "Ready", "nodes": []}}) == []


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"numNodes": 2}, "'channel' is a required property"),
        ({"channel": {}}, "'resourceClaimTemplate' is a required property"),
        ({"channel": {"resourceClaimTemplate": {}}}, "'name' is a required property"),
        (
            {"channel": {"resourceClaimTemplate": {"name": "c"}, "allocationMode": "Some"}},
            "'Some' is not one of ['All', 'Single']",
        ),
        (
            {"channel": {"resourceClaimTemplate": {"name": "c"}}, "numNodes": -1},
            "-1 is less than the minimum of 0",
        ),
        (
            {"channel": {"resourceClaimTemplate": {"name": "c"}}, "nodes": 4},
            "Additional properties are not allowed ('nodes' was unexpected)",
        ),
    ],
)
def test_a_wrong_compute_domain_does_not(domains, spec, message):
    value = DOMAIN.to_dict(kubernetes_version="1.34") | {"spec": spec}

    assert faults(domains, value) == [message]


def test_the_clique_of_a_domain_fits_its_crd(cliques):
    (daemon,) = CLIQUE["daemons"]

    assert faults(cliques, CLIQUE) == []
    for field in ("nodeName", "ipAddress", "cliqueID"):
        less = {name: value for name, value in daemon.items() if name != field}
        assert faults(cliques, CLIQUE | {"daemons": [less]}) == [
            f"{field!r} is a required property"
        ]


def test_only_a_domain_has_a_status_of_its_own(domains, cliques):
    assert domains["spec"]["versions"][0]["subresources"] == {"status": {}}
    assert "subresources" not in cliques["spec"]["versions"][0]
