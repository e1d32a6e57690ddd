"""What the settings of an owner make of the GPU half of the NVIDIA DRA driver."""

from __future__ import annotations

import copy
from typing import Any

import kubernetes_validate
import pytest
from cel_expr_python import cel  # type: ignore[import-untyped]
from tests.driver_plans import driver_plan

from eks_device_charts.manifests.nvidia_gpu_driver import driver_objects
from eks_device_charts.manifests.nvidia_gpu_options import (
    options_env,
    passthrough_class,
    with_host_access,
)
from eks_devices import Mechanism


def plan(**settings: Any) -> Any:
    named = {name.replace("_", "-"): value for name, value in settings.items()}
    return driver_plan(Mechanism.DRA, named)


def pod() -> dict[str, Any]:
    (item,) = driver_objects(plan(), "example.com/driver:1")
    return dict(item["spec"]["template"]["spec"])


def mounts(a_pod: dict[str, Any]) -> dict[str, dict[str, Any]]:
    (container,) = a_pod["containers"]
    return {one["mountPath"]: one for one in container["volumeMounts"]}


def added(gates: str) -> dict[str, Any]:
    """What gates add to the mounts of the driver."""
    before, after = pod(), with_host_access(plan(feature_gates=gates), pod())
    return {path: one for path, one in mounts(after).items() if path not in mounts(before)}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {}),
        ({"feature_gates": "DynamicMIG=true"}, {"FEATURE_GATES": "DynamicMIG=true"}),
        ({"consumable_shares": "memory"}, {"CONSUMABLE_SHARES": "memory"}),
        ({"ignored_xids": "1,2"}, {"ADDITIONAL_XIDS_TO_IGNORE": "1,2"}),
        ({"sharing": "time-slicing", "replicas": 4}, {}),
    ],
)
def test_a_setting_is_one_variable(settings, expected):
    found = {one["name"]: one["value"] for one in options_env(plan(**settings))}

    assert found == expected


HOST_ROOT = {
    "name": "host-root",
    "mountPath": "/host-root",
    "readOnly": True,
    "mountPropagation": "HostToContainer",
}


def test_passthrough_sees_the_kernel_of_the_node():
    assert added("DynamicMIG=false,PassthroughSupport=true") == {
        "/host-root": HOST_ROOT,
        "/lib/modules": {
            "name": "lib-modules",
            "mountPath": "/lib/modules",
            "readOnly": True,
            "mountPropagation": "HostToContainer",
        },
        "/sys": {"name": "sysfs", "mountPath": "/sys", "mountPropagation": "Bidirectional"},
        "/proc": {"name": "procfs", "mountPath": "/proc", "mountPropagation": "Bidirectional"},
    }


def test_partitions_of_the_fabric_are_looked_for_on_the_node():
    """Without the folder the driver finds no fabric, and switches the gate off in silence."""
    assert added("FabricManagerPartitioning=true") == {"/host-root": HOST_ROOT}


@pytest.mark.parametrize(
    "gates", ["", "PassthroughSupport=false", "DynamicMIG=true", "PassthroughSupportNot=true"]
)
def test_no_other_gate_sees_the_node(gates):
    assert with_host_access(plan(feature_gates=gates), pod()) == pod()
    assert with_host_access(plan(), pod()) == pod()


@pytest.mark.parametrize("gate", ["PassthroughSupport", "FabricManagerPartitioning"])
def test_every_mount_is_a_folder_of_the_node_of_that_name(gate):
    found = with_host_access(plan(feature_gates=f"{gate}=true"), pod())
    volumes = {one["name"]: one["hostPath"] for one in found["volumes"]}
    (container,) = found["containers"]

    assert {"name": "HOST_ROOT", "value": "/host-root"} in container["env"]
    for path, one in mounts(found).items():
        host = {"/host-root": "/", "/driver-root": "/"}.get(path, path)
        assert volumes[one["name"]]["path"] == host


def test_the_pod_that_is_given_stays_as_it_was():
    given = pod()
    before = copy.deepcopy(given)

    with_host_access(plan(feature_gates="PassthroughSupport=true"), given)

    assert given == before


def test_the_objects_fit_their_schemas(version):
    (item,) = driver_objects(plan(), "example.com/driver:1")
    template = item["spec"]["template"]
    template["spec"] = with_host_access(
        plan(feature_gates="PassthroughSupport=true"), template["spec"]
    )

    kubernetes_validate.validate(item, version, strict=True)
    kubernetes_validate.validate(passthrough_class(), version, strict=True)


@pytest.mark.parametrize(
    ("device", "chosen"),
    [
        ({"driver": "gpu.nvidia.com", "attributes": {"gpu.nvidia.com": {"type": "vfio"}}}, True),
        ({"driver": "gpu.nvidia.com", "attributes": {"gpu.nvidia.com": {"type": "gpu"}}}, False),
        ({"driver": "gpu.nvidia.com", "attributes": {"gpu.nvidia.com": {}}}, False),
        ({"driver": "example.com", "attributes": {"gpu.nvidia.com": {"type": "vfio"}}}, False),
    ],
)
def test_the_class_selects_gpus_for_passthrough_and_no_other(device, chosen):
    item = passthrough_class()
    (selector,) = item["spec"]["selectors"]
    env = cel.NewEnv(variables={"device": cel.Type.Map(cel.Type.STRING, cel.Type.DYN)})
    value = env.compile(selector["cel"]["expression"]).eval(data={"device": device})

    assert item["metadata"]["name"] == "vfio.gpu.nvidia.com"
    assert value.type() == cel.Type.BOOL
    assert value.plain_value() is chosen
