"""What each package exports can be imported and says what it is."""

import importlib
import inspect
from pathlib import Path
from types import ModuleType

import pytest

# Every exported name; a name that goes, or comes by accident, breaks users.
EXPORTS = {
    "eks_devices": [
        "AcceleratedInstanceType",
        "Accelerator",
        "AllocationMode",
        "Capacity",
        "CapacityKind",
        "ChannelAllocation",
        "ClaimChecks",
        "ClaimSharing",
        "ClaimWebhook",
        "ClusterPlan",
        "Component",
        "Compute",
        "ComputeDomain",
        "CpuArchitecture",
        "DeviceCondition",
        "DeviceIdStrategy",
        "DeviceListStrategy",
        "DeviceNetwork",
        "DevicePlan",
        "DeviceRequest",
        "DeviceSelector",
        "DeviceStatus",
        "DeviceTaintEffect",
        "DeviceToleration",
        "DeviceType",
        "DistinctAttribute",
        "DranetBuild",
        "DriverPlan",
        "DriverRelease",
        "EfaInstallation",
        "EksDevicesError",
        "FailureStrategy",
        "Feature",
        "Finding",
        "GpuDriver",
        "GpuPlugin",
        "GpuSharing",
        "IommuBackendPolicy",
        "MatchAttribute",
        "Mechanism",
        "Mig",
        "MigStrategy",
        "NetworkCard",
        "NetworkInterface",
        "NeuronError",
        "NeuronHealth",
        "NeuronInstallation",
        "NodeRepair",
        "NodegroupOptions",
        "NodegroupPlan",
        "NodegroupSpec",
        "NvidiaInstallation",
        "OpaqueConfig",
        "OperatingSystem",
        "RepairAction",
        "RepairOverride",
        "ResourceClaim",
        "ResourceClaimTemplate",
        "ScheduledSize",
        "Severity",
        "Support",
        "Taint",
        "TaintEffect",
        "TimeSliceInterval",
        "UpdateConfig",
        "UpdateStrategy",
        "UserData",
        "Verdict",
        "WholeNodeClaims",
        "WholeNodeSplit",
        "compute_domain_claim",
        "device_statuses",
        "device_support",
        "eks_registry",
        "hide_gpus",
        "plan_cluster",
        "plan_nodegroup",
        "same_nvlink_partition",
        "ultraserver_workers",
        "ultraserver_workload",
        "use_claims",
        "use_efa",
        "use_neuron_scheduler",
        "whole_node_claims",
    ],
    "eks_device_charts": [
        "ImageSource",
        "chart_findings",
        "claims_chart",
        "device_charts",
        "device_manifests",
        "gpu_operator_values",
    ],
    "eks_device_constructs": [
        "AcceleratedCluster",
        "AcceleratedNodegroup",
        "AcceleratedNodegroupPool",
        "AuthenticationMode",
        "ClusterOptions",
        "ClusterReference",
        "Delivery",
        "DeviceDrivers",
        "ExternalDrivers",
        "NodegroupSizes",
        "PoolOptions",
        "SystemNodegroup",
        "SystemNodegroupOptions",
        "check_charts",
    ],
    "eks_device_operations": [],
}


@pytest.fixture
def module(package_path: Path) -> ModuleType:
    return importlib.import_module(package_path.name)


def test_a_package_says_what_it_is(module: ModuleType):
    assert module.__doc__


def test_the_exports_are_those_that_were_decided(module: ModuleType):
    assert sorted(module.__all__) == sorted(EXPORTS[module.__name__])


# What a construct says beside the CDK's own; its cluster and its pool see more of it.
MEMBERS = {
    "AcceleratedCluster": {
        "add_nodegroup",
        "add_nodegroup_pool",
        "add_system_nodegroup",
        "addons",
        "cluster",
        "node_role",
        "plan",
    },
    "AcceleratedNodegroup": {
        "add_compute_domain",
        "add_resource_claim",
        "add_resource_claim_template",
        "add_whole_node_claims",
        "launch_template",
        "nodegroup",
        "plan",
    },
    "AcceleratedNodegroupPool": {
        "add",
        "add_compute_domain",
        "add_resource_claim",
        "add_resource_claim_template",
        "add_whole_node_claims",
        "nodegroups",
    },
}


@pytest.mark.parametrize(("name", "members"), MEMBERS.items(), ids=MEMBERS)
def test_a_construct_shows_users_what_was_decided(name: str, members: set[str]):
    kind = getattr(importlib.import_module("eks_device_constructs"), name)
    ours = [one for one in kind.__mro__ if one.__module__.startswith("eks_device_constructs")]
    own = {name for one in ours for name in (*vars(one), *inspect.get_annotations(one))}

    assert {one for one in own if not one.startswith("_")} == members


def in_order(name: str) -> tuple[int, str]:
    """The order that lint asks for: constants, classes, functions, each by name."""
    kind = 0 if name.isupper() else 1 if name[0].isupper() else 2
    return kind, name


def test_the_exports_are_listed_once_each_and_sorted(module: ModuleType):
    exports = module.__all__

    assert list(exports) == sorted(set(exports), key=in_order)


def test_an_export_can_be_imported_and_has_a_docstring_of_its_own(module: ModuleType):
    for name in module.__all__:
        value = getattr(module, name)

        if isinstance(value, type):
            doc = vars(value).get("__doc__")
            generated = doc is not None and doc.startswith(f"{value.__name__}(")
            assert doc, f"{name} has no docstring"
            assert not generated, f"{name} has only the signature that dataclass writes"
        elif callable(value):
            assert inspect.getdoc(value), f"{name} has no docstring"


def test_a_wildcard_import_gives_the_exports(module: ModuleType):
    names: dict[str, object] = {}

    exec(f"from {module.__name__} import *", names)  # noqa: S102 - the statement under test

    assert set(module.__all__) <= set(names)
