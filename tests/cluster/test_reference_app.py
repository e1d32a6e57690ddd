"""The reference app as it is synthesised: its objects, its nodes at full size, and its claims."""

from __future__ import annotations

import pytest
import yaml

from eks_device_operations.control_plane import wait_for

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


def managers_of(group):
    return sorted(f"{one.device_type}/{one.mechanism}" for one in group.devices)


@pytest.mark.parametrize("stack", ["Training", "Blackwell"])
def test_every_node_gets_its_managers_and_every_claim_its_devices(world, synthesised, stack):
    folder, groups = synthesised[stack]
    items = objects(folder)
    system = world.join_other("system")
    world.install(*items)

    nodes = {name: group for group in groups for name in world.join(group, group.max_size)}

    wanted = {name: managers_of(group) for name, group in nodes.items()}
    assert world.managers() == wanted | {system: []}

    templates = [one for one in items if one["kind"] == "ResourceClaimTemplate"]
    assert templates
    for template in templates:
        assert device_counts(world, run(world, template)) == asked(template)
        world.tally["claims of the reference app"] += 1


def run(world, template):
    """A Pod with a claim of a template, as the README writes it, once it runs."""
    meta = template["metadata"]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": meta["name"], "namespace": meta["namespace"]},
        "spec": {
            "nodeSelector": {"eks-devices/nodegroup": GROUPS[meta["name"]]},
            "tolerations": [{"key": key, "operator": "Exists"} for key in TAINTS],
            "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": meta["name"]}],
            "containers": [
                {
                    "name": "train",
                    "image": "example.com/train",
                    "resources": {"claims": [{"name": "devices"}]},
                }
            ],
        },
    }
    world.install(pod)
    running = wait_for(lambda: if_running(world.api.get(pod)), f"Pod {meta['name']} runs")
    return dict(running)


def if_running(pod):
    return pod if pod["status"]["phase"] == "Running" else None


def device_counts(world, pod):
    """How many devices the Pod's claim holds, by request."""
    (status,) = pod["status"]["resourceClaimStatuses"]
    path = f"/apis/resource.k8s.io/v1/namespaces/{pod['metadata']['namespace']}/resourceclaims"
    claim = world.api.find(f"{path}/{status['resourceClaimName']}")
    requests = [one["request"] for one in claim["status"]["allocation"]["devices"]["results"]]
    return {name: requests.count(name) for name in requests}


def asked(template):
    requests = template["spec"]["spec"]["devices"]["requests"]
    return {one["name"]: one["exactly"]["count"] for one in requests}
