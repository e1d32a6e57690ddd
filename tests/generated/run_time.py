"""What only a running node knows, filled in at random: no verdict may depend on it."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any

from tests.generated.nodes import Place

from eks_devices.feasibility.devices import node_devices

Json = dict[str, Any]
# Only equality of these is dependable, so that they may have any other names.
_ONLY_EQUAL = {
    "gpu.nvidia.com/uuid",
    "gpu.nvidia.com/parentUUID",
    "resource.kubernetes.io/pcieRoot",
}
_TYPES = {
    "gpu.nvidia.com/cudaDriverVersion": "version",
    "gpu.nvidia.com/driverVersion": "version",
    "gpu.nvidia.com/cudaComputeCapability": "version",
    "gpu.nvidia.com/gpuModuleID": "int",
    "neuron.aws.com/draDriverVersion": "version",
    "resource.kubernetes.io/numaNode": "int",
    "dra.net/numaNode": "int",
    "dra.net/mtu": "int",
    "dra.net/sriovVfs": "int",
    "dra.net/ebpf": "bool",
    "dra.net/encapsulation": "string",
    "dra.net/isSriovVf": "bool",
    "dra.net/rdma": "bool",
    "dra.net/sriov": "bool",
    "dra.net/virtual": "bool",
}
_MEMORY = "gpu.nvidia.com/memory"
# What drivers publish on every type, also where nobody read it from a node.
_ALWAYS = {
    "gpu.nvidia.com/architecture",
    "gpu.nvidia.com/brand",
    "gpu.nvidia.com/cudaComputeCapability",
    "gpu.nvidia.com/cudaDriverVersion",
    "gpu.nvidia.com/driverVersion",
    "gpu.nvidia.com/memory",
    "gpu.nvidia.com/productName",
    "gpu.nvidia.com/uuid",
}


def filled_in(place: Place, variant: int) -> tuple[Json, ...]:
    """The slices of a node, with values of its own for what only the node knows.

    Those of variant 0 are as the data has them, as far as it has them.
    """
    assert place.group is not None
    unknown = {one.driver: one.at_run_time for one in node_devices(place.group).devices}
    found = deepcopy(place.slices)
    for one in found:
        names = unknown.get(one["spec"]["driver"], frozenset())
        _Filler(one["spec"], names, f"{place.name}/{variant}").fill(is_sparse=variant == 0)
    return found


class _Filler:
    """Fills in one slice; names that only have to be equal change alike in all slices."""

    def __init__(self, spec: Json, unknown: frozenset[str], seed: str) -> None:
        self.spec, self.unknown, self.seed = spec, unknown, seed
        self.rng = Random(f"{seed}/{spec['driver']}")

    def fill(self, *, is_sparse: bool) -> None:
        devices = self.spec["devices"]
        given = {self._qualified(name) for one in devices for name in one["attributes"]}
        missing = sorted(self.unknown - given)
        added = [
            name
            for name in missing
            if name in _ALWAYS or (not is_sparse and self.rng.random() < 0.5)
        ]
        for device in devices:
            if not is_sparse:
                self._change(device["attributes"])
            for name in added:
                self._add(name, device)

    def _change(self, attributes: Json) -> None:
        for name, typed in attributes.items():
            qualified = self._qualified(name)
            rng = Random(f"{self.seed}/{qualified}")
            if qualified in _ONLY_EQUAL:
                ((kind, value),) = typed.items()
                attributes[name] = {kind: f"{rng.randint(0, 999)}-{value}"}
            elif qualified in self.unknown:
                # The same on all devices, as it is in the data.
                attributes[name] = _value(qualified, rng)

    def _add(self, name: str, device: Json) -> None:
        if name == _MEMORY:
            memory = Random(self.seed).randint(8, 300)
            device.setdefault("capacity", {})["memory"] = {"value": f"{memory}Gi"}
        elif name in _ALWAYS or self.rng.random() < 0.9:
            device["attributes"][name] = _value(name, self.rng)

    def _qualified(self, name: str) -> str:
        return name if "/" in name else f"{self.spec['driver']}/{name}"


def _value(name: str, rng: Random) -> Json:
    kind = _TYPES.get(name, "string")
    values: Json = {
        "version": f"{rng.randint(7, 600)}.{rng.randint(0, 3)}.0",
        "int": rng.randint(0, 3),
        "bool": rng.random() < 0.5,
        "string": f"GPU-{rng.randint(0, 3)}",
    }
    return {kind: values[kind]}
