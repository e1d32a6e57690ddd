"""IAM principals that get an access entry as administrators of a new cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from aws_cdk import Token
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from eks_devices import Finding
from eks_devices.cluster_rules import PRINCIPAL_FORM, principal_faults
from eks_devices.findings import fault
from eks_devices.typecheck import members, wrong_type

from .shapes import is_role
from .stable_names import identity, short_hash

_ENTRIES = "https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html"
_FORM = f"{PRINCIPAL_FORM}, a token, or an iam.IRole"


def administrator_faults(scope: Construct, administrators: object) -> Iterator[Finding]:
    """Every fault of the administrators of a new cluster."""
    given = members(administrators)
    if given is None:
        wanted = f"a list, each one {_FORM}"
        yield wrong_type("administrators", administrators, wanted, "pass a list of ARNs and roles")
        return
    seen: list[Any] = []
    for index, one in enumerate(given):
        path, arn = f"administrators[{index}]", _arn(one)
        if arn is None:
            fix = "pass the ARN of the role, or the role itself"
            yield wrong_type(path, one, _FORM, fix)
            continue
        wrong = [] if Token.is_unresolved(arn) else list(principal_faults(arn, path))
        known = _identity(scope, arn)
        if known is None:
            wrong = [_unknown_token(arn, path)]
        elif known in seen:
            wrong = [_repeated(arn, path)]
        seen.append(known)
        yield from wrong


def grant_administrators(cluster: eks.Cluster, administrators: Iterable[str | iam.IRole]) -> None:
    """Make the access entries, with ids that no reordering changes."""
    for one in administrators:
        arn = _arn(one)
        if arn is not None:
            id_ = f"Administrator{short_hash(identity(cluster, arn))}"
            cluster.grant_cluster_admin(id_, arn)


def _identity(scope: Construct, arn: str) -> Any:
    """What an ARN stands for, None for a token that no construct made."""
    try:
        return identity(scope, arn)
    except Exception:  # noqa: BLE001  (the CDK cannot resolve it, and says so in several ways)
        return None


def _arn(administrator: object) -> str | None:
    """The ARN of an administrator, None for what is none."""
    if isinstance(administrator, str):
        return str.__str__(administrator)
    return str(administrator.role_arn) if is_role(administrator) else None


def _repeated(arn: str, path: str) -> Finding:
    return fault(
        "RepeatedAdministrator",
        path,
        "a principal has one access entry, and this one stands in the list already",
        got=arn,
        allowed="each principal once",
        fix="leave one of the two out",
        source=_ENTRIES,
    )


def _unknown_token(arn: str, path: str) -> Finding:
    return fault(
        "UnknownToken",
        path,
        "no construct of this app stands behind the token",
        got=arn,
        allowed=f"{PRINCIPAL_FORM}, or a token of this app",
        fix="pass the attribute of the construct itself",
    )
