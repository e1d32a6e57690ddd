"""Claims and ComputeDomains of a node group in a stack."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aws_cdk.assertions import Annotations, Match

from eks_device_constructs import Delivery, ExternalDrivers
from eks_devices import (
    Capacity,
    ClaimSharing,
    DeviceRequest,
    DeviceType,
    EksDevicesError,
    GpuDriver,
    MatchAttribute,
    Mechanism,
    ResourceClaim,
)
from eks_devices.claims.objects import object_keys

MANIFEST = "Custom::AWSCDK-EKS-KubernetesResource"


@pytest.fixture
def world(make_served):
    return make_served()


def sent(world, kind: str) -> list[dict[str, Any]]:
    return [
        item
        for resource in world.template().find_resources(MANIFEST).values()
        for item in json.loads(resource["Properties"]["Manifest"])
        if item["kind"] == kind
    ]


def resource_of(world, kind: str) -> dict[str, Any]:
    (found,) = [
        dict(resource)
        for resource in world.template().find_resources(MANIFEST).values()
        if f'"kind":"{kind}"' in resource["Properties"]["Manifest"]
        and '"train"' in resource["Properties"]["Manifest"]
    ]
    return found


def faults_of(call, *args: Any, **options: Any) -> set[str]:
    with pytest.raises(EksDevicesError) as raised:
        call(*args, **options)
    return {one.code for one in raised.value.faults}


def test_an_open_efa_count_is_filled_from_the_group(world):
    group = world.add_trn2()

    group.add_resource_claim_template(
        "neuron-4",
        namespace="train",
        requests=[DeviceRequest.neuron(4), DeviceRequest.efa()],
        match=MatchAttribute.DEVICE_GROUP,
    )
    (template,) = sent(world, "ResourceClaimTemplate")
    devices = template["spec"]["spec"]["devices"]

    assert template["metadata"] == {"name": "neuron-4", "namespace": "train"}
    assert [one["exactly"]["count"] for one in devices["requests"]] == [4, 4]
    assert devices["constraints"] == [
        {"requests": ["neuron", "efa"], "matchAttribute": "resource.aws.com/devicegroup4_id"}
    ]


def test_labels_of_claims_and_of_what_is_made_from_them_are_sent(world):
    group = world.add_trn2()
    options = {"namespace": "train", "requests": [DeviceRequest.neuron(1)], "labels": {"a": "b"}}

    group.add_resource_claim_template("t", claim_labels={"queue": "ml"}, **options)
    group.add_resource_claim("c", **options)

    (template,) = sent(world, "ResourceClaimTemplate")
    (claim,) = sent(world, "ResourceClaim")
    assert (template["metadata"]["labels"], claim["metadata"]["labels"]) == ({"a": "b"},) * 2
    assert template["spec"]["metadata"] == {"labels": {"queue": "ml"}}


def test_a_group_with_fewer_interfaces_fills_in_its_own_number(world):
    group = world.add_trn2(efa=4)

    group.add_resource_claim_template("efas", namespace="train", requests=[DeviceRequest.efa()])
    (template,) = sent(world, "ResourceClaimTemplate")

    assert template["spec"]["spec"]["devices"]["requests"][0]["exactly"]["count"] == 4


def test_a_namespace_is_made_once_and_never_deleted(world):
    group = world.add_trn2()
    for name in ("a", "b"):
        group.add_resource_claim_template(
            name, namespace="train", requests=[DeviceRequest.neuron(1)], create_namespace=True
        )

    (namespace,) = [one for one in sent(world, "Namespace") if one["metadata"]["name"] == "train"]
    resource = resource_of(world, "Namespace")

    assert namespace["metadata"] == {"name": "train"}
    assert resource["DeletionPolicy"] == "Retain"
    for claim in world.template().find_resources(MANIFEST).values():
        if "ResourceClaimTemplate" in claim["Properties"]["Manifest"]:
            assert any("Namespacetrain" in name for name in claim["DependsOn"])


def test_a_namespace_that_nobody_makes_is_told(world):
    group = world.add_trn2()
    group.add_resource_claim_template("a", namespace="mine", requests=[DeviceRequest.neuron(1)])
    group.add_resource_claim_template("b", namespace="default", requests=[DeviceRequest.neuron(1)])

    told = Annotations.from_stack(world.stack).find_info(
        "*", Match.string_like_regexp(r".*NamespaceNotCreated.*")
    )

    assert len(told) == 1


def test_a_compute_domain_waits_for_its_kind(world):
    group = world.add_trn2("Gb200", instance_type="p6e-gb200.36xlarge", max_size=18)
    group.add_compute_domain("trainer", namespace="train", nodes=18)

    (domain,) = sent(world, "ComputeDomain")
    (resource,) = [
        one
        for one in world.template().find_resources(MANIFEST).values()
        if '"ComputeDomain"' in one["Properties"]["Manifest"]
        and "CustomResourceDefinition" not in one["Properties"]["Manifest"]
    ]

    assert domain["spec"]["numNodes"] == 18
    assert any("computedomaindra" in name for name in resource["DependsOn"])


def test_crds_outlive_their_manager(world):
    world.add_trn2("Gb200", instance_type="p6e-gb200.36xlarge", max_size=18)

    crds = [
        one
        for one in world.template().find_resources(MANIFEST).values()
        if "CustomResourceDefinition" in one["Properties"]["Manifest"]
    ]

    assert len(crds) == 2
    assert {one["DeletionPolicy"] for one in crds} == {"Retain"}


def test_a_claim_for_what_a_plugin_hands_out_is_refused(world):
    group = world.cluster.add_nodegroup(
        "G6e", instance_type="g6e.12xlarge", mechanism=Mechanism.DEVICE_PLUGIN, max_size=1
    )

    assert faults_of(
        group.add_resource_claim_template, "a", namespace="n", requests=[DeviceRequest.gpu(1)]
    ) == {"ClaimNeedsDra"}


def test_a_compute_domain_needs_such_a_group(world):
    group = world.add_trn2()

    assert faults_of(group.add_compute_domain, "a", namespace="n") == {
        "ComputeDomainNeedsNvlinkDomain",
    }


def test_a_claim_over_32_devices_is_refused(world):
    group = world.add_trn2(
        "P5", instance_type="p5.48xlarge", capacity=Capacity.reservation("cr-0123456789abcdef1")
    )

    assert faults_of(
        group.add_resource_claim_template,
        "node",
        namespace="n",
        requests=[DeviceRequest.gpu(8), DeviceRequest.efa()],
    ) == {"ClaimTooLarge"}


def test_more_interfaces_than_the_group_has_are_refused(world):
    group = world.add_trn2(efa=4)

    assert faults_of(
        group.add_resource_claim_template, "a", namespace="n", requests=[DeviceRequest.efa(5)]
    ) == {"TooManyDevices"}


def test_a_claim_needs_a_delivery(make_world):
    world = make_world()
    external = world.add_trn2(drivers=ExternalDrivers())
    alone = world.add_trn2("Alone", capacity=Capacity.block("cr-0123456789abcdef1"))

    for group in (external, alone):
        assert faults_of(
            group.add_resource_claim_template, "a", namespace="n", requests=[DeviceRequest.efa(1)]
        ) == {"NoDelivery"}


def test_drivers_elsewhere_may_deliver_the_claims_of_this_app(make_world, tmp_path):
    world = make_world()
    drivers = ExternalDrivers(delivery=Delivery.gitops("unused"))
    group = world.add_trn2(drivers=drivers)
    group.add_resource_claim_template("a", namespace="n", requests=[DeviceRequest.neuron(1)])

    world.app.synth()

    (file,) = (tmp_path / "out0").rglob("*.yaml")

    assert "kind: ResourceClaimTemplate" in file.read_text(encoding="utf-8")


def test_a_name_stands_for_one_claim_in_a_namespace(make_served):
    world = make_served()
    first, second = world.add_trn2("First"), world.add_trn2("Second")
    options: dict[str, Any] = {"namespace": "n", "requests": [DeviceRequest.neuron(1)]}
    first.add_resource_claim_template("a", **options)
    second.add_resource_claim_template("b", **options)
    second.add_resource_claim_template("a", **(options | {"namespace": "other"}))

    for group in (first, second):
        assert faults_of(group.add_resource_claim_template, "a", **options) == {"RepeatedClaim"}


@pytest.mark.parametrize("first", ["the domain", "the template"])
def test_the_channel_of_a_domain_is_no_other_template(world, first):
    group = world.add_trn2("Gb200", instance_type="p6e-gb200.36xlarge", max_size=18)
    template: dict[str, Any] = {"namespace": "train", "requests": [DeviceRequest.gpu(1)]}
    calls: list[Any] = [
        lambda: group.add_compute_domain("trainer", namespace="train"),
        lambda: group.add_resource_claim_template("trainer-channel", **template),
    ]
    made, refused = calls if first == "the domain" else reversed(calls)
    made()

    assert faults_of(refused) == {"RepeatedClaim"}


class OwnClaim(ResourceClaim):
    """A claim of a user's class is a ResourceClaim of the cluster like any other."""


