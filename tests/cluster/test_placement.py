"""Where managers land: the real controllers and scheduler put one of each device on each node."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from eks_device_operations.control_plane.pods import missing_devices, wait_bound
from eks_devices import (
    DeviceType,
    GpuDriver,
    GpuPlugin,
    GpuSharing,
    Mechanism,
    OperatingSystem,
)

DRA, PLUGIN = Mechanism.DRA, Mechanism.DEVICE_PLUGIN
GPU, NEURON, EFA = DeviceType.GPU, DeviceType.NEURON, DeviceType.EFA
DOMAIN = DeviceType.COMPUTE_DOMAIN
KEEP_ALL = {GPU: (DRA, PLUGIN), NEURON: (DRA, PLUGIN), EFA: (DRA, PLUGIN), DOMAIN: (DRA,)}
BOTTLEROCKET = {"operating_system": OperatingSystem.BOTTLEROCKET}
COMPUTE_TYPE = "eks.amazonaws.com/compute-type"
HOST = GpuDriver(host_service=True)
OWN_SETTINGS = {"gpu_sharing", "gpu_plugin", "gpu_driver"}
SHAPES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("g6e.12xlarge", {}),
    ("g6e.12xlarge", {"mechanism": PLUGIN}),
    ("g6e.12xlarge", {"mechanism": PLUGIN, "gpu_sharing": GpuSharing.time_slicing(replicas=4)}),
    ("g6e.12xlarge", {"gpu_sharing": GpuSharing.time_slicing(replicas=2, rename=True)}),
    ("g6e.12xlarge", {"gpu_sharing": GpuSharing.mps(replicas=2)}),
    ("g6e.12xlarge", {"gpu_plugin": GpuPlugin(gdrcopy=True)}),
    ("g6e.12xlarge", {"gpu_driver": GpuDriver(feature_gates={"TimeSlicingSettings": True})}),
    ("g6e.12xlarge", {"gpu_driver": GpuDriver(feature_gates={"MPSSupport": True})}),
    ("g6e.12xlarge", BOTTLEROCKET | {"mechanism": DRA, "gpu_driver": HOST}),
    ("g6e.12xlarge", {"mechanism": {GPU: PLUGIN, EFA: DRA}, "efa": 1}),
    ("g6e.12xlarge", BOTTLEROCKET),
    ("g6e.12xlarge", BOTTLEROCKET | {"mechanism": DRA}),
    ("g6e.12xlarge", BOTTLEROCKET | {"mechanism": PLUGIN, "external": {GPU}}),
    ("g6e.12xlarge", {"mechanism": PLUGIN, "external": {GPU}}),
    ("p5.48xlarge", {}),
    ("p5.48xlarge", {"mechanism": {GPU: DRA, EFA: PLUGIN}}),
    ("p5.48xlarge", {"mechanism": DRA, "external": {EFA}}),
    ("p6e-gb200.36xlarge", {}),
    ("p6e-gb200.36xlarge", {"mechanism": {GPU: PLUGIN}}),
    ("p6e-gb200.36xlarge", {"compute_domains": False}),
    ("trn2.48xlarge", {}),
    ("trn2.48xlarge", {"mechanism": {NEURON: PLUGIN, EFA: DRA}}),
    ("trn2.48xlarge", BOTTLEROCKET),
    ("inf2.48xlarge", {}),
    ("inf2.48xlarge", {"mechanism": DRA}),
    ("inf1.24xlarge", {}),
    ("hpc7a.96xlarge", {"efa": True}),
    ("c5n.18xlarge", {"efa": True, "mechanism": PLUGIN} | BOTTLEROCKET),
)
FOREIGN_TAINTS = (
    {"key": "dedicated", "value": "team", "effect": "NoExecute"},
    {"key": "example.com/fenced", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
)


def foreign(device, mechanism, name):
    """Somebody else's manager of a device type: it goes by the vendor's name, on every node that
    says so."""
    labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/instance": "foreign"}
    terms = [
        {"key": f"eks-devices/{device}", "operator": "In", "values": [str(mechanism)]},
        {"key": f"eks-devices/{device}-manager", "operator": "In", "values": ["external"]},
        {"key": COMPUTE_TYPE, "operator": "DoesNotExist"},
    ]
    affinity = {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": terms}]
        }
    }
    pod = {
        "serviceAccountName": "foreign",
        "containers": [{"name": "manager", "image": "example.com/manager"}],
        "affinity": {"nodeAffinity": affinity},
        "tolerations": [{"operator": "Exists"}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": f"foreign-{device}-{mechanism}", "namespace": "foreign"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def foreign_managers():
    """The managers of other makers, with the account that they run under."""
    subject = {"kind": "ServiceAccount", "name": "foreign", "namespace": "foreign"}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "foreign"}},
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "foreign", "namespace": "foreign"},
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "foreign"},
            "roleRef": role,
            "subjects": [subject],
        },
        foreign("gpu", PLUGIN, "nvdp-nvidia-device-plugin"),
        foreign("efa", DRA, "aws-dranet"),
    ]


def is_of_one_owner(item):
    """Whether an object comes and goes with the DaemonSet of an owner."""
    suffix = item["metadata"]["name"].rpartition("-")[2]
    return item["kind"] == "DaemonSet" or re.fullmatch("[0-9a-f]{8}", suffix) is not None


def scoped_only(items):
    """What a second app brings: the DaemonSets of its scope, with an account that only they have.

    Nothing that a cluster has once is among it.
    """
    return [item for item in items if "-lab-" in item["metadata"]["name"]]


def join_all(world, plan, **changed):
    """Two nodes of each group; the group of each node."""
    return {name: group for group in plan.nodegroups for name in world.join(group, 2, **changed)}


def join_bystanders(world, plan):
    """Nodes that no manager may run on, some with all the labels of ours."""
    labels = {key: value for group in plan.nodegroups for key, value in group.labels.items()}
    names = [world.join_other("system")]
    names += [
        world.join_other(kind, **labels, **{COMPUTE_TYPE: kind})
        for kind in ("auto", "fargate", "hybrid")
    ]
    return {name: [] for name in names}


def test_each_shape_has_its_managers_and_bystanders_have_none(world, planned, manifests, spec):
    groups = [spec(f"g{index}", name, **options) for index, (name, options) in enumerate(SHAPES)]
    plan = planned(*groups, keep=KEEP_ALL)
    bystanders = join_bystanders(world, plan)
    world.install(*foreign_managers(), *manifests(plan))

    nodes = join_all(world, plan, taints=list(FOREIGN_TAINTS))

    assert world.managers() == world.planned(nodes) | bystanders
    world.tally["nodes with exactly their managers"] += len(nodes)
    assert missing_devices(world.api, nodes) == []


def test_the_controller_runs_once_and_on_no_accelerated_node(world, planned, manifests, spec):
    # Without taints, so that nothing but its affinity keeps it off.
    plan = planned(spec("gb200", "p6e-gb200.36xlarge", taints=()))
    world.install(*manifests(plan))
    join_all(world, plan)
    world.settle()

    (pod,) = controllers(world.api)
    assert "nodeName" not in pod["spec"]

    # A system node group of ours has the label of its name too.
    system = world.join_other("system", **{"eks-devices/nodegroup": "system"})

    assert wait_bound(world.api, {"apiVersion": "v1", "kind": "Pod"} | pod) == system


def controllers(api):
    label = "app.kubernetes.io/name=dra-driver-nvidia-gpu-controller"
    return api.list("v1", "Pod", "nvidia", labelSelector=label)


def test_a_late_group_moves_nothing_that_was_there(world, planned, manifests, spec):
    first = [spec("p5", "p5.48xlarge"), spec("g6e", "g6e.12xlarge", mechanism=PLUGIN)]
    plan = planned(*first)
    world.install(*manifests(plan))
    nodes = join_all(world, plan)
    assert world.managers() == world.planned(nodes)
    pods, generations = running(world.api), texts(world.api)

    sliced = {"mechanism": PLUGIN, "gpu_sharing": GpuSharing.time_slicing(replicas=4)}
    later = planned(*first, spec("trn2", "trn2.48xlarge"), spec("sliced", "g6e.xlarge", **sliced))
    world.install(*manifests(later))
    new = {name: group for group in later.nodegroups[2:] for name in world.join(group, 2)}

    assert world.managers() == world.planned(nodes | new)
    assert pods <= running(world.api)
    assert generations.items() <= texts(world.api).items()


def running(api):
    return {pod["metadata"]["uid"] for pod in api.list("v1", "Pod")}


def texts(api):
    sets = api.list("apps/v1", "DaemonSet")
    return {one["metadata"]["name"]: one["metadata"]["generation"] for one in sets}


@pytest.fixture(scope="module")
def prepared(shared, every_manager):
    """What a cluster has once, kept between fleets; namespaces take seconds to go."""
    once = [one for one in every_manager if one["kind"] not in ("DaemonSet", "Deployment")]
    shared.install(*once, *foreign_managers()[:3])
    # Each fleet takes away what is in this list, and these stay.
    shared.applied.clear()
    return shared


def fleets(count):
    group = st.tuples(
        st.integers(0, len(SHAPES) - 1),
        st.booleans(),
        st.lists(st.integers(0, len(FOREIGN_TAINTS) - 1), max_size=2, unique=True),
    )
    return st.lists(group, min_size=1, max_size=count)


def test_two_apps_on_one_cluster(prepared, planned, manifests, spec):
    """The first has the default installation; the second brings the DaemonSets of its scope."""

    def groups(drawn, prefix, *, second):
        for index, (shape, scoped, _) in enumerate(drawn):
            name, options = SHAPES[shape]
            # The default installation has what the first app's groups need, not their settings.
            own = second and (scoped or bool(OWN_SETTINGS & options.keys()))
            yield spec(f"{prefix}{index}", name, scope="lab" if own else None, **options)

    @given(first=fleets(4), second=fleets(3))
    @settings(max_examples=10, deadline=None, phases=[Phase.reuse, Phase.generate])
    def each_node_has_its_managers(first, second):
        one = planned(*groups(first, "a", second=False), keep=KEEP_ALL)
        two = planned(*groups(second, "b", second=True), keep=KEEP_ALL)
        daemons = [item for item in manifests(one) if is_of_one_owner(item)]
        nodes: dict[str, Any] = {}
        both = zip((*one.nodegroups, *two.nodegroups), (*first, *second), strict=True)
        try:
            prepared.install(*daemons, *scoped_only(manifests(two)), *foreign_managers()[3:])
            for group, (_, _, taints) in both:
                foreign_taints = [FOREIGN_TAINTS[index] for index in taints]
                nodes |= dict.fromkeys(prepared.join(group, taints=foreign_taints), group)
            bystanders = join_bystanders(prepared, one)
            assert prepared.managers() == prepared.planned(nodes) | bystanders
            prepared.tally["nodes with exactly their managers"] += len(nodes)
        finally:
            prepared.clear()

    each_node_has_its_managers()
