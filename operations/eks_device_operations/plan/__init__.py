"""The verb `plan`: what the clusters of a cloud assembly will get, and what is worth knowing."""

from .command import show_plan

__all__ = ["show_plan"]
