"""Pods that claim devices: claims, containers, tolerations and nodes."""

import copy
import json
from typing import Any

import pytest
from tests.hostile import HostileList, HostileMapping

from eks_devices import (
    AllocationMode,
    Capacity,
    DeviceRequest,
    DeviceSelector,
    EksDevicesError,
    GpuDriver,
    Mechanism,
    NodegroupSpec,
    ResourceClaim,
    ResourceClaimTemplate,
    plan_nodegroup,
    use_claims,
)

R = DeviceRequest
ONE = {"containers": [{"name": "main", "image": "i"}]}
TWO = {
    "initContainers": [{"name": "init", "image": "i"}],
    "containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "i"}],
}
GPUS = ResourceClaimTemplate(name="gpus", requests=[R.gpu(name="gpu-0"), R.gpu(name="gpu-1")])
SHARED = ResourceClaim(name="shared", requests=[R.gpu()])
ANY: Any = use_claims


def plan(instance_type: str = "g6e.12xlarge", **options: Any) -> Any:
    spec = NodegroupSpec(
        name="workers",
        instance_type=instance_type,
        max_size=1,
        **{"mechanism": Mechanism.DRA, **options},
    )
    return plan_nodegroup(spec, kubernetes_version="1.34")


def faults_of(*args: Any, **options: Any) -> set[str]:
    """The codes of the faults, if there are any."""
    try:
        ANY(*args, **options)
    except EksDevicesError as error:
        return {one.code for one in error.faults}
    return set()


def codes(*args: Any, **options: Any) -> set[str]:
    with pytest.raises(EksDevicesError) as error:
        ANY(*args, **options)
    return {one.code for one in error.value.faults}


def claims_of(pod: dict[str, Any], container: str) -> list[dict[str, str]]:
    (found,) = [one for one in pod["containers"] if one["name"] == container]
    return list(found.get("resources", {}).get("claims", []))


def test_a_template_and_a_claim_are_named_as_what_they_are():
    pod = use_claims(ONE, [GPUS, SHARED])

    assert pod["resourceClaims"] == [
        {"name": "gpus", "resourceClaimTemplateName": "gpus"},
        {"name": "shared", "resourceClaimName": "shared"},
    ]
    assert claims_of(pod, "main") == [{"name": "gpus"}, {"name": "shared"}]


def test_the_pod_may_call_claims_by_names_of_its_own():
    pod = use_claims(ONE, {"left": GPUS, "right": GPUS})

    assert [one["name"] for one in pod["resourceClaims"]] == ["left", "right"]


def test_each_container_may_use_a_request_of_one_claim():
    pod = use_claims(TWO, [GPUS], containers={"a": ["gpus/gpu-0"], "b": ["gpus/gpu-1"]})

    assert claims_of(pod, "a") == [{"name": "gpus", "request": "gpu-0"}]
    assert claims_of(pod, "b") == [{"name": "gpus", "request": "gpu-1"}]


def test_containers_may_share_a_whole_claim():
    pod = use_claims(TWO, [GPUS], containers=["a", "b", "init"])

    assert claims_of(pod, "a") == claims_of(pod, "b") == [{"name": "gpus"}]
    assert pod["initContainers"][0]["resources"] == {"claims": [{"name": "gpus"}]}


def test_what_was_given_stays_as_it_was():
    given = copy.deepcopy(TWO)

    use_claims(TWO, [GPUS], containers=["a"], nodegroup=plan())

    assert given == TWO


def test_doing_it_twice_changes_nothing_more():
    once = use_claims(
        TWO, [GPUS], containers={"a": ["gpus/gpu-0"], "b": ["gpus"]}, nodegroup=plan()
    )
    twice = use_claims(
        once, [GPUS], containers={"a": ["gpus/gpu-0"], "b": ["gpus"]}, nodegroup=plan()
    )

    assert twice == once
    assert json.loads(json.dumps(once)) == once


def test_what_the_spec_says_already_stays():
    given = {
        "containers": [{"name": "main", "resources": {"limits": {"cpu": "1"}}}],
        "resourceClaims": [{"name": "channel", "resourceClaimTemplateName": "channel"}],
        "tolerations": [{"key": "mine", "operator": "Exists"}],
        "nodeSelector": {"zone": "a"},
    }

    pod = use_claims(given, [GPUS], nodegroup=plan())

    assert [one["name"] for one in pod["resourceClaims"]] == ["channel", "gpus"]
    assert pod["containers"][0]["resources"]["limits"] == {"cpu": "1"}
    assert pod["tolerations"][0] == {"key": "mine", "operator": "Exists"}
    assert pod["nodeSelector"] == {"zone": "a", "eks-devices/nodegroup": "workers"}


