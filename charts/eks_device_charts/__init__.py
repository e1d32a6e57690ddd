"""Manifests of the device managers as pure functions, and the cdk8s charts that wrap them.

`device_manifests` and `gpu_operator_values` need the standard library alone. The charts need the
extra `charts`, and loading cdk8s starts a Node process, so they are loaded when they are first
asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .manifests import ImageSource, device_manifests, gpu_operator_values

if TYPE_CHECKING:
    from .chart_checks import chart_findings
    from .charts import claims_chart, device_charts

__all__ = [
    "ImageSource",
    "chart_findings",
    "claims_chart",
    "device_charts",
    "device_manifests",
    "gpu_operator_values",
]


_LATE = {
    "chart_findings": ".chart_checks",
    "claims_chart": ".charts",
    "device_charts": ".charts",
}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(importlib.import_module(_LATE[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
