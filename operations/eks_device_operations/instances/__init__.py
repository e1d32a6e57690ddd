"""The verb `instances`: which types there are, and everything about the ones that are named."""

from .command import show_instances

__all__ = ["show_instances"]
