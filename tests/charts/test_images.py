"""Which image each manager runs, and what cannot name one."""

import re
from typing import Any

import pytest
from tests.hostile import (
    Hostile,
    HostileMapping,
    HostileText,
    HostileTuple,
    UncomparedText,
    Untouchable,
)

from eks_device_charts import ImageSource, device_manifests
from eks_devices import (
    Capacity,
    Component,
    DeviceType,
    DriverRelease,
    EksDevicesError,
    Mechanism,
    NodegroupSpec,
    plan_cluster,
)

DRA, PLUGIN = Mechanism.DRA, Mechanism.DEVICE_PLUGIN
EFA, GPU, NEURON = DeviceType.EFA, DeviceType.GPU, DeviceType.NEURON
TOKEN = "${Token[AWS.Region.4]}"
MIRROR = "123456789012.dkr.ecr.us-east-2.amazonaws.com"


def image(device_type, mechanism, **source):
    return ImageSource(**source).image(device_type=device_type, mechanism=mechanism)


def codes(**source):
    with pytest.raises(EksDevicesError) as error:
        ImageSource(**source)
    return [(one.code, one.path) for one in error.value.faults]


def images_of(items):
    pods = [
        item["spec"]["template"]["spec"]
        for item in items
        if item["kind"] in ("DaemonSet", "Deployment")
    ]
    return {
        container["image"]
        for pod in pods
        for container in [*pod.get("initContainers", ()), *pod["containers"]]
    }


@pytest.mark.parametrize(
    ("region", "registry"),
    [
        ("us-east-2", "602401143452.dkr.ecr.us-east-2.amazonaws.com"),
        ("ap-east-1", "800184023465.dkr.ecr.ap-east-1.amazonaws.com"),
        ("cn-north-1", "918309763551.dkr.ecr.cn-north-1.amazonaws.com.cn"),
        ("us-gov-west-1", "013241004608.dkr.ecr.us-gov-west-1.amazonaws.com"),
    ],
)
@pytest.mark.parametrize(
    ("mechanism", "repository"), [(DRA, "eks/dranet"), (PLUGIN, "eks/aws-efa-k8s-device-plugin")]
)
def test_eks_owns_the_efa_images_of_each_region(region, registry, mechanism, repository):
    name, _, tag = image(EFA, mechanism, region=region).rpartition(":")

    assert name == f"{registry}/{repository}"
    assert tag == DriverRelease.of(device_type=EFA, mechanism=mechanism).tag


def test_other_images_need_no_region():
    for release in DriverRelease.all():
        if release.device_type is not EFA:
            found = image(release.device_type, release.mechanism)
            assert found == f"{release.image}:{release.tag}"


def test_every_image_of_an_installation_has_a_release(manifests):
    for found in images_of(manifests("fleet")):
        assert re.fullmatch(r"[a-z0-9.-]+/[a-z0-9./-]+:v?[0-9]+\.[0-9]+\.[0-9.]+[-a-z0-9.]*", found)
        assert not found.endswith(":latest")


def test_the_longest_prefix_is_rewritten():
    registries = {
        "public.ecr.aws": f"{MIRROR}/public",
        "public.ecr.aws/neuron": f"{MIRROR}/neuron",
        "public.ecr.aws/neu": f"{MIRROR}/wrong",
        "registry.k8s.io": MIRROR,
    }

    assert image(NEURON, DRA, registries=registries).startswith(f"{MIRROR}/neuron/neuron-dra-d")
    assert image(GPU, DRA, registries=registries).startswith(f"{MIRROR}/dra-driver-nvidia/")
    assert image(GPU, PLUGIN, registries=registries).startswith("nvcr.io/")


def test_the_registry_of_eks_is_rewritten_too():
    registries = {"602401143452.dkr.ecr.us-east-2.amazonaws.com": MIRROR}

    found = image(EFA, DRA, region="us-east-2", registries=registries)

    assert found.startswith(f"{MIRROR}/eks/dranet:")


def test_an_override_wins_and_needs_no_region():
    own = f"{MIRROR}/efa:1.0.0"

    found = image(EFA, DRA, overrides={(EFA, DRA): own}, registries={MIRROR: "example.com"})

    assert found == own


def test_an_override_reaches_every_container(manifests):
    own = f"{MIRROR}/nvidia@sha256:{'0' * 64}"
    source = ImageSource(overrides={(DeviceType.COMPUTE_DOMAIN, DRA): own})

    assert images_of(manifests("compute-domain-dra", images=source)) == {own}


def test_a_source_keeps_its_own_copy():
    registries = {"public.ecr.aws": MIRROR}
    source = ImageSource(registries=registries)

    registries["public.ecr.aws"] = "elsewhere.example.com"

    assert source.image(device_type=NEURON, mechanism=DRA).startswith(MIRROR)


@pytest.mark.parametrize("mechanism", [DRA, PLUGIN])
def test_an_efa_image_without_a_region_is_refused(mechanism):
    with pytest.raises(EksDevicesError) as error:
        image(EFA, mechanism)

    assert [one.code for one in error.value.faults] == ["RegionNeeded"]


