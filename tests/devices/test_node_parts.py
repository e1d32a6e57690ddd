"""Parts of a node that no type of today shows in a plan: AMI gaps, host settings, taint forms."""

import dataclasses

import pytest

from eks_devices import (
    AcceleratedInstanceType,
    CpuArchitecture,
    DeviceType,
    NodegroupSpec,
    OperatingSystem,
    Severity,
    Taint,
    TaintEffect,
)
from eks_devices.amis import ami_findings, ami_type
from eks_devices.bottlerocket import bottlerocket_settings
from eks_devices.extended_resources import extended_resources
from eks_devices.taints import parse_taint

TRN2 = AcceleratedInstanceType.of("trn2.48xlarge")


@pytest.mark.parametrize("system", [OperatingSystem.AL2023, OperatingSystem.BOTTLEROCKET])
def test_a_type_without_an_ami_is_refused(system: OperatingSystem):
    future = dataclasses.replace(TRN2, name="trn9g.xlarge", architecture=CpuArchitecture.ARM64)
    group = NodegroupSpec(
        name="a", instance_type="trn9g.xlarge", max_size=1, operating_system=system
    )

    (fault,) = ami_findings(group, future)

    assert ami_type(future, system) is None
    assert (fault.code, fault.severity) == ("NoAmi", Severity.ERROR)
    assert fault.path == "nodegroups.a.operating_system"
    assert (fault.got, fault.allowed) == (repr(str(system)), "none")
    assert fault.fix


def test_auto_mode_has_no_ami_type():
    assert ami_type(TRN2, OperatingSystem.AUTO_MODE) is None


def test_bottlerocket_counts_pods_itself_where_no_number_is_known():
    group = NodegroupSpec(name="a", instance_type="trn2.48xlarge", max_size=1)
    on_bottlerocket = dataclasses.replace(group, operating_system=OperatingSystem.BOTTLEROCKET)

    assert bottlerocket_settings(on_bottlerocket, (), None) == {}
    assert bottlerocket_settings(on_bottlerocket, (), 51) == {"settings.kubernetes.max-pods": 51}
    assert bottlerocket_settings(group, (), 51) == {}


def test_no_devices_give_no_extended_resources():
    group = NodegroupSpec(name="a", instance_type="trn2.48xlarge", max_size=1)

    assert extended_resources(group, (), TRN2) == {}


@pytest.mark.parametrize(
    ("taint", "text", "effect"),
    [
        (Taint(key="a"), "a:NoSchedule", "NO_SCHEDULE"),
        (
            Taint(key="b.io/a", value="v", effect=TaintEffect.NO_EXECUTE),
            "b.io/a=v:NoExecute",
            "NO_EXECUTE",
        ),
        (
            Taint(key="a", effect=TaintEffect.PREFER_NO_SCHEDULE),
            "a:PreferNoSchedule",
            "PREFER_NO_SCHEDULE",
        ),
    ],
)
def test_a_taint_in_the_forms_of_kubectl_and_eks(taint: Taint, text: str, effect: str):
    assert str(taint) == text
    assert taint.eks_effect == effect
    assert parse_taint(text) == taint


def test_a_taint_as_it_stands_in_a_node():
    assert Taint(key="a", value="b").to_dict() == {
        "key": "a",
        "value": "b",
        "effect": "NoSchedule",
    }


def test_the_device_types_are_words():
    assert [str(device) for device in DeviceType] == ["neuron", "gpu", "compute-domain", "efa"]