def test_objects_are_told_apart_by_their_kind_in_the_cluster():
    requests = [DeviceRequest.gpu(1)]
    claims = [made(name="a", requests=requests) for made in (ResourceClaim, OwnClaim)]

    assert object_keys(claims[0]) == object_keys(claims[1]) == [("ResourceClaim", "default", "a")]


def claim_needs(world, name: str) -> set[str]:
    """The logical ids that a claim waits for; each is a resource of the template."""
    resources = world.template().to_json()["Resources"]
    (claim,) = [one for key, one in resources.items() if key.startswith(name)]
    assert {*claim["DependsOn"]} <= {*resources}
    return {*claim["DependsOn"]}


CLAIM: dict[str, Any] = {"namespace": "n", "requests": [DeviceRequest.neuron(1)]}


def test_an_earlier_claim_waits_for_a_namespace_that_a_later_one_makes(make_served):
    world = make_served()
    first, second = world.add_trn2("First"), world.add_trn2("Second")
    first.add_resource_claim_template("a", **CLAIM)
    second.add_resource_claim_template("b", create_namespace=True, **CLAIM)

    for name in ("ClusterFirstResourceClaim", "ClusterSecondResourceClaim"):
        assert [
            one for one in claim_needs(world, name) if "Namespacen" in one and "neuron" not in one
        ]


