"""Where Pods land: on each node exactly the one manager of each of its devices."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eks_device_charts import ImageSource, device_manifests
from eks_devices import (
    Capacity,
    ClaimWebhook,
    DeviceType,
    GpuDriver,
    GpuSharing,
    Mechanism,
    Mig,
    MigStrategy,
    NeuronInstallation,
    NodegroupSpec,
    NvidiaInstallation,
    OperatingSystem,
    plan_cluster,
)
from eks_devices.system_nodes import SystemNodegroupOptions, system_nodegroup_plan

DRA, PLUGIN = Mechanism.DRA, Mechanism.DEVICE_PLUGIN
BLOCK = Capacity.block("cr-0123456789abcdef0")
INSTANCE = "app.kubernetes.io/instance"
COMPUTE_TYPE = "eks.amazonaws.com/compute-type"
# The device type and mechanism that a DaemonSet is for, by the name in its labels.
SERVES = {
    "aws-dranet": ("efa", "dra"),
    "dra-driver-nvidia-gpu-compute-domain-plugin": ("compute-domain", "dra"),
    "dra-driver-nvidia-gpu-kubelet-plugin": ("gpu", "dra"),
    "efa-aws-efa-k8s-device-plugin": ("efa", "device-plugin"),
    "neuron-device-plugin": ("neuron", "device-plugin"),
    "neuron-dra-driver-kubelet-plugin": ("neuron", "dra"),
    "nvdp-nvidia-device-plugin": ("gpu", "device-plugin"),
}


def allows(expression, labels):
    key, operator = expression["key"], expression["operator"]
    value = labels.get(key)
    if operator == "In":
        return value in expression["values"]
    if operator == "NotIn":
        return value not in expression["values"]
    assert operator == "DoesNotExist"
    return value is None


def lands(workload, labels):
    """Whether a node's labels are what a workload asks of them."""
    affinity = workload["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    assert list(affinity) == ["requiredDuringSchedulingIgnoredDuringExecution"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert list(term) == ["matchExpressions"]
    return all(allows(one, labels) for one in term["matchExpressions"])


def of_kind(items, kind):
    return [item for item in items if item["kind"] == kind]


def served(items, labels):
    """The (device, mechanism, owner) of each DaemonSet that lands on a node."""
    return sorted(
        (*SERVES[labels_of(one)["app.kubernetes.io/name"]], labels_of(one)[INSTANCE])
        for one in of_kind(items, "DaemonSet")
        if lands(one, labels)
    )


def labels_of(item):
    return item["metadata"]["labels"]


def expected(group):
    """What serves a node, by its plan; the host's and other makers' managers are not ours."""
    return sorted(
        (str(one.device_type), str(one.mechanism), one.owner)
        for one in group.devices
        if one.owner not in ("host", "external")
    )


GATED = GpuDriver(feature_gates={"TimeSlicingSettings": True})
CUT = Mig.uniform("1g.10gb")
BY_PROFILE = Mig.uniform("1g.10gb", strategy=MigStrategy.MIXED)


def group_options(version):
    gpu, efa = DeviceType.GPU, DeviceType.EFA
    sharing = [GpuSharing.time_slicing(replicas=count) for count in (2, 4)]
    return [
        {"instance_type": "trn2.48xlarge", "capacity": BLOCK},
        {"instance_type": "trn2.48xlarge", "mechanism": PLUGIN},
        {"instance_type": "trn2.48xlarge", "mechanism": {efa: PLUGIN}},
        {"instance_type": "inf2.48xlarge"},
        {"instance_type": "p5.48xlarge"},
        {"instance_type": "p5.48xlarge", "mechanism": {gpu: PLUGIN, efa: DRA}},
        {"instance_type": "p5.48xlarge", "mechanism": {gpu: DRA, efa: PLUGIN}},
        {"instance_type": "p5.48xlarge", "mechanism": {gpu: DRA}, "external": {gpu}},
        {"instance_type": "p6e-gb200.36xlarge", "capacity": BLOCK},
        {"instance_type": "p6e-gb200.36xlarge", "capacity": BLOCK, "mechanism": {gpu: PLUGIN}},
        {"instance_type": "g6e.12xlarge", "mechanism": PLUGIN},
        {"instance_type": "g6e.12xlarge", "mechanism": PLUGIN, "gpu_sharing": sharing[0]},
        {"instance_type": "g6e.12xlarge", "mechanism": PLUGIN, "gpu_sharing": sharing[1]},
        {"instance_type": "g6e.12xlarge", "gpu_driver": GATED},
        {"instance_type": "p5.48xlarge", "mechanism": PLUGIN, "mig": CUT},
        {"instance_type": "p5.48xlarge", "mechanism": PLUGIN, "mig": BY_PROFILE},
        {"instance_type": "p5.48xlarge", "mechanism": DRA, "mig": CUT},
        *([] if version == "1.34" else [{"instance_type": "p5.48xlarge", "mig": Mig.dynamic()}]),
        {"instance_type": "hpc7a.96xlarge", "efa": True},
        {"instance_type": "hpc7a.96xlarge", "efa": True, "mechanism": PLUGIN},
    ]


def fleets(version):
    group = st.builds(
        lambda name, options, scope: NodegroupSpec(name=name, max_size=1, scope=scope, **options),
        st.text("abc", min_size=1, max_size=4),
        st.sampled_from(group_options(version)),
        st.sampled_from([None, None, "lab", "shop"]),
    )
    fleet = st.lists(group, min_size=1, max_size=6, unique_by=lambda one: one.name)
    return st.tuples(fleet, st.just(version))


EVERY_MANAGER = {
    DeviceType.NEURON: (DRA, PLUGIN),
    DeviceType.GPU: (DRA, PLUGIN),
    DeviceType.COMPUTE_DOMAIN: (DRA,),
    DeviceType.EFA: (DRA, PLUGIN),
}


@given(st.sampled_from(["1.34", "1.36"]).flatmap(fleets))
@settings(max_examples=80, deadline=None)
def test_each_device_of_each_node_has_exactly_its_manager(fleet_on_version):
    fleet, version = fleet_on_version
    plan = plan_cluster(kubernetes_version=version, nodegroups=fleet, keep=EVERY_MANAGER)
    items = device_manifests(plan, images=ImageSource(region="us-east-2"))

    for group in plan.nodegroups:
        labels = dict(group.labels)

        assert served(items, labels) == expected(group)
        # A copy of our labels on a node that is not ours to manage brings nothing.
        for foreign in ("auto", "fargate", "hybrid"):
            assert served(items, labels | {COMPUTE_TYPE: foreign}) == []


def test_a_bottlerocket_node_keeps_its_own_plugin(planned, manifests):
    group = NodegroupSpec(
        name="br",
        instance_type="g6e.12xlarge",
        max_size=1,
        operating_system=OperatingSystem.BOTTLEROCKET,
    )
    (plan,) = planned(group).nodegroups

    assert manifests(group) == []
    assert served(manifests("every-manager"), dict(plan.labels)) == []


def test_nothing_lands_on_a_node_without_our_labels(manifests):
    for labels in ({}, {"nvidia.com/gpu.present": "true"}, {"eks-devices/nodegroup": "a"}):
        assert served(manifests("fleet"), labels) == []


def test_a_manager_tolerates_every_taint(manifests):
    for item in of_kind(manifests("fleet"), "DaemonSet"):
        assert item["spec"]["template"]["spec"]["tolerations"] == [{"operator": "Exists"}]


def test_selectors_match_their_pods_and_no_others(manifests):
    items = [one for one in manifests("fleet") if one["kind"] in ("DaemonSet", "Deployment")]

    for one, other in itertools.product(items, items):
        selector = one["spec"]["selector"]["matchLabels"]
        pods = other["spec"]["template"]["metadata"]["labels"]
        assert (selector.items() <= pods.items()) == (one is other)


@pytest.fixture
def controller(find):
    return find("Deployment", "compute-domain-dra")


GUARDED = NvidiaInstallation(claim_webhook=ClaimWebhook.cert_manager())
BOTH = NeuronInstallation(scheduler_extension=True, ultraserver_operator=True)


@given(st.sampled_from(["1.34", "1.36"]).flatmap(fleets))
@settings(max_examples=40, deadline=None)
def test_what_serves_a_cluster_runs_on_system_nodes_and_on_no_accelerated_one(fleet_on_version):
    fleet, version = fleet_on_version
    plan = plan_cluster(
        kubernetes_version=version,
        nodegroups=fleet,
        keep=EVERY_MANAGER,
        nvidia=GUARDED,
        neuron=BOTH,
    )
    items = device_manifests(plan, images=ImageSource(region="us-east-2"))
    deployments = of_kind(items, "Deployment")
    ours = dict(system_nodegroup_plan("System", SystemNodegroupOptions()).labels)

    assert len(deployments) == 5
    for one in deployments:
        for group in plan.nodegroups:
            assert not lands(one, dict(group.labels))
        for system in ({}, {"eks.amazonaws.com/nodegroup": "system"}, ours):
            assert lands(one, system)


def test_the_controller_runs_beside_system_pods(controller):
    pod = controller["spec"]["template"]["spec"]

    assert pod["tolerations"] == [{"key": "CriticalAddonsOnly", "operator": "Exists"}]
    assert controller["spec"]["replicas"] == 1
    assert controller["spec"]["strategy"] == {"type": "Recreate"}
