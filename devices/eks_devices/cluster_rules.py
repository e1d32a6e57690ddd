"""Rules of EKS for a new cluster: its name, the addresses of Services, who may have access."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from ._data import read_toml
from .findings import Finding, fault
from .syntax import ipv4_range
from .typecheck import is_token, wrong_type

if TYPE_CHECKING:
    from ipaddress import IPv4Network

PRINCIPAL_FORM: Final = "the ARN of an IAM role or user"

_NAME = re.compile(r"[0-9A-Za-z][A-Za-z0-9_-]{0,99}", re.ASCII)
_NAME_FORM = "1 to 100 letters, digits, '-' or '_', or a token"
_PRINCIPAL = re.compile(
    r"arn:aws(?:-[a-z0-9]+)*:iam::[0-9]{12}:(?:role|user)/[\w+=,.@/-]{1,576}", re.ASCII
)
_SERVICE_ROLE = ":role/aws-service-role/"


def cluster_name_faults(
    name: object, path: str, *, fix: str = "shorten or respell the name, or leave it out"
) -> Iterator[Finding]:
    """The fault of a name that EKS takes for no cluster; nothing of ours reads it.

    Args:
        name: What the user gave; a token is not judged.
        path: Names the input in the fault.
        fix: What to change; a new name for a new cluster unless named.

    Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html
    """
    if is_token(name):
        return
    if not isinstance(name, str):
        yield wrong_type(path, name, _NAME_FORM, fix)
    elif not _NAME.fullmatch(name):
        yield fault(
            "MalformedClusterName",
            path,
            "EKS takes no cluster of such a name",
            got=name,
            allowed=_NAME_FORM,
            fix=fix,
            source=read_toml("cluster.toml")["name"]["source"],
        )


def service_cidr_faults(
    cidr: object,
    path: str,
    vpc_ranges: Iterable[str] = (),
    *,
    fix: str = "choose another range, or leave it out",
) -> Iterator[Finding]:
    """The fault of a range of addresses that EKS takes for no Services.

    Args:
        cidr: What the user gave; a token is not judged.
        path: Names the input in the fault.
        vpc_ranges: The address ranges of the network, as far as they are known.
        fix: What to change; another range for a new cluster unless named.

    Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html
    """
    if is_token(cidr):
        return
    rule = read_toml("cluster.toml")["service_cidr"]
    allowed = f"a range from /{rule['widest']} to /{rule['narrowest']} within "
    allowed += " or ".join(rule["blocks"])
    if not isinstance(cidr, str):
        yield wrong_type(path, cidr, allowed, fix)
        return
    message = _service_cidr_message(cidr, rule, vpc_ranges)
    if message:
        yield fault(
            "MalformedCidr",
            path,
            message,
            got=cidr,
            allowed=f"{allowed}, outside the VPC",
            fix=fix,
            source=rule["source"],
        )


def _service_cidr_message(cidr: str, rule: Mapping[str, Any], vpc_ranges: Iterable[str]) -> str:
    """What is wrong with a range of addresses; empty where nothing is."""
    network = _network(cidr)
    if ":" in cidr:
        return "this is for clusters with IPv4 addresses: EKS itself gives others their Services"
    if network is None:
        return "this is no range of IPv4 addresses, or its address is not the first one"
    if not rule["widest"] <= network.prefixlen <= rule["narrowest"]:
        return "EKS takes no range of this size for Services"
    if not any(
        block is not None and network.subnet_of(block) for block in map(_network, rule["blocks"])
    ):
        return "EKS takes private addresses only for Services"
    known = (one for one in map(_network, vpc_ranges) if one is not None)
    if any(network.overlaps(one) for one in known):
        return "the addresses of Services overlap with those of the VPC"
    return ""


def _network(cidr: str) -> IPv4Network | None:
    """A range of addresses; None for what is none, or does not begin with its first address."""
    from ipaddress import IPv4Network  # noqa: PLC0415  (kept off the import path of the package)

    try:
        return IPv4Network(cidr) if ipv4_range(cidr) else None
    except ValueError:
        return None


def principal_faults(arn: str, path: str) -> Iterator[Finding]:
    """The fault of a literal ARN that no access entry can be for.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
    """
    if _PRINCIPAL.fullmatch(arn) is None or _SERVICE_ROLE in arn:
        yield fault(
            "MalformedPrincipalArn",
            path,
            "an access entry is for an IAM role or user: for no session, group or account, and "
            "for no role of a service",
            got=arn,
            allowed=PRINCIPAL_FORM,
            fix="for sts::...:assumed-role/NAME/SESSION write iam::...:role/NAME, with its path",
            source=read_toml("cluster.toml")["access_entries"]["source"],
        )
