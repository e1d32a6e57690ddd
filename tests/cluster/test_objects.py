"""Every object that is emitted, as a real API server sees it."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import pytest

from eks_device_operations.control_plane import ApiError, wait_for
from eks_devices import (
    DeviceListStrategy,
    DeviceType,
    DranetBuild,
    EfaInstallation,
    GpuDriver,
    GpuPlugin,
    GpuSharing,
    Mechanism,
    NeuronInstallation,
)

DRA, PLUGIN = Mechanism.DRA, Mechanism.DEVICE_PLUGIN
GPU, NEURON, EFA = DeviceType.GPU, DeviceType.NEURON, DeviceType.EFA
DOMAIN = DeviceType.COMPUTE_DOMAIN
KEPT = {
    "neuron-dra": {NEURON: (DRA,)},
    "neuron-plugin": {NEURON: (PLUGIN,)},
    "gpu-dra": {GPU: (DRA,)},
    "gpu-plugin": {GPU: (PLUGIN,)},
    "compute-domain": {DOMAIN: (DRA,)},
    "efa-dra": {EFA: (DRA,)},
    "efa-dra-upstream": {EFA: (DRA,)},
    "efa-plugin": {EFA: (PLUGIN,)},
    "everything": {NEURON: (DRA, PLUGIN), GPU: (DRA, PLUGIN), DOMAIN: (DRA,), EFA: (DRA, PLUGIN)},
}
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "gpu-plugin": [
        {"gpu_sharing": GpuSharing.time_slicing(replicas=4)},
        {"gpu_sharing": GpuSharing.mps(replicas=4, rename=True)},
        {"gpu_plugin": GpuPlugin(gdrcopy=True, gds=True, feature_discovery=True)},
        {"gpu_plugin": GpuPlugin(device_list_strategy=DeviceListStrategy.CDI_CRI)},
    ],
    "gpu-dra": [
        {"gpu_driver": GpuDriver(feature_gates={"TimeSlicingSettings": True})},
        {"gpu_driver": GpuDriver(feature_gates={"MPSSupport": True})},
    ],
}

ONCE: dict[str, dict[str, Any]] = {
    "neuron-dra": {"neuron": NeuronInstallation(ultraserver_operator=True)},
    "neuron-plugin": {"neuron": NeuronInstallation(scheduler_extension=True)},
    "efa-dra-upstream": {"efa": EfaInstallation(build=DranetBuild.UPSTREAM)},
}


@pytest.fixture(params=KEPT)
def emitted(request, planned, manifests, spec):
    """The objects of one feature set, with settings and scopes where the manager has any."""
    groups = [
        spec(f"group{index}-{scope}", "g6e.xlarge", scope=scope, **options)
        for index, options in enumerate(SETTINGS.get(request.param, ()))
        for scope in (None, "lab")
    ]
    return manifests(planned(*groups, keep=KEPT[request.param], **ONCE.get(request.param, {})))


def lost(sent, kept, path=""):
    """What of a sent value the server did not keep as it was."""
    if isinstance(sent, dict):
        if not isinstance(kept, dict):
            return [path]
        return [
            found
            for key, value in sent.items()
            for found in lost(value, kept.get(key), f"{path}.{key}")
        ]
    if isinstance(sent, list):
        if not isinstance(kept, list) or len(sent) != len(kept):
            return [path]
        return [
            found
            for index, (one, other) in enumerate(zip(sent, kept, strict=True))
            for found in lost(one, other, f"{path}[{index}]")
        ]
    return [] if sent == kept else [f"{path}: {sent!r} became {kept!r}"]


def test_it_is_taken_whole_and_once_and_goes_without_a_trace(shared, emitted):
    before = steady(shared.api)

    made = shared.install(*emitted)
    for sent, kept in zip(emitted, made, strict=True):
        assert lost(sent, kept) == [], sent["metadata"]["name"]

    again = [shared.api.apply(item) for item in emitted]
    assert generations(again) == generations(made)

    shared.clear()
    wait_for(lambda: inventory(shared.api) == before, "the cluster is as it was")


def generations(items):
    """How often each object was changed, of those that count it."""
    return [one["metadata"].get("generation") for one in items]


def steady(api):
    """The inventory when a young cluster has written what it writes for itself."""
    seen = [inventory(api)]

    def unchanged():
        time.sleep(1)
        seen.append(inventory(api))
        return seen[-1] if seen[-1] == seen[-2] else None

    return wait_for(unchanged, "the cluster has written what it writes for itself")


def inventory(api):
    """Every object by kind, namespace and name, but for what the cluster writes for itself."""
    found = set()
    for version, resource in api.resources():
        kind = resource["kind"]
        listed = "/" not in resource["name"] and "list" in resource["verbs"]
        if listed and kind not in ("Event", "Lease", "ControllerRevision"):
            for item in api.list(version, kind):
                meta = item["metadata"]
                found.add((kind, meta.get("namespace"), meta["name"]))
    return found


def test_a_misspelt_field_would_be_refused(shared, every_manager):
    """So that the tests above can fail: the server looks at every field."""
    item = next(one for one in every_manager if one["kind"] == "DaemonSet")
    pod = item["spec"]["template"]["spec"]
    changed = item | {
        "spec": item["spec"]
        | {"template": item["spec"]["template"] | {"spec": pod | {"priorityclassname": "x"}}}
    }

    with pytest.raises(ApiError, match="priorityclassname"):
        shared.api.apply(changed, dryRun="All")


def test_expressions_of_policies_have_no_type_warnings(shared, every_manager):
    shared.install(*every_manager)
    policies = [one for one in every_manager if one["kind"] == "ValidatingAdmissionPolicy"]

    assert policies
    for policy in policies:
        status = wait_for(
            partial(checked, shared.api, policy), f"{policy['metadata']['name']} checked"
        )
        assert status.get("typeChecking", {}) == {}


def checked(api, policy):
    policy = api.get(policy)
    status = policy.get("status", {})
    return status if status.get("observedGeneration") == policy["metadata"]["generation"] else None
