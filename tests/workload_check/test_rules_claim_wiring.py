"""How a Pod's claims are declared, and how its containers name them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.rule_pods import (
    EFA,
    claim,
    codes,
    container,
    findings,
    gpu_pod,
    listing,
    of_claim,
    of_template,
    place,
    pod,
    remarks,
    request,
    template,
)

from eks_devices import Severity

BOTH = {"name": "gpus", "resourceClaimName": "gpus", "resourceClaimTemplateName": "gpus"}


def test_a_well_wired_pod_is_told_nothing() -> None:
    assert codes(template(), gpu_pod()) == []


def test_a_claim_from_two_places_is_an_error_at_its_entry() -> None:
    found = [
        one
        for one in remarks(template(), gpu_pod(resourceClaims=[BOTH]))
        if one.finding.code == "BothClaimSources"
    ]

    assert [one.steps for one in found] == [("spec", "resourceClaims", 0)]
    assert found[0].finding.severity is Severity.ERROR
    assert place(found[0]) == BOTH


def test_a_claim_from_no_place_is_an_error() -> None:
    (found,) = findings(gpu_pod(resourceClaims=[{"name": "gpus"}]))

    assert (found.code, found.severity) == ("NoClaimSource", "error")


def test_two_claims_of_one_name_are_an_error_at_the_second() -> None:
    spec = {"resourceClaims": [of_template(), of_template()]}
    found = [one for one in remarks(template(), gpu_pod(**spec)) if one.finding.severity == "error"]

    assert [one.finding.code for one in found] == ["RepeatedClaimName"]
    assert found[0].steps == ("spec", "resourceClaims", 1, "name")


@pytest.mark.parametrize("name", ["Gpus", "a.b", "a" * 64, "", None, 7])
def test_a_name_that_the_api_server_refuses_is_an_error(name: Any) -> None:
    entry = {"name": name, "resourceClaimTemplateName": "gpus"}

    assert "MalformedClaimName" in codes(template(), pod(resourceClaims=[entry]))


def test_the_name_of_a_template_may_have_dots_and_be_long() -> None:
    name = f"{'a' * 60}.{'b' * 60}"
    entry = {"name": "gpus", "resourceClaimTemplateName": name}

    assert codes(template(name=name), gpu_pod(resourceClaims=[entry])) == []


def test_a_container_that_lists_a_claim_which_the_pod_lacks_is_an_error() -> None:
    found = remarks(template(), pod(container(resources=listing("gpu"))))

    assert [one.finding.code for one in found] == ["UnknownPodClaim"]
    assert place(found[0]) == "gpu"


def test_a_claim_that_is_nearly_meant_is_offered() -> None:
    found = findings(
        template(), pod(container(resources=listing("gpu")), resourceClaims=[of_template()])
    )

    assert next(one for one in found if one.code == "UnknownPodClaim").fix == "did you mean gpus?"


def test_a_request_that_the_claim_lacks_is_a_warning() -> None:
    spec = pod(container(resources=listing("gpus/second")), resourceClaims=[of_template()])
    (found,) = findings(template(), spec)

    assert (found.code, found.severity) == ("UnknownRequestOfClaim", "warning")


def test_an_alternative_of_a_request_cannot_be_listed() -> None:
    spec = pod(container(resources=listing("gpus/first/a")), resourceClaims=[of_template()])
    found = findings(template(), spec)

    assert [(one.code, one.severity) for one in found] == [("MalformedClaimName", "error")]


def test_requests_that_the_claim_has_are_told_nothing_alternatives_too() -> None:
    options = [{"name": "a", "deviceClassName": "gpu.nvidia.com"}]
    one = template(request("first"), {"name": "second", "firstAvailable": options})
    spec = pod(
        container("a", resources=listing("gpus/first")),
        container("b", resources=listing("gpus/second")),
        resourceClaims=[of_template()],
    )

    assert codes(one, spec) == []


@pytest.mark.parametrize(
    ("entries", "is_wrong"),
    [
        (["gpus", "gpus"], True),
        (["gpus/first", "gpus/first"], True),
        (["gpus", "gpus/first"], True),
        (["gpus/first", "gpus"], True),
        (["gpus/first", "gpus/second"], False),
    ],
)
def test_a_container_lists_a_claim_once_or_its_requests(entries: list[str], is_wrong: bool) -> None:
    one = template(request("first"), request("second"))
    spec = pod(container(resources=listing(*entries)), resourceClaims=[of_template()])

    assert ("ClaimListedTwice" in codes(one, spec)) is is_wrong


def test_a_claim_that_no_container_lists_is_a_warning() -> None:
    found = remarks(template(), pod(resourceClaims=[of_template()]))

    assert [one.finding.code for one in found] == ["ClaimNotListed"]
    assert found[0].finding.severity is Severity.WARNING
    assert place(found[0]) == of_template()


def test_a_claim_that_an_init_container_lists_is_listed() -> None:
    spec = pod(
        initContainers=[container("init", resources=listing("gpus"))],
        resourceClaims=[of_template()],
    )

    assert "ClaimNotListed" not in codes(template(), spec)


def test_a_claim_for_efas_alone_is_told_that_all_containers_have_them() -> None:
    one = template(request(device_class=EFA), name="efas")
    (found,) = [
        one
        for one in findings(one, pod(resourceClaims=[of_template("efas")]))
        if one.code == "ClaimNotListed"
    ]

    assert "all containers" in found.message
    assert found.severity is Severity.INFO


def test_a_claim_whose_driver_may_be_one_of_networks_is_only_told() -> None:
    one = template(request(device_class="network.example.com"))
    (found,) = findings(one, pod(resourceClaims=[of_template()]))

    assert (found.code, found.severity) == ("ClaimNotListed", "info")
    # Nothing is known of a claim that nobody has.
    assert [str(one.severity) for one in findings(pod(resourceClaims=[of_template()]))] == [
        "warning"
    ]


def test_the_form_of_old_versions_is_named() -> None:
    old = {"name": "gpus", "source": {"resourceClaimTemplateName": "gpus"}}
    found = findings(template(), gpu_pod(resourceClaims=[old]))

    assert [one.code for one in found] == ["NoClaimSource"]
    assert found[0].fix == "write resourceClaimTemplateName: gpus beside the name, without source:"
    (empty,) = findings(template(), gpu_pod(resourceClaims=[{"name": "gpus", "source": {}}]))
    assert "`source` is gone" in empty.fix


def test_the_names_of_claims_that_nobody_has_are_not_guessed() -> None:
    spec = pod(container(resources=listing("gpus/any")), resourceClaims=[of_claim()])

    assert codes(spec) == []
    assert codes(claim(), spec) == ["UnknownRequestOfClaim"]


def entries_of(*entries: Any) -> Any:
    return gpu_pod(containers=[container(resources={"claims": [*entries]})])


@pytest.mark.parametrize("field", ["claim", "claimName", "Name"])
def test_another_field_in_the_place_of_the_name_is_told_once(field: str) -> None:
    (found,) = findings(template(), entries_of({field: "gpus"}))
    assert (found.code, found.fix) == ("UnknownField", "write name: gpus")


def test_an_entry_without_a_name_is_told_so() -> None:
    (found,) = findings(template(), entries_of({"request": "gpu"}))
    assert (found.code, found.got) == ("MalformedClaimName", "null")
    assert found.fix.startswith("name a claim of the Pod's resourceClaims")


def test_a_name_that_yaml_takes_for_false_is_told_once_wherever_it_stands() -> None:
    entry = {"name": False, "resourceClaimTemplateName": "gpus"}
    both = entries_of({"name": False})
    both["spec"]["resourceClaims"] = [entry]
    (found,) = findings(template(), both)
    assert (found.code, found.path) == ("MalformedClaimName", "spec.resourceClaims[0].name")
    assert found.fix.startswith("write it in quotes wherever it stands")
    (found,) = findings(template(), entries_of({"name": False}))
    assert found.path.endswith("claims[0].name")


@pytest.mark.parametrize(
    ("field", "fix"),
    [
        ("resourceClaimTemplate", "write resourceClaimTemplateName: gpus"),
        ("template", "write resourceClaimTemplateName: gpus"),
        ("claimTemplateRef", "write resourceClaimTemplateName: gpus"),
        ("claim", "write resourceClaimName: gpus"),
        ("resourceClaim", "write resourceClaimName: gpus"),
    ],
)
def test_a_misspelt_source_is_told_once(field: str, fix: str) -> None:
    entry = {"name": "gpus", field: "gpus"}
    (found,) = findings(template(), gpu_pod(resourceClaims=[entry]))
    assert (found.code, found.fix) == ("UnknownField", fix)


def test_a_claim_of_another_namespace_is_told_to_be_one_of_the_pods_own() -> None:
    entry = {"name": "gpus", "resourceClaimTemplateName": "other/gpus"}
    found = findings(template(), gpu_pod(resourceClaims=[entry]))
    (told,) = (one.fix for one in found if one.code == "MalformedClaimName")
    assert told == "write gpus: the claims of a Pod are those of its own namespace"


def test_of_two_sources_the_one_that_there_is_not_is_to_be_left_out() -> None:
    found = findings(template(), gpu_pod(resourceClaims=[BOTH]))
    assert [one.fix for one in found if one.code == "BothClaimSources"] == [
        "leave resourceClaimName out"
    ]


def test_claims_below_a_misspelt_field_are_told_as_that_alone() -> None:
    misspelt = gpu_pod(resourceClaim=[of_template()])
    del misspelt["spec"]["resourceClaims"]
    assert codes(template(), misspelt) == ["UnknownField"]


def test_a_claim_for_which_another_is_listed_is_not_told_as_listed_by_none() -> None:
    assert codes(template(), entries_of({"name": "other"})) == ["UnknownPodClaim"]