@pytest.mark.parametrize(
    ("requests", "keys"),
    [
        ([R.gpu(), R.efa(1)], {"nvidia.com/gpu"}),
        ([R.neuron(1)], {"aws.amazon.com/neuron"}),
        ([R.efa(1)], set()),
        (
            [R.first_available(R.gpu(), R.neuron(1))],
            {"nvidia.com/gpu", "aws.amazon.com/neuron"},
        ),
    ],
)
def test_the_taints_of_what_is_claimed_are_tolerated(requests, keys):
    pod = use_claims(ONE, [ResourceClaimTemplate(name="c", requests=requests)])

    assert {one["key"] for one in pod.get("tolerations", [])} == keys


def test_every_taint_of_the_group_is_tolerated():
    tainted = plan(taints=["team=a:NoSchedule", "spot:NoExecute"])

    pod = use_claims(ONE, [GPUS], nodegroup=tainted)

    assert {(one["key"], one["operator"], one.get("value")) for one in pod["tolerations"]} >= {
        ("team", "Equal", "a"),
        ("spot", "Exists", None),
    }


def test_nodes_are_selected_unless_that_is_not_wanted():
    assert "nodeSelector" not in use_claims(ONE, [GPUS])
    assert "nodeSelector" not in use_claims(ONE, [GPUS], nodegroup=plan(), select_nodes=False)


@pytest.mark.parametrize(
    ("args", "options", "code"),
    [
        (({}, [GPUS]), {}, "NotAPodSpec"),
        ((TWO, [GPUS]), {}, "ContainersNeeded"),
        ((ONE, [GPUS]), {"containers": ["man"]}, "UnknownContainer"),
        ((ONE, [GPUS]), {"containers": {"main": ["gpu"]}}, "UnknownClaim"),
        ((ONE, [GPUS]), {"containers": {"main": ["gpus/gpu"]}}, "UnknownRequest"),
        ((ONE, [GPUS]), {"containers": {"main": "gpus"}}, "WrongType"),
        ((ONE, [GPUS]), {"containers": {"main": [1]}}, "WrongType"),
        ((ONE, [GPUS]), {"containers": {"main": []}}, "ClaimUsedByNone"),
        ((ONE, [GPUS]), {"containers": HostileMapping()}, "WrongType"),
        ((ONE, [GPUS, GPUS]), {}, "ClaimNameTaken"),
        ((ONE, "gpus"), {}, "WrongType"),
        ((ONE, ["gpus"]), {}, "WrongType"),
        ((ONE, HostileList([GPUS])), {}, "WrongType"),
        ((ONE, HostileMapping()), {}, "WrongType"),
        ((ONE, {"a": "gpus"}), {}, "WrongType"),
        ((ONE, {"A b": GPUS}), {}, "MalformedName"),
        ((ONE, [ResourceClaimTemplate(name="a.b", requests=[R.gpu()])]), {}, "MalformedName"),
        ((ONE, [GPUS]), {"nodegroup": "workers"}, "WrongType"),
        ((ONE, [GPUS]), {"select_nodes": "no"}, "WrongType"),
        ((ONE, [GPUS]), {"pods": 0}, "OutOfRange"),
        ((ONE, [SHARED]), {"pods": 257}, "TooManyConsumers"),
    ],
)
def test_what_cannot_be_bound_is_refused(args, options, code):
    assert codes(*args, **options) == {code}


def test_claims_of_two_namespaces_are_refused():
    other = ResourceClaim(name="other", namespace="b", requests=[R.gpu()])

    assert codes(ONE, [GPUS, other]) == {"ClaimsOfTwoNamespaces"}


def test_another_claim_of_the_name_is_refused():
    given = ONE | {"resourceClaims": [{"name": "gpus", "resourceClaimName": "gpus"}]}

    assert codes(given, [GPUS]) == {"ClaimNameTaken"}


def test_a_pod_that_selects_another_group_is_refused():
    given = ONE | {"nodeSelector": {"eks-devices/nodegroup": "others"}}

    assert codes(given, [GPUS], nodegroup=plan()) == {"NodeSelectorTaken"}


def test_a_template_is_for_any_number_of_pods():
    assert use_claims(ONE, [GPUS], pods=1000)["resourceClaims"]


