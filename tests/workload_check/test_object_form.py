"""What the API server has against claims, templates and classes around, and in, their spec."""

from __future__ import annotations

from typing import Any

import pytest
from tests.workload_manifests import GPU, P5, checked, plan_of, request, template

from eks_devices import Finding

PLAN = plan_of(P5)
FORM = {"MalformedMetadata", "UnknownField", "MalformedDeviceClass", "MalformedClaim", "WrongType"}


def claim(**metadata: Any) -> dict[str, Any]:
    return template("gpu", request()) | {"metadata": {"name": "gpu", **metadata}}


def of_claims(metadata: Any) -> dict[str, Any]:
    made = template("gpu", request())
    return made | {"spec": {**made["spec"], "metadata": metadata}}


def device_class(spec: Any, **more: Any) -> dict[str, Any]:
    metadata = {"name": "own.example.com"}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": metadata,
        "spec": spec,
        **more,
    }


def cel(*texts: Any) -> dict[str, Any]:
    return {"selectors": [{"cel": {"expression": one}} for one in texts]}


def told(manifest: Any, version: str = "1.36") -> list[tuple[str, str, Finding]]:
    """Code, last step and finding of what is wrong with the form."""
    report = checked(plan_of(P5, version=version), manifest)
    found = [one for one in report.remarks if one.finding.code in FORM]
    return [
        (one.finding.code, ".".join(map(str, one.steps)), one.finding)
        for one in found
        if one.finding.severity == "error"
    ]


REFUSED: list[tuple[Any, str, str]] = [
    (claim(name="GPU"), "MalformedMetadata", "metadata.name"),
    (claim(name="a_b"), "MalformedMetadata", "metadata.name"),
    (claim(name="-a"), "MalformedMetadata", "metadata.name"),
    (claim(name="a-"), "MalformedMetadata", "metadata.name"),
    (claim(name="a" * 254), "MalformedMetadata", "metadata.name"),
    (claim(name=None), "MalformedMetadata", "metadata.name"),
    (claim(name=False), "WrongType", "metadata.name"),
    (claim(name=5), "WrongType", "metadata.name"),
    (claim(generateName=5), "WrongType", "metadata.generateName"),
    (claim(namespace="A"), "MalformedMetadata", "metadata.namespace"),
    (claim(labels={"a": 1}), "WrongType", "metadata.labels.a"),
    (claim(labels={"a": "b c"}), "MalformedMetadata", "metadata.labels.a"),
    (claim(labels={"a": "x" * 64}), "MalformedMetadata", "metadata.labels.a"),
    (claim(labels={"a b": "c"}), "MalformedMetadata", "metadata.labels.a b"),
    (claim(labels=["a"]), "WrongType", "metadata.labels"),
    (claim(annotations={"a": True}), "WrongType", "metadata.annotations.a"),
    (claim(annotations={"A b": "x"}), "MalformedMetadata", "metadata.annotations.A b"),
    (claim(label={"a": "b"}), "UnknownField", "metadata.label"),
    (template("gpu", request()) | {"metadata": "gpu"}, "WrongType", "metadata"),
    (template("gpu", request()) | {"devices": {}}, "UnknownField", "devices"),
    (template("gpu", request()) | {"status": {}}, "UnknownField", "status"),
    (of_claims({"name": "x"}), "MalformedMetadata", "spec.metadata.name"),
    (of_claims({"labels": {"a": 1}}), "WrongType", "spec.metadata.labels.a"),
    (of_claims("x"), "WrongType", "spec.metadata"),
    (
        device_class(cel("device.driver = 'x'")),
        "MalformedDeviceClass",
        "spec.selectors.0.cel.expression",
    ),
    (device_class(cel("device.driver")), "MalformedDeviceClass", "spec.selectors.0.cel.expression"),
    (device_class({"selector": []}), "MalformedDeviceClass", "spec.selector"),
    (device_class({"selectors": ["x"]}), "WrongType", "spec.selectors.0"),
    (device_class({"config": {}}), "MalformedDeviceClass", "spec.config"),
    (device_class({"config": [{}]}), "MalformedDeviceClass", "spec.config.0.opaque"),
    (device_class({}, foo=1), "UnknownField", "foo"),
    (
        device_class({"extendedResourceName": 5}),
        "MalformedDeviceClass",
        "spec.extendedResourceName",
    ),
    *(
        (device_class({"extendedResourceName": one}), "MalformedDeviceClass", "spec.extended")
        for one in (
            *("gpu", "Example.com/gpu", "example.com/a/b", "kubernetes.io/x", "cpu", ""),
            *("requests.example.com/x", "deviceclass.resource.kubernetes.io/x"),
        )
    ),
]