def test_a_namespace_outlives_the_group_that_asked_for_it(make_served):
    world = make_served()
    first, second = world.add_trn2("First"), world.add_trn2("Second")
    for group, name in ((first, "a"), (second, "b")):
        group.add_resource_claim_template(name, create_namespace=True, **CLAIM)
    world.cluster.node.try_remove_child("First")

    assert [one for one in claim_needs(world, "ClusterSecondResourceClaim") if "Namespacen" in one]


def test_a_manager_s_namespace_is_made_once(make_served):
    world = make_served()
    world.add_trn2().add_resource_claim_template(
        "a",
        namespace="neuron-dra-driver",
        requests=[DeviceRequest.neuron(1)],
        create_namespace=True,
    )

    made = [
        one
        for one in world.template().find_resources(MANIFEST).values()
        if '"kind":"Namespace"' in one["Properties"]["Manifest"]
    ]
    assert len(made) == 1
    assert "privileged" in made[0]["Properties"]["Manifest"]
    assert any("Namespace" in one for one in claim_needs(world, "ClusterTrn2ResourceClaim"))


def test_namespace_and_name_do_not_run_together(make_served):
    world = make_served()
    group = world.add_trn2()
    options: dict[str, Any] = {"requests": [DeviceRequest.neuron(1)]}

    group.add_resource_claim_template("c-a", namespace="n", **options)
    group.add_resource_claim_template("a", namespace="n-c", **options)


@pytest.mark.parametrize("value", ["yes", 1, None, []])
def test_create_namespace_is_true_or_false(value, make_served):
    group = make_served().add_trn2()

    found = faults_of(group.add_resource_claim_template, "a", create_namespace=value, **CLAIM)

    assert found == {"WrongType"}


def test_a_domain_that_waits_for_more_nodes_than_there_are_is_a_warning(make_served):
    world = make_served()
    group = world.cluster.add_nodegroup(
        "Gb200",
        instance_type="p6e-gb200.36xlarge",
        subnet=world.vpc.private_subnets[0],
        capacity=Capacity.block("cr-0123456789abcdef0"),
        max_size=4,
    )
    group.add_compute_domain("small", namespace="default", nodes=4)
    group.add_compute_domain("large", namespace="default", nodes=18)

    found = Annotations.from_stack(world.stack).find_warning(
        "*", Match.string_like_regexp("DomainLargerThanNodegroup")
    )
    assert len(found) == 1


