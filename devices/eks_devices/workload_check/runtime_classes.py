"""What RuntimeClasses add to Pods: overhead, labels of nodes and tolerations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from .._yaml_text import AsYaml
from ..findings import Finding, fault, meant, warning
from ..quantities import quantity_of
from ..typecheck import is_token
from .documents import Document, Steps, frozen, mapping, path_of, sequence, text_of
from .pods import PodTemplate

Told = tuple[Steps, Finding]

_NAME: Final = "runtimeClassName"
_OVERHEAD: Final = "overhead"
_SELECTOR: Final = "nodeSelector"
_TOLERATIONS: Final = "tolerations"
_PAGE: Final = "https://kubernetes.io/docs/concepts/containers/runtime-class/"
_OVERHEAD_PAGE: Final = "https://kubernetes.io/docs/concepts/scheduling-eviction/pod-overhead/"


class RuntimeClasses:
    """The RuntimeClasses among manifests.

    Args:
        documents: The manifests.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self._known = {one.name: one.content for one in documents if one.kind == "RuntimeClass"}

    def applied(self, pod: PodTemplate) -> PodTemplate:
        """Pods as API servers let them in: with what their class adds."""
        known = self._known.get(text_of(pod.spec, _NAME))
        if known is None:
            return pod
        scheduling = mapping(known, "scheduling")
        more = {
            _OVERHEAD: _overhead(known),
            _SELECTOR: {**mapping(pod.spec, _SELECTOR), **mapping(scheduling, _SELECTOR)},
            _TOLERATIONS: [*sequence(pod.spec, _TOLERATIONS), *sequence(scheduling, _TOLERATIONS)],
        }
        return replace(
            pod, spec=frozen({**pod.spec, **{key: one for key, one in more.items() if one}})
        )

    def findings(self, pod: PodTemplate) -> Iterator[Told]:
        """What API servers have against the class of a Pod, and what nobody knows of it.

        Args:
            pod: The template as it is written.
        """
        name, given = text_of(pod.spec, _NAME), pod.spec.get(_OVERHEAD)
        if is_token(pod.spec.get(_NAME)) or is_token(given):
            return
        known = self._known.get(name)
        if name and known is None:
            yield (_NAME,), self._not_found(name)
        elif given is not None and not _is_same(given, _overhead(known or {})):
            yield (_OVERHEAD,), _wrong_overhead(given, name, _overhead(known or {}))
        yield from _conflicts(pod, mapping(known or {}, "scheduling"))

    def _not_found(self, name: str) -> Finding:
        return warning(
            "RuntimeClassNotFound",
            _NAME,
            f"the RuntimeClass {name[:63]} is not among these manifests, so it must be in the "
            "cluster already: Pods of one that is not there are refused",
            fix=meant(name, self._known)
            or f"name the file that holds it too, or leave {_NAME} out",
            source=_PAGE,
        )


def _overhead(content: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(mapping(content, _OVERHEAD), "podFixed")


def _is_same(given: Any, known: Mapping[str, Any]) -> bool:
    if not (isinstance(given, Mapping) and known and given.keys() == known.keys()):
        return False
    return all(quantity_of(one) == quantity_of(known[name]) for name, one in given.items())


def _wrong_overhead(given: Any, name: str, known: Mapping[str, Any]) -> Finding:
    return fault(
        "OverheadOfNoRuntimeClass",
        _OVERHEAD,
        "the API server takes overhead only as the Pod's RuntimeClass has it, and writes it itself",
        got=AsYaml(given),
        allowed=f"{AsYaml(known)!r}, as RuntimeClass {name[:63]} has it" if known else "none",
        fix=f"leave {_OVERHEAD} out",
        source=_OVERHEAD_PAGE,
    )


def _conflicts(pod: PodTemplate, scheduling: Mapping[str, Any]) -> Iterator[Told]:
    """Labels of nodes that a Pod and its class select differently."""
    for key, wanted in mapping(scheduling, _SELECTOR).items():
        given = mapping(pod.spec, _SELECTOR).get(key)
        if given is not None and given != wanted and not is_token(given):
            steps: Steps = (_SELECTOR, key)
            yield (
                steps,
                fault(
                    "RuntimeClassConflict",
                    path_of(steps),
                    "the API server refuses a label of nodes for which the Pod's RuntimeClass has "
                    "another value",
                    got=AsYaml(given),
                    allowed=f"{AsYaml(wanted)!r}, or none",
                    fix="leave it out, or name another RuntimeClass",
                    source=_PAGE,
                ),
            )
