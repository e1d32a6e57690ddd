"""What watches Neuron devices: its objects, its rules, and the nodes that it lands on."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import cdk8s
import kubernetes_validate
import pytest

from eks_device_charts import ImageSource, device_charts, device_manifests
from eks_device_charts.manifests.bundles import health_bundles, namespace_bundle
from eks_device_charts.manifests.neuron_health import (
    NAMESPACE,
    health_objects,
    kernel_monitor,
)
from eks_devices import (
    ClusterPlan,
    Component,
    DeviceType,
    NeuronError,
    NeuronHealth,
    NeuronInstallation,
    NodegroupSpec,
    OperatingSystem,
    plan_cluster,
    plan_nodegroup,
)

from .conftest import BLOCK, DRA, PLUGIN, spec
from .test_placement import COMPUTE_TYPE, lands
from .test_privileges import of_containers, of_hosts

Object = dict[str, Any]
IMAGES = ImageSource()
HEALTHS = {
    "watched": NeuronHealth(),
    "counted": NeuronHealth(cloudwatch_metrics=True),
    "recovered": NeuronHealth(recovery=True),
    "recovered-from-dma": NeuronHealth(recovery=True, recovers_from=[NeuronError.DMA]),
}
NEURON_GROUPS = [
    spec("trn2", "trn2.48xlarge", capacity=BLOCK),
    spec("trn2-plugin", "trn2.48xlarge", mechanism=PLUGIN),
    spec("trn1", "trn1.32xlarge", mechanism=DRA),
    spec("inf2", "inf2.48xlarge"),
    spec("inf1", "inf1.24xlarge"),
    spec("scoped", "trn2.48xlarge", scope="lab"),
    spec("foreign", "trn2.48xlarge", mechanism=PLUGIN, external={DeviceType.NEURON}),
    spec("bottlerocket", "trn2.48xlarge", operating_system=OperatingSystem.BOTTLEROCKET),
]
OTHER_GROUPS = [
    spec("p5", "p5.48xlarge"),
    spec("g6e", "g6e.12xlarge", mechanism=PLUGIN),
    spec("p6e", "p6e-gb200.36xlarge", capacity=BLOCK),
    spec("hpc7a", "hpc7a.96xlarge", efa=True),
]


def objects(health: NeuronHealth | str = "watched", images: ImageSource = IMAGES) -> list[Object]:
    given = HEALTHS[health] if isinstance(health, str) else health
    return health_objects(given, images)


def of_kind(kind: str, items: list[Object]) -> Object:
    (found,) = (one for one in items if one["kind"] == kind)
    return found


def containers(*what: Any) -> dict[str, Object]:
    pod = of_kind("DaemonSet", objects(*what))["spec"]["template"]["spec"]
    return {one["name"]: one for one in pod["containers"]}


def labels_of(group: NodegroupSpec) -> dict[str, str]:
    return dict(plan_nodegroup(group, kubernetes_version="1.34").labels)


@pytest.mark.parametrize("health", HEALTHS)
def test_every_object_fits_its_schema(health, version):
    for item in objects(health):
        kubernetes_validate.validate(item, version, strict=True)


def test_the_namespace_comes_first_and_takes_privileged_pods():
    first, *others = objects()

    assert first["kind"] == "Namespace"
    assert first["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
    name = first["metadata"]["name"]
    assert {one["metadata"].get("namespace", name) for one in others} == {name}
    assert namespace_bundle(name).objects == [first]


@pytest.mark.parametrize("group", NEURON_GROUPS, ids=lambda one: one.name)
def test_it_lands_on_nodes_with_neuron_devices(group):
    daemons, labels = of_kind("DaemonSet", objects()), labels_of(group)

    assert lands(daemons, labels)
    for foreign in ("auto", "fargate", "hybrid"):
        assert not lands(daemons, labels | {COMPUTE_TYPE: foreign})


@pytest.mark.parametrize("group", OTHER_GROUPS, ids=lambda one: one.name)
def test_it_lands_on_no_other_node(group):
    daemons = of_kind("DaemonSet", objects())

    assert not lands(daemons, labels_of(group))
    assert not lands(daemons, {"eks-devices/nodegroup": "system"})
    assert not lands(daemons, {})


def test_taints_keep_it_off_nowhere_and_pods_with_work_do_not_drive_it_away():
    pod = of_kind("DaemonSet", objects())["spec"]["template"]["spec"]

    assert pod["tolerations"] == [{"operator": "Exists"}]
    assert pod["priorityClassName"] == "system-node-critical"


def test_the_same_objects_watch_both_mechanisms(manifests):
    ours = {(one["kind"], one["metadata"]["name"]) for one in objects()}

    for mechanism in ("neuron-dra", "neuron-device-plugin"):
        names = {(one["kind"], one["metadata"]["name"]) for one in manifests(mechanism)}
        assert not ours & names


def test_privileges_are_these():
    watched = {"node-problem-detector/node-problem-detector": ["privileged=True"]}
    watched["node-problem-detector/node-problem-detector"].append("readOnlyRootFilesystem=True")
    recovering = [
        "RuntimeDefault",
        "allowPrivilegeEscalation=False",
        "drop ALL",
        "readOnlyRootFilesystem=True",
    ]

    assert of_containers(objects()) == watched
    assert of_containers(objects("recovered")) == watched | {
        "node-problem-detector/node-recovery": recovering
    }
    for health in HEALTHS:
        pods = of_kind("DaemonSet", objects(health))
        pods["spec"]["template"]["spec"]["volumes"] = [
            {"hostPath": {"path": one["name"]}, **one}
            for one in pods["spec"]["template"]["spec"]["volumes"]
        ]
        assert of_hosts([pods]) == {"node-problem-detector": ["/dev/kmsg ro", "config ro"]}


def test_the_account_has_the_role_of_every_cluster_and_may_change_its_own_node_only():
    items = objects("recovered")
    binding = of_kind("ClusterRoleBinding", items)
    account = of_kind("ServiceAccount", items)["metadata"]
    policy = of_kind("ValidatingAdmissionPolicy", items)

    assert binding["roleRef"]["name"] == "system:node-problem-detector"
    assert [(one["namespace"], one["name"]) for one in binding["subjects"]] == [
        (account["namespace"], account["name"])
    ]
    (condition,) = policy["spec"]["matchConditions"]
    assert f"{account['namespace']}:{account['name']}'" in condition["expression"]
    bound = of_kind("ValidatingAdmissionPolicyBinding", items)["spec"]
    assert bound == {"policyName": policy["metadata"]["name"], "validationActions": ["Deny"]}


def test_nothing_recovers_unless_asked():
    assert containers().keys() == {"node-problem-detector"}
    counted, recovered = (containers(one)["node-recovery"] for one in ("counted", "recovered"))

    assert {"name": "ENABLE_RECOVERY", "value": "false"} in counted["env"]
    assert {"name": "ENABLE_RECOVERY", "value": "true"} in recovered["env"]


def test_recovery_heeds_the_reasons_that_the_rules_give():
    reasons = {one["reason"] for one in kernel_monitor()["rules"]}
    command = containers("recovered")["node-recovery"]["command"]

    assert command[:4] == ["/scripts/check-health.py", "--startup-delay", "60", "--counters"]
    assert set(command[4:]) == reasons
    assert containers("recovered-from-dma")["node-recovery"]["command"][4:] == [
        "NeuronHasError_DMA_ERROR"
    ]


def test_the_probes_ask_a_server_that_the_pod_serves_to_the_kubelet():
    detector = containers()["node-problem-detector"]

    ports = {one["name"]: one["containerPort"] for one in detector["ports"]}
    assert ports == {"metrics": 20257}
    for probe in ("startupProbe", "livenessProbe"):
        assert detector[probe]["httpGet"] == {"path": "/metrics", "port": "metrics"}
    # Its own default is the loopback address, where no kubelet asks.
    assert "--prometheus-address=" in detector["command"]
    startup = detector["startupProbe"]
    assert startup["periodSeconds"] * startup["failureThreshold"] > 300


def test_new_rules_start_new_pods(monkeypatch):
    def annotations() -> Object:
        template = of_kind("DaemonSet", objects())["spec"]["template"]
        return dict(template["metadata"]["annotations"])

    before = annotations()
    changed = copy.deepcopy(kernel_monitor()) | {"bufferSize": 11}
    monkeypatch.setattr("eks_device_charts.manifests.neuron_health.kernel_monitor", lambda: changed)

    assert annotations().keys() == before.keys()
    assert annotations() != before


def test_the_file_of_rules_is_the_one_that_is_read():
    items = objects()
    config, pod = of_kind("ConfigMap", items), of_kind("DaemonSet", items)
    (file,) = config["data"]
    detector = pod["spec"]["template"]["spec"]["containers"][0]

    assert json.loads(config["data"][file]) == kernel_monitor()
    assert f"--config.system-log-monitor=/config/{file}" in detector["command"]
    volumes = pod["spec"]["template"]["spec"]["volumes"]
    assert {"name": "config", "configMap": {"name": config["metadata"]["name"]}} in volumes


# As Neuron's documentation shows a message, as its runtime writes one, and as the tests of EKS's
# agent do; the detector sees messages without the time that dmesg puts before them.
TAIL = "instance-id=i-0592464924bd45322 hostname=ip-172-31-61-252 nd-id=0 nc-id=0 action=TERMINATE"
MESSAGES = {
    "documented": "NEURON_HW_ERR={} " + TAIL,
    "with a time": "2026-11-30T10:00:00Z NEURON_HW_ERR={} " + TAIL,
    "of a test": "kernel: NEURON_HW_ERR={} affecting neuron devices",
    "of a device": "neuron0: NEURON_HW_ERR={} device=0",
    "at the end": "neuron:nd0: NEURON_HW_ERR={}",
}
HARMLESS = [
    "neuron:npid_detach: pid=90193, slot=0",
    "NEURON_HW_ERR=",
    "NEURON_HW_ERR=DMA_ERROR_COUNT 0",
    "NEURON_HW_ERR=HBM_CORRECTABLE_ERROR nd-id=0",
    "NEURON_HW_ERR=DMA",
    "XNEURON_HW_ERR=DMA_ERROR nd-id=0",
    "efa 0000:a0:1a.0 rdmap160s26: Failed to process command DEREG_MR (opcode 8)",
    "DMA_ERROR SRAM_UNCORRECTABLE_ERROR",
]


def reasons_for(*lines: str) -> list[str]:
    """The reasons of the rules that match when a line was added to those before it.

    The detector joins its last lines and wants a match that ends with the last one; Go's `\\z` is
    Python's `\\Z`, and both know the rest of the patterns alike.
    """
    size = kernel_monitor()["bufferSize"]
    text = "\n".join([*[""] * (size - len(lines)), *lines])
    rules = kernel_monitor()["rules"]
    return [one["reason"] for one in rules if re.search(one["pattern"] + r"\Z", text)]


@pytest.mark.parametrize("error", NeuronError)
@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_a_message_of_an_error_has_its_reason_alone(error, message):
    line = message.format(error)

    assert reasons_for(line) == [error.condition_reason]
    assert reasons_for("eth0: link up", line) == [error.condition_reason]


@pytest.mark.parametrize("line", HARMLESS)
def test_other_messages_have_none(line):
    assert reasons_for(line) == []


def test_an_error_is_told_once_and_not_with_each_line_that_follows():
    line = MESSAGES["documented"].format(NeuronError.DMA)

    assert reasons_for(line, "eth0: link up") == []


def test_patterns_say_nothing_that_go_reads_otherwise():
    for rule in kernel_monitor()["rules"]:
        assert re.fullmatch(r"\.\*\\bNEURON_HW_ERR=[A-Z_]+\\b\.\*", rule["pattern"])


def test_each_rule_sets_the_condition_that_the_node_begins_with():
    monitor = kernel_monitor()
    (begun,) = monitor["conditions"]

    assert begun["type"] == "NeuronHealth"
    assert {one["condition"] for one in monitor["rules"]} == {begun["type"]}
    assert {one["type"] for one in monitor["rules"]} == {"permanent"}
    assert (monitor["plugin"], monitor["logPath"]) == ("kmsg", "/dev/kmsg")


def test_images_are_rewritten_and_overridden():
    mirror = "123456789012.dkr.ecr.us-east-2.amazonaws.com"
    own = f"{mirror}/recovery:2.0.0"
    images = ImageSource(
        registries={"registry.k8s.io": mirror},
        overrides={Component.NEURON_NODE_RECOVERY: own},
    )

    found = containers("recovered", images)

    detector = found["node-problem-detector"]["image"]
    assert detector.startswith(f"{mirror}/node-problem-detector/node-problem-detector:v")
    assert found["node-recovery"]["image"] == own


def test_bundles_have_the_namespace_alone_and_the_rest_after_it():
    space, rest = health_bundles(HEALTHS["recovered"], IMAGES)

    assert space.retain
    assert rest.needs == (space.name,)
    assert not rest.retain
    assert [*space.objects, *rest.objects] == objects("recovered")
    assert health_bundles(None, IMAGES) == []


def test_the_same_health_is_the_same_text():
    assert objects("recovered") == objects("recovered")
    assert objects("watched") != objects("recovered")


def watched_plan(*groups: NodegroupSpec, health: NeuronHealth | None) -> ClusterPlan:
    return plan_cluster(
        kubernetes_version="1.36", nodegroups=groups, neuron=NeuronInstallation(health=health)
    )


def detectors(items: list[Object]) -> list[str]:
    return [
        one["metadata"]["name"]
        for one in items
        if one["kind"] == "DaemonSet" and one["metadata"]["namespace"] == NAMESPACE
    ]


BOTH = [
    spec("trn1", "trn1.32xlarge", mechanism=DRA, efa=False),
    spec("inf2", "inf2.48xlarge", mechanism=PLUGIN),
]


@pytest.mark.parametrize("groups", [BOTH, BOTH[:1], BOTH[1:], BOTH[::-1]])
def test_a_plan_with_neuron_devices_watches_them_once(groups):
    images = ImageSource(region="us-east-2")
    plan = watched_plan(*groups, health=NeuronHealth())

    assert len(detectors(device_manifests(plan, images=images))) == 1
    made = {
        chart.node.id: chart.to_json()
        for chart in device_charts(cdk8s.App(outdir="unused"), plan, images=images)
    }
    # A manager that joins another moves nothing from one chart to the next.
    assert [name for name, items in made.items() if detectors(items)] == ["neuron-health"]


def test_nothing_is_watched_unless_asked_for_or_without_neuron_devices():
    images = ImageSource(region="us-east-2")
    plain = watched_plan(*BOTH, health=None)
    gpus = watched_plan(spec("g6e", "g6e.12xlarge"), health=NeuronHealth())

    assert detectors(device_manifests(plain, images=images)) == []
    assert detectors(device_manifests(gpus, images=images)) == []
