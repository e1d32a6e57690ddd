"""The objects of an installation as a whole: each once, in order, and none moves another."""

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eks_device_charts import ImageSource, device_manifests
from eks_devices import (
    Capacity,
    DeviceType,
    EksDevicesError,
    GpuDriver,
    GpuSharing,
    Mechanism,
    NodegroupSpec,
    plan_cluster,
)

DRA, PLUGIN = Mechanism.DRA, Mechanism.DEVICE_PLUGIN
BLOCK = Capacity.block("cr-0123456789abcdef0")
IMAGES = ImageSource(region="us-east-2")
# Roles that every API server makes.
OF_KUBERNETES = {
    ("ClusterRole", None, "system:kube-scheduler"),
    ("ClusterRole", None, "system:volume-scheduler"),
    ("Role", "kube-system", "extension-apiserver-authentication-reader"),
}
GATED = GpuDriver(feature_gates={"TimeSlicingSettings": True})
SLICED = [GpuSharing.time_slicing(replicas=count) for count in (2, 4)]


def identity(item):
    return item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]


def texts(items):
    """The text of each object; fails where one identity has two."""
    found = {identity(item): json.dumps(item) for item in items}
    assert len(found) == len(items)
    return found


def test_every_object_comes_once(manifests, installation, version):
    counts = Counter(map(identity, manifests(installation, version=version)))

    assert set(counts.values()) == {1}


def test_what_others_need_comes_first(manifests, installation):
    items = manifests(installation)
    place = {identity(item): index for index, item in enumerate(items)}
    spaces = {name: at for (kind, _, name), at in place.items() if kind == "Namespace"}

    for item in items:
        at = place[identity(item)]
        space = item["metadata"].get("namespace")
        assert space in (None, "kube-system") or spaces.get(space, -1) < at or is_scoped(item)
        pod = item.get("spec", {}).get("template", {}).get("spec", {})
        account = pod.get("serviceAccountName")
        if account and not is_scoped(item):
            assert place["ServiceAccount", space, account] < at
        for volume in pod.get("volumes", ()):
            if "configMap" in volume:
                assert place["ConfigMap", space, volume["configMap"]["name"]] < at


def is_scoped(item):
    """Whether an object belongs to a scoped installation, which uses the default one's accounts."""
    return item["metadata"]["labels"].get("app.kubernetes.io/instance", "").startswith("lab-")


def test_kinds_stand_together_from_namespaces_to_workloads(manifests):
    kinds = [item["kind"] for item in manifests("fleet")]
    runs = [kind for at, kind in enumerate(kinds) if at == 0 or kinds[at - 1] != kind]

    assert len(runs) == len(set(kinds))
    assert runs[:2] == ["Namespace", "CustomResourceDefinition"]
    assert set(runs[-2:]) == {"DaemonSet", "Deployment"}


def test_a_binding_names_a_role_and_an_account_that_exist(manifests, installation):
    items = manifests(installation)
    known = set(map(identity, items)) | OF_KUBERNETES

    for item in items:
        if not item["kind"].endswith("RoleBinding"):
            continue
        space = item["metadata"].get("namespace")
        (subject,) = item["subjects"]
        role = item["roleRef"]
        assert (role["kind"], space, role["name"]) in known
        assert ("ServiceAccount", subject["namespace"], subject["name"]) in known


def test_every_account_is_used(manifests, installation):
    items = manifests(installation)
    used = {
        (item["metadata"]["namespace"], item["spec"]["template"]["spec"].get("serviceAccountName"))
        for item in items
        if item["kind"] in ("DaemonSet", "Deployment")
    }
    # The driver makes Pods with this one when a ComputeDomain exists.
    used.add(("nvidia", "compute-domain-daemon-service-account"))
    # A cluster has it once, also where the only owner makes MPS daemons by an account of its own.
    used.add(("nvidia", "dra-driver-nvidia-gpu-kubelet-plugin"))

    accounts = {identity(item)[1:] for item in items if item["kind"] == "ServiceAccount"}

    assert accounts <= used


def test_a_scoped_installation_has_daemon_sets_only(planned):
    plan = planned(
        NodegroupSpec(name="a", instance_type="p5.48xlarge", max_size=1),
        NodegroupSpec(name="b", instance_type="p5.48xlarge", max_size=1, scope="lab"),
    )
    alone = planned(NodegroupSpec(name="a", instance_type="p5.48xlarge", max_size=1))

    both = texts(device_manifests(plan, images=IMAGES))
    added = both.keys() - texts(device_manifests(alone, images=IMAGES)).keys()

    assert {kind for kind, _, _ in added} == {"DaemonSet"}
    assert len(added) == 2
    assert all("-lab-" in name for _, _, name in added)


