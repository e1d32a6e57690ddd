"""LeaderWorkerSets on Trainium UltraServers: one Pod on each node, a group on each UltraServer."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hostile import NUMBER_TOKEN, TOKEN, Hostile, HostileText, Untouchable
from tests.pod_specs import NO_POD_SPECS, box, claiming, codes, faults_of, pod

from eks_devices import DeviceRequest, ResourceClaim, ResourceClaimTemplate, ultraserver_workers

CLAIM = {"name": "ultraserver-node", "resourceClaimTemplateName": "whole-node"}
TOLERATION = {"key": "aws.amazon.com/neuron", "operator": "Exists"}
EXCLUSIVE = "leaderworkerset.sigs.k8s.io/exclusive-topology"


def template(mode: int = 4, **options: Any) -> ResourceClaimTemplate:
    requests = [DeviceRequest.ultraserver_node(mode=mode), DeviceRequest.efa()]
    return ResourceClaimTemplate(**{"name": "whole-node", "requests": requests, **options})


def workers(spec: Any = None, **options: Any) -> dict[str, Any]:
    given_ = pod(box("main")) if spec is None else spec
    return ultraserver_workers(given_, **{"name": "train", "claim": template(), **options})


def pods(made: dict[str, Any]) -> Any:
    """The spec of the Pods of a LeaderWorkerSet."""
    return made["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]


def test_a_group_has_an_ultraserver_and_each_pod_a_node_of_it():
    assert workers(replicas=2, namespace="jobs", claim=template(namespace="jobs")) == {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {
            "name": "train",
            "namespace": "jobs",
            "annotations": {EXCLUSIVE: "neuron.amazonaws.com/ultraserver-server-id-4"},
        },
        "spec": {
            "replicas": 2,
            "leaderWorkerTemplate": {
                "size": 4,
                "restartPolicy": "RecreateGroupOnPodRestart",
                "workerTemplate": {
                    "spec": {
                        "containers": [
                            {"name": "main", "resources": {"claims": [{"name": CLAIM["name"]}]}}
                        ],
                        "resourceClaims": [CLAIM],
                        "tolerations": [TOLERATION],
                    }
                },
            },
        },
    }


def test_a_group_of_two_has_half_an_ultraserver():
    made = workers(size=2, claim=template(2))

    assert made["metadata"]["annotations"] == {
        EXCLUSIVE: "neuron.amazonaws.com/ultraserver-server-id-2"
    }
    assert made["spec"]["leaderWorkerTemplate"]["size"] == 2


def test_one_group_in_the_default_namespace_unless_named():
    made = workers()

    assert made["spec"]["replicas"] == 1
    assert made["metadata"]["namespace"] == "default"


@pytest.mark.parametrize("claim", ["whole-node", HostileText("whole-node")])
def test_a_template_can_be_known_by_its_name(claim):
    made = workers(claim=claim, namespace="jobs", size=2)

    assert pods(made)["resourceClaims"] == [CLAIM]
    json.dumps(made)


def test_other_claims_of_the_pod_stay():
    efas = {"name": "efas", "resourceClaimTemplateName": "sixteen"}
    main = box("main", resources={"claims": [{"name": "efas"}], "limits": {"cpu": 1}})

    made = pods(workers(pod(main, resourceClaims=[efas])))

    assert made["resourceClaims"] == [efas, CLAIM]
    assert made["containers"][0]["resources"] == {
        "claims": [{"name": "efas"}, {"name": CLAIM["name"]}],
        "limits": {"cpu": 1},
    }


def test_a_claim_of_the_template_by_another_name_is_used():
    mine = {"name": "mine", "resourceClaimTemplateName": "whole-node"}
    spec = pod(box("a"), box("b", resources={"claims": [{"name": "mine"}]}), resourceClaims=[mine])

    made = pods(workers(spec))

    assert made["resourceClaims"] == [mine]
    assert claiming(made, "mine") == ["b"]


def test_the_only_container_uses_the_node_and_init_containers_do_not():
    made = pods(workers(pod(box("main"), initContainers=[box("fetch")])))

    assert claiming(made, CLAIM["name"]) == ["main"]


def test_of_several_containers_those_that_use_the_node_are_named():
    spec = pod(box("main"), box("logs"), initContainers=[box("probe")])

    assert claiming(pods(workers(spec, containers=["main", "probe"])), CLAIM["name"]) == [
        "probe",
        "main",
    ]
    assert codes(workers, spec) == [("ContainersNeeded", "containers")]
    assert codes(workers, spec, containers=["mian"]) == [("UnknownContainer", "containers[0]")]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"name": ""}, ("MalformedName", "name")),
        ({"name": "1st"}, ("MalformedName", "name")),
        ({"name": "a.b"}, ("MalformedName", "name")),
        ({"name": "Train"}, ("MalformedName", "name")),
        ({"name": TOKEN}, ("TokenNotAllowed", "name")),
        ({"name": 5}, ("WrongType", "name")),
        ({"name": Hostile()}, ("WrongType", "name")),
        ({"namespace": "a.b", "claim": "a"}, ("MalformedName", "namespace")),
        ({"namespace": Hostile()}, ("WrongType", "namespace")),
        ({"namespace": None}, ("WrongType", "namespace")),
        ({"size": 1, "claim": "a"}, ("UltraServerSize", "size")),
        ({"size": 3, "claim": "a"}, ("UltraServerSize", "size")),
        ({"size": 8, "claim": "a"}, ("UltraServerSize", "size")),
        ({"size": 0, "claim": "a"}, ("OutOfRange", "size")),
        ({"size": "4"}, ("WrongType", "size")),
        ({"size": True}, ("WrongType", "size")),
        ({"size": Hostile()}, ("WrongType", "size")),
        ({"size": NUMBER_TOKEN}, ("TokenNotAllowed", "size")),
        ({"replicas": -1}, ("OutOfRange", "replicas")),
        ({"replicas": 1_000_001}, ("OutOfRange", "replicas")),
        ({"replicas": 1.5}, ("WrongType", "replicas")),
        ({"replicas": Hostile()}, ("WrongType", "replicas")),
        ({"claim": "A"}, ("MalformedName", "claim")),
        ({"claim": TOKEN}, ("TokenNotAllowed", "claim")),
        ({"claim": None}, ("WrongType", "claim")),
        ({"claim": Hostile()}, ("WrongType", "claim")),
        ({"claim": template().to_dict}, ("WrongType", "claim")),
        ({"containers": "main"}, ("WrongType", "containers")),
        ({"containers": Hostile()}, ("WrongType", "containers")),
    ],
)
def test_malformed_options_are_faults(options, code):
    assert codes(workers, **options) == [code]


def test_a_claim_that_pods_share_is_no_template():
    shared = ResourceClaim(name="a", requests=[DeviceRequest.ultraserver_node(mode=4)])

    assert codes(workers, claim=shared) == [("WrongType", "claim")]


@pytest.mark.parametrize(
    ("size", "requests"),
    [
        (4, [DeviceRequest.ultraserver_node(mode=2)]),
        (2, [DeviceRequest.ultraserver_node(mode=4)]),
        (2, [DeviceRequest.ultraserver_node(mode=1)]),
        (4, [DeviceRequest.neuron(16)]),
        (4, [DeviceRequest.efa(16)]),
    ],
)
def test_each_pod_asks_for_one_node_in_the_mode_of_its_group(size, requests):
    claim = template(requests=requests)

    assert codes(workers, size=size, claim=claim) == [("UltraServerMode", "claim")]


@pytest.mark.parametrize(
    ("size", "requests", "got", "fix"),
    [
        (
            4,
            [DeviceRequest.ultraserver_node(mode=2)],
            "mode 2",
            "ask for one DeviceRequest.ultraserver_node(mode=4), or pass size=2",
        ),
        (
            2,
            [DeviceRequest.ultraserver_node(mode=1)],
            "mode 1",
            "ask for one DeviceRequest.ultraserver_node(mode=2)",
        ),
        (
            4,
            [DeviceRequest.neuron(16), DeviceRequest.efa(16)],
            "neuron, efa",
            "ask for one DeviceRequest.ultraserver_node(mode=4)",
        ),
    ],
)
def test_another_mode_is_told_with_the_one_of_the_group(size, requests, got, fix):
    (fault,) = faults_of(workers, size=size, claim=template(requests=requests))

    assert (fault.got, fault.allowed, fault.fix) == (f"'{got}'", f"mode {size}", fix)


@pytest.mark.parametrize("size", [0, 3, "4", Hostile()])
def test_a_size_that_no_group_has_says_nothing_of_the_claim(size):
    assert [path for _, path in codes(workers, size=size)] == ["size"]


@pytest.mark.parametrize("namespace", ["a.b", "", TOKEN])
def test_a_malformed_namespace_says_nothing_of_the_claim(namespace):
    assert [path for _, path in codes(workers, namespace=namespace)] == ["namespace"]


@pytest.mark.parametrize(
    "resource",
    [
        "aws.amazon.com/neuron",
        "aws.amazon.com/neuroncore",
        "aws.amazon.com/neurondevice",
        "vpc.amazonaws.com/efa",
    ],
)
def test_what_a_pod_claims_it_does_not_ask_the_device_plugin_for(resource):
    asking = {"resources": {"limits": {resource: 16}}}
    for spec, path in (
        (pod(box("main", **asking)), "containers"),
        (pod(box("main"), initContainers=[box("probe", **asking)]), "initContainers"),
    ):
        assert codes(workers, spec) == [("DevicesOfTwoManagers", f"pod_spec.{path}[0].resources")]


def test_a_pod_asks_the_device_plugin_for_what_it_does_not_claim():
    """What a template is for that is known by its name alone is not known."""
    limits = {"vpc.amazonaws.com/efa": 16, "aws.amazon.com/neuron": 0, "cpu": 1}
    spec = pod(box("main", resources={"limits": limits}))
    node = template(requests=[DeviceRequest.ultraserver_node(mode=4)])

    for claim in (node, "whole-node"):
        assert pods(workers(spec, claim=claim))["containers"][0]["resources"]["limits"] == limits


def test_pods_find_no_template_of_another_namespace():
    (fault,) = faults_of(workers, claim=template(namespace="jobs"))

    assert (fault.code, fault.path) == ("ClaimInOtherNamespace", "claim")
    assert 'namespace="jobs"' in fault.fix


@pytest.mark.parametrize(("replicas", "longest"), [(0, 50), (1, 50), (10, 50), (11, 49), (101, 48)])
def test_a_name_leaves_room_for_the_label_of_the_workers_revision(replicas, longest):
    """A StatefulSet called <name>-<group> labels Pods with its name, a hyphen and a hash."""
    assert workers(name="a" * longest, replicas=replicas)["metadata"]["name"] == "a" * longest
    assert codes(workers, name="a" * (longest + 1), replicas=replicas) == [
        ("MalformedName", "name")
    ]


@pytest.mark.parametrize(
    "tolerations",
    [
        [TOLERATION],
        [{"operator": "Exists"}],
        [{"key": "a"}, {"operator": "Exists", "effect": "NoSchedule"}],
        [{"key": "aws.amazon.com/neuron", "operator": "Exists", "effect": "NoSchedule"}],
        [{"key": "aws.amazon.com/neuron", "value": "present"}],
        [{"key": "aws.amazon.com/neuron", "operator": "Equal", "value": "present"}],
    ],
)
def test_a_pod_that_tolerates_the_default_taint_stays_as_it_is(tolerations):
    assert pods(workers(pod(box("main"), tolerations=tolerations)))["tolerations"] == tolerations


@pytest.mark.parametrize(
    "other",
    [
        {"key": "nvidia.com/gpu", "operator": "Exists"},
        {"key": "aws.amazon.com/neuron", "operator": "Exists", "effect": "NoExecute"},
        {"key": "aws.amazon.com/neuron", "operator": "Equal", "value": "mine"},
        {"key": "aws.amazon.com/neuron"},
        {"key": TOKEN, "operator": "Exists"},
        {"key": "aws.amazon.com/neuron", "operator": Hostile()},
        {"operator": "Equal", "value": "present"},
        {"effect": Hostile(), "operator": "Exists"},
        {},
    ],
)
def test_other_tolerations_stay_and_that_of_claims_is_added(other):
    made = pods(workers(pod(box("main"), tolerations=[other])))

    assert made["tolerations"][0].keys() == other.keys()
    assert made["tolerations"][1:] == [TOLERATION]


@pytest.mark.parametrize(
    ("tolerations", "path"), [({}, ""), (["a"], "[0]"), (Hostile(), ""), ([Hostile()], "[0]")]
)
def test_tolerations_of_another_type_are_faults(tolerations, path):
    assert codes(workers, pod(box("main"), tolerations=tolerations)) == [
        ("WrongType", f"pod_spec.tolerations{path}")
    ]


@pytest.mark.parametrize("policy", [None, "Always"])
def test_stateful_sets_restart_every_container(policy):
    assert pods(workers(pod(box("main"), restartPolicy=policy)))["restartPolicy"] == policy


@pytest.mark.parametrize("policy", ["Never", "OnFailure", 5, TOKEN, Hostile()])
def test_pods_that_do_not_restart_are_no_workers(policy):
    assert codes(workers, pod(box("main"), restartPolicy=policy)) == [
        ("RestartPolicyNotAllowed", "pod_spec.restartPolicy")
    ]


def test_pods_on_different_nodes_share_no_claim():
    shared = {"name": "efas", "resourceClaimName": "efas"}

    assert codes(workers, pod(box("main"), resourceClaims=[shared])) == [
        ("SharedClaim", "pod_spec.resourceClaims[0]")
    ]


def test_another_claim_of_the_name_is_a_fault():
    other = {"name": "ultraserver-node", "resourceClaimTemplateName": "other"}

    assert codes(workers, pod(box("main"), resourceClaims=[other])) == [
        ("ClaimNameTaken", "pod_spec.resourceClaims[0]")
    ]


def test_all_faults_come_together():
    spec = pod(box("A"), box("b"), restartPolicy="Never")

    claim = template(namespace="x", requests=[DeviceRequest.efa(16)])

    assert codes(workers, spec, name="1", size=3, replicas=-1, claim=claim) == [
        ("MalformedName", "pod_spec.containers[0].name"),
        ("MalformedName", "name"),
        ("UltraServerSize", "size"),
        ("OutOfRange", "replicas"),
        ("RestartPolicyNotAllowed", "pod_spec.restartPolicy"),
        ("ClaimInOtherNamespace", "claim"),
    ]


@pytest.mark.parametrize(("spec", "code"), NO_POD_SPECS, ids=range(len(NO_POD_SPECS)))
def test_what_is_no_pod_spec_is_told(spec, code):
    assert codes(ultraserver_workers, spec, name="train", claim=template()) == [code]


def test_what_nobody_reads_stays_tokens_and_objects_too():
    value = Untouchable()
    spec = pod(box("main", image=TOKEN), priority=NUMBER_TOKEN, custom=[value])

    made = pods(workers(spec))

    assert made["containers"][0]["image"] == TOKEN
    assert made["priority"] == NUMBER_TOKEN
    assert made["custom"][0] is value


@given(
    spec=st.fixed_dictionaries(
        {
            "containers": st.just([box("main")])
            | st.just([box("main", resources={"claims": [{"name": "a"}]})])
        },
        optional={
            "resourceClaims": st.sampled_from(
                [None, [], [CLAIM], [{"name": "a", "resourceClaimTemplateName": "b"}]]
            ),
            "tolerations": st.just([{"operator": "Exists"}]),
        },
    ),
    mode=st.sampled_from([2, 4]),
    replicas=st.integers(0, 50),
)
@settings(max_examples=60, deadline=None)
def test_the_input_stays_and_its_result_is_taken_again(spec, mode, replicas):
    before = copy.deepcopy(spec)

    made = workers(spec, size=mode, claim=template(mode), replicas=replicas)

    assert spec == before
    assert workers(pods(made), size=mode, claim=template(mode), replicas=replicas) == made
    assert claiming(pods(made), CLAIM["name"]) == ["main"]
    assert pods(made)["tolerations"] == spec.get("tolerations", [TOLERATION])
    json.dumps(made)


@pytest.mark.parametrize("size", [1, 3, 9, 18])
def test_a_group_is_as_large_as_a_mode_of_trainium_ultraservers(size):
    """9 and 18 are of UltraServers with GPUs, which have no such label."""
    (found,) = faults_of(lambda: workers(claim="node", size=size))

    assert (found.code, found.allowed) == ("UltraServerSize", "2, 4")
