"""What the allocator of each minor makes of this library's claims on this library's slices."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from tests.cluster.claim_cases import (
    CASES,
    EFA,
    GPU,
    as_cases_name_them,
    as_written,
    group_specs,
    grown,
)
from tests.cluster.oracle.oracle import claim_of, gates, question

from eks_device_charts import ImageSource, device_manifests
from eks_devices import EksDevicesError, plan_cluster
from eks_devices.claims.on_nodegroup import claim_manifest
from eks_devices.resource_slices import resource_slices

TWINS = [name for name, case in CASES.items() if case.over]


@pytest.fixture(scope="module")
def groups(oracle, spec):
    """The groups of the cases; the oracle remembers a node of each by the group's name."""
    plan = plan_cluster(kubernetes_version=oracle.minor, nodegroups=group_specs(spec))
    manifests = device_manifests(plan, images=ImageSource(region="us-east-2"))
    setting = {
        "classes": [one for one in manifests if one["kind"] == "DeviceClass"],
        "features": gates(oracle.minor),
    }
    for group in plan.nodegroups:
        slices = [
            item for one in group.devices for item in resource_slices(group, one, node=group.name)
        ]
        found = oracle.ask([], node=group.name, slices=slices, remember=group.name, **setting)
        assert found.error == ""
    return as_cases_name_them(plan.nodegroups)


def templates(groups, *names):
    """The templates of cases, and the group that they are for."""
    (group,) = {groups[CASES[name].on].name: groups[CASES[name].on] for name in names}.values()
    return [claim_manifest(CASES[name].claim(name), group) for name in names], group


@pytest.mark.parametrize("name", CASES)
def test_a_claim_gets_its_devices(oracle, groups, name):
    (template,), group = templates(groups, name)

    found = oracle.ask([claim_of(template)], recall=group.name)

    assert found.error == ""
    assert Counter(one.driver for one in found.devices) == CASES[name].gets
    assert len({(one.driver, one.device) for one in found.devices}) == len(found.devices)


@pytest.mark.parametrize("name", TWINS)
def test_one_device_more_is_not_there(oracle, groups, name):
    """And the library refuses the claim beforehand."""
    case = CASES[name]
    (template,), group = templates(groups, name)
    twin = grown(template, case.over)

    found = oracle.ask([claim_of(twin)], recall=group.name)

    assert (found.allocated, found.error) == (False, "")
    with pytest.raises(EksDevicesError):
        claim_manifest(replace(case.claim(name), requests=as_written(case, twin)), group)


def test_a_whole_node_is_two_claims_of_one_pod(oracle, groups):
    whole, group = templates(groups, "node-gpus", "node-efas")
    claims = [claim_of(one) for one in whole]

    found = oracle.ask(claims, recall=group.name)

    assert Counter((one.claim, one.driver) for one in found.devices) == {
        ("node-gpus", GPU): 8,
        ("node-efas", EFA): 32,
    }


def test_pods_fit_on_a_node_until_its_devices_are_taken(oracle, groups):
    (template,), group = templates(groups, "gpu-1")
    taken: list[dict[str, Any]] = []
    while True:
        found = oracle.ask([claim_of(template, "next"), *taken], recall=group.name)
        if not found.allocated:
            break
        taken.append(held(template, found))

    assert found.error == ""
    assert len(taken) == 8


def held(template, found):
    """The claim as it is once it has its devices."""
    results = [
        {"request": one.request, "driver": one.driver, "pool": one.pool, "device": one.device}
        for one in found.devices
    ]
    return claim_of(template) | {"status": {"allocation": {"devices": {"results": results}}}}


def test_thousands_are_answered_in_their_order(oracle, groups):
    names = ["gpu-1", "p4d-pair", "trn1-8", "trn2-1"]
    settings = [templates(groups, name) for name in names]
    wanted = [
        question([claim_of(template, f"{index}-{group.instance_type}")], recall=group.name)
        for index in range(250)
        for (template,), group in settings
    ]

    answers = list(oracle.ask_all(wanted))

    assert [one.devices[0].claim for one in answers] == [
        one["claims"][0]["metadata"]["name"] for one in wanted
    ]
