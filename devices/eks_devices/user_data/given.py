"""User data of a user's own, beside what a node group's plan needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._data import read_toml
from .._frozen import FrozenDict
from .._json_values import frozen_mapping
from .._nested import differences, found, merged
from ..findings import EksDevicesError, Finding, fault, raise_faults, shown
from ..typecheck import path_step, plain_text, wrong_type
from ..vocabulary import OperatingSystem
from .bottlerocket_toml import read_settings, unreadable
from .containerd import containerd_settings
from .kubelet import kubelet_config_faults, kubelet_flag_faults
from .mime import read_multipart
from .parts import PartKind, UserDataPart, malformed, part_faults, text_faults

if TYPE_CHECKING:
    from ..spec import NodegroupSpec

_FACTORIES = "UserData.shell, .node_config, .mime, .bottlerocket or .combined"
_KUBELET = ("spec", "kubelet")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserData:
    """User data of your own; made by one of the factories, several joined by `combined`.

    AL2023 takes scripts and a NodeConfig, Bottlerocket takes settings. The node group adds what
    it needs itself, EKS adds what joins the nodes, and what contradicts either is a fault.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
    """

    parts: tuple[UserDataPart, ...]

    @classmethod
    def shell(cls, text: str) -> UserData:
        """A script that AL2023 runs once, before the kubelet starts; it begins with "#!".

        Raises:
            EksDevicesError: The text is no script, empty or above 16 KiB.
        """
        return cls._made(UserDataPart(kind=PartKind.SHELL, text=plain_text(text)))

    @classmethod
    def node_config(cls, config: Mapping[str, Any]) -> UserData:
        """A NodeConfig of nodeadm, for AL2023: {"spec": {"containerd": {...}}}.

        Args:
            config: The NodeConfig of v1alpha1 as a mapping; apiVersion and kind may be left out.

        Raises:
            EksDevicesError: The mapping is no NodeConfig, or cannot be JSON.

        Source: https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api/
        """
        fix = 'pass a mapping such as {"spec": {...}}'
        copy = frozen_mapping(config, "user_data", "a mapping that can be read", fix)
        if isinstance(copy, Finding):
            raise EksDevicesError([copy])
        facts = read_toml("user_data.toml")["node_config"]
        whole = {"apiVersion": facts["api_version"], "kind": facts["kind"], **copy}
        return cls._made(UserDataPart(kind=PartKind.NODE_CONFIG, config=FrozenDict(whole)))

    @classmethod
    def mime(cls, text: str) -> UserData:
        """A whole MIME multipart text for AL2023; its parts keep their order.

        Parts are text/x-shellscript, text/cloud-config, text/cloud-boothook, or
        application/node.eks.aws in JSON.

        Raises:
            EksDevicesError: The text is no MIME, or a part is none of these.
        """
        raise_faults(text_faults(text, "user_data"))
        parts, faults = read_multipart(plain_text(text), "user_data")
        raise_faults(faults)
        return cls._made(*parts)

    @classmethod
    def bottlerocket(cls, text: str) -> UserData:
        """Settings of Bottlerocket in TOML, all under the table `settings`.

        Raises:
            EksDevicesError: The text is no TOML, or holds other tables.

        Source: https://bottlerocket.dev/en/os/latest/api/settings-index/
        """
        return cls._made(UserDataPart(kind=PartKind.BOTTLEROCKET, text=plain_text(text)))

    @classmethod
    def combined(cls, *user_data: UserData) -> UserData:
        """Several as one, in their order.

        Raises:
            EksDevicesError: One is no UserData, or they are for two operating systems, or set
                one setting to two values.
        """
        given = enumerate(user_data)
        raise_faults(
            one for index, data in given for one in form_faults(data, f"user_data[{index}]")
        )
        return cls._made(*(part for one in user_data for part in one.parts))

    @classmethod
    def _made(cls, *parts: UserDataPart) -> UserData:
        made = cls(parts=parts)
        raise_faults(_form_faults(made, "user_data"))
        return made

    def settings(self) -> Mapping[str, Any]:
        """Bottlerocket's settings as nested mappings; none for AL2023."""
        whole: Mapping[str, Any] = FrozenDict()
        for part in self.parts:
            read = read_settings(part.text) if part.kind is PartKind.BOTTLEROCKET else ""
            whole = whole if isinstance(read, str) else merged(whole, read)
        return whole

    def node_configs(self) -> tuple[Mapping[str, Any], ...]:
        """The NodeConfigs for AL2023."""
        return tuple(one.config for one in self.parts if one.kind is PartKind.NODE_CONFIG)


def user_data_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """Faults of the user's own user data by itself, on the operating system of the group."""
    data, path = spec.user_data, f"{spec.path}.user_data"
    if data is None:
        return
    wrong = tuple(form_faults(data, path)) or tuple(_system_faults(spec, data, path))
    yield from wrong
    if not wrong:
        yield from _gap_faults(spec, data, path)
        yield from _kubelet_faults(spec, data, path)


