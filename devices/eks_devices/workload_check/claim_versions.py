"""Claims of older API versions, as `resource.k8s.io/v1` has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .._yaml_text import AsYaml
from ..findings import Finding, fault
from ..kubernetes import minors
from ..names import TEMPLATE_KIND
from .documents import Document, mapping, sequence

GROUP: Final = "resource.k8s.io"
_NEWEST: Final = f"{GROUP}/v1"
_ALIKE: Final = (_NEWEST, f"{GROUP}/v1beta2")
_FLAT: Final = (f"{GROUP}/v1beta1", f"{GROUP}/v1alpha3")
_EXACT: Final = (
    "deviceClassName",
    "selectors",
    "allocationMode",
    "count",
    "adminAccess",
    "tolerations",
    "capacity",
)
_PAGE: Final = (
    "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/"
)


def version_faults(document: Document, kubernetes_version: str) -> Iterator[Finding]:
    """The fault of a claim, a template or a class in an API version that the cluster lacks."""
    written = document.content.get("apiVersion")
    served = minors()[kubernetes_version].resource_api_versions
    allowed = ", ".join(f"{GROUP}/{one}" for one in served)
    if isinstance(written, str) and written.removeprefix(f"{GROUP}/") in served:
        return
    is_flat = written in _FLAT and document.kind != "DeviceClass"
    move = ", and move what each request asks for below exactly:" if is_flat else ""
    yield fault(
        "ApiVersionNotServed",
        "apiVersion",
        f"Kubernetes {kubernetes_version} on EKS does not serve this version of "
        f"{document.kind or 'the kind'}",
        got=AsYaml(written),
        allowed=allowed,
        fix=f"write apiVersion: {GROUP}/{served[-1]}{move}",
        source=_PAGE,
    )


def is_known_version(content: Mapping[str, Any]) -> bool:
    """Whether a claim, a template or a class is of a version that can be read here."""
    return content.get("apiVersion") in (*_ALIKE, *_FLAT)


def as_newest(content: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest of a claim, a template or a class as the newest version has it.

    Requests are flat before `v1beta2`: what `exactly` holds stands in the request itself.
    """
    if not is_known_version(content):
        return dict(content)
    written = content.get("apiVersion")
    made = {**content, "apiVersion": _NEWEST}
    if written not in _FLAT or content.get("kind") == "DeviceClass":
        return made
    spec = mapping(content, "spec")
    if content.get("kind") == TEMPLATE_KIND:
        return made | {"spec": {**spec, "spec": _nested(mapping(spec, "spec"))}}
    return made | {"spec": _nested(spec)}


def _nested(spec: Mapping[str, Any]) -> dict[str, Any]:
    devices = mapping(spec, "devices")
    requests = tuple(
        _request(one) if isinstance(one, Mapping) else one for one in sequence(devices, "requests")
    )
    return {**spec, "devices": {**devices, "requests": requests}}


def _request(request: Mapping[str, Any]) -> Mapping[str, Any]:
    if "firstAvailable" in request or "exactly" in request:
        return request
    own = {key: one for key, one in request.items() if key not in _EXACT}
    return {**own, "exactly": {key: one for key, one in request.items() if key in _EXACT}}
