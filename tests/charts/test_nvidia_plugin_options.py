"""What the settings of an owner make of NVIDIA's device plugin and of the Pods beside it."""

from __future__ import annotations

import itertools
import json
from typing import Any

import kubernetes_validate
import pytest
from tests.driver_plans import driver_plan

from eks_device_charts.manifests.nvidia_device_plugin import driver_objects
from eks_devices import Mechanism

PLUGIN = "nvdp-nvidia-device-plugin"
MPS = f"{PLUGIN}-mps-control-daemon"
LABELS = f"{PLUGIN}-gpu-feature-discovery"
MPS_SETTINGS = {"sharing": "mps", "replicas": 4}
SLICES = {"sharing": "time-slicing", "replicas": 4}
MEMORY = "/dev/shm"  # noqa: S108
Values = dict[str, Any]


def objects(owner: str = "default", **settings: Any) -> list[dict[str, Any]]:
    """The objects of an owner; an underscore of a setting's name is its hyphen."""
    named = {name.replace("_", "-"): value for name, value in settings.items()}
    plan = driver_plan(Mechanism.DEVICE_PLUGIN, named, owner=owner)
    return driver_objects(plan, "example.com/plugin:1")


def app(item: dict[str, Any]) -> str:
    return str(item["metadata"]["labels"].get("app.kubernetes.io/name"))


def pods(**settings: Any) -> dict[str, dict[str, Any]]:
    """The Pod of each DaemonSet, by the name that selects it."""
    return {
        app(item): item["spec"]["template"]["spec"]
        for item in objects(**settings)
        if item["kind"] == "DaemonSet"
    }


def container(pod: dict[str, Any]) -> dict[str, Any]:
    (only,) = pod["containers"]
    return dict(only)


def env(pod: dict[str, Any]) -> Values:
    return {one["name"]: one["value"] for one in container(pod)["env"]}


def file(**settings: Any) -> dict[str, Any]:
    (text,) = (
        one["data"]["config.yaml"] for one in objects(**settings) if one["kind"] == "ConfigMap"
    )
    return dict(json.loads(text))


def paths(pod: dict[str, Any]) -> dict[str, str]:
    """What of the node each container path shows, and how."""
    volumes = {one["name"]: one["hostPath"]["path"] for one in pod["volumes"] if "hostPath" in one}
    return {
        one["mountPath"]: f"{volumes[one['name']]} {'ro' if one.get('readOnly') else 'rw'}"
        for one in container(pod)["volumeMounts"]
        if one["name"] in volumes
    }


EVERYTHING = (
    {"gdrcopy": True, "gds": True, "ignored_health_checks": "all", "feature_discovery": True},
    {"mig_strategy": "mixed", "feature_discovery": True, "device_id_strategy": "index"},
    {"device_list_strategy": "volume-mounts", "pass_device_specs": True, "feature_discovery": True},
    {"device_list_strategy": "cdi-cri", **MPS_SETTINGS, "feature_discovery": True},
    {**SLICES, "rename": True, "single_replica_requests": True, "feature_discovery": True},
)


@pytest.mark.parametrize("settings", EVERYTHING)
def test_every_object_fits_its_schema(settings, version):
    for item in objects(owner="lab-0123abcd", **settings):
        kubernetes_validate.validate(item, version, strict=True)


def test_without_settings_there_is_the_plugin_alone():
    (pod,) = pods().values()

    assert [item["kind"] for item in objects()] == ["DaemonSet"]
    assert env(pod) == {
        "NVIDIA_VISIBLE_DEVICES": "all",
        "NVIDIA_DRIVER_CAPABILITIES": "compute,utility",
        "MOFED_ENABLED": "false",
    }
    assert paths(pod) == {"/var/lib/kubelet/device-plugins": "/var/lib/kubelet/device-plugins rw"}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"gdrcopy": True}, {"GDRCOPY_ENABLED": "true"}),
        ({"gds": True}, {"GDS_ENABLED": "true"}),
        ({"mig_strategy": "single"}, {"MIG_STRATEGY": "single"}),
        ({"device_list_strategy": "cdi-cri"}, {"DEVICE_LIST_STRATEGY": "cdi-cri"}),
        ({"device_id_strategy": "index"}, {"DEVICE_ID_STRATEGY": "index"}),
        ({"pass_device_specs": True}, {"PASS_DEVICE_SPECS": "true"}),
        ({"ignored_health_checks": "all"}, {"DP_DISABLE_HEALTHCHECKS": "all"}),
        ({"ignored_health_checks": "13,31"}, {"DP_DISABLE_HEALTHCHECKS": "13,31"}),
        (MPS_SETTINGS, {"MPS_ROOT": "/run/nvidia/mps"}),
    ],
)
def test_a_setting_is_one_variable_of_the_plugin(settings, expected):
    added = env(pods(**settings)[PLUGIN]).items() - env(pods()[PLUGIN]).items()
    known = {("NVIDIA_MIG_MONITOR_DEVICES", "all"), ("CONFIG_FILE", "/config/config.yaml")}

    assert added - known == expected.items()


