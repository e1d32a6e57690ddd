"""Synthesis of 1, 10 and 100 node groups against the same resources written by hand.

The baseline is an app of L1 constructs that draws the same launch templates, node groups and what
they share, from values worked out beforehand. Both run in this process, in turns; what counts is
the ratio, and the number of messages to the CDK's own process. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

os.environ.setdefault("CDK_VALIDATION", "false")

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from jsii._kernel.providers.process import _NodeProcess

from eks_device_constructs import AcceleratedCluster, ExternalDrivers
from eks_devices import Capacity

TARGET_RATIO, TARGET_CALLS = 1.15, 4
TYPES = ("p5.48xlarge", "trn2.48xlarge", "g6e.12xlarge", "p5en.48xlarge")


def world(folder: str) -> tuple[cdk.App, cdk.Stack, ec2.Vpc, AcceleratedCluster]:
    """An app with a network and a cluster, which both ways have in common."""
    app = cdk.App(outdir=folder)
    stack = cdk.Stack(app, "Training", env=cdk.Environment(region="us-east-2"))
    vpc = ec2.Vpc(stack, "Vpc", max_azs=2)
    version = eks.KubernetesVersion.V1_35
    return app, stack, vpc, AcceleratedCluster(stack, "Cluster", vpc=vpc, version=version)


def with_library(count: int, folder: str) -> tuple[float, int, dict[str, Any]]:
    """Seconds and messages for the groups and the synthesis, and the template."""
    app, stack, vpc, cluster = world(folder)
    elsewhere, subnet = ExternalDrivers(), vpc.private_subnets[0]
    with measured() as taken:
        for number in range(count):
            kind = TYPES[number % len(TYPES)]
            cluster.add_nodegroup(
                f"Group{number}",
                instance_type=kind,
                subnet=subnet,
                capacity=capacity_of(kind, number),
                drivers=elsewhere,
                max_size=4,
            )
        assembly = app.synth()
    return *taken, assembly.get_stack_by_name(stack.stack_name).template


def capacity_of(kind: str, number: int) -> Capacity:
    """Reserved where it is sold so, or on demand."""
    if kind.startswith("g"):
        return Capacity.on_demand()
    return Capacity.reservation(f"cr-{number:017x}")


def by_hand(count: int, folder: str, drawn: dict[str, Any]) -> tuple[float, int, dict[str, Any]]:
    """The same with L1 constructs, from the properties of the library's own template."""
    app, stack, vpc, cluster = world(folder)
    groups = [list(pair) for pair in _pairs(drawn)]
    with measured() as taken:
        efa = _efa_group(stack, vpc)
        shared = [cluster.cluster.cluster_security_group_id, efa.security_group_id]
        role = _role(cluster)
        subnet = vpc.private_subnets[0].subnet_id
        for number in range(count):
            around = (shared, role, subnet, cluster, efa)
            _group(stack, f"Group{number}", groups[number], around)
        assembly = app.synth()
    return *taken, assembly.get_stack_by_name(stack.stack_name).template


def _role(cluster: AcceleratedCluster) -> str:
    role: iam.IRole = cluster.node_role
    return role.role_arn


def _efa_group(stack: cdk.Stack, vpc: ec2.Vpc) -> ec2.SecurityGroup:
    group = ec2.SecurityGroup(stack, "Efa", vpc=vpc, allow_all_outbound=True)
    group.add_ingress_rule(group, ec2.Port.all_traffic(), "EFA")
    ec2.CfnSecurityGroupEgress(
        group,
        "Egress",
        group_id=group.security_group_id,
        destination_security_group_id=group.security_group_id,
        ip_protocol="-1",
    )
    return group


