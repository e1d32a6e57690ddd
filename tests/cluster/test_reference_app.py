"""The reference app as it is synthesised: its objects, its nodes at full size, and its claims."""

from __future__ import annotations

from collections import Counter

import pytest
import yaml

from eks_device_operations.control_plane.pods import given, pod, wait_bound

TAINTS = ("aws.amazon.com/neuron", "nvidia.com/gpu")
# The group whose devices each claim template is for, as a Pod selects it.
GROUPS = {
    "neuron-4": "Trn2",
    "gpu-1": "P5",
    "node-gpus": "P5",
    "node-efas": "P5",
    "gb200-node": "Gb200",
}


@pytest.fixture(scope="module")
def synthesised(reference_app):
    """The folder of each stack's objects, and the plans of its groups."""
    folder, groups = reference_app("gitops")
    return {
        name: (next((folder / "eks-devices").glob(f"{name}-*")), plans)
        for name, plans in groups.items()
    }


def objects(folder):
    """What a GitOps tool reads, in the order of the files' names."""
    return [
        item
        for file in sorted(folder.glob("*.yaml"))
        for item in yaml.safe_load_all(file.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize("stack", ["Training", "Blackwell"])
def test_every_node_gets_its_managers_and_every_claim_its_devices(world, synthesised, stack):
    folder, groups = synthesised[stack]
    items = objects(folder)
    system = world.join_other("system")
    world.install(*items)

    nodes = {name: group for group in groups for name in world.join(group, group.max_size)}

    assert world.managers() == world.planned(nodes) | {system: []}

    templates = [one for one in items if one["kind"] == "ResourceClaimTemplate"]
    assert templates
    # The largest first: on a node that others use, the scheduler would search for ten seconds.
    for template in sorted(templates, key=lambda one: -sum(asked(one).values())):
        assert counts(world, run(world, template)) == asked(template)
        world.tally["claims of the reference app"] += 1


def run(world, template):
    """A Pod with a claim of a template, as the README writes it, once it has a node."""
    meta = template["metadata"]
    item = pod(
        meta["name"],
        namespace=meta["namespace"],
        templates=[meta["name"]],
        nodeSelector={"eks-devices/nodegroup": GROUPS[meta["name"]]},
        tolerations=[{"key": key, "operator": "Exists"} for key in TAINTS],
    )
    world.install(item)
    wait_bound(world.api, item)
    return item


def counts(world, item):
    """How many devices the Pod's claim holds, by request."""
    return Counter(one.request for one in given(world.api, item))


def asked(template):
    requests = template["spec"]["spec"]["devices"]["requests"]
    return {one["name"]: one["exactly"]["count"] for one in requests}
