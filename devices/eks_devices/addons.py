"""The EKS managed add-ons that a fleet of accelerated nodes needs."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ._data import read_toml
from .findings import Finding, fault, meant
from .typecheck import is_token, members, path_step, wrong_type

Addons: TypeAlias = Collection[str] | Mapping[str, str | None]
"""Names of add-ons, or names with the versions to pin: {"vpc-cni": "v1.20.0-eksbuild.1"}."""

_VERSION = re.compile(r"v([0-9]{1,4})\.([0-9]{1,4})\.([0-9]{1,4})-eksbuild\.[0-9]{1,4}", re.ASCII)
_VERSION_FORM = "a version such as v1.20.0-eksbuild.1, or None for the default of EKS"
_VERSIONS = "https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeAddonVersions.html"
_MANY = "a list of names of add-ons, a mapping of names to versions, or None"


@dataclass(frozen=True, slots=True, kw_only=True)
class AddonIdentity:
    """The IAM permissions of an add-on, and the ServiceAccount whose Pods get them.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/add-ons-iam.html
    """

    service_account: str
    policy: str
    """Name of the AWS managed policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addon:
    """An EKS managed add-on.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html
    """

    name: str
    version: str | None = None
    """The pinned version; None for the default of EKS for the cluster's minor."""
    before_nodes: bool = False
    """Whether nodes come up right only when it is there first."""
    needs_nodes: bool = False
    """Whether it is degraded until a node without taints takes its Pods."""
    serves_identity: bool = False
    """Whether it hands out the roles of EKS Pod Identity."""
    identity: AddonIdentity | None = None
    """The role that it may get; None for an add-on that calls no AWS API."""
    configuration: str | None = None
    """Its configuration as JSON; None for its defaults."""


def chosen_addons(addons: Addons | None) -> tuple[Addon, ...]:
    """The add-ons that a user chose, in the order in which they are drawn.

    Args:
        addons: Names, or names with versions, without faults; every add-on if None.
    """
    known = [_addon(row) for row in _rows().values()]
    if addons is None:
        return tuple(known)
    versions = _versions(addons)
    return tuple(replace(one, version=versions[one.name]) for one in known if one.name in versions)


def addon_faults(addons: object, path: str = "addons") -> Iterator[Finding]:
    """Every fault of the add-ons that a user chose; None and an empty list have none."""
    if addons is None:
        return
    if isinstance(addons, Mapping):
        yield from _mapping_faults(addons, path)
        return
    names = members(addons)
    if names is None:
        yield wrong_type(path, addons, _MANY, f'pass a list, such as ["{next(iter(_rows()))}"]')
        return
    seen: set[str] = set()
    for index, name in enumerate(names):
        wrong = list(_name_faults(name, f"{path}[{index}]"))
        yield from wrong or _repeated(str(name), seen, f"{path}[{index}]")


def _mapping_faults(addons: Mapping[Any, Any], path: str) -> Iterator[Finding]:
    try:
        items = list(addons.items())
    except Exception:  # noqa: BLE001  (a mapping that cannot be read)
        yield wrong_type(path, addons, _MANY, "pass a dict")
        return
    for name, version in items:
        where = f"{path}[{path_step(name)}]"
        wrong = list(_name_faults(name, where))
        yield from wrong or _version_faults(_rows()[name], version, where)


def _name_faults(name: object, path: str) -> Iterator[Finding]:
    known = list(_rows())
    if not isinstance(name, str) or is_token(name):
        yield wrong_type(path, name, f"one of {', '.join(known)}", "write the name of an add-on")
    elif name not in known:
        yield fault(
            "UnknownAddon",
            path,
            "a fleet with accelerators does not depend on an add-on of this name",
            got=name,
            allowed=", ".join(known),
            fix=f"{meant(name, known)} use eks.CfnAddon for any other add-on".lstrip(),
            source=_VERSIONS,
        )


def _repeated(name: str, seen: set[str], path: str) -> Iterator[Finding]:
    if name in seen:
        yield fault(
            "RepeatedAddon",
            path,
            "the add-on stands in the list already",
            got=name,
            allowed="each add-on once",
            fix="leave one of the two out",
        )
    seen.add(name)


def _version_faults(row: Mapping[str, Any], version: object, path: str) -> Iterator[Finding]:
    if version is None:
        return
    if not isinstance(version, str) or is_token(version):
        yield wrong_type(path, version, _VERSION_FORM, "write the version as a text")
        return
    match = _VERSION.fullmatch(version)
    if match is None:
        yield fault(
            "MalformedAddonVersion",
            path,
            "this is not the form of a version of an EKS add-on",
            got=version,
            allowed=_VERSION_FORM,
            fix="copy one that `aws eks describe-addon-versions` lists for the cluster's minor",
            source=_VERSIONS,
        )
        return
    floor = read_toml("limits.toml")[row["limit"]] if "limit" in row else None
    if floor and tuple(map(int, match.groups())) < tuple(map(int, floor["oldest"].split("."))):
        yield fault(
            "AddonTooOld",
            path,
            floor["message"],
            got=version,
            allowed=f"v{floor['oldest']} or later",
            fix="pin a newer version, or None for the default of EKS",
            source=floor["source"],
        )


def _versions(addons: Addons) -> dict[str, str | None]:
    if isinstance(addons, Mapping):
        return dict(addons)
    return dict.fromkeys(addons)


@functools.cache
def _rows() -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in read_toml("addons.toml")["addon"]}


def _addon(row: Mapping[str, Any]) -> Addon:
    import json  # noqa: PLC0415  (kept off the import path of the package)

    configuration, identity = row.get("configuration"), row.get("identity")
    return Addon(
        name=row["name"],
        before_nodes=row.get("before_nodes", False),
        needs_nodes=row.get("needs_nodes", False),
        serves_identity=row.get("serves_identity", False),
        identity=AddonIdentity(**identity) if identity else None,
        configuration=json.dumps(configuration, sort_keys=True) if configuration else None,
    )
