"""Selectors in words: what CEL they are, on which devices they match, and what groups say."""

from typing import Any

import pytest
from tests.claim_rows import cluster, codes, devices, fault_of, faults, group, make, told

from eks_devices import DeviceRequest, DeviceSelector, DeviceType, Mechanism, Mig
from eks_devices.claims.published_names import always_published
from eks_devices.feasibility import check_claims
from eks_devices.feasibility.cel.answers import Outcome
from eks_devices.feasibility.cel.expressions import evaluate
from eks_devices.feasibility.devices import node_devices
from eks_devices.resource_slices import resource_slice

R, S = DeviceRequest, DeviceSelector
ANY: Any = DeviceSelector
EVERY = [
    S.gpu_memory_at_least("40Gi"),
    S.gpu_product("NVIDIA H100 80GB HBM3", "it's"),
    S.gpu_architecture("Hopper"),
    S.gpu_compute_capability_at_least("9.0"),
    S.gpu_driver_at_least("580.82.07"),
    S.gpu_cuda_driver_at_least("13.0"),
    S.gpu_numa_node(0),
    S.mig_profile("1g.10gb"),
    S.pcie_root("pci0000:44"),
    S.efa_generation("efa1", "efa2"),
    S.efa_rdma(),
    S.efa_numa_node(0, 1),
    S.neuron_device(0, 1, 2, 3),
    S.device_group(4, "x"),
    S.attribute_is("gpu.nvidia.com/brand", "Nvidia"),
    S.attribute_is("example.com/namespace", True),
    S.attribute_is("example.com/size", 4),
]
TYPES = ["p5.48xlarge", "p4d.24xlarge", "g6e.12xlarge", "g7e.2xlarge", "trn2.48xlarge"]


@pytest.mark.parametrize("instance_type", TYPES)
@pytest.mark.parametrize("selector", EVERY, ids=lambda one: one.attribute)
def test_no_selector_fails_on_any_device(selector, instance_type):
    for device in node_devices(group(instance_type)).devices:
        assert evaluate(str(selector), device).outcome is not Outcome.FAILS


@pytest.mark.parametrize(
    ("selector", "instance_type", "driver", "matching"),
    [
        (S.gpu_memory_at_least("81152Mi"), "p5.48xlarge", "gpu.nvidia.com", 8),
        (S.gpu_memory_at_least("80Gi"), "p5.48xlarge", "gpu.nvidia.com", 0),
        (S.gpu_product("NVIDIA H100 80GB HBM3"), "p5.48xlarge", "gpu.nvidia.com", 8),
        (S.gpu_compute_capability_at_least("8.9"), "p5.48xlarge", "gpu.nvidia.com", 8),
        (S.gpu_compute_capability_at_least("9.0.1"), "p5.48xlarge", "gpu.nvidia.com", 0),
        (S.gpu_compute_capability_at_least("10"), "p5.48xlarge", "gpu.nvidia.com", 0),
        (S.efa_generation("efa1", "efa9"), "p5.48xlarge", "dra.net", 32),
        (S.efa_numa_node(0), "p5.48xlarge", "dra.net", 16),
        (S.neuron_device(0, 3, 99), "trn2.48xlarge", "neuron.aws.com", 2),
        (S.attribute_is("neuron.aws.com/topology_x", 1), "trn2.48xlarge", "neuron.aws.com", 4),
    ],
)
def test_a_selector_matches_what_it_says(selector, instance_type, driver, matching):
    own = [one for one in node_devices(group(instance_type)).devices if one.driver == driver]

    found = [evaluate(str(selector), one).outcome for one in own]

    assert found.count(Outcome.TRUE) == matching
    assert found.count(Outcome.FALSE) == len(own) - matching


def test_texts_of_a_user_stay_texts():
    odd = S.attribute_is("gpu.nvidia.com/brand", "a' || true || 'b", "\\", 'c"')

    for device in node_devices(group("p5.48xlarge")).devices:
        assert evaluate(str(odd), device).outcome is Outcome.FALSE


def test_selectors_and_cel_stand_beside_each_other():
    asked = R.gpu().where(S.gpu_architecture("Hopper")).where("true")
    (request,) = devices(make(asked))["requests"]

    assert [one["cel"]["expression"] for one in request["exactly"]["selectors"]] == [
        (
            "'architecture' in device.attributes['gpu.nvidia.com'] && "
            "device.attributes['gpu.nvidia.com'].architecture == 'Hopper'"
        ),
        "true",
    ]


