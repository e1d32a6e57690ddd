"""A rehearsal of 4,000 Pods on 1,000 nodes, by the control plane of Kubernetes that is there.

Half of the nodes have their GPUs and EFAs by DRA, half have GPUs by the device plugin. Of the Pods
with claims some can never be bound. The baseline is the same rehearsal of Pods that ask for no
devices: the ratio says what claims cost the scheduler, and compares machines. Prints one JSON
object. Without binaries of a control plane there is nothing to measure, and it says so.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eks_device_operations._outcome import OperationError
from eks_device_operations.rehearse.files import Item
from eks_device_operations.rehearse.minors import nearest_binaries
from eks_device_operations.rehearse.rehearsal import (
    Rehearsal,
    Rehearsed,
    control_plane,
    rehearse_on,
)
from eks_devices import ClusterPlan, Mechanism, NodegroupSpec, plan_cluster

VERSION = "1.34"
NODES, PODS = 1000, 4000
# One in so many Pods with claims wants a GPU that no node has. One that wants more GPUs than a node
# has would be no measure: the scheduler tries combinations for up to ten seconds, each time.
NEVER = 20
SECONDS = 1200
NO_GPU = "device.attributes['gpu.nvidia.com'].productName == 'none'"
TOLERATIONS = [{"operator": "Exists"}]


def plan() -> ClusterPlan:
    """Two groups: one by DRA, one by the device plugin."""
    most = NODES // 2
    return plan_cluster(
        kubernetes_version=VERSION,
        nodegroups=[
            NodegroupSpec(
                name="p5", instance_type="p5.48xlarge", max_size=most, mechanism=Mechanism.DRA
            ),
            NodegroupSpec(
                name="g6e",
                instance_type="g6e.12xlarge",
                max_size=most,
                mechanism=Mechanism.DEVICE_PLUGIN,
            ),
        ],
    )


def template(name: str, **request: Any) -> dict[str, Any]:
    exactly = {"deviceClassName": "gpu.nvidia.com", **request}
    devices = {"requests": [{"name": "gpu", "exactly": exactly}]}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name},
        "spec": {"spec": {"devices": devices}},
    }


def deployment(name: str, replicas: int, **pod: Any) -> dict[str, Any]:
    labels = {"app": name}
    resources = pod.pop("resources", {})
    container = {"name": "job", "image": "example.com/job", "resources": resources}
    spec = {"containers": [container], "tolerations": TOLERATIONS, **pod}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def with_claims(name: str, replicas: int, claim: str) -> dict[str, Any]:
    claims = [{"name": "gpu", "resourceClaimTemplateName": claim}]
    used = {"claims": [{"name": "gpu"}]}
    return deployment(name, replicas, resourceClaims=claims, resources=used)


def with_devices(pods: int) -> list[dict[str, Any]]:
    """Half of the Pods with a claim of two GPUs, half with one GPU by the plugin."""
    half = pods // 2
    never = half // NEVER
    limits = {"limits": {"nvidia.com/gpu": "1"}}
    return [
        template("two", count=2),
        template("none", selectors=[{"cel": {"expression": NO_GPU}}]),
        with_claims("claims", half - never, "two"),
        with_claims("never", never, "none"),
        # They leave no GPU of the group free.
        deployment("plugin", pods - half, resources=limits),
    ]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A rehearsal, and what it took of the processors, the control plane's part with it."""

    found: Rehearsed
    version: str
    processor_seconds: float

    @property
    def bound(self) -> int:
        return sum(one.count for each in self.found.results for one in each.bound)

    def figures(self) -> dict[str, Any]:
        seconds = self.found.seconds
        return {
            "bound": self.bound,
            "pending": sum(one.count for each in self.found.results for one in each.pending),
            "in time": self.found.in_time,
            "seconds": {name: round(value, 1) for name, value in seconds.items()},
            "bound Pods per second": round(
                self.bound / (seconds["objects"] + seconds["scheduling"]), 1
            ),
            "processor seconds": round(self.processor_seconds),
            "processor milliseconds a bound Pod": round(1000 * self.processor_seconds / self.bound),
        }


def measured(manifests: list[dict[str, Any]], nodes: int) -> Measured:
    binaries, _ = nearest_binaries(VERSION, None)
    items = [Item(file="benchmark", content=one) for one in manifests]
    each = {"p5": nodes // 2, "g6e": nodes // 2}
    rehearsal = Rehearsal(plan=plan(), items=items, nodes=each, seconds=SECONDS)
    before = processor_seconds()
    with (
        tempfile.TemporaryDirectory() as folder,
        control_plane(binaries, Path(folder) / "plane") as plane,
    ):
        found = rehearse_on(plane.api, rehearsal, kubelet_version=binaries.version)
    spent = processor_seconds() - before
    return Measured(found=found, version=binaries.version, processor_seconds=spent)


def processor_seconds() -> float:
    """What this process and those that it started and ended took."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--pods", type=int, default=PODS)
    arguments = parser.parse_args()
    try:
        devices = measured(with_devices(arguments.pods), arguments.nodes)
        plain = measured([deployment("plain", arguments.pods)], arguments.nodes)
    except OperationError as error:
        print(json.dumps({"nothing measured": str(error)}))
        return
    told = {
        "kubernetes": devices.version,
        "with devices": devices.figures(),
        "without": plain.figures(),
        "ratio of processor times": round(devices.processor_seconds / plain.processor_seconds, 1),
    }
    print(json.dumps(told, indent=2))


if __name__ == "__main__":
    main()
