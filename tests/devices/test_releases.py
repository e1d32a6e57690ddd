"""Driver releases, and the registries that hold EKS-owned images."""

from typing import Any

import pytest
from tests.hostile import HostileText, UncomparedText
from tests.short_names import DRA, PLUGIN

from eks_devices import (
    Component,
    DeviceType,
    DranetBuild,
    DriverRelease,
    EksDevicesError,
    Mechanism,
    eks_registry,
)
from eks_devices.components import ComponentRelease


@pytest.mark.parametrize(
    ("device", "mechanism", "image", "tag"),
    [
        (DeviceType.NEURON, DRA, "public.ecr.aws/neuron/neuron-dra-driver", "1.1.0"),
        (DeviceType.NEURON, PLUGIN, "public.ecr.aws/neuron/neuron-device-plugin", "2.31.0.0"),
        (
            DeviceType.GPU,
            DRA,
            "registry.k8s.io/dra-driver-nvidia/dra-driver-nvidia-gpu",
            "v0.5.0",
        ),
        (DeviceType.GPU, PLUGIN, "nvcr.io/nvidia/k8s-device-plugin", "v0.20.0"),
        (
            DeviceType.COMPUTE_DOMAIN,
            DRA,
            "registry.k8s.io/dra-driver-nvidia/dra-driver-nvidia-gpu",
            "v0.5.0",
        ),
        (DeviceType.EFA, DRA, "eks/dranet", "v1.2.0-eksbuild.2"),
        (DeviceType.EFA, PLUGIN, "eks/aws-efa-k8s-device-plugin", "v0.5.20"),
    ],
)
def test_the_pinned_release(device: DeviceType, mechanism: Mechanism, image: str, tag: str):
    release = DriverRelease.of(device_type=device, mechanism=mechanism)

    assert (release.device_type, release.mechanism) == (device, mechanism)
    assert (release.image or release.repository, release.tag) == (image, tag)
    assert bool(release.repository) == (device is DeviceType.EFA)
    assert not release.verified


def test_every_release_is_listed():
    assert len(DriverRelease.all()) == 8


def test_each_build_of_dranet_has_its_own_image_and_that_of_eks_is_the_default():
    question: dict[str, Any] = {"device_type": DeviceType.EFA, "mechanism": DRA}
    eks = DriverRelease.of(**question, build=DranetBuild.EKS)
    upstream = DriverRelease.of(**question, build=DranetBuild.UPSTREAM)

    assert DriverRelease.of(**question) == eks
    assert (upstream.image, upstream.tag) == ("registry.k8s.io/networking/dranet", "v1.4.0")
    assert not upstream.repository
    assert upstream.oldest == eks.before


def test_what_has_one_build_has_it_whoever_builds_dranet():
    question: dict[str, Any] = {"device_type": DeviceType.EFA, "mechanism": PLUGIN}

    assert DriverRelease.of(**question, build=DranetBuild.UPSTREAM) == DriverRelease.of(**question)


def test_the_plugin_that_broke_the_isolation_of_efa_is_avoided():
    release = DriverRelease.of(device_type=DeviceType.GPU, mechanism=PLUGIN)

    assert release.avoid == ("v0.19.0", "v0.19.1", "v0.19.2")


@pytest.mark.parametrize(
    ("component", "image", "tag"),
    [
        (
            Component.NODE_PROBLEM_DETECTOR,
            "registry.k8s.io/node-problem-detector/node-problem-detector",
            "v1.36.0",
        ),
        (Component.NEURON_NODE_RECOVERY, "public.ecr.aws/neuron/neuron-node-recovery", "1.12.0"),
        (
            Component.NEURON_ULTRASERVER_OPERATOR,
            "public.ecr.aws/neuron/neuron-ultraserver-operator",
            "0.1.0",
        ),
    ],
)
def test_the_pinned_release_of_a_component(component: Component, image: str, tag: str):
    release = ComponentRelease.of(component)

    assert (release.component, release.image, release.tag) == (component, image, tag)
    assert not release.verified


@pytest.mark.parametrize("component", ["node-problem-detector", None, []])
def test_what_is_no_component_has_no_release(component: Any):
    with pytest.raises(EksDevicesError) as caught:
        ComponentRelease.of(component)

    assert [(one.code, one.path) for one in caught.value.faults] == [("WrongType", "component")]


def test_the_scheduler_extension_is_of_the_release_of_the_plugin():
    plugin = DriverRelease.of(device_type=DeviceType.NEURON, mechanism=PLUGIN)
    extension = ComponentRelease.of(Component.NEURON_SCHEDULER_EXTENSION)

    for minor in (None, "1.34", "1.37"):
        assert extension.tag_for(minor) == plugin.tag


@pytest.mark.parametrize("minor", ["1.34", "1.35", "1.36", "1.37"])
def test_the_second_scheduler_is_of_the_minor_of_the_cluster(minor: str):
    tag = ComponentRelease.of(Component.KUBE_SCHEDULER).tag_for(minor)

    assert tag.startswith(f"v{minor}.")
    assert f"-eks-{minor.replace('.', '-')}-" in tag


@pytest.mark.parametrize("minor", ["1.33", None])
def test_a_minor_without_a_known_scheduler_is_refused(minor: str | None):
    with pytest.raises(EksDevicesError) as caught:
        ComponentRelease.of(Component.KUBE_SCHEDULER).tag_for(minor)

    (fault,) = caught.value.faults
    assert (fault.code, fault.path) == ("NoRelease", "images.overrides")
    assert "Component.KUBE_SCHEDULER" in fault.fix


