"""Kubernetes minors: support dates, what is served, gates, patch floors."""

import pytest

from eks_devices import Finding, Severity
from eks_devices.kubernetes import (
    KubernetesMinor,
    find_minor,
    floors,
    gate_is_on,
    minors,
    newest_minor,
    support_findings,
    version_key,
)
from eks_devices.typecheck import is_token

CALENDAR = "https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html"
# Gate: the minors on which EKS has it on.
GATES = {
    "DynamicResourceAllocation": "1.33 1.34 1.35 1.36 1.37",
    "DRAExtendedResource": "1.36 1.37",
    "DRAPartitionableDevices": "1.36 1.37",
    "DRADeviceTaints": "1.36 1.37",
    "DRADeviceTaintRules": "1.37",
    "DRAConsumableCapacity": "1.36 1.37",
    "DRAPrioritizedList": "1.34 1.35 1.36 1.37",
    "DRAAdminAccess": "1.34 1.35 1.36 1.37",
    "DRAResourceClaimDeviceStatus": "1.33 1.34 1.35 1.36 1.37",
    "DRAListTypeAttributes": "",
}


def test_the_minors_oldest_first():
    assert list(minors()) == ["1.33", "1.34", "1.35", "1.36", "1.37"]
    assert newest_minor() == "1.37"


@pytest.mark.parametrize(
    ("version", "standard", "extended"),
    [
        ("1.33", "2026-07-29", "2027-07-29"),
        ("1.34", "2026-12-02", "2027-12-02"),
        ("1.35", "2027-03-27", "2028-03-27"),
        ("1.36", "2027-08-02", ""),
        ("1.37", "", ""),
    ],
)
def test_support_ends(version: str, standard: str, extended: str):
    minor = minors()[version]

    assert (minor.standard_support_ends, minor.extended_support_ends) == (standard, extended)


def test_dra_is_served_from_1_34():
    assert [version for version, minor in minors().items() if minor.serves_dra] == [
        "1.34",
        "1.35",
        "1.36",
        "1.37",
    ]
    assert minors()["1.33"].resource_api_versions == ("v1beta1", "v1beta2")


@pytest.mark.parametrize("gate", GATES)
def test_a_gate_is_on(gate: str):
    on = [version for version in minors() if gate_is_on(gate, version)]

    assert on == GATES[gate].split()


def test_patch_floors():
    patches = {name: (floor.where, floor.patches) for name, floor in floors().items()}

    assert patches == {
        "dra-node": ("node", {"1.34": 2, "1.35": 0, "1.36": 0, "1.37": 0}),
        "reused-claim-node": ("node", {"1.34": 4, "1.35": 1, "1.36": 0, "1.37": 0}),
        "extended-resource-node": ("node", {"1.36": 0, "1.37": 0}),
        "dynamic-mig-control-plane": ("control-plane", {"1.36": 3, "1.37": 0}),
    }


def test_versions_compare_by_number():
    assert sorted(["1.34", "1.9", "1.100", "2.0"], key=version_key) == [
        "1.9",
        "1.34",
        "1.100",
        "2.0",
    ]


@pytest.mark.parametrize(
    ("value", "token"),
    [
        ("${Token[TOKEN.12]}", True),
        ("a-${Token[AWS.Region.4]}-b", True),
        ("#{Token[TOKEN.3]}", True),
        ("Token[TOKEN.12]", False),
        ("$Token", False),
        (b"${Token[TOKEN.12]}", False),
        (None, False),
    ],
)
def test_a_token_is_recognised(value: object, token: bool):
    assert is_token(value) is token


@pytest.mark.parametrize(
    ("value", "code", "message"),
    [
        (
            1.34,
            "WrongType",
            "a Kubernetes version is a text (1.30 as a number loses its zero)",
        ),
        (
            "${Token[TOKEN.12]}",
            "TokenNotAllowed",
            "rules read the Kubernetes version, so it cannot be a token",
        ),
        (
            "1.x",
            "UnsupportedKubernetesVersion",
            "a Kubernetes version is a minor, without a patch or a prefix",
        ),
        (
            "1.32",
            "UnsupportedKubernetesVersion",
            "this Kubernetes version is older than this library serves",
        ),
        (
            "1.9",
            "UnsupportedKubernetesVersion",
            "this Kubernetes version is older than this library serves",
        ),
        (
            "1.38",
            "UnsupportedKubernetesVersion",
            "this library does not know this Kubernetes version yet",
        ),
    ],
)
def test_a_version_that_is_none(value: object, code: str, message: str):
    found = find_minor(value, "here")

    assert found == Finding(
        code=code,
        severity=Severity.ERROR,
        path="here",
        message=message,
        fix='write the minor, for example "1.37"',
        source=CALENDAR,
        got=repr(value),
        allowed="a text, one of 1.33, 1.34, 1.35, 1.36, 1.37",
    )


def test_a_version_that_is_known():
    found = find_minor("1.36", "here")

    assert isinstance(found, KubernetesMinor)
    assert found.version == "1.36"


@pytest.mark.parametrize(
    ("version", "code", "message"),
    [
        (
            "1.34",
            "KubernetesSupportEnds",
            (
                "standard support of Kubernetes 1.34 on EKS ends 2026-12-02; extended support "
                "ends 2027-12-02 and costs more"
            ),
        ),
        (
            "1.36",
            "KubernetesSupportEnds",
            (
                "standard support of Kubernetes 1.36 on EKS ends 2027-08-02; extended support "
                "follows and costs more"
            ),
        ),
        (
            "1.37",
            "KubernetesSupportUnknown",
            (
                "EKS support dates of Kubernetes 1.37 are not known: node AMIs exist since October "
                "2026; the date of the EKS control plane was not seen"
            ),
        ),
    ],
)
def test_the_end_of_support_is_told(version: str, code: str, message: str):
    (finding,) = support_findings(minors()[version], "kubernetes_version")

    assert (finding.code, finding.severity) == (code, Severity.INFO)
    assert finding.message == message
    assert finding.source


@pytest.mark.parametrize(
    ("value", "minor"),
    [("v1.36", "1.36"), ("1.36.2", "1.36"), ("Kubernetes 1.35", "1.35"), ("1.36+", "1.36")],
)
def test_the_minor_that_is_meant_is_told(value: str, minor: str):
    found = find_minor(value, "here")
    assert isinstance(found, Finding)
    assert found.fix == f'write the minor, "{minor}"'


@pytest.mark.parametrize("value", ["v1.99", "11.36", "1.361", "v2", "", "latest"])
def test_a_text_without_a_known_minor_gets_an_example(value: str):
    found = find_minor(value, "here")
    assert isinstance(found, Finding)
    assert found.fix == 'write the minor, for example "1.37"'
