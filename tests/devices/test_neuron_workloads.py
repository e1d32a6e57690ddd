"""Pod specs whose Neuron devices the scheduler extension picks."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hostile import NUMBER_TOKEN, TOKEN, Hostile, HostileText, Untouchable
from tests.pod_specs import NO_POD_SPECS, box, codes, faults_of, pod

from eks_devices import use_neuron_scheduler

NEURON, CORE = "aws.amazon.com/neuron", "aws.amazon.com/neuroncore"
TRN1, TRN2, INF2 = "trn1.32xlarge", "trn2.48xlarge", "inf2.48xlarge"
COUNTED = f"pod_spec.containers[0].resources.limits['{NEURON}']"


def neuron(count: Any, name: str = "main", resource: str = NEURON) -> dict[str, Any]:
    return box(name, resources={"limits": {resource: count}})


def test_the_pod_gets_the_second_scheduler_and_stays_as_it_was():
    value = Untouchable()
    spec = pod(neuron(4), box("logs", image=TOKEN), priority=NUMBER_TOKEN, custom=[value])

    made = use_neuron_scheduler(spec)

    assert made.pop("schedulerName") == "neuron-scheduler"
    assert made["custom"][0] is value
    assert made["priority"] == NUMBER_TOKEN
    assert made["containers"] == spec["containers"]
    assert "schedulerName" not in spec


@pytest.mark.parametrize("scheduler", [None, "", "default-scheduler", "neuron-scheduler"])
def test_a_pod_with_the_default_scheduler_or_none_gets_it(scheduler):
    made = use_neuron_scheduler(pod(neuron(4), schedulerName=scheduler))

    assert made["schedulerName"] == "neuron-scheduler"


@pytest.mark.parametrize("scheduler", ["my-scheduler", "volcano", HostileText("volcano")])
def test_another_scheduler_is_not_taken_away(scheduler):
    assert codes(use_neuron_scheduler, pod(neuron(4), schedulerName=scheduler)) == [
        ("SchedulerTaken", "pod_spec.schedulerName")
    ]


@pytest.mark.parametrize(
    ("scheduler", "code"),
    [(5, "WrongType"), ([], "WrongType"), (Hostile(), "WrongType"), (TOKEN, "TokenNotAllowed")],
)
def test_a_scheduler_that_is_no_name_is_a_fault(scheduler, code):
    assert codes(use_neuron_scheduler, pod(neuron(4), schedulerName=scheduler)) == [
        (code, "pod_spec.schedulerName")
    ]


@pytest.mark.parametrize(
    "resources",
    [
        None,
        {},
        {"limits": {NEURON: 0, CORE: "0"}},
        {"limits": {"nvidia.com/gpu": 1}},
        {"limits": {"aws.amazon.com/neurondevice": 0}},
        {"claims": [{"name": "neuron"}]},
    ],
)
def test_a_pod_that_asks_the_device_plugin_for_nothing_is_told(resources):
    (fault,) = faults_of(use_neuron_scheduler, pod(box("main", resources=resources)))

    assert (fault.code, fault.path) == ("NoContainerWithNeuron", "pod_spec.containers")
    assert "claims keep the default scheduler" in fault.fix


@pytest.mark.parametrize(
    "resources",
    [
        {"limits": {NEURON: 1}},
        {"limits": {CORE: "2"}},
        {"limits": {NEURON: 1}, "requests": {NEURON: 1}},
        {"limits": {NEURON: 4}, "requests": {NEURON: "4"}},
        {"limits": {NEURON: NUMBER_TOKEN}},
        {"limits": {NEURON: NUMBER_TOKEN}, "requests": {NEURON: 4}},
        {"limits": {NEURON: TOKEN}, "requests": {NEURON: TOKEN}},
        {"limits": {NEURON: 4}, "requests": {NEURON: None, "memory": "1Gi"}},
        {"limits": {NEURON: 1, CORE: 0}},
    ],
)
def test_any_amount_of_devices_or_cores_will_do(resources):
    made = use_neuron_scheduler(pod(box("main", resources=resources)))

    assert made["schedulerName"] == "neuron-scheduler"


def test_an_init_container_may_be_the_one_that_asks():
    spec = pod(box("main"), initContainers=[neuron(1, "warm-up")])

    assert use_neuron_scheduler(spec)["schedulerName"] == "neuron-scheduler"


def test_devices_and_cores_of_one_container_count_the_same_silicon_twice():
    both = box("main", resources={"limits": {NEURON: 1, CORE: 2}})
    split = box("main", resources={"limits": {NEURON: 1, CORE: "2"}, "requests": {CORE: 2}})
    apart = pod(neuron(1), neuron(2, "b", CORE))

    for one in (both, split):
        assert codes(use_neuron_scheduler, pod(one)) == [
            ("NeuronDevicesAndCores", "pod_spec.containers[0].resources")
        ]
    assert use_neuron_scheduler(apart)["containers"] == apart["containers"]


@pytest.mark.parametrize("resource", [NEURON, CORE])
@pytest.mark.parametrize(
    ("limit", "request_"), [(None, 4), (None, 0), (4, 8), ("8", "4"), (4, "4.5"), (0, 4)]
)
def test_the_api_server_takes_no_request_for_devices_without_an_equal_limit(
    resource, limit, request_
):
    limits = {} if limit is None else {resource: limit}
    asking = box("train", resources={"limits": limits, "requests": {resource: request_}})
    spec = pod(neuron(1), asking)

    (fault,) = faults_of(use_neuron_scheduler, spec)

    assert (fault.code, fault.path) == (
        "RequestNotEqualToLimit",
        f"pod_spec.containers[1].resources.requests['{resource}']",
    )
    assert "train" in fault.message
    once = "" if limit is None else " once"
    assert f"write {resource}{once} among the limits of train" in fault.fix
    assert ("leave the request out" in fault.fix) == (limit is not None)


def test_names_that_cannot_be_shown_are_their_texts():
    resources = {"requests": {HostileText(CORE): HostileText("2")}}
    spec = pod(neuron(1), box(HostileText("train"), resources=resources))

    (fault,) = faults_of(use_neuron_scheduler, spec)

    assert fault.path == f"pod_spec.containers[1].resources.requests['{CORE}']"
    assert "container train" in fault.message


def test_requests_of_init_containers_need_limits_too():
    warm_up = box("warm-up", resources={"requests": {CORE: 1}})

    assert codes(use_neuron_scheduler, pod(neuron(1), initContainers=[warm_up])) == [
        ("RequestNotEqualToLimit", f"pod_spec.initContainers[0].resources.requests['{CORE}']")
    ]


@pytest.mark.parametrize("request_", [Hostile(), [4], {"a": 1}])
def test_a_request_that_cannot_be_read_needs_a_limit_all_the_same(request_):
    asking = box("train", resources={"requests": {NEURON: request_}})

    assert [one.code for one in faults_of(use_neuron_scheduler, pod(asking))] == [
        "RequestNotEqualToLimit"
    ]


def test_the_name_that_devices_had_once_is_told_with_that_of_today():
    retired = {"aws.amazon.com/neurondevice": 1}

    for resources in ({"limits": retired}, {"limits": retired | {NEURON: 1}}):
        (fault,) = faults_of(use_neuron_scheduler, pod(box("main", resources=resources)))

        assert (fault.code, fault.path) == (
            "RetiredResource",
            "pod_spec.containers[0].resources",
        )
        assert fault.fix.startswith(f"ask for {NEURON},")


@pytest.mark.parametrize(
    ("instance_type", "allowed"),
    [
        ("trn1.2xlarge", {1}),
        (TRN1, {1, 4, 8, 16}),
        ("trn1n.32xlarge", {1, 4, 8, 16}),
        ("trn2.3xlarge", {1}),
        (TRN2, {1, 4, 8, 16}),
        ("trn2u.48xlarge", {1, 4, 8, 16}),
        ("inf1.2xlarge", {1}),
        ("inf1.6xlarge", {1, 2, 3, 4}),
        ("inf1.24xlarge", set(range(1, 17))),
        ("inf2.24xlarge", {1, 2, 3, 4, 5, 6}),
        (INF2, set(range(1, 13))),
    ],
)
def test_each_type_has_its_numbers_of_connected_devices(instance_type, allowed):
    for count in range(1, 20):
        spec = pod(neuron(count))
        if count in allowed:
            assert use_neuron_scheduler(spec, instance_type=instance_type)
        else:
            assert codes(use_neuron_scheduler, spec, instance_type=instance_type) == [
                ("NeuronCountNotAllowed", COUNTED)
            ]


def test_a_number_that_is_refused_is_told_with_those_that_are_not():
    (torus,) = faults_of(use_neuron_scheduler, pod(neuron(5)), instance_type=TRN1)
    (ring,) = faults_of(use_neuron_scheduler, pod(neuron(13)), instance_type=INF2)

    assert (torus.got, torus.allowed) == ("5", "1, 4, 8, 16")
    assert (ring.got, ring.allowed) == ("13", "1 to 12")


def test_without_a_type_no_number_is_refused():
    assert use_neuron_scheduler(pod(neuron(5)))["schedulerName"] == "neuron-scheduler"


# Of Trn2, of both sizes of its logical cores.
@pytest.mark.parametrize(
    ("instance_type", "allowed", "told"),
    [
        ("inf1.xlarge", {1, 2, 3, 4}, "1 to 4"),
        ("inf2.xlarge", {1, 2}, "1 to 2"),
        (INF2, set(range(1, 25)), "1 to 24"),
        ("trn1.2xlarge", {1, 2}, "1 to 2"),
        (TRN1, {1, 2, 8, 16, 32}, "1 to 2, 8, 16, 32"),
        ("trn2.3xlarge", set(range(1, 9)), "1 to 8"),
        (TRN2, {*range(1, 9), 16, 32, 64, 128}, "1 to 8, 16, 32, 64, 128"),
    ],
)
def test_cores_are_of_one_device_or_all_of_connected_ones(instance_type, allowed, told):
    for count in range(1, 132):
        spec = pod(neuron(count, resource=CORE))
        if count in allowed:
            assert use_neuron_scheduler(spec, instance_type=instance_type)
        else:
            (fault,) = faults_of(use_neuron_scheduler, spec, instance_type=instance_type)

            path = f"pod_spec.containers[0].resources.limits['{CORE}']"
            assert (fault.code, fault.path) == ("NeuronCountNotAllowed", path)
            assert (fault.got, fault.allowed) == (str(count), told)


def test_containers_of_a_pod_share_one_node():
    fits = pod(neuron(8, "a"), neuron(8, "b"), initContainers=[neuron(16, "warm-up")])
    too_many = pod(neuron(8, "a"), neuron(8, "b"), neuron(1, "c"))
    side_car = neuron(1, "s") | {"restartPolicy": "Always"}

    assert use_neuron_scheduler(fits, instance_type=TRN2)
    for one in (too_many, pod(neuron(16), initContainers=[side_car])):
        assert codes(use_neuron_scheduler, one, instance_type=TRN2) == [
            ("NeuronCountNotAllowed", "pod_spec.containers")
        ]


@pytest.mark.parametrize("count", ["4", "4.0", "0.004k", 4])
def test_a_quantity_is_the_number_that_it_amounts_to(count):
    assert use_neuron_scheduler(pod(neuron(count)), instance_type=TRN1)


@pytest.mark.parametrize(
    ("count", "code"),
    [
        ("4.5", "MalformedQuantity"),
        ("four", "MalformedQuantity"),
        ("", "MalformedQuantity"),
        (-1, "MalformedQuantity"),
        pytest.param(10**5000, "NeuronCountNotAllowed", id="huge"),
        ("-4", "MalformedQuantity"),
        (4.5, "MalformedQuantity"),
        (float("nan"), "MalformedQuantity"),
        (True, "WrongType"),
        ([4], "WrongType"),
    ],
)
def test_with_a_type_too_an_amount_that_is_no_whole_number_has_one_fault(count, code):
    assert codes(use_neuron_scheduler, pod(neuron(count)), instance_type=TRN1) == [(code, COUNTED)]


def test_a_number_with_a_point_counts_where_it_is_whole():
    assert codes(use_neuron_scheduler, pod(neuron(3.0)), instance_type=TRN1) == codes(
        use_neuron_scheduler, pod(neuron(3)), instance_type=TRN1
    )
    spec = use_neuron_scheduler(pod(neuron(4.0)), instance_type=TRN1)
    assert spec["schedulerName"] == "neuron-scheduler"


@pytest.mark.parametrize(
    ("count", "code"),
    [
        (Hostile(), "WrongType"),
        (TOKEN, "TokenNotAllowed"),
        (NUMBER_TOKEN, "TokenNotAllowed"),
    ],
)
def test_with_a_type_an_amount_has_to_be_known(count, code):
    spec = pod(neuron(count))

    assert use_neuron_scheduler(spec)["schedulerName"] == "neuron-scheduler"
    assert codes(use_neuron_scheduler, spec, instance_type=TRN1) == [(code, COUNTED)]


@pytest.mark.parametrize(
    ("instance_type", "code"),
    [
        ("p5.48xlarge", "NoNeuronDevices"),
        ("c5n.18xlarge", "NoNeuronDevices"),
        ("trn9.48xlarge", "UnknownInstanceType"),
        (TOKEN, "TokenNotAllowed"),
        (5, "WrongType"),
        (Hostile(), "WrongType"),
    ],
)
def test_a_type_without_neuron_devices_is_a_fault(instance_type, code):
    assert codes(use_neuron_scheduler, pod(neuron(1)), instance_type=instance_type) == [
        (code, "instance_type")
    ]


def test_all_faults_come_together():
    both = box("b", resources={"limits": {NEURON: 3, CORE: 1}})
    spec = pod(box("A"), both, schedulerName="volcano")

    assert codes(use_neuron_scheduler, spec, instance_type=TRN1) == [
        ("MalformedName", "pod_spec.containers[0].name"),
        ("SchedulerTaken", "pod_spec.schedulerName"),
        ("NeuronDevicesAndCores", "pod_spec.containers[1].resources"),
        ("NeuronCountNotAllowed", f"pod_spec.containers[1].resources.limits['{NEURON}']"),
    ]


@pytest.mark.parametrize("instance_type", [None, TRN1])
@pytest.mark.parametrize(("spec", "code"), NO_POD_SPECS, ids=range(len(NO_POD_SPECS)))
def test_what_is_no_pod_spec_is_told(spec, code, instance_type):
    assert codes(use_neuron_scheduler, spec, instance_type=instance_type) == [code]


@pytest.mark.parametrize(
    ("resources", "path"),
    [([], ""), ({"limits": [NEURON]}, ".limits"), ({"requests": Hostile()}, ".requests")],
)
def test_resources_of_another_type_are_faults(resources, path):
    assert codes(use_neuron_scheduler, pod(box("a", resources=resources)), instance_type=TRN1) == [
        ("WrongType", f"pod_spec.containers[0].resources{path}")
    ]


@given(
    count=st.sampled_from([1, 4, 8, 16, "8"]),
    others=st.lists(st.sampled_from("bcd"), unique=True),
    fields=st.fixed_dictionaries(
        {}, optional={"schedulerName": st.just("default-scheduler"), "hostNetwork": st.booleans()}
    ),
)
@settings(max_examples=60, deadline=None)
def test_the_input_stays_and_a_second_call_changes_nothing(count, others, fields):
    spec = pod(neuron(count), *map(box, others), **fields)
    before = copy.deepcopy(spec)

    made = use_neuron_scheduler(spec, instance_type=TRN2)

    assert spec == before
    assert use_neuron_scheduler(made, instance_type=TRN2) == made
    assert made == {**before, "schedulerName": "neuron-scheduler"}
    json.dumps(made)