@pytest.mark.parametrize(("manifest", "code", "place"), REFUSED)
def test_what_the_server_or_kubectl_refuses_is_told_once_with_its_place(
    manifest: Any, code: str, place: str
) -> None:
    ((found, steps, finding),) = told(manifest)
    assert found == code
    assert steps.startswith(place)
    assert finding.fix


TAKEN: list[Any] = [
    claim(name="a.b"),
    claim(name="a" * 253),
    claim(name=None, generateName="g-"),
    claim(labels={"a": None, "example.com/b": "", "c": "x" * 63}),
    claim(annotations={"Example.com/a": "b c"}),
    claim(creationTimestamp=None, uid="x", finalizers=["a/b"]),
    claim(labels={"a": "${Token[TOKEN.1]}"}),
    of_claims({"labels": {"a": "b"}, "annotations": {"a": "b"}}),
    of_claims(None),
    device_class(None),
    device_class(cel("true")),
    device_class({"config": [{"opaque": {"driver": GPU, "parameters": {}}}]}),
    device_class({"extendedResourceName": "example.com/GPU"}),
]


@pytest.mark.parametrize("manifest", TAKEN)
def test_what_the_server_takes_is_told_nothing(manifest: Any) -> None:
    assert told(manifest) == []


def test_a_name_that_older_minors_lose_is_not_looked_at_there() -> None:
    assert told(device_class({"extendedResourceName": "gpu"}), "1.34") == []


def test_a_word_that_yaml_reads_as_false_is_to_be_quoted() -> None:
    named = {**request(), "name": False}
    ((code, place, finding),) = told(template("gpu", named))
    assert (code, place) == ("WrongType", "spec.spec.devices.requests.0.name")
    assert "in quotes" in finding.fix


@pytest.mark.parametrize(
    ("manifest", "fix"),
    [
        (claim(name="My_GPU"), "write my-gpu"),
        (claim(name="a-"), "write a"),
        (claim(name="_"), "name it in letters, digits and '-'"),
        (claim(namespace="A.b"), "write a-b"),
        (claim(labels={"a": "b c"}), "write b-c"),
        (claim(labels={"a b/c": "d"}), "write a-b/c"),
        (claim(labels={"a/b/c": "d"}), "write a-b-c"),
        (claim(spec={}), "put it beside metadata"),
        (claim() | {"labels": {}}, "put it below metadata:"),
        (claim() | {"devices": {}}, "put it below spec.spec:"),
        (claim() | {"constraints": []}, "put it below spec.spec.devices:"),
        (claim() | {"anything": 1}, "leave it out"),
        (device_class({}, selectors=[]), "put it below spec:"),
        (device_class({}, devices={}), "leave it out"),
        (device_class({"selectors": [{"cel": {"expression": "true"}, "name": 1}]}), "leave it out"),
    ],
)
def test_what_to_write_is_told(manifest: Any, fix: str) -> None:
    ((_, _, found),) = told(manifest)
    assert found.fix == fix


def test_a_class_without_a_name_is_told_once() -> None:
    assert len(told(device_class({}) | {"metadata": {"name": True}})) == 1
    assert len(told(device_class({}) | {"metadata": {}})) == 1
    assert len(told(device_class({}) | {"metadata": None})) == 1
