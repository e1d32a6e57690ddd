"""Writes the plans of a stack's clusters into the cloud assembly, for the CLI to read."""

from __future__ import annotations

import json
from pathlib import Path
from weakref import WeakKeyDictionary

import jsii
from aws_cdk import Stack, Stage
from constructs import Construct, IValidation

from eks_devices.plans import PLAN_FILE_SCHEMA, PLAN_FILE_SUFFIX

from .hosts import NodegroupHost
from .tree import is_in_tree, top_stack

Clusters = dict[Construct, NodegroupHost]
_clusters: WeakKeyDictionary[Stack, Clusters] = WeakKeyDictionary()


def write_at_synth(cluster: Construct, host: NodegroupHost) -> None:
    """Have the plan of a cluster written beside its stack's template at every synth.

    The clusters of a nested stack stand in the file of the stack that holds it, because only
    that one is an artifact of the assembly.
    """
    stack = top_stack(cluster)
    clusters = _clusters.setdefault(stack, {})
    if not clusters:
        stack.node.add_validation(_Writer(stack, clusters))
    clusters[cluster] = host


@jsii.implements(IValidation)
class _Writer:
    """Runs when the app is synthesised, after the last group was added."""

    def __init__(self, stack: Stack, clusters: Clusters) -> None:
        self._stack = stack
        self._clusters = clusters

    def validate(self) -> list[str]:
        for cluster, host in self._clusters.items():
            if is_in_tree(cluster):
                host.finish()
        stage = Stage.of(self._stack)
        folder = Path(stage.outdir if stage else ".")
        name = f"{self._stack.artifact_id}{PLAN_FILE_SUFFIX}"
        (folder / name).write_text(_text(self._clusters), encoding="utf-8")
        return []


def _text(clusters: Clusters) -> str:
    plans = {
        cluster.node.path: host.plan.to_dict()
        for cluster, host in clusters.items()
        if is_in_tree(cluster)
    }
    entries = [{"path": path, "plan": plan} for path, plan in sorted(plans.items())]
    content = {"schema": PLAN_FILE_SCHEMA, "clusters": entries}
    return json.dumps(content, indent=2, sort_keys=True) + "\n"
