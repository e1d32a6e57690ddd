"""Bring the generated instance catalogue up to date with EC2's DescribeInstanceTypes."""

from .errors import InvalidAnswerError, NoAnswerError, RefreshError
from .instance_types import RefreshResult, refresh_instance_types

__all__ = [
    "InvalidAnswerError",
    "NoAnswerError",
    "RefreshError",
    "RefreshResult",
    "refresh_instance_types",
]