@pytest.mark.parametrize(
    ("release", "claims", "pods", "refused"),
    [
        ("1.34.2-20251209", [SHARED, GPUS], 2, True),
        ("1.34.2-20251209", [SHARED, GPUS], 1, False),
        ("1.34.2-20251209", [SHARED], 2, False),
        ("1.34.4-20260301", [SHARED, GPUS], 2, False),
        (None, [SHARED, GPUS], 2, False),
    ],
)
def test_a_shared_claim_beside_another_needs_a_kubelet_that_starts_the_second_pod(
    release, claims, pods, refused
):
    group = plan(release_version=release)

    if refused:
        assert codes(ONE, claims, nodegroup=group, pods=pods) == {"ReusedClaimFloor"}
    else:
        assert use_claims(ONE, claims, nodegroup=group, pods=pods)


def test_the_groups_of_a_pool_are_selected_together():
    block = Capacity.block("cr-0123456789abcdef0")
    spec = NodegroupSpec(
        name="pool-a", instance_type="p5.48xlarge", max_size=1, pool="pool", capacity=block
    )
    group = plan_nodegroup(spec, kubernetes_version="1.36")

    pod = use_claims(ONE, [GPUS], nodegroup=group)

    assert pod["nodeSelector"] == {"eks-devices/nodegroup-pool": "pool"}


@pytest.mark.parametrize(
    ("claims", "group", "wanted"),
    [
        ([R.gpu()], {"mechanism": Mechanism.DEVICE_PLUGIN}, {"ClaimNeedsDra"}),
        ([R.gpu(5)], {}, {"TooManyDevices"}),
        ([R.neuron(1)], {}, {"NoSuchDevice"}),
        ([R.gpu(5), R.neuron(1)], {}, {"TooManyDevices", "NoSuchDevice"}),
        (
            [R.gpu().where(DeviceSelector.gpu_memory_at_least("80Gi"))],
            {},
            {"MemoryAboveDriverNumber"},
        ),
    ],
)
def test_claims_that_the_group_cannot_serve_are_refused_together(claims, group, wanted):
    templates = [
        ResourceClaimTemplate(name=f"c{at}", requests=[one]) for at, one in enumerate(claims)
    ]

    assert codes(ONE, templates, nodegroup=plan(**group)) == wanted


def test_one_template_under_many_names_is_judged_once():
    nine = ResourceClaimTemplate(name="nine", requests=[R.gpu(9)])

    with pytest.raises(EksDevicesError) as error:
        use_claims(ONE, {"left": nine, "right": nine}, nodegroup=plan())

    assert len(error.value.faults) == 1


def made(kind: Any, name: str, *requests: Any, **options: Any) -> Any:
    return kind(name=name, namespace="n", requests=[*requests], **options)


GPU, EFA = DeviceRequest.gpu, DeviceRequest.efa
EITHER = DeviceRequest.first_available(GPU(4, name="four"), GPU(2, name="two"), name="any")


@pytest.mark.parametrize(
    ("first", "second", "is_right"),
    [
        ([GPU(4)], [GPU(4)], True),
        ([GPU(5)], [GPU(4)], False),
        ([GPU(8)], [EFA(32)], True),
        ([GPU(4), EFA(16)], [GPU(4), EFA(17)], False),
        ([GPU(6)], [EITHER], True),
        ([GPU(7)], [EITHER], False),
        ([GPU(AllocationMode.ALL)], [GPU(1)], False),
        ([GPU(AllocationMode.ALL).where("true")], [GPU(7)], True),
        ([GPU(8)], [GPU(8).with_admin_access()], True),
    ],
)
def test_claims_together_ask_for_no_more_than_a_node_has(
    first: Any, second: Any, is_right: bool
) -> None:
    claims = [made(ResourceClaimTemplate, "a", *first), made(ResourceClaimTemplate, "b", *second)]
    group = plan("p5.48xlarge")
    assert faults_of(ONE, claims, nodegroup=group) == (set() if is_right else {"TooManyDevices"})
    assert faults_of(ONE, claims) == set()


def test_a_claim_that_a_pod_names_twice_is_one_and_a_template_two() -> None:
    shared = made(ResourceClaim, "a", GPU(5))
    template = made(ResourceClaimTemplate, "a", GPU(5))
    group = plan("p5.48xlarge")
    assert faults_of(ONE, {"x": shared, "y": shared}, nodegroup=group) == set()
    assert faults_of(ONE, {"x": template, "y": template}, nodegroup=group) == {"TooManyDevices"}


def test_gpus_that_claims_share_are_not_counted() -> None:
    shares = GpuDriver(consumable_shares="memory")
    claims = [made(ResourceClaim, name, GPU(5, memory="1Gi")) for name in ("a", "b")]
    spec = NodegroupSpec(name="g", instance_type="p5.48xlarge", max_size=1, gpu_driver=shares)
    group = plan_nodegroup(spec, kubernetes_version="1.36")
    assert "TooManyDevices" not in faults_of(ONE, claims, nodegroup=group)
