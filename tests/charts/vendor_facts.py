"""Kubernetes objects reduced to facts: what they do, whatever their layout.

What the API server fills in is filled in here, the roles of an account are what it may do, and of
CEL the names remain, so that objects of two sources can be compared line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import yaml

from .vendor_lines import Facts, Item, Lines, flat, joined, text, without_nulls
from .vendor_pods import WORKLOADS, containers, workload

_ROLES = ("ClusterRole", "Role")
_BINDINGS = ("ClusterRoleBinding", "RoleBinding")
_POLICY = "ValidatingAdmissionPolicy"
# Roles that every API server makes itself.
_OF_KUBERNETES = re.compile(r"system:.+|extension-apiserver-authentication-reader")
_ENVELOPE = ("apiVersion", "kind", "metadata")
_STRING = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_IS = re.compile(r"(?:device\.attributes\['([^']+)'\]|device)\.(\w+) == '?([^']+)'?")
_HAS = re.compile(r"'(\w+)' in device\.attributes\['([^']+)'\]")


def facts(items: Iterable[Item]) -> Facts:
    """The facts of objects, by kind and name; a container is an object of its own."""
    items = [without_nulls(item) for item in items]
    found: Facts = {}
    for item in items:
        kind, name = item["kind"], f"{item['kind']} {item['metadata']['name']}"
        if kind in WORKLOADS:
            found[name] = dict(workload(item))
            found |= {f"{name}, {one}": lines for one, lines in containers(item).items()}
        elif kind == f"{_POLICY}Binding":
            bound = found[f"{_POLICY} {item['spec']['policyName']}"]
            rest = {key: value for key, value in item["spec"].items() if key != "policyName"}
            bound.update(flat("binding", rest))
        elif kind not in (*_ROLES, *_BINDINGS, "ServiceAccount"):
            found[name] = dict(_READERS.get(kind, _other)(item))
        if name in found:
            found[name] |= {"apiVersion": item["apiVersion"], **_place(item)}
    return found | _accounts(items)


def _place(item: Item) -> dict[str, str]:
    space = item["metadata"].get("namespace")
    return {"namespace": space} if space else {}


def _other(item: Item) -> Lines:
    rest = {key: value for key, value in item.items() if key not in (*_ENVELOPE, "spec")}
    return flat("", item.get("spec", {}) | rest)


def _namespace(item: Item) -> Lines:
    yield from flat("label", item["metadata"].get("labels", {}))


def _config(item: Item) -> Lines:
    """The files as what they say; their names count only among several."""
    files = item.get("data", {})
    for name, content in files.items():
        yield f"file {name}", "present"
        where = "says" if len(files) == 1 else f"{name} says"
        yield from flat(where, yaml.safe_load(content) or {})


# Accounts


def _accounts(items: list[Item]) -> Facts:
    """What each account may do, whatever the names of its roles."""
    found: Facts = {}
    for item in items:
        if item["kind"] == "ServiceAccount":
            name = f"Account {item['metadata']['namespace']}/{item['metadata']['name']}"
            rest = {key: value for key, value in item.items() if key not in _ENVELOPE}
            found.setdefault(name, {}).update(flat("", rest))
        elif item["kind"] in _BINDINGS:
            rules = _granted(items, item)
            for one in item["subjects"]:
                name = f"Account {one['namespace']}/{one['name']}"
                for path, verbs in rules:
                    _allow(found.setdefault(name, {}), path, verbs)
    return found


def _granted(items: list[Item], binding: Item) -> list[tuple[str, list[str]]]:
    space = binding["metadata"].get("namespace") if binding["kind"] == "RoleBinding" else None
    where = f"in {space}" if space else "everywhere"
    found = [
        one
        for one in items
        if (one["kind"], one["metadata"]["name"])
        == (binding["roleRef"]["kind"], binding["roleRef"]["name"])
        and (one["kind"] == "ClusterRole" or one["metadata"]["namespace"] == space)
    ]
    if not found and _OF_KUBERNETES.fullmatch(name := binding["roleRef"]["name"]):
        return [(f"may {where}: what {name} may", ["yes"])]
    (role,) = found
    return [
        (f"may {where}: {group or 'core'}/{resource}{_named(rule)}", rule["verbs"])
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    ]


def _named(rule: Item) -> str:
    return f" named {joined(rule['resourceNames'])}" if "resourceNames" in rule else ""


def _allow(lines: dict[str, str], path: str, verbs: list[str]) -> None:
    known = lines.get(path, "").split(", ") if path in lines else []
    lines[path] = joined({*known, *verbs})


# Admission


def _policy(item: Item) -> Lines:
    spec = item["spec"]
    constraints = spec["matchConstraints"]
    yield "failurePolicy", spec.get("failurePolicy", "Fail")
    yield "matchPolicy", constraints.get("matchPolicy", "Equivalent")
    for rule in constraints["resourceRules"]:
        for resource in rule["resources"]:
            path = f"judges {joined(rule['apiGroups']) or 'core'}/{resource}"
            yield path, joined(rule["operations"])
            yield f"{path}: versions", joined(rule["apiVersions"])
    conditions = [one["expression"] for one in spec.get("matchConditions", ())]
    yield from _names("condition", conditions, ())
    variables = {one["name"]: one["expression"] for one in spec.get("variables", ())}
    checks = [one["expression"] for one in spec["validations"]]
    yield from _names("validation", [*variables.values(), *checks], variables)


def _names(what: str, expressions: list[str], variables: Iterable[str]) -> Lines:
    """The fields that CEL reads and the texts that it knows; not what it makes of them."""
    for literal in sorted({a or b for one in expressions for a, b in _STRING.findall(one)} - {""}):
        yield f"{what} knows {literal}", "yes"
    words = {
        word
        for one in expressions
        for word in re.findall(r"\b[A-Za-z_]\w*\b(?!\()", _STRING.sub("", one))
    }
    for word in sorted(words - {"variables", "true", "false", "null", *variables}):
        yield f"{what} reads {word}", "yes"


def _device_class(item: Item) -> Lines:
    """What is compared; a selector of another form than ours and the vendor's is an error."""
    spec = item["spec"]
    for selector in spec["selectors"]:
        # Either kind of quotes, on one line or more.
        expression = " ".join(selector["cel"]["expression"].replace('"', "'").split())
        for part in expression.split(" && "):
            if found := _IS.fullmatch(part):
                domain, name, value = found.groups()
                yield f"selects {domain + '/' if domain else ''}{name}", value
            elif found := _HAS.fullmatch(part):
                name, domain = found.groups()
                yield f"needs {domain}/{name}", "yes"
            else:
                message = f"a selector of another form: {part}"
                raise ValueError(message)
    rest = {key: value for key, value in spec.items() if key != "selectors"}
    yield from flat("", rest)