@pytest.mark.parametrize("construct", ["ClusterDrivers", "ClusterOne", "ClusterTwo"])
def test_no_more_manifests_of_a_construct_run_at_once(make_served, construct):
    """The widest set of manifests of which none waits for another, by Dilworth's theorem."""
    world = make_served()
    for group in ("One", "Two"):
        added = world.add_trn2(group)
        for claim in range(8):
            added.add_resource_claim_template(f"{group.lower()}-{claim}", **CLAIM)
    resources = world.template().to_json()["Resources"]
    names = {key for key, one in resources.items() if one["Type"] == MANIFEST}
    own = {name for name in names if name.startswith(construct)}

    waits: dict[str, set[str]] = {}

    def closure(name: str) -> set[str]:
        if name not in waits:
            direct = {*resources[name].get("DependsOn", [])} & names
            waits[name] = direct.union(*map(closure, direct))
        return waits[name]

    partner: dict[str, str] = {}

    def matched(name: str, seen: set[str]) -> bool:
        for other in sorted((closure(name) & own) - seen):
            seen.add(other)
            if other not in partner or matched(partner[other], seen):
                partner[other] = name
                return True
        return False

    chains = sum(not matched(name, set()) for name in sorted(own))
    assert len(own) > 5
    assert chains <= 5


def circle(world) -> bool:
    """Whether resources of the template wait for each other."""
    resources = world.template().to_json()["Resources"]
    waiting = {name: {*one.get("DependsOn", [])} for name, one in resources.items()}
    while done := {name for name, needed in waiting.items() if not needed & {*waiting}}:
        waiting = {name: needed for name, needed in waiting.items() if name not in done}
    return bool(waiting)


def test_a_namespace_after_many_claims_closes_no_circle(make_served):
    world = make_served()
    group = world.add_trn2()
    for claim in range(6):
        group.add_resource_claim_template(f"a{claim}", **CLAIM)
    group.add_resource_claim_template("b", create_namespace=True, **CLAIM)

    assert not circle(world)


def test_groups_that_wait_for_each_other_or_the_cluster_close_no_circle(make_served):
    world = make_served()
    first, second = world.add_trn2("First"), world.add_trn2("Second")
    first.node.add_dependency(world.cluster.cluster)
    second.node.add_dependency(first)
    for claim in range(6):
        second.add_resource_claim_template(f"s{claim}", **CLAIM)
        first.add_resource_claim_template(f"f{claim}", **CLAIM)
    first.add_resource_claim_template("last", create_namespace=True, **CLAIM)

    assert not circle(world)


def test_a_manager_finds_its_namespace_made_for_a_claim(make_served):
    world = make_served()
    world.add_trn2().add_resource_claim_template(
        "a", namespace="nvidia", requests=[DeviceRequest.neuron(1)], create_namespace=True
    )
    world.cluster.add_nodegroup(
        "G6e", instance_type="g6e.12xlarge", max_size=1, mechanism=Mechanism.DRA
    )

    (made,) = [
        one["Properties"]["Manifest"]
        for one in world.template().find_resources(MANIFEST).values()
        if '"Namespace"' in one["Properties"]["Manifest"]
        and '"name":"nvidia"' in one["Properties"]["Manifest"]
    ]
    assert "privileged" in made
    assert not circle(world)


def test_kubectl_waits_for_no_namespace_of_a_gitops_tool(make_served):
    world = make_served()
    foreign = [DeviceType.NEURON]
    options: dict[str, Any] = {"namespace": "n", "requests": [DeviceRequest.efa(1)]}
    for name, delivery in (("Files", Delivery.gitops("x")), ("Applied", None)):
        drivers = ExternalDrivers(foreign=foreign, delivery=delivery)
        group = world.add_trn2(name, mechanism=Mechanism.DRA, drivers=drivers)
        group.add_resource_claim_template(name.lower(), create_namespace=True, **options)

    assert [
        one
        for one in claim_needs(world, "ClusterAppliedResourceClaim")
        if one.startswith("ClusterNamespacen")
    ]


