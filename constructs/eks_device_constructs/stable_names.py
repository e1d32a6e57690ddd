"""Names and ids that change exactly when what they stand for does."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from aws_cdk import Reference, Stack, Token, Tokenization
from constructs import Construct

# EKS takes 63 characters; a hyphen and the hash need nine.
_LONGEST_ID = 54


def identity(scope: Construct, value: str) -> Any:
    """A literal as it is, or what its token stands for: a token's text is a running counter."""
    if not Token.is_unresolved(value):
        return value
    return [*_owners(value), Stack.of(scope).resolve(value)]


def _owners(value: str) -> list[str]:
    """The stacks of the resources that a token is of: two stacks may use one logical id."""
    tokens = Tokenization.reverse_string(value).tokens
    return [Stack.of(one.target).node.addr for one in tokens if isinstance(one, Reference)]


def nodegroup_name(id: str, parts: Any) -> str:  # noqa: A002  (the CDK's own name for it)
    """The name in EKS of a group; it changes exactly when one of the parts does.

    Args:
        id: The id of the group, with which the name begins.
        parts: What EKS cannot change in place, and what tells groups of one id apart, as JSON
            values.
    """
    return f"{id[:_LONGEST_ID]}-{short_hash(parts)}"


def short_hash(identities: Any) -> str:
    """Eight hexadecimal digits that stand for JSON values."""
    text = json.dumps(identities, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]