def test_a_region_whose_account_is_unknown_is_refused():
    with pytest.raises(EksDevicesError) as error:
        image(EFA, DRA, region="eusc-de-east-1")

    assert [one.code for one in error.value.faults] == ["UnknownRegistryRegion"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"region": TOKEN}, [("TokenNotAllowed", "images.region")]),
        ({"partition": TOKEN}, [("TokenNotAllowed", "images.partition")]),
        ({"region": 7}, [("WrongType", "images.region")]),
        (
            {"region": TOKEN, "partition": 7},
            [
                ("TokenNotAllowed", "images.region"),
                ("WrongType", "images.partition"),
            ],
        ),
        ({"registries": None}, [("WrongType", "images.registries")]),
        ({"registries": ["a"]}, [("WrongType", "images.registries")]),
        ({"registries": {"a.io": TOKEN}}, [("TokenNotAllowed", "images.registries[a.io]")]),
        ({"registries": {TOKEN: "a.io"}}, [("TokenNotAllowed", "images.registries")]),
        ({"registries": {"a.io": None}}, [("WrongType", "images.registries[a.io]")]),
        ({"registries": {"a.io/": "b.io"}}, [("MalformedRegistry", "images.registries")]),
        ({"registries": {"https://a.io": "b.io"}}, [("MalformedRegistry", "images.registries")]),
        ({"registries": {"a.io": ""}}, [("MalformedRegistry", "images.registries[a.io]")]),
        ({"overrides": None}, [("WrongType", "images.overrides")]),
        ({"overrides": {"efa": "a.io/b:1"}}, [("WrongType", "images.overrides")]),
        (
            {"overrides": {Component.KUBE_SCHEDULER: "a.io/b:latest"}},
            [("UnpinnedImage", "images.overrides[kube-scheduler]")],
        ),
        ({"overrides": {("efa", "dra"): "a.io/b:1"}}, [("WrongType", "images.overrides")]),
        ({"overrides": {(DRA, EFA): "a.io/b:1"}}, [("WrongType", "images.overrides")]),
        (
            {"overrides": {Component.NEURON_NODE_RECOVERY: TOKEN}},
            [("TokenNotAllowed", "images.overrides[neuron-node-recovery]")],
        ),
        (
            {"overrides": {Component.NEURON_NODE_RECOVERY: "a.io/b:latest"}},
            [("UnpinnedImage", "images.overrides[neuron-node-recovery]")],
        ),
        (
            {"overrides": {"neuron-node-recovery": "a.io/b:1"}},
            [("WrongType", "images.overrides")],
        ),
        (
            {"overrides": {(DeviceType.COMPUTE_DOMAIN, PLUGIN): "a.io/b:1"}},
            [("NoRelease", "images.overrides")],
        ),
    ],
)
def test_what_is_no_source_is_named(source, expected):
    assert codes(**source) == expected


@pytest.mark.parametrize(
    ("override", "code"),
    [
        (None, "WrongType"),
        (TOKEN, "TokenNotAllowed"),
        (f"{MIRROR}/efa:{TOKEN}", "TokenNotAllowed"),
        ("", "MalformedImage"),
        ("a.io/b", "MalformedImage"),
        ("a.io:5000/b", "MalformedImage"),
        ("a.io/b:", "MalformedImage"),
        ("a.io/b: 1", "MalformedImage"),
        ("https://a.io/b:1", "MalformedImage"),
        ("a.io/b@sha256:12", "MalformedImage"),
        ("a.io/b:latest", "UnpinnedImage"),
    ],
)
def test_an_override_that_is_no_pinned_image_is_named(override, code):
    assert codes(overrides={(EFA, DRA): override}) == [(code, "images.overrides[efa by dra]")]


@pytest.mark.parametrize(
    "override", ["a.io/b:1", "a.io:5000/b/c:v1.0-x", f"a.io/b:latest@sha256:{'a' * 64}"]
)
def test_an_override_with_a_release_is_taken(override):
    assert image(EFA, DRA, overrides={(EFA, DRA): override}) == override


