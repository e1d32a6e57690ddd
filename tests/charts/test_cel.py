"""CEL of classes, filters and CRDs compiles to a truth value, and picks what it should.

The engine is Google's, by the extra `check`. Kubernetes gives an empty map for an attribute domain
that a device lacks, so the domains of a text are filled in here.
"""

import re

import pytest
from cel_expr_python import cel  # type: ignore[import-untyped]

from eks_devices import AcceleratedInstanceType
from eks_devices.published import gpu_model, mig_profiles, pcie_roots

MAP = cel.Type.Map(cel.Type.STRING, cel.Type.DYN)
DEVICES = cel.NewEnv(variables={"device": MAP})
RULES = cel.NewEnv(variables={"self": cel.Type.DYN, "oldSelf": cel.Type.DYN})
FILTERS = cel.NewEnv(variables={"attributes": MAP})
EFA = "Elastic Fabric Adapter (EFA)"


def answer(env, text, **data):
    """What an expression says; errors are values in this engine, so the type is looked at."""
    value = env.compile(text).eval(data=data)
    assert value.type() == cel.Type.BOOL, value.plain_value()
    return value.plain_value()


def selects(text, device):
    domains = re.findall(r"attributes\['([^']+)'\]", text)
    attributes = {domain: {} for domain in domains} | device["attributes"]
    return answer(DEVICES, text, device={**device, "attributes": attributes})


def device(driver, **attributes):
    own = {name: value for name, value in attributes.items() if "/" not in name}
    return {"driver": driver, "attributes": {driver: own} if own else {}}


def published():
    """Each kind of device that a driver publishes, by kind; GPUs and EFAs from the data."""
    found = {
        "neuron": [device("neuron.aws.com", deviceId=0, resourceType="neuron_device")],
        "daemon": [device("compute-domain.nvidia.com", type="daemon", id=0)],
        "channel": [device("compute-domain.nvidia.com", type="channel", id=0)],
        "other channel": [device("compute-domain.nvidia.com", type="channel", id=1)],
        "vfio": [device("gpu.nvidia.com", type="vfio", productName="NVIDIA L4")],
        "ena": [device("dra.net", pciDevice="Elastic Network Adapter (ENA)", ifName="ens5")],
        "veth": [device("dra.net", ifName="veth0"), device("dra.net")],
        "stranger": [device("gpu.example.com", type="gpu"), device("example.com")],
        "gpu": [],
        "mig": [],
        "efa": [],
    }
    for instance in AcceleratedInstanceType.all():
        model, roots = gpu_model(instance.name), pcie_roots(instance.name)
        if model is not None and roots is not None:
            found["gpu"].append(device("gpu.nvidia.com", type="gpu", productName=model))
            found["efa"] += [device("dra.net", pciDevice=EFA, rdma=True)] * any(
                root.efas for root in roots
            )
        found["mig"] += [
            device("gpu.nvidia.com", type="mig", profile=profile, productName=model)
            for profile in mig_profiles(instance.name) or ()
        ]
    return found


PUBLISHED = published()


@pytest.fixture
def classes(manifests):
    return {
        item["metadata"]["name"]: item["spec"]["selectors"]
        for item in manifests("every-manager")
        if item["kind"] == "DeviceClass"
    }


def test_the_data_has_devices_of_every_kind():
    assert {kind for kind, devices in PUBLISHED.items() if not devices} == set()
    assert len(PUBLISHED["gpu"]) > 40
    assert len(PUBLISHED["efa"]) > 20


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("compute-domain-daemon.nvidia.com", "daemon"),
        ("compute-domain-default-channel.nvidia.com", "channel"),
        ("efa.networking.k8s.aws", "efa"),
        ("gpu.nvidia.com", "gpu"),
        ("mig.nvidia.com", "mig"),
        ("neuron.aws.com", "neuron"),
    ],
)
def test_a_class_selects_its_devices_and_no_other(classes, name, kind):
    (selector,) = classes[name]
    text = selector["cel"]["expression"]

    chosen = {
        other: {selects(text, one) for one in devices} for other, devices in PUBLISHED.items()
    }

    assert chosen == {other: {other == kind} for other in PUBLISHED}


def test_efas_are_claimed_whatever_the_driver_says_of_their_rdma(classes):
    (selector,) = classes["efa.networking.k8s.aws"]
    text = selector["cel"]["expression"]

    for flag in ({"rdma": True}, {"rdma": False}, {}):
        assert selects(text, device("dra.net", pciDevice=EFA, **flag))


def test_these_are_all_classes(classes):
    assert sorted(classes) == [
        "compute-domain-daemon.nvidia.com",
        "compute-domain-default-channel.nvidia.com",
        "efa.networking.k8s.aws",
        "gpu.nvidia.com",
        "mig.nvidia.com",
        "neuron.aws.com",
    ]


def test_an_attribute_that_a_device_lacks_would_be_noticed():
    with pytest.raises(AssertionError, match="NOT_FOUND"):
        selects("device.attributes['dra.net'].pciDevice == 'x'", device("dra.net"))


def test_the_efa_driver_publishes_no_other_interface(find):
    (container,) = find("DaemonSet", "efa-dra")["spec"]["template"]["spec"]["containers"]
    (text,) = (
        one.removeprefix("--filter=") for one in container["args"] if one.startswith("--filter=")
    )

    def keeps(**names):
        values = {f"dra.net/{name}": {"StringValue": value} for name, value in names.items()}
        return answer(FILTERS, text, attributes=values)

    assert keeps(pciDevice=EFA)
    assert not keeps(pciDevice="Elastic Network Adapter (ENA)")
    assert not keeps(ifName="veth0")
    assert not keeps()


def test_the_spec_of_a_compute_domain_cannot_change(find):
    crd = find(
        "CustomResourceDefinition", "compute-domain-dra", name="computedomains.resource.nvidia.com"
    )
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    (rule,) = schema["x-kubernetes-validations"]
    spec = {"numNodes": 0, "channel": {"resourceClaimTemplate": {"name": "a"}}}

    assert answer(RULES, rule["rule"], self=spec, oldSelf=dict(spec)) is True
    assert answer(RULES, rule["rule"], self=spec | {"numNodes": 2}, oldSelf=spec) is False


def test_a_class_has_the_resource_name_from_1_36_on(find):
    for version, expected in (("1.34", None), ("1.35", None), ("1.36", "nvidia.com/gpu")):
        item = find("DeviceClass", "gpu-dra", name="gpu.nvidia.com", version=version)
        assert item["spec"].get("extendedResourceName") == expected


def test_no_other_class_has_a_resource_name(manifests, version):
    named = [
        item["metadata"]["name"]
        for item in manifests("every-manager", version=version)
        if item["spec" if "spec" in item else "metadata"].get("extendedResourceName")
    ]

    assert named == (["gpu.nvidia.com"] if version in ("1.36", "1.37") else [])
