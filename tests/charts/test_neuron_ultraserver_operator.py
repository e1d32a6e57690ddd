"""Neuron's UltraServer operator: when it comes, what it is made of, and what its policy guards."""

from __future__ import annotations

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from eks_device_charts import ImageSource, device_manifests
from eks_device_charts.manifests.bundles import bundles
from eks_device_charts.manifests.installation import Installation
from eks_devices import Component, FailureStrategy, plan_cluster, ultraserver_workload

from .conftest import BLOCK, DRA, IMAGES, NEURON, OPERATED, PLUGIN, spec
from .test_policies import answer
from .test_schemas import schema_of

ASKED, PLAIN = "neuron-ultraservers", "neuron-dra"
NAME, SPACE = "neuron-ultraserver-operator", "neuron-dra-driver"
SERVERS, WORKLOADS = (
    "neuronultraservers.neuron.aws.com",
    "neuronultraserverworkloads.neuron.aws.com",
)
POLICY, LABEL = "protect-capacity-block-id-label", "topology.k8s.aws/capacity-block-id"
CLOUD_CONTROLLER = "eks:cloud-controller-manager"


def names(items: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(one["kind"], one["metadata"]["name"]) for one in items}


def trn2(name: str = "trn2", **options: Any) -> Any:
    return spec(name, "trn2.48xlarge", capacity=BLOCK, **options)


def plan(*groups: Any, **options: Any) -> Any:
    return plan_cluster(kubernetes_version="1.36", nodegroups=groups, neuron=OPERATED, **options)


# --- when it comes ---


def test_it_comes_with_the_driver_where_somebody_asks(manifests):
    added = names(manifests(ASKED)) - names(manifests(PLAIN))

    assert added == {
        ("CustomResourceDefinition", SERVERS),
        ("CustomResourceDefinition", WORKLOADS),
        ("ServiceAccount", NAME),
        ("ClusterRole", f"{NAME}-clusterrole"),
        ("ClusterRoleBinding", f"{NAME}-binding"),
        ("Role", NAME),
        ("RoleBinding", NAME),
        ("ClusterRole", "neuron-dra-driver-ultraservers"),
        ("ClusterRoleBinding", "neuron-dra-driver-ultraservers"),
        ("ValidatingAdmissionPolicy", POLICY),
        ("ValidatingAdmissionPolicyBinding", POLICY),
        ("Deployment", NAME),
    }


def test_nothing_of_the_driver_itself_changes(manifests):
    before = {json.dumps(one, sort_keys=True) for one in manifests(PLAIN)}

    assert before <= {json.dumps(one, sort_keys=True) for one in manifests(ASKED)}


def test_a_fleet_has_it_once_whatever_its_groups():
    groups = [
        trn2("dra", mechanism=DRA),
        trn2("too", mechanism=DRA),
        trn2("plugin", mechanism=PLUGIN),
        trn2("lab", mechanism=DRA, scope="lab"),
    ]

    alone, together = (
        [
            one
            for one in device_manifests(plan(*some), images=IMAGES)
            if "ultraserver" in json.dumps(one["metadata"]) or one["metadata"]["name"] == POLICY
        ]
        for some in (groups[:1], groups)
    )

    assert alone == together
    assert len(names(together)) == len(together) == 12


def of_operator(driver: Any, installation: Installation) -> list[Any]:
    return [
        one
        for one in bundles(driver, installation)
        if "ultraserver" in one.name and not one.name.startswith("neuron-dra-default")
    ]


def test_the_default_installation_alone_holds_it():
    found = plan(trn2(mechanism=DRA), trn2("lab", mechanism=DRA, scope="lab"))
    installation = Installation.of(found, IMAGES)

    drawn = {
        driver.owner: bool(of_operator(driver, installation))
        for driver in found.drivers
        if (driver.device_type, driver.mechanism) == (NEURON, DRA)
    }

    assert sorted(drawn.values()) == [False, True]
    assert drawn["default"]


