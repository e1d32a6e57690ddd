"""Claims that a Pod writes at the wrong place, or in the wrong form, are told once."""

from __future__ import annotations

from typing import Any

import pytest
from tests.rule_pods import findings, remarks

ENTRY = {"name": "gpu", "resourceClaimTemplateName": "gpu"}
LISTED = {"name": "gpu"}


def pod(resources: Any = None, claims: Any = None, **container: Any) -> dict[str, Any]:
    main = {"name": "main", "image": "x", "resources": resources or {}, **container}
    spec = {"containers": [main], **({} if claims is None else {"resourceClaims": claims})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": spec}


@pytest.mark.parametrize(
    ("given", "place", "fix"),
    [
        (
            pod({"claims": [LISTED]}, resourceClaims=[ENTRY]),
            ("resourceClaims",),
            "move it to the Pod's spec, beside containers",
        ),
        (
            pod({"resourceClaims": [ENTRY], "claims": [LISTED]}),
            ("resources", "resourceClaims"),
            "move it to the Pod's spec, beside containers",
        ),
        (
            pod({"resourceClaims": [LISTED]}, [ENTRY]),
            ("resources", "resourceClaims"),
            "write claims: below resources: containers list the Pod's claims by it",
        ),
        (
            pod({"claims": [LISTED]}, [ENTRY], resourceClaims=[LISTED]),
            ("resourceClaims",),
            "write claims: below resources: containers list the Pod's claims by it",
        ),
        (
            pod({"claims": [LISTED]}, [ENTRY], tolerations=[]),
            ("tolerations",),
            "move it to the Pod's spec, beside containers",
        ),
        (
            pod({"claims": [LISTED]}, [ENTRY], nodeSelector={}),
            ("nodeSelector",),
            "move it to the Pod's spec, beside containers",
        ),
        (
            pod({"limits": {"claims": [LISTED]}}, [ENTRY]),
            ("resources", "limits", "claims"),
            "move it right below resources:",
        ),
        (
            pod({"requests": {"claims": [LISTED]}}, [ENTRY]),
            ("resources", "requests", "claims"),
            "move it right below resources:",
        ),
    ],
)
def test_a_field_of_claims_at_the_wrong_place_is_told_with_the_right_one(
    given: Any, place: Any, fix: str
) -> None:
    (one,) = [one for one in remarks(given) if one.finding.severity == "error"]
    assert (one.finding.code, one.finding.fix) == ("MisplacedClaimField", fix)
    assert one.steps == ("spec", "containers", 0, *place)


@pytest.mark.parametrize(
    ("given", "place", "fix"),
    [
        (pod({"claims": ["gpu"]}, [ENTRY]), ("containers", 0, "resources", "claims", 0), "gpu"),
        (
            pod({"claims": ["gpu/a"]}, [ENTRY]),
            ("containers", 0, "resources", "claims", 0),
            "write - {name: gpu, request: a}",
        ),
        (pod({"claims": LISTED}, [ENTRY]), ("containers", 0, "resources", "claims"), "a list"),
        (pod({"claims": [LISTED]}, ENTRY), ("resourceClaims",), "a list"),
        (pod({"claims": [LISTED]}, ["gpu"]), ("resourceClaims", 0), "- name: gpu"),
    ],
)
def test_claims_that_are_no_list_of_mappings_are_told_once(
    given: Any, place: Any, fix: str
) -> None:
    (one,) = remarks(given)
    assert (one.finding.code, one.finding.severity) == ("WrongType", "error")
    assert one.steps == ("spec", *place)
    assert fix in one.finding.fix


def test_a_container_beside_resources_is_told_of_its_claims() -> None:
    given = pod(claims=[ENTRY])
    given["spec"]["containers"][0]["claims"] = [LISTED]
    (one,) = findings(given)
    assert (one.code, one.got) == ("MisplacedClaimField", "'claims'")


def of_pod(**spec: Any) -> dict[str, Any]:
    made = pod({"claims": [LISTED]}, [ENTRY])
    return made | {"spec": {**made["spec"], **spec}}


@pytest.mark.parametrize(
    ("given", "place", "code", "fix"),
    [
        (
            pod({"nvidia.com/gpu": 1}),
            ("containers", 0, "resources", "nvidia.com/gpu"),
            "UnknownField",
            "put it below limits:",
        ),
        (of_pod(resourceClaim=[ENTRY]), ("resourceClaim",), "UnknownField", "resourceClaims?"),
        (of_pod(nodeAffinity={}), ("nodeAffinity",), "UnknownField", "put it below affinity:"),
        (
            of_pod(resourceClaimTemplateName="a"),
            ("resourceClaimTemplateName",),
            "UnknownField",
            "write resourceClaims: [{name: gpu, resourceClaimTemplateName: a}]",
        ),
        (
            pod({"claims": [LISTED]}, [{**ENTRY, "namespace": "x"}]),
            ("resourceClaims", 0, "namespace"),
            "UnknownField",
            "leave it out: the claims of a Pod are those of its own namespace",
        ),
        (
            pod({"claims": [LISTED]}, [{**ENTRY, "deviceClassName": "x"}]),
            ("resourceClaims", 0, "deviceClassName"),
            "UnknownField",
            "put it into the ResourceClaim, or the ResourceClaimTemplate, that the entry names",
        ),
        (of_pod(Tolerations=[]), ("Tolerations",), "UnknownField", "did you mean tolerations?"),
        (of_pod(nodeselector={}), ("nodeselector",), "UnknownField", "did you mean nodeSelector?"),
        (
            of_pod(resources={"claims": [LISTED]}),
            ("resources", "claims"),
            "MisplacedClaimField",
            "list them in the containers",
        ),
        (
            pod({"claims": [LISTED]}, [ENTRY], resource={}),
            ("containers", 0, "resource"),
            "UnknownField",
            "did you mean resources?",
        ),
        (
            pod({"claims": [LISTED], "limit": {}}, [ENTRY]),
            ("containers", 0, "resources", "limit"),
            "UnknownField",
            "did you mean limits?",
        ),
        (
            pod({"claims": [{**LISTED, "requests": ["a"]}]}, [ENTRY]),
            ("containers", 0, "resources", "claims", 0, "requests"),
            "UnknownField",
            "did you mean request?",
        ),
        (
            pod({"claims": [LISTED]}, [{**ENTRY, "resourceClaimTemplate": "x"}]),
            ("resourceClaims", 0, "resourceClaimTemplate"),
            "UnknownField",
            "resourceClaimTemplateName",
        ),
        (
            pod({"claims": [LISTED]}, [{**ENTRY, "source": {}}]),
            ("resourceClaims", 0, "source"),
            "UnknownField",
            "leave it out",
        ),
        (
            pod({"claims": [LISTED], "limits": ["nvidia.com/gpu"]}, [ENTRY]),
            ("containers", 0, "resources", "limits"),
            "WrongType",
            "name: amount",
        ),
        (pod([LISTED]), ("containers", 0, "resources"), "WrongType", "name: amount"),
        (
            pod({"claims": [LISTED, {}]}, [ENTRY]),
            ("containers", 0, "resources", "claims", 1, "name"),
            "MalformedClaimName",
            "",
        ),
        (
            pod({"claims": [{**LISTED, "request": "gpu/big"}]}, [ENTRY]),
            ("containers", 0, "resources", "claims", 0, "request"),
            "MalformedClaimName",
            "write gpu:",
        ),
        (
            pod({"claims": [LISTED, {"name": False}]}, [ENTRY]),
            ("containers", 0, "resources", "claims", 1, "name"),
            "MalformedClaimName",
            "in quotes",
        ),
        (
            pod({"claims": [{**LISTED, "request": 5}]}, [ENTRY]),
            ("containers", 0, "resources", "claims", 0, "request"),
            "MalformedClaimName",
            "",
        ),
    ],
)
def test_what_decides_on_devices_and_is_misspelt_is_told(
    given: Any, place: Any, code: str, fix: str
) -> None:
    (one,) = [one for one in remarks(given) if one.finding.severity == "error"]
    assert (one.finding.code, one.steps) == (code, ("spec", *place))
    assert fix in one.finding.fix


def test_fields_that_there_are_are_told_nothing() -> None:
    real = of_pod(
        hostname="a",
        resources={"limits": {"cpu": "1"}},
        nodeSelector={"a": "b"},
        schedulingGates=[],
        restartPolicy="Never",
    )
    real["spec"]["containers"][0] |= {"restartPolicy": "Always", "resizePolicy": [], "ports": []}
    assert [one for one in findings(real) if one.severity == "error"] == []
    assert findings(pod({"claims": [LISTED]}, [ENTRY])) == []
