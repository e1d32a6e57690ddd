"""The kubelet's own configuration, and huge pages: what a group may set, and what it may not."""

from typing import Any, NoReturn

import pytest
from tests.hostile import Hostile, HostileMapping, doubled, endless

from eks_devices import (
    EksDevicesError,
    Finding,
    Mechanism,
    NodegroupSpec,
    OperatingSystem,
    Severity,
    plan_nodegroup,
)
from eks_devices._frozen import FrozenDict, deep_frozen
from eks_devices.user_data.kubelet import hugepages_faults, kubelet_faults

TOKEN = "${Token[TOKEN.12]}"
NUMBER_TOKEN = -1.8881545897087626e289


def deep(levels: int) -> Any:
    return {"a": deep(levels - 1)} if levels else 1


def spec_of(**options: Any) -> NodegroupSpec:
    return NodegroupSpec(name="g", instance_type="g6e.12xlarge", max_size=1, **options)


def faults_of(kubelet: Any, **options: Any) -> list[Finding]:
    """The faults of kubelet settings, each of them complete."""
    faults = list(kubelet_faults(spec_of(kubelet=kubelet, **options)))
    for fault in faults:
        assert fault.severity is Severity.ERROR
        assert fault.path.startswith("nodegroups.g.kubelet")
        assert fault.message
        assert fault.got
        assert fault.allowed
        assert fault.fix
    return faults


@pytest.mark.parametrize(
    "kubelet",
    [
        {},
        {"cpuManagerPolicy": "static", "topologyManagerPolicy": "single-numa-node"},
        {"reservedMemory": [{"numaNode": 0, "limits": {"memory": "1Gi"}}]},
        {"memoryThrottlingFactor": 0.8, "failSwapOn": False, "tracing": None},
        {"featureGates": {"MemoryQoS": True}, "kubeReserved": {"cpu": "1"}},
        {"imageGCHighThresholdPercent": 70, "tlsMinVersion": "VersionTLS12"},
        {"draManagerReconcilePeriod": "60s", "serializeImagePulls": False},
        FrozenDict({"podPidsLimit": 4096}),
    ],
)
def test_fields_of_the_kubelet_s_configuration_are_taken(kubelet):
    assert faults_of(kubelet) == []


@pytest.mark.parametrize(
    ("field", "meant"),
    [
        ("cpu-manager-policy", "cpuManagerPolicy"),
        ("CPUManagerPolicy", "cpuManagerPolicy"),
        ("cpuManagerPolcy", "cpuManagerPolicy"),
        ("reservedmemory", "reservedMemory"),
        ("max-open-files", "maxOpenFiles"),
    ],
)
def test_a_field_in_another_spelling_is_named_with_the_one_that_was_meant(field, meant):
    (fault,) = faults_of({field: "static"})

    assert (fault.code, fault.path) == ("UnknownKubeletField", f"nodegroups.g.kubelet.{field}")
    assert meant in fault.fix


@pytest.mark.parametrize("field", ["zzz", "", "spec", "a" * 500, "\n"])
def test_a_field_like_no_other_is_named_too(field):
    (fault,) = faults_of({field: 1})

    assert fault.code == "UnknownKubeletField"


@pytest.mark.parametrize(
    ("field", "fix"),
    [
        ("maxPods", "max_pods"),
        ("podsPerCore", "max_pods"),
        ("registerWithTaints", "taints"),
        ("clusterDNS", "/etc/eks/nodeadm.d"),
        ("clusterDomain", "leave it out"),
        ("providerID", "leave it out"),
        ("apiVersion", "leave it out"),
        ("cgroupDriver", "leave it out"),
        ("containerRuntimeEndpoint", "leave it out"),
        ("registerNode", "leave it out"),
        ("serverTLSBootstrap", "leave it out"),
        ("authentication", "leave it out"),
        ("authorization", "leave it out"),
        ("port", "leave it out"),
        ("staticPodPath", "DaemonSet"),
    ],
)
def test_what_the_library_or_eks_sets_is_refused_with_the_reason_and_what_to_use(field, fix):
    (fault,) = faults_of({field: 5})

    assert (fault.code, fault.path) == ("KubeletFieldOwned", f"nodegroups.g.kubelet.{field}")
    assert field in fault.message
    assert fix in fault.fix
    assert fault.source


