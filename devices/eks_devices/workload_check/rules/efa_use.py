"""Containers that are set up for EFA, and those that have some."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..._data import read_toml
from ..._pod_specs import is_lasting
from ...names import CLASS_RESOURCES, EFA_CLASS, EFA_RESOURCE
from ...vocabulary import DeviceType, Mechanism
from ..documents import sequence
from ..pods import Container
from .asking import asks_for, is_privileged, variables
from .claim_content import types_of
from .context import Context, Told, names_of_claims

_RESOURCES: Final = (EFA_RESOURCE, f"{CLASS_RESOURCES}{EFA_CLASS}")
_PROVIDER: Final = "FI_PROVIDER"
_EFA: Final = "efa"
_RDMA: Final = "FI_EFA_USE_DEVICE_RDMA"
# Other spellings of the same wish.
_ON: Final = ("1", "true", "yes", "on")
_LIBFABRIC: Final = "https://ofiwg.github.io/libfabric/main/man/fi_efa.7.html"
_PAGE: Final = "https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html"


def asks_for_efa(container: Container) -> bool:
    """Whether a container asks for EFAs by an extended resource."""
    return asks_for(container, _RESOURCES.__contains__)


def takes_efa(context: Context, container: Container) -> bool:
    """Whether a container surely asks for EFAs, by the resource or by a claim that it lists."""
    names = names_of_claims(container)
    listed = [one for one in context.claims if one.name in names]
    return asks_for_efa(container) or any(DeviceType.EFA in types_of(one) for one in listed)


def _may_have_efa(context: Context, container: Container) -> bool:
    """Whether a container may get EFAs: those of the Pod's claims come to all its containers."""
    unknown = len(context.claims) != len(sequence(context.spec, "resourceClaims"))
    types = {kind for claim in context.claims for kind in types_of(claim)}
    return unknown or asks_for_efa(container) or bool(types & {DeviceType.EFA, None})


def efa_without_device(context: Context) -> Iterator[Told]:
    """Variables for EFA in a container that gets none."""
    if any(
        one in context.pod.steps for one in read_toml("pod_rules.toml")["launchers"]["templates"]
    ):
        return
    for container in context.containers:
        found = [
            (index, name) for index, name, value in variables(container) if _is_for_efa(name, value)
        ]
        if not found or not is_lasting(container) or is_privileged(container):
            continue
        if not _may_have_efa(context, container):
            index, name = found[0]
            yield context.warn(
                (*container.steps, "env", index),
                "EfaEnvironmentWithoutDevice",
                f"the environment of container {container.name} is for EFA ({name}), and it asks "
                "for none: libfabric finds no EFA there, and the traffic fails or goes over TCP",
                fix=f"{_ways_to_efa(context)}, or leave the variables out",
                source=_PAGE,
            )


def _ways_to_efa(context: Context) -> str:
    """How a container gets EFAs on the nodes that its Pod may come to; every way without any."""
    ways = {
        Mechanism.DEVICE_PLUGIN: f"add {EFA_RESOURCE} to the limits of the container",
        Mechanism.DRA: f"add to the Pod a claim for devices of the class {EFA_CLASS} that the "
        "container lists",
    }
    here = [text for way, text in ways.items() if context.groups_with(DeviceType.EFA, way)]
    return ", or ".join(here or ways.values())


def _is_for_efa(name: str, value: str | None) -> bool:
    return any(_fits(row, name, value) for row in read_toml("pod_rules.toml")["efa_variable"])


def _fits(row: dict[str, Any], name: str, value: str | None) -> bool:
    if "prefix" in row:
        return name.startswith(row["prefix"])
    if name != row["name"] or value is None:
        return False
    # "^efa" leaves EFA out; other providers may stand beside it.
    if name == _PROVIDER:
        return row["value"] in _providers(value)
    return row["value"] in value.lower()


def _providers(value: str) -> list[str]:
    return [one.strip().lower() for one in value.replace(";", ",").split(",")]


def other_provider(context: Context) -> Iterator[Told]:
    """A container with EFAs whose libfabric is told to use something else."""
    for container in context.containers:
        for index, name, value in variables(container):
            if name != _PROVIDER or not value or not takes_efa(context, container):
                continue
            if _leaves_efa_out(value):
                yield context.warn(
                    (*container.steps, "env", index),
                    "EfaNotUsed",
                    f"container {container.name} takes EFAs, and {name}={value} keeps libfabric "
                    "from them",
                    fix=f"write {name}={_EFA}, or leave the variable or the EFAs out",
                    source=_LIBFABRIC,
                )


def _leaves_efa_out(value: str) -> bool:
    if value.startswith("^"):
        return _EFA in _providers(value.removeprefix("^"))
    return _EFA not in _providers(value)


def rdma_without_hardware(context: Context) -> Iterator[Told]:
    """RDMA that is asked for where no node that the Pod may come to has it."""
    for container in context.containers:
        for index, name, value in variables(container):
            if name != _RDMA or value is None or value.lower() not in _ON:
                continue
            groups = context.groups_with(DeviceType.EFA)
            without = read_toml("efa_pods.toml")["rdma"]["families_without"]
            types = sorted({kind for group in groups for kind in group.instance_types})
            if types and all(one.partition(".")[0] in without for one in types):
                yield context.warn(
                    (*container.steps, "env", index),
                    "NoDeviceRdma",
                    f"EFAs of {', '.join(types)} have no RDMA, and libfabric aborts where it is "
                    "asked for",
                    fix="leave the variable out: libfabric uses RDMA where there is some",
                    source=_LIBFABRIC,
                )


RULES = (efa_without_device, other_provider, rdma_without_hardware)