@pytest.mark.parametrize("settings", EVERYTHING)
def test_rdma_devices_are_left_to_their_own_manager(settings):
    assert env(pods(**settings)[PLUGIN])["MOFED_ENABLED"] == "false"


@pytest.mark.parametrize("settings", EVERYTHING)
def test_a_plugin_that_finds_no_gpu_ends(settings):
    """As is its default: our nodes have GPUs, so waiting in silence would hide a fault."""
    for pod in pods(**settings).values():
        assert "FAIL_ON_INIT_ERROR" not in env(pod)


@pytest.mark.parametrize(
    ("settings", "sharing"),
    [
        (SLICES, {"timeSlicing": {}}),
        ({**SLICES, "rename": True}, {"timeSlicing": {"renameByDefault": True}}),
        (
            {**SLICES, "single_replica_requests": True},
            {"timeSlicing": {"failRequestsGreaterThanOne": True}},
        ),
        (MPS_SETTINGS, {"mps": {}}),
        ({**MPS_SETTINGS, "rename": True}, {"mps": {"renameByDefault": True}}),
    ],
)
def test_sharing_is_all_that_the_file_says(settings, sharing):
    ((strategy, flags),) = sharing.items()
    resources = [{"name": "nvidia.com/gpu", "replicas": 4}]

    assert file(**settings) == {
        "version": "v1",
        "sharing": {strategy: {"resources": resources, **flags}},
    }


@pytest.mark.parametrize("settings", [{"gdrcopy": True}, {"mig_strategy": "mixed"}])
def test_owners_that_share_nothing_have_no_file(settings):
    assert {item["kind"] for item in objects(**settings)} == {"DaemonSet"}
    for pod in pods(**settings, feature_discovery=True).values():
        assert "CONFIG_FILE" not in env(pod)
        assert "config" not in {one["name"] for one in pod["volumes"]}


def test_all_pods_of_an_owner_read_the_file_of_that_owner():
    items = objects(owner="lab-0123abcd", **MPS_SETTINGS, feature_discovery=True)
    (config,) = (item for item in items if item["kind"] == "ConfigMap")
    daemons = [item for item in items if item["kind"] == "DaemonSet"]

    assert config["metadata"]["name"] == f"{PLUGIN}-lab-0123abcd"
    assert {app(item) for item in daemons} == {PLUGIN, MPS, LABELS}
    for item in daemons:
        pod = item["spec"]["template"]["spec"]
        volume = {"name": "config", "configMap": {"name": config["metadata"]["name"]}}
        assert volume in pod["volumes"]
        assert env(pod)["CONFIG_FILE"] == "/config/config.yaml"
        mounted = {one["name"]: one for one in container(pod)["volumeMounts"]}
        assert mounted["config"] == {"name": "config", "mountPath": "/config", "readOnly": True}


def test_a_changed_file_makes_every_pod_anew():
    def digests(replicas):
        return {
            app(item): item["spec"]["template"]["metadata"]["annotations"]["eks-devices/config"]
            for item in objects(sharing="mps", replicas=replicas, feature_discovery=True)
            if item["kind"] == "DaemonSet"
        }

    two, four = digests(2), digests(4)

    assert digests(2) == two
    assert two.keys() == four.keys() == {PLUGIN, MPS, LABELS}
    assert not two.items() & four.items()


def test_no_daemon_set_selects_pods_of_another():
    items = [
        item
        for owner in ("default", "lab-0123abcd")
        for item in objects(owner=owner, **MPS_SETTINGS, feature_discovery=True)
        if item["kind"] == "DaemonSet"
    ]

    for one, other in itertools.permutations(items, 2):
        selector = one["spec"]["selector"]["matchLabels"].items()
        assert not selector <= other["spec"]["template"]["metadata"]["labels"].items()


def test_all_pods_of_an_owner_run_on_the_nodes_of_that_owner():
    (affinity,) = {
        json.dumps(pod["affinity"])
        for pod in pods(owner="lab-0123abcd", **MPS_SETTINGS, feature_discovery=True).values()
    }

    assert "lab-0123abcd" in affinity
    assert "mps.capable" not in affinity


@pytest.mark.parametrize("settings", EVERYTHING)
def test_no_pod_gets_a_token(settings):
    for pod in pods(**settings).values():
        assert pod["automountServiceAccountToken"] is False
        assert pod["serviceAccountName"] == PLUGIN


@pytest.mark.parametrize("settings", EVERYTHING)
def test_the_scheduler_counts_every_pod(settings):
    for pod in pods(**settings).values():
        assert container(pod)["resources"].keys() == {"requests"}
        assert container(pod)["resources"]["requests"].keys() == {"cpu", "memory"}


LEAST = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
SYS_ADMIN = {"capabilities": {"drop": ["ALL"], "add": ["SYS_ADMIN"]}}
ROOT_ON_THE_NODE = {"privileged": True}


