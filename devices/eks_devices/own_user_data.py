"""User data of a user's own, beside what a node group's plan needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._data import read_toml
from ._frozen import FrozenDict
from ._json_values import differences, found, is_readable, json_frozen
from ._settings_text import merged, read_settings, unreadable
from .findings import Finding, fault, raise_faults
from .typecheck import wrong_type
from .user_data_parts import PartKind, UserDataPart, malformed, part_faults, text_faults
from .vocabulary import OperatingSystem

if TYPE_CHECKING:
    from .spec import NodegroupSpec

_FACTORIES = "UserData.shell, .node_config, .mime, .bottlerocket or .of"
_RELEASE = re.compile(r"([0-9]+)\.([0-9]+)\.([0-9]+)-.*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserData:
    """User data of your own; made by one of the factories, several joined by `of`.

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
        return cls._made(UserDataPart(kind=PartKind.SHELL, text=_plain(text)))

    @classmethod
    def node_config(cls, config: Mapping[str, Any]) -> UserData:
        """A NodeConfig of nodeadm, for AL2023: {"spec": {"containerd": {...}}}.

        Args:
            config: The NodeConfig of v1alpha1 as a mapping; apiVersion and kind may be left out.

        Raises:
            EksDevicesError: The mapping is no NodeConfig, or cannot be JSON.

        Source: https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api/
        """
        if not isinstance(config, Mapping) or not is_readable(config):
            wanted = "a mapping that can be read, and does not hold itself"
            fix = 'pass a mapping such as {"spec": {...}}'
            raise_faults([wrong_type("user_data", config, wanted, fix)])
        facts = read_toml("user_data.toml")["node_config"]
        whole = {"apiVersion": facts["api_version"], "kind": facts["kind"], **json_frozen(config)}
        return cls._made(UserDataPart(kind=PartKind.NODE_CONFIG, config=FrozenDict(whole)))

    @classmethod
    def mime(cls, text: str) -> UserData:
        """A whole MIME multipart text for AL2023; its parts keep their order.

        Parts are text/x-shellscript, text/cloud-config, text/cloud-boothook, or
        application/node.eks.aws in JSON.

        Raises:
            EksDevicesError: The text is no MIME, or a part is none of these.
        """
        from ._mime import read_multipart  # noqa: PLC0415  (it needs the parser of e-mails)

        raise_faults(text_faults(text, "user_data"))
        parts, faults = read_multipart(_plain(text), "user_data")
        raise_faults(faults)
        return cls._made(*parts)

    @classmethod
    def bottlerocket(cls, text: str) -> UserData:
        """Settings of Bottlerocket in TOML, all under the table `settings`.

        Raises:
            EksDevicesError: The text is no TOML, or holds other tables.

        Source: https://bottlerocket.dev/en/os/latest/api/settings-index/
        """
        return cls._made(UserDataPart(kind=PartKind.BOTTLEROCKET, text=_plain(text)))

    @classmethod
    def of(cls, *user_data: UserData) -> UserData:
        """Several as one, in their order.

        Raises:
            EksDevicesError: One is no UserData, or they are for two operating systems, or set
                one setting of Bottlerocket to two values.
        """
        given = enumerate(user_data)
        raise_faults(one for index, data in given for one in _faults(data, f"user_data[{index}]"))
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
    yield from _storage_faults(spec)
    data, path = spec.user_data, f"{spec.path}.user_data"
    if data is None:
        return
    wrong = tuple(_faults(data, path)) or tuple(_system_faults(spec, data, path))
    yield from wrong
    if not wrong and spec.operating_system is OperatingSystem.BOTTLEROCKET:
        yield from _gap_faults(spec, data, path)
        yield from _release_faults(spec, data)


def _plain(text: Any) -> Any:
    return str.__str__(text) if isinstance(text, str) else text


def _faults(data: object, path: str) -> Iterator[Finding]:
    if isinstance(data, UserData):
        yield from _form_faults(data, path)
    else:
        yield wrong_type(path, data, "a UserData", f"use {_FACTORIES}")


def _form_faults(data: UserData, path: str) -> Iterator[Finding]:
    if not isinstance(data.parts, tuple) or not data.parts:
        yield wrong_type(f"{path}.parts", data.parts, "one part or more", f"use {_FACTORIES}")
        return
    wrong = False
    for index, part in enumerate(data.parts):
        for one in part_faults(part, path if len(data.parts) == 1 else f"{path}[{index}]"):
            wrong = True
            yield one
    if not wrong:
        yield from _joint_faults(data, path)


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
    whole: Mapping[str, Any] = FrozenDict()
    for part in settings:
        read = read_settings(part.text)
        known, own = whole, read if isinstance(read, Mapping) else FrozenDict()
        for keys, value, earlier in differences(own, known):
            message = f"{'.'.join(keys)} is set to two values"
            fix = "set it once"
            yield fault("RepeatedSetting", path, message, got=value, allowed=str(earlier), fix=fix)
        whole = merged(known, own)


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
    if spec.ami_id is not None:
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


def _release_faults(spec: NodegroupSpec, data: UserData) -> Iterator[Finding]:
    settings = data.settings()
    for row in read_toml("user_data.toml")["bottlerocket"]["floor"]:
        if found(settings, row["key"].split(".")) is not None:
            yield from _floor(
                spec, row, f"only Bottlerocket {row['release']} or later knows {row['key']}"
            )


def _storage_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    if spec.instance_store is True and spec.operating_system is OperatingSystem.BOTTLEROCKET:
        row = read_toml("user_data.toml")["storage"]
        yield from _floor(spec, row, row["message"])


def _floor(spec: NodegroupSpec, row: Mapping[str, Any], message: str) -> Iterator[Finding]:
    """The fault of a pinned release that is older than what a setting needs."""
    pinned = spec.release_version if isinstance(spec.release_version, str) else ""
    match = _RELEASE.fullmatch(pinned)
    needed = [int(part) for part in row["release"].split(".")]
    if match and [int(part) for part in match.groups()] < needed:
        yield fault(
            "ReleaseTooOld",
            f"{spec.path}.release_version",
            message,
            got=pinned,
            allowed=f"{row['release']} or later",
            fix="pin a newer release",
            source=row["source"],
        )
