"""What the API server has against a claim, a template or a class around its spec."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from .._yaml_text import AsYaml, wrong_in_manifest
from ..findings import Finding, fault, meant
from ..names import CLAIM_KIND, TEMPLATE_KIND
from ..syntax import is_dns_label, is_dns_subdomain, is_label_key, is_label_value
from ..typecheck import is_token
from .documents import Document, Steps, mapping, path_of

CLASS_KIND: Final = "DeviceClass"
_FIELDS: Final = {
    CLAIM_KIND: ("apiVersion", "kind", "metadata", "spec", "status"),
    TEMPLATE_KIND: ("apiVersion", "kind", "metadata", "spec"),
    CLASS_KIND: ("apiVersion", "kind", "metadata", "spec"),
}
_TEXTS: Final = ("name", "generateName", "namespace")
_PAIRS: Final = ("labels", "annotations")
# The server fills these in, or leaves them as they are.
_OTHERS: Final = (
    *("selfLink", "uid", "resourceVersion", "generation", "creationTimestamp"),
    *("deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences", "finalizers"),
    "managedFields",
)
_LONGEST: Final = 63
_QUOTES: Final = "write it in quotes"
_SOURCE: Final = "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/"

Told = tuple[Steps, Finding]


def object_faults(document: Document) -> Iterator[Told]:
    """Fields that the kind does not have, and metadata that the server refuses.

    Args:
        document: A claim, a template or a DeviceClass.
    """
    content = document.content
    fields = _FIELDS[document.kind]
    for name in content:
        if name not in fields:
            yield _unknown((name,), name, fields, _home(name, document.kind))
    metadata = content.get("metadata")
    if metadata is not None and not isinstance(metadata, Mapping):
        yield _wrong(("metadata",), metadata, "a mapping", "write metadata: {name: ...}")
        return
    yield from _of_metadata(metadata or {}, is_class=document.kind == CLASS_KIND)
    if document.kind == TEMPLATE_KIND:
        yield from _of_claims(mapping(content, "spec").get("metadata"))


def _of_metadata(metadata: Mapping[str, Any], *, is_class: bool) -> Iterator[Told]:
    for name in metadata:
        if name not in (*_TEXTS, *_PAIRS, *_OTHERS):
            home = "put it beside metadata" if name == "spec" else ""
            yield _unknown(("metadata", name), name, (*_TEXTS, *_PAIRS), home)
    for name in _TEXTS:
        yield from _text(("metadata", name), metadata.get(name))
    if all(metadata.get(one) in (None, "") for one in ("name", "generateName")):
        allowed, fix = "name, or generateName", "give it a name"
        yield _refused(("metadata", "name"), metadata.get("name"), allowed, fix)
    namespace = metadata.get("namespace")
    is_name = isinstance(namespace, str) and namespace and not is_token(namespace)
    if is_name and not is_class and not is_dns_label(str(namespace)):
        at = ("metadata", "namespace")
        fix = _respelled(str(namespace).lower().replace(".", "-"), is_dns_label)
        yield _refused(at, namespace, "lowercase letters, digits and '-'", fix)
    yield from _pairs(("metadata",), metadata)


def _of_claims(metadata: Any) -> Iterator[Told]:
    """What a template says of the metadata of its claims: labels and annotations alone."""
    at = ("spec", "metadata")
    if metadata is None:
        return
    if not isinstance(metadata, Mapping):
        yield _wrong(at, metadata, "a mapping", "write labels and annotations")
        return
    for name in metadata:
        if name not in _PAIRS:
            fix = "leave it out: Kubernetes names the claims of Pods"
            yield _refused((*at, name), metadata[name], "labels and annotations", fix)
    yield from _pairs(at, metadata)


def _text(steps: Steps, value: Any) -> Iterator[Told]:
    """A name that is no text, or that no object has; a prefix may end in a hyphen."""
    if value is None or is_token(value):
        return
    if not isinstance(value, str):
        yield _wrong(steps, value, "a text", _QUOTES)
    elif (
        value and steps[-1] != "namespace" and not is_dns_subdomain(value.removesuffix("-") or "a")
    ):
        allowed = (
            "at most 253 lowercase letters, digits, '-' and '.', a letter or digit at both ends"
        )
        yield _refused(steps, value, allowed, _respelled(value.lower(), is_dns_subdomain))
    elif value.endswith("-") and steps[-1] == "name":
        fix = _respelled(value, is_dns_subdomain)
        yield _refused(steps, value, "a letter or digit at the end", fix)


def _pairs(at: Steps, metadata: Mapping[str, Any]) -> Iterator[Told]:
    for field in _PAIRS:
        pairs = metadata.get(field)
        if pairs is not None and not isinstance(pairs, Mapping):
            yield _wrong((*at, field), pairs, "a mapping of texts", "write key: value")
            continue
        for key, value in (pairs or {}).items():
            yield from _pair((*at, field, key), key, value)


def _pair(steps: Steps, key: str, value: Any) -> Iterator[Told]:
    if value is not None and not isinstance(value, str):
        yield _wrong(steps, value, "a text", _QUOTES)
    elif steps[-2] == "labels" and value and not (is_token(value) or is_label_value(value)):
        allowed = "at most 63 letters, digits, '-', '_' and '.', a letter or digit at both ends"
        yield _refused(steps, value, allowed, _respelled(value, is_label_value))
    lowered = key if steps[-2] == "labels" else key.lower()
    if not (is_token(key) or is_label_key(lowered)):
        yield _refused(steps, key, "name, or domain/name", _respelled(key, is_label_key))


def _home(name: str, kind: str) -> str:
    """Where a field belongs that stands beside the spec; empty for what is none of the kind's."""
    if name in (*_TEXTS, *_PAIRS):
        return "put it below metadata:"
    spec = "spec.spec" if kind == TEMPLATE_KIND else "spec"
    if kind == CLASS_KIND:
        return "put it below spec:" if name in _OF_CLASS else ""
    if name == "devices":
        return f"put it below {spec}:"
    return f"put it below {spec}.devices:" if name in _OF_DEVICES else ""


_OF_CLASS: Final = ("selectors", "config", "extendedResourceName")
_OF_DEVICES: Final = ("requests", "constraints", "config")


def _respelled(name: str, is_one: Callable[[str], bool]) -> str:
    """What to write for a name that is refused; what is refused in it becomes a hyphen."""
    for keep in ("/_", ""):
        near = re.sub(rf"[^A-Za-z0-9.{keep}-]+", "-", name)[:_LONGEST].strip("-_./")
        if near and is_one(near):
            return f"write {near}"
    return "name it in letters, digits and '-'"


def _unknown(steps: Steps, name: str, fields: tuple[str, ...], home: str) -> Told:
    return steps, fault(
        "UnknownField",
        path_of(steps),
        "the API has no such field, so kubectl refuses the object, and others lose what it says",
        got=AsYaml(name),
        allowed=", ".join(fields),
        fix=home or meant(name, fields) or "leave it out",
        source=_SOURCE,
    )


def _refused(steps: Steps, got: Any, allowed: str, fix: str) -> Told:
    return steps, fault(
        "MalformedMetadata",
        path_of(steps),
        "the API server takes no such metadata",
        got=AsYaml(got),
        allowed=allowed,
        fix=fix,
        source=_SOURCE,
    )


def _wrong(steps: Steps, value: Any, wanted: str, fix: str) -> Told:
    return steps, wrong_in_manifest(path_of(steps), value, wanted, fix)