def test_its_custom_resources_stand_alone_and_stay():
    """Users have workloads of these kinds."""
    found = plan(keep={NEURON: (DRA,)})
    installation = Installation.of(found, IMAGES)
    (driver,) = found.drivers
    *crds, operator = of_operator(driver, installation)

    assert [(one.name, one.retain, len(one.objects)) for one in crds] == [
        (f"CustomResourceDefinition-{name}", True, 1) for name in (SERVERS, WORKLOADS)
    ]
    assert (operator.name, operator.retain) == ("neuron-dra-ultraserver-operator", False)
    assert set(operator.needs) == {f"Namespace-{SPACE}", *(one.name for one in crds)}
    assert bundles(driver, installation)[-1].needs[-1:] == (operator.name,)


# --- how it runs ---


@pytest.fixture
def pod(find):
    return find("Deployment", ASKED, name=NAME)["spec"]["template"]["spec"]


def test_probes_ask_the_port_that_it_serves_its_health_on(pod):
    (container,) = pod["containers"]
    ports = {one["name"]: one["containerPort"] for one in container["ports"]}

    for probe in ("livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["port"] == "health"
    assert f"--health-probe-bind-address=:{ports['health']}" in container["command"]
    assert f"--metrics-bind-address=:{ports['metrics']}" in container["command"]


def test_one_of_them_leads_at_a_time(find, pod):
    (container,) = pod["containers"]
    (rule,) = find("Role", ASKED)["rules"]

    assert "--leader-elect=true" in container["command"]
    assert find("Deployment", ASKED)["spec"]["replicas"] == 1
    assert find("Deployment", ASKED)["metadata"]["namespace"] == SPACE
    assert find("Role", ASKED)["metadata"]["namespace"] == SPACE
    assert (rule["apiGroups"], rule["resources"]) == (["coordination.k8s.io"], ["leases"])
    assert {"get", "create", "update"} <= set(rule["verbs"])


def test_it_is_not_ended_for_what_it_has_to_read(pod):
    (container,) = pod["containers"]

    assert container["resources"]["requests"].keys() == {"cpu", "memory"}
    assert "limits" not in container["resources"]


def test_the_driver_watches_what_the_operator_writes(find):
    binding = find("ClusterRoleBinding", ASKED, name="neuron-dra-driver-ultraservers")
    role = find("ClusterRole", ASKED, name=binding["roleRef"]["name"])
    driver = find("DaemonSet", ASKED)["spec"]["template"]["spec"]["serviceAccountName"]

    assert [one["name"] for one in binding["subjects"]] == [driver]
    assert role["rules"] == [
        {
            "apiGroups": ["neuron.aws.com"],
            "resources": ["neuronultraservers"],
            "verbs": ["get", "list", "watch"],
        }
    ]


def image(source: ImageSource) -> str:
    items = device_manifests(plan(keep={NEURON: (DRA,)}), images=source)
    (found,) = (one for one in items if one["kind"] == "Deployment")
    return str(found["spec"]["template"]["spec"]["containers"][0]["image"])


def test_its_image_can_be_another_one():
    operator, own = Component.NEURON_ULTRASERVER_OPERATOR, "example.com/operator:0.2.0"
    mirrored = ImageSource(registries={"public.ecr.aws": "example.com/mirror"})

    assert image(ImageSource()) == "public.ecr.aws/neuron/neuron-ultraserver-operator:0.1.0"
    assert image(mirrored) == "example.com/mirror/neuron/neuron-ultraserver-operator:0.1.0"
    assert image(ImageSource(overrides={operator: own})) == own


# --- its custom resources ---


@pytest.fixture
def wrong(find):
    """What the schema of the workloads says of one."""
    validator = jsonschema.Draft202012Validator(
        schema_of(find("CustomResourceDefinition", ASKED, name=WORKLOADS))
    )

    def said(value: dict[str, Any]) -> list[str]:
        return [error.json_path for error in validator.iter_errors(value)]

    return said


@pytest.mark.parametrize("strategy", FailureStrategy)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_a_workload_of_the_core_fits(wrong, strategy, size):
    made = ultraserver_workload(
        name="train",
        instance_type="trn3pds.48xlarge",
        server_count=2,
        topology_size=size,
        logical_neuron_cores=1,
        failure_strategy=strategy,
        claim_template="nodes",
    )

    assert wrong(made) == []
    assert wrong(ultraserver_workload(name="a", instance_type="trn3pds.48xlarge")) == []


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"serverCount": 0}, "$.spec.serverCount"),
        ({"topologySize": 5}, "$.spec.topologySize"),
        ({"config": {"logicalNeuronCore": 3}}, "$.spec.config.logicalNeuronCore"),
        ({"resourceClaimTemplate": {}}, "$.spec.resourceClaimTemplate"),
        ({"replicas": 2}, "$.spec"),
    ],
)
def test_a_workload_that_makes_no_sense_does_not_fit(wrong, change, path):
    made = ultraserver_workload(name="train", instance_type="trn3pds.48xlarge")

    assert wrong(made | {"spec": made["spec"] | change}) == [path]


