"""The claims that Pods name, found among the manifests and the claims of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..findings import meant
from ..names import (
    CLAIM_FIELDS,
    CLAIM_KIND,
    COMPUTE_DOMAIN_CHANNEL_CLASS,
    NEURON_DRIVER,
    TEMPLATE_KIND,
)
from .claim_versions import GROUP, as_newest
from .documents import Document, Steps, mapping, mappings, text_of
from .pods import PodTemplate

_DOMAIN: Final = "ComputeDomain"
_MADE: Final = "resourceClaimTemplate"
KINDS: Final = (CLAIM_KIND, TEMPLATE_KIND, "DeviceClass", "ResourceSlice")
"""The kinds of the API of claims."""
# Kinds of newer versions; a misspelt one is none of these.
_OTHERS: Final = ("DeviceTaintRule", "ResourcePoolStatusRequest")

_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PodClaim:
    """A claim of a Pod; `manifest` is that of the object it names, None where nobody has it.

    `steps` lead to its entry from the Pod's spec; `kind` and `object_name` are what it names. The
    manifest is as `resource.k8s.io/v1` has it, whichever version it is written in, and `document`
    where it is from; None where it is not among the manifests. `is_known` says that the object
    will be there, also where its manifest is made in the cluster.
    """

    name: str
    steps: Steps
    kind: str
    object_name: str
    manifest: Mapping[str, Any] | None
    is_known: bool = True
    document: Document | None = None


class KnownClaims:
    """Claims and templates by kind, namespace and name.

    Args:
        documents: The manifests.
        planned: The manifests of the claims that a plan's app makes.
    """

    def __init__(
        self, documents: Iterable[Document], planned: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        apart = [Document(origin="", content=one) for one in planned]
        self._known: dict[_Key, Mapping[str, Any] | None] = {}
        self._used: dict[_Key, list[Mapping[str, Any]]] = {}
        self._written: dict[_Key, list[tuple[Document, Mapping[str, Any] | None]]] = {}
        self._misspelt: dict[tuple[str, str], Document] = {}
        for one in apart:
            self._known.update(_made_by(one))
        for one in documents:
            if is_misspelt(one):
                self._misspelt[one.namespace, one.name] = one
            for key, manifest in _made_by(one):
                self._written.setdefault(key, []).append((one, manifest))
        self._known |= {key: some[0][1] for key, some in self._written.items()}

    def of(self, pod: PodTemplate) -> Iterator[PodClaim]:
        """The claims of the Pods of a template."""
        for index, entry in mappings(pod.spec, "resourceClaims"):
            for field, kind in CLAIM_FIELDS.items():
                name = text_of(entry, field)
                if name:
                    key = kind, pod.namespace, name
                    document, manifest = self._meant(key, pod.document)
                    self._used.setdefault(key, []).append(manifest or {})
                    yield PodClaim(
                        name=text_of(entry, "name"),
                        steps=("resourceClaims", index),
                        kind=kind,
                        object_name=name,
                        manifest=manifest,
                        is_known=key in self._known or document is not None,
                        document=document,
                    )

    def _meant(
        self, key: _Key, document: Document
    ) -> tuple[Document | None, Mapping[str, Any] | None]:
        """The object of a name for the Pods of a manifest: of its own file, else the first one.

        Without a manifest where the kind of it is misspelt, as is told.
        """
        written = self._written.get(key, ())
        if not written and key not in self._known and key[1:] in self._misspelt:
            return self._misspelt[key[1:]], None
        own = (found for found in written if found[0].place == document.place)
        return next(own, written[0] if written else (None, self._known.get(key)))

    def manifest(self, document: Document) -> Mapping[str, Any]:
        """The claim or template of a document, as the newest version of the API has it."""
        key = document.kind, document.namespace, document.name
        found = (one for given, one in self._written.get(key, ()) if given is document)
        return next(found, None) or as_newest(document.content)

    def is_used(self, document: Document) -> bool:
        """Whether a Pod that was asked about gets the claim of a document, or one that is equal."""
        used = self._used.get((document.kind, document.namespace, document.name), ())
        own = self.manifest(document)
        return any(one is own or one.get("spec") == own.get("spec") for one in used)

    def elsewhere(self, claim: PodClaim, namespace: str) -> str:
        """What a claim that nobody has may be meant for: another namespace, kind or name."""
        same = [key for key in self._known if key[2] == claim.object_name]
        if others := sorted({key[1] for key in same if key[0] == claim.kind}):
            return f"one of that name is in the namespace {', '.join(others)}; Pods use their own"
        if any(key[1] == namespace for key in same):
            other = TEMPLATE_KIND if claim.kind == CLAIM_KIND else CLAIM_KIND
            field = next(name for name, kind in CLAIM_FIELDS.items() if kind == other)
            return f"{claim.object_name} is a {other}: name it by {field}"
        near = [key[2] for key in self._known if key[:2] == (claim.kind, namespace)]
        return meant(claim.object_name, near)


def is_misspelt(document: Document) -> bool:
    """Whether a manifest is of the API of claims, and of a kind that this does not have."""
    is_known = document.kind in (*KINDS, *_OTHERS) or document.kind.endswith("List")
    return bool(document.api_group == GROUP and document.kind and not is_known)


def _made_by(document: Document) -> Iterator[tuple[_Key, Mapping[str, Any] | None]]:
    """The claims and templates that come to be with a manifest."""
    if document.kind in CLAIM_FIELDS.values():
        key = document.kind, document.namespace, document.name
        yield key, as_newest(document.content)
    elif document.kind == _DOMAIN:
        if template := channel_template(document.content, document.namespace):
            yield (TEMPLATE_KIND, document.namespace, template["metadata"]["name"]), template
        return
    made = mapping(mapping(document.content, "spec"), _MADE)
    if document.api_group == NEURON_DRIVER and (name := text_of(made, "name")):
        # The operator of UltraServers makes the template that its object names.
        yield (TEMPLATE_KIND, document.namespace, name), None


def channel_template(domain: Mapping[str, Any], namespace: str) -> dict[str, Any] | None:
    """The template that the driver makes for the channel of a ComputeDomain, in what counts.

    Args:
        domain: The ComputeDomain.
        namespace: Where it is.

    Returns:
        None where the domain names no template.
    """
    name = text_of(mapping(mapping(mapping(domain, "spec"), "channel"), _MADE), "name")
    if not name:
        return None
    exactly = {"deviceClassName": COMPUTE_DOMAIN_CHANNEL_CLASS, "count": 1}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": TEMPLATE_KIND,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"spec": {"devices": {"requests": [{"name": "channel", "exactly": exactly}]}}},
    }