@pytest.mark.parametrize(
    ("make_it", "code"),
    [
        (lambda: S.gpu_memory_at_least("much"), "MalformedQuantity"),
        (lambda: S.gpu_memory_at_least("1Ki"), "OutOfRange"),
        (lambda: ANY.gpu_memory_at_least(80), "WrongType"),
        (lambda: S.gpu_driver_at_least("580.82.07.1"), "MalformedVersion"),
        (lambda: S.gpu_driver_at_least("latest"), "MalformedVersion"),
        (S.gpu_product, "WrongType"),
        (lambda: S.gpu_product("a\nb"), "OutOfRange"),
        (lambda: S.gpu_product("${Token[A.1]}"), "TokenNotAllowed"),
        (lambda: ANY.gpu_numa_node(1.5), "WrongType"),
        (lambda: ANY.attribute_is("a.b/c", 1, "1"), "WrongType"),
        (lambda: S.attribute_is("a.b/c", 2**63), "WrongType"),
        (lambda: S.attribute_is("brand", "Nvidia"), "MalformedAttribute"),
        (lambda: S.attribute_is("gpu.nvidia.com/driverVersion", "580.82.7"), "VersionEqualsText"),
        (lambda: ANY(attribute="a.b/c", values="d"), "WrongType"),
        (lambda: ANY(attribute="a.b/c", values=["d"], test="one of"), "WrongType"),
    ],
)
def test_what_no_selector_can_say_is_refused(make_it, code):
    assert fault_of(make_it).code == code


@pytest.mark.parametrize(
    ("request_", "selector"),
    [
        (R.efa(1), S.gpu_memory_at_least("1Gi")),
        (R.gpu(), S.attribute_is("gpu.nvidia.com/memory", "80Gi")),
        (R.gpu(), S.efa_rdma()),
        (R.neuron(), S.pcie_root("pci0000:44")),
        (R.passthrough_gpu(), S.gpu_memory_at_least("1Gi")),
    ],
)
def test_a_selector_for_other_devices_is_refused(request_, selector):
    assert fault_of(lambda: request_.where(selector)).code == "SelectorDoesNotFit"


@pytest.mark.parametrize(
    ("amount", "instance_type", "published", "write"),
    [
        ("80Gi", "p5.48xlarge", "81152Mi", "79528Mi"),
        ("16Gi", "g4dn.xlarge", "15360Mi", "15052Mi"),
        ("40Gi", "p4d.24xlarge", "40320Mi", "39513Mi"),
        ("141Gi", "p5en.48xlarge", "143360Mi", "140492Mi"),
    ],
)
def test_more_memory_than_the_driver_publishes_is_refused_with_the_number_to_write(
    amount, instance_type, published, write
):
    claim = make(R.gpu().where(S.gpu_memory_at_least(amount)))
    plan = cluster(instance_type, mechanism=Mechanism.DRA)

    found = fault_of(lambda: told(claim, plan.nodegroups[0]))

    assert found.code == "MemoryAboveDriverNumber"
    assert published in found.allowed
    assert write in found.fix
    assert check_claims([claim], plan)[0].status == "infeasible"
    right = make(R.gpu().where(S.gpu_memory_at_least(write)))
    assert told(right, plan.nodegroups[0]) is not None
    assert check_claims([right], plan)[0].status == "feasible"


def test_more_than_ec2_tells_of_is_no_matter_of_names():
    claim = make(R.gpu().where(S.gpu_memory_at_least("200Gi")))

    assert "EC2 tells of" in fault_of(lambda: told(claim, group("p5.48xlarge"))).message


@pytest.mark.parametrize(
    ("request_", "instance_type"),
    [
        (R.gpu().where(S.gpu_product("NVIDIA H200")), "p5.48xlarge"),
        (R.gpu().where(S.gpu_architecture("Blackwell")), "p5.48xlarge"),
        (R.gpu().where(S.gpu_compute_capability_at_least("10.0")), "p5.48xlarge"),
        (R.efa(1).where(S.efa_generation("efa3")), "p5.48xlarge"),
        (R.efa(17).where(S.efa_numa_node(0)), "p5.48xlarge"),
        (R.neuron(2).where(S.neuron_device(0)), "trn2.48xlarge"),
        (R.efa(1).where(S.efa_numa_node(0)), "g6e.12xlarge"),
    ],
)
def test_a_group_refuses_what_too_few_of_its_devices_have(request_, instance_type):
    plan = cluster(instance_type, efa=True)

    found = faults(lambda: told(make(request_), plan.nodegroups[0]))

    assert found == {"requests[0].selectors[0]": "SelectorMatchesTooFew"}
    assert check_claims([make(request_)], plan)[0].status == "infeasible"


@pytest.mark.parametrize(
    ("request_", "instance_type"),
    [
        (R.gpu().where(S.gpu_product("NVIDIA H200")), "g7e.2xlarge"),
        (R.gpu().where(S.gpu_driver_at_least("999")), "p5.48xlarge"),
        (R.gpu().where(S.pcie_root("pci0000:ff")), "p5.48xlarge"),
        (R.efa(1).where(S.efa_rdma()), "trn2.48xlarge"),
        (R.efa(16).where(S.efa_numa_node(0)), "p5.48xlarge"),
    ],
)
def test_what_only_a_running_node_knows_is_no_fault(request_, instance_type):
    assert told(make(request_), group(instance_type, mechanism=Mechanism.DRA)) is not None


