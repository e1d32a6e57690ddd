"""Pods with EFA: environment, memory, network."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cluster_plans import cluster_of
from tests.rule_pods import (
    EFA,
    P5,
    codes,
    container,
    env,
    findings,
    gpu_pod,
    limits,
    listing,
    of_template,
    place,
    pod,
    remarks,
    request,
    template,
)

from eks_devices import Mechanism, OperatingSystem

PLUGIN = cluster_of({"instance_type": "p5.48xlarge", "mechanism": Mechanism.DEVICE_PLUGIN})
PAGES = {"hugepages": "5120Mi", "memory": "8Gi"}
EFAS = template(request(device_class=EFA), name="efas")


def set_up(**variables: str) -> dict[str, Any]:
    return pod(container(env=env(**variables)))


def with_efas(*, pod_options: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A Pod with EFAs of the device plugin, and huge pages."""
    return pod(container(resources=limits(efa=4, **PAGES), **more), **(pod_options or {}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FI_PROVIDER", "efa"),
        ("FI_PROVIDER", "efa;ofi_rxr"),
        ("FI_EFA_USE_DEVICE_RDMA", "1"),
        ("FI_EFA_FORK_SAFE", "1"),
        ("OFI_NCCL_PROTOCOL", "RDMA"),
        ("NCCL_NET", "AWS Libfabric"),
        ("NCCL_NET_PLUGIN", "/opt/aws-ofi-nccl/lib/libnccl-net-ofi.so"),
        ("NCCL_TUNER_PLUGIN", "libnccl-ofi-tuner.so"),
    ],
)
def test_an_environment_for_efa_without_efa_is_a_warning(name: str, value: str) -> None:
    (found,) = remarks(set_up(**{name: value}))

    assert (found.finding.code, found.finding.severity) == (
        "EfaEnvironmentWithoutDevice",
        "warning",
    )
    assert place(found) == {"name": name, "value": value}


@pytest.mark.parametrize(
    ("plan", "told", "untold"), [(PLUGIN, "to the limits", "a claim"), (P5, "a claim", "limits")]
)
def test_a_container_gets_efas_as_the_nodes_hand_them_out(
    plan: Any, told: str, untold: str
) -> None:
    (found,) = findings(set_up(FI_PROVIDER="efa"), plan=plan)
    assert told in found.fix
    assert untold not in found.fix


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FI_PROVIDER", "tcp"),
        ("FI_PROVIDER", "^efa"),
        ("FI_LOG_LEVEL", "warn"),
        ("NCCL_NET", "Socket"),
        ("NCCL_DEBUG", "INFO"),
        ("NCCL_NET_PLUGIN", "none"),
    ],
)
def test_another_environment_is_told_nothing(name: str, value: str) -> None:
    assert codes(set_up(**{name: value})) == []


def test_the_environment_is_told_once_for_a_container() -> None:
    assert codes(set_up(FI_PROVIDER="efa", FI_EFA_FORK_SAFE="1")) == ["EfaEnvironmentWithoutDevice"]


def test_efas_of_the_device_plugin_have_to_be_in_the_same_container() -> None:
    spec = pod(
        container("with", resources=limits(efa=1, **PAGES)),
        container("without", env=env(FI_PROVIDER="efa")),
    )
    (found,) = [one for one in findings(spec, plan=PLUGIN) if one.severity == "warning"]

    assert found.code == "EfaEnvironmentWithoutDevice"
    assert "containers[1]" in found.path


def test_efas_of_a_claim_come_to_every_container_of_the_pod() -> None:
    spec = pod(
        container("with", resources={**listing("efas"), **limits(**PAGES)}),
        container("without", env=env(FI_PROVIDER="efa")),
        resourceClaims=[of_template("efas")],
    )

    assert codes(EFAS, spec) == []


