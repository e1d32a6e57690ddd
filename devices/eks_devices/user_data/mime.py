"""Reads and writes the multipart text that cloud-init and nodeadm take their parts from."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from .._frozen import deep_frozen
from ..findings import Finding, fault
from .parts import MIME_KINDS, PartKind, UserDataPart, malformed, part_faults

if TYPE_CHECKING:
    from email.message import Message

_BOUNDARY = "EKS-DEVICES"
_FORM = "a MIME multipart text: headers, then parts between boundaries"
# What says how a part is read; others cloud-init would obey, and they are not carried over.
_PLAIN_ENCODINGS = ("", "7bit", "8bit", "binary")
_MERGE_HEADERS = ("Merge-Type", "X-Merge-Type")


def read_multipart(text: str, path: str) -> tuple[list[UserDataPart], list[Finding]]:
    """The parts of a MIME multipart text, and everything that is wrong with it."""
    from email import message_from_string  # noqa: PLC0415  (only for texts of MIME)

    message = message_from_string(text)
    if not message.is_multipart() or message.get_content_maintype() != "multipart":
        fix = "begin the text with its headers, or use UserData.shell for a script alone"
        return [], [_malformed(path, "this is no MIME multipart text", text, fix)]
    if message.defects:
        names = ", ".join(type(one).__name__ for one in message.defects)
        fix = "close the last part with --BOUNDARY--, and use the boundary of the header"
        return [], [_malformed(path, f"the text breaks the rules of MIME: {names}", text, fix)]
    parts: list[UserDataPart] = []
    faults: list[Finding] = []
    for index, one in enumerate(message.get_payload()):
        at = f"{path}[{index}]"
        found = _read_part(one, at)
        faults += [found] if isinstance(found, Finding) else part_faults(found, at)
        parts += [] if isinstance(found, Finding) else [found]
    return parts, faults


def _read_part(part: Message, path: str) -> UserDataPart | Finding:
    content_type = part.get_content_type()
    if content_type not in MIME_KINDS:
        return _unknown_type(path, content_type)
    if any(header in part for header in _MERGE_HEADERS):
        message = "headers that tell cloud-init how to merge are not carried over"
        return _malformed(path, message, part.items(), "write merge_how into the cloud-config")
    try:
        body = _body(part)
    except ValueError as error:
        fix = "encode the part as UTF-8"
        return _malformed(path, f"the part cannot be decoded: {error}", content_type, fix)
    if content_type != PartKind.NODE_CONFIG:
        return UserDataPart(kind=PartKind(content_type), text=body)
    return _read_node_config(body, path)


def _body(part: Message) -> str:
    encoding = str(part.get("Content-Transfer-Encoding", "")).strip().lower()
    encoded = encoding in ("base64", "quoted-printable")
    if not encoded and encoding not in _PLAIN_ENCODINGS:
        raise ValueError(f"there is no encoding {encoding}")
    payload: Any = part.get_payload(decode=True) if encoded else part.get_payload()
    if part.defects:
        raise ValueError(type(part.defects[0]).__name__)
    text = payload.decode() if isinstance(payload, bytes) else str(payload)
    # MIME ends its lines with CRLF, whatever the part had.
    return text.replace("\r\n", "\n")


def _read_node_config(body: str, path: str) -> UserDataPart | Finding:
    try:
        config = deep_frozen(json.loads(body, parse_constant=_no_number))
    except (ValueError, RecursionError) as error:
        fix = "pass UserData.node_config(yaml.safe_load(text)) beside the other parts"
        return fault(
            "NodeConfigNotJson",
            path,
            f"a NodeConfig in a MIME text is read as JSON, and this is none: {error}",
            got=body,
            allowed="JSON, which nodeadm reads as well as YAML",
            fix=fix,
        )
    return UserDataPart(kind=PartKind.NODE_CONFIG, config=config)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _unknown_type(path: str, content_type: str) -> Finding:
    return fault(
        "UnknownContentType",
        path,
        "neither cloud-init on EKS's image nor nodeadm is known to take such a part",
        got=content_type,
        allowed=", ".join(MIME_KINDS),
        fix="use one of these types",
        source="https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html",
    )


def _malformed(path: str, message: str, got: object, fix: str) -> Finding:
    return malformed(path, message, got=got, allowed=_FORM, fix=fix)


def multipart(parts: Sequence[tuple[str, str]]) -> str:
    """A MIME multipart text of parts, each with its content type and text."""
    boundary = _boundary([text for _, text in parts])
    head = f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="{boundary}"\n\n'
    body = "".join(f"--{boundary}\n{_written(kind, text)}\n" for kind, text in parts)
    return f"{head}{body}--{boundary}--\n"


def _written(kind: str, text: str) -> str:
    if text.isascii():
        return f'Content-Type: {kind}; charset="us-ascii"\n\n{text}'
    # Readers of MIME disagree about other characters that stand there as they are.
    lines = base64.encodebytes(text.encode()).decode()
    head = f'Content-Type: {kind}; charset="utf-8"\nContent-Transfer-Encoding: base64'
    return f"{head}\n\n{lines}"


def _boundary(texts: Sequence[str]) -> str:
    """A line that is in no part, whatever users write."""
    return next(one for one in _boundaries() if not any(one in text for text in texts))


def _boundaries() -> Iterator[str]:
    yield _BOUNDARY
    number = 0
    while True:
        number += 1
        yield f"{_BOUNDARY}-{number}"
