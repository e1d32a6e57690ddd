"""What a DeviceClass selects, read from its manifest as the API server reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..._json_values import frozen_mapping
from ...findings import EksDevicesError, Finding, raise_faults
from ...kubernetes import gate_is_on
from ...names import CLASS_RESOURCES_GATE
from ...syntax import is_extended_resource, is_label_key
from ...typecheck import is_token
from ..cel.advice import with_whole
from ..cel.expressions import mended, refusal
from .api_configs import broken_configs
from .api_minors import api_of
from .asked import ClaimReader
from .broken import Broken, unknown_fields, unknown_in_selectors

_FIELDS: Final = ("selectors", "config", "extendedResourceName")
_CONFIG: Final = ("opaque",)
_NAME: Final = "extendedResourceName"


def read_class(
    manifest: object, path: str, *, kubernetes_version: str
) -> tuple[str, tuple[str, ...]]:
    """The name of a DeviceClass and its expressions, from its manifest.

    Args:
        manifest: The manifest.
        path: How faults name it.
        kubernetes_version: The minor of the API server.

    Raises:
        EksDevicesError: With every fault of the manifest, or the CEL engine is not installed.
    """
    copy = frozen_mapping(manifest, path, "a DeviceClass", "pass the manifest as a dict")
    if isinstance(copy, Finding):
        raise EksDevicesError([copy])
    api = api_of(kubernetes_version)
    reader = ClaimReader(path, code="MalformedDeviceClass", what="DeviceClass", api=api)
    reader.one_of(copy.get("kind"), "kind", ("DeviceClass",))
    fix = "write metadata: {name: ...}"
    metadata = reader.mapping(copy.get("metadata"), "metadata", fix=fix)
    name = reader.text(metadata.get("name"), "metadata.name", fix=fix)
    spec = reader.part(copy, "spec", "spec")
    selectors = reader.selectors(spec.get("selectors"), "spec.selectors")
    for one in _broken(spec, selectors, kubernetes_version) if not reader.faults else ():
        reader.fault("", one.path, one.got, one.allowed, fix=one.fix)
    raise_faults(reader.faults)
    return name, selectors


def _broken(spec: Mapping[str, Any], selectors: tuple[str, ...], version: str) -> Iterator[Broken]:
    yield from unknown_fields(spec, _FIELDS, "spec")
    yield from unknown_in_selectors(spec.get("selectors") or (), "spec")
    for index, text in enumerate(selectors):
        if found := refusal(text, version):
            why, fix = found[0], with_whole(found[1], mended(text, version))
            at = f"spec.selectors[{index}].cel.expression"
            yield Broken(at, text, f"an expression: {why}", fix)
    yield from broken_configs(spec.get("config"), "spec", {}, fields=_CONFIG)
    name = spec.get(_NAME)
    if name is not None and not (is_token(name) or _is_extended(name, version)):
        fix = "name it after a domain of your own"
        yield Broken(f"spec.{_NAME}", name, "a name such as example.com/gpu", fix)


def _is_extended(name: Any, version: str) -> bool:
    """Whether a name is one of an extended resource; minors without the gate lose the field."""
    if not isinstance(name, str):
        return False
    if not gate_is_on(CLASS_RESOURCES_GATE, version):
        return True
    return is_extended_resource(name) and is_label_key(name)
