"""Whatever is wrong with the form of a claim is told once, with what to write."""

from __future__ import annotations

from typing import Any

import pytest
from tests.feasibility_claims import GPU, claim, exactly, group_of, match, template

from eks_devices import EksDevicesError
from eks_devices.feasibility import check_claims

P5 = group_of("p5.48xlarge")
ASK = {"deviceClassName": GPU}
SELECTOR = 'write - cel: {expression: "..."}'


def asking(**ask: Any) -> dict[str, Any]:
    return claim({"name": "gpu", "exactly": {**ASK, **ask}})


def selecting(*selectors: Any) -> dict[str, Any]:
    return asking(selectors=list(selectors))


def around(**devices: Any) -> dict[str, Any]:
    made = claim(exactly(GPU))
    return made | {"spec": {**made["spec"], **devices}}


def one_spec_less() -> dict[str, Any]:
    made = template(exactly(GPU))
    return made | {"spec": made["spec"]["spec"]}


def one_spec_more() -> dict[str, Any]:
    made = claim(exactly(GPU))
    return made | {"spec": {"spec": made["spec"]}}


def requests(value: Any) -> dict[str, Any]:
    made = claim(exactly(GPU))
    return made | {"spec": {"devices": {"requests": value}}}


@pytest.mark.parametrize(
    ("manifest", "place", "fix"),
    [
        (
            claim({"name": "gpu", **ASK, "count": 2}),
            "requests[0].exactly",
            "put deviceClassName, count below exactly:",
        ),
        (claim({"name": "gpu", "exactlY": ASK}), "requests[0].exactly", "did you mean exactly?"),
        (claim({"name": "gpu"}), "requests[0].exactly", "write it as resource.k8s.io/v1 has it"),
        (
            claim({**exactly(GPU), "count": 2}),
            "requests[0].count",
            "put it below exactly:",
        ),
        (claim({"name": "gpu", "exactly": [ASK]}), "requests[0].exactly", "write it as"),
        (
            claim({"name": "gpu", "firstAvailable": [{"name": "a", "exactly": ASK}]}),
            "firstAvailable[0].exactly",
            "put what is below exactly beside the name: alternatives have no exactly",
        ),
        (
            claim({"name": "gpu", "firstAvailable": [ASK]}),
            "firstAvailable[0].name",
            "give each alternative a name",
        ),
        (selecting("device.driver == 'x'"), "selectors[0]", SELECTOR),
        (selecting({"cel": "device.driver == 'x'"}), "selectors[0].cel", SELECTOR),
        (selecting({"expression": "true"}), "selectors[0].cel", SELECTOR),
        (selecting({"cel": {"expresion": "true"}}), "cel.expresion", "did you mean expression?"),
        (asking(selectors={"cel": {"expression": "true"}}), "exactly.selectors", SELECTOR),
        (asking(count="2"), "exactly.count", "write the number without quotes"),
        (asking(allocationMode="all"), "allocationMode", "did you mean All?"),
        (
            claim({"name": "gpu", "exactly": {"deviceClassname": GPU}}),
            "exactly.deviceClassname",
            "did you mean deviceClassName?",
        ),
        (asking(Count=2), "exactly.Count", "did you mean count?"),
        (
            asking(constraints=[match("a/b")]),
            "exactly.constraints",
            "put it below devices, beside the requests",
        ),
        (around(constraints=[]), "spec.constraints", "put it below devices, beside the requests"),
        (
            claim(exactly(GPU), match("a/b", "gpus")),
            "constraints[0].requests",
            "did you mean gpu?",
        ),
        (
            requests({"name": "gpu", "exactly": ASK}),
            "devices.requests",
            "write a list, each request with a dash: - name: ...",
        ),
        (
            one_spec_less(),
            "spec.devices",
            "put it below one more spec: that of a template holds the spec of its claims",
        ),
        (
            one_spec_more(),
            "spec.spec",
            "leave this spec out: a claim has devices right below its spec",
        ),
        (
            asking(tolerations=[{"key": "a", "operator": "Exists", "tolerationSeconds": "5"}]),
            "tolerations[0].tolerationSeconds",
            "write the number without quotes",
        ),
        (claim({"name": False, "exactly": ASK}), "requests[0].name", "write it in quotes"),
    ],
)
def test_each_cause_is_told_once_with_what_to_write(
    manifest: dict[str, Any], place: str, fix: str
) -> None:
    with pytest.raises(EksDevicesError) as caught:
        check_claims([manifest], P5)

    (found,) = caught.value.faults
    assert found.path.endswith(place)
    assert found.fix.startswith(fix)


def test_causes_at_several_places_are_told_together() -> None:
    wrong = claim(
        {"name": "a", **ASK},
        {"name": "b", "exactly": {**ASK, "count": "2", "selectors": ["x"]}},
        match("nothing"),
    )
    with pytest.raises(EksDevicesError) as caught:
        check_claims([wrong], P5)

    places = [one.path.partition("devices.")[2] for one in caught.value.faults]
    assert places == [
        "requests[0].exactly",
        "requests[1].exactly.count",
        "requests[1].exactly.selectors[0]",
        "constraints[0].matchAttribute",
    ]


@pytest.mark.parametrize("value", [{}, [], 0, "true"])
def test_admin_access_that_is_no_truth_is_refused(value: Any) -> None:
    with pytest.raises(EksDevicesError, match="true or false"):
        check_claims([asking(adminAccess=value)], P5)


@pytest.mark.parametrize("amount", [None, "-", "+"])
def test_an_amount_that_the_server_takes_for_nothing_is_none(amount: str | None) -> None:
    (found,) = check_claims([asking(capacity={"requests": {"memory": amount}})], P5)
    assert found.status == "feasible"
