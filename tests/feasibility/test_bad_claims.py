"""Manifests that no API server takes are faults, and no value trips the check."""

import copy

import pytest
from tests.feasibility_claims import EFA, GPU, claim, exactly, first_of, group_of, match, said
from tests.hostile import (
    NUMBER_TOKEN,
    TOKEN,
    Hostile,
    HostileList,
    HostileMapping,
    HostileText,
    UncomparedNumber,
    UncomparedText,
    Untouchable,
    doubled,
    endless,
)

from eks_devices import EksDevicesError
from eks_devices.feasibility import check_claims

P5 = "p5.48xlarge"
BAD = [
    None,
    5,
    -1.5,
    "text",
    [5],
    {"a": 1},
    TOKEN,
    NUMBER_TOKEN,
    Hostile(),
    Untouchable(),
    HostileMapping(),
    HostileList([1]),
    HostileText("x"),
    UncomparedText("x"),
    UncomparedNumber(1),
    endless(),
    doubled(40),
]
FULL = claim(
    exactly(
        GPU,
        "true",
        count=2,
        allocationMode="ExactCount",
        adminAccess=False,
        capacity={"requests": {"memory": "1Gi"}},
        tolerations=[{"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"}],
    ),
    first_of(exactly(EFA, "true")),
    match("resource.kubernetes.io/pcieRoot", "gpu"),
    {"distinctAttribute": "gpu.nvidia.com/uuid", "requests": ["gpu"]},
)
REQUEST = ("spec", "devices", "requests", 0, "exactly")


def places(value, at=()):
    """The way to every value of a manifest."""
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value)
    if isinstance(value, (dict, list)):
        for key, one in items:
            yield from places(one, (*at, key)) if isinstance(one, (dict, list)) else [(*at, key)]


def changed(manifest, at, value):
    found = copy.deepcopy(manifest)
    inner = found
    for step in at[:-1]:
        inner = inner[step]
    inner[at[-1]] = value
    return found


def answered(manifest):
    """The verdicts, or the text of the faults."""
    try:
        return check_claims([manifest], group_of(P5))
    except EksDevicesError as error:
        return str(error)


def faults(*claims, **more):
    with pytest.raises(EksDevicesError) as caught:
        check_claims(list(claims), group_of(P5), **more)
    return caught.value.faults


@pytest.mark.parametrize("at", [one for one in places(FULL) if one], ids=str)
def test_any_value_at_any_place_is_a_fault_or_an_answer(at):
    for bad in BAD:
        assert answered(changed(FULL, at, bad))


@pytest.mark.parametrize("bad", BAD, ids=lambda one: type(one).__name__)
def test_what_is_no_claim_no_list_and_no_plan_is_a_fault(bad):
    assert faults(bad)
    with pytest.raises(EksDevicesError):
        check_claims(bad, group_of(P5))
    with pytest.raises(EksDevicesError):
        check_claims([FULL], bad)
    if bad is not None:
        assert faults(FULL, device_classes=[bad])


@pytest.mark.parametrize(
    ("at", "value", "path"),
    [
        (("apiVersion",), "resource.k8s.io/v1beta1", "apiVersion"),
        (("kind",), "Pod", "kind"),
        (("spec", "devices", "requests"), [], "requests"),
        (("spec", "devices", "requests", 0, "exactly", "count"), -1, "count"),
        (("spec", "devices", "requests", 0, "exactly", "count"), 2**63, "count"),
        (("spec", "devices", "requests", 0, "exactly", "count"), True, "count"),
        (("spec", "devices", "requests", 0, "exactly", "allocationMode"), "Some", "allocationMode"),
        (("spec", "devices", "requests", 0, "exactly", "deviceClassName"), "", "deviceClassName"),
        (("spec", "devices", "requests", 0, "name"), "first", "requests"),
        (("spec", "devices", "requests", 0, "firstAvailable"), [{"name": "x"}], "exactly"),
        (("spec", "devices", "constraints", 0, "requests"), ["other"], "requests"),
        (("spec", "devices", "constraints", 1, "distinctAttribute"), "uuid", "distinctAttribute"),
        ((*REQUEST, "capacity", "requests", "memory"), "1 GiB", "memory"),
        ((*REQUEST, "capacity", "requests"), ["memory"], "capacity.requests"),
        ((*REQUEST, "tolerations", 0, "effect"), "Sometimes", "effect"),
        ((*REQUEST, "tolerations", 0, "operator"), "Exists", "value"),
        ((*REQUEST, "tolerations", 0, "operator"), "Like", "operator"),
        (("spec", "devices", "constraints", 0, "matchAttribute"), "pcieRoot", "matchAttribute"),
        (
            ("spec", "devices", "requests"),
            [exactly(GPU, name=f"r{n}") for n in range(33)],
            "requests",
        ),
    ],
)
def test_what_the_api_server_refuses_is_told_with_its_place(at, value, path):
    (first, *_) = faults(changed(FULL, at, value))

    assert first.path.startswith("claims.default/c.")
    assert path in first.path


def test_all_faults_of_all_claims_come_together():
    found = faults(
        changed(FULL, ("kind",), "Pod"),
        changed(FULL, ("spec", "devices", "requests", 0, "exactly", "count"), -3),
    )

    assert len(found) == 2


def test_no_claim_is_a_fault():
    assert faults()


def test_a_count_that_is_left_out_or_0_is_1():
    for count in ({}, {"count": 0}, {"count": None}):
        assert said(P5, claim(exactly(GPU, name="a", **count))) == ("feasible", "")


@pytest.mark.parametrize("count", [33, 2**31, 2**63 - 1])
def test_no_count_is_too_large_for_the_api_server(count):
    assert said(P5, claim(exactly(GPU, count=count))) == ("error", "TooManyDevicesInClaim")


def test_without_the_engine_the_extra_is_named(monkeypatch):
    from eks_devices.feasibility.cel import engine

    engine.engine.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "cel_expr_python", None)
    try:
        with pytest.raises(EksDevicesError, match=r"pip install \"\.\[check\]"):
            engine.engine()
    finally:
        engine.engine.cache_clear()
