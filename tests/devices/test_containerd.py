"""Settings of containerd in a user's own NodeConfig, on groups that need them otherwise."""

from __future__ import annotations

from typing import Any

import pytest
from tests.short_names import DRA, EFA, GPU, PLUGIN

from eks_devices import (
    Capacity,
    DeviceListStrategy,
    EksDevicesError,
    Finding,
    GpuPlugin,
    NodegroupSpec,
    OperatingSystem,
    UserData,
    plan_nodegroup,
)

RUNTIME, OLD_RUNTIME = "io.containerd.cri.v1.runtime", "io.containerd.grpc.v1.cri"
NRI = "io.containerd.nri.v1.nri"
NO_CDI = f"[plugins.'{RUNTIME}']\nenable_cdi = false\n"
CDI_ANNOTATIONS = GpuPlugin(device_list_strategy=DeviceListStrategy.CDI_ANNOTATIONS)
CDI_CRI = GpuPlugin(device_list_strategy=DeviceListStrategy.CDI_CRI)
ENVVAR = GpuPlugin(device_list_strategy=DeviceListStrategy.ENVVAR)
TRN2: dict[str, Any] = {"instance_type": "trn2.48xlarge", "mechanism": DRA}
P5: dict[str, Any] = {"instance_type": "p5.48xlarge"}
P6E: dict[str, Any] = {
    "instance_type": "p6e-gb200.36xlarge",
    "mechanism": {GPU: PLUGIN, EFA: PLUGIN},
    "capacity": Capacity.block("cr-0123456789abcdef0"),
}


def faults(text: str, *others: UserData, **options: Any) -> tuple[Finding, ...]:
    data = UserData.node_config({"spec": {"containerd": {"config": text}}})
    given: dict[str, Any] = {"instance_type": "g6e.12xlarge", "max_size": 1} | options
    group = NodegroupSpec(name="g", user_data=UserData.combined(data, *others), **given)
    try:
        plan_nodegroup(group, kubernetes_version="1.34")
    except EksDevicesError as error:
        return error.faults
    return ()


@pytest.mark.parametrize(
    "options",
    [
        {"mechanism": DRA},
        {"mechanism": DRA, "external": {GPU}},
        {"mechanism": PLUGIN, "gpu_plugin": CDI_CRI},
        {"mechanism": PLUGIN, "gpu_plugin": CDI_ANNOTATIONS},
        TRN2,
        P6E,
    ],
)
@pytest.mark.parametrize("part", [RUNTIME, OLD_RUNTIME])
def test_cdi_stays_on_where_it_hands_devices_out(part, options):
    (fault,) = faults(NO_CDI.replace(RUNTIME, part), **options)

    assert fault.code == "UserDataConflict"
    assert fault.path == (
        f"nodegroups.g.user_data.spec.containerd.config.plugins.{part}.enable_cdi"
    )
    assert (fault.got, fault.allowed) == ("False", "true")
    assert "without CDI" in fault.message
    assert fault.fix
    assert fault.source


@pytest.mark.parametrize(
    "options",
    [
        {"mechanism": PLUGIN},
        {"mechanism": PLUGIN, "gpu_plugin": ENVVAR},
        {"instance_type": "trn2.48xlarge", "mechanism": PLUGIN},
        {"instance_type": "c5n.18xlarge", "mechanism": DRA, "efa": True},
    ],
)
def test_what_does_without_cdi_may_have_it_off(options):
    assert faults(NO_CDI, **options) == ()


@pytest.mark.parametrize(
    ("folders", "told"),
    [
        ('["/etc/cdi"]', True),
        ("[]", True),
        ('["/etc/cdi", "/var/run/cdi"]', False),
        ('["/run/cdi"]', False),
    ],
)
def test_containerd_looks_for_devices_where_drivers_write_them(folders, told):
    text = f"[plugins.'{RUNTIME}']\ncdi_spec_dirs = {folders}\n"

    assert [one.path.rpartition(".")[2] for one in faults(text, mechanism=DRA)] == (
        ["cdi_spec_dirs"] if told else []
    )
    assert faults(text, mechanism=PLUGIN) == ()


def test_the_runtime_asks_the_driver_of_efa_about_each_pod():
    text = f"[plugins.'{NRI}']\ndisable = true\n"

    (fault,) = faults(text, **P5, mechanism=DRA)
    assert fault.path.endswith(f"plugins.{NRI}.disable")
    assert faults(text, **P5, mechanism={GPU: DRA, EFA: PLUGIN}) == ()
    assert faults(text.replace("true", "false"), **P5, mechanism=DRA) == ()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (f"[plugins.'{NRI}']\ndisable_connections = true\n", f"plugins.{NRI}.disable_connections"),
        (f"[plugins.'{NRI}']\nsocket_path = '/run/own.sock'\n", f"plugins.{NRI}.socket_path"),
        (f"disabled_plugins = ['io.containerd.x', '{NRI}']\n", "disabled_plugins"),
    ],
)
def test_the_driver_of_efa_reaches_the_runtime(text, key):
    (fault,) = faults(text, **P5, mechanism=DRA)

    assert fault.code == "UserDataConflict"
    assert fault.path == f"nodegroups.g.user_data.spec.containerd.config.{key}"
    assert "without a device" in fault.message
    assert fault.source
    assert faults(text, **P5, mechanism={GPU: DRA, EFA: PLUGIN}) == ()
    assert faults(text, mechanism=DRA) == ()


