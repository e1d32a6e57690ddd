"""What the API server refuses is served by none, and is told once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.workload_manifests import EFA, GPU, P5, checked, codes, plan_of, pod, request, template

from eks_devices.findings import fault
from eks_devices.workload_check.refused import is_refusal

ROOT = Path(__file__).parents[2]
CLASS = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceClass",
    "metadata": {"name": "own"},
    "spec": {"selectors": [{"cel": {"expression": "device.driver = 1"}}]},
}
CLAIM, OWN = template("gpu", request()), template("gpu", request("own"))
ADMIN = "resource.kubernetes.io/admin-access"


def namespace(label: Any) -> dict[str, Any]:
    labels = {ADMIN: label}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "default", "labels": labels},
    }


def renamed(name: str, **more: Any) -> dict[str, Any]:
    return CLAIM | {"metadata": {"name": name, **more}}


IS_NVIDIA = "device.driver == 'gpu.nvidia.com'"
SOURCE = [{"name": "gpu", "source": {"resourceClaimTemplateName": "gpu"}}]
LISTED = {"name": "main", "image": "x", "resources": {"claims": [{"claim": "gpu"}]}}
OTHER = {"name": "main", "image": "x", "resources": {"claims": [{"name": "other"}]}}
AMOUNTS = {"limits": {"example.com/a": 2}, "requests": {"example.com/a": 1}}
UNEQUAL = {"name": "uneq", "image": "x", "resources": {"claims": [{"name": "gpu"}], **AMOUNTS}}
TOLERATION = [{"operator": "exists"}]
ADMIN_CLAIM = template("gpu", request(adminAccess=True))
RIGHT_CLASS = CLASS | {"spec": {"selectors": [{"cel": {"expression": IS_NVIDIA}}]}}
OWN_CLAIM = template("gpu", request("own"))
CONFIG = {"apiVersion": "resource.nvidia.com/v1beta1", "kind": "Nothing"}
REFUSED: dict[str, tuple[str, str, list[Any]]] = {
    "class": (
        "MalformedDeviceClass",
        "MalformedDeviceClass",
        [CLASS, template("gpu", request("own"))],
    ),
    "claim": ("MalformedClaim", "MalformedClaim", [template("gpu", request(count=-1))]),
    "metadata": ("MalformedMetadata", "MalformedClaim", [renamed("gpu", labels={"a b": "c"})]),
    "version": (
        "ApiVersionNotServed",
        "MalformedClaim",
        [CLAIM | {"apiVersion": "resource.k8s.io/v1beta2"}],
    ),
    "version of a class": (
        "ApiVersionNotServed",
        "MalformedDeviceClass",
        [RIGHT_CLASS | {"apiVersion": "resource.k8s.io/v1beta2"}, OWN_CLAIM],
    ),
    "labels of a class": (
        "MalformedMetadata",
        "MalformedDeviceClass",
        [RIGHT_CLASS | {"metadata": {"name": "own", "labels": {"a b": "c"}}}, OWN_CLAIM],
    ),
    "kind": ("UnknownKind", "MalformedClaim", [CLAIM | {"kind": "ResourceClaimsTemplate"}]),
    "namespace": ("WrongType", "NamespaceRefused", [namespace(True), CLAIM]),
    "label": ("NamespaceWithoutAdminAccess", "MalformedClaim", [namespace("no"), ADMIN_CLAIM]),
}
PODS: dict[str, tuple[str, dict[str, Any]]] = {
    "source": ("NoClaimSource", {"resourceClaims": SOURCE}),
    "listed": ("UnknownField", {"containers": [LISTED]}),
    "other claim": ("UnknownPodClaim", {"containers": [OTHER]}),
    "toleration": ("MalformedToleration", {"tolerations": TOLERATION}),
    "amount": ("MalformedQuantity", {"limits": {"memory": "10GB"}}),
    "request": ("RequestNotEqualToLimit", {"containers": [UNEQUAL]}),
    "request of an init container": ("RequestNotEqualToLimit", {"initContainers": [UNEQUAL]}),
    "page size": ("MalformedResourceName", {"limits": {"memory": "1Gi", "hugepages-2MB": "2Mi"}}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_pods_of_what_is_refused_are_served_by_none(name: str) -> None:
    told, code, manifests = REFUSED[name]
    report = checked(plan_of(P5), *manifests, pod("gpu"))
    assert codes(report) == [told]
    (found,) = report.pods
    assert [(str(one.status), one.code, one.fits) for one in found.verdicts] == [
        ("infeasible", code, 0)
    ]


@pytest.mark.parametrize("name", PODS)
def test_pods_that_are_refused_are_served_by_none(name: str) -> None:
    told, options = PODS[name]
    report = checked(plan_of(P5), CLAIM, pod("gpu", **options))
    assert codes(report) == [told]
    (found,) = report.pods
    assert [one.code for one in found.verdicts] == ["PodRefused"]


@pytest.mark.parametrize(
    ("told", "claim", "options"),
    [
        ("EfaClaimOnHostNetwork", template("gpu", request(EFA)), {"hostNetwork": True}),
        (
            "ConfigRefused",
            template("gpu", request(), config=[{"opaque": {"driver": GPU, "parameters": CONFIG}}]),
            {},
        ),
    ],
)
def test_pods_that_a_driver_does_not_start_are_served_by_none(
    told: str, claim: Any, options: Any
) -> None:
    report = checked(plan_of(P5), claim, pod("gpu", **options))
    assert told in codes(report)
    (found,) = report.pods
    assert [(str(one.status), one.code) for one in found.verdicts] == [
        ("infeasible", "PodNotStarted")
    ]


def test_a_claim_of_a_refused_class_that_no_pod_names_is_served_by_none() -> None:
    report = checked(plan_of(P5), CLASS, OWN)
    assert codes(report) == ["MalformedDeviceClass"]
    assert [one.verdicts[0].code for one in report.claims] == ["MalformedDeviceClass"]


def test_what_is_not_refused_is_served() -> None:
    two = [pod("gpu", name="right"), pod("gpu", name="wrong", tolerations=TOLERATION)]
    report = checked(plan_of(P5), CLAIM, *two)
    assert [bool(one.serving) for one in report.pods] == [True, False]


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        (f"{IS_NVIDIA} && device.attributes['gpu.nvidia.com'].type == 'gpu'", []),
        ("device.driver == 'dra.net'", ["DriverClassReplaced", "NoNodegroupServesPod"]),
    ],
)
def test_a_class_of_a_driver_that_selects_other_devices_is_told(
    expression: str, told: list[str]
) -> None:
    given = {"selectors": [{"cel": {"expression": expression}}]}
    written = CLASS | {"metadata": {"name": "gpu.nvidia.com"}, "spec": given}
    one = template("gpu", request(GPU, 1, IS_NVIDIA))
    report = checked(plan_of(P5), written, one, pod("gpu"))
    assert sorted(codes(report)) == told


def test_of_a_class_that_selects_nothing_no_driver_is_told() -> None:
    spec = {"selectors": [{"cel": {"expression": "device.driver == 'nobody'"}}]}
    report = checked(plan_of(P5), CLASS | {"spec": spec}, OWN, pod("gpu"))
    (found,) = (one.finding for one in report.remarks)
    assert "the DeviceClass own matches none of the 40 devices" in found.message


def test_of_each_error_it_is_decided_whether_api_servers_refuse_for_it() -> None:
    """A new code belongs to one of the two: Pods of what is refused are served by none."""
    refused = {
        *(
            "ApiVersionNotServed",
            "BothClaimSources",
            "ClaimListedTwice",
            "HugePagesNeedMemory",
            "HugePagesNotEqual",
        ),
        *("MalformedAffinity", "MalformedClaim", "MalformedClaimName", "MalformedDeviceClass"),
        *("MalformedMetadata", "MalformedQuantity", "MalformedResourceName", "NotYaml"),
        *("MalformedToleration", "MisplacedClaimField", "NamespaceWithoutAdminAccess"),
        *("NoClaimSource", "OperatorNotServed", "RepeatedClaimName", "RequestNotEqualToLimit"),
        *("OverheadOfNoRuntimeClass", "PodLevelResource", "RequestAboveLimit"),
        "RuntimeClassConflict",
        *("TemplateNotRendered", "UnknownField", "UnknownKind", "UnknownPodClaim", "WrongType"),
    }
    taken = {
        *("AttemptFailsOnNodegroup", "BothMechanisms", "ClaimNameClash", "ClaimNeedsFeatureGate"),
        *("ConfigRefused", "DistinctNotServed", "EfaClaimOnHostNetwork", "ExpressionInvalid"),
        *("NoNodegroupServesClaim", "NoNodegroupServesPod", "RetiredResource"),
        "TooManyDevicesInClaim",
    }
    documented = set(errors_of_the_docs())

    assert documented == refused | taken
    for code in documented:
        assert is_refusal(fault(code, "p", "m", got="", allowed="", fix="f")) == (
            code in refused
        ), code


def errors_of_the_docs() -> Iterator[str]:
    for page in ("check.md", "lint-rules.md"):
        for line in (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines():
            cells = line.split("|")
            if len(cells) > 3 and "error" in cells[2]:
                yield from re.findall(r"`([A-Z]\w+)`", cells[1])
