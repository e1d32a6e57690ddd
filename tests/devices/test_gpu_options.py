"""Options of NVIDIA's two managers: what each is told, and what is refused at once."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from tests.hostile import Hostile, HostileMapping, HostileText
from tests.short_names import BOTTLEROCKET, DOMAIN, DRA, GPU

from eks_devices import (
    AcceleratedInstanceType,
    DeviceIdStrategy,
    DeviceListStrategy,
    EksDevicesError,
    GpuDriver,
    GpuPlugin,
    GpuSharing,
    NodegroupPlan,
    NodegroupSpec,
    NvidiaInstallation,
    UserData,
    plan_cluster,
    plan_nodegroup,
)

any_driver: Any = GpuDriver
any_plugin: Any = GpuPlugin
any_installation: Any = NvidiaInstallation


def planned(instance_type: str = "g6e.12xlarge", version: str = "1.36", **options: Any) -> Any:
    group = NodegroupSpec(name="g", instance_type=instance_type, max_size=1, **options)
    return plan_nodegroup(group, kubernetes_version=version)


def told(plan: NodegroupPlan) -> dict[str, str | int]:
    (gpu,) = (one for one in plan.devices if one.device_type is GPU)
    return dict(gpu.settings)


def owner(plan: NodegroupPlan) -> str:
    (gpu,) = (one for one in plan.devices if one.device_type is GPU)
    return gpu.owner


def codes_of(call: Any) -> list[str]:
    with pytest.raises(EksDevicesError) as error:
        call()
    return [f"{one.code} {one.path}" for one in error.value.faults]


DRIVERS = [
    (GpuDriver(), {}),
    # A gate as the driver has it by itself is no setting: the nodes share the plain DaemonSet.
    (GpuDriver(feature_gates={"MPSSupport": False}), {}),
    (
        GpuDriver(feature_gates={"TimeSlicingSettings": True, "MPSSupport": True}),
        {"feature-gates": "MPSSupport=true,TimeSlicingSettings=true"},
    ),
    (
        GpuDriver(feature_gates={"NVMLDeviceHealthCheck": True}, ignored_xids=[79, 48, 79]),
        {"feature-gates": "NVMLDeviceHealthCheck=true", "ignored-xids": "48,79"},
    ),
    (
        GpuDriver(consumable_shares=4),
        {"feature-gates": "ConsumableShares=true", "consumable-shares": "4"},
    ),
]


@pytest.mark.parametrize(("driver", "expected"), DRIVERS)
def test_what_the_driver_is_told(driver, expected):
    plan = planned(gpu_driver=driver)

    assert told(plan) == expected
    assert (owner(plan) == "default") == (not expected)


PLUGINS = [
    (GpuPlugin(), {}),
    (GpuPlugin(gdrcopy=True, gds=True), {"gdrcopy": True, "gds": True}),
    (GpuPlugin(pass_device_specs=True), {"pass-device-specs": True}),
    (GpuPlugin(pass_device_specs=False), {"pass-device-specs": False}),
    (
        GpuPlugin(
            device_list_strategy=DeviceListStrategy.CDI_CRI,
            device_id_strategy=DeviceIdStrategy.INDEX,
        ),
        {"device-list-strategy": "cdi-cri", "device-id-strategy": "index"},
    ),
    (GpuPlugin(health_checks=False), {"ignored-health-checks": "all"}),
    (GpuPlugin(ignored_xids=(109, 31)), {"ignored-health-checks": "31,109"}),
    (GpuPlugin(feature_discovery=True), {"feature-discovery": True}),
]


@pytest.mark.parametrize(("plugin", "expected"), PLUGINS)
def test_what_the_plugin_is_told(plugin, expected):
    plan = planned(gpu_plugin=plugin)

    assert [one.mechanism for one in plan.devices] == ["device-plugin"]
    assert told(plan) == expected


@pytest.mark.parametrize(
    ("sharing", "expected"),
    [
        (
            GpuSharing.time_slicing(replicas=4),
            {"sharing": "time-slicing", "replicas": 4},
        ),
        (
            GpuSharing.time_slicing(replicas=4, rename=True, fail_requests_greater_than_one=True),
            {
                "sharing": "time-slicing",
                "replicas": 4,
                "rename": True,
                "single-replica-requests": True,
            },
        ),
        (
            GpuSharing.mps(replicas=8, rename=True),
            {"sharing": "mps", "replicas": 8, "rename": True},
        ),
    ],
)
def test_what_sharing_tells_the_plugin(sharing, expected):
    assert told(planned(gpu_sharing=sharing)) == expected


def test_equal_options_share_a_daemonset_and_others_do_not():
    first = planned(gpu_plugin=GpuPlugin(gdrcopy=True))
    second = planned("g6.xlarge", gpu_plugin=GpuPlugin(gdrcopy=True))
    third = planned(gpu_plugin=GpuPlugin(gds=True))

    assert owner(first) == owner(second) != owner(third)


def test_a_changed_option_keeps_the_nodes():
    plain, gated = planned(), planned(gpu_driver=GpuDriver(feature_gates={"MPSSupport": True}))

    assert plain.replace_key == gated.replace_key


TOO_OLD = "ReleaseTooOld nodegroups.g.release_version"
GATES = (
    ("unknown", {"MultiTenancy": True}, "UnknownFeatureGate"),
    ("misspelt", {"mps-support": True}, "UnknownFeatureGate"),
    ("a number as name", {4: True}, "UnknownFeatureGate"),
    ("another kind of text", {HostileText("MPSSupport"): 1}, "WrongType"),
    ("a text as value", {"MPSSupport": "true"}, "WrongType"),
    ("of ComputeDomains", {"ComputeDomainCliques": False}, "FeatureGateOfOtherComponent"),
    ("of the option mig", {"DynamicMIG": True}, "FeatureGateOfOption"),
    ("of the option shares", {"ConsumableShares": False}, "FeatureGateOfOption"),
    ("without the one it needs", {"DeviceMetadata": True}, "FeatureGateNeedsAnother"),
    (
        "both of a pair",
        {"PassthroughSupport": True, "NVMLDeviceHealthCheck": True},
        "FeatureGatesExclude",
    ),
    (
        "a pair of the documentation",
        {"MPSSupport": True, "NVMLDeviceHealthCheck": True},
        "FeatureGatesExclude",
    ),
)


@pytest.mark.parametrize(("gates", "code"), [row[1:] for row in GATES], ids=[r[0] for r in GATES])
def test_gates_that_the_driver_would_not_start_with(gates, code):
    (found,) = codes_of(lambda: any_driver(feature_gates=gates))

    assert found.startswith(f"{code} gpu_driver.feature_gates[")


def test_shares_exclude_mps():
    driver = {"consumable_shares": 2, "feature_gates": {"MPSSupport": True}}

    assert codes_of(lambda: any_driver(**driver)) == [
        "FeatureGatesExclude gpu_driver.feature_gates[MPSSupport]"
    ]


@pytest.mark.parametrize("gates", [None, 4, "MPSSupport=true", ["MPSSupport"], HostileMapping()])
def test_what_is_no_mapping_of_gates(gates):
    assert codes_of(lambda: any_driver(feature_gates=gates)) == [
        "WrongType gpu_driver.feature_gates"
    ]


WRONG = [
    (any_driver, {"consumable_shares": 1}, "OutOfRange gpu_driver.consumable_shares"),
    (any_driver, {"consumable_shares": "some"}, "OutOfRange gpu_driver.consumable_shares"),
    (any_driver, {"consumable_shares": True}, "WrongType gpu_driver.consumable_shares"),
    (any_driver, {"consumable_shares": 2.0}, "WrongType gpu_driver.consumable_shares"),
    (any_driver, {"host_service": 1}, "WrongType gpu_driver.host_service"),
    (any_driver, {"ignored_xids": "79"}, "WrongType gpu_driver.ignored_xids"),
    (any_driver, {"ignored_xids": [True]}, "WrongType gpu_driver.ignored_xids[0]"),
    (any_driver, {"ignored_xids": [79]}, "IgnoredXidsWithoutChecks gpu_driver.ignored_xids"),
    (
        any_driver,
        {"host_service": True, "feature_gates": {"MPSSupport": True}},
        "HostServiceTakesNoOptions gpu_driver.host_service",
    ),
    (any_plugin, {"gdrcopy": "yes"}, "WrongType gpu_plugin.gdrcopy"),
    (any_plugin, {"pass_device_specs": 1}, "WrongType gpu_plugin.pass_device_specs"),
    (any_plugin, {"device_list_strategy": "cdi-cri"}, "WrongType gpu_plugin.device_list_strategy"),
    (any_plugin, {"device_id_strategy": "uuid"}, "WrongType gpu_plugin.device_id_strategy"),
    (any_plugin, {"ignored_xids": {31}}, "WrongType gpu_plugin.ignored_xids"),
    (any_plugin, {"ignored_xids": (31, 0)}, "OutOfRange gpu_plugin.ignored_xids[1]"),
    # The driver could not read so large a number, and Python refuses to write it.
    (any_driver, {"consumable_shares": 2**63}, "OutOfRange gpu_driver.consumable_shares"),
    (any_driver, {"consumable_shares": 10**5000}, "OutOfRange gpu_driver.consumable_shares"),
    (any_driver, {"consumable_shares": Hostile()}, "WrongType gpu_driver.consumable_shares"),
    # 1 equals True, which is wrong, and stands after it.
    (any_plugin, {"ignored_xids": [1, True]}, "WrongType gpu_plugin.ignored_xids[1]"),
    (any_plugin, {"ignored_xids": [5, Hostile()]}, "WrongType gpu_plugin.ignored_xids[1]"),
    (any_plugin, {"ignored_xids": range(1, 1002)}, "TooManyXids gpu_plugin.ignored_xids"),
    (
        any_plugin,
        {"ignored_xids": (31,), "health_checks": False},
        "IgnoredXidsWithoutChecks gpu_plugin.ignored_xids",
    ),
    (
        any_plugin,
        {"pass_device_specs": True, "device_list_strategy": DeviceListStrategy.CDI_CRI},
        "DeviceSpecsBesideCdi gpu_plugin.pass_device_specs",
    ),
    (
        any_installation,
        {"compute_domain_gates": {"MPSSupport": True}},
        "FeatureGateOfOtherComponent nvidia.compute_domain_gates[MPSSupport]",
    ),
    (
        any_installation,
        {"compute_domain_gates": {"HostManagedIMEXDaemon": True}},
        "FeatureGateNotServed nvidia.compute_domain_gates[HostManagedIMEXDaemon]",
    ),
    # The driver exits: cliques are on by default.
    (
        any_installation,
        {"compute_domain_gates": {"IMEXDaemonsWithDNSNames": False}},
        "FeatureGateNeedsAnother nvidia.compute_domain_gates[IMEXDaemonsWithDNSNames]",
    ),
    (
        any_installation,
        {"nodes_per_imex_domain": 19},
        "OutOfRange nvidia.nodes_per_imex_domain",
    ),
    (any_installation, {"network_policies": None}, "WrongType nvidia.network_policies"),
    (any_installation, {"extended_resource": 0}, "WrongType nvidia.extended_resource"),
]


@pytest.mark.parametrize(("make", "values", "expected"), WRONG)
def test_values_that_are_refused_where_they_are_written(make, values, expected):
    assert codes_of(lambda: make(**values)) == [expected]


def test_every_fault_of_the_options_is_told_at_once():
    values = {"gdrcopy": 1, "gds": 2, "ignored_xids": ["31", 0]}

    assert codes_of(lambda: any_plugin(**values)) == [
        "WrongType gpu_plugin.gdrcopy",
        "WrongType gpu_plugin.gds",
        "WrongType gpu_plugin.ignored_xids[0]",
        "OutOfRange gpu_plugin.ignored_xids[1]",
    ]


def test_a_gate_of_an_option_is_told_with_its_value():
    with pytest.raises(EksDevicesError) as error:
        any_driver(feature_gates={"DynamicMIG": False})

    assert [one.got for one in error.value.faults] == ["False"]


def test_the_host_runs_the_driver_where_it_can():
    host = GpuDriver(host_service=True)
    plan = planned(operating_system=BOTTLEROCKET, mechanism=DRA, gpu_driver=host)

    assert owner(plan) == "host"
    assert told(plan) == {}
    assert dict(plan.bottlerocket_settings) == {
        "settings.kubelet-device-plugins.nvidia.enabled": False,
        "settings.kubelet-dra-drivers.nvidia.enabled": True,
        "settings.kubernetes.max-pods": 250,
    }


@pytest.mark.parametrize(
    ("release", "code"),
    [
        ("1.62.0-0a1b2c3d", "ReleaseTooOld"),
        ("1.65.0-0a1b2c3d", "ReleaseTooOld"),
        ("1.66.0-0a1b2c3d", ""),
        (None, "warning"),
    ],
)
def test_the_host_runs_the_driver_from_a_release_on(release, code):
    options: dict[str, Any] = {
        "operating_system": BOTTLEROCKET,
        "mechanism": DRA,
        "gpu_driver": GpuDriver(host_service=True),
        "release_version": release,
    }
    if code == "ReleaseTooOld":
        assert codes_of(lambda: planned(**options)) == [
            "ReleaseTooOld nodegroups.g.release_version"
        ]
        return
    warned = {one.code for one in planned(**options).findings if one.severity == "warning"}

    assert warned == ({"GpuDraHostBottlerocket"} if code == "warning" else set())


def test_of_two_floors_the_higher_one_alone_is_told():
    def told(**options: Any) -> list[str]:
        options |= {"operating_system": BOTTLEROCKET, "mechanism": DRA}
        try:
            findings = planned(**options).findings
        except EksDevicesError as error:
            findings = error.faults
        texts = " ".join(f"{one.message} {one.fix} {one.allowed}" for one in findings)
        return [floor for floor in ("1.63.0", "1.66.0") if floor in texts]

    host = GpuDriver(host_service=True)
    for release in (None, "1.62.0-0a1b2c3d"):
        assert told(release_version=release, gpu_driver=host) == ["1.66.0"]
        assert told(release_version=release) == ["1.63.0"]


def test_the_built_in_plugin_is_set_up_by_bottlerocket():
    plugin = GpuPlugin(device_id_strategy=DeviceIdStrategy.UUID, pass_device_specs=False)
    sharing = GpuSharing.time_slicing(replicas=3, rename=True, fail_requests_greater_than_one=True)
    plan = planned(operating_system=BOTTLEROCKET, gpu_plugin=plugin, gpu_sharing=sharing)

    prefix = "settings.kubelet-device-plugins.nvidia"
    assert {
        name.removeprefix(prefix): value
        for name, value in plan.bottlerocket_settings.items()
        if name.startswith(prefix)
    } == {
        ".device-id-strategy": "uuid",
        ".device-sharing-strategy": "time-slicing",
        ".pass-device-specs": False,
        ".time-slicing.fail-requests-greater-than-one": True,
        ".time-slicing.rename-by-default": True,
        ".time-slicing.replicas": 3,
    }


def test_every_way_that_user_data_runs_the_hosts_driver_is_judged():
    """The driver runs when it is on and the plugin off: who is its manager decides."""
    shapes: list[dict[str, Any]] = [
        {"mechanism": DRA, "gpu_driver": GpuDriver(host_service=True)},
        {"mechanism": DRA},
        {},
    ]
    refused = {}
    for index, (plugin, driver) in itertools.product(
        range(len(shapes)), itertools.product((True, False), repeat=2)
    ):
        text = (
            f"[settings.kubelet-device-plugins.nvidia]\nenabled = {str(plugin).lower()}\n"
            f"[settings.kubelet-dra-drivers.nvidia]\nenabled = {str(driver).lower()}\n"
        )
        own: dict[str, Any] = {
            "user_data": UserData.bottlerocket(text),
            "operating_system": BOTTLEROCKET,
        }
        try:
            planned(**own, **shapes[index])
        except EksDevicesError as error:
            refused[index, plugin, driver] = {one.code for one in error.faults}

    works = {(0, False, True), (1, False, False), (2, True, False)}
    everything = set(itertools.product(range(3), (True, False), (True, False)))
    assert refused.keys() == everything - works
    assert set().union(*refused.values()) == {"UserDataConflict"}


def test_gates_of_compute_domains_reach_controller_and_plugins_alike():
    installation = NvidiaInstallation(
        compute_domain_gates={"CrashOnNVLinkFabricErrors": False}, nodes_per_imex_domain=9
    )
    kept: Any = {GPU: (DRA,), DOMAIN: (DRA,)}
    plan = plan_cluster(kubernetes_version="1.34", nodegroups=[], keep=kept, nvidia=installation)

    assert {one.device_type: dict(one.settings) for one in plan.drivers} == {
        GPU: {},
        DOMAIN: {
            "feature-gates": "CrashOnNVLinkFabricErrors=false",
            "nodes-per-imex-domain": 9,
        },
    }
    assert plan.to_dict()["nvidia"]["nodes_per_imex_domain"] == 9


def test_a_cluster_takes_no_other_installation():
    wrong: Any = {"network_policies": True}

    assert codes_of(
        lambda: plan_cluster(kubernetes_version="1.34", nodegroups=[], nvidia=wrong)
    ) == ["WrongType nvidia"]


def findings_of(plan: NodegroupPlan, code: str) -> list[str]:
    return [f"{one.severity} {one.path}" for one in plan.findings if one.code == code]


def test_mps_daemons_that_would_be_evicted_are_told_of():
    gated = GpuDriver(feature_gates={"MPSSupport": True})
    evicting = ["nvidia.com/gpu=present:NoSchedule", "dedicated=ml:NoExecute"]

    assert findings_of(planned(gpu_driver=gated), "MpsDaemonEvicted") == []
    assert findings_of(planned(taints=evicting), "MpsDaemonEvicted") == []
    assert findings_of(planned(gpu_driver=gated, taints=evicting), "MpsDaemonEvicted") == [
        "warning nodegroups.g.taints"
    ]


def test_pods_that_get_no_toleration_by_themselves_are_told_of():
    renamed = GpuSharing.time_slicing(replicas=2, rename=True)
    found = ["info nodegroups.g.gpu_sharing.rename"]

    assert findings_of(planned(gpu_sharing=renamed), "TolerationNotAdded") == found
    assert findings_of(planned(gpu_sharing=renamed, taints=()), "TolerationNotAdded") == []
    plain = GpuSharing.time_slicing(replicas=2)
    assert findings_of(planned(gpu_sharing=plain), "TolerationNotAdded") == []
    assert dict(planned("g6e.12xlarge", gpu_sharing=renamed).extended_resources) == {
        "nvidia.com/gpu.shared": 8
    }


def test_an_old_gpu_serves_fewer_clients():
    mps = GpuSharing.mps(replicas=17)

    assert codes_of(lambda: planned("p3.2xlarge", gpu_sharing=mps)) == [
        "TooManyMpsClients nodegroups.g.gpu_sharing.replicas"
    ]
    planned("p3.2xlarge", gpu_sharing=GpuSharing.mps(replicas=16))
    planned("p3.2xlarge", gpu_sharing=GpuSharing.time_slicing(replicas=48))
    planned("g4dn.xlarge", gpu_sharing=GpuSharing.mps(replicas=48))


def test_mounts_that_the_runtime_may_not_heed_are_told_of():
    plugin = GpuPlugin(device_list_strategy=DeviceListStrategy.VOLUME_MOUNTS)

    assert findings_of(planned(gpu_plugin=plugin), "VolumeMountsStrategy") == [
        "warning nodegroups.g.gpu_plugin.device_list_strategy"
    ]
    on_bottlerocket = planned(gpu_plugin=plugin, operating_system=BOTTLEROCKET)
    assert findings_of(on_bottlerocket, "VolumeMountsStrategy") == []


PARTS = [
    one.name
    for one in AcceleratedInstanceType.all()
    if one.accelerator is not None and one.accelerator.partition < 1
]


@pytest.mark.parametrize(
    "sharing", [GpuSharing.time_slicing(replicas=2), GpuSharing.mps(replicas=2)]
)
def test_sharing_a_part_of_a_gpu_again_is_warned_of(sharing):
    assert {name.partition(".")[0] for name in PARTS} == {"g6f", "gr6f"}
    for name in PARTS:
        assert findings_of(planned(name, gpu_sharing=sharing), "SharingUnproven") == [
            "warning nodegroups.g.gpu_sharing"
        ]
        assert findings_of(planned(name), "SharingUnproven") == []
    for name in ("g6.xlarge", "gr6.4xlarge", "p4d.24xlarge"):
        assert findings_of(planned(name, gpu_sharing=sharing), "SharingUnproven") == []


def test_labels_that_a_part_of_a_gpu_lacks_are_told_of():
    plugin, code = GpuPlugin(feature_discovery=True), "VgpuLabelsMissing"

    assert findings_of(planned("g6f.large", gpu_plugin=plugin), code) == [
        "info nodegroups.g.gpu_plugin.feature_discovery"
    ]
    assert findings_of(planned("g6f.large", gpu_plugin=GpuPlugin()), code) == []
    assert findings_of(planned("g6.xlarge", gpu_plugin=plugin), code) == []
