"""Writes the plans of a stack's clusters into the cloud assembly, for the CLI to read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from weakref import WeakKeyDictionary

import jsii
from aws_cdk import Stack, Stage
from constructs import Construct, IValidation

from eks_devices import ClusterPlan
from eks_devices.plans import PLAN_FILE_SCHEMA, PLAN_FILE_SUFFIX

PlanSource = Callable[[], ClusterPlan]
_sources: WeakKeyDictionary[Stack, dict[str, PlanSource]] = WeakKeyDictionary()


def write_at_synth(cluster: Construct, plan: PlanSource) -> None:
    """Have the plan of a cluster written beside its stack's template at every synth."""
    stack = Stack.of(cluster)
    sources = _sources.setdefault(stack, {})
    if not sources:
        stack.node.add_validation(_Writer(stack, sources))
    sources[cluster.node.path] = plan


@jsii.implements(IValidation)
class _Writer:
    """Runs when the app is synthesised, after the last group was added."""

    def __init__(self, stack: Stack, sources: dict[str, PlanSource]) -> None:
        self._stack = stack
        self._sources = sources

    def validate(self) -> list[str]:
        stage = Stage.of(self._stack)
        folder = Path(stage.outdir if stage else ".")
        name = f"{self._stack.artifact_id}{PLAN_FILE_SUFFIX}"
        (folder / name).write_text(_text(self._sources), encoding="utf-8")
        return []


def _text(sources: dict[str, PlanSource]) -> str:
    clusters = [
        {"path": path, "plan": source().to_dict()} for path, source in sorted(sources.items())
    ]
    content = {"schema": PLAN_FILE_SCHEMA, "clusters": clusters}
    return json.dumps(content, indent=2, sort_keys=True) + "\n"
