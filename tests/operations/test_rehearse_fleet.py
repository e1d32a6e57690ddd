"""How many nodes a rehearsal has, and what they offer."""

from __future__ import annotations

import pytest

from eks_device_operations._outcome import OperationError
from eks_device_operations.rehearse.fleet import node_objects, nodes_of, sizes_asked
from eks_device_operations.rehearse.joining import driver_objects
from eks_devices import Capacity, DeviceType, Mechanism, Mig, NodegroupSpec, plan_cluster


def planned(name, instance_type, **options):
    group = NodegroupSpec(name=name, instance_type=instance_type, **{"max_size": 4} | options)
    return plan_cluster(kubernetes_version="1.34", nodegroups=[group])


def first(plan, **asked):
    return nodes_of(plan, asked)[0]


def test_a_group_has_its_desired_size():
    found = first(planned("g", "p5.48xlarge", desired_size=3))

    assert (found.count, found.why) == (3, "its desired size")


def test_a_group_that_starts_with_none_has_its_maximum():
    found = first(planned("g", "p5.48xlarge"))

    assert found.count == 4
    assert "maximum" in found.why


def test_a_group_whose_size_an_autoscaler_sets_has_its_maximum():
    found = first(planned("g", "g6e.12xlarge", mechanism=Mechanism.DEVICE_PLUGIN, autoscaled=True))

    assert (found.count, found.why) == (4, "its maximum, since its size is left open")


def test_a_large_maximum_is_cut_and_says_so():
    found = first(planned("g", "p5.48xlarge", max_size=700))

    assert found.count == 100
    assert "--nodes g=N" in found.why


def test_what_is_asked_for_counts():
    ours, ordinary = nodes_of(planned("g", "p5.48xlarge"), {"g": 7, "ordinary": 0})

    assert (ours.count, ordinary.count) == (7, 0)
    assert len({*ours.names()}) == 7


def test_a_group_that_nobody_planned_is_told():
    with pytest.raises(OperationError, match="names h; allowed: g, ordinary"):
        nodes_of(planned("g", "p5.48xlarge"), {"h": 1})


@pytest.mark.parametrize(
    "words",
    [
        ["g"],
        ["=1"],
        ["g="],
        ["g=-1"],
        ["g=x"],
        ["g=٣"],
        ["g=5001"],
        ["g=" + "9" * 9999],
        ["g=1", "g=2"],
    ],
)
def test_numbers_of_nodes_that_are_none_are_told(words):
    with pytest.raises(OperationError, match="--nodes"):
        sizes_asked(words)


def test_numbers_of_nodes_are_read():
    assert sizes_asked(["a=0", "b=5000"]) == {"a": 0, "b": 5000}


def objects_of(plan):
    return next(iter(node_objects(first(plan), kubelet_version="v1.34.9")))


def test_nodes_by_dra_come_with_their_slices_and_no_extended_resource():
    node, *slices = objects_of(planned("g", "p5.48xlarge", mechanism=Mechanism.DRA, efa=True))

    assert {one["spec"]["driver"]: len(one["spec"]["devices"]) for one in slices} == {
        "gpu.nvidia.com": 8,
        "dra.net": 32,
    }
    assert "nvidia.com/gpu" not in node["status"]["allocatable"]
    assert node["spec"]["taints"]


def test_gpus_that_are_cut_on_request_come_with_all_slices_of_their_pool():
    group = NodegroupSpec(
        name="g",
        instance_type="p5.48xlarge",
        max_size=1,
        mechanism=Mechanism.DRA,
        mig=Mig.dynamic(),
    )
    plan = plan_cluster(kubernetes_version="1.36", nodegroups=[group])

    _, *slices = objects_of(plan)

    pool = [one["spec"] for one in slices if one["spec"]["driver"] == "gpu.nvidia.com"]
    assert {one["pool"]["resourceSliceCount"] for one in pool} == {len(pool)}
    assert [one for one in pool if "sharedCounters" in one]


def test_nodes_by_plugin_offer_their_resources():
    mechanism = Mechanism.DEVICE_PLUGIN
    node, *slices = objects_of(planned("g", "p5.48xlarge", mechanism=mechanism, efa=True))

    assert slices == []
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "8"
    assert node["status"]["capacity"]["vpc.amazonaws.com/efa"] == "32"


@pytest.mark.parametrize(
    ("options", "pages"), [({"hugepages_2mi": 100}, 100), ({}, 5128), ({"efa": False}, 0)]
)
def test_huge_pages_are_set_aside_from_memory(options, pages):
    node, *_ = objects_of(planned("g", "p5.48xlarge", **options))

    status = node["status"]
    amounts = [int(status[key]["memory"].removesuffix("Mi")) for key in ("capacity", "allocatable")]
    assert amounts[0] - amounts[1] == 2 * pages
    assert status["allocatable"].get("hugepages-2Mi", "0Mi") == f"{2 * pages}Mi"


@pytest.mark.parametrize(
    ("options", "storage"),
    [
        ({}, 30400 * 10**9),
        ({"instance_store": False}, 200 * 2**30),
        ({"instance_store": False, "disk_gib": 500}, 500 * 2**30),
    ],
)
def test_pods_files_have_the_local_disks_or_the_volume(options, storage):
    node, *_ = objects_of(planned("g", "p5.48xlarge", **options))

    assert int(node["status"]["allocatable"]["ephemeral-storage"]) == storage


@pytest.mark.parametrize(("names", "label"), [({"g": "g-0a1b2c3d"}, "g-0a1b2c3d"), ({}, "g")])
def test_nodes_have_the_name_of_their_group_in_eks(names, label):
    spot = {"capacity": Capacity.spot()}
    fleet = nodes_of(planned("g", "p5.48xlarge", **spot), {}, names)

    node, *_ = next(iter(node_objects(fleet[0], kubelet_version="v1.34.9")))

    labels = node["metadata"]["labels"]
    assert labels["eks.amazonaws.com/nodegroup"] == label
    assert labels["eks.amazonaws.com/capacityType"] == "SPOT"
    assert labels["eks-devices/nodegroup"] == "g"
    assert labels["beta.kubernetes.io/instance-type"] == "p5.48xlarge"


def test_classes_of_drivers_that_others_run_are_there_too():
    by_dra, external = {"mechanism": Mechanism.DRA}, {DeviceType.GPU}
    ours = planned("g", "p5.48xlarge", **by_dra)
    theirs = planned("g", "p5.48xlarge", external=external, **by_dra)

    def classes(plan):
        return {
            one["metadata"]["name"] for one in driver_objects(plan) if one["kind"] == "DeviceClass"
        }

    assert "gpu.nvidia.com" in classes(ours) & classes(theirs)


def test_no_daemon_is_installed():
    block = Capacity.block("cr-0123456789abcdef0")
    plan = planned("g", "p6e-gb200.36xlarge", capacity=block)

    assert {one["kind"] for one in driver_objects(plan)} == {
        "CustomResourceDefinition",
        "DeviceClass",
    }
