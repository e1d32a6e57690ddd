"""Which build of DRANET a stack installs, and which claims its groups take by it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.annotations import warnings
from tests.short_names import DRA, EFA, NEURON

from eks_device_charts import ImageSource
from eks_device_constructs import (
    Delivery,
    DeviceDrivers,
    ExternalDrivers,
)
from eks_devices import DeviceRequest, DranetBuild, EfaInstallation

MANIFEST = "Custom::AWSCDK-EKS-KubernetesResource"
UPSTREAM = EfaInstallation(build=DranetBuild.UPSTREAM)
SHARED: dict[str, Any] = {"namespace": "default", "requests": [DeviceRequest.efa(1)]}
REFUSED = {("EfaSharedClaim", "claims.default/shared.requests[0]")}


def objects(world) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (item["kind"], item["metadata"]["name"]): item
        for resource in world.template().find_resources(MANIFEST).values()
        for item in json.loads(resource["Properties"]["Manifest"])
    }


def image(item: dict[str, Any]) -> str:
    (container,) = item["spec"]["template"]["spec"]["containers"]
    return str(container["image"])


@pytest.mark.parametrize("efa", [None, EfaInstallation(), UPSTREAM])
def test_the_build_is_installed_for_the_groups_of_a_cluster(make_served, efa):
    world = make_served(efa=efa)
    world.add_trn2(mechanism=DRA)
    found = objects(world)

    is_upstream = efa is UPSTREAM
    driver = image(found["DaemonSet", "aws-dranet"])
    assert driver.startswith("registry.k8s.io/networking/dranet:") is is_upstream
    assert (("ClusterRole", "aws-dranet-events") in found) is is_upstream


def test_the_plan_file_tells_of_it(make_served):
    world = make_served(efa=UPSTREAM)
    world.add_trn2(mechanism=DRA)
    assembly = world.app.synth()

    (file,) = Path(assembly.directory).glob("*.eks-devices.json")
    (cluster,) = json.loads(file.read_text(encoding="utf-8"))["clusters"]
    assert cluster["plan"]["efa"] == {"build": "upstream"}
    (driver,) = (one for one in cluster["plan"]["drivers"] if one["device_type"] == "efa")
    assert driver["settings"] == {"build": "upstream"}


def test_a_build_that_nothing_runs_is_warned_of(make_served):
    world = make_served(efa=UPSTREAM)
    world.add_trn2(mechanism=DRA, efa=False)
    world.app.synth()

    assert len(warnings(world.stack, "EfaOptionWithoutEffect")) == 1


def test_efas_that_pods_share_are_refused_by_the_build_that_serves_the_group(
    make_served, faults_of
):
    group = make_served(efa=UPSTREAM).add_trn2(mechanism=DRA)

    assert faults_of(group.add_resource_claim, "shared", **SHARED) == REFUSED
    group.add_resource_claim_template("own", **SHARED)


def test_efas_that_pods_share_are_warned_of_with_the_build_of_eks(make_served):
    world = make_served()
    world.add_trn2(mechanism=DRA).add_resource_claim("shared", **SHARED)

    assert len(warnings(world.stack, "EfaSharedClaim")) == 1
    assert len(warnings(world.stack, "not known here")) == 0


def test_a_scope_runs_the_build_of_the_default_installation(make_served, faults_of):
    world = make_served(efa=UPSTREAM, keep={NEURON: (DRA,), EFA: (DRA,)})
    options: dict[str, Any] = {
        "cluster": world.cluster,
        "delivery": Delivery.gitops("x"),
        "scope_name": "team",
    }

    assert faults_of(DeviceDrivers, world.stack, "Other", efa=EfaInstallation(), **options) == {
        ("EfaInstallationDiffers", "efa")
    }
    team = DeviceDrivers(world.stack, "Same", **options)
    group = world.add_trn2(mechanism=DRA, drivers=team)
    assert faults_of(group.add_resource_claim, "shared", **SHARED) == REFUSED


@pytest.mark.parametrize(
    ("first", "second"), [(UPSTREAM, EfaInstallation()), (UPSTREAM, None), (None, UPSTREAM)]
)
def test_scopes_of_an_unknown_default_installation_run_one_build(
    cluster_of_others, faults_of, first, second
):
    _, install = cluster_of_others
    install("A", scope_name="a", efa=first)

    assert faults_of(install, "B", scope_name="b", efa=second) == {
        ("EfaInstallationDiffers", "efa")
    }
    assert install("C", scope_name="c", efa=first).scope_name == "c"


@pytest.mark.parametrize(
    ("scope_name", "efa", "expected"),
    [
        ("team", UPSTREAM, 1),
        ("team", EfaInstallation(), 0),
        ("team", None, 0),
        (None, UPSTREAM, 0),
    ],
)
def test_a_scope_tells_that_permissions_are_those_of_a_default_one_that_is_unknown_here(
    cluster_of_others, scope_name, efa, expected
):
    stack, install = cluster_of_others
    install(scope_name=scope_name, efa=efa)

    assert len(warnings(stack, "EfaBuildOfDefault")) == expected


def test_a_build_of_another_app_is_not_known_here(make_world, tmp_path):
    world = make_world()
    theirs = ExternalDrivers(delivery=Delivery.gitops(str(tmp_path / "manifests")))
    world.add_trn2(mechanism=DRA, drivers=theirs).add_resource_claim("shared", **SHARED)

    assert len(warnings(world.stack, "not known here")) == 1


def test_a_build_of_somebody_else_is_not_known_here(make_served):
    world = make_served(efa=UPSTREAM)
    foreign = ExternalDrivers(foreign={EFA})
    world.add_trn2(mechanism=DRA, drivers=foreign).add_resource_claim("shared", **SHARED)

    assert len(warnings(world.stack, "not known here")) == 1


def test_an_image_of_the_other_build_is_refused(make_served, faults_of):
    old = ImageSource(overrides={(EFA, DRA): "a.io/eks/dranet:v1.2.0-eksbuild.39"})
    world = make_served(efa=UPSTREAM, images=old)
    refused = {("ImageOfOtherBuild", "images.overrides[efa by dra]")}

    assert faults_of(world.add_trn2, mechanism=DRA) == refused
    assert faults_of(make_served, efa=UPSTREAM, images=old, keep={EFA: (DRA,)}) == refused