def form_faults(data: object, path: str) -> Iterator[Finding]:
    """Faults of user data whatever its node group is.

    Args:
        data: What a user gave.
        path: How faults name it.
    """
    if isinstance(data, UserData):
        yield from _form_faults(data, path)
    else:
        yield wrong_type(path, data, "a UserData", f"use {_FACTORIES}")


def _form_faults(data: UserData, path: str) -> Iterator[Finding]:
    if not isinstance(data.parts, tuple) or not data.parts:
        yield wrong_type(f"{path}.parts", data.parts, "one part or more", f"use {_FACTORIES}")
        return
    wrong = False
    for part, at in _placed(data, path):
        for one in part_faults(part, at):
            wrong = True
            yield one
    if not wrong:
        yield from _joint_faults(data, path)


def _placed(data: UserData, path: str) -> Iterator[tuple[UserDataPart, str]]:
    """Each part with the path that faults name it by."""
    for index, part in enumerate(data.parts):
        yield part, path if len(data.parts) == 1 else f"{path}[{index}]"


def _joint_faults(data: UserData, path: str) -> Iterator[Finding]:
    """Faults of parts together, each of them right by itself."""
    settings = [one for one in data.parts if one.kind is PartKind.BOTTLEROCKET]
    if settings and len(settings) < len(data.parts):
        yield malformed(
            path,
            "settings of Bottlerocket and parts for AL2023 cannot start one node",
            got=", ".join(one.kind for one in data.parts),
            allowed="parts for one operating system",
            fix="pass those of the group's operating system",
        )
    read = [read_settings(part.text) for part in settings]
    yield from _repeated([one for one in read if isinstance(one, Mapping)], path)
    yield from _repeated([_exclusive(one) for one in data.node_configs()], path)


def _repeated(several: Sequence[Mapping[str, Any]], path: str) -> Iterator[Finding]:
    """The keys that a later mapping sets otherwise than one before it."""
    whole: Mapping[str, Any] = FrozenDict()
    for own in several:
        for keys, value, earlier in differences(own, whole):
            yield fault(
                "RepeatedSetting",
                path,
                f"{'.'.join(map(path_step, keys))} is set to two values",
                got=value,
                allowed=shown(earlier),
                fix="set it once",
            )
        whole = merged(whole, own)


def _exclusive(config: Mapping[str, Any]) -> dict[str, Any]:
    """Of a NodeConfig what can have one value only: nodeadm joins flags, and texts of containerd.

    Source: https://github.com/awslabs/amazon-eks-ami/blob/main/nodeadm/internal/api/merge.go
    """
    spec = config["spec"]
    kubelet = {key: one for key, one in (spec.get("kubelet") or {}).items() if key != "flags"}
    containerd = dict(spec.get("containerd") or {})
    containerd["config"] = containerd_settings(containerd.get("config") or "")
    return {"spec": {**spec, "kubelet": kubelet, "containerd": containerd}}


def _system_faults(spec: NodegroupSpec, data: UserData, path: str) -> Iterator[Finding]:
    takes = {OperatingSystem.AL2023: False, OperatingSystem.BOTTLEROCKET: True}
    system = spec.operating_system
    if not isinstance(system, OperatingSystem) or system not in takes:
        return
    for kind in dict.fromkeys(one.kind for one in data.parts):
        if (kind is PartKind.BOTTLEROCKET) is not takes[system]:
            right = "UserData.bottlerocket" if takes[system] else "UserData.shell or .node_config"
            yield fault(
                "UserDataOfOtherSystem",
                path,
                f"nodes with {system} cannot read this kind of user data",
                got=str(kind),
                allowed=f"what {right} makes",
                fix=f"use {right}, or choose the other operating system",
                source=read_toml("user_data.toml")["mime"]["source"],
            )


def _gap_faults(spec: NodegroupSpec, data: UserData, path: str) -> Iterator[Finding]:
    """What EKS's own reader of TOML does not take; it reads nothing beside an own image."""
    if spec.ami_id is not None or spec.operating_system is not OperatingSystem.BOTTLEROCKET:
        return
    for part in data.parts:
        settings = read_settings(part.text)
        if isinstance(settings, str):
            continue
        for key, value, problem in unreadable(settings, part.text):
            yield fault(
                "TomlBeyondEks",
                path,
                f"EKS merges user data, and its reader of TOML does not take {key}: {problem}",
                got=value,
                allowed="TOML without quoted table names, escaped quotes and mixed arrays",
                fix="write text with quotes between single quotes, and leave out the rest",
                source=read_toml("user_data.toml")["mime"]["source"],
            )


def _kubelet_faults(spec: NodegroupSpec, data: UserData, path: str) -> Iterator[Finding]:
    """Faults of the kubelet in NodeConfigs; what maxPods may be, the plan knows."""
    own_image = spec.ami_id is not None
    for part, at in _placed(data, path):
        kubelet, below = found(part.config, _KUBELET) or {}, ".".join([at, *_KUBELET])
        flags, fields = kubelet.get("flags") or (), dict(kubelet.get("config") or {})
        fields.pop("maxPods", None)
        yield from kubelet_flag_faults(flags, f"{below}.flags", own_image=own_image)
        yield from kubelet_config_faults(fields, f"{below}.config", own_image=own_image)
