"""Rules of the kubelet's own configuration, and of the huge pages that it counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._data import read_toml
from .._json_values import frozen_mapping, json_faults
from ..findings import Finding, fault, meant
from ..typecheck import path_step, whole_number, wrong_type
from ..vocabulary import OperatingSystem
from .kubelet_gates import GATES, flag_name, gate_type_faults, refused

if TYPE_CHECKING:
    from ..spec import NodegroupSpec


def kubelet_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """Faults of the option `kubelet`.

    Source: https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/
    """
    path, wanted = (
        f"{spec.path}.kubelet",
        'a mapping of fields such as {"cpuManagerPolicy": "static"}',
    )
    fields = frozen_mapping(spec.kubelet, path, wanted, "pass a plain mapping")
    if isinstance(fields, Finding):
        yield fields
    elif fields and spec.operating_system is OperatingSystem.BOTTLEROCKET:
        yield fault(
            "KubeletOnBottlerocket",
            path,
            "Bottlerocket writes the kubelet's configuration from settings of its own",
            got=", ".join(map(path_step, fields)),
            allowed="nothing on Bottlerocket",
            fix='use user_data=UserData.bottlerocket("[settings.kubernetes] ...")',
            source="https://bottlerocket.dev/en/os/latest/api/settings/kubernetes/",
        )
    else:
        yield from kubelet_config_faults(fields, path, own_image=spec.ami_id is not None)


def kubelet_config_faults(
    config: Mapping[Any, Any], path: str, *, own_image: bool
) -> Iterator[Finding]:
    """Faults of fields of the kubelet's configuration, wherever a user sets them.

    Args:
        config: The fields, by the names that KubeletConfiguration gives them.
        path: How faults name the configuration.
        own_image: Whether the image is the user's own, where EKS adds nothing.

    Source: https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/
    """
    for key, value in config.items():
        at = f"{path}.{path_step(key)}"
        if not isinstance(key, str):
            yield wrong_type(at, key, "the name of a field", "write the name as a text")
        else:
            yield from _field_faults(key, value, at, own_image=own_image)


def kubelet_flag_faults(flags: Sequence[str], path: str, *, own_image: bool) -> Iterator[Finding]:
    """Faults of flags of the kubelet, which win over its configuration.

    nodeadm writes all of them into one line, so a text may hold several.

    Args:
        flags: The texts of a NodeConfig.
        path: How faults name them.
        own_image: Whether the image is the user's own, where EKS adds nothing.

    Sources: https://kubernetes.io/docs/reference/command-line-tools-reference/kubelet/,
    https://github.com/kubernetes/kubernetes/blob/master/cmd/kubelet/app/server.go
    """
    for index, given in enumerate(flags):
        for word in given.split():
            flag = flag_name(word.partition("=")[0])
            row = _owned(flag, "flags", own_image=own_image) if word.startswith("-") else None
            if row is not None:
                allowed = "flags of what neither the library nor EKS sets"
                yield refused(flag, row, f"{path}[{index}]", got=given, allowed=allowed)


def hugepages_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """The fault of a number of huge pages that no node can have."""
    most = read_toml("user_data.toml")["hugepages"]["most"]
    path = f"{spec.path}.hugepages_2mi"
    yield from whole_number(spec.hugepages_2mi, path, lowest=0, highest=most, optional=True)


def _field_faults(key: str, value: object, path: str, *, own_image: bool) -> Iterator[Finding]:
    facts = read_toml("user_data.toml")["kubelet"]
    row = _owned(key, "fields", own_image=own_image)
    if row is not None:
        allowed = "fields that neither the library nor EKS sets"
        yield refused(key, row, path, got=value, allowed=allowed)
    elif key not in facts["fields"]:
        yield fault(
            "UnknownKubeletField",
            path,
            "KubeletConfiguration has no such field",
            got=key,
            allowed="a field of KubeletConfiguration v1beta1, in its own spelling",
            fix=meant(key, facts["fields"]) or "look the field up in the reference",
            source=facts["source"],
        )
    else:
        wrong = tuple(json_faults(value, path))
        yield from wrong or _value_faults(key, value, path)


def _value_faults(key: str, value: object, path: str) -> Iterator[Finding]:
    """The faults of a value that the kubelet does not read, at which it does not start."""
    if key == GATES:
        yield from gate_type_faults(value, path)
    facts = read_toml("user_data.toml")["kubelet"]
    allowed = facts["values"].get(key)
    if allowed and value not in allowed:
        yield fault(
            "UnknownKubeletValue",
            path,
            f"the kubelet knows no such {key}, and does not start",
            got=value,
            allowed=", ".join(allowed),
            fix=meant(value, allowed) or "name one of these",
            source=facts["source"],
        )


def _owned(name: str, column: str, *, own_image: bool) -> Mapping[str, Any] | None:
    rows = read_toml("user_data.toml")["kubelet"]["owned"]
    owned = (row for row in rows if row["own_image"] or not own_image)
    return next((row for row in owned if name in row.get(column, ())), None)
