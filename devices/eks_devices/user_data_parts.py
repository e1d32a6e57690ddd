"""The parts that user data is made of, and the faults of their form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ._data import read_toml
from ._frozen import FrozenDict
from ._json_values import found, is_readable, json_faults
from ._settings_text import read_settings
from .findings import Finding, fault
from .typecheck import path_step, text, wrong_type

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
            return json.dumps(self.config, indent=2) + "\n"
        return self.text


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
    if not isinstance(config, FrozenDict) or not is_readable(config):
        wanted = "a mapping that can be read, and does not hold itself"
        yield wrong_type(path, config, wanted, "pass the NodeConfig as a plain mapping")
        return
    wrong = tuple(json_faults(config, path)) or tuple(_section_faults(config, facts, path))
    yield from wrong
    for key, value in (("apiVersion", facts["api_version"]), ("kind", facts["kind"])):
        if config.get(key) != value:
            yield fault(
                "OtherNodeConfig",
                f"{path}.{key}",
                "nodeadm reads no other configuration",
                got=config.get(key),
                allowed=value,
                fix=f"write {value}, or leave {key} out",
                source=facts["source"],
            )
    if not wrong:
        spec = config.get("spec")
        yield from _size_faults(json.dumps(config), path) if spec else [_empty(path, config)]


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


def _flag_faults(flags: object, path: str) -> Iterator[Finding]:
    if flags is None:
        return
    if not isinstance(flags, tuple) or not all(isinstance(one, str) for one in flags):
        yield wrong_type(
            path, flags, 'a list of strings such as "--v=4"', "write a list of strings"
        )


def _unknown_field(path: str, key: str, fields: list[str], source: str) -> Finding:
    import difflib  # noqa: PLC0415  (only when something is wrong)

    near = difflib.get_close_matches(key, fields, n=2, cutoff=0.5)
    return fault(
        "UnknownNodeConfigField",
        path,
        "nodeadm has no such field, and would leave it out without a word",
        got=key,
        allowed=", ".join(fields),
        fix=f"did you mean {' or '.join(near)}?" if near else "leave it out",
        source=source,
    )


def _size_faults(value: str, path: str) -> Iterator[Finding]:
    limit, size = read_toml("user_data.toml")["size"], len(value.encode())
    if size > limit["most"]:
        yield too_large(path, size, f"at most {limit['most']} bytes")


def too_large(path: str, size: int, allowed: str) -> Finding:
    """The fault of user data that EC2 would refuse."""
    return fault(
        "UserDataTooLarge",
        path,
        "EC2 takes no user data of this size",
        got=f"{size} bytes",
        allowed=allowed,
        fix="build an image of your own, or let a short script download the rest",
        source=read_toml("user_data.toml")["size"]["source"],
    )


def malformed(path: str, message: str, *, got: object, allowed: str, fix: str) -> Finding:
    """The fault of a text that its reader could not read."""
    source = read_toml("user_data.toml")["mime"]["source"]
    return fault(
        "MalformedUserData", path, message, got=got, allowed=allowed, fix=fix, source=source
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