def test_an_own_image_gets_the_dns_that_its_user_names_because_eks_sets_none():
    dns = {"clusterDNS": ["169.254.20.10"]}

    assert faults_of(dns, ami_id="ami-0123456789abcdef0") == []
    assert len(faults_of(dns | {"maxPods": 5}, ami_id="ami-0123456789abcdef0")) == 1


@pytest.mark.parametrize("option", ["kubelet", "launch_template_overrides"])
def test_nested_options_are_copied_as_plain_texts_that_cannot_change(option):
    given = {"logging": {OperatingSystem.AL2023: [OperatingSystem.BOTTLEROCKET, 1]}}

    copied = getattr(spec_of(**{option: given}), option)
    given["logging"].clear()

    assert copied == {"logging": {"al2023": ("bottlerocket", 1)}}
    ((key, (text, _)),) = copied["logging"].items()
    assert type(key) is type(text) is str
    with pytest.raises(TypeError, match="cannot be changed"):
        copied["logging"]["a"] = 1


UNREADABLE = [
    (endless(), "TooDeep"),
    ({"logging": [deep(40)]}, "TooDeep"),
    ({"logging": deep(33)}, "TooDeep"),
    ({"logging": doubled(25)}, "TooLarge"),
    ({"logging": [doubled(25)]}, "TooLarge"),
    ({"logging": [0] * 1_000_000}, "TooLarge"),
    ({"logging": ["x" * 1_000_000] * 1_000_000}, "TooLarge"),
    ({"x" * 2_000_000: 1}, "TooLarge"),
    (HostileMapping(), "WrongType"),
    ({"logging": HostileMapping()}, "WrongType"),
    ({"evictionHard": HostileMapping(), "logging": doubled(25)}, "WrongType"),
]


@pytest.mark.parametrize(("given", "code"), UNREADABLE, ids=range(len(UNREADABLE)))
def test_what_cannot_be_copied_is_a_fault_of_its_option(given, code):
    with pytest.raises(EksDevicesError) as error:
        plan_nodegroup(spec_of(kubelet=given), kubernetes_version="1.34")

    (fault,) = error.value.faults
    assert (fault.code, fault.path) == (code, "nodegroups.g.kubelet")
    assert fault.got == "'HostileMapping'" or "dict" in fault.got
    assert fault.allowed
    assert fault.fix


@pytest.mark.parametrize("given", [endless(), {"logging": [deep(40)]}, HostileMapping()])
def test_overrides_that_cannot_be_copied_are_a_fault_too(given):
    with pytest.raises(EksDevicesError) as error:
        plan_nodegroup(spec_of(launch_template_overrides=given), kubernetes_version="1.34")

    (fault,) = error.value.faults
    assert fault.path == "nodegroups.g.launch_template_overrides"


def test_what_shares_its_parts_is_copied_while_it_is_small():
    shared = doubled(8)

    assert deep_frozen(shared) == shared
    assert deep_frozen({"a": deep(31)}) == {"a": deep(31)}
    assert deep_frozen(["x" * 500_000]) == ("x" * 500_000,)


class HostileNumber(int):
    """A number that no other one can be compared with."""

    def __eq__(self, other: object) -> NoReturn:
        raise ZeroDivisionError

    __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __eq__
    __hash__ = int.__hash__


class Fraction(float):
    """A number of a class of its own."""


def test_numbers_of_classes_of_their_own_are_copied_as_plain_ones():
    copied = deep_frozen({"a": [HostileNumber(5), Fraction(0.5), True]})

    assert copied == {"a": (5, 0.5, True)}
    assert [type(one) for one in copied["a"]] == [int, float, bool]
    assert faults_of({"maxOpenFiles": HostileNumber(5)}) == []


