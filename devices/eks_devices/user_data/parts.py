"""The parts that user data is made of, and the faults of their form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .._data import read_toml
from .._frozen import FrozenDict
from .._json_values import frozen_mapping, json_faults
from .._nested import found
from ..findings import Finding, fault, meant
from ..typecheck import path_step, text, wrong_type
from .bottlerocket_toml import read_settings
from .containerd import CONTAINERD_CONFIG, containerd_settings

_FACTORIES = "UserData.shell, .node_config, .mime or .bottlerocket"


class PartKind(StrEnum):
    """What a part is: the content type of a MIME part, or Bottlerocket's settings."""

    SHELL = "text/x-shellscript"
    CLOUD_CONFIG = "text/cloud-config"
    BOOTHOOK = "text/cloud-boothook"
    NODE_CONFIG = "application/node.eks.aws"
    BOTTLEROCKET = "application/toml"


MIME_KINDS = tuple(kind for kind in PartKind if kind is not PartKind.BOTTLEROCKET)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserDataPart:
    """One part: its `text`, or the mapping `config` of a NodeConfig."""

    kind: PartKind
    text: str = ""
    config: FrozenDict[str, Any] = FrozenDict()  # noqa: RUF009  (it cannot change)

    def body(self) -> str:
        """The part as text."""
        if self.kind is PartKind.NODE_CONFIG:
            return compact_json(self.config)
        return self.text


def compact_json(config: Mapping[str, Any]) -> str:
    """A NodeConfig as text; user data and templates have little room, so without spaces."""
    return json.dumps(config, separators=(",", ":")) + "\n"


def part_faults(part: object, path: str) -> Iterator[Finding]:
    """Faults of the form of one part."""
    if not isinstance(part, UserDataPart) or not isinstance(part.kind, PartKind):
        yield wrong_type(path, part, f"what {_FACTORIES} make", f"use {_FACTORIES}")
    elif part.kind is PartKind.NODE_CONFIG:
        yield from _node_config_faults(part.config, path)
    else:
        yield from text_faults(part.text, path) or _kind_faults(part, path)


def text_faults(value: object, path: str) -> tuple[Finding, ...]:
    """The fault of what is no text, or of a text that user data cannot be."""
    wrong = tuple(text(value, path, "a text", "pass the text itself"))
    if wrong or not isinstance(value, str):
        return wrong
    if not value.strip():
        return (_empty(path, value),)
    if "\x00" in value or not _is_encodable(value):
        message = "the text holds characters that no file of text has"
        allowed, fix = "characters of UTF-8 without NUL", "read the file as UTF-8"
        return (malformed(path, message, got=value, allowed=allowed, fix=fix),)
    return tuple(_size_faults(value, path))


def _kind_faults(part: UserDataPart, path: str) -> Iterator[Finding]:
    if part.kind is PartKind.SHELL:
        yield from _script_faults(part.text, path)
    elif part.kind is PartKind.BOTTLEROCKET:
        problem = read_settings(part.text)
        if isinstance(problem, str):
            yield malformed(
                path,
                f"these are no settings of Bottlerocket: {problem}",
                got=part.text,
                allowed="TOML with the table settings and no other",
                fix="write tables such as [settings.kubernetes]",
            )


def _script_faults(script: str, path: str) -> Iterator[Finding]:
    if not script.startswith("#!"):
        message = "cloud-init runs a script by its first line, which names no interpreter"
        allowed, fix = (
            "a text that begins with #!",
            'begin with "#!/bin/bash", without space before',
        )
        yield malformed(path, message, got=script, allowed=allowed, fix=fix)
    if "\r" in script:
        message = "lines end with carriage returns, which a shell reads as part of the words"
        fix = r'pass text.replace("\r\n", "\n")'
        yield malformed(path, message, got=script, allowed="lines that end with \\n", fix=fix)


def _node_config_faults(config: object, path: str) -> Iterator[Finding]:
    facts = read_toml("user_data.toml")["node_config"]
    if not isinstance(config, FrozenDict):
        yield wrong_type(path, config, "a mapping", "use UserData.node_config")
        return
    readable = frozen_mapping(config, path, "a mapping that can be read", "pass a plain mapping")
    if isinstance(readable, Finding):
        yield readable
        return
    wrong = tuple(json_faults(config, path)) or tuple(_section_faults(config, facts, path))
    yield from wrong
    for key, value in (("apiVersion", facts["api_version"]), ("kind", facts["kind"])):
        given = config.get(key)
        if not isinstance(given, str) or given != value:
            yield fault(
                "OtherNodeConfig",
                f"{path}.{key}",
                "nodeadm reads no other configuration",
                got=given,
                allowed=value,
                fix=f"write {value}, or leave {key} out",
                source=facts["source"],
            )
    if not wrong:
        spec = config.get("spec")
        yield from _size_faults(compact_json(config), path) if spec else [_empty(path, config)]


