"""Node affinity that API servers take, and that they refuse: names, values and what is told."""

from __future__ import annotations

from typing import Any

KEY = "eks-devices/nodegroup"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
NAMED = {"key": KEY, "operator": "In", "values": ["p5"]}
TERM = {"matchExpressions": [NAMED]}


def expression(**fields: Any) -> Any:
    """Required affinity of one expression, without the fields that are None."""
    one = {key: value for key, value in ({**NAMED, **fields}).items() if value is not None}
    return required([{"matchExpressions": [one]}])


def fields(**given: Any) -> Any:
    """Required affinity by a field of nodes, without the parts that are None."""
    one = {"key": "metadata.name", "operator": "In", "values": ["a"], **given}
    kept = {key: value for key, value in one.items() if value is not None}
    return required([{"matchFields": [kept]}])


def required(terms: Any) -> Any:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}


def preferred(**fields: Any) -> Any:
    return {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": TERM, **fields}]}}


FINE = {
    "In": expression(),
    "NotIn": expression(operator="NotIn", values=["g6"]),
    "Exists": expression(operator="Exists", values=None),
    "Exists, empty values": expression(operator="Exists", values=[]),
    "DoesNotExist": expression(key="other", operator="DoesNotExist", values=None),
    "no affinity": None,
    "nothing in it": {},
    "no node affinity": {"nodeAffinity": None},
    "the name of a node": required(
        [{"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["a"]}]}]
    ),
    "other affinity": {"podAffinity": {}, "podAntiAffinity": {}},
    "preferred": preferred(),
    "a preference for what no label has": preferred(
        preference={"matchExpressions": [{**NAMED, "values": ["-p5"]}]}
    ),
    "an empty preference": preferred(preference={}),
    "both": {**preferred(), "nodeAffinity": {**preferred()["nodeAffinity"], REQUIRED: None}},
}

LABELS = [{"matchLabels": {KEY: "p5"}}]
AS_EXPRESSION = f"write matchExpressions: [{{key: {KEY}, operator: In, values: [p5]}}]"
WRONG: dict[str, tuple[Any, str, Any, str]] = {
    "an operator in small letters": (
        expression(operator="in"),
        "MalformedAffinity",
        "operator",
        "did you mean In?",
    ),
    "an operator of Python": (
        expression(operator="=="),
        "MalformedAffinity",
        "operator",
        "write In, with values:",
    ),
    "no operator": (expression(operator=None), "MalformedAffinity", "operator", "write In"),
    "In without values": (
        expression(values=None),
        "MalformedAffinity",
        "values",
        "operator: Exists",
    ),
    "In with no value": (expression(values=[]), "MalformedAffinity", "values", "operator: Exists"),
    "Exists with values": (
        expression(operator="Exists"),
        "MalformedAffinity",
        "values",
        "leave the values out, or write operator: In",
    ),
    "DoesNotExist with values": (
        expression(operator="DoesNotExist"),
        "MalformedAffinity",
        "values",
        "operator: NotIn",
    ),
    "Gt with two values": (
        expression(operator="Gt", values=["1", "2"]),
        "MalformedAffinity",
        "values",
        'values: ["1"]',
    ),
    "values that are a text": (expression(values="p5"), "WrongType", "values", "values: [p5]"),
    "a value that is a number": (expression(values=[5]), "WrongType", 0, "in quotes"),
    "a value that no label has": (
        expression(values=["-p5", "p5"]),
        "MalformedAffinity",
        0,
        "as nodes have it",
    ),
    "no key": (expression(key=None), "MalformedAffinity", "key", "key of a label"),
    "a key that is none": (expression(key="a b"), "MalformedAffinity", "key", "key of a label"),
    "a field that is none": (expression(value="p5"), "UnknownField", "value", "mean values?"),
    "no terms": (required([]), "MalformedAffinity", "nodeSelectorTerms", "matchExpressions"),
    "terms that are none": (required(None), "MalformedAffinity", "nodeSelectorTerms", "write -"),
    "a term that is no list": (required(TERM), "WrongType", "nodeSelectorTerms", "write -"),
    "required as a list": (
        {"nodeAffinity": {REQUIRED: [TERM]}},
        "WrongType",
        REQUIRED,
        "write nodeSelectorTerms: below it",
    ),
    "required without terms": (
        {"nodeAffinity": {REQUIRED: TERM}},
        "UnknownField",
        "matchExpressions",
        "",
    ),
    "matchLabels": (required(LABELS), "UnknownField", "matchLabels", AS_EXPRESSION),
    "an expression as a term": (
        required([NAMED]),
        "UnknownField",
        "key",
        "write it below matchExpressions:",
    ),
    "expressions as a mapping": (
        required([{"matchExpressions": NAMED}]),
        "WrongType",
        "matchExpressions",
        "write - key:",
    ),
    "terms beside it": (
        {"nodeAffinity": {"nodeSelectorTerms": [TERM]}},
        "UnknownField",
        "nodeSelectorTerms",
        "",
    ),
    "a misspelt rule": (
        {"nodeAffinity": {"requiredDuringScheduling": {"nodeSelectorTerms": [TERM]}}},
        "UnknownField",
        "requiredDuringScheduling",
        REQUIRED,
    ),
    "required in affinity": ({REQUIRED: {}}, "UnknownField", REQUIRED, ""),
    "affinity as a list": ([{"nodeAffinity": {}}], "WrongType", "affinity", "nodeAffinity:"),
    "node affinity as a list": ({"nodeAffinity": []}, "WrongType", "nodeAffinity", REQUIRED),
    "no weight": (preferred(weight=None), "MalformedAffinity", "weight", "write 1"),
    "a weight of 101": (preferred(weight=101), "MalformedAffinity", "weight", "1"),
    "a field that nodes are not selected by": (
        fields(key="spec.nodeName"),
        "MalformedAffinity",
        "key",
        "write key: metadata.name",
    ),
    "any name of a node": (
        fields(operator="Exists", values=None),
        "MalformedAffinity",
        "operator",
        "write operator: In",
    ),
    "two names of nodes": (fields(values=["a", "b"]), "MalformedAffinity", "values", "one name"),
    "a preference without its name": (
        {"nodeAffinity": {PREFERRED: [{"weight": 1, **TERM}]}},
        "UnknownField",
        "matchExpressions",
        "put it below preference:",
    ),
    "a preference of terms": (
        preferred(preference={"nodeSelectorTerms": [TERM]}),
        "UnknownField",
        "nodeSelectorTerms",
        "",
    ),
    "preferred as a mapping": (
        {"nodeAffinity": {PREFERRED: {"weight": 1, "preference": TERM}}},
        "WrongType",
        PREFERRED,
        "write - weight:",
    ),
}
