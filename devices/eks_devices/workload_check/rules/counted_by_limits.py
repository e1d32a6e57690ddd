"""What counts devices by the limits of containers, and does not see claims."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..._data import read_toml
from ...findings import warning
from ...names import DEVICE_CLASSES, NVIDIA_RESOURCES
from ...vocabulary import DeviceType
from ..device_names import device_type_of
from ..documents import Document, Steps, mapping, path_of
from .asking import asks_for
from .claim_content import types_of
from .context import Context
from .whole import ToldOfDocument, Whole

_REQUESTS: Final = "requests."


def quotas(whole: Whole) -> Iterator[ToldOfDocument]:
    """A ResourceQuota for devices that Pods of its namespace take by claims."""
    facts = read_toml("pod_rules.toml")["quota"]
    for document, copy in whole.readable_documents:
        if copy.kind != "ResourceQuota":
            continue
        for name in mapping(mapping(copy.content, "spec"), "hard"):
            kind = device_type_of(name.removeprefix(_REQUESTS)) if _REQUESTS in name else None
            if kind and _is_claimed(whole, copy.namespace, kind):
                steps: Steps = ("spec", "hard", name)
                other = f"{DEVICE_CLASSES[kind][0]}{facts['suffix']}"
                yield (
                    document,
                    steps,
                    warning(
                        "QuotaCountsNoClaims",
                        path_of(steps),
                        f"{name} counts what containers ask for by their limits, and not the "
                        "devices that Pods of the namespace take by claims",
                        fix=f"add a limit for {other} too",
                        source=facts["source"],
                    ),
                )


def _is_claimed(whole: Whole, namespace: str, kind: DeviceType) -> bool:
    return any(
        kind in types_of(claim)
        for context in whole.pods
        if context.pod.namespace == namespace
        for claim in context.claims
    )


def processes(whole: Whole) -> Iterator[ToldOfDocument]:
    """A number of processes that an operator works out from limits, of Pods with claims."""
    facts = read_toml("pod_rules.toml")["processes"]
    told: set[int] = set()
    for context in whole.pods:
        document = context.given.document
        if id(document) in told or not _has_gpus_by_claims_alone(context):
            continue
        for path in facts["fields"]:
            steps: Steps = tuple(path.split("."))
            value = _at(context.pod.document, steps)
            if isinstance(value, str) and value in facts["values"]:
                told.add(id(document))
                yield (
                    document,
                    steps,
                    warning(
                        "ProcessCountFromLimits",
                        path_of(steps),
                        f"{steps[-1]}: {value} may be worked out from the GPUs among the limits of "
                        "containers, and these Pods claim theirs: they may get one process, or "
                        "one for each CPU",
                        fix="write the number of GPUs of a Pod",
                        source=facts["source"],
                    ),
                )


def _has_gpus_by_claims_alone(context: Context) -> bool:
    claimed = any(DeviceType.GPU in types_of(one) for one in context.claims)
    return claimed and not any(
        asks_for(one, lambda name: name.startswith(NVIDIA_RESOURCES)) for one in context.containers
    )


def _at(document: Document, steps: Steps) -> Any:
    value: Any = document.content
    for step in steps:
        value = value.get(step) if isinstance(value, dict) else None
    return value


SET_RULES = (quotas, processes)
