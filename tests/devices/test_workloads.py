"""Pod specs on nodes with NVIDIA GPUs: hidden GPUs, one NVLink partition, one ComputeDomain."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hostile import (
    NUMBER_TOKEN,
    TOKEN,
    Hostile,
    HostileList,
    HostileMapping,
    HostileText,
    Untouchable,
)
from tests.pod_specs import NO_POD_SPECS, box, claiming, codes, faults_of, pod

from eks_devices import (
    ComputeDomain,
    compute_domain_claim,
    hide_gpus,
    same_nvlink_partition,
)

VOID = {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}
ALL = {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}
GPUS = {"limits": {"nvidia.com/gpu": 4}}
DOMAIN = ComputeDomain(name="trainer", namespace="train")
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists"}
CLAIM = {
    "name": "compute-domain-channel",
    "resourceClaimTemplateName": "trainer-channel",
}
P6E = "p6e-gb200.36xlarge"
JOB = {"batch.kubernetes.io/job-name": "train"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def hidden(spec: dict[str, Any]) -> list[str]:
    """The containers to which a Pod spec shows no GPU."""
    every = [*(spec.get("initContainers") or []), *spec["containers"]]
    return [one["name"] for one in every if VOID in (one.get("env") or [])]


def test_side_cars_and_init_containers_without_gpus_see_none():
    spec = pod(
        box("main", resources=GPUS),
        box("logs", resources={"limits": {"cpu": 1}}),
        initContainers=[box("fetch", image="nvidia/cuda"), box("probe", resources=GPUS)],
    )

    assert hidden(hide_gpus(spec)) == ["fetch", "logs"]


@pytest.mark.parametrize(
    "resources",
    [
        {"limits": {"nvidia.com/gpu": 1}},
        {"limits": {"nvidia.com/gpu.shared": "1"}},
        {"limits": {"nvidia.com/mig-1g.10gb": 2}, "requests": {"nvidia.com/mig-1g.10gb": "2"}},
        {"limits": {"deviceclass.resource.kubernetes.io/gpu.nvidia.com": 1}},
        {"limits": {"deviceclass.resource.kubernetes.io/mig.nvidia.com": 1}},
        {"limits": {"deviceclass.resource.kubernetes.io/mig-1g-12gb.gpu.nvidia.com": 1}},
        {"limits": {"nvidia.com/gpu": NUMBER_TOKEN}},
        {"claims": [{"name": "gpus"}]},
        {"claims": [{"name": "all", "request": "gpu"}]},
    ],
)
def test_a_container_that_asks_for_gpus_keeps_its_own(resources):
    assert hidden(hide_gpus(pod(box("main", resources=resources)))) == []


@pytest.mark.parametrize(
    "resources",
    [
        None,
        {},
        {"limits": None, "requests": None, "claims": None},
        {"claims": []},
        {"limits": {"nvidia.com/gpu": 0}},
        {"limits": {"nvidia.com/gpu": "0"}},
        {"limits": {"vpc.amazonaws.com/efa": 1, "cpu": "2"}},
        {"limits": {"deviceclass.resource.kubernetes.io/efa.networking.k8s.aws": 1}},
    ],
)
def test_a_container_without_gpus_is_one_whatever_else_it_asks_for(resources):
    assert hidden(hide_gpus(pod(box("main", resources=resources)))) == ["main"]


def test_the_variable_stands_beside_a_container_s_own():
    spec = pod(box("main", env=[{"name": "A", "value": "1"}], image=TOKEN))

    assert hide_gpus(spec)["containers"] == [
        {"name": "main", "env": [{"name": "A", "value": "1"}, VOID], "image": TOKEN}
    ]


def test_a_container_that_says_itself_what_it_sees_is_left_alone():
    exporter = box("dcgm", env=[ALL])
    from_pod = box("other", env=[{"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": {"fieldRef": {}}}])

    assert hide_gpus(pod(exporter, from_pod)) == pod(exporter, from_pod)


def test_named_containers_are_exactly_those_that_see_none():
    spec = pod(
        box("main", resources=GPUS),
        box("a"),
        box("b"),
        box("nic", resources={"claims": [{"name": "efa"}]}),
        initContainers=[box("i")],
    )

    assert hidden(hide_gpus(spec, containers=["b", "nic", "i"])) == ["i", "b", "nic"]
    assert hide_gpus(spec, containers=[]) == spec
    assert hidden(hide_gpus(spec, containers={"a"})) == ["a"]  # type: ignore[arg-type]


def test_a_named_container_that_has_void_already_stays():
    spec = pod(box("a", env=[VOID]))

    assert hide_gpus(spec, containers=["a", "a"]) == spec


def test_a_named_container_that_does_not_exist_is_told_with_the_one_that_was_meant():
    (fault,) = faults_of(hide_gpus, pod(box("main"), box("logs")), containers=["log"])

    assert (fault.code, fault.path) == ("UnknownContainer", "containers[0]")
    assert fault.allowed == "main, logs"
    assert "logs" in fault.fix


def test_naming_a_container_with_gpus_would_take_them_away():
    spec = pod(box("main", resources=GPUS), box("a", env=[ALL]))

    assert codes(hide_gpus, spec, containers=["main", "a", "none"]) == [
        ("UnknownContainer", "containers[2]"),
        ("ContainerTakesGpus", "pod_spec.containers[0].resources"),
        ("EnvironmentConflict", "pod_spec.containers[1].env[0]"),
    ]


@pytest.mark.parametrize("value", ["all", "0", "none", "", None, 0, Hostile(), TOKEN])
def test_a_named_container_that_says_otherwise_is_a_fault(value):
    spec = pod(box("a", env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": value}]))

    assert codes(hide_gpus, spec, containers=["a"]) == [
        ("EnvironmentConflict", "pod_spec.containers[0].env[0]")
    ]


@pytest.mark.parametrize(
    ("containers", "code"),
    [
        ("main", ("WrongType", "containers")),
        ({"main": 1}, ("WrongType", "containers")),
        (Hostile(), ("WrongType", "containers")),
        (HostileList(["main"]), ("WrongType", "containers")),
        ([Hostile()], ("WrongType", "containers[0]")),
        ([TOKEN], ("TokenNotAllowed", "containers[0]")),
        (["main", 5], ("WrongType", "containers[1]")),
    ],
)
def test_names_of_another_type_are_faults(containers, code):
    assert codes(hide_gpus, pod(box("main")), containers=containers) == [code]
    assert codes(compute_domain_claim, pod(box("main")), DOMAIN, containers=containers) == [code]


def test_a_name_of_another_kind_of_text_is_the_name():
    assert hidden(hide_gpus(pod(box(HostileText("a"))), containers=[HostileText("a")])) == ["a"]


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "hide_gpus": hide_gpus,
    "hide_gpus, named": lambda spec: hide_gpus(spec, containers=["main"]),
    "same_nvlink_partition": lambda spec: same_nvlink_partition(
        spec, labels=JOB, nodegroups=["a"], instance_types=[P6E]
    ),
    "compute_domain_claim": lambda spec: compute_domain_claim(spec, DOMAIN),
    "compute_domain_claim, named": lambda spec: compute_domain_claim(
        spec, DOMAIN, containers=["main"]
    ),
}


@pytest.fixture(params=FUNCTIONS.values(), ids=list(FUNCTIONS))
def function(request):
    return request.param


@pytest.mark.parametrize(("spec", "code"), NO_POD_SPECS, ids=range(len(NO_POD_SPECS)))
def test_what_is_no_pod_spec_is_told(function, spec, code):
    assert codes(function, spec) == [code]


def test_a_whole_manifest_is_told_where_its_pod_spec_is():
    (fault,) = faults_of(hide_gpus, {"apiVersion": "batch/v1", "kind": "Job", "spec": {}})

    assert fault.got == "['apiVersion', 'kind', 'spec']"
    assert 'manifest["spec"]["template"]["spec"]' in fault.fix


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"resources": []}, "resources"),
        ({"resources": {"limits": ["nvidia.com/gpu"]}}, "resources.limits"),
        ({"resources": {"requests": Hostile()}}, "resources.requests"),
        ({"resources": {"claims": {"name": "a"}}}, "resources.claims"),
        ({"resources": {"claims": ["a"]}}, "resources.claims[0]"),
    ],
)
def test_resources_of_another_type_are_faults(fields, path):
    spec = pod(box("main", **fields))

    wanted = [("WrongType", f"pod_spec.containers[0].{path}")]
    assert codes(hide_gpus, spec) == wanted
    assert codes(compute_domain_claim, spec, DOMAIN) == wanted


def test_an_environment_that_is_a_mapping_is_a_fault():
    spec = pod(box("a", env={"A": "1"}), box("b", env=["A=1"]))

    assert codes(hide_gpus, spec) == [
        ("WrongType", "pod_spec.containers[0].env"),
        ("WrongType", "pod_spec.containers[1].env[0]"),
    ]


def test_faults_of_the_pod_spec_and_of_the_arguments_come_together():
    spec = pod(box("A"), "b", affinity=[])  # type: ignore[arg-type]

    assert codes(
        same_nvlink_partition, spec, labels={"-": "x"}, nodegroups=[5], instance_types=["zzz"]
    ) == [
        ("MalformedName", "pod_spec.containers[0].name"),
        ("WrongType", "pod_spec.containers[1]"),
        ("MalformedLabelKey", "labels['-']"),
        ("WrongType", "nodegroups[0]"),
        ("UnknownInstanceType", "instance_types[0]"),
        ("WrongType", "pod_spec.affinity"),
    ]


def test_what_nobody_reads_stays_tokens_and_objects_too():
    value = Untouchable()
    spec = pod(
        box("main", image=TOKEN, resources=GPUS, env=[{"name": "A", "value": TOKEN}]),
        hostNetwork=True,
        priority=NUMBER_TOKEN,
        custom={"a": [value]},
    )

    for made in (
        hide_gpus(spec),
        same_nvlink_partition(spec, labels=JOB),
        compute_domain_claim(spec, DOMAIN),
    ):
        assert made["containers"][0]["image"] == TOKEN
        assert made["priority"] == NUMBER_TOKEN
        assert made["custom"]["a"][0] is value


def test_pods_of_a_job_are_required_in_one_partition():
    made = same_nvlink_partition(pod(box("main")), labels=JOB)

    assert made["affinity"] == {
        "podAffinity": {
            REQUIRED: [
                {
                    "labelSelector": {"matchLabels": JOB},
                    "topologyKey": "nvidia.com/gpu.clique",
                }
            ]
        }
    }


def test_nodes_can_be_of_named_groups_and_types():
    made = same_nvlink_partition(
        pod(box("main")), labels=JOB, nodegroups=["rack-a", "rack-b"], instance_types=(P6E,)
    )

    assert made["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"] == [
        {
            "matchExpressions": [
                {
                    "key": "eks-devices/nodegroup",
                    "operator": "In",
                    "values": ["rack-a", "rack-b"],
                },
                {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": [P6E]},
            ]
        }
    ]


ZONE = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}
SPOT = {"key": "eks.amazonaws.com/capacityType", "operator": "NotIn", "values": ["SPOT"]}
GROUP = {"key": "eks-devices/nodegroup", "operator": "In", "values": ["rack"]}
NAME = {"key": "metadata.name", "operator": "In", "values": ["node-1"]}


def test_each_alternative_that_there_is_gets_the_requirement_and_nothing_is_lost():
    affinity: Any = {
        "nodeAffinity": {
            REQUIRED: {
                "nodeSelectorTerms": [
                    {"matchExpressions": [ZONE]},
                    {"matchExpressions": [SPOT, GROUP]},
                    {"matchFields": [NAME]},
                ]
            },
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {}}],
        },
        "podAffinity": {REQUIRED: [{"topologyKey": "kubernetes.io/hostname"}]},
        "podAntiAffinity": {REQUIRED: [{"topologyKey": "kubernetes.io/hostname"}]},
    }
    spec = pod(box("main"), affinity=affinity)

    made = same_nvlink_partition(spec, labels=JOB, nodegroups=["rack"])["affinity"]

    assert made["nodeAffinity"][REQUIRED]["nodeSelectorTerms"] == [
        {"matchExpressions": [ZONE, GROUP]},
        {"matchExpressions": [SPOT, GROUP]},
        {"matchFields": [NAME], "matchExpressions": [GROUP]},
    ]
    assert [one["topologyKey"] for one in made["podAffinity"][REQUIRED]] == [
        "kubernetes.io/hostname",
        "nvidia.com/gpu.clique",
    ]
    assert made["podAntiAffinity"] == affinity["podAntiAffinity"]
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    assert made["nodeAffinity"][preferred] == affinity["nodeAffinity"][preferred]


@pytest.mark.parametrize("empty", [{}, {"matchExpressions": []}, {"matchFields": None}])
def test_an_alternative_that_means_no_node_goes_on_meaning_none(empty):
    terms = [empty, {"matchExpressions": [ZONE]}]
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}

    made = same_nvlink_partition(
        pod(box("main"), affinity=affinity), labels=JOB, nodegroups=["rack"]
    )

    assert made["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"] == [
        empty,
        {"matchExpressions": [ZONE, GROUP]},
    ]


@pytest.mark.parametrize(
    "affinity",
    [None, {}, {"nodeAffinity": None, "podAffinity": None}, {"nodeAffinity": {REQUIRED: None}}],
)
def test_an_affinity_that_says_nothing_is_as_good_as_none(affinity):
    made = same_nvlink_partition(
        pod(box("main"), affinity=affinity), labels=JOB, nodegroups=["rack"]
    )

    terms = made["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
    assert terms == [{"matchExpressions": [GROUP]}]


def test_alternatives_share_no_part_so_that_each_can_be_changed():
    terms = [{"matchExpressions": [ZONE]}, {"matchExpressions": [SPOT]}]
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}
    made = same_nvlink_partition(
        pod(box("main"), affinity=affinity), labels=JOB, nodegroups=["rack"]
    )

    first, second = made["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
    first["matchExpressions"][1]["values"].append("other")

    assert second["matchExpressions"][1] == GROUP


@pytest.mark.parametrize(
    ("affinity", "path"),
    [
        ([], "affinity"),
        (Hostile(), "affinity"),
        ({"podAffinity": []}, "affinity.podAffinity"),
        ({"podAffinity": {REQUIRED: {}}}, f"affinity.podAffinity.{REQUIRED}"),
        ({"nodeAffinity": "x"}, "affinity.nodeAffinity"),
        ({"nodeAffinity": {REQUIRED: []}}, f"affinity.nodeAffinity.{REQUIRED}"),
        (
            {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": {}}}},
            f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms",
        ),
        (
            {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [5]}}},
            f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0]",
        ),
        (
            {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": {}}]}}},
            f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions",
        ),
    ],
)
def test_an_affinity_of_another_type_is_a_fault(affinity, path):
    spec = pod(box("main"), affinity=affinity)

    assert codes(same_nvlink_partition, spec, labels=JOB, nodegroups=["rack"]) == [
        ("WrongType", f"pod_spec.{path}")
    ]


def test_terms_that_cannot_be_compared_stay_beside_the_new_one():
    odd = {"topologyKey": Hostile(), "labelSelector": {"matchLabels": Hostile()}}
    spec = pod(box("main"), affinity={"podAffinity": {REQUIRED: [odd]}})

    made = same_nvlink_partition(spec, labels=JOB)["affinity"]["podAffinity"][REQUIRED]

    assert len(made) == 2
    assert made[0]["topologyKey"] is odd["topologyKey"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"labels": {}}, ("NoLabels", "labels")),
        ({"labels": None}, ("WrongType", "labels")),
        ({"labels": ["a"]}, ("WrongType", "labels")),
        ({"labels": HostileMapping()}, ("WrongType", "labels")),
        ({"labels": {"a": Hostile()}}, ("WrongType", "labels['a']")),
        ({"labels": {"a": "b c"}}, ("MalformedLabelValue", "labels['a']")),
        ({"labels": {"a": TOKEN}}, ("TokenNotAllowed", "labels['a']")),
        ({"nodegroups": "rack"}, ("WrongType", "nodegroups")),
        ({"nodegroups": {"rack"}}, ("WrongType", "nodegroups")),
        ({"nodegroups": HostileList(["a"])}, ("WrongType", "nodegroups")),
        ({"nodegroups": [""]}, ("MalformedLabelValue", "nodegroups[0]")),
        ({"nodegroups": ["a", "b/c"]}, ("MalformedLabelValue", "nodegroups[1]")),
        ({"instance_types": P6E}, ("WrongType", "instance_types")),
        ({"instance_types": [P6E, "p6e.large"]}, ("UnknownInstanceType", "instance_types[1]")),
        (
            {"instance_types": ["p5.48xlarge"]},
            ("ComputeDomainNeedsNvlinkDomain", "instance_types[0]"),
        ),
    ],
)
def test_what_cannot_select_pods_or_nodes_is_a_fault(options, code):
    assert codes(same_nvlink_partition, pod(box("main")), **{"labels": JOB, **options}) == [code]


def test_a_pod_joins_a_domain_by_its_channel():
    made = compute_domain_claim(
        pod(box("main", resources=GPUS), box("logs"), initContainers=[box("i", resources=GPUS)]),
        DOMAIN,
    )

    assert made["resourceClaims"] == [CLAIM]
    assert made["containers"][0]["resources"] == GPUS | {"claims": [{"name": CLAIM["name"]}]}
    assert claiming(made, CLAIM["name"]) == ["main"]


def test_containers_with_claims_use_the_channel_beside_them():
    main = box("main", resources={"claims": [{"name": "gpus"}]})
    gpus = {"name": "gpus", "resourceClaimTemplateName": "four-gpus"}

    made = compute_domain_claim(pod(main, box("logs"), resourceClaims=[gpus]), DOMAIN)

    assert made["resourceClaims"] == [gpus, CLAIM]
    assert made["containers"][0]["resources"]["claims"] == [
        {"name": "gpus"},
        {"name": CLAIM["name"]},
    ]


def test_named_containers_use_the_channel_whatever_they_ask_for():
    spec = pod(box("main", resources=GPUS), box("agent"), initContainers=[box("probe")])

    made = compute_domain_claim(spec, DOMAIN, containers=["agent", "probe"])

    assert claiming(made, CLAIM["name"]) == ["probe", "agent"]


def test_a_claim_of_the_same_template_by_another_name_is_used():
    mine = {"name": "imex", "resourceClaimTemplateName": "trainer-channel"}

    made = compute_domain_claim(pod(box("main", resources=GPUS), resourceClaims=[mine]), DOMAIN)

    assert made["resourceClaims"] == [mine]
    assert claiming(made, "imex") == ["main"]


def test_a_container_that_lists_the_channel_with_its_request_stays():
    listed = {"claims": [{"name": CLAIM["name"], "request": "channel"}], **GPUS}
    spec = pod(box("main", resources=listed), resourceClaims=[CLAIM])

    assert compute_domain_claim(spec, DOMAIN) == {**spec, "tolerations": [TOLERATION]}


@pytest.mark.parametrize("tolerations", [[TOLERATION], [{"operator": "Exists"}]])
def test_a_pod_of_a_domain_tolerates_the_taint_of_gpus_once(tolerations):
    spec = pod(box("main", resources=GPUS), tolerations=tolerations)

    assert compute_domain_claim(spec, DOMAIN)["tolerations"] == tolerations


def test_a_pod_of_a_domain_with_other_tolerations_gets_that_of_gpus_beside_them():
    other = {"key": "aws.amazon.com/neuron", "operator": "Exists"}
    made = compute_domain_claim(pod(box("main", resources=GPUS), tolerations=[other]), DOMAIN)

    assert made["tolerations"] == [other, TOLERATION]


@pytest.mark.parametrize(
    "change", [hide_gpus, lambda spec: compute_domain_claim(spec, DOMAIN)], ids=["hide", "join"]
)
@pytest.mark.parametrize("limit", [None, 4])
def test_the_api_server_takes_no_request_for_gpus_without_an_equal_limit(change, limit):
    limits = {} if limit is None else {"nvidia.com/gpu": limit}
    asking = {"limits": limits, "requests": {"nvidia.com/gpu": 8}}

    assert codes(change, pod(box("main", resources=asking))) == [
        ("RequestNotEqualToLimit", "pod_spec.containers[0].resources.requests['nvidia.com/gpu']")
    ]


def test_a_request_for_a_class_needs_no_limit():
    """Kubernetes counts its names among its own, which may be limited higher, or not at all."""
    asking = {"requests": {"deviceclass.resource.kubernetes.io/gpu.nvidia.com": 1}}

    assert hidden(hide_gpus(pod(box("main", resources=asking)))) == []


@pytest.mark.parametrize(
    ("given_", "told"),
    [
        ("train", '["train"]'),
        (HostileText("train"), '["train"]'),
        ('a"b', '["main"]'),
        ("a" * 200, '["main"]'),
        ("", '["main"]'),
        ({"train": 1}, '["main"]'),
        (Hostile(), '["main"]'),
    ],
)
def test_a_name_that_is_no_list_is_told_as_one(given_, told):
    (fault,) = faults_of(hide_gpus, pod(box("main")), containers=given_)

    assert (fault.code, fault.fix) == ("WrongType", f"write containers={told}")


def test_a_group_that_is_no_list_is_told_as_one():
    (fault,) = faults_of(same_nvlink_partition, pod(box("main")), labels=JOB, nodegroups="rack")

    assert fault.fix == 'write nodegroups=["rack"]'


def test_a_pod_joins_one_domain_only():
    joined = compute_domain_claim(pod(box("main", resources=GPUS)), DOMAIN)

    (fault,) = faults_of(compute_domain_claim, joined, ComputeDomain(name="other"))

    assert (fault.code, fault.path) == ("ClaimNameTaken", "pod_spec.resourceClaims[0]")
    assert fault.got == "'trainer-channel'"


def test_without_gpus_nobody_knows_who_uses_the_channel():
    (fault,) = faults_of(compute_domain_claim, pod(box("a"), box("b")), DOMAIN)

    assert (fault.code, fault.path) == ("NoContainerWithGpus", "pod_spec.containers")
    assert fault.got == "['a', 'b']"


@pytest.mark.parametrize(
    "domain", [None, "trainer", DOMAIN.to_dict(kubernetes_version="1.34"), Hostile()]
)
def test_a_domain_of_another_type_is_a_fault(domain):
    spec = pod(box("main", resources=GPUS))

    assert codes(compute_domain_claim, spec, domain) == [("WrongType", "domain")]


@pytest.mark.parametrize(
    ("claims", "path"),
    [({}, "resourceClaims"), (["a"], "resourceClaims[0]"), (Hostile(), "resourceClaims")],
)
def test_claims_of_another_type_are_faults(claims, path):
    spec = pod(box("main", resources=GPUS), resourceClaims=claims)

    assert codes(compute_domain_claim, spec, DOMAIN) == [("WrongType", f"pod_spec.{path}")]


RESOURCES = st.sampled_from(
    [
        None,
        {},
        GPUS,
        {"claims": [{"name": "gpus"}]},
        {"limits": {"cpu": "1"}},
        {"limits": {"nvidia.com/mig-1g.10gb": 1}, "claims": [{"name": CLAIM["name"]}]},
    ]
)
ENVIRONMENTS = st.sampled_from([None, [], [{"name": "A", "value": "1"}], [VOID], [ALL]])
AFFINITIES = st.sampled_from(
    [
        None,
        {},
        {"podAffinity": {REQUIRED: [{"topologyKey": "zone"}]}},
        {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [ZONE]}, {}]}}},
    ]
)


def boxes(names: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    one = st.fixed_dictionaries(
        {"name": st.sampled_from(names)}, optional={"resources": RESOURCES, "env": ENVIRONMENTS}
    )
    return st.lists(one, min_size=1, max_size=4, unique_by=lambda one: one["name"])


SPECS = st.fixed_dictionaries(
    {"containers": boxes("abcd")},
    optional={
        "initContainers": st.none() | boxes("efgh"),
        "affinity": AFFINITIES,
        "resourceClaims": st.sampled_from([None, [], [CLAIM], [{"name": "gpus"}]]),
        "tolerations": st.just([{"operator": "Exists"}]),
    },
)
CHANGES = {
    "hide_gpus": hide_gpus,
    "same_nvlink_partition": lambda spec: same_nvlink_partition(
        spec, labels=JOB, nodegroups=["rack"], instance_types=[P6E]
    ),
    "compute_domain_claim": lambda spec: compute_domain_claim(
        spec, DOMAIN, containers=[spec["containers"][0]["name"]]
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@given(spec=SPECS)
@settings(max_examples=60, deadline=None)
def test_the_input_stays_and_a_second_call_changes_nothing(change, spec):
    before = copy.deepcopy(spec)

    made = change(spec)

    assert spec == before
    assert change(made) == made
    json.dumps(made)
    # What a caller changes in the result does not reach the input either.
    made["containers"][0]["name"] = "changed"
    assert spec == before


@given(spec=SPECS)
@settings(max_examples=60, deadline=None)
def test_the_changes_do_not_depend_on_their_order_where_they_do_not_meet(spec):
    hide, partition = CHANGES["hide_gpus"], CHANGES["same_nvlink_partition"]

    assert hide(partition(spec)) == partition(hide(spec))


@given(spec=SPECS)
@settings(max_examples=60, deadline=None)
def test_nothing_of_a_pod_spec_is_lost(spec):
    made = CHANGES["same_nvlink_partition"](CHANGES["hide_gpus"](spec))

    assert made["containers"] is not None
    for field in ("tolerations", "resourceClaims"):
        assert made.get(field) == spec.get(field)
    for old, new in zip(spec["containers"], made["containers"], strict=True):
        assert {key: new[key] for key in old if key != "env"} == {
            key: old[key] for key in old if key != "env"
        }
        assert (new.get("env") or [])[: len(old.get("env") or [])] == (old.get("env") or [])
