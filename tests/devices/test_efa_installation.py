"""Which build of DRANET a cluster has, and what of it plans and claims tell."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from tests.cluster_plans import cluster_of
from tests.hostile import NUMBER_TOKEN, TOKEN, HostileText, Untouchable
from tests.short_names import DRA, EFA, GPU, PLUGIN

from eks_devices import (
    DeviceRequest,
    DranetBuild,
    EfaInstallation,
    EksDevicesError,
    NeuronInstallation,
    NodegroupSpec,
    ResourceClaim,
    ResourceClaimTemplate,
    Severity,
    plan_nodegroup,
)
from eks_devices.claims.on_nodegroup import claim_findings, claim_manifest

UPSTREAM = EfaInstallation(build=DranetBuild.UPSTREAM)
P5: dict[str, Any] = {"instance_type": "p5.48xlarge", "mechanism": DRA}
BY_PLUGIN = P5 | {"mechanism": {GPU: DRA, EFA: PLUGIN}}
any_installation: Any = EfaInstallation
plan = partial(cluster_of, efa=UPSTREAM)


def idle(*groups: dict[str, Any], **options: Any) -> list[str]:
    found = plan(*groups, **options).findings
    return [one.path for one in found if one.code == "EfaOptionWithoutEffect"]


def told(found: Any) -> dict[tuple[str, str], dict[str, Any]]:
    """What the managers of a plan are told, by device type and owner."""
    return {(one.device_type, one.owner): dict(one.settings) for one in found.drivers}


@pytest.mark.parametrize("efa", [None, EfaInstallation()])
def test_the_build_is_that_of_eks_unless_named(efa):
    found = plan(P5, efa=efa)

    assert found.efa.build is DranetBuild.EKS
    assert found == plan(P5, efa=EfaInstallation(build=DranetBuild.EKS))
    assert told(found)[EFA, "default"] == {}


WRONG = ["upstream", "eks", None, 1, TOKEN, NUMBER_TOKEN, HostileText(), Untouchable(), EFA]


@pytest.mark.parametrize("value", WRONG, ids=range(len(WRONG)))
def test_a_build_is_a_member_and_never_its_text(value):
    with pytest.raises(EksDevicesError) as caught:
        any_installation(build=value)

    (fault,) = caught.value.faults
    assert fault.path == "efa.build"
    assert fault.code in {"WrongType", "TokenNotAllowed"}
    assert "DranetBuild.UPSTREAM" in fault.allowed


OTHERS = [True, "upstream", DranetBuild.UPSTREAM, NeuronInstallation(), {}, TOKEN, Untouchable()]


@pytest.mark.parametrize("value", OTHERS, ids=range(len(OTHERS)))
def test_another_type_of_options_is_told_beside_the_other_faults(value):
    with pytest.raises(EksDevicesError) as caught:
        plan(P5, efa=value, neuron=UPSTREAM)

    assert [(one.code, one.path) for one in caught.value.faults if one.path != "efa"] == [
        ("WrongType", "neuron")
    ]
    (fault,) = (one for one in caught.value.faults if one.path == "efa")
    assert fault.code in {"WrongType", "TokenNotAllowed"}


def test_every_owner_of_the_driver_is_told_of_the_build_and_no_other_manager():
    found = plan(P5, P5 | {"scope": "lab"}, BY_PLUGIN)

    settings = told(found)
    named = {key for key, value in settings.items() if value.get("build") == "upstream"}
    by_dra = {(one.device_type, one.owner) for one in found.drivers if one.mechanism is DRA}
    assert named == {key for key in by_dra if key[0] is EFA}
    assert len(named) == 2
    assert all(value == {} for key, value in settings.items() if key not in named)


def test_groups_are_planned_alike_with_either_build():
    assert plan(P5).nodegroups == plan(P5, efa=None).nodegroups


def test_a_driver_that_is_kept_is_of_the_build():
    assert told(plan(keep={EFA: (DRA,)})) == {(EFA, "default"): {"build": "upstream"}}


def test_a_cluster_without_efa_by_dra_is_told_that_the_build_does_nothing():
    assert idle(BY_PLUGIN) == ["efa.build"]
    assert idle(P5) == []
    assert idle(BY_PLUGIN, keep={EFA: (DRA,)}) == []
    assert idle(BY_PLUGIN, efa=EfaInstallation()) == []
    assert idle() == []


@pytest.mark.parametrize("build", DranetBuild)
def test_a_plan_tells_of_the_build_in_json(build):
    text = plan(P5, efa=EfaInstallation(build=build)).to_json()

    assert json.loads(text)["efa"] == {"build": str(build)}


# Claims that several Pods name


GROUP = plan_nodegroup(NodegroupSpec(name="p5", max_size=1, **P5), kubernetes_version="1.36")
REQUESTS = [DeviceRequest.gpu(1), DeviceRequest.efa(4)]
SHARED = ResourceClaim(name="a", namespace="train", requests=REQUESTS)
OWN = ResourceClaimTemplate(name="a", namespace="train", requests=REQUESTS)
SHARED_AT = ("EfaSharedClaim", "claims.train/a.requests[1]")


def warnings(claim: Any, build: DranetBuild | None) -> list[Any]:
    found = claim_findings(claim, claim_manifest(claim, GROUP, build=build), GROUP, build=build)
    return [one for one in found if one.severity is Severity.WARNING]


def test_efas_that_pods_share_are_refused_where_upstream_s_build_serves_them():
    with pytest.raises(EksDevicesError) as caught:
        claim_manifest(SHARED, GROUP, build=DranetBuild.UPSTREAM)

    (fault,) = caught.value.faults
    assert (fault.code, fault.path) == SHARED_AT
    assert "claim template" in fault.fix
    assert fault.source


def test_other_claims_are_taken_by_either_build():
    gpus = ResourceClaim(name="a", namespace="train", requests=[DeviceRequest.gpu(1)])

    for build in (*DranetBuild, None):
        assert warnings(OWN, build) == []
        assert "EfaSharedClaim" not in {one.code for one in warnings(gpus, build)}


@pytest.mark.parametrize(("build", "unknown"), [(DranetBuild.EKS, False), (None, True)])
def test_a_build_that_is_not_known_is_named_in_the_warning(build, unknown):
    (warning,) = warnings(SHARED, build)

    assert (warning.code, warning.path) == SHARED_AT
    assert ("not known here" in warning.message) is unknown


def test_a_shared_claim_is_refused_beside_its_other_faults():
    many = ResourceClaim(name="a", namespace="train", requests=[DeviceRequest.efa(33)])

    with pytest.raises(EksDevicesError) as caught:
        claim_manifest(many, GROUP, build=DranetBuild.UPSTREAM)

    codes = [one.code for one in caught.value.faults]
    assert codes[0] == "EfaSharedClaim"
    assert len(codes) > 1