@pytest.mark.parametrize(
    "text",
    [
        f"[plugins.'{NRI}']\ndisable_connections = false\n",
        f"[plugins.'{NRI}']\nsocket_path = '/var/run/nri/nri.sock'\n",
        f"[plugins.'{NRI}']\nsocket_path = '/run/nri/nri.sock'\n",
        f"[plugins.'{NRI}']\nsocket_path = 1\n",
        "disabled_plugins = ['io.containerd.snapshotter.v1.zfs', 1]\n",
        f"disabled_plugins = '{NRI}'\n",
    ],
)
def test_settings_that_leave_the_runtime_in_reach(text):
    assert faults(text, **P5, mechanism=DRA) == ()


def outcome(**options: Any) -> list[tuple[str, str]]:
    """Codes and paths of what is told of containerd by the image of a group with EFA."""
    group = NodegroupSpec(name="g", max_size=1, **(P5 | options))
    try:
        found = plan_nodegroup(group, kubernetes_version="1.34").findings
    except EksDevicesError as error:
        found = error.faults
    return [(one.code, one.path) for one in found if "NRI" in one.message]


OLD = [("ReleaseTooOld", "nodegroups.g.release_version")]


@pytest.mark.parametrize(
    ("system", "release", "expected"),
    [
        (OperatingSystem.AL2023, "1.34.2-20250419", OLD),
        (OperatingSystem.AL2023, "1.34.2-20250501", []),
        (OperatingSystem.BOTTLEROCKET, "1.38.0-0a1b2c3d", OLD),
        (OperatingSystem.BOTTLEROCKET, "1.39.0-0a1b2c3d", []),
    ],
)
def test_a_release_with_an_older_containerd_is_refused_for_efa_by_dra(system, release, expected):
    efa_by_dra = {"mechanism": {GPU: PLUGIN, EFA: DRA}}
    pinned: dict[str, Any] = {"operating_system": system, "release_version": release}

    assert outcome(**pinned, **efa_by_dra) == expected
    assert outcome(**pinned, mechanism=PLUGIN) == []


def test_an_image_of_one_s_own_is_told_what_efa_by_dra_needs_of_it():
    own = {"ami_id": "ami-0123456789abcdef0"}

    assert outcome(**own, mechanism=DRA) == [("NriOnOwnImage", "nodegroups.g.ami_id")]
    assert outcome(**own, mechanism=PLUGIN) == []
    assert outcome(**own, mechanism=DRA, efa=False) == []
    assert outcome(mechanism=DRA) == []


@pytest.mark.parametrize("part", [RUNTIME, OLD_RUNTIME])
def test_nvidia_s_runtime_gives_containers_the_gpus_of_the_plugin(part):
    text = f"[plugins.'{part}'.containerd]\ndefault_runtime_name = 'runc'\n"

    (fault,) = faults(text, mechanism=PLUGIN)
    assert fault.path.endswith(f"plugins.{part}.containerd.default_runtime_name")
    assert fault.allowed == "nvidia"
    assert faults(text, mechanism=DRA) == ()
    assert faults(text, **TRN2) == ()
    assert faults(text.replace("runc", "ours"), mechanism=PLUGIN) == ()


@pytest.mark.parametrize(
    "text",
    [
        NO_CDI.replace("false", "true"),
        f"[plugins.'{RUNTIME}'.registry]\nconfig_path = '/etc/containerd/certs.d'\n",
        f"[plugins.'{RUNTIME}']\nenable_cdi = 0\ncdi_spec_dirs = '/etc/cdi'\n",
        "[plugins]\n",
        f"plugins = [1]\n# {RUNTIME}\n",
    ],
)
def test_other_settings_are_the_user_s(text):
    assert faults(text, mechanism=DRA) == ()


def test_every_node_config_of_a_user_is_looked_at():
    second = UserData.node_config({"spec": {"containerd": {"config": NO_CDI}}})

    found = faults("[plugins]\n", second, mechanism=DRA)

    assert [one.code for one in found] == ["UserDataConflict"]


def test_all_lost_settings_are_told_together():
    text = f"{NO_CDI}cdi_spec_dirs = []\n[plugins.'{NRI}']\ndisable = true\n"

    assert [one.path.rpartition(".")[2] for one in faults(text, **P5, mechanism=DRA)] == [
        "enable_cdi",
        "cdi_spec_dirs",
        "disable",
    ]