def _section_faults(
    config: Mapping[str, Any], facts: Mapping[str, Any], path: str
) -> Iterator[Finding]:
    for section, fields in facts["fields"].items():
        keys = section.split(".") if section else []
        value = found(config, keys)
        if value is None:
            continue
        at = ".".join([path, *keys])
        if not isinstance(value, Mapping):
            yield wrong_type(at, value, "a mapping", "write a mapping")
            continue
        for key in [one for one in value if one not in fields]:
            yield _unknown_field(f"{at}.{path_step(key)}", key, fields, facts["source"])
    yield from _flag_faults(
        found(config, ["spec", "kubelet", "flags"]), f"{path}.spec.kubelet.flags"
    )
    kubelet = found(config, ["spec", "kubelet", "config"])
    if kubelet is not None and not isinstance(kubelet, Mapping):
        yield wrong_type(f"{path}.spec.kubelet.config", kubelet, "a mapping", "write a mapping")
    yield from _containerd_faults(found(config, CONTAINERD_CONFIG), path)
    for row in facts["choice"]:
        yield from _choice_faults(config, row, path)


def _containerd_faults(value: object, path: str) -> Iterator[Finding]:
    """The fault of what containerd could not be told: the node would not join."""
    at = ".".join([path, *CONTAINERD_CONFIG])
    if value is None:
        return
    if not isinstance(value, str):
        yield wrong_type(at, value, "a text in TOML", "write the settings as one text")
        return
    problem = containerd_settings(value)
    if isinstance(problem, str):
        yield malformed(
            at,
            f"nodeadm cannot read the settings of containerd: {problem}",
            got=value,
            allowed="a text in TOML",
            fix="write tables such as [plugins.'io.containerd.cri.v1.runtime']",
            source=read_toml("user_data.toml")["node_config"]["source"],
        )


def _choice_faults(
    config: Mapping[str, Any], row: Mapping[str, Any], path: str
) -> Iterator[Finding]:
    """The fault of a text, or of texts in a list, that nodeadm knows no meaning of."""
    value, names = found(config, row["key"].split(".")), row["values"]
    for one in value if isinstance(value, tuple) else () if value is None else (value,):
        known = [name.casefold() for name in names] if row["any_case"] else names
        text = one.casefold() if isinstance(one, str) and row["any_case"] else one
        if text not in known:
            yield fault(
                "UnknownNodeConfigValue",
                f"{path}.{row['key']}",
                "nodeadm does not know this value",
                got=one,
                allowed=", ".join(names),
                fix=meant(one, names) or "write one of the values, or leave it out",
                source=row["source"],
            )


def _flag_faults(flags: object, path: str) -> Iterator[Finding]:
    if flags is None:
        return
    if not isinstance(flags, tuple) or not all(isinstance(one, str) for one in flags):
        yield wrong_type(
            path, flags, 'a list of strings such as "--v=4"', "write a list of strings"
        )


def _unknown_field(path: str, key: str, fields: list[str], source: str) -> Finding:
    return fault(
        "UnknownNodeConfigField",
        path,
        "nodeadm has no such field, and would leave it out without a word",
        got=key,
        allowed=", ".join(fields),
        fix=meant(key, fields) or "leave it out",
        source=source,
    )


def _size_faults(value: str, path: str) -> Iterator[Finding]:
    limit, size = read_toml("user_data.toml")["size"], len(value.encode())
    if size > limit["most"]:
        fix = "build an image of your own, or let a short script download the rest"
        yield too_large(path, size, f"at most {limit['most']} bytes", fix)


def too_large(path: str, size: int, allowed: str, fix: str) -> Finding:
    """The fault of user data that EC2 would refuse."""
    return fault(
        "UserDataTooLarge",
        path,
        "EC2 takes no user data of this size",
        got=f"{size} bytes",
        allowed=allowed,
        fix=fix,
        source=read_toml("user_data.toml")["size"]["source"],
    )


def malformed(
    path: str, message: str, *, got: object, allowed: str, fix: str, source: str = ""
) -> Finding:
    """The fault of a text that its reader could not read."""
    where = source or read_toml("user_data.toml")["mime"]["source"]
    return fault(
        "MalformedUserData", path, message, got=got, allowed=allowed, fix=fix, source=where
    )


def _empty(path: str, value: object) -> Finding:
    return fault(
        "EmptyUserData",
        path,
        "there is nothing in it",
        got=value,
        allowed="user data with a content",
        fix="leave user_data out",
    )


def _is_encodable(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
