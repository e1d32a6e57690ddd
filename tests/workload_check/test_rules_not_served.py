"""Fields and kinds that the cluster's API server does not have are told."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cluster_plans import cluster_of
from tests.rule_pods import claim, codes, findings, request, template

OLD, NEW = (
    cluster_of({"instance_type": "p5.48xlarge"}, kubernetes_version=one) for one in ("1.35", "1.36")
)
BY_MEMORY = (
    " and select by it: selectors: [{cel: {expression: "
    "\"device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('40Gi')) >= 0\"}}]"
)
NAMED = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceClass",
    "metadata": {"name": "own"},
    "spec": {"extendedResourceName": "example.com/gpu"},
}


@pytest.mark.parametrize(
    ("manifest", "field", "instead"),
    [
        (template(request(capacity={"requests": {"memory": "40Gi"}})), "capacity", BY_MEMORY),
        (template(request(capacity={"requests": {"other": "40Gi"}})), "capacity", ""),
        (claim(request(tolerations=[{"operator": "Exists"}])), "tolerations", ""),
        (NAMED, "extendedResourceName", ""),
    ],
)
def test_a_field_that_a_minor_drops_is_told_there(manifest: Any, field: str, instead: str) -> None:
    (found,) = findings(manifest, plan=OLD)
    assert (found.code, found.severity) == ("FieldNotServed", "warning")
    assert found.path.endswith(field)
    assert found.fix == f"leave {field} out{instead}, or upgrade the cluster to 1.36"
    assert codes(manifest, plan=NEW) == []


@pytest.mark.parametrize(
    ("version", "fix"),
    [
        ("1.34", "leave distinctAttribute out"),
        ("1.35", "leave distinctAttribute out"),
        ("1.36", "write distinctAttribute in a constraint of its own"),
        ("1.37", "write distinctAttribute in a constraint of its own"),
    ],
)
def test_an_attribute_that_differs_beside_one_that_matches_is_told(version: str, fix: str) -> None:
    plan = cluster_of({"instance_type": "p5.48xlarge"}, kubernetes_version=version)
    both = {
        "matchAttribute": "gpu.nvidia.com/productName",
        "distinctAttribute": "gpu.nvidia.com/uuid",
    }
    (found,) = findings(claim(request(count=2), constraints=[both]), plan=plan)
    assert (found.code, found.fix) == ("FieldNotServed", fix)
    assert found.path == "spec.devices.constraints[0].distinctAttribute"


def test_a_field_that_a_minor_keeps_in_vain_is_told_there() -> None:
    plan = cluster_of({"instance_type": "p5.48xlarge"}, kubernetes_version="1.34")
    (found,) = findings(claim(request(tolerations=[{"operator": "Exists"}])), plan=plan)
    assert "keeps the field, which nobody reads" in found.message


def test_a_field_that_no_minor_serves_is_left_out() -> None:
    plan = cluster_of({"instance_type": "p5.48xlarge"}, kubernetes_version="1.37")
    (found,) = findings(claim(request(derivedAttributes=[{"name": "a"}])), plan=plan)
    assert found.fix == "leave derivedAttributes out"


@pytest.mark.parametrize(
    ("kind", "fix"),
    [
        ("ResourceClaimsTemplate", "did you mean ResourceClaimTemplate"),
        ("resourceclaim", "did you mean ResourceClaim"),
        ("DeviceClasses", "did you mean DeviceClass"),
    ],
)
def test_a_misspelt_kind_is_told(kind: str, fix: str) -> None:
    (found,) = findings(template(request()) | {"kind": kind})
    assert (found.code, found.severity) == ("UnknownKind", "error")
    assert found.fix.startswith(fix)


@pytest.mark.parametrize(
    "kind", ["ResourceClaim", "ResourceSlice", "DeviceTaintRule", "ResourceClaimList"]
)
def test_kinds_that_there_are_are_told_nothing(kind: str) -> None:
    assert "UnknownKind" not in codes(template(request()) | {"kind": kind})
