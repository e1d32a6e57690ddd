"""The verb `check`: whether the node groups of a plan can serve the Pods of manifests."""

from .command import check_files

__all__ = ["check_files"]