def test_the_names_are_those_of_the_guides(manifests):
    names = {
        f"{item['metadata']['namespace']}/{item['metadata']['name']}"
        for item in manifests("every-manager")
        if item["kind"] in ("DaemonSet", "Deployment")
    }

    assert names == {
        "kube-system/aws-dranet",
        "kube-system/efa-aws-efa-k8s-device-plugin",
        "kube-system/neuron-device-plugin",
        "neuron-dra-driver/neuron-dra-driver-kubelet-plugin",
        "nvidia/dra-driver-nvidia-gpu-compute-domain-plugin",
        "nvidia/dra-driver-nvidia-gpu-controller",
        "nvidia/dra-driver-nvidia-gpu-kubelet-plugin",
        "nvidia/nvdp-nvidia-device-plugin",
    }


def specs():
    """Node groups of every kind that managers tell apart."""
    kinds = st.sampled_from(
        [
            {"instance_type": "trn2.48xlarge", "capacity": BLOCK},
            {"instance_type": "trn2.48xlarge", "mechanism": PLUGIN},
            {"instance_type": "inf2.48xlarge"},
            {"instance_type": "p5.48xlarge"},
            {"instance_type": "p5.48xlarge", "mechanism": PLUGIN},
            {"instance_type": "p5.48xlarge", "mechanism": {DeviceType.GPU: PLUGIN}},
            {"instance_type": "p6e-gb200.36xlarge", "capacity": BLOCK},
            {"instance_type": "g6e.12xlarge", "mechanism": PLUGIN, "gpu_sharing": SLICED[0]},
            {"instance_type": "g6e.12xlarge", "mechanism": PLUGIN, "gpu_sharing": SLICED[1]},
            {"instance_type": "g6e.12xlarge", "gpu_driver": GATED},
            {"instance_type": "hpc7a.96xlarge", "efa": True},
        ]
    )
    return st.builds(
        lambda name, kind, size: NodegroupSpec(name=name, max_size=size, **kind),
        st.text("abc", min_size=1, max_size=4),
        kinds,
        st.integers(1, 8),
    )


@given(
    groups=st.lists(specs(), min_size=1, max_size=5, unique_by=lambda one: one.name),
    version=st.sampled_from(["1.34", "1.35", "1.36", "1.37"]),
    place=st.integers(0, 4),
)
@settings(max_examples=60, deadline=None)
def test_adding_a_group_changes_no_other_text(groups, version, place):
    """Whichever group comes last, the objects of the others are as they were."""
    added = groups[place % len(groups)]
    before = [one for one in groups if one is not added]

    def installed(fleet):
        plan = plan_cluster(kubernetes_version=version, nodegroups=fleet)
        return texts(device_manifests(plan, images=IMAGES))

    more, less = installed(groups), installed(before)

    assert less.items() <= more.items()
    assert installed(list(reversed(groups))) == more


def parts(value):
    """Every mapping and list of a value."""
    inner = value.values() if isinstance(value, dict) else value
    yield value
    for one in inner:
        if isinstance(one, dict | list):
            yield from parts(one)


def test_objects_share_no_part(manifests):
    """Whoever changes an object changes no other, nor the next one made."""
    items, more = manifests("fleet"), manifests("fleet")

    ids = [id(part) for part in (*parts(items), *parts(more))]

    assert items == more
    assert len(ids) == len(set(ids))


def test_every_fault_is_named_at_once(planned):
    groups = [
        NodegroupSpec(name="efa", instance_type="p5.48xlarge", max_size=1, mechanism=PLUGIN),
        NodegroupSpec(
            name="shares",
            instance_type="g6e.12xlarge",
            max_size=1,
            gpu_driver=GpuDriver(consumable_shares=2),
        ),
    ]
    old = {(DeviceType.GPU, DRA): "example.com/driver:v0.4.1"}

    with pytest.raises(EksDevicesError) as error:
        device_manifests(
            planned("efa-dra", *groups, version="1.36"), images=ImageSource(overrides=old)
        )

    codes = [one.code for one in error.value.faults]
    assert codes == ["FeatureGateNeedsRelease", "RegionNeeded"]
    assert "ConsumableShares, which shares needs" in str(error.value.faults[0])


def test_wrong_arguments_are_named():
    with pytest.raises(EksDevicesError) as error:
        device_manifests(None, images="us-east-2")  # type: ignore[arg-type]

    assert [(one.code, one.path) for one in error.value.faults] == [
        ("WrongType", "plan"),
        ("WrongType", "images"),
    ]
