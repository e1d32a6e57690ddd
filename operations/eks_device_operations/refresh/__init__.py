"""The verb `refresh`: brings the instance catalogue up to date with DescribeInstanceTypes."""

from .command import run_refresh
from .instance_types import RefreshResult, refresh_instance_types

__all__ = ["RefreshResult", "refresh_instance_types", "run_refresh"]
