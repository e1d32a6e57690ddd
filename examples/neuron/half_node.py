"""Two Pods share a node of trn2.48xlarge: 8 connected Neuron devices and their 8 EFAs for each.

`python3 half_node.py | kubectl apply -f -` makes a claim template and a Job of two Pods for the
nodes of `NodegroupSpec(name="trn2", instance_type="trn2.48xlarge", ...)`, whose devices are served
by DRA unless the group says otherwise. EFA carries nothing between two Pods of one node: they
train each on its own, or with Pods of other nodes.
"""

from __future__ import annotations

import json
from typing import Any

from eks_devices import DeviceRequest, MatchAttribute, ResourceClaimTemplate, use_efa

KUBERNETES, INSTANCE_TYPE = "1.34", "trn2.48xlarge"
NAMESPACE = "train"

half = ResourceClaimTemplate(
    name="half-node",
    namespace=NAMESPACE,
    requests=[DeviceRequest.neuron(8), DeviceRequest.efa()],
    match=MatchAttribute.DEVICE_GROUP,
)
pod_spec = {
    "restartPolicy": "Never",
    # EKS adds a toleration to Pods that ask for this resource, and none to those with claims.
    "tolerations": [{"key": "aws.amazon.com/neuron", "operator": "Exists"}],
    "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": half.name}],
    "containers": [
        {
            "name": "train",
            "image": "registry.example.com/train:1",
            "resources": {"requests": {"memory": "900Gi"}, "claims": [{"name": "devices"}]},
        }
    ],
}


def manifests() -> list[dict[str, Any]]:
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "half-nodes", "namespace": NAMESPACE},
        "spec": {
            "parallelism": 2,
            "completions": 2,
            "template": {
                # Twice the huge pages of a Pod are what a node reserves.
                "spec": use_efa(pod_spec, environment=True, instance_type=INSTANCE_TYPE)
            },
        },
    }
    template = half.to_dict(kubernetes_version=KUBERNETES, instance_type=INSTANCE_TYPE)
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        template,
        job,
    ]


if __name__ == "__main__":
    print("\n---\n".join(json.dumps(one, indent=2) for one in manifests()))
