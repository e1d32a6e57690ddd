"""What the API server refuses in claims though it decides on no device, and what it takes."""

from __future__ import annotations

import pytest
from tests.feasibility_claims import GPU, PCIE_ROOT, claim, exactly, first_of, group_of, match

from eks_devices import EksDevicesError
from eks_devices.feasibility import Status, check_claims

P5 = group_of("p5.48xlarge")
OPAQUE = {"driver": "gpu.nvidia.com", "parameters": {"kind": "GpuConfig"}}
OPTION = exactly(GPU)


def with_config(**config):
    made = claim(exactly(GPU))
    made["spec"]["devices"]["config"] = [config]
    return made


def with_configs(number):
    made = with_config(opaque=OPAQUE)
    made["spec"]["devices"]["config"] *= number
    return made


def toleration(**one):
    return claim(exactly(GPU, tolerations=[one]))


def renamed(**names):
    return claim({**exactly(GPU), **names})


def nested_twice():
    made = claim(exactly(GPU))
    return {**made, "spec": {"spec": made["spec"]}}


def template_without_a_second_spec():
    return {**claim(exactly(GPU)), "kind": "ResourceClaimTemplate"}


def options_of_one_name():
    made = first_of(OPTION, OPTION)
    for one in made["firstAvailable"]:
        one["name"] = "same"
    return claim(made)


REFUSED = {
    "requests[0].name": renamed(name="GPU"),
    "requests[0].name ": renamed(name="a.b"),
    "requests[0].name  ": renamed(name="a" * 64),
    "requests[0].count": renamed(count=1),
    "requests[0].exactly.selector": claim(exactly(GPU, selector=[])),
    "requests[0].exactly.Count": claim(exactly(GPU, Count=2)),
    "requests[0].exactly.deviceClassName": claim(exactly("GPU", name="gpu")),
    "requests[0].exactly.selectors[0].expression": claim(
        exactly(GPU, selectors=[{"cel": {"expression": "true"}, "expression": "true"}])
    ),
    "requests[0].exactly.capacity.memory": claim(exactly(GPU, capacity={"memory": "1Gi"})),
    "requests[0].exactly.tolerations[0].key": toleration(key="a b", operator="Exists"),
    "requests[0].exactly.tolerations[0].value": toleration(key="a", value="x y"),
    "requests[0].firstAvailable": options_of_one_name(),
    "requests[0].firstAvailable[0].adminAccess": claim(first_of(exactly(GPU, adminAccess=True))),
    "constraints[0].requests": claim(exactly(GPU), match(PCIE_ROOT, "gpu", "gpu")),
    "constraints[0].matchAttribute": claim(exactly(GPU), match("a.b/c-d")),
    "constraints[0].matchAttribute ": claim(exactly(GPU), match("/c")),
    "constraints[0].attribute": claim(exactly(GPU), match(PCIE_ROOT) | {"attribute": "a"}),
    "config[0].opaque": with_config(requests=["gpu"]),
    "config[0].opaque.driver": with_config(opaque=OPAQUE | {"driver": "X_y"}),
    "config[0].opaque.driver ": with_config(opaque=OPAQUE | {"driver": "a" * 60 + ".com"}),
    "config": with_configs(33),
    "config[0].opaque.parameters": with_config(opaque=OPAQUE | {"parameters": "text"}),
    "config[0].opaque.parameters ": with_config(opaque=OPAQUE | {"parameters": {"a": "b" * 10300}}),
    "config[0].requests": with_config(opaque=OPAQUE, requests=["other"]),
    "spec.spec": nested_twice(),
    "spec.devices": template_without_a_second_spec(),
}


@pytest.mark.parametrize("path", REFUSED)
def test_what_the_server_or_kubectl_refuses_is_told_with_its_place(path):
    with pytest.raises(EksDevicesError) as caught:
        check_claims([REFUSED[path]], P5)

    told = {(one.code, one.path.endswith(path.strip())) for one in caught.value.faults}
    assert told == {("MalformedClaim", True)}


TAKEN = {
    "17 tolerations": claim(exactly(GPU, tolerations=[{"key": "a", "operator": "Exists"}] * 17)),
    "a toleration of everything": toleration(operator="Exists"),
    "a driver with capitals": with_config(opaque=OPAQUE | {"driver": "Gpu.nvidia.com"}),
    "a configuration": with_config(opaque=OPAQUE, requests=["gpu"]),
    "one of all requests": with_config(opaque=OPAQUE),
    "nulls": claim(exactly(GPU, selectors=None, tolerations=None, capacity=None, count=None)),
    "no requests": claim(),
    "no devices": {**claim(), "spec": {}},
    "no spec": {**claim(), "spec": None},
}


@pytest.mark.parametrize("name", TAKEN)
def test_what_the_server_takes_is_judged(name):
    (found,) = check_claims([TAKEN[name]], P5)

    assert found.status is Status.FEASIBLE
