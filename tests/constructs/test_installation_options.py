"""Options that a cluster has once, of whichever maker, where they cannot be taken."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest
from tests.hostile import Hostile, Untouchable

from eks_device_constructs import AcceleratedCluster, Delivery, DeviceDrivers
from eks_devices import DranetBuild, EfaInstallation, NeuronInstallation, NvidiaInstallation

OPTIONS: dict[str, Any] = {
    "nvidia": NvidiaInstallation(network_policies=True),
    "neuron": NeuronInstallation(scheduler_extension=True),
    "efa": EfaInstallation(build=DranetBuild.UPSTREAM),
}
WRONG: list[Any] = [True, "upstream", DranetBuild.UPSTREAM, {}, Hostile(), Untouchable()]


@pytest.mark.parametrize("name", OPTIONS)
def test_options_without_an_installation_are_refused(make_world, faults_of, name):
    world = make_world()

    found = faults_of(
        AcceleratedCluster,
        world.stack,
        "Bare",
        vpc=world.vpc,
        version=cdk.aws_eks_v2.KubernetesVersion.of("1.36"),
        **{name: OPTIONS[name]},
    )

    assert found == {("DeliveryNeeded", "delivery")}


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("value", WRONG, ids=range(len(WRONG)))
def test_another_type_of_options_is_refused_wherever_it_is_passed(
    make_served, faults_of, name, value
):
    world = make_served()
    given: dict[str, Any] = {"cluster": world.cluster, "delivery": Delivery.gitops("x")}
    given[name] = value

    assert faults_of(make_served, **{name: value}) == {("WrongType", name)}
    scope = faults_of(DeviceDrivers, world.stack, "A", scope_name="a", **given)
    assert scope == {("WrongType", name)}
