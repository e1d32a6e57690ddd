"""Bundles: what is applied and deleted together, for every manager beside every other one."""

import json
from typing import Any

import pytest

from eks_device_charts import ImageSource
from eks_device_charts.manifests.bundles import bundles
from eks_device_charts.manifests.installation import Installation
from eks_devices import (
    Capacity,
    DeviceType,
    GpuDriver,
    GpuSharing,
    Mechanism,
    NodegroupSpec,
    plan_cluster,
)

VERSIONS = ("1.34", "1.35", "1.36", "1.37")
DRA, PLUGIN = Mechanism.DRA, Mechanism.DEVICE_PLUGIN
EVERY_MANAGER = {
    DeviceType.NEURON: (DRA, PLUGIN),
    DeviceType.GPU: (DRA, PLUGIN),
    DeviceType.COMPUTE_DOMAIN: (DRA,),
    DeviceType.EFA: (DRA, PLUGIN),
}
SHARED: dict[Mechanism, dict[str, Any]] = {
    DRA: {"gpu_driver": GpuDriver(feature_gates={"MPSSupport": True})},
    PLUGIN: {"gpu_sharing": GpuSharing.time_slicing(replicas=4)},
}
GROUPS = [
    NodegroupSpec(
        name=f"{mechanism}-{scope}",
        instance_type="g6e.xlarge",
        max_size=1,
        mechanism=mechanism,
        scope=scope,
        **options,
    )
    for mechanism, options in SHARED.items()
    for scope in (None, "lab")
]
DOMAIN = NodegroupSpec(
    name="domain",
    instance_type="p6e-gb200.36xlarge",
    max_size=1,
    capacity=Capacity.block("cr-0123456789abcdef0"),
    scope="lab",
)


@pytest.fixture(params=VERSIONS)
def installed(request):
    """The bundles of every manager, with and without settings, default and scoped."""
    plan = plan_cluster(
        kubernetes_version=request.param, nodegroups=[*GROUPS, DOMAIN], keep=EVERY_MANAGER
    )
    images = ImageSource(region="us-east-2")
    return {driver: bundles(driver, Installation.of(plan, images)) for driver in plan.drivers}


def identity(item):
    return item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]


def test_one_name_means_the_same_objects(installed):
    texts: dict[str, str] = {}
    for found in installed.values():
        for bundle in found:
            text = json.dumps(bundle.objects, sort_keys=True)
            assert texts.setdefault(bundle.name, text) == text


def test_an_object_is_in_one_bundle_only(installed):
    """So that a manager that goes takes nothing of another one along."""
    owners: dict[tuple[str, str | None, str], str] = {}
    for found in installed.values():
        for bundle in found:
            for item in bundle.objects:
                assert owners.setdefault(identity(item), bundle.name) == bundle.name


def test_what_a_bundle_needs_comes_before_it(installed):
    there: set[str] = set()
    for driver, found in installed.items():
        for bundle in found:
            assert {*bundle.needs} <= there, (driver, bundle.name)
            there.add(bundle.name)


def test_a_pod_waits_for_its_namespace_account_and_configuration(installed):
    objects = {one.name: one.objects for found in installed.values() for one in found}
    for found in installed.values():
        own = found[-1]
        near = {identity(one) for name in (*own.needs, own.name) for one in objects[name]}
        for item in own.objects:
            if item["kind"] != "DaemonSet":
                continue
            namespace, pod = item["metadata"]["namespace"], item["spec"]["template"]["spec"]
            if namespace != "kube-system":
                assert ("Namespace", None, namespace) in near
            if "serviceAccountName" in pod:
                assert ("ServiceAccount", namespace, pod["serviceAccountName"]) in near
            for volume in pod.get("volumes", []):
                if "configMap" in volume:
                    assert ("ConfigMap", namespace, volume["configMap"]["name"]) in near


def test_users_objects_never_go_with_a_manager(installed):
    retained = {
        kind
        for found in installed.values()
        for bundle in found
        if bundle.retain
        for kind, _, _ in map(identity, bundle.objects)
    }
    others = {
        kind
        for found in installed.values()
        for bundle in found
        if not bundle.retain
        for kind, _, _ in map(identity, bundle.objects)
    }

    assert retained == {"Namespace", "CustomResourceDefinition"}
    assert not retained & others
