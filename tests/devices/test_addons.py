"""The managed add-ons that a user chooses: their faults, and what comes of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.hostile import TOKEN, Hostile, HostileList, HostileMapping

from eks_devices.addons import addon_faults, chosen_addons


def faults(addons: Any) -> list[str]:
    return [f"{one.code} {one.path}" for one in addon_faults(addons)]


def names(addons: Any) -> list[str]:
    return [one.name for one in chosen_addons(addons)]


def test_without_a_choice_every_addon_of_the_fleet_is_there():
    assert sorted(names(None)) == [
        "coredns",
        "eks-node-monitoring-agent",
        "eks-pod-identity-agent",
        "kube-proxy",
        "vpc-cni",
    ]


def test_an_empty_choice_is_none_of_them():
    assert names(()) == []


def test_only_coredns_needs_nodes_and_only_networking_comes_before_them():
    assert [one.name for one in chosen_addons(None) if one.needs_nodes] == ["coredns"]
    assert {one.name for one in chosen_addons(None) if one.before_nodes} == {
        "eks-pod-identity-agent",
        "kube-proxy",
        "vpc-cni",
    }


def test_the_agent_is_drawn_before_the_addon_whose_role_it_serves():
    drawn = names(["vpc-cni", "eks-pod-identity-agent"])

    assert drawn == ["eks-pod-identity-agent", "vpc-cni"]


def test_the_order_and_the_kind_of_the_collection_change_nothing():
    chosen = chosen_addons(["vpc-cni", "coredns"])

    assert chosen == chosen_addons({"coredns", "vpc-cni"})
    assert chosen == chosen_addons({"vpc-cni": None, "coredns": None})


def test_versions_are_pinned_where_they_are_named_alone():
    chosen = chosen_addons({"vpc-cni": "v1.20.0-eksbuild.1", "coredns": None})

    assert {one.name: one.version for one in chosen} == {
        "vpc-cni": "v1.20.0-eksbuild.1",
        "coredns": None,
    }


def test_gpus_on_tainted_nodes_are_watched():
    (agent,) = chosen_addons(["eks-node-monitoring-agent"])

    assert agent.configuration is not None
    tolerations = json.loads(agent.configuration)["dcgmAgent"]["tolerations"]
    assert tolerations == [{"operator": "Exists"}]


@pytest.mark.parametrize(
    "addons",
    [
        None,
        (),
        [],
        {},
        ["vpc-cni"],
        {"kube-proxy", "coredns"},
        frozenset({"vpc-cni"}),
        {"vpc-cni": "v1.18.5-eksbuild.1"},
        {"vpc-cni": "v2.0.0-eksbuild.10", "eks-node-monitoring-agent": "v1.3.0-eksbuild.2"},
    ],
)
def test_good_choices_have_no_fault(addons: Any):
    assert faults(addons) == []


@pytest.mark.parametrize(
    ("addons", "expected"),
    [
        ("vpc-cni", ["WrongType addons"]),
        (b"vpc-cni", ["WrongType addons"]),
        (TOKEN, ["TokenNotAllowed addons"]),
        (5, ["WrongType addons"]),
        (True, ["WrongType addons"]),
        (float("nan"), ["WrongType addons"]),
        (Hostile(), ["WrongType addons"]),
        (iter(["vpc-cni"]), ["WrongType addons"]),
        (HostileList(["vpc-cni"]), ["WrongType addons"]),
        (HostileMapping(), ["WrongType addons"]),
        ([5, "vpc-cni", None], ["WrongType addons[0]", "WrongType addons[2]"]),
        ([Hostile()], ["WrongType addons[0]"]),
        ([TOKEN], ["TokenNotAllowed addons[0]"]),
        (["vpc_cni"], ["UnknownAddon addons[0]"]),
        (["aws-ebs-csi-driver"], ["UnknownAddon addons[0]"]),
        (["vpc-cni", "coredns", "vpc-cni"], ["RepeatedAddon addons[2]"]),
        ({5: None}, ["WrongType addons[5]"]),
        ({Hostile(): None}, ["WrongType addons[<Hostile>]"]),
        ({"vpc-cn": "v1.20.0-eksbuild.1"}, ["UnknownAddon addons[vpc-cn]"]),
        ({"vpc-cni": 1.2}, ["WrongType addons[vpc-cni]"]),
        ({"vpc-cni": b"v1.20.0-eksbuild.1"}, ["WrongType addons[vpc-cni]"]),
        ({"vpc-cni": Hostile()}, ["WrongType addons[vpc-cni]"]),
        ({"vpc-cni": TOKEN}, ["TokenNotAllowed addons[vpc-cni]"]),
        ({"vpc-cni": ""}, ["MalformedAddonVersion addons[vpc-cni]"]),
        ({"vpc-cni": "1.20.0"}, ["MalformedAddonVersion addons[vpc-cni]"]),
        ({"vpc-cni": "latest"}, ["MalformedAddonVersion addons[vpc-cni]"]),
        ({"vpc-cni": "v1.20.0-eksbuild.1\n"}, ["MalformedAddonVersion addons[vpc-cni]"]),
        ({"vpc-cni": "v1.٢0.0-eksbuild.1"}, ["MalformedAddonVersion addons[vpc-cni]"]),
        ({"vpc-cni": "v1.18.4-eksbuild.3"}, ["AddonTooOld addons[vpc-cni]"]),
        ({"vpc-cni": "v1.9.3-eksbuild.1"}, ["AddonTooOld addons[vpc-cni]"]),
        (
            {"eks-node-monitoring-agent": "v1.2.0-eksbuild.1"},
            ["AddonTooOld addons[eks-node-monitoring-agent]"],
        ),
        ({"kube-proxy": "v1.2.0-eksbuild.1"}, []),
        (
            {"vpc-cni": 5, "x": None, "coredns": "v1"},
            [
                "WrongType addons[vpc-cni]",
                "UnknownAddon addons[x]",
                "MalformedAddonVersion addons[coredns]",
            ],
        ),
    ],
)
def test_a_bad_choice_gives_exactly_its_faults(addons: Any, expected: list[str]):
    assert faults(addons) == expected


@pytest.mark.parametrize(
    "addons",
    [
        "vpc-cni",
        ["vpc_cni"],
        ["vpc-cni", "vpc-cni"],
        {"vpc-cni": "latest"},
        {"vpc-cni": "v1.18.4-eksbuild.1"},
    ],
)
def test_every_fault_says_what_was_given_what_is_allowed_and_what_to_change(addons: Any):
    for one in addon_faults(addons):
        assert all((one.message, one.got, one.allowed, one.fix))


def test_a_misspelt_name_is_told_and_others_are_sent_to_the_cdk():
    (fault,) = addon_faults(["core-dns"])

    assert "coredns" in fault.fix
    assert "eks.CfnAddon" in fault.fix
