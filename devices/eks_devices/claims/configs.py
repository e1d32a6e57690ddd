"""The opaque configurations that claims carry to drivers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..names import GPU_DRIVER, NEURON_DRIVER
from .kinds import RequestKind

if TYPE_CHECKING:
    from .requests import DeviceRequest

NVIDIA_API: Final = "resource.nvidia.com/v1beta1"
"""The version of NVIDIA's ComputeDomains and configurations.

Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu
"""
_DRIVER: Final = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/blob/v0.5.0"
SHARING_PAGE: Final = f"{_DRIVER}/api/nvidia.com/resource/v1beta1/sharing.go"
"""What NVIDIA's driver takes as a configuration of sharing."""
STATE_PAGE: Final = f"{_DRIVER}/cmd/gpu-kubelet-plugin/device_state.go"
"""What it makes of configurations when a Pod starts."""

NEURON_API: Final = f"{NEURON_DRIVER}/v1"
"""The version of the configurations of Neuron's driver."""
_SHARING_KINDS: Final = {RequestKind.GPU: "GpuConfig", RequestKind.MIG: "MigDeviceConfig"}


def request_configs(request: DeviceRequest) -> list[dict[str, Any]]:
    """The configurations of one request, which is no list of alternatives."""
    return _named(request, request.name)


def claim_configs(requests: Sequence[DeviceRequest]) -> list[dict[str, Any]]:
    """The configurations of a claim: equal ones of passed-through GPUs stand as one.

    The driver refuses claims with two configurations of passed-through GPUs. Those of alternatives
    are for the name of the request and theirs, with a slash between.
    """
    named = [
        (one, f"{request.name}/{one.name}" if request.alternatives else one.name)
        for request in requests
        for one in request.options
    ]
    vfio = [(one, name) for one, name in named if one.kind is RequestKind.VFIO]
    others = [(one, name) for one, name in named if one.kind is not RequestKind.VFIO]
    shared: dict[str, dict[str, Any]] = {}
    for one, name in vfio:
        for config in _named(one, name):
            found = shared.setdefault(repr(config["opaque"]), config)
            found["requests"] = list(dict.fromkeys([*found["requests"], name]))
    return [*(config for pair in others for config in _named(*pair)), *shared.values()]


def _named(request: DeviceRequest, name: str) -> list[dict[str, Any]]:
    return [
        {"requests": [name], "opaque": {"driver": driver, "parameters": parameters}}
        for driver, parameters in (*_of_neuron(request), *_of_gpu(request))
    ]


def _of_neuron(request: DeviceRequest) -> Iterator[tuple[str, dict[str, Any]]]:
    for kind, field, value in (
        ("NeuronConfig", "logicalNeuronCore", request.logical_neuron_cores),
        ("UltraServerConfig", "ultraserverMode", request.mode),
    ):
        if value is not None:
            yield NEURON_DRIVER, {"apiVersion": NEURON_API, "kind": kind, field: value}


def _of_gpu(request: DeviceRequest) -> Iterator[tuple[str, dict[str, Any]]]:
    if request.sharing is not None:
        kind = _SHARING_KINDS[request.kind]
        sharing = request.sharing.to_dict()
        yield GPU_DRIVER, {"apiVersion": NVIDIA_API, "kind": kind, "sharing": sharing}
    iommu = _iommu(request)
    if iommu:
        yield GPU_DRIVER, {"apiVersion": NVIDIA_API, "kind": "VfioDeviceConfig", "iommu": iommu}


def _iommu(request: DeviceRequest) -> dict[str, Any]:
    iommu: dict[str, Any] = {}
    if request.iommu_backend is not None:
        iommu["backendPolicy"] = str(request.iommu_backend)
    if request.enable_api_device is not None:
        iommu["enableAPIDevice"] = request.enable_api_device
    return iommu
