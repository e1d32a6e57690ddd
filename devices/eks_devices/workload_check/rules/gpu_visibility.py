"""Which GPUs a container sees by its environment, whatever it asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...names import NO_DEVICES, NVIDIA_RESOURCES, VISIBLE_DEVICES
from ...vocabulary import DeviceType, Mechanism
from .asking import asks_for, variables
from .claim_content import types_of
from .context import Context, Told, names_of_claims
from .how_many import is_on_every_node

# Without the variable NVIDIA's runtime takes the image's; these two of it bring none.
_NONE: Final = (NO_DEVICES, "none", "")
_RUNTIME: Final = (
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/"
    "docker-specialized.html"
)
_DRIVER: Final = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu"
_KUBELET: Final = "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/kubelet_pods.go"


def visible_gpus(context: Context) -> Iterator[Told]:
    """NVIDIA_VISIBLE_DEVICES written in a Pod spec: it wins over the device plugin."""
    claims = {one.name: one for one in context.claims}
    for container in context.containers:
        counted = asks_for(container, lambda name: name.startswith(NVIDIA_RESOURCES))
        listed = [claims[one] for one in names_of_claims(container) if one in claims]
        claimed = any({DeviceType.GPU, None} & types_of(one) for one in listed)
        for index, name, value in variables(container):
            if name != VISIBLE_DEVICES or value is None:
                continue
            steps = (*container.steps, "env", index)
            hides = value.strip().lower() in _NONE
            if not hides and claimed and not counted:
                yield _useless(context, steps, value)
            elif not hides:
                yield from _seen(context, steps, value, asks=counted)
            elif counted and _by_plugin(context):
                yield context.warn(
                    steps,
                    "GpusHidden",
                    f"container {container.name} asks for GPUs, and {name}={value} of a Pod spec "
                    "wins over what the device plugin sets: it would get none",
                    fix="leave the variable out",
                    source=_KUBELET,
                )


def _useless(context: Context, steps: tuple[str | int, ...], value: str) -> Told:
    return context.tell(
        steps,
        "VisibleDevicesUseless",
        f"the DRA driver writes {VISIBLE_DEVICES}={NO_DEVICES} into containers that list claims "
        f"for GPUs, and gives them theirs by itself: {value} adds nothing",
        fix="leave the variable out",
        source=_DRIVER,
    )


def _by_plugin(context: Context) -> bool:
    return bool(context.groups_with(DeviceType.GPU, Mechanism.DEVICE_PLUGIN))


def _seen(
    context: Context, steps: tuple[str | int, ...], value: str, *, asks: bool
) -> Iterator[Told]:
    groups = context.groups_with(DeviceType.GPU)
    if not groups and not asks:
        return
    # An exporter of metrics on each node sees all GPUs on purpose.
    if asks or not is_on_every_node(context.pod):
        yield context.warn(
            steps,
            "VisibleDevicesBypass",
            f"{VISIBLE_DEVICES}={value} shows the container GPUs that it did not get: the "
            "container runtime follows the variable of a Pod spec, so it sees those of other Pods"
            + ("" if asks else ", and asks for none itself"),
            fix="leave the variable out: a container sees the GPUs that it asks for; "
            f"{VISIBLE_DEVICES}={NO_DEVICES} hides those of the image's own setting",
            source=_RUNTIME,
        )


RULES = (visible_gpus,)