def _pairs(template: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    resources = template["Resources"]
    for one in resources.values():
        if one["Type"] == "AWS::EKS::Nodegroup":
            name = one["Properties"]["LaunchTemplate"]["Id"]["Ref"]
            yield one["Properties"], resources[name]["Properties"]["LaunchTemplateData"]


def _group(
    stack: cdk.Stack,
    id_: str,
    pair: list[dict[str, Any]],
    around: tuple[list[str], str, str, AcceleratedCluster, ec2.SecurityGroup],
) -> None:
    properties, data = pair
    groups, role, subnet, cluster, efa = around
    t, n = ec2.CfnLaunchTemplate, eks.CfnNodegroup
    interfaces = [
        t.NetworkInterfaceProperty(
            network_card_index=one["NetworkCardIndex"],
            device_index=one["DeviceIndex"],
            interface_type=one["InterfaceType"],
            groups=groups,
            delete_on_termination=True,
        )
        for one in data.get("NetworkInterfaces", [])
    ]
    disk = data["BlockDeviceMappings"][0]
    target = data.get("CapacityReservationSpecification", {}).get("CapacityReservationTarget")
    template = t(
        stack,
        f"{id_}Template",
        launch_template_data=t.LaunchTemplateDataProperty(
            instance_type=data["InstanceType"],
            network_interfaces=interfaces or None,
            security_group_ids=None if interfaces else groups[:1],
            capacity_reservation_specification=t.CapacityReservationSpecificationProperty(
                capacity_reservation_target=t.CapacityReservationTargetProperty(
                    capacity_reservation_id=target["CapacityReservationId"]
                )
            )
            if target
            else None,
            block_device_mappings=[
                t.BlockDeviceMappingProperty(
                    device_name=disk["DeviceName"],
                    ebs=t.EbsProperty(
                        volume_size=disk["Ebs"]["VolumeSize"],
                        volume_type="gp3",
                        encrypted=True,
                        delete_on_termination=True,
                    ),
                )
            ],
            metadata_options=t.MetadataOptionsProperty(
                http_tokens="required", http_put_response_hop_limit=1
            ),
            tag_specifications=[
                t.TagSpecificationProperty(
                    resource_type=kind, tags=[cdk.CfnTag(key="Name", value=id_)]
                )
                for kind in ("instance", "volume")
            ],
            user_data=data["UserData"],
        ),
    )
    scaling, repair = properties["ScalingConfig"], properties["NodeRepairConfig"]
    nodegroup = n(
        stack,
        f"{id_}Nodegroup",
        cluster_name=cluster.cluster.cluster_name,
        nodegroup_name=properties["NodegroupName"],
        node_role=role,
        subnets=[subnet],
        ami_type=properties["AmiType"],
        version=properties["Version"],
        capacity_type=properties["CapacityType"],
        launch_template=n.LaunchTemplateSpecificationProperty(
            id=template.ref, version=template.attr_latest_version_number
        ),
        scaling_config=n.ScalingConfigProperty(
            min_size=scaling["MinSize"],
            desired_size=scaling["DesiredSize"],
            max_size=scaling["MaxSize"],
        ),
        update_config=_update(properties),
        node_repair_config=n.NodeRepairConfigProperty(
            enabled=True,
            max_parallel_nodes_repaired_count=repair.get("MaxParallelNodesRepairedCount"),
            node_repair_config_overrides=[
                n.NodeRepairConfigOverridesProperty(
                    node_monitoring_condition=one["NodeMonitoringCondition"],
                    node_unhealthy_reason=one["NodeUnhealthyReason"],
                    min_repair_wait_time_mins=one["MinRepairWaitTimeMins"],
                    repair_action=one["RepairAction"],
                )
                for one in repair.get("NodeRepairConfigOverrides", [])
            ]
            or None,
        ),
        labels=properties["Labels"],
        taints=[
            n.TaintProperty(key=one["Key"], value=one["Value"], effect=one["Effect"])
            for one in properties["Taints"]
        ],
    )
    if target:
        nodegroup.cfn_options.update_replace_policy = cdk.CfnDeletionPolicy.RETAIN
        nodegroup.cfn_options.deletion_policy = cdk.CfnDeletionPolicy.DELETE
    nodegroup.node.add_dependency(*cluster.addons.values(), *([efa] if interfaces else []))


def _update(properties: dict[str, Any]) -> eks.CfnNodegroup.UpdateConfigProperty | None:
    if "UpdateConfig" not in properties:
        return None
    return eks.CfnNodegroup.UpdateConfigProperty(
        max_unavailable=properties["UpdateConfig"]["MaxUnavailable"],
        update_strategy=properties["UpdateConfig"]["UpdateStrategy"],
    )


@contextmanager
def measured() -> Iterator[list[Any]]:
    """Seconds of the process and its child, and messages between them."""
    taken: list[Any] = []
    messages = 0
    send: Callable[..., Any] = _NodeProcess.send

    def counted(self: Any, *arguments: Any) -> Any:
        nonlocal messages
        messages += 1
        return send(self, *arguments)

    _NodeProcess.send = counted  # type: ignore[method-assign, assignment]
    start = time.perf_counter()
    try:
        yield taken
        taken += [time.perf_counter() - start, messages]
    finally:
        _NodeProcess.send = send  # type: ignore[method-assign]


def resources_of(template: dict[str, Any]) -> dict[str, int]:
    """How many resources of each type."""
    kinds = [one["Type"] for one in template["Resources"].values()]
    return {kind: kinds.count(kind) for kind in sorted({*kinds})}


def compared(count: int, repeat: int) -> dict[str, Any]:
    """Both ways in turns; the best of each, as noise only adds."""
    ours: list[float] = []
    theirs: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(repeat):
            seconds, messages, drawn = with_library(count, f"{folder}/a{turn}")
            ours.append(seconds)
            seconds, plain, other = by_hand(count, f"{folder}/b{turn}", drawn)
            theirs.append(seconds)
    if resources_of(drawn) != resources_of(other):
        raise SystemExit(f"the two apps differ: {resources_of(drawn)}, {resources_of(other)}")
    return {
        "groups": count,
        "seconds": round(min(ours), 3),
        "seconds_by_hand": round(min(theirs), 3),
        "ratio": round(min(ours) / min(theirs), 3),
        "ratio_of_medians": round(statistics.median(ours) / statistics.median(theirs), 3),
        "messages_a_group": round(messages / count, 1),
        "messages_a_group_by_hand": round(plain / count, 1),
        "resources": sum(resources_of(drawn).values()),
        "bytes": len(json.dumps(drawn, separators=(",", ":"))),
    }


def main() -> None:
    """Compare, and say whether the aims are met at the largest size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, nargs="*", default=[1, 10, 100])
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    compared(2, 1)  # imports and the first messages cost more
    rows = [compared(count, given.repeat) for count in given.groups]
    extra = rows[-1]["messages_a_group"] - rows[-1]["messages_a_group_by_hand"]
    print(
        json.dumps(
            {
                "compared": rows,
                "target_ratio": TARGET_RATIO,
                "target_extra_messages_a_group": TARGET_CALLS,
                "extra_messages_a_group": round(extra, 1),
                "targets_met": rows[-1]["ratio"] <= TARGET_RATIO and extra <= TARGET_CALLS,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
