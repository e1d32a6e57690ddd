"""What devices the DeviceClasses among the manifests hold, by the driver that they select."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ...names import DEVICE_CLASSES, DRIVERS, device_type_of_class
from ...vocabulary import DeviceType
from ..documents import Document, mapping, mappings

_DRIVER: Final = re.compile(r"""device\.driver\s*==\s*['"]([^'"]+)['"]""")
_TYPES: Final = {driver: device_type for device_type, driver in DRIVERS.items()}


def own_classes(documents: Iterable[Document]) -> dict[str, DeviceType]:
    """The DeviceClasses of manifests whose expressions name the driver of their devices."""
    found = {}
    for one in documents:
        if one.kind == "DeviceClass" and device_type_of_class(one.name) is None:
            types = {_TYPES.get(driver) for driver in _drivers(one)}
            if len(types) == 1 and (device_type := types.pop()):
                found[one.name] = device_type
    return found


def _drivers(document: Document) -> set[str]:
    texts = [
        mapping(one, "cel").get("expression")
        for _, one in mappings(mapping(document.content, "spec"), "selectors")
    ]
    return {name for text in texts if isinstance(text, str) for name in _DRIVER.findall(text)}


def with_known_classes(value: Any, classes: Mapping[str, DeviceType]) -> Any:
    """A readable manifest of a claim that names the class of the driver for an own one."""
    if isinstance(value, list):
        return [with_known_classes(one, classes) for one in value]
    if not isinstance(value, dict):
        return value
    made = {key: with_known_classes(one, classes) for key, one in value.items()}
    name = made.get("deviceClassName")
    if isinstance(name, str) and name in classes:
        made["deviceClassName"] = DEVICE_CLASSES[classes[name]][0]
    return made
