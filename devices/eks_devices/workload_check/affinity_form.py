"""Node affinity of Pods that the API server refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .._yaml_text import AsYaml, wrong_in_manifest
from ..findings import Finding, fault, meant
from ..syntax import is_label_key, is_label_value
from ..typecheck import is_token
from .documents import Steps, mapping, mappings, path_of, sequence

Told = tuple[Steps, Finding]

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_TERMS: Final = "nodeSelectorTerms"
_EXPRESSIONS: Final = "matchExpressions"
_FIELDS: Final = "matchFields"
_LABELS: Final = "matchLabels"
_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_PARTS: Final = ("nodeAffinity", "podAffinity", "podAntiAffinity")
_NAME: Final = "metadata.name"
_EXACT: Final = ("In", "NotIn")
_OF_EXPRESSION: Final = ("key", "operator", "values")
_PREFERENCE: Final = ("weight", "preference")
_OF_TERM: Final = (_EXPRESSIONS, _FIELDS)
_HEAVIEST: Final = 100
_A_TERM: Final = f"write - {_EXPRESSIONS}: [{{key: ..., operator: In, values: [...]}}]"
_PAGE: Final = "https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/"


def affinity_faults(spec: Mapping[str, Any]) -> Iterator[Told]:
    """What the API server has against the node affinity of a Pod, with the steps to it.

    Args:
        spec: The Pod's spec.
    """
    at: Steps = ("affinity",)
    yield from _of_mapping(spec.get("affinity"), at, _PARTS, "write nodeAffinity: below it")
    nodes = mapping(spec, "affinity").get("nodeAffinity")
    at = (*at, "nodeAffinity")
    yield from _of_mapping(nodes, at, (REQUIRED, _PREFERRED), f"write {REQUIRED}: below it")
    known = nodes if isinstance(nodes, Mapping) else {}
    if known.get(REQUIRED) is not None:
        yield from _of_required(known[REQUIRED], (*at, REQUIRED))
    yield from _of_list(known.get(_PREFERRED), (*at, _PREFERRED), "write - weight: 1, preference:")
    for index, one in mappings(known, _PREFERRED):
        yield from _of_preferred(one, (*at, _PREFERRED, index))


def _of_required(required: Any, at: Steps) -> Iterator[Told]:
    below = f"write {_TERMS}: below it, and the list of terms there"
    yield from _of_mapping(required, at, (_TERMS,), below)
    if not isinstance(required, Mapping):
        return
    terms = required.get(_TERMS)
    if not terms and not is_token(terms):
        yield _malformed((*at, _TERMS), terms, "a list with a term at least", _A_TERM)
    yield from _of_list(terms, (*at, _TERMS), _A_TERM)
    for index, one in mappings(required, _TERMS):
        yield from _of_term(one, (*at, _TERMS, index))
        for place, expression in mappings(one, _EXPRESSIONS):
            yield from _no_labels(expression, (*at, _TERMS, index, _EXPRESSIONS, place, "values"))


def _no_labels(expression: Mapping[str, Any], at: Steps) -> Iterator[Told]:
    """Values that no label has; of what is preferred the API server takes them."""
    for index, value in enumerate(sequence(expression, "values")):
        if isinstance(value, str) and not (is_token(value) or is_label_value(value)):
            fix = "write it as nodes have it, in letters, digits, '-', '_' and '.'"
            yield _malformed((*at, index), value, "the value of a label", fix)


def _of_preferred(one: Mapping[str, Any], at: Steps) -> Iterator[Told]:
    for name in one:
        if name not in (*_PREFERENCE, *_OF_TERM) and not is_token(name):
            yield _unknown((*at, name), name, _PREFERENCE, "")
        elif name in _OF_TERM:
            yield _unknown((*at, name), name, _PREFERENCE, "put it below preference:")
    weight = one.get("weight")
    if not is_token(weight) and not (type(weight) is int and 0 < weight <= _HEAVIEST):
        yield _malformed((*at, "weight"), weight, f"a number from 1 to {_HEAVIEST}", "write 1")
    term = one.get("preference")
    if term is None or isinstance(term, Mapping):
        yield from _of_term(term or {}, (*at, "preference"))
    else:
        fix = f"write {_EXPRESSIONS}: below it"
        yield from _of_mapping(term, (*at, "preference"), (), fix)


def _of_term(term: Mapping[str, Any], at: Steps) -> Iterator[Told]:
    for name in term:
        if name not in (_EXPRESSIONS, _FIELDS):
            yield _unknown(
                (*at, name), name, (_EXPRESSIONS, _FIELDS), _expression_meant(term, name)
            )
    fix = "write - key: ..., operator: In, values: [...]"
    for field, of_entry in ((_EXPRESSIONS, _of_expression), (_FIELDS, _of_field)):
        yield from _of_list(term.get(field), (*at, field), fix)
        for index, one in mappings(term, field):
            yield from of_entry(one, (*at, field, index))


def _of_field(one: Mapping[str, Any], at: Steps) -> Iterator[Told]:
    """Of fields of nodes the name alone is there, one at a time."""
    yield from _of_mapping(one, at, _OF_EXPRESSION, "")
    key, operator, values = (one.get(name) for name in _OF_EXPRESSION)
    if key != _NAME and not is_token(key):
        fix = f"write key: {_NAME}, or select by a label below {_EXPRESSIONS}:"
        yield _malformed((*at, "key"), key, _NAME, fix)
    if operator not in _EXACT and not is_token(operator):
        yield _malformed((*at, "operator"), operator, ", ".join(_EXACT), "write operator: In")
    yield from _of_list(values, (*at, "values"), "write values: [...]", entries="texts")
    if not is_token(values) and (not isinstance(values, (list, tuple)) or len(values) != 1):
        fix = "write one name, and other names in terms of their own"
        yield _malformed((*at, "values"), values, "one value", fix)


def _expression_meant(term: Mapping[str, Any], name: str) -> str:
    """What to write for a field that a term does not have; empty where nobody knows."""
    if name == _LABELS and mapping(term, name):
        pairs = mapping(term, name).items()
        some = [{"key": key, "operator": "In", "values": [value]} for key, value in pairs]
        return f"write {_EXPRESSIONS}: {AsYaml(some)!r}"
    if name in _OF_EXPRESSION:
        return f"write it below {_EXPRESSIONS}:, as - key: ..., operator: ..., values: [...]"
    return ""


def _of_expression(one: Mapping[str, Any], at: Steps) -> Iterator[Told]:
    yield from _of_mapping(one, at, _OF_EXPRESSION, "")
    key, operator = one.get("key"), one.get("operator")
    if not is_token(key) and not (isinstance(key, str) and is_label_key(key)):
        yield _malformed((*at, "key"), key, "the key of a label", "write the key of a label")
    if operator not in _OPERATORS and not is_token(operator):
        yield _no_operator((*at, "operator"), operator)
    yield from _of_values(one, (*at, "values"))


def _of_values(one: Mapping[str, Any], at: Steps) -> Iterator[Told]:
    values, operator = one.get("values"), one.get("operator")
    if isinstance(values, str) and not is_token(values):
        yield _wrong(at, values, "a list", f"write values: {AsYaml([values])!r}")
        return
    yield from _of_list(values, at, "write values: [...]", entries="texts")
    given = len(values) if isinstance(values, (list, tuple)) else 0
    if is_token(values):
        return
    if operator in _EXACT and not given:
        fix = "write the values, or operator: Exists for any"
        yield _malformed(at, values, f"a value at least beside {operator}", fix)
    elif operator in ("Exists", "DoesNotExist") and given:
        other = "In" if operator == "Exists" else "NotIn"
        fix = f"leave the values out, or write operator: {other}"
        yield _malformed(at, values, f"no values beside {operator}", fix)
    elif operator in ("Gt", "Lt") and given != 1:
        yield _malformed(at, values, f"one value beside {operator}", 'write values: ["1"]')


def _of_list(value: Any, at: Steps, fix: str, *, entries: str = "mappings") -> Iterator[Told]:
    """The faults of a value, if there is one, that is to be a list of mappings, or of texts."""
    if value is None or is_token(value):
        return
    if not isinstance(value, (list, tuple)):
        yield _wrong(at, value, f"a list of {entries}", fix)
        return
    kind = Mapping if entries == "mappings" else str
    for index, one in enumerate(value):
        if not isinstance(one, kind) and not is_token(one):
            of_text = "write it in quotes" if kind is str else fix
            yield _wrong((*at, index), one, "a mapping" if kind is Mapping else "a text", of_text)


def _of_mapping(value: Any, at: Steps, fields: tuple[str, ...], fix: str) -> Iterator[Told]:
    """The faults of a value, if there is one, that is to be a mapping of some fields."""
    if value is None or is_token(value):
        return
    if not isinstance(value, Mapping):
        yield _wrong(at, value, "a mapping", fix)
        return
    for name in value:
        if name not in fields and not is_token(name):
            yield _unknown((*at, name), name, fields, "")


def _no_operator(steps: Steps, operator: object) -> Told:
    return steps, fault(
        "MalformedAffinity",
        path_of(steps),
        "the API server knows no such operator",
        got=AsYaml(operator),
        allowed=", ".join(_OPERATORS),
        fix=(meant(operator, _OPERATORS) if operator else "") or "write In, with values:",
        source=_PAGE,
    )


def _malformed(steps: Steps, got: Any, allowed: str, fix: str) -> Told:
    return _refused(steps, "MalformedAffinity", got, allowed, fix)


def _unknown(steps: Steps, name: Any, known: tuple[str, ...], fix: str) -> Told:
    told = fix or meant(name, known) or "leave it out"
    return _refused(steps, "UnknownField", name, ", ".join(known), told)


def _refused(steps: Steps, code: str, got: Any, allowed: str, fix: str) -> Told:
    message = "the API server takes no such node affinity"
    return steps, fault(
        code, path_of(steps), message, got=AsYaml(got), allowed=allowed, fix=fix, source=_PAGE
    )


def _wrong(steps: Steps, value: Any, wanted: str, fix: str) -> Told:
    return steps, wrong_in_manifest(path_of(steps), value, wanted, fix)