@pytest.mark.parametrize(
    ("key", "image", "told"),
    [
        ((DeviceType.GPU, Mechanism.DEVICE_PLUGIN), "a.io/nvidia:v0.19.1", True),
        ((DeviceType.GPU, Mechanism.DEVICE_PLUGIN), "a.io/nvidia:v0.19.3", False),
        ((DeviceType.GPU, Mechanism.DEVICE_PLUGIN), "a.io/nvidia:ours-7", False),
        ((DeviceType.GPU, Mechanism.DEVICE_PLUGIN), "a.io/nvidia:v0.18.2", False),
        *(
            ((device, Mechanism.DRA), f"a.io/nvidia:{tag}", told)
            for device in (DeviceType.GPU, DeviceType.COMPUTE_DOMAIN)
            for tag, told in (
                ("v0.4.0", True),
                ("v0.4.1", False),
                ("v0.5.0", False),
                # Years named releases before they began anew at 0.4.
                ("v25.12.0", True),
                ("25.3.2", True),
            )
        ),
        ((DeviceType.EFA, Mechanism.DEVICE_PLUGIN), f"a.io/efa@sha256:{'0' * 64}", False),
        # They stop reading the kernel log without a word.
        (Component.NODE_PROBLEM_DETECTOR, "a.io/npd:v1.35.3", True),
        (Component.NODE_PROBLEM_DETECTOR, "a.io/npd:v0.8.19", True),
        (Component.NODE_PROBLEM_DETECTOR, "a.io/npd:v1.36.1", False),
        (Component.NEURON_NODE_RECOVERY, "a.io/recovery:1.9.0", False),
    ],
)
def test_a_release_that_is_known_to_fail_is_refused_as_an_override(key, image, told):
    try:
        ImageSource(overrides={key: image})
    except EksDevicesError as error:
        found = [one.code for one in error.faults]
    else:
        found = []

    assert found == (["ImageToAvoid"] if told else [])


@pytest.mark.parametrize(
    ("instance_type", "tag", "told"),
    [
        ("p5.48xlarge", "v0.5.9", False),
        ("p6-b200.48xlarge", "v0.5.9", True),
        ("p6-b200.48xlarge", "0.4.1-eksbuild.2", True),
        ("p6-b200.48xlarge", "v0.5.10", False),
        ("p6e-gb200.36xlarge", "v0.5.13", True),
        ("p6e-gb200.36xlarge", "v0.5.14", False),
        ("p6e-gb200.36xlarge", "v0.5.22-eksbuild.9", False),
        ("p6e-gb200.36xlarge", "ours-7", False),
    ],
)
def test_a_release_that_does_not_serve_a_type_is_refused_for_its_groups(instance_type, tag, told):
    block = Capacity.block("cr-0123456789abcdef0")
    group = NodegroupSpec(
        name="a",
        instance_type=instance_type,
        capacity=block,
        max_size=1,
        mechanism={DeviceType.GPU: DRA, EFA: Mechanism.DEVICE_PLUGIN},
    )
    plan = plan_cluster(kubernetes_version="1.36", nodegroups=[group])
    images = ImageSource(
        region="us-east-2", overrides={(EFA, Mechanism.DEVICE_PLUGIN): f"a.io/efa:{tag}"}
    )

    try:
        device_manifests(plan, images=images)
    except EksDevicesError as error:
        found = [(one.code, one.path) for one in error.faults]
    else:
        found = []

    assert found == ([("ImageToAvoid", "images.overrides[efa by device-plugin]")] if told else [])


@pytest.mark.parametrize("name", ["registries", "overrides"])
def test_a_mapping_that_cannot_be_read_is_a_fault(name):
    assert codes(**{name: HostileMapping()}) == [("WrongType", f"images.{name}")]


@pytest.mark.parametrize("text", [HostileText, UncomparedText])
def test_texts_of_other_classes_are_taken_as_plain_ones(text):
    own = "example.com/neuron-dra:v1.0.0"
    plain = ImageSource(
        region="us-east-2",
        partition="aws",
        registries={"public.ecr.aws": MIRROR},
        overrides={(NEURON, DRA): own},
    )
    strange = ImageSource(
        region=text("us-east-2"),
        partition=text("aws"),
        registries={text("public.ecr.aws"): text(MIRROR)},
        overrides={(NEURON, DRA): text(own)},
    )

    assert strange == plain
    for key in ((EFA, DRA), (NEURON, PLUGIN), (NEURON, DRA)):
        named = strange.image(device_type=key[0], mechanism=key[1])
        assert (type(named), named) == (
            str,
            plain.image(device_type=key[0], mechanism=key[1]),
        )


BAD_KEYS: list[Any] = [
    Hostile(),
    Untouchable(),
    HostileText("kube-scheduler"),
    UncomparedText("kube-scheduler"),
    HostileTuple((EFA, DRA)),
    (Hostile(), DRA),
    (EFA, HostileText("dra")),
    "kube-scheduler",
]


@pytest.mark.parametrize("key", BAD_KEYS, ids=range(len(BAD_KEYS)))
def test_a_key_that_names_nothing_is_a_fault_however_it_behaves(key):
    with pytest.raises(EksDevicesError) as raised:
        ImageSource(overrides={key: "example.com/a:v1.0.0"})

    (fault,) = raised.value.faults
    assert (fault.code, fault.path) == ("WrongType", "images.overrides")
    assert "Component" in str(fault)


@pytest.mark.parametrize("minor", [136, ["1.36"], bytearray(b"1.36"), Hostile(), TOKEN], ids=type)
def test_the_minor_of_a_component_is_a_text(minor: Any):
    with pytest.raises(EksDevicesError) as raised:
        ImageSource().component_image(Component.KUBE_SCHEDULER, kubernetes_version=minor)

    assert [one.path for one in raised.value.faults] == ["kubernetes_version"]
