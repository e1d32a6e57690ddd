"""Node affinity and tolerations get the answers that Kubernetes 1.37.2 itself gave to these Pods.

They are from its module k8s.io/component-helpers (scheduling/corev1), asked about random Pods.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from tests.workload_manifests import G6E, plan_of

from eks_devices import Taint, TaintEffect
from eks_devices.workload_check.affinity import label_obstacles
from eks_devices.workload_check.documents import frozen
from eks_devices.workload_check.label_hints import Hints
from eks_devices.workload_check.nodes import GroupNode, nodes_of
from eks_devices.workload_check.tolerations import taint_obstacles

ROWS = json.loads((Path(__file__).parent / "node_answers.json").read_text(encoding="utf-8"))


def node_of(row: Any) -> GroupNode:
    (node,) = nodes_of(plan_of(G6E, version="1.37"))
    taints = tuple(
        Taint(key=one["key"], value=one["value"], effect=TaintEffect(one["effect"]))
        for one in row["taints"]
    )
    group = dataclasses.replace(node.group, taints=taints)
    return dataclasses.replace(node, group=group, labels=row["labels"], later=())


def test_there_are_answers_of_every_kind() -> None:
    kinds = {(row["matches"], row["tolerated"]) for row in ROWS}
    assert len(kinds) == 4
    assert len(ROWS) > 150


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_a_pod_gets_the_answer_of_kubernetes(row: Any) -> None:
    node, spec = node_of(row), frozen(row["spec"])
    matches = not list(label_obstacles(spec, node, Hints([node])))
    tolerated = not list(taint_obstacles(node, spec["tolerations"], is_certain=True))
    assert (matches, tolerated) == (row["matches"], row["tolerated"])
