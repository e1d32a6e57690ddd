"""Objects that stand twice in the files and cannot be changed from one into the other. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from eks_devices.names import CLAIM_KIND, TEMPLATE_KIND

from .files import Item
from .send import Refusal
from .workloads import Workload

_NEVER_CHANGED: Final = (CLAIM_KIND, TEMPLATE_KIND)

Key = tuple[str, str, str, str]


class Repeated:
    """Takes out what another object of the same kind and name stands before.

    What is the same once more is no fault, and what kubectl may change (a ConfigMap, a namespace)
    is sent again.

    Attributes:
        refusals: What differs from what stands before, with the place of that.
    """

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        self._first: dict[Key, Item] = {}
        self.refusals: list[Refusal] = []

    def workloads(self, workloads: Iterable[Workload]) -> list[Workload]:
        """The workloads of which none stands before.

        Args:
            workloads: All of them, in the order of the files.
        """
        return [one for one in workloads if self._is_first(one.item)]

    def others(self, items: Sequence[Item]) -> list[Item]:
        """The objects without claims and templates of claims that one stands before.

        Args:
            items: All objects that are no workloads.
        """
        return [one for one in items if one.kind not in _NEVER_CHANGED or self._is_first(one)]

    def _is_first(self, item: Item) -> bool:
        if not item.content["metadata"].get("name"):
            return True  # the server makes a name for each
        space = item.namespace or self._namespace
        first = self._first.setdefault((item.api_group, item.kind, space, item.name), item)
        if first is not item and first.content != item.content:
            message = f"{item.kind} {space}/{item.name} stands already at {first.place}"
            self.refusals.append(Refusal(item=item, line=item.line(), message=message))
        return first is item
