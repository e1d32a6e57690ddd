"""What values look like: jsii's interfaces have no class that `isinstance` could ask for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeGuard

from aws_cdk import aws_iam as iam


def has(value: object, name: str) -> bool:
    """Whether a value has an attribute; hostile ones, and imported networks, may raise."""
    try:
        return getattr(value, name, None) is not None
    except Exception:  # noqa: BLE001  (whatever it raises, the attribute is not there)
        return False


def is_role(value: Any) -> TypeGuard[iam.IRole]:
    """Whether a value is an IAM role, imported or not."""
    return has(value, "role_arn") and isinstance(value.role_arn, str)


def members(values: object) -> list[Any] | None:
    """The members of a list or set, None for what is neither."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Collection):
        return None
    try:
        return list(values)
    except Exception:  # noqa: BLE001  (a collection that cannot be read)
        return None
