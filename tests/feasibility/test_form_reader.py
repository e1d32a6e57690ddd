"""Whatever is wrong with the form of a claim is told once, with what to write."""

from __future__ import annotations

from typing import Any

import pytest
from tests.feasibility_claims import GPU, claim, exactly, group_of, match, template

from eks_devices import EksDevicesError
from eks_devices.feasibility import check_claims

P5 = group_of("p5.48xlarge")
ASK = {"deviceClassName": GPU}
OPAQUE = {"driver": GPU, "parameters": {"kind": "GpuConfig"}}
EXACTLY = "write exactly: {deviceClassName: gpu.nvidia.com}"
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


EXPRESSION = {"cel": {"expression": "true"}}


def first(options: int, **more: Any) -> dict[str, Any]:
    given = [{"name": f"a{one}", **ASK, **more} for one in range(options)]
    return claim({"name": "gpu", "firstAvailable": given})


def configured(opaque: Any, **more: Any) -> dict[str, Any]:
    made = claim(exactly(GPU))
    made["spec"]["devices"]["config"] = [{"opaque": opaque, **more}]
    return made


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
        (claim({"name": "gpu"}), "requests[0].exactly", EXACTLY),
        (
            claim({**exactly(GPU), "count": 2}),
            "requests[0].count",
            "put it below exactly:",
        ),
        (
            claim({"name": "gpu", "exactly": [ASK]}),
            "requests[0].exactly",
            "write exactly: {deviceClassName:",
        ),
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
        (
            claim({"name": False, "exactly": ASK}, {**match("a.b/c"), "requests": [False]}),
            "requests[0].name",
            "write it in quotes wherever it stands",
        ),
        (
            claim({"name": "a", "exactly": ASK}, {"name": "a", "exactly": ASK}),
            "requests[1].name",
            "give each a name of its own",
        ),
        (claim({"name": "gpu/0", "exactly": ASK}), "requests[0].name", "write gpu-0"),
        (claim({"name": "_", "exactly": ASK}), "requests[0].name", "name it after"),
        (
            asking(deviceClassName="nvidia.com/gpu"),
            "exactly.deviceClassName",
            "write gpu.nvidia.com, which is the class of nvidia.com/gpu",
        ),
        (asking(deviceClassName="My.Class"), "exactly.deviceClassName", "write my.class"),
        (
            asking(deviceClassName="aws.amazon.com/neurondevice"),
            "deviceClassName",
            "did you mean neuron.aws.com?",
        ),
        (
            asking(deviceClassName="nvidia.com/mig-1g.10gb"),
            "deviceClassName",
            "did you mean mig.nvidia.com?",
        ),
        (asking(deviceClassName="GPU"), "deviceClassName", "did you mean gpu.nvidia.com?"),
        (asking(allocationMode="All", count=8), "exactly.count", "leave count out"),
        (asking(count=-1), "exactly.count", "write how many devices, from 1"),
        (asking(count=""), "exactly.count", "write how many devices, from 1"),
        (asking(count={}), "exactly.count", "write how many devices, from 1"),
        (asking(allocationMode=False), "exactly.allocationMode", "write ExactCount or All"),
        (
            claim({"name": "gpu", "exactly": ASK, "firstAvailable": {}}),
            "requests[0].firstAvailable",
            "write a list, each alternative with a dash",
        ),
        (
            claim({"name": "gpu", "firstAvailable": ""}),
            "requests[0].firstAvailable",
            "write a list, each alternative with a dash",
        ),
        (configured(OPAQUE, requests=0), "config[0].requests", "write a list: [gpu]"),
        (asking(adminAccess="true"), "exactly.adminAccess", "write true or false, without quotes"),
        (
            claim({"name": "gpu", "exactly": ASK, "firstAvailable": [{"name": "a", **ASK}]}),
            "requests[0].exactly",
            "leave exactly out",
        ),
        (first(9), "requests[0].firstAvailable", "leave 1 of them out"),
        (
            claim(*(exactly(GPU, name=f"g{one}") for one in range(33))),
            "devices.requests",
            "ask for several devices of a class by the count of one request",
        ),
        (asking(selectors=[EXPRESSION] * 33), "exactly.selectors", "join expressions by &&"),
        (first(1, adminAccess=True), "adminAccess", "leave it out: only what is asked for below"),
        (
            claim(exactly(GPU), match("pcieRoot")),
            "constraints[0].matchAttribute",
            "write resource.kubernetes.io/pcieRoot",
        ),
        (
            claim(exactly(GPU), {"distinctAttribute": "uuid"}),
            "constraints[0].distinctAttribute",
            "write gpu.nvidia.com/uuid",
        ),
        (
            claim(exactly(GPU), {"matchAttributes": "a.b/c"}),
            "constraints[0].matchAttributes",
            "did you mean matchAttribute?",
        ),
        (
            claim(exactly(GPU), {"requests": ["gpu"]}),
            "constraints[0].matchAttribute",
            "write matchAttribute: resource.kubernetes.io/pcieRoot",
        ),
        (
            claim(exactly(GPU), {"matchAttribute": "a.b/c", "requests": "gpu"}),
            "constraints[0].requests",
            "write a list: [gpu]",
        ),
        (configured(OPAQUE, requests=["gpus"]), "config[0].requests", "did you mean gpu?"),
        (configured(OPAQUE, requests="gpu"), "config[0].requests", "write a list: [gpu]"),
        (
            configured({**OPAQUE, "driver": "nvidia.com/gpu"}),
            "config[0].opaque.driver",
            "write gpu.nvidia.com, which is the driver of nvidia.com/gpu",
        ),
        (
            configured(None),
            "config[0].opaque",
            "write opaque: {driver: gpu.nvidia.com, parameters: {...}}",
        ),
        (
            configured(None, driver="x.io", parameters={"kind": "X"}, requests=["gpu"]),
            "config[0].opaque",
            "put driver and parameters below opaque: opaque: {driver: x.io, parameters: {...}}",
        ),
        (
            configured(None, parameters={"kind": "X"}, requests=["gpu"]),
            "config[0].opaque",
            "put parameters below opaque: opaque: {driver: gpu.nvidia.com, parameters: {...}}",
        ),
        (
            configured(None, sharing={"strategy": "MPS"}),
            "config[0].opaque",
            "put sharing below opaque: opaque: {driver: gpu.nvidia.com, parameters: {sharing: ...}",
        ),
        (
            configured({"driver": "gpu.nvidia.com", "apiVersion": "a/v1", "kind": "X"}),
            "opaque.parameters",
            "put apiVersion and kind below parameters: parameters: {apiVersion: ..., kind: ...}",
        ),
        (configured({"parameters": {}}), "opaque.driver", "write driver: gpu.nvidia.com"),
        (
            configured({"driver": GPU}),
            "opaque.parameters",
            "write parameters: {apiVersion: ..., kind: ...}",
        ),
        (asking(capacity={"requests": {"memory": "40GB"}}), "memory", "write 40Gi, or 40G"),
        (
            asking(tolerations=[{"key": False, "operator": "Exists"}]),
            "tolerations[0].key",
            "write it in quotes",
        ),
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


@pytest.mark.parametrize(
    ("manifest", "got"),
    [
        (first(1, adminAccess=True), "true"),
        (claim(exactly(GPU), match("a.b/c", "x", "z")), "[x, z]"),
        (asking(tolerations={}), "{}"),
        (asking(capacity=[None, "yes", 1.5]), "[null, 'yes', 1.5]"),
        (requests("a\nb"), '"a\\nb"'),
    ],
)
def test_values_are_shown_as_yaml_has_them(manifest: dict[str, Any], got: str) -> None:
    with pytest.raises(EksDevicesError) as caught:
        check_claims([manifest], P5)

    (found,) = caught.value.faults
    assert found.got == got
    assert "FrozenDict" not in found.message


@pytest.mark.parametrize("value", [{}, [], 0, "true"])
def test_admin_access_that_is_no_truth_is_refused(value: Any) -> None:
    with pytest.raises(EksDevicesError, match="true or false"):
        check_claims([asking(adminAccess=value)], P5)


@pytest.mark.parametrize("amount", [None, "-", "+"])
def test_an_amount_that_the_server_takes_for_nothing_is_none(amount: str | None) -> None:
    (found,) = check_claims([asking(capacity={"requests": {"memory": amount}})], P5)
    assert found.status == "feasible"
