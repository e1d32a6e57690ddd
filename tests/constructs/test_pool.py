"""Node groups that are alike but for their reservation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aws_cdk import aws_eks_v2 as eks
from tests.hostile import TOKEN, Hostile

from eks_device_constructs import AcceleratedNodegroupPool, ExternalDrivers
from eks_devices import Capacity, DeviceRequest, EksDevicesError, MatchAttribute, Mechanism

GROUP, TEMPLATE = "AWS::EKS::Nodegroup", "AWS::EC2::LaunchTemplate"
MAY = Capacity.block("cr-0123456789abcdef0", key="may")
JUNE = Capacity.block("cr-0123456789abcdef1", key="june")
GROUPS = "arn:aws:resource-groups:us-east-2:111122223333:group"
NAMELESS = Capacity.reservation("cr-0123456789abcdef2")


def pool_of(world: Any, **shared: Any) -> AcceleratedNodegroupPool:
    given = {
        "instance_type": "trn2.48xlarge",
        "subnet": world.vpc.private_subnets[0],
        "max_size": 4,
    }
    pool: AcceleratedNodegroupPool = world.cluster.add_nodegroup_pool("Trn2", **(given | shared))
    return pool


def add_claim(pool: AcceleratedNodegroupPool, name: str = "neuron-4") -> None:
    pool.add_resource_claim_template(
        name,
        namespace="train",
        requests=[DeviceRequest.neuron(4), DeviceRequest.efa()],
        match=MatchAttribute.DEVICE_GROUP,
    )


def groups_of(world: Any) -> dict[str, Any]:
    """The properties of each group by the reservation of its nodes."""
    resources = world.template().to_json()["Resources"]
    found = {}
    for one in resources.values():
        if one["Type"] == GROUP:
            template = resources[one["Properties"]["LaunchTemplate"]["Id"]["Ref"]]
            data = template["Properties"]["LaunchTemplateData"]
            target = data["CapacityReservationSpecification"]["CapacityReservationTarget"]
            found[target["CapacityReservationId"]] = one["Properties"]
    return found


def test_each_reservation_has_a_group(make_served):
    world = make_served()
    pool = pool_of(world, labels={"team": "research"})

    pool.add(MAY)
    pool.add(JUNE, subnet=world.vpc.private_subnets[1], max_size=8)

    groups = groups_of(world)
    may, june = groups["cr-0123456789abcdef0"], groups["cr-0123456789abcdef1"]
    assert (may["ScalingConfig"]["MaxSize"], june["ScalingConfig"]["MaxSize"]) == (4, 8)
    assert may["Subnets"] != june["Subnets"]
    for name, one in (("may", may), ("june", june)):
        assert one["Labels"]["eks-devices/nodegroup-pool"] == "Trn2"
        assert one["Labels"]["eks-devices/nodegroup"] == f"Trn2-{name}"
        assert one["Labels"]["team"] == "research"
        assert one["NodegroupName"].startswith(f"Trn2-{name}-")
    assert [one.plan.name for one in pool.nodegroups] == ["Trn2-may", "Trn2-june"]


def test_claims_belong_to_the_pool_and_stay_when_a_group_goes(make_served):
    texts = []
    for capacities in ((MAY, JUNE), (JUNE,)):
        world = make_served()
        pool = pool_of(world)
        for capacity in capacities:
            pool.add(capacity)
        add_claim(pool)
        resources = world.template().to_json()["Resources"]
        claims = {
            key: one["Properties"]
            for key, one in resources.items()
            if "ResourceClaimTemplate" in json.dumps(one.get("Properties", {}).get("Manifest", ""))
        }
        texts.append(json.dumps(claims, sort_keys=True))

    assert texts[0] == texts[1]
    assert "ClusterTrn2" in texts[0]


def test_a_group_that_comes_or_goes_changes_no_other(make_served):
    found = []
    for capacities in ((MAY,), (MAY, JUNE), (JUNE, MAY), (JUNE,)):
        world = make_served()
        pool = pool_of(world)
        for capacity in capacities:
            pool.add(capacity)
        found.append(groups_of(world))

    may, june = "cr-0123456789abcdef0", "cr-0123456789abcdef1"
    assert found[0][may] == found[1][may] == found[2][may]
    assert found[1][june] == found[2][june] == found[3][june]


def test_a_reservation_without_a_key_names_its_group_by_its_id(make_served):
    world = make_served()

    group = pool_of(world).add(NAMELESS)

    assert group.plan.name == "Trn2-cr-0123456789abcdef2"


def test_a_resource_group_names_its_group_by_its_name(make_served):
    world = make_served()
    arn = "arn:aws:resource-groups:us-east-2:111122223333:group/spare"

    group = pool_of(world).add(Capacity.reservation_group(arn))

    assert group.plan.name == "Trn2-spare"


def test_the_same_reservation_twice_is_refused(make_served, faults_of):
    pool = pool_of(make_served())
    pool.add(MAY)

    assert ("RepeatedId", "nodegroups.Trn2-may") in faults_of(pool.add, MAY)


def test_a_group_of_a_pool_may_be_removed_and_its_reservation_added_again(make_served):
    world = make_served()
    pool = pool_of(world)
    pool.add(MAY)
    pool.node.try_remove_child("Trn2-may")

    pool.add(MAY, max_size=2)

    assert [one.plan.max_size for one in pool.nodegroups] == [2]


@pytest.mark.parametrize(
    ("capacity", "expected"),
    [
        (Capacity.on_demand(), ("PoolWithoutReservation", "nodegroups.Trn2.capacity")),
        (Capacity.spot(), ("PoolWithoutReservation", "nodegroups.Trn2.capacity")),
        ("cr-0123456789abcdef0", ("WrongType", "nodegroups.Trn2.capacity")),
        (None, ("WrongType", "nodegroups.Trn2.capacity")),
    ],
)
def test_what_is_no_reservation_is_refused(make_served, faults_of, capacity, expected):
    assert faults_of(pool_of(make_served()).add, capacity) == {expected}


def test_groups_differ_in_sizes_and_places_alone(make_served, faults_of):
    pool = pool_of(make_served())

    found = faults_of(pool.add, MAY, mechanism=Mechanism.DRA, labels={"a": "b"})

    assert found == {
        ("OptionOfPool", "nodegroups.Trn2.mechanism"),
        ("OptionOfPool", "nodegroups.Trn2.labels"),
    }


def test_a_pool_has_no_capacity_of_its_own(make_served, faults_of):
    world = make_served()

    assert faults_of(pool_of, world, capacity=MAY) == {
        ("CapacityOfPool", "nodegroups.Trn2.capacity")
    }


def id_of_pool(world: Any, id_: Any) -> AcceleratedNodegroupPool:
    pool: AcceleratedNodegroupPool = world.cluster.add_nodegroup_pool(
        id_, instance_type="trn2.48xlarge", max_size=4
    )
    return pool


@pytest.mark.parametrize(
    ("capacity", "got"),
    [
        (Capacity.block("cr-0123456789abcdef0", key="a.b"), "'a.b'"),
        (Capacity.block("cr-0123456789abcdef0", key="a-"), "'a-'"),
        (Capacity.block("cr-0123456789abcdef0", key="x" * 62), None),
        (Capacity.reservation_group(f"{GROUPS}/a.b"), "'a.b'"),
    ],
)
def test_what_stands_for_a_reservation_fits_into_a_name(make_served, capacity, got):
    pool = pool_of(make_served())

    with pytest.raises(EksDevicesError) as caught:
        pool.add(capacity)

    (one,) = caught.value.faults
    assert (one.code, one.path) == ("MalformedKey", "nodegroups.Trn2.capacity.key")
    assert got is None or one.got == got
    assert "key=" in one.fix
    assert not pool.nodegroups


def test_reservations_whose_names_end_alike_are_told_apart_by_a_key(make_served):
    pool = pool_of(make_served())
    pool.add(Capacity.reservation_group(f"{GROUPS}/team/a"))

    with pytest.raises(EksDevicesError) as caught:
        pool.add(Capacity.reservation_group(f"{GROUPS}/other/a"))

    (one,) = caught.value.faults
    assert (one.code, one.path) == ("RepeatedId", "nodegroups.Trn2-a")
    assert "key=" in one.fix
    keyed = pool.add(Capacity.reservation_group(f"{GROUPS}/other/a", key="other"))
    assert keyed.plan.name == "Trn2-other"


def test_a_pool_is_named_by_its_id_alone(make_world, faults_of):
    world = make_world()

    assert faults_of(pool_of, world, pool="other") == {("UnknownOption", "nodegroups.Trn2.pool")}


@pytest.mark.parametrize("id_", ["a.b", "a" * 63, "_a"])
def test_the_id_of_a_pool_begins_the_names_of_its_groups(make_world, faults_of, id_):
    found = faults_of(id_of_pool, make_world(), id_)

    assert {path.rpartition(".")[2] for _, path in found} <= {"name", "pool"}


@pytest.mark.parametrize(
    ("id_", "code"),
    [
        ("", "MalformedLabelValue"),
        ("a b/xxxx", "MalformedLabelValue"),
        ("-a", "MalformedLabelValue"),
        ("x" * 64, "MalformedLabelValue"),
        (5, "WrongType"),
        (None, "WrongType"),
        (Hostile(), "WrongType"),
        (TOKEN, "TokenNotAllowed"),
    ],
)
def test_the_id_of_a_pool_is_the_value_of_a_label(make_world, faults_of, id_, code):
    found = faults_of(id_of_pool, make_world(), id_)

    assert {one for one, _ in found} == {code}


def test_an_id_stands_for_one_construct_of_a_scope(make_world, faults_of):
    world = make_world()
    id_of_pool(world, "Trn2")

    assert faults_of(id_of_pool, world, "Trn2") == {("RepeatedId", "nodegroups.Trn2")}


def test_every_fault_of_a_pool_comes_at_once(make_world, faults_of):
    world = make_world()
    options: dict[str, Any] = {"instance_type": "trn2.48xlarge", "max_size": 4, "capacity": MAY}

    found = faults_of(world.cluster.add_nodegroup_pool, "a b", **options)

    assert {code for code, _ in found} == {"CapacityOfPool", "MalformedLabelValue"}


def test_a_pool_of_an_imported_cluster_knows_its_version(make_world, faults_of):
    world = make_world()
    cluster = eks.Cluster.from_cluster_attributes(
        world.stack,
        "Theirs",
        cluster_name="theirs",
        cluster_security_group_id="sg-0123456789abcdef0",
        vpc=world.vpc,
    )
    shared: dict[str, Any] = {
        "cluster": cluster,
        "subnet": world.vpc.private_subnets[0],
        "instance_type": "trn2.48xlarge",
        "max_size": 4,
        "drivers": ExternalDrivers(),
    }

    unknown = AcceleratedNodegroupPool(world.stack, "Unknown", **shared)
    known = AcceleratedNodegroupPool(world.stack, "Known", **shared, kubernetes_version="1.35")

    assert ("KubernetesVersionNeeded", "nodegroups.Unknown-may.kubernetes_version") in faults_of(
        unknown.add, MAY
    )
    assert known.add(MAY).plan.kubernetes_version == "1.35"


def test_a_claim_needs_a_group_to_be_judged_on(make_served, faults_of):
    pool = pool_of(make_served())

    assert faults_of(add_claim, pool) == {("EmptyPool", "claims.train/neuron-4")}


def test_a_claim_that_pods_share_is_sent_once(make_served):
    world = make_served()
    pool = pool_of(world)
    pool.add(MAY)
    pool.add(JUNE)

    pool.add_resource_claim("shared", namespace="train", requests=[DeviceRequest.neuron(1)])

    resources = world.template().to_json()["Resources"]
    claims = [
        key
        for key, one in resources.items()
        if '"kind":"ResourceClaim"' in json.dumps(one.get("Properties", {})).replace("\\", "")
    ]
    assert len(claims) == 1
    assert claims[0].startswith("ClusterTrn2ResourceClaim")


def test_a_claim_is_judged_on_the_devices_of_the_pool(make_served, faults_of):
    pool = pool_of(make_served())
    pool.add(MAY)

    found = faults_of(
        pool.add_resource_claim_template,
        "gpus",
        namespace="train",
        requests=[DeviceRequest.gpu(1)],
    )

    assert {code for code, _ in found} != set()


def test_wrong_options_of_a_pool_are_told_with_its_first_group(make_served, faults_of):
    pool = pool_of(make_served(), max_sise=4)

    assert faults_of(pool.add, MAY) == {("UnknownOption", "nodegroups.Trn2-may.max_sise")}