@pytest.mark.parametrize("field", ["CPUManagerPolicy", "maxPods", "cpuManagerPolicy"])
def test_bottlerocket_has_settings_of_its_own_for_the_kubelet(field):
    (fault,) = faults_of({field: "static"}, operating_system=OperatingSystem.BOTTLEROCKET)

    assert (fault.code, fault.path) == ("KubeletOnBottlerocket", "nodegroups.g.kubelet")
    assert "UserData.bottlerocket" in fault.fix
    assert faults_of({}, operating_system=OperatingSystem.BOTTLEROCKET) == []


@pytest.mark.parametrize(
    ("kubelet", "path", "code"),
    [
        (None, "", "WrongType"),
        (["cpuManagerPolicy"], "", "WrongType"),
        ("cpuManagerPolicy: static", "", "WrongType"),
        (TOKEN, "", "TokenNotAllowed"),
        (Hostile(), "", "WrongType"),
        (HostileMapping(), "", "WrongType"),
        (endless(), "", "TooDeep"),
        (FrozenDict({"logging": endless()}), "", "TooDeep"),
        ({"logging": HostileMapping()}, "", "WrongType"),
        ({"logging": deep(40)}, "", "TooDeep"),
        ({7: "static"}, ".7", "WrongType"),
        ({None: "static"}, ".None", "WrongType"),
        ({Hostile(): "static"}, ".<Hostile>", "WrongType"),
        ({"logging": Hostile()}, ".logging", "WrongType"),
        ({"logging": b"a"}, ".logging", "WrongType"),
        ({"logging": {1, 2}}, ".logging", "WrongType"),
        ({"logging": {"a": [1, float("nan")]}}, ".logging.a[1]", "WrongType"),
        ({"logging": float("inf")}, ".logging", "WrongType"),
        ({"logging": 10**6000}, ".logging", "WrongType"),
        ({"logging": {7: 1}}, ".logging", "WrongType"),
        ({"logging": TOKEN}, ".logging", "TokenNotAllowed"),
        ({"logging": {"a": ["#{Token[TOKEN.3]}"]}}, ".logging.a[0]", "TokenNotAllowed"),
        ({"maxOpenFiles": NUMBER_TOKEN}, ".maxOpenFiles", "TokenNotAllowed"),
    ],
)
def test_what_cannot_be_json_is_named_by_its_path(kubelet, path, code):
    (fault,) = faults_of(kubelet)

    assert (fault.code, fault.path) == (code, f"nodegroups.g.kubelet{path}")


def test_all_faults_come_together():
    kubelet = {"maxPods": 5, "zzz": 1, "logging": {"a": b"", "b": float("nan")}}

    assert [fault.code for fault in faults_of(kubelet)] == [
        "KubeletFieldOwned",
        "UnknownKubeletField",
        "WrongType",
        "WrongType",
    ]


@pytest.mark.parametrize("pages", [None, 0, 1, 5128, 2**20])
def test_a_number_of_huge_pages_is_taken(pages):
    assert list(hugepages_faults(spec_of(hugepages_2mi=pages))) == []


@pytest.mark.parametrize(
    ("pages", "code"),
    [
        (-1, "OutOfRange"),
        (2**30, "OutOfRange"),
        pytest.param(10**6000, "OutOfRange", id="huge"),
        (True, "WrongType"),
        (1.0, "WrongType"),
        ("5128", "WrongType"),
        (TOKEN, "TokenNotAllowed"),
        (NUMBER_TOKEN, "TokenNotAllowed"),
        (Hostile(), "WrongType"),
    ],
)
def test_what_is_no_number_of_huge_pages_is_a_fault(pages, code):
    (fault,) = hugepages_faults(spec_of(hugepages_2mi=pages))

    assert (fault.code, fault.path) == (code, "nodegroups.g.hugepages_2mi")
    assert fault.got
    assert fault.allowed
    assert fault.fix


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"cpuManagerPolicy": "statik"}, ["UnknownKubeletValue"]),
        ({"memoryManagerPolicy": "static"}, ["UnknownKubeletValue"]),
        ({"topologyManagerPolicy": 5}, ["UnknownKubeletValue"]),
        ({"topologyManagerPolicy": "single-numa-node", "topologyManagerScope": "pod"}, []),
    ],
)
def test_a_word_that_the_kubelet_does_not_know_is_refused(fields, expected):
    spec = NodegroupSpec(name="a", instance_type="g6e.12xlarge", max_size=1, kubelet=fields)

    assert [one.code for one in kubelet_faults(spec)] == expected