def test_partitions_are_compared_with_what_they_have():
    cut = group("p5.48xlarge", mechanism=Mechanism.DRA, mig=Mig.uniform("1g.10gb"))
    small, large = (R.mig("1g.10gb").where(S.gpu_memory_at_least(one)) for one in ("9Gi", "20Gi"))

    assert told(make(small), cut) is not None
    assert faults(lambda: told(make(large), cut)) == {
        "requests[0].selectors[0]": "MemoryAboveDriverNumber"
    }


def test_an_alternative_that_matches_nothing_there_is_an_info():
    some = R.first_available(
        R.gpu(name="large").where(S.gpu_memory_at_least("100Gi")), R.gpu(2, name="two")
    )

    assert "AlternativeNeverServed" in codes(make(some), group("p5.48xlarge"))


GUARD = "'numaNode' in device.attributes['dra.net'] && "


@pytest.mark.parametrize(
    ("cel", "found"),
    [
        ("device.attributes['dra.net'].numaNode == 0", {"UnguardedAttribute"}),
        ('device.attributes["dra.net"]["numaNode"] == 0', {"UnguardedAttribute"}),
        (GUARD + "device.attributes['dra.net'].numaNode == 0", set()),
        ("device.attributes['dra.net'].?numaNode.orValue(0) == 0", set()),
        ("has(device.attributes['dra.net'].numaNode)", set()),
        ("device.attributes['dra.net'].pciDevice != 'x'", set()),
        ("device.attributes['dra.net'].numaNodes == 0", {"AttributeNotPublished"}),
        ("'numaNodes' in device.attributes['dra.net']", {"AttributeNotPublished"}),
        ("device.attributes['gpu.nvidia.com'].type == 'gpu'", {"AttributeNotPublished"}),
        ("device.attributes['example.com'].a == 1", {"UnguardedAttribute"}),
        ("'a' in device.attributes['example.com']", set()),
        ("device.driver == 'dra.net'", set()),
    ],
)
def test_cel_of_a_user_is_read_for_what_devices_may_lack(cel, found):
    asked = codes(make(R.efa(1).where(cel)), group("p5.48xlarge"))

    assert asked & {"UnguardedAttribute", "AttributeNotPublished"} == found


def test_amounts_of_partitions_are_known_too():
    cut = group("p5.48xlarge", mechanism=Mechanism.DRA, mig=Mig.uniform("1g.10gb"))
    owner = "device.capacity['gpu.nvidia.com']"
    cel = f"'multiprocessors' in {owner} && {owner}.multiprocessors.isGreaterThan(quantity('1'))"

    found = codes(make(R.mig("1g.10gb").where(cel)), cut)

    assert found.isdisjoint({"AttributeNotPublished", "UnguardedAttribute"})


def test_what_is_meant_is_told():
    cel = "device.attributes['dra.net'].numanode == 0"

    (found,) = [
        one
        for one in told(make(R.efa(1).where(cel)), group("p5.48xlarge"))
        if one.code == "AttributeNotPublished"
    ]

    assert found.path == "claims.n/c.requests[0].selectors[0]"
    assert found.fix == "did you mean dra.net/numaNode?"


def test_memory_is_compared_on_a_type_without_a_group_too():
    large = make(R.gpu().where(S.gpu_memory_at_least("80Gi")))

    assert faults(lambda: devices(large, "p5.48xlarge")) == {
        "requests[0].selectors[0]": "MemoryAboveDriverNumber"
    }
    for name in (None, "p4de.24xlarge", "g7e.2xlarge"):
        assert devices(large, name)


@pytest.mark.parametrize(
    ("instance_type", "device_type", "kind", "options"),
    [
        ("p5.48xlarge", DeviceType.GPU, "gpu", {}),
        ("p5.48xlarge", DeviceType.GPU, "mig", {"mig": Mig.uniform("1g.10gb")}),
        ("p5.48xlarge", DeviceType.EFA, "efa", {}),
        ("trn2.48xlarge", DeviceType.NEURON, "neuron", {}),
    ],
)
def test_what_every_device_has_is_among_what_drivers_publish(
    instance_type, device_type, kind, options
):
    plan = group(instance_type, mechanism=Mechanism.DRA, **options)
    device = plan.device_of(device_type)
    assert device is not None
    content = resource_slice(plan, device, node="a")["spec"]

    for one in content["devices"]:
        has = {*one["attributes"], *one.get("capacity", {})}
        qualified = {name if "/" in name else f"{content['driver']}/{name}" for name in has}
        assert {*always_published(kind)} <= qualified
