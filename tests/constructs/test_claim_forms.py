"""What claims may say beyond numbers of devices, as node groups of a stack take it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aws_cdk.assertions import Annotations, Match

from eks_devices import (
    DeviceRequest,
    DeviceToleration,
    DistinctAttribute,
    EksDevicesError,
    MatchAttribute,
    Mechanism,
    OpaqueConfig,
    WholeNodeSplit,
    use_claims,
)

R = DeviceRequest
MANIFEST = "Custom::AWSCDK-EKS-KubernetesResource"
LABEL = "resource.kubernetes.io/admin-access"


@pytest.fixture
def world(make_served):
    return make_served()


@pytest.fixture
def group(world):
    """A group of p4d nodes, whose GPUs and EFAs are claimed."""
    return world.cluster.add_nodegroup(
        "P4d",
        instance_type="p4d.24xlarge",
        max_size=1,
        mechanism=Mechanism.DRA,
        subnet=world.vpc.private_subnets[0],
    )


def sent(world: Any, kind: str) -> list[dict[str, Any]]:
    return [
        item
        for resource in world.template().find_resources(MANIFEST).values()
        for item in json.loads(resource["Properties"]["Manifest"])
        if item["kind"] == kind
    ]


def namespaces(world: Any) -> dict[str, dict[str, str]]:
    """The labels of namespaces for claims."""
    return {
        one["metadata"]["name"]: one["metadata"].get("labels", {})
        for one in sent(world, "Namespace")
    }


def told(world: Any, code: str) -> int:
    pattern = Match.string_like_regexp(rf".*{code}.*")
    found = Annotations.from_stack(world.stack)
    return len(found.find_info("*", pattern)) + len(found.find_warning("*", pattern))


def test_a_claim_takes_constraints_and_configurations(world, group):
    config = OpaqueConfig(driver="gpu.nvidia.com", parameters={"kind": "A"}, requests=["gpu"])
    options: Any = {
        "namespace": "train",
        "requests": [R.gpu(2), R.efa(1), R.first_available(R.gpu(6), R.gpu(2, name="two"))],
        "constraints": [MatchAttribute.PCIE_ROOT.over("gpu", "efa")],
        "configs": [config],
    }
    group.add_resource_claim_template("a", **options)
    group.add_resource_claim("b", **options)

    (template,), (claim,) = sent(world, "ResourceClaimTemplate"), sent(world, "ResourceClaim")

    assert template["spec"]["spec"] == claim["spec"]
    assert claim["spec"]["devices"]["constraints"][0]["requests"] == ["gpu", "efa"]
    assert claim["spec"]["devices"]["config"][0]["opaque"]["parameters"] == {"kind": "A"}
    assert len(claim["spec"]["devices"]["requests"][2]["firstAvailable"]) == 2


def test_a_group_of_an_old_minor_refuses_what_its_api_server_drops(group):
    asked = R.gpu(2).tolerating(DeviceToleration(key="a"))
    with pytest.raises(EksDevicesError) as error:
        group.add_resource_claim_template(
            "a",
            namespace="train",
            requests=[asked],
            constraints=[DistinctAttribute.of("gpu.nvidia.com/uuid")],
        )

    assert {one.code for one in error.value.faults} == {
        "TolerationsNeedKubernetes",
        "DistinctNeedsKubernetes",
    }


def test_a_namespace_for_admin_access_has_the_label(world, group):
    watched = [R.gpu(8).with_admin_access()]
    group.add_resource_claim("watch", namespace="watch", requests=watched, create_namespace=True)
    group.add_resource_claim("use", namespace="train", requests=[R.gpu()], create_namespace=True)

    found = namespaces(world)

    assert found["watch"] == {LABEL: "true"}
    assert found["train"] == {}
    assert told(world, "AdminAccessLabelNeeded") == 0
    (claim,) = [one for one in sent(world, "ResourceClaim") if one["metadata"]["name"] == "watch"]
    assert claim["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"] is True


@pytest.mark.parametrize("namespace", ["others", "default"])
def test_the_label_of_a_namespace_of_others_is_told(world, group, namespace):
    watched = [R.gpu(8).with_admin_access()]

    group.add_resource_claim("watch", namespace=namespace, requests=watched)

    assert told(world, "AdminAccessLabelNeeded") == 1


def test_a_namespace_that_a_manager_has_gets_no_label_of_ours(world, group):
    group.add_resource_claim(
        "watch",
        namespace="nvidia",
        requests=[R.gpu(8).with_admin_access()],
        create_namespace=True,
    )

    assert LABEL not in namespaces(world)["nvidia"]
    assert told(world, "AdminAccessLabelNeeded") == 1


def test_a_namespace_that_was_made_without_the_label_is_refused(world, group):
    group.add_resource_claim("use", namespace="train", requests=[R.gpu()], create_namespace=True)

    with pytest.raises(EksDevicesError) as error:
        group.add_resource_claim(
            "watch",
            namespace="train",
            requests=[R.gpu().with_admin_access()],
            create_namespace=True,
        )

    assert [one.code for one in error.value.faults] == ["NamespaceWithoutAdminAccess"]
    assert namespaces(world)["train"] == {}


def test_a_whole_node_has_its_templates(world, group):
    found = group.add_whole_node_claims(
        "all", namespace="train", split=WholeNodeSplit.BY_PCIE_ROOT, create_namespace=True
    )
    pod = use_claims({"containers": [{"name": "a"}]}, found, nodegroup=group.plan)

    (template,) = sent(world, "ResourceClaimTemplate")

    assert template["metadata"]["name"] == "all"
    assert [one["resourceClaimTemplateName"] for one in pod["resourceClaims"]] == ["all"] * 4
    assert pod["nodeSelector"] == {"eks-devices/nodegroup": "P4d"}


def test_a_pool_takes_whole_nodes_when_it_has_a_group(world):
    pool = world.cluster.add_nodegroup_pool("Pool", instance_type="p4d.24xlarge", max_size=1)

    with pytest.raises(EksDevicesError) as error:
        pool.add_whole_node_claims("all", namespace="train")

    assert [(one.code, one.path) for one in error.value.faults] == [
        ("EmptyPool", "claims.train/all")
    ]