GATE = "DynamicResourceAllocation"


def planned_faults(version: str = "1.34", **options: Any) -> list[str]:
    try:
        plan_nodegroup(spec_of(**options), kubernetes_version=version)
    except EksDevicesError as error:
        return [f"{one.code} {one.path}" for one in error.faults]
    return []


def test_the_gate_of_claims_stays_on_where_devices_come_by_them():
    kubelet = {"featureGates": {GATE: False, "MemoryQoS": True}}

    assert planned_faults(kubelet=kubelet, mechanism=Mechanism.DRA) == [
        f"KubeletFieldOwned nodegroups.g.kubelet.featureGates.{GATE}"
    ]
    assert planned_faults(kubelet=kubelet, mechanism=Mechanism.DEVICE_PLUGIN) == []


@pytest.mark.parametrize("name", ["", "no such gate", "A,B", "A=true", "--A", "\u00c4", "A\n"])
def test_a_name_that_no_gate_can_have_is_refused(name):
    (found,) = planned_faults(kubelet={"featureGates": {name: True, "MemoryQoS": True}})

    assert found.startswith("MalformedName nodegroups.g.kubelet.featureGates.")


@pytest.mark.parametrize("mechanism", list(Mechanism))
@pytest.mark.parametrize("value", ["false", None, 0, "true", {}, []])
def test_a_gate_is_true_or_false(value, mechanism):
    kubelet = {"featureGates": {GATE: value, "MemoryQoS": True}}

    assert planned_faults(kubelet=kubelet, mechanism=mechanism) == [
        f"WrongType nodegroups.g.kubelet.featureGates.{GATE}"
    ]


@pytest.mark.parametrize("gates", ["A=true", ["A=true"], 5, None, True])
def test_gates_are_a_mapping(gates):
    assert planned_faults(kubelet={"featureGates": gates}, mechanism=Mechanism.DRA) == [
        "WrongType nodegroups.g.kubelet.featureGates"
    ]


@pytest.mark.parametrize(
    ("gate", "version", "is_refused"),
    [
        (GATE, "1.34", False),
        (GATE, "1.35", True),
        (GATE, "1.37", True),
        ("DRAAdminAccess", "1.35", False),
        ("DRAAdminAccess", "1.36", True),
        ("DRAPrioritizedList", "1.36", False),
        ("DRAPrioritizedList", "1.37", True),
        ("DRAExtendedResource", "1.37", True),
        ("DRAResourceClaimDeviceStatus", "1.37", True),
        ("DRADeviceTaints", "1.37", False),
        # What a kubelet does not know keeps it from starting too.
        ("DRADeviceTaintRules", "1.34", True),
        ("DRAListTypeAttributes", "1.35", True),
        ("DRAListTypeAttributes", "1.36", False),
    ],
)
def test_a_gate_that_is_locked_or_unknown_is_refused_without_claims_too(gate, version, is_refused):
    kubelet = {"featureGates": {gate: False}}
    found = planned_faults(version, kubelet=kubelet, mechanism=Mechanism.DEVICE_PLUGIN)

    expected = [f"KubeletFieldOwned nodegroups.g.kubelet.featureGates.{gate}"]
    assert found == (expected if is_refused else [])


@pytest.mark.parametrize("version", ["1.35", "1.36", "1.37"])
def test_a_locked_gate_may_be_on(version):
    gates = {GATE: True, "DRAAdminAccess": True}

    assert planned_faults(version, kubelet={"featureGates": gates}) == []


@pytest.mark.parametrize("gates", [{GATE: True}, {"MemoryQoS": False}, {}])
def test_other_gates_and_the_one_that_is_on_are_taken(gates):
    assert planned_faults(kubelet={"featureGates": gates}, mechanism=Mechanism.DRA) == []