def _webhooks(item: Item) -> Lines:
    """What is asked of whom; a webhook's name says nothing."""
    for number, hook in enumerate(item["webhooks"]):
        rest = {key: value for key, value in hook.items() if key not in ("clientConfig", "name")}
        client = hook["clientConfig"]
        yield from flat(f"webhook {number}", rest)
        yield from flat(f"webhook {number}: service", client["service"])
        yield f"webhook {number}: caBundle", "given" if client.get("caBundle") else "none"


# Custom resources


def _crd(item: Item) -> Lines:
    spec = item["spec"]
    yield from flat("", {key: value for key, value in spec.items() if key != "versions"})
    for version in spec["versions"]:
        name = version["name"]
        rest = {key: value for key, value in version.items() if key not in ("name", "schema")}
        yield from flat(name, rest)
        schema = version["schema"]["openAPIV3Schema"]
        for path, line in _schema("", schema, needed=False):
            yield f"{name}: {path or 'the object'}", line


_INNER = ("description", "properties", "items", "additionalProperties", "required", "type")


def _schema(path: str, schema: Any, *, needed: bool) -> Lines:
    words = [schema.get("type", "any"), *(["required"] if needed else [])]
    words += [_keyword(key, value) for key, value in sorted(schema.items()) if key not in _INNER]
    yield path, "; ".join(words)
    for name, inner in sorted(schema.get("properties", {}).items()):
        below = f"{path}.{name}" if path else name
        yield from _schema(below, inner, needed=name in schema.get("required", ()))
    for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(schema.get(key), dict):
            yield from _schema(path + mark, schema[key], needed=False)


def _keyword(key: str, value: Any) -> str:
    if key == "x-kubernetes-validations":
        return f"rules read {joined(name[-1] for one in value for name in _rule(one))}"
    return f"{key} {text(value)}"


def _rule(one: Item) -> list[tuple[str, str]]:
    return [(path, path.rpartition(" ")[2]) for path, _ in _names("", [one["rule"]], ())]


_READERS = {
    "ConfigMap": _config,
    "CustomResourceDefinition": _crd,
    "DeviceClass": _device_class,
    "Namespace": _namespace,
    _POLICY: _policy,
    "ValidatingWebhookConfiguration": _webhooks,
}