def test_the_version_of_a_workload_is_one_that_is_served(find):
    spec_ = find("CustomResourceDefinition", ASKED, name=WORKLOADS)["spec"]
    made = ultraserver_workload(name="train", instance_type="trn3pds.48xlarge")

    served = {f"{spec_['group']}/{one['name']}" for one in spec_["versions"] if one["served"]}
    assert {made["apiVersion"]} == served
    assert made["kind"] == spec_["names"]["kind"]


# --- its policy ---

LABELS: list[dict[str, str] | None] = [None, {}, {LABEL: ""}, {LABEL: "cr-a"}, {LABEL: "cr-b"}]


def node(labels: dict[str, str] | None) -> dict[str, Any]:
    named = {"name": "node-a"} if labels is None else {"name": "node-a", "labels": labels}
    return {"metadata": named}


def judged(find, user: str, before: Any, after: Any) -> bool | None:
    """What the policy says of an update by a user: None where it does not apply."""
    spec_ = find("ValidatingAdmissionPolicy", ASKED, name=POLICY)["spec"]
    data = {"request": {"userInfo": {"username": user}}, "variables": {}}
    data |= {"object": node(after), "oldObject": node(before)}
    if not all(answer(one["expression"], **data) for one in spec_["matchConditions"]):
        return None
    return all(answer(one["expression"], **data) for one in spec_["validations"])


@pytest.mark.parametrize("user", ["system:node:node-a", "admin", f"x{CLOUD_CONTROLLER}", "eks"])
def test_nobody_else_adds_changes_or_removes_the_label(find, user):
    for before in LABELS:
        for after in LABELS:
            same = (before or {}).get(LABEL) == (after or {}).get(LABEL)
            assert judged(find, user, before, after) is same


@pytest.mark.parametrize("user", [CLOUD_CONTROLLER, "eks:node-manager"])
def test_eks_labels_nodes_after_they_joined(find, user):
    for after in LABELS:
        assert judged(find, user, {}, after) is None


def test_other_labels_are_anybodys(find):
    assert judged(find, "admin", {"a": "b", LABEL: "cr-a"}, {LABEL: "cr-a", "c": "d"}) is True


def test_nodes_that_join_bring_their_labels_and_a_status_changes_none(find):
    spec_ = find("ValidatingAdmissionPolicy", ASKED, name=POLICY)["spec"]
    binding = find("ValidatingAdmissionPolicyBinding", ASKED, name=POLICY)["spec"]

    assert spec_["failurePolicy"] == "Fail"
    assert spec_["matchConstraints"]["resourceRules"] == [
        {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "operations": ["UPDATE"],
            "resources": ["nodes", "nodes/status"],
        }
    ]
    assert binding == {"policyName": POLICY, "validationActions": ["Deny"]}