@pytest.mark.parametrize("known", [True, False])
def test_claims_for_other_devices_bring_no_efa_and_unknown_ones_may(known: bool) -> None:
    spec = pod(
        container(env=env(FI_PROVIDER="efa"), resources=listing("gpus")),
        resourceClaims=[of_template()],
    )
    found = codes(*([template()] if known else []), spec)

    assert found == (["EfaEnvironmentWithoutDevice"] if known else [])


def test_a_class_that_is_not_known_here_may_be_of_efa() -> None:
    spec = gpu_pod()
    spec["spec"]["containers"][0]["env"] = env(FI_PROVIDER="efa")

    assert codes(template(request(device_class="fabric.example.com")), spec) == []


@pytest.mark.parametrize(
    ("driver", "wanted"),
    [
        ("gpu.nvidia.com", ["EfaEnvironmentWithoutDevice"]),
        ("dra.net", ["EfaWithoutHugePages"]),
        ("other.example.com", []),
    ],
)
def test_the_driver_of_a_class_in_the_manifests_says_what_its_devices_are(
    driver: str, wanted: list[str]
) -> None:
    expression = f"device.driver == '{driver}' && device.attributes['{driver}'].fast"
    own = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "fast.example.com"},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }
    spec = gpu_pod()
    spec["spec"]["containers"][0]["env"] = env(FI_PROVIDER="efa")

    assert codes(own, template(request(device_class="fast.example.com")), spec) == wanted


def test_a_privileged_container_and_one_that_ends_before_are_told_nothing_of_efa() -> None:
    privileged = container(env=env(FI_PROVIDER="efa"), securityContext={"privileged": True})
    init = container("init", env=env(FI_PROVIDER="efa"))

    assert "EfaEnvironmentWithoutDevice" not in codes(pod(privileged, initContainers=[init]))


def test_the_launcher_of_an_mpijob_hands_its_environment_on() -> None:
    template = {"spec": set_up(FI_PROVIDER="efa")["spec"]}
    manifest = {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": "job"},
        "spec": {"mpiReplicaSpecs": {"Launcher": {"template": template}}},
    }

    assert codes(manifest) == []
    manifest["spec"] = {"mpiReplicaSpecs": {"Worker": {"template": template}}}
    assert codes(manifest) == ["EfaEnvironmentWithoutDevice"]


@pytest.mark.parametrize(
    ("value", "is_wrong"),
    [("tcp", True), ("^efa", True), ("efa", False), ("efa,tcp", False), ("^tcp", False)],
)
def test_efas_that_libfabric_must_not_use_are_a_warning(value: str, is_wrong: bool) -> None:
    found = codes(with_efas(env=env(FI_PROVIDER=value)), plan=PLUGIN)

    assert found == (["EfaNotUsed"] if is_wrong else [])


@pytest.mark.parametrize(
    ("types", "is_wrong"),
    [(["g5.48xlarge"], True), (["p5.48xlarge"], False), (["g5.48xlarge", "p5.48xlarge"], False)],
)
def test_rdma_that_no_node_has_is_a_warning(types: list[str], is_wrong: bool) -> None:
    groups = [{"instance_type": one, "mechanism": Mechanism.DEVICE_PLUGIN} for one in types]
    spec = with_efas(env=env(FI_EFA_USE_DEVICE_RDMA="1"))
    found = codes(spec, plan=cluster_of(*({**one, "efa": True} for one in groups)))

    assert found == (["NoDeviceRdma"] if is_wrong else [])


def test_efas_without_huge_pages_are_a_warning_by_resource_and_by_claim() -> None:
    by_resource = pod(container(resources=limits(efa=4, memory="8Gi")))
    by_claim = pod(container(resources=listing("efas")), resourceClaims=[of_template("efas")])

    assert codes(by_resource, plan=PLUGIN) == ["EfaWithoutHugePages"]
    assert codes(EFAS, by_claim) == ["EfaWithoutHugePages"]
    assert codes(with_efas(), plan=PLUGIN) == []


def test_gpus_without_efa_need_no_huge_pages() -> None:
    assert codes(template(), gpu_pod()) == []


