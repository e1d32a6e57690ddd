"""Values that raise when they are shown, compared or read: faults like any others."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from eks_devices import ClaimSharing, Feature, TimeSliceInterval
from eks_devices.claims import ComputeDomain, DeviceRequest, MatchAttribute, ResourceClaimTemplate
from eks_devices.findings import EksDevicesError

HUGE = 10**5000


class Unshown:
    def __str__(self) -> str:
        raise RuntimeError

    __repr__ = __str__


class Uncompared:
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        raise RuntimeError


class UnshownText(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError

    def __format__(self, _: str) -> str:
        raise RuntimeError


class UnreadList(list[Any]):
    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError


class UnreadTuple(tuple[Any, ...]):
    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError


class UnreadMapping(Mapping[str, str]):
    def __getitem__(self, key: str) -> str:
        raise RuntimeError

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError

    def __len__(self) -> int:
        raise RuntimeError


def claim(**options: Any) -> ResourceClaimTemplate:
    return ResourceClaimTemplate(**{"name": "c", "requests": [DeviceRequest.gpu()], **options})


def request(**options: Any) -> DeviceRequest:
    return DeviceRequest.gpu(**options)


def selectors(value: Any) -> DeviceRequest:
    kind: Any = DeviceRequest.gpu().kind
    return DeviceRequest(kind=kind, name="gpu", count=1, selectors=value)


def domain(**options: Any) -> ComputeDomain:
    return ComputeDomain(**{"name": "d", **options})


NAMED: list[tuple[Callable[..., Any], str]] = [
    (claim, "name"),
    (claim, "namespace"),
    (request, "name"),
    (domain, "name"),
    (domain, "namespace"),
    (domain, "channel_template"),
]


@pytest.mark.parametrize("value", [HUGE, -HUGE, Unshown()], ids=["huge", "negative", "unshown"])
@pytest.mark.parametrize(("make", "option"), NAMED)
def test_a_name_that_cannot_be_shown_has_the_wrong_type(make, option, value):
    with pytest.raises(EksDevicesError) as caught:
        make(**{option: value})

    (fault,) = caught.value.faults
    assert fault.code == "WrongType"
    assert fault.path.endswith(f".{option}")
    assert fault.got in ("<int>", "<Unshown>")


@pytest.mark.parametrize(("make", "option"), NAMED)
def test_a_text_of_another_class_is_taken_as_the_plain_text(make, option):
    made = make(**{option: UnshownText("a")})

    assert type(getattr(made, option)) is str
    assert made == make(**{option: "a"})


@pytest.mark.parametrize(("make", "option"), NAMED)
def test_a_malformed_text_of_another_class_is_a_fault(make, option):
    with pytest.raises(EksDevicesError, match="MalformedName"):
        make(**{option: UnshownText("A")})


SELECTED = [("instance_type", "trn2.48xlarge"), ("driver_version", "2.25.4.0")]


@pytest.mark.parametrize("value", [Unshown(), Uncompared(), UnreadList(), UnreadMapping()])
@pytest.mark.parametrize("option", [name for name, _ in SELECTED])
@pytest.mark.parametrize("make", [DeviceRequest.neuron, DeviceRequest.ultraserver_node])
def test_a_type_or_driver_of_nodes_that_cannot_be_looked_at_has_the_wrong_type(make, option, value):
    with pytest.raises(EksDevicesError) as caught:
        make(**{option: value})

    (fault,) = caught.value.faults
    assert (fault.code, fault.path.rpartition(".")[2]) == ("WrongType", option)


@pytest.mark.parametrize(("option", "text"), SELECTED)
@pytest.mark.parametrize("make", [DeviceRequest.neuron, DeviceRequest.ultraserver_node])
def test_a_type_or_driver_in_another_class_of_text_is_the_plain_text(make, option, text):
    made = make(**{option: UnshownText(text)})

    assert type(getattr(made, option)) is str
    assert made == make(**{option: text})


@pytest.mark.parametrize("value", [UnreadList(), UnreadTuple((1,)), UnreadMapping()])
@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda value: claim(requests=value), "claims.default/c.requests"),
        (selectors, "requests.gpu.selectors"),
        (lambda value: claim(labels=value), "claims.default/c.labels"),
        (lambda value: claim(claim_labels=value), "claims.default/c.claim_labels"),
    ],
)
def test_a_list_or_mapping_that_cannot_be_read_has_the_wrong_type(make, path, value):
    with pytest.raises(EksDevicesError) as caught:
        make(value)

    (fault,) = caught.value.faults
    assert (fault.code, fault.path) == ("WrongType", path)


def test_keys_and_values_of_labels_that_cannot_be_shown():
    labels = {Unshown(): "b", "a": Unshown(), HUGE: HUGE}

    with pytest.raises(EksDevicesError) as caught:
        claim(labels=labels)

    assert {one.code for one in caught.value.faults} == {"WrongType"}
    assert len(caught.value.faults) == 4


def test_an_attribute_of_another_class_of_text_is_plain():
    assert MatchAttribute.of(UnshownText("a.b/c")) == MatchAttribute.of("a.b/c")


@pytest.mark.parametrize("on", [None, "p5.48xlarge"])
@pytest.mark.parametrize("match", [None, MatchAttribute.PCIE_ROOT])
def test_counts_that_cannot_be_written_out_are_faults(on, match):
    requests = [
        DeviceRequest.gpu(HUGE),
        DeviceRequest.mig("1g.10gb", HUGE),
        DeviceRequest.efa(HUGE),
    ]
    made = claim(requests=requests, match=match)

    with pytest.raises(EksDevicesError) as caught:
        made.to_dict(kubernetes_version="1.34", instance_type=on)

    assert "<int> devices" in caught.value.faults[-1].got


def test_a_domain_of_nodes_that_cannot_be_written_out():
    with pytest.raises(EksDevicesError, match="OutOfRange"):
        ComputeDomain(name="d", nodes=HUGE)


@pytest.mark.parametrize("kind", [None, "gpu", [], {}, Uncompared()])
def test_a_kind_that_is_none_is_the_one_fault(kind):
    with pytest.raises(EksDevicesError) as error:
        DeviceRequest(kind=kind, name="gpu", count=1)

    assert [one.path for one in error.value.faults] == ["requests.gpu.kind"]


def test_time_slicing_takes_no_memory_that_is_no_mapping():
    memory: Any = None
    with pytest.raises(EksDevicesError) as error:
        ClaimSharing(
            feature=Feature.TIME_SLICING,
            interval=TimeSliceInterval.LONG,
            per_device_memory=memory,
        )

    assert [f"{one.code} {one.path}" for one in error.value.faults] == [
        "WrongType sharing.per_device_memory"
    ]


class Unhashed(str):
    __slots__ = ()

    def __hash__(self) -> int:
        raise RuntimeError


@pytest.mark.parametrize(
    ("version", "type_name"), [(Unhashed("1.36"), "p5.48xlarge"), ("1.36", Unhashed("p5.48xlarge"))]
)
def test_a_text_of_another_class_is_read_as_the_text(version, type_name):
    made = request()
    plain = {"kubernetes_version": "1.36", "instance_type": "p5.48xlarge"}
    odd = {"kubernetes_version": version, "instance_type": type_name}

    assert claim(requests=[made]).to_dict(**odd) == claim(requests=[made]).to_dict(**plain)
