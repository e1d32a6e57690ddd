"""What fails for every value of an attribute is an error before a node runs, and says the fix."""

import pytest
from tests.feasibility_claims import EFA, GPU, NEURON, claim, exactly, said, verdict

from eks_devices.feasibility.cel.types_known import types_at_run_time

OWN = "device.attributes['gpu.nvidia.com']"
NEURONS = "device.attributes['neuron.aws.com']"
NET = "device.attributes['dra.net']"
VERSION = f"{OWN}.driverVersion"
P5, TRN2, G7E = "p5.48xlarge", "trn2.48xlarge", "g7e.48xlarge"
FAILS = ("error", "ExpressionFails")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{VERSION} >= '580'", f"write {VERSION}.compareTo(semver('580.0.0')) >= 0"),
        (
            f"{OWN}['driverVersion'] < 580",
            f"write {OWN}['driverVersion'].compareTo(semver('580.0.0')) < 0",
        ),
        (f"{VERSION} == '580.1'", "driverVersion.compareTo(semver('580.1.0')) == 0"),
        (
            f"{VERSION}.compareTo(semver('580')) >= 0",
            f"write {VERSION}.compareTo(semver('580.0.0')) >= 0",
        ),
        (f"{VERSION}.compareTo(quantity('580')) >= 0", "driverVersion is a version"),
        (f"{VERSION}.startsWith('580')", "driverVersion is a version"),
        (f"semver({VERSION}).major() > 1", "driverVersion is a version"),
        (f"{OWN}.cudaComputeCapability >= '9.0'", "compareTo(semver('9.0.0')) >= 0"),
        (f"{OWN}.cudaComputeCapability == '9.0.0'", "compareTo(semver('9.0.0')) == 0"),
        (f"{OWN}.type == 'gpu' && {VERSION} >= '580'", "semver('580.0.0')"),
        (f"{OWN}.nothing == 1 && {VERSION} >= '580'", "semver('580.0.0')"),
        (f"{OWN}.uuid > 5", "gpu.nvidia.com/uuid is a text"),
    ],
)
def test_what_fails_for_every_value_is_an_error_with_its_fix(text, told):
    found = verdict(P5, claim(exactly(GPU, text)))

    assert (found.status, found.code) == FAILS
    assert told in f"{found.reason}: {found.fix}"
    assert "guard" not in found.fix


@pytest.mark.parametrize(
    "text",
    [
        f"{VERSION}.compareTo(semver('580.0.0')) >= 0",
        f"{VERSION} == semver('580.0.0')",
        f"{VERSION}.major() >= 580",
        f"{VERSION}.major() >= 580.5",
        # These differ, which is an answer.
        f"{VERSION} != '580'",
        f"'580' == {VERSION}",
        f"{OWN}.uuid == 5",
        # These may not come to what fails.
        f"{OWN}.uuid == 'x' && {VERSION} >= '580'",
        f"{OWN}.type == 'gpu' || {VERSION} >= '580'",
        f"{OWN}.uuid == 'x' || {VERSION} >= '580'",
        f"{OWN}.uuid == 'x' ? {VERSION} >= '580' : true",
        f"'addressingMode' in {OWN} && {OWN}.addressingMode > 5",
        f"semver({OWN}.uuid).major() > 1",
        f"{OWN}.uuid == \"semver('580')\"",
        f'{OWN}.uuid == "{VERSION} >= 5"',
        # Nobody told the type of these for all versions.
        "device.attributes['resource.kubernetes.io'].numaNode == 'x'",
        f"{OWN}.gpuModuleID >= 'x'",
    ],
)
def test_what_may_have_another_answer_is_no_error(text):
    assert said(P5, claim(exactly(GPU, text)))[0] in ("unknown", "feasible")


def test_what_is_false_whatever_fails_is_no_error():
    text = f"{OWN}.type == 'mig' && {VERSION} >= '580'"

    assert said(P5, claim(exactly(GPU, text))) == ("infeasible", "NoDeviceMatches")


def test_types_are_known_of_devices_that_nobody_read():
    assert said(G7E, claim(exactly(GPU, f"{OWN}.cudaComputeCapability >= '9.0'"))) == FAILS
    assert said(G7E, claim(exactly(GPU, f"{OWN}.productName >= 9"))) == FAILS
    right = f"{OWN}.cudaComputeCapability.compareTo(semver('9.0.0')) >= 0"
    assert said(G7E, claim(exactly(GPU, right)))[0] == "unknown"


def test_a_driver_whose_version_is_a_text_is_compared_as_one():
    read = f"{NEURONS}.neuronDriverVersion"
    wrong = f"{read}.compareTo(semver('2.25.4')) >= 0"
    found = verdict(TRN2, claim(exactly(NEURON, wrong)))

    assert (found.status, found.code) == FAILS
    assert "neuronDriverVersion is a text" in found.reason
    assert said(TRN2, claim(exactly(NEURON, f"{read} >= '2.25'")))[0] == "unknown"
    assert said(P5, claim(exactly(EFA, f"{NET}.rdmaDevice > 5"))) == FAILS


def test_the_types_are_of_attributes_that_only_a_node_knows():
    assert types_at_run_time()["gpu.nvidia.com/driverVersion"] == "version"
    assert set(types_at_run_time().values()) == {"version", "string", "bool"}
