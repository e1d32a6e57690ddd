"""What names and labels may look like in Kubernetes, and how their faults are told."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from .findings import Finding, fault
from .typecheck import text

# A DNS label holds at most 63 characters (RFC 1035), a whole DNS name 253 without its last dot.
LONGEST_DNS_LABEL: Final = 63
LONGEST_DNS_SUBDOMAIN: Final = 253
# Name and value of a label; the prefix before "/" is a DNS subdomain (Kubernetes labels).
LONGEST_LABEL_PART: Final = 63
LONGEST_LABEL_KEY: Final = LONGEST_DNS_SUBDOMAIN + len("/") + LONGEST_LABEL_PART

_NAMES_PAGE: Final = "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/"
_LABELS_PAGE: Final = "https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/"

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_LABEL = re.compile(_LABEL, re.ASCII)
_DNS_SUBDOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*", re.ASCII)
_LABEL_PART = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?", re.ASCII)
_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4_RANGE = re.compile(rf"{_OCTET}(?:\.{_OCTET}){{3}}/(?:3[0-2]|[12]?[0-9])", re.ASCII)
_CHARACTERS = "letters, digits, '-', '_' or '.'"
_AT_BOTH_ENDS = "a letter or digit at both ends"


def is_dns_label(value: str) -> bool:
    """Whether a string is a DNS label as Kubernetes takes it."""
    return len(value) <= LONGEST_DNS_LABEL and _DNS_LABEL.fullmatch(value) is not None


def is_dns_subdomain(value: str) -> bool:
    """Whether a string is a DNS subdomain as Kubernetes takes it."""
    return len(value) <= LONGEST_DNS_SUBDOMAIN and _DNS_SUBDOMAIN.fullmatch(value) is not None


def is_label_key(value: str) -> bool:
    """Whether a string is the key of a label, or of a taint, as Kubernetes takes it."""
    prefix, slash, name = value.rpartition("/")
    return _is_label_part(name) and (not slash or is_dns_subdomain(prefix))


def is_label_value(value: str) -> bool:
    """Whether a string is the value of a label as Kubernetes takes it; it may be empty."""
    return not value or _is_label_part(value)


def _is_label_part(value: str) -> bool:
    return len(value) <= LONGEST_LABEL_PART and _LABEL_PART.fullmatch(value) is not None


def ipv4_range(value: str) -> bool:
    """Whether a string is a range of IPv4 addresses, "10.0.0.0/18".

    Its address need not be the first one: EC2 takes 10.0.0.18/18, and means 10.0.0.0/18.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateSubnet.html
    """
    return _IPV4_RANGE.fullmatch(value) is not None


def well_formed(
    value: Any,
    path: str,
    fits: Callable[[str], bool],
    *,
    code: str,
    message: str,
    allowed: str,
    fix: str,
    source: str,
) -> Iterator[Finding]:
    """The fault of a value that is not a string, or that does not have the form.

    Args:
        value: What the user gave.
        path: Names the input in the fault.
        fits: Whether a string has the form.
        code: The code for a string that does not fit; so are `message`, `fix` and `source`.
        message: What is wrong with it.
        allowed: The form.
        fix: What to change.
        source: Where the form is from.
    """
    wrong_type = tuple(text(value, path, allowed, "write it as a string"))
    yield from wrong_type
    if not wrong_type and not fits(value):
        yield fault(code, path, message, got=value, allowed=allowed, fix=fix, source=source)


def dns_label(value: object, path: str) -> Iterator[Finding]:
    """The fault of a value that is not a DNS label."""
    yield from well_formed(
        value,
        path,
        is_dns_label,
        code="MalformedName",
        message="the name is not a DNS label",
        allowed=f"a DNS label of at most {LONGEST_DNS_LABEL} characters",
        fix=f"use lower case letters, digits and hyphens, with {_AT_BOTH_ENDS}",
        source=_NAMES_PAGE,
    )


def dns_subdomain(value: object, path: str) -> Iterator[Finding]:
    """The fault of a value that is not a DNS subdomain."""
    yield from well_formed(
        value,
        path,
        is_dns_subdomain,
        code="MalformedName",
        message="the name is not a DNS name",
        allowed=f"a DNS name of at most {LONGEST_DNS_SUBDOMAIN} characters",
        fix=f"use lower case letters, digits, hyphens and dots, with {_AT_BOTH_ENDS}",
        source=_NAMES_PAGE,
    )


def label_key(
    value: object,
    path: str,
    *,
    code: str = "MalformedLabelKey",
    longest: int = LONGEST_LABEL_KEY,
) -> Iterator[Finding]:
    """The fault of a value that is not the key of a label or of a taint.

    Args:
        value: What the user gave.
        path: Names the input in the fault.
        code: The code for a string of another form.
        longest: The most characters of a whole key, where somebody takes fewer than Kubernetes.
    """
    yield from well_formed(
        value,
        path,
        lambda key: len(key) <= longest and is_label_key(key),
        code=code,
        message="the key has the wrong form",
        allowed=f"a name of 1 to {LONGEST_LABEL_PART} {_CHARACTERS}, {_AT_BOTH_ENDS}, "
        f"after an optional DNS name and '/'; at most {longest} characters in all",
        fix="shorten or respell the key",
        source=_LABELS_PAGE,
    )


def label_value(
    value: object, path: str, *, shortest: int = 0, longest: int = LONGEST_LABEL_PART
) -> Iterator[Finding]:
    """The fault of a value that is not the value of a label.

    Args:
        value: What the user gave.
        path: Names the input in the fault.
        shortest: The fewest characters; Kubernetes takes none.
        longest: The most characters, where somebody takes fewer than Kubernetes.
    """
    yield from well_formed(
        value,
        path,
        lambda one: shortest <= len(one) <= longest and is_label_value(one),
        code="MalformedLabelValue",
        message="the value has the wrong form",
        allowed=f"{shortest} to {longest} {_CHARACTERS}, {_AT_BOTH_ENDS}",
        fix="shorten or respell the value",
        source=_LABELS_PAGE,
    )


def is_extended_resource(name: str) -> bool:
    """Whether the API server takes a resource for one that it does not know itself.

    Only whole numbers of these can be asked for. Resources named after DeviceClasses are not among
    them: of those the API server takes fractions too.

    Source: https://kubernetes.io/docs/tasks/configure-pod-container/extended-resource/
    """
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")
