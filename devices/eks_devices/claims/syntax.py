"""What values in claims may look like, and how their faults are told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from .._frozen import FrozenDict
from ..findings import Finding, fault, shown
from ..quantities import MIB, amount_of
from ..syntax import is_dns_label, is_dns_subdomain, label_key, label_value, well_formed
from ..typecheck import text, wrong_type
from .cel import cel_problem

# The API server refuses longer expressions and more of them (resource.k8s.io types).
LONGEST_CEL_BYTES: Final = 10 * 1024
MOST_SELECTORS: Final = 32
MOST_DEVICES: Final = 32
"""The allocator puts no more devices into one claim (AllocationResultsMaxSize).

Source: https://github.com/kubernetes-sigs/dra-example-driver/issues/150
"""
# A device attribute is "<domain>/<C identifier>" with these limits (resource.k8s.io types).
LONGEST_ATTRIBUTE_DOMAIN: Final = 63
LONGEST_ATTRIBUTE_NAME: Final = 32

DRA_PAGE: Final = (
    "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/"
)

_QUANTITY_PAGE = "https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/"
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def selector(value: Any, path: str) -> Iterator[Finding]:
    """The fault of a value that is certainly no CEL expression; its grammar is not read."""
    allowed = f"a CEL expression of 1 to {LONGEST_CEL_BYTES} bytes"
    wrong = tuple(text(value, path, allowed, "write the expression as a string"))
    yield from wrong
    problem = "" if wrong else _selector_problem(value)
    if problem:
        fix = "write an expression over `device`, or leave the selector out"
        yield fault(
            "MalformedSelector",
            path,
            problem,
            got=value,
            allowed=allowed,
            fix=fix,
            source=DRA_PAGE,
        )


def _selector_problem(expression: str) -> str:
    try:
        size = len(expression.encode())
    except UnicodeEncodeError:
        return "the expression is not valid Unicode"
    if size > LONGEST_CEL_BYTES:
        return f"the expression has {size} bytes"
    return cel_problem(expression)


def attribute(value: object, path: str) -> Iterator[Finding]:
    """The fault of a value that is not a fully qualified device attribute."""
    yield from well_formed(
        value,
        path,
        _is_attribute,
        code="MalformedAttribute",
        message="this is not an attribute of a device",
        allowed=f"<domain>/<name>: a DNS name of at most {LONGEST_ATTRIBUTE_DOMAIN} characters and "
        f"an identifier of at most {LONGEST_ATTRIBUTE_NAME}",
        fix='write the attribute with the driver\'s domain, as in "gpu.nvidia.com/parentUUID"',
        source=DRA_PAGE,
    )


def _is_attribute(value: str) -> bool:
    domain, _, name = value.partition("/")
    return (
        len(domain) <= LONGEST_ATTRIBUTE_DOMAIN
        and is_dns_subdomain(domain)
        and len(name) <= LONGEST_ATTRIBUTE_NAME
        and _IDENTIFIER.fullmatch(name) is not None
    )


def request_names(value: object, path: str) -> Iterator[Finding]:
    """Faults of names of requests, or of their alternatives, "gpu/large"."""
    if type(value) is not tuple:
        yield wrong_type(path, value, "a list of names of requests", 'write ["gpu"]')
        return
    for index, one in enumerate(value):
        wrong = tuple(_request_name(one, f"{path}[{index}]"))
        yield from wrong
        if not wrong and one in value[:index]:
            yield fault(
                "RepeatedRequestName",
                f"{path}[{index}]",
                "the request is named before, and the API server takes each name once",
                got=one,
                allowed="each name once",
                fix="leave the second one out",
                source=DRA_PAGE,
            )


def _request_name(value: object, path: str) -> Iterator[Finding]:
    return well_formed(
        value,
        path,
        lambda name: name.count("/") <= 1 and all(map(is_dns_label, name.split("/"))),
        code="MalformedName",
        message="no request has such a name",
        allowed='the name of a request, or "<request>/<alternative>"',
        fix="name a request of the claim",
        source=DRA_PAGE,
    )


def memory_faults(value: object, path: str) -> Iterator[Finding]:
    """The fault of a value that is no amount of memory of 1Mi or more."""
    allowed = "an amount of memory of at least 1Mi, such as 10Gi or 512Mi"
    malformed = tuple(
        well_formed(
            value,
            path,
            lambda text: amount_of(text) is not None,
            code="MalformedQuantity",
            message="this is no quantity of Kubernetes",
            allowed=allowed,
            fix='write a number and a suffix, "10Gi"',
            source=_QUANTITY_PAGE,
        )
    )
    yield from malformed
    amount = amount_of(value) if not malformed and isinstance(value, str) else None
    if amount is not None and amount < MIB:
        yield fault(
            "OutOfRange",
            path,
            "NVIDIA's driver counts memory by the mebibyte",
            got=value,
            allowed=allowed,
            fix="write 1Mi or more",
            source=_QUANTITY_PAGE,
        )


def labels(value: object, path: str) -> Iterator[Finding]:
    """The faults of what could not be copied as a mapping, and of its keys and values."""
    if not isinstance(value, FrozenDict):
        yield wrong_type(path, value, "a mapping of strings to strings", "write {key: value}")
        return
    for key, one in value.items():
        yield from label_key(key, f"{path}[{shown(key)}]")
        yield from label_value(one, f"{path}[{shown(key)}]")