def test_a_file_for_a_gitops_tool_is_no_namespace_of_kubectl(make_served):
    world = make_served()
    foreign = ExternalDrivers(foreign=[DeviceType.GPU], delivery=Delivery.gitops("x"))
    g6e: dict[str, Any] = {
        "instance_type": "g6e.12xlarge",
        "max_size": 1,
        "mechanism": Mechanism.DRA,
    }
    world.cluster.add_nodegroup("Files", drivers=foreign, **g6e).add_resource_claim_template(
        "a", namespace="nvidia", requests=[DeviceRequest.gpu(1)], create_namespace=True
    )
    world.cluster.add_nodegroup("Applied", **g6e)

    made = [
        one
        for one in world.template().find_resources(MANIFEST).values()
        if '"kind":"Namespace"' in one["Properties"]["Manifest"]
    ]
    assert len(made) == 1


def test_a_claim_that_kubectl_cannot_apply_is_refused(make_served, faults_of):
    group = make_served().add_trn2()
    # As long as a selector may be, as often as a claim may ask.
    condition = f"device.driver == 'neuron.aws.com' || '{'x' * 9900}' == ''"
    requests = [
        DeviceRequest.neuron(1, name=f"r{number}").where(condition).where(condition)
        for number in range(15)
    ]

    found = faults_of(
        group.add_resource_claim_template, "long", namespace="train", requests=requests
    )

    assert ("ManifestTooLarge", "claims.train/long") in found


def g6e(world, driver: GpuDriver | None = None) -> Any:
    return world.cluster.add_nodegroup(
        "G6e",
        instance_type="g6e.12xlarge",
        mechanism=Mechanism.DRA,
        gpu_driver=driver,
        max_size=1,
    )


SLICED = DeviceRequest.gpu(sharing=ClaimSharing.time_slicing())


def test_a_claim_that_pods_share_is_sent_as_such(world):
    group = g6e(world, GpuDriver(feature_gates={"TimeSlicingSettings": True}))

    added = group.add_resource_claim(
        "shared", namespace="train", requests=[SLICED], create_namespace=True
    )
    (claim,) = sent(world, "ResourceClaim")

    assert added == ResourceClaim(name="shared", namespace="train", requests=[SLICED])
    assert claim["metadata"] == {"name": "shared", "namespace": "train"}
    assert claim["spec"]["devices"]["requests"][0]["exactly"]["count"] == 1
    assert claim["spec"]["devices"]["config"][0]["opaque"]["parameters"] == {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "GpuConfig",
        "sharing": {"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": "Default"}},
    }
    assert [one for one in claim_needs(world, "ClusterG6eResourceClaim") if "Namespacetrain" in one]


def test_a_shared_claim_is_filled_and_judged_like_a_template(world):
    group = world.add_trn2(efa=4)

    group.add_resource_claim("efas", namespace="train", requests=[DeviceRequest.efa()])
    (claim,) = sent(world, "ResourceClaim")

    assert claim["spec"]["devices"]["requests"][0]["exactly"]["count"] == 4
    assert faults_of(
        group.add_resource_claim, "more", namespace="train", requests=[DeviceRequest.efa(5)]
    ) == {"TooManyDevices"}
    assert faults_of(
        group.add_resource_claim, "a", namespace="train", requests=[SLICED], create_namespace="yes"
    ) >= {"NoSuchDevice", "WrongType"}


def test_a_claim_and_a_template_may_have_one_name_and_no_two_claims(world):
    group = world.add_trn2()
    group.add_resource_claim_template("a", **CLAIM)
    group.add_resource_claim("a", **CLAIM)

    assert faults_of(group.add_resource_claim, "a", **CLAIM) == {"RepeatedClaim"}


def test_sharing_without_the_gate_on_the_group_is_refused(world):
    group = g6e(world)

    assert faults_of(group.add_resource_claim, "a", namespace="n", requests=[SLICED]) == {
        "ClaimNeedsFeatureGate"
    }


def test_sharing_in_a_template_is_told_to_be_for_containers(world):
    group = g6e(world, GpuDriver(feature_gates={"TimeSlicingSettings": True}))
    group.add_resource_claim_template("each", namespace="default", requests=[SLICED])
    group.add_resource_claim("shared", namespace="default", requests=[SLICED])

    told = Annotations.from_stack(world.stack).find_info(
        "*", Match.string_like_regexp(r".*SharedByContainers.*")
    )

    assert len(told) == 1
