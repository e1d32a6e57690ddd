"""What names, labels, selectors and attributes may look like, and how their faults are told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from eks_devices.findings import Finding, fault
from eks_devices.kubernetes import is_token
from eks_devices.typecheck import wrong_type

# A DNS label holds at most 63 characters (RFC 1035), a whole DNS name 253 without its last dot.
LONGEST_DNS_LABEL: Final = 63
LONGEST_DNS_SUBDOMAIN: Final = 253
# The API server refuses longer expressions and more of them (resource.k8s.io types).
LONGEST_CEL_BYTES: Final = 10 * 1024
MOST_SELECTORS: Final = 32
# A device attribute is "<domain>/<C identifier>" with these limits (resource.k8s.io types).
LONGEST_ATTRIBUTE_DOMAIN: Final = 63
LONGEST_ATTRIBUTE_NAME: Final = 32
# Name and value of a label; the prefix before "/" is a DNS subdomain (Kubernetes labels).
LONGEST_LABEL_PART: Final = 63

NAMES_PAGE: Final = "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/"
LABELS_PAGE: Final = "https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/"
DRA_PAGE: Final = (
    "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/"
)

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_LABEL = re.compile(_LABEL, re.ASCII)
_DNS_SUBDOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*", re.ASCII)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_LABEL_PART = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?", re.ASCII)


def is_dns_label(text: str) -> bool:
    """Whether a text is a DNS label as Kubernetes takes it."""
    return len(text) <= LONGEST_DNS_LABEL and _DNS_LABEL.fullmatch(text) is not None


def is_dns_subdomain(text: str) -> bool:
    """Whether a text is a DNS subdomain as Kubernetes takes it."""
    return len(text) <= LONGEST_DNS_SUBDOMAIN and _DNS_SUBDOMAIN.fullmatch(text) is not None


def dns_label(value: object, path: str) -> Iterator[Finding]:
    """The fault of a value that is no DNS label."""
    yield from _name(value, path, f"a DNS label of at most {LONGEST_DNS_LABEL} characters", "")


def dns_subdomain(value: object, path: str) -> Iterator[Finding]:
    """The fault of a value that is no DNS subdomain."""
    yield from _name(
        value, path, f"a DNS name of at most {LONGEST_DNS_SUBDOMAIN} characters", " and dots"
    )


def _name(value: object, path: str, wanted: str, dots: str) -> Iterator[Finding]:
    fix = f"use lower case letters, digits and hyphens{dots}, with a letter or digit at both ends"
    fits = is_dns_subdomain if dots else is_dns_label
    if not isinstance(value, str) or is_token(value):
        yield wrong_type(path, value, wanted, fix)
    elif not fits(value):
        message = "the name is no " + ("DNS name" if dots else "DNS label")
        yield fault(
            "InvalidName", path, message, got=value, allowed=wanted, fix=fix, source=NAMES_PAGE
        )


def selector(value: object, path: str) -> Iterator[Finding]:
    """The fault of a value that cannot be a CEL expression; its grammar is not read."""
    wanted = f"a CEL expression of 1 to {LONGEST_CEL_BYTES} bytes"
    if not isinstance(value, str) or is_token(value):
        yield wrong_type(path, value, wanted, "write the expression as a text")
        return
    problem = _selector_problem(value)
    if problem:
        fix = "write an expression over `device`, or leave the selector out"
        yield fault(
            "InvalidSelector", path, problem, got=value, allowed=wanted, fix=fix, source=DRA_PAGE
        )


def _selector_problem(text: str) -> str:
    if not text.strip():
        return "the expression is empty"
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return "the expression is no valid Unicode text"
    return f"the expression has {size} bytes" if size > LONGEST_CEL_BYTES else ""


def attribute(value: object, path: str) -> Iterator[Finding]:
    """The fault of a value that is no fully qualified device attribute."""
    wanted = (
        f"<domain>/<name>: a DNS name of at most {LONGEST_ATTRIBUTE_DOMAIN} characters and an "
        f"identifier of at most {LONGEST_ATTRIBUTE_NAME}"
    )
    fix = 'write the attribute with the driver\'s domain, as in "gpu.nvidia.com/parentUUID"'
    if not isinstance(value, str) or is_token(value):
        yield wrong_type(path, value, wanted, fix)
    elif not _is_attribute(value):
        yield fault(
            "InvalidAttribute",
            path,
            "this is no attribute of a device",
            got=value,
            allowed=wanted,
            fix=fix,
            source=DRA_PAGE,
        )


def _is_attribute(text: str) -> bool:
    domain, _, name = text.partition("/")
    return (
        len(domain) <= LONGEST_ATTRIBUTE_DOMAIN
        and is_dns_subdomain(domain)
        and len(name) <= LONGEST_ATTRIBUTE_NAME
        and _IDENTIFIER.fullmatch(name) is not None
    )


def labels(value: object, path: str) -> Iterator[Finding]:
    """The faults of a mapping whose keys or values are no labels of Kubernetes."""
    if not isinstance(value, Mapping):
        yield wrong_type(path, value, "a mapping of texts to texts", "write {key: value}")
        return
    for key, text in value.items():
        yield from _label(key, text, f"{path}[{key!r:.80}]")


def _label(key: object, text: object, path: str) -> Iterator[Finding]:
    wanted = (
        f"a key [<DNS name>/]<name> and a value, name and value of at most {LONGEST_LABEL_PART} "
        "letters, digits, '-', '_' and '.'"
    )
    for part in (key, text):
        if not isinstance(part, str) or is_token(part):
            yield wrong_type(path, part, wanted, "write key and value as texts")
            return
    if not (_is_label_key(str(key)) and (text == "" or _is_label_part(str(text)))):
        yield fault(
            "InvalidLabel",
            path,
            "this is no label",
            got=f"{key}={text}",
            allowed=wanted,
            fix="shorten it or replace the characters that are not allowed",
            source=LABELS_PAGE,
        )


def _is_label_key(text: str) -> bool:
    prefix, slash, name = text.rpartition("/")
    return _is_label_part(name) and (not slash or is_dns_subdomain(prefix))


def _is_label_part(text: str) -> bool:
    return len(text) <= LONGEST_LABEL_PART and _LABEL_PART.fullmatch(text) is not None