def test_a_release_that_does_not_exist():
    with pytest.raises(EksDevicesError) as caught:
        DriverRelease.of(device_type=DeviceType.COMPUTE_DOMAIN, mechanism=PLUGIN)

    (fault,) = caught.value.faults
    assert fault.code == "NoRelease"
    assert fault.got == "'compute-domain by device-plugin'"
    assert fault.allowed.startswith("neuron by dra, neuron by device-plugin, gpu by dra, ")
    assert fault.fix


def test_a_release_of_wrong_types():
    question: dict[str, Any] = {"device_type": "gpu", "mechanism": [], "build": "upstream"}

    with pytest.raises(EksDevicesError) as caught:
        DriverRelease.of(**question)

    assert [(one.code, one.path) for one in caught.value.faults] == [
        ("WrongType", "device_type"),
        ("WrongType", "mechanism"),
        ("WrongType", "build"),
    ]


@pytest.mark.parametrize(
    ("region", "partition", "registry"),
    [
        ("us-east-2", "aws", "602401143452.dkr.ecr.us-east-2.amazonaws.com"),
        ("eu-west-1", "aws", "602401143452.dkr.ecr.eu-west-1.amazonaws.com"),
        ("eu-north-9", "aws", "602401143452.dkr.ecr.eu-north-9.amazonaws.com"),
        ("cn-north-1", None, "918309763551.dkr.ecr.cn-north-1.amazonaws.com.cn"),
        ("us-gov-west-1", None, "013241004608.dkr.ecr.us-gov-west-1.amazonaws.com"),
        ("af-south-1", "aws", "877085696533.dkr.ecr.af-south-1.amazonaws.com"),
        ("ap-east-1", "aws", "800184023465.dkr.ecr.ap-east-1.amazonaws.com"),
        ("il-central-1", "aws", "066635153087.dkr.ecr.il-central-1.amazonaws.com"),
        ("cn-north-1", "aws-cn", "918309763551.dkr.ecr.cn-north-1.amazonaws.com.cn"),
        ("cn-northwest-1", "aws-cn", "961992271922.dkr.ecr.cn-northwest-1.amazonaws.com.cn"),
        ("us-gov-west-1", "aws-us-gov", "013241004608.dkr.ecr.us-gov-west-1.amazonaws.com"),
        ("us-gov-east-1", "aws-us-gov", "151742754352.dkr.ecr.us-gov-east-1.amazonaws.com"),
        ("us-iso-east-1", "aws-iso", "725322719131.dkr.ecr.us-iso-east-1.c2s.ic.gov"),
        ("us-isob-east-1", "aws-iso-b", "187977181151.dkr.ecr.us-isob-east-1.sc2s.sgov.gov"),
        ("eu-isoe-west-1", "aws-iso-e", "249663109785.dkr.ecr.eu-isoe-west-1.cloud.adc-e.uk"),
        ("us-isof-south-1", "aws-iso-f", "676585237158.dkr.ecr.us-isof-south-1.csp.hci.ic.gov"),
    ],
)
def test_the_registry_of_a_region(region: str, partition: str, registry: str):
    assert eks_registry(region=region, partition=partition) == registry


def test_a_registry_is_found_however_the_texts_behave():
    plain = eks_registry(region="us-east-2", partition="aws")

    assert eks_registry(region=HostileText("us-east-2"), partition=HostileText("aws")) == plain
    assert (
        eks_registry(region=UncomparedText("us-east-2"), partition=UncomparedText("aws")) == plain
    )


@pytest.mark.parametrize(
    ("region", "partition", "code", "path"),
    [
        ("cn-south-1", "aws-cn", "UnknownRegistryRegion", "region"),
        ("us-gov-north-1", "aws-us-gov", "UnknownRegistryRegion", "region"),
        ("eusc-de-east-1", "aws-eusc", "UnknownPartition", "partition"),
        ("us-east-2", "", "UnknownPartition", "partition"),
        ("us-east-2", 7, "WrongType", "partition"),
        ("us-east-2", False, "WrongType", "partition"),
        ("cn-north-1", "aws", "UnknownRegistryRegion", "region"),
        ("us-gov-east-9", None, "UnknownRegistryRegion", "region"),
        ("xx-yy-9", None, "UnknownRegistryRegion", "region"),
        ("us-east-2", ["aws"], "WrongType", "partition"),
        ("us-east-2", "${Token[AWS.Partition.4]}", "TokenNotAllowed", "partition"),
        ("", "aws", "UnknownRegistryRegion", "region"),
        ("us-east-2a", "aws", "UnknownRegistryRegion", "region"),
        (None, "aws", "WrongType", "region"),
        ("${Token[AWS.Region.4]}", "aws", "TokenNotAllowed", "region"),
        ("us-east-2/evil", "aws", "UnknownRegistryRegion", "region"),
    ],
)
def test_a_registry_that_is_not_known(region: str, partition: str, code: str, path: str):
    with pytest.raises(EksDevicesError) as caught:
        eks_registry(region=region, partition=partition)

    (fault,) = caught.value.faults
    assert (fault.code, fault.path) == (code, path)
    assert fault.got == repr(region if path == "region" else partition)
    assert fault.allowed
    assert fault.fix
