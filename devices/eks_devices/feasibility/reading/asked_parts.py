"""Reads the parts of what a claim asks for: selectors, amounts, tolerations, constraints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..._frozen import FrozenDict
from ...findings import meant
from ...quantities import amount_meant
from ...typecheck import path_step
from ..slices import amount
from ..wanted import Toleration
from .form_reader import UNREAD, FormReader

_MOST_SELECTORS: Final = 32
# The server does not count them, though its documentation does.
_MOST_TOLERATIONS: Final = 1024
_OPERATORS: Final = ("Equal", "Exists")
_TEXTS: Final = ("key", "operator", "value", "effect")
_ATTRIBUTES: Final = ("matchAttribute", "distinctAttribute")
_CONSTRAINT_FIELDS: Final = ("requests", *_ATTRIBUTES)
_SELECTOR: Final = 'write - cel: {expression: "..."}'
_AMOUNTS: Final = "write capacity: {requests: {memory: 10Gi}}"
_TOLERATION: Final = "write - key: ..., and operator: Exists"
_ATTRIBUTE: Final = (
    "write matchAttribute: resource.kubernetes.io/pcieRoot, or what the devices are to share"
)


class PartReader(FormReader):
    """Reads parts of claims, and collects the faults of them."""

    def selectors(self, value: Any, at: str) -> tuple[str, ...]:
        """The expressions of a list of selectors."""
        found = []
        listed = self.sequence(
            value, at, most=_MOST_SELECTORS, fix=_SELECTOR, fewer="join expressions by &&"
        )
        for index, one in enumerate(listed):
            place = f"{at}[{index}]"
            given = self.mapping(one, place, fix=_SELECTOR)
            if "cel" not in given and given is not UNREAD:
                self.fault("cel", place, sorted(given), "an expression below cel", fix=_SELECTOR)
                given = UNREAD
            cel = self.mapping(given.get("cel"), f"{place}.cel", fix=_SELECTOR)
            found.append(self.named(cel, "expression", f"{place}.cel", fix=_SELECTOR))
        return tuple(found)

    def amounts(self, value: Any, at: str) -> FrozenDict[str, Any]:
        """What is asked for of capacities; nothing where the server drops that."""
        if value is None:
            return FrozenDict()
        asked = self.mapping(value, at, fix=_AMOUNTS).get("requests")
        given = self.mapping({} if asked is None else asked, f"{at}.requests", fix=_AMOUNTS)
        found = {}
        for name, one in given.items():
            try:
                # The server takes these for nothing.
                found[name] = amount(0 if one in (None, "-", "+") else one)
            except ValueError:
                fix = amount_meant(one)
                self.fault(
                    path_step(name), f"{at}.requests", one, "a quantity such as 10Gi", fix=fix
                )
        return FrozenDict() if "capacity" in self.api.dropped else FrozenDict(found)

    def tolerations(self, value: Any, at: str) -> Iterator[Toleration]:
        """What taints of devices a request puts up with; none where the server drops that."""
        fix = "write a list: - key: ..."
        for index, one in enumerate(self.sequence(value, at, most=_MOST_TOLERATIONS, fix=fix)):
            place = f"{at}[{index}]"
            given = self.mapping({} if one is None else one, place, fix=_TOLERATION)
            words = [self._word(given, name, place) for name in _TEXTS]
            if "tolerations" not in self.api.dropped:
                yield self._toleration(words, place)

    def _word(self, toleration: Mapping[str, Any], name: str, at: str) -> str:
        value = toleration.get(name)
        if value is None or value is UNREAD or value == "":
            return ""
        return self.text(value, f"{at}.{name}", fix="write a text")

    def _toleration(self, words: list[str], at: str) -> Toleration:
        key, operator, value, effect = words
        operator = operator or _OPERATORS[0]
        self.one_of(operator, f"{at}.operator", _OPERATORS)
        if effect:
            self.one_of(effect, f"{at}.effect", self.api.effects)
        is_any = operator == _OPERATORS[1]
        if value and is_any:
            fix = "leave the value out, or write operator: Equal"
            self.fault("value", at, value, "no value beside operator: Exists", fix=fix)
        return Toleration(key, is_any, value, effect)

    def attribute(self, constraint: Mapping[str, Any], at: str) -> str | None:
        """The attribute that a constraint is about; None where a fault of it is told.

        Beside matchAttribute the server does not look at distinctAttribute.
        """
        given = {name: one for name in _ATTRIBUTES if (one := constraint.get(name)) is not None}
        if not given:
            self._no_attribute(constraint, at)
            return None
        first, *idle = given
        attribute = self.text(given[first], f"{at}.{first}", fix=_ATTRIBUTE)
        for name in idle:
            if given[name] != "" and not self.text(given[name], f"{at}.{name}", fix=_ATTRIBUTE):
                return None
        return attribute or None

    def _no_attribute(self, constraint: Mapping[str, Any], at: str) -> None:
        strange = (one for one in constraint if one not in _CONSTRAINT_FIELDS)
        written = next((one for one in strange if meant(one, _ATTRIBUTES)), None)
        if written is not None:
            self.misspelt(written, at, _ATTRIBUTES)
            return
        allowed = "an attribute that the devices share"
        self.fault(_ATTRIBUTES[0], at, sorted(constraint), allowed, fix=_ATTRIBUTE)
