"""What of an expression the API server of a Kubernetes minor does not know yet."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...kubernetes import gate_is_on, minors, version_key
from .form import bare
from .signatures import gated_fields, later_functions


def not_there_yet(text: str, version: str) -> tuple[str, str] | None:
    """Why the API server of a minor refuses what newer ones take, and what to do; or None.

    Args:
        text: The expression.
        version: The minor.
    """
    return next(_reasons(bare(text), version), None)


def later_function(text: str, version: str) -> str:
    """A function in an expression, or an advice, that a minor does not have yet; or nothing."""
    return next(_later(bare(text), version), ("", ""))[0]


def _later(stripped: str, version: str) -> Iterator[tuple[str, str]]:
    for since, names in later_functions().items():
        for name in names if version_key(version) < version_key(since) else ():
            # Of a member the value is in front.
            before = r"(?<![\w.])" if "." in name else r"\.\s*"
            written = r"\s*\.\s*".join(map(re.escape, name.split(".")))
            if re.search(rf"{before}{written}\s*\(", stripped):
                yield name, since


def _reasons(stripped: str, version: str) -> Iterator[tuple[str, str]]:
    for name, since in _later(stripped, version):
        told = f"the function {name} is there from Kubernetes {since} on"
        yield told, f"do without {name}, or upgrade the cluster to {since}"
    for field, gate in gated_fields().items():
        is_read = re.search(rf"(?<![\w.])device\s*\.\s*{field}\b", stripped)
        if is_read and not gate_is_on(gate, version):
            since = next((one for one in minors() if gate_is_on(gate, one)), "a later minor")
            told = f"Kubernetes {version} on EKS has no device.{field}, for {gate} is off"
            yield told, f"leave device.{field} out, or upgrade the cluster to {since}"
