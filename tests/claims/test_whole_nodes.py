"""Claims by which a Pod takes a whole node."""

from typing import Any

import pytest
from tests.claim_rows import cluster, fault_of, group

from eks_devices import (
    AcceleratedInstanceType,
    Mechanism,
    Mig,
    WholeNodeSplit,
    use_claims,
    whole_node_claims,
)
from eks_devices.feasibility import check_claims

BY_ROOT = WholeNodeSplit.BY_PCIE_ROOT
ANY: Any = whole_node_claims
POD = {"containers": [{"name": "train"}]}


def shares(found: Any) -> dict[str, dict[str, int]]:
    """The devices of each claim of the Pod."""
    return {
        name: {one.name: one.count for one in claim.requests}
        for name, claim in found.claims.items()
    }


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [
        ("p5.48xlarge", {"all-gpu": {"gpu": 8}, "all-efa": {"efa": 32}}),
        ("p4d.24xlarge", {"all": {"gpu": 8, "efa": 4}}),
        ("trn2.48xlarge", {"all": {"neuron": 16, "efa": 16}}),
        ("g6e.2xlarge", {"all": {"gpu": 1}}),
        ("inf2.48xlarge", {"all": {"neuron": 12}}),
        ("g7e.48xlarge", {"all": {"gpu": 8, "efa": 4}}),
    ],
)
def test_a_node_is_taken_by_as_few_claims_as_32_devices_allow(nodes, wanted):
    found = whole_node_claims("all", nodes=nodes)

    assert shares(found) == wanted
    assert [one.name for one in found.templates] == [*wanted]


@pytest.mark.parametrize(
    ("nodes", "claims", "each"),
    [
        ("p5.48xlarge", 8, {"gpu": 1, "efa": 4}),
        ("p5en.48xlarge", 4, {"gpu": 2, "efa": 4}),
        ("p4d.24xlarge", 4, {"gpu": 2, "efa": 1}),
        ("p6-b300.48xlarge", 8, {"gpu": 1, "efa": 2}),
    ],
)
def test_a_node_is_taken_root_by_root(nodes, claims, each):
    found = whole_node_claims("root", nodes=nodes, split=BY_ROOT)

    assert len(found.templates) == 1
    assert shares(found) == {f"root-{at}": each for at in range(claims)}


def node_types() -> list[str]:
    return [one.name for one in AcceleratedInstanceType.all() if one.device_type is not None]


@pytest.mark.parametrize("split", WholeNodeSplit)
@pytest.mark.parametrize(
    "name", ["p5.48xlarge", "p4de.24xlarge", "p5en.48xlarge", "p6-b200.48xlarge"]
)
def test_the_check_gives_a_whole_node_once(name, split):
    plan = cluster(name)
    found = whole_node_claims("all", nodes=plan.nodegroups[0], split=split)

    (said,) = check_claims([*found.claims.values()], plan)

    accelerators = AcceleratedInstanceType.of(name).accelerator
    assert accelerators is not None
    assert (said.status, said.fits) == ("feasible", 1)
    assert len(said.devices) == accelerators.count + plan.nodegroups[0].devices[1].count


@pytest.mark.parametrize("name", node_types())
def test_every_type_is_taken_by_claims_of_32_devices_at_most(name):
    found = shares(whole_node_claims("a", nodes=name))

    assert found
    assert all(sum(one.values()) <= 32 for one in found.values())


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("trn2.48xlarge", "NoPcieRoots"),
        ("g7e.48xlarge", "PcieRootsUnknown"),
        ("g6e.48xlarge", "PcieRootNotShared"),
    ],
)
def test_types_without_known_roots_are_refused_with_what_to_do(name, code):
    found = fault_of(lambda: whole_node_claims("a", nodes=name, split=BY_ROOT))

    assert found.code == code
    assert "WholeNodeSplit.FEWEST" in found.fix


def test_a_group_has_the_devices_that_it_hands_out_by_claims():
    few = group("p5.48xlarge", efa=16)
    plugin = group("p4d.24xlarge", mechanism=Mechanism.DEVICE_PLUGIN)

    assert shares(whole_node_claims("all", nodes=few)) == {"all": {"gpu": 8, "efa": 16}}
    assert fault_of(lambda: whole_node_claims("all", nodes=plugin)).code == "ClaimNeedsDra"


@pytest.mark.parametrize(
    ("make_it", "code"),
    [
        (lambda: whole_node_claims("A", nodes="p5.48xlarge"), "MalformedName"),
        (lambda: whole_node_claims("a", nodes="p5.49xlarge"), "UnknownInstanceType"),
        (lambda: ANY("a", nodes=5), "WrongType"),
        (lambda: ANY("a", nodes="p5.48xlarge", split="fewest"), "WrongType"),
        (
            lambda: whole_node_claims("a", nodes=group("p5.48xlarge", efa=16), split=BY_ROOT),
            "FewerEfas",
        ),
        (
            lambda: whole_node_claims(
                "a", nodes=group("p5.48xlarge", mechanism=Mechanism.DRA, mig=Mig.uniform("1g.10gb"))
            ),
            "GpusAreCut",
        ),
    ],
)
def test_what_is_no_whole_node_is_refused(make_it, code):
    assert fault_of(make_it).code == code


def test_a_pod_has_every_claim_of_a_node():
    found = whole_node_claims("root", nodes="p5.48xlarge", split=BY_ROOT)

    pod = use_claims(POD, found)

    assert pod["resourceClaims"] == [
        {"name": f"root-{at}", "resourceClaimTemplateName": "root"} for at in range(8)
    ]
    assert len(pod["containers"][0]["resources"]["claims"]) == 8
    assert pod["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists"}]