def test_an_init_container_with_efas_needs_no_huge_pages_and_a_sidecar_does() -> None:
    init = container("init", resources=limits(efa=1, memory="1Gi"))

    assert codes(pod(initContainers=[init]), plan=PLUGIN) == []
    lasting = {**init, "restartPolicy": "Always"}
    assert codes(pod(initContainers=[lasting]), plan=PLUGIN) == ["EfaWithoutHugePages"]


@pytest.mark.parametrize(
    ("group", "wanted", "is_wrong"),
    [
        ({}, "10256Mi", False),
        ({}, "20Gi", True),
        ({"operating_system": OperatingSystem.BOTTLEROCKET}, "8Gi", True),
    ],
)
def test_more_huge_pages_than_any_node_reserves_are_a_warning(
    group: dict[str, Any], wanted: str, is_wrong: bool
) -> None:
    plan = cluster_of({"instance_type": "p5.48xlarge", **group})
    spec = pod(container(resources=limits(hugepages=wanted, memory="1Gi")))

    assert codes(spec, plan=plan) == (["TooManyHugePages"] if is_wrong else [])


def test_huge_pages_of_groups_that_say_how_many_are_judged_with_their_nodes() -> None:
    plan = cluster_of({"instance_type": "p5.48xlarge", "hugepages_2mi": 10})
    spec = pod(container(resources=limits(hugepages="20Gi", memory="1Gi")))

    assert codes(spec, plan=plan) == []


@pytest.mark.parametrize(
    ("of_pod", "of_container", "is_wrong"),
    [
        ({}, {"runAsUser": 1000}, True),
        ({"runAsUser": 1000}, {}, True),
        ({"runAsUser": 1000}, {"runAsUser": 0}, False),
        ({"runAsNonRoot": True}, {}, True),
        ({}, {}, False),
    ],
)
def test_ipc_lock_of_another_user_than_root_is_a_warning(
    of_pod: dict[str, Any], of_container: dict[str, Any], is_wrong: bool
) -> None:
    context = {"capabilities": {"add": ["IPC_LOCK"]}, **of_container}
    spec = with_efas(securityContext=context, pod_options={"securityContext": of_pod})

    assert codes(spec, plan=PLUGIN) == (["IpcLockNeedsRoot"] if is_wrong else [])


def test_little_locked_memory_of_other_users_is_told_on_amazon_linux_alone() -> None:
    bottlerocket = cluster_of(
        {"instance_type": "p5.48xlarge", "operating_system": OperatingSystem.BOTTLEROCKET}
    )
    spec = with_efas(securityContext={"runAsUser": 1000})

    assert [(one.code, one.severity) for one in findings(spec, plan=PLUGIN)] == [
        ("EfaLockedMemory", "info")
    ]
    assert findings(spec, plan=bottlerocket) == []
    assert findings(with_efas(), plan=PLUGIN) == []


def test_a_claim_for_efa_in_the_network_of_the_node_is_an_error() -> None:
    spec = pod(
        container(resources={**listing("efas"), **limits(**PAGES)}),
        resourceClaims=[of_template("efas")],
        hostNetwork=True,
    )
    (found,) = [one for one in remarks(EFAS, spec) if one.finding.severity == "error"]

    assert found.finding.code == "EfaClaimOnHostNetwork"
    assert found.steps == ("spec", "hostNetwork")


def test_a_resource_that_is_named_after_the_class_is_a_claim_too() -> None:
    resource = "deviceclass.resource.kubernetes.io/efa.networking.k8s.aws"
    spec = pod(container(resources=limits(**{resource: 1}, **PAGES)), hostNetwork=True)

    assert codes(spec) == ["EfaClaimOnHostNetwork"]


def test_other_pods_may_be_in_the_network_of_the_node() -> None:
    assert codes(with_efas(pod_options={"hostNetwork": True}), plan=PLUGIN) == []
    assert codes(template(), gpu_pod(hostNetwork=True), plan=P5) == []
