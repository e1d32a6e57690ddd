"""Values that no rule may trip over, wherever a claim takes a value: each is a fault."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from tests.hostile import (
    LIST_TOKEN,
    NUMBER_TOKEN,
    TOKEN,
    Hostile,
    HostileList,
    HostileMapping,
    HostileSet,
    HostileTuple,
    Untouchable,
)

from eks_devices import (
    AllocationMode,
    DeviceRequest,
    DeviceSelector,
    DeviceToleration,
    DistinctAttribute,
    EksDevicesError,
    MatchAttribute,
    OpaqueConfig,
    ResourceClaimTemplate,
    use_claims,
    whole_node_claims,
)

R: Any = DeviceRequest
S: Any = DeviceSelector
T: Any = DeviceToleration
O: Any = OpaqueConfig  # noqa: E741  (an alias, as the others are)
D: Any = DistinctAttribute
USE: Any = use_claims
WHOLE: Any = whole_node_claims
POD = {"containers": [{"name": "a"}]}
GPU = DeviceRequest.gpu()
HUGE = 10**5000


def claim(**options: Any) -> Any:
    return ResourceClaimTemplate(**{"name": "c", "requests": [GPU], **options})


def raw(**options: Any) -> Any:
    return R(**{"kind": GPU.kind, "name": "g", "count": 1, **options})


TEMPLATE = claim()
VALUES = [
    Hostile(),
    Untouchable(),
    HostileList([1]),
    HostileTuple((1,)),
    HostileMapping(),
    HostileSet({1}),
    HUGE,
    object(),
    NUMBER_TOKEN,
]
PLACES: dict[str, Callable[[Any], Any]] = {
    "alternative": R.first_available,
    "alternatives": lambda value: raw(alternatives=value),
    "count": lambda value: R.gpu(value).to_dict(count=value),
    "allocation": lambda value: raw(allocation=value),
    "toleration": GPU.tolerating,
    "tolerations": lambda value: raw(tolerations=value),
    "access": lambda value: raw(admin_access=value),
    "selector": GPU.where,
    "key": lambda value: T(key=value),
    "effect": lambda value: T(key="a", effect=value),
    "seconds": lambda value: T(key="a", seconds=value),
    "memory": S.gpu_memory_at_least,
    "version": S.gpu_driver_at_least,
    "attribute": lambda value: S.attribute_is(value, "a"),
    "group": lambda value: S.device_group(4, value),
    "over": MatchAttribute.PCIE_ROOT.over,
    "distinct": D.of,
    "constraint": lambda value: claim(constraints=[value]),
    "constraints": lambda value: claim(constraints=value),
    "config": lambda value: claim(configs=[value]),
    "configs": lambda value: claim(configs=value),
    "driver": lambda value: O(driver=value, parameters={}),
    "parameters": lambda value: O(driver="a.b", parameters=value),
    "named": lambda value: O(driver="a.b", parameters={}, requests=value),
    "nodes": lambda value: WHOLE("a", nodes=value),
    "name": lambda value: WHOLE(value, nodes="p5.48xlarge"),
    "split": lambda value: WHOLE("a", nodes="p5.48xlarge", split=value),
    "spec": lambda value: USE(value, [TEMPLATE]),
    "claims": lambda value: USE(POD, value),
    "one": lambda value: USE(POD, [value]),
    "container": lambda value: USE(POD, [TEMPLATE], containers=[value]),
    "used": lambda value: USE(POD, [TEMPLATE], containers={"a": [value]}),
    "uses": lambda value: USE(POD, [TEMPLATE], containers={"a": value}),
    "plan": lambda value: USE(POD, [TEMPLATE], nodegroup=value),
}
# A huge number is one, and so is what a Pod has as its number of devices.
TAKEN = {("count", HUGE), ("seconds", HUGE)}


@pytest.mark.parametrize("place", PLACES)
def test_a_hostile_value_is_a_fault(place):
    for value in VALUES:
        if any(place == one and value is given for one, given in TAKEN):
            continue
        with pytest.raises(EksDevicesError) as error:
            PLACES[place](value)
        for fault in error.value.faults:
            assert fault.code
            assert fault.fix
            assert str(fault)


@pytest.mark.parametrize("token", [TOKEN, LIST_TOKEN])
@pytest.mark.parametrize(
    "place",
    ["selector", "key", "memory", "version", "attribute", "group", "over", "distinct", "driver"],
)
def test_a_token_is_refused_where_rules_read_it(place, token):
    with pytest.raises(EksDevicesError) as error:
        PLACES[place](token)

    assert {one.code for one in error.value.faults} <= {
        "TokenNotAllowed",
        "SelectorDoesNotFit",
    }


def test_a_token_among_parameters_is_refused():
    with pytest.raises(EksDevicesError) as error:
        O(driver="a.b", parameters={"a": [TOKEN]})

    assert [(one.code, one.path) for one in error.value.faults] == [
        ("TokenNotAllowed", "config.parameters.a[0]")
    ]


def test_lists_are_copied():
    options: Any = [DeviceRequest.gpu(name="a")]
    names: Any = ["gpu"]
    made = raw(kind=R.first_available(GPU).kind, count=None, alternatives=options)
    match = MatchAttribute(attribute="a.b/c", requests=names)
    options.clear()
    names.clear()

    assert len(made.alternatives) == 1
    assert match.requests == ("gpu",)


@pytest.mark.parametrize(
    "value",
    [
        R.first_available(R.gpu(AllocationMode.ALL, name="a"), R.efa(name="b")),
        S.gpu_product("a"),
        T(key="a"),
        D.of("a.b/c").over("gpu"),
        O(driver="a.b", parameters={"a": {"b": [1]}}),
    ],
    ids=lambda one: type(one).__name__,
)
def test_values_are_equal_hashable_and_survive_copies(value):
    for other in (copy.deepcopy(value), pickle.loads(pickle.dumps(value))):  # noqa: S301  (ours)
        assert other == value
        assert hash(other) == hash(value)