@pytest.mark.parametrize(
    ("settings", "plugin", "labels"),
    [
        ({}, LEAST, LEAST),
        ({"gdrcopy": True, "gds": True, "ignored_health_checks": "all"}, LEAST, LEAST),
        (SLICES, LEAST, LEAST),
        (MPS_SETTINGS, LEAST, LEAST),
        ({"device_list_strategy": "envvar"}, LEAST, LEAST),
        ({"device_list_strategy": "cdi-cri"}, LEAST, LEAST),
        ({"device_list_strategy": "cdi-annotations"}, LEAST, LEAST),
        ({"device_list_strategy": "volume-mounts"}, SYS_ADMIN, SYS_ADMIN),
        ({"mig_strategy": "single"}, SYS_ADMIN, SYS_ADMIN),
        ({"mig_strategy": "mixed", **SLICES}, SYS_ADMIN, SYS_ADMIN),
        ({"pass_device_specs": True}, ROOT_ON_THE_NODE, LEAST),
        ({"pass_device_specs": True, "mig_strategy": "mixed"}, ROOT_ON_THE_NODE, SYS_ADMIN),
    ],
)
def test_a_container_may_do_no_more_than_its_settings_need(settings, plugin, labels):
    found = pods(**settings, feature_discovery=True)

    assert container(found[PLUGIN])["securityContext"] == plugin
    assert container(found[LABELS])["securityContext"] == labels


@pytest.mark.parametrize("settings", EVERYTHING)
def test_whoever_watches_mig_may(settings):
    for pod in pods(**settings).values():
        watches = "NVIDIA_MIG_MONITOR_DEVICES" in env(pod)
        assert watches == ("mig_strategy" in settings)
        assert not watches or container(pod)["securityContext"] == SYS_ADMIN


@pytest.mark.parametrize("strategy", ["cdi-cri", "cdi-annotations"])
def test_a_plugin_that_writes_cdi_reads_the_driver_of_the_node(strategy):
    plain, cdi = (paths(pods(**one)[PLUGIN]) for one in ({}, {"device_list_strategy": strategy}))

    assert cdi == plain | {"/var/run/cdi": "/var/run/cdi rw", "/driver-root": "/ ro"}


@pytest.mark.parametrize("strategy", ["envvar", "volume-mounts"])
def test_no_other_plugin_sees_the_node(strategy):
    assert paths(pods(device_list_strategy=strategy)[PLUGIN]) == paths(pods()[PLUGIN])


def test_plugin_and_mps_daemon_share_folder_and_memory():
    found = pods(**MPS_SETTINGS)
    shared = {"/mps": "/run/nvidia/mps rw", MEMORY: "/run/nvidia/mps/shm rw"}

    assert paths(found[MPS]) == shared
    assert shared.items() <= paths(found[PLUGIN]).items()
    assert env(found[PLUGIN])["MPS_ROOT"] == "/run/nvidia/mps"


def test_the_mps_daemon_is_root_on_the_node_and_nobody_else_is():
    found = pods(**MPS_SETTINGS)
    (mounts,) = found[MPS]["initContainers"]
    (waits,) = found[PLUGIN]["initContainers"]

    assert found[MPS]["hostPID"] is True
    assert container(found[MPS])["securityContext"] == ROOT_ON_THE_NODE
    assert mounts["securityContext"] == ROOT_ON_THE_NODE
    assert mounts["command"] == ["mps-control-daemon", "mount-shm"]
    assert [one["mountPropagation"] for one in mounts["volumeMounts"]] == ["Bidirectional"]
    assert waits["securityContext"] == LEAST
    assert waits["volumeMounts"] == [{"name": "mps-root", "mountPath": "/mps", "readOnly": True}]
    assert "hostPID" not in found[PLUGIN]


def test_the_plugin_waits_for_what_the_daemon_writes():
    (waits,) = pods(**MPS_SETTINGS)[PLUGIN]["initContainers"]

    assert waits["command"][:2] == ["sh", "-c"]
    assert "/mps/.ready" in waits["command"][2]


@pytest.mark.parametrize("settings", [{}, SLICES])
def test_without_mps_nothing_of_it_is_there(settings):
    found = pods(**settings, feature_discovery=True)

    assert found.keys() == {PLUGIN, LABELS}
    for pod in found.values():
        assert "initContainers" not in pod
        assert not {"/mps", MEMORY} & paths(pod).keys()


def test_labels_go_to_the_folder_that_node_feature_discovery_reads():
    pod = pods(feature_discovery=True)[LABELS]
    folder = "/etc/kubernetes/node-feature-discovery/features.d"

    assert env(pod)["USE_NODE_FEATURE_API"] == "false"
    assert paths(pod) == {folder: f"{folder} rw"}


@pytest.mark.parametrize("settings", [{}, {"feature_discovery": False}])
def test_labels_are_made_where_they_are_asked_for_only(settings):
    assert pods(**settings).keys() == {PLUGIN}
