"""Four Pods on a Trainium UltraServer: one on every node of trn2u.48xlarge.

`python3 ultraserver.py | kubectl apply -f -` makes a claim template and a LeaderWorkerSet, whose
controller the cluster needs (https://lws.sigs.k8s.io). It puts each group on one UltraServer and
makes the headless Service `ultraserver`, by which Pods find their leader in LWS_LEADER_ADDRESS.
The nodes are of `NodegroupSpec(name="ultra", instance_type="trn2u.48xlarge", ...)`, of a
`Capacity.ultraserver_block(...)`.
"""

from __future__ import annotations

import json
from typing import Any

from eks_devices import DeviceRequest, ResourceClaimTemplate, ultraserver_workers, use_efa

KUBERNETES, INSTANCE_TYPE = "1.34", "trn2u.48xlarge"
NAMESPACE = "train"
NODES_OF_A_GROUP, GROUPS = 4, 1

# Within an UltraServer NeuronLink connects the nodes, between UltraServers EFA.
whole_node = ResourceClaimTemplate(
    name="ultraserver-node",
    namespace=NAMESPACE,
    requests=[DeviceRequest.ultraserver_node(mode=NODES_OF_A_GROUP), DeviceRequest.efa()],
)
pod_spec = {
    "resourceClaims": [{"name": "node", "resourceClaimTemplateName": whole_node.name}],
    "containers": [
        {
            "name": "train",
            "image": "registry.example.com/train:1",
            "resources": {"requests": {"memory": "1800Gi"}, "claims": [{"name": "node"}]},
        }
    ],
}


def manifests() -> list[dict[str, Any]]:
    workers = ultraserver_workers(
        use_efa(
            pod_spec,
            hugepages="10240Mi",
            environment=True,
            instance_type=INSTANCE_TYPE,
        ),
        name="ultraserver",
        namespace=NAMESPACE,
        claim=whole_node,
        size=NODES_OF_A_GROUP,
        replicas=GROUPS,
    )
    template = whole_node.to_dict(kubernetes_version=KUBERNETES, instance_type=INSTANCE_TYPE)
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    return [namespace, template, workers]


if __name__ == "__main__":
    print("\n---\n".join(json.dumps(one, indent=2) for one in manifests()))
