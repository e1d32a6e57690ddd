"""The device managers of a cluster as YAML in dist/, by cdk8s and without the AWS CDK.

`cdk8s synth` runs this file, and so does `python3 main.py`. The cluster and its node groups may
be made by anything that gives the nodes the labels of `plan.nodegroups[...].labels`.
"""

from __future__ import annotations

import cdk8s

from eks_device_charts import ImageSource, claims_chart, device_charts
from eks_devices import (
    Capacity,
    DeviceRequest,
    MatchAttribute,
    Mechanism,
    NodegroupSpec,
    ResourceClaimTemplate,
    plan_cluster,
)

KUBERNETES = "1.34"

plan = plan_cluster(
    kubernetes_version=KUBERNETES,
    nodegroups=[
        NodegroupSpec(
            name="trn2",
            instance_type="trn2.48xlarge",
            capacity=Capacity.block("cr-0123456789abcdef0"),
            max_size=4,
        ),
        NodegroupSpec(
            name="g6e",
            instance_type="g6e.12xlarge",
            mechanism=Mechanism.DEVICE_PLUGIN,
            max_size=2,
        ),
    ],
)
four_connected = ResourceClaimTemplate(
    name="neuron-4",
    namespace="train",
    requests=[DeviceRequest.neuron(4), DeviceRequest.efa()],
    match=MatchAttribute.DEVICE_GROUP,
)

app = cdk8s.App()
device_charts(app, plan, images=ImageSource(region="us-east-2"))
claims_chart(app, [four_connected], kubernetes_version=KUBERNETES, instance_type="trn2.48xlarge")
app.synth()
