"""User data of a node: what a user gives, what the plan adds, and where the two disagree."""

from __future__ import annotations

from .access import ClusterAccess
from .conflicts import user_data_conflicts
from .given import UserData, user_data_faults
from .joining import access_faults, user_data
from .size import user_data_size_faults

__all__ = [
    "ClusterAccess",
    "UserData",
    "access_faults",
    "user_data",
    "user_data_conflicts",
    "user_data_faults",
    "user_data_size_faults",
]
