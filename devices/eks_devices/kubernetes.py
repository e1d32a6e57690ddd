"""Kubernetes minors as EKS offers them: which exist, what they serve, patch floors."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ._data import read_toml
from .findings import Finding, fault, info
from .typecheck import is_token, plain_text

_SHAPE = re.compile(r"1\.[1-9][0-9]?", re.ASCII)
# The minor in what people write: v1.36, 1.36.2, Kubernetes 1.36.
_WITHIN = re.compile(r"(?<![0-9.])1\.[1-9][0-9]?(?![0-9])", re.ASCII)
_VERSIONS_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesMinor:
    """One Kubernetes minor on EKS; dates are ISO texts, empty where none was seen."""

    version: str
    standard_support_ends: str
    extended_support_ends: str
    resource_api_versions: tuple[str, ...]
    note: str
    source: str

    @property
    def serves_dra(self) -> bool:
        """Whether the minor serves `resource.k8s.io/v1`, the only version that we emit."""
        return "v1" in self.resource_api_versions


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchFloor:
    """The first patch of each minor that a use needs, on nodes or on the control plane."""

    id: str
    where: str
    patches: dict[str, int]
    needed_for: str
    why: str
    source: str


def version_key(version: str) -> tuple[int, int]:
    """Sorts and compares minors: "1.9" is below "1.34"."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def _minor(version: str, row: dict[str, Any]) -> KubernetesMinor:
    return KubernetesMinor(
        version=version,
        standard_support_ends=str(row.get("standard_support_ends", "")),
        extended_support_ends=str(row.get("extended_support_ends", "")),
        resource_api_versions=tuple(row["resource_api_versions"]),
        note=row.get("note", ""),
        source=row["source"],
    )


@functools.cache
def minors() -> dict[str, KubernetesMinor]:
    """Every minor that this library knows, oldest first."""
    rows = read_toml("kubernetes.toml")["minors"]
    return {version: _minor(version, rows[version]) for version in sorted(rows, key=version_key)}


@functools.cache
def floors() -> dict[str, PatchFloor]:
    """The patch floors by id."""
    rows = read_toml("kubernetes.toml")["floors"]
    names = PatchFloor.__slots__
    return {row["id"]: PatchFloor(**{name: row[name] for name in names}) for row in rows}


def gate_is_on(gate: str, version: str) -> bool:
    """Whether EKS has an upstream feature gate on: GA and beta-by-default gates only."""
    return read_toml("kubernetes.toml")["gates"][gate][version] in ("beta", "ga")


def newest_minor() -> str:
    """The newest minor that this library knows."""
    return next(reversed(minors()))


def find_minor(value: object, path: str) -> KubernetesMinor | Finding:
    """The minor that a user names, or the fault of the name."""
    value = plain_text(value)
    if isinstance(value, str) and value in minors():
        return minors()[value]
    allowed = f"a text, one of {', '.join(minors())}"
    if not isinstance(value, str):
        message, code = (
            "a Kubernetes version is a text (1.30 as a number loses its zero)",
            "WrongType",
        )
    elif is_token(value):
        message, code = (
            "rules read the Kubernetes version, so it cannot be a token",
            "TokenNotAllowed",
        )
    else:
        message, code = _unknown(value), "UnsupportedKubernetesVersion"
    written = _WITHIN.search(value) if isinstance(value, str) else None
    meant_minor = written[0] if written and written[0] in minors() else ""
    example = f'"{meant_minor}"' if meant_minor else f'for example "{newest_minor()}"'
    fix = f"write the minor, {example}"
    return fault(code, path, message, got=value, allowed=allowed, fix=fix, source=_VERSIONS_PAGE)


def _unknown(value: str) -> str:
    if not _SHAPE.fullmatch(value):
        return "a Kubernetes version is a minor, without a patch or a prefix"
    if version_key(value) < version_key(next(iter(minors()))):
        return "this Kubernetes version is older than this library serves"
    return "this library does not know this Kubernetes version yet"


def dra_faults(minor: KubernetesMinor, path: str, *, allowed: str = "") -> Iterator[Finding]:
    """The fault of a minor that does not serve `resource.k8s.io/v1`."""
    if minor.serves_dra:
        return
    row = next(one for one in read_toml("support.toml")["rule"] if one["id"] == "dra-below-1.34")
    served = ", ".join(one.version for one in minors().values() if one.serves_dra)
    yield fault(
        "DraBelow134",
        path,
        row["message"],
        got=minor.version,
        allowed=allowed or served,
        fix="use Kubernetes 1.34 or later",
        source=row["source"],
    )


def support_findings(minor: KubernetesMinor, path: str) -> tuple[Finding, ...]:
    """States when EKS support of a minor ends; nothing is compared with today."""
    ends = minor.standard_support_ends
    if not ends:
        text = f"EKS support dates of Kubernetes {minor.version} are not known: {minor.note}"
        return (info("KubernetesSupportUnknown", path, text, source=minor.source),)
    extended = minor.extended_support_ends
    text = f"standard support of Kubernetes {minor.version} on EKS ends {ends}; extended support "
    text += f"ends {extended} and costs more" if extended else "follows and costs more"
    fix = "plan the upgrade, or accept the price of extended support"
    return (info("KubernetesSupportEnds", path, text, fix=fix, source=minor.source),)
