"""What is wrong with Pods beside their claims: each rule looks at one Pod template."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ...findings import Finding
from ..documents import Steps
from .context import Context

Rule = Callable[[Context], Iterator[tuple[Steps, Finding]]]
"""Findings of a Pod template, each with the steps to its place from the Pod's spec."""

RULES: Final[tuple[Rule, ...]] = ()
"""All rules, in the order in which they tell."""

__all__ = ["RULES", "Context", "Rule"]
