"""Claims and manifests of an app, held against its node groups when it is synthesised."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import cdk8s
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks as older_eks
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template
from tests.annotations import infos, warnings
from tests.app_check.manifests import job, template
from tests.short_names import DRA

from eks_device_constructs import (
    AcceleratedNodegroup,
    ClusterReference,
    Delivery,
    DeviceDrivers,
    check_charts,
)
from eks_devices import Capacity, ClaimChecks, DeviceRequest, EksDevicesError

VOODOO = 'device.attributes["gpu.nvidia.com"].productName == "Voodoo"'
# Only some types have devices with a place in a torus.
PLACED = 'device.attributes["neuron.aws.com"].topology_x == 0'

TRAIN = "/Training/Cluster/Cluster/manifest-Train"


def add_g6e(world: Any, name: str = "G6e", **options: Any) -> Any:
    return world.cluster.add_nodegroup(
        name, **({"instance_type": "g6e.12xlarge", "max_size": 1, "mechanism": DRA} | options)
    )


def add_voodoo(group: Any) -> None:
    asked = DeviceRequest.gpu(1).where(VOODOO)
    group.add_resource_claim_template("voodoo", namespace="train", requests=[asked])


@pytest.fixture
def world(make_served):
    return make_served(version="1.36")


@pytest.fixture
def strict(make_served):
    return make_served(version="1.36", claim_checks=ClaimChecks.ERROR)


def plan_findings(world: Any) -> dict[str, dict[str, str]]:
    """The findings of the plan file by code, after a synth that may fail."""
    (file,) = Path(world.app.outdir).glob("*.eks-devices.json")
    (cluster,) = json.loads(file.read_text())["clusters"]
    return {one["code"]: one for one in cluster["plan"]["findings"]}


def test_a_claim_that_its_group_cannot_serve_is_warned_of_where_it_is_made(world):
    group = add_g6e(world)
    add_voodoo(group)

    (told,) = warnings(world.stack, "NoDeviceMatches", at="/Training/Cluster/G6e")
    assert "claims.train/voodoo: no node of G6e can ever serve the claim" in told
    assert "ack: eks-devices:NoDeviceMatches" in told
    assert plan_findings(world)["NoDeviceMatches"]["severity"] == "warning"


def test_such_a_warning_is_acknowledged_by_its_code(world):
    group = add_g6e(world)
    cdk.Annotations.of(group).acknowledge_warning("eks-devices:NoDeviceMatches")
    add_voodoo(group)

    assert warnings(world.stack, "NoDeviceMatches") == []


def test_such_a_claim_is_a_fault_at_the_users_line_on_request(strict):
    group = add_g6e(strict)

    with pytest.raises(EksDevicesError, match="no node of G6e can ever serve") as raised:
        add_voodoo(group)

    assert [one.code for one in raised.value.faults] == ["NoDeviceMatches"]
    group.add_resource_claim_template("voodoo", namespace="train", requests=[DeviceRequest.gpu(1)])


def test_a_fault_of_the_devices_is_told_with_all_others_of_the_claim(strict):
    group = add_g6e(strict)
    group.add_resource_claim_template("one", namespace="train", requests=[DeviceRequest.gpu(1)])
    asked = DeviceRequest.gpu(1).where(VOODOO)

    with pytest.raises(EksDevicesError) as raised:
        group.add_resource_claim_template("one", namespace="train", requests=[asked])

    assert {one.code for one in raised.value.faults} == {"NoDeviceMatches", "RepeatedClaim"}


def test_without_checks_nothing_is_told(make_served):
    world = make_served(version="1.36", claim_checks=ClaimChecks.OFF)
    add_voodoo(add_g6e(world))
    world.cluster.cluster.add_manifest("Claim", template(1, VOODOO))

    assert warnings(world.stack, "can ever serve") == []
    assert warnings(world.stack, "no node group can serve") == []


def test_a_claim_of_a_pool_is_judged_on_each_of_its_groups(world):
    pool = world.cluster.add_nodegroup_pool(
        "Pool", instance_type="g6e.12xlarge", subnet=world.vpc.private_subnets[0], max_size=1,
        mechanism=DRA,
    )  # fmt: skip
    for key in ("may", "june"):
        pool.add(Capacity.reservation("cr-0123456789abcdef0", key=key))
    add_voodoo(pool)

    (told,) = warnings(world.stack, "NoDeviceMatches")
    assert "no node of Pool-may, Pool-june can ever" in told


def test_claims_that_other_groups_can_serve_too_are_told_once_for_the_cluster(world):
    first, second = add_g6e(world, "A"), add_g6e(world, "B")
    for owner, name in ((first, "one"), (second, "two")):
        owner.add_resource_claim_template(name, namespace="train", requests=[DeviceRequest.gpu(1)])

    (told,) = infos(world.stack, "ClaimServedElsewhere")
    assert "claims.train/one: nodes of B can serve the claim too" in told
    assert "claims.train/two: nodes of A can serve the claim too" in told
    assert plan_findings(world)["ClaimServedElsewhere"]["severity"] == "info"


def test_another_group_at_which_the_scheduler_ends_its_attempt_is_warned_of_once(world):
    group = world.add_trn2()
    world.cluster.add_nodegroup("Inf2", instance_type="inf2.48xlarge", max_size=1, mechanism=DRA)
    asked = DeviceRequest.neuron(1).where(PLACED)
    group.add_resource_claim_template("placed", namespace="train", requests=[asked])

    for _ in range(2):
        (told,) = warnings(world.stack, "ClaimStopsScheduling", at="/Training/Cluster/Trn2")
        assert "while there are nodes of Inf2" in told
        assert "eks-devices/nodegroup: Trn2" in told
        cdk.Tags.of(group).add("another", "synth")


@pytest.fixture
def no_engine(monkeypatch):
    from eks_devices.feasibility.cel import engine
    from eks_devices.findings import fault

    def missing() -> None:
        found = fault("CheckExtraMissing", "check", "no", got=None, allowed="it", fix="install it")
        raise EksDevicesError([found])

    monkeypatch.setattr(engine, "engine", missing)


@pytest.mark.usefixtures("no_engine")
def test_without_the_engine_an_info_says_so_once_per_cluster(world):
    group = add_g6e(world)
    add_voodoo(group)
    group.add_resource_claim_template("one", namespace="train", requests=[DeviceRequest.gpu(1)])
    world.cluster.cluster.add_manifest("Claim", template(1, VOODOO))

    (told,) = infos(world.stack, "ClaimsNotChecked")
    assert 'pip install ".[check]"' in told
    assert warnings(world.stack, "can ever serve") == []


@pytest.mark.usefixtures("no_engine")
def test_without_the_engine_a_cluster_without_claims_is_told_nothing(world):
    add_g6e(world)

    world.cluster.cluster.add_manifest("Fine", {"apiVersion": "v1", "kind": "ConfigMap"})

    assert infos(world.stack, "ClaimsNotChecked") == []


@pytest.mark.usefixtures("no_engine")
def test_faults_need_the_engine(make_world, faults_of):
    options = {"version": "1.36", "claim_checks": ClaimChecks.ERROR}
    assert faults_of(make_world, **options) == {("CheckExtraMissing", "claim_checks")}


def test_only_the_option_itself_is_taken(make_world, faults_of):
    assert faults_of(make_world, claim_checks="error") == {("WrongType", "claim_checks")}


def test_a_manifest_of_the_cluster_is_judged(world):
    add_g6e(world)
    world.cluster.cluster.add_manifest("Train", template(9), job("gpus"))

    (told,) = warnings(world.stack, "NoNodegroupServesPod", at=TRAIN)
    assert "Job default/train.spec.template.spec: no node group can serve" in told
    assert "G6e: request one: it wants 9 devices" in told
    found = plan_findings(world)["NoNodegroupServesPod"]
    assert found["path"].startswith("Training/Cluster/Cluster/manifest-Train: Job default/train")


def test_a_manifest_at_fault_ends_the_synth_on_request_with_all_others(strict):
    add_g6e(strict)
    strict.cluster.cluster.add_manifest("One", template(9, name="one"))
    strict.cluster.cluster.add_manifest("Two", template(1, VOODOO, name="two"))

    with pytest.raises(RuntimeError) as raised:
        strict.app.synth()

    for name in ("One: ResourceClaimTemplate default/one", "Two: ResourceClaimTemplate default/tw"):
        assert f"Training/Cluster: Training/Cluster/Cluster/manifest-{name}" in str(raised.value)
    assert plan_findings(strict)["NoNodegroupServesClaim"]["severity"] == "error"


def test_what_a_synth_refuses_for_its_claims_does_not_come_to_the_repository(
    make_world, tmp_path, monkeypatch
):
    monkeypatch.setenv("CDK_CLI_VERSION", "2.1148.1")
    folder = tmp_path / "repository"
    world = make_world(
        version="1.36",
        claim_checks=ClaimChecks.ERROR,
        delivery=lambda _: Delivery.gitops(str(folder)),
    )
    add_g6e(world)
    check_charts(world.stack, [chart_of(template(9))], cluster=world.cluster)

    with pytest.raises(RuntimeError, match="NoNodegroupServesClaim"):
        world.app.synth()
    assert not folder.exists()


def test_what_groups_can_serve_is_told_nothing(world):
    add_g6e(world)
    world.cluster.cluster.add_manifest("Train", template(4), job("gpus"))

    assert warnings(world.stack, "manifest-Train") == []


def test_pods_that_name_a_claim_of_a_group_are_judged_with_it(world):
    group = add_g6e(world)
    group.add_resource_claim_template("gpus", namespace="default", requests=[DeviceRequest.gpu(1)])
    world.cluster.cluster.add_manifest("Train", job("gpus", tolerations=[]))

    (told,) = warnings(world.stack, "NoNodegroupServesPod")
    assert "does not tolerate" in told


@pytest.mark.parametrize("is_right", [True, False])
def test_the_name_of_a_group_in_eks_is_known(world, is_right):
    group = add_g6e(world)
    name = group.nodegroup.nodegroup_name if is_right else "G6e"
    selector = {"eks.amazonaws.com/nodegroup": name}
    world.cluster.cluster.add_manifest("Train", template(1), job("gpus", nodeSelector=selector))

    told = warnings(world.stack, "NoNodegroupServesPod")
    assert [f"nodegroup={group.nodegroup.nodegroup_name}" in one for one in told] == (
        [] if is_right else [True]
    )


def test_a_chart_of_the_cluster_is_judged(world):
    add_g6e(world)
    chart = chart_of(template(9))
    world.cluster.cluster.add_cdk8s_chart("Train", chart)

    at = "/Training/Cluster/Cluster/Train"
    assert warnings(world.stack, "NoNodegroupServesClaim", at=at)


def chart_of(*manifests: dict[str, Any]) -> cdk8s.Chart:
    chart = cdk8s.Chart(cdk8s.App(), "jobs")
    for number, one in enumerate(manifests):
        made = cdk8s.ApiObject(chart, f"o{number}", api_version="v1", kind=one["kind"])
        made.add_json_patch(cdk8s.JsonPatch.replace("", one))
    return chart


def test_a_chart_that_others_apply_is_judged_as_it_is_at_synth(world):
    chart = chart_of(template(1, name="fine"))
    check_charts(world.stack, [chart], cluster=world.cluster)
    add_g6e(world)
    made = cdk8s.ApiObject(chart, "late", api_version="v1", kind="ResourceClaimTemplate")
    made.add_json_patch(cdk8s.JsonPatch.replace("", template(9)))

    (told,) = warnings(world.stack, "NoNodegroupServesClaim", at="/Training")
    assert "Training chart jobs: ResourceClaimTemplate default/gpus" in told


def test_what_is_no_chart_is_refused(world, faults_of):
    found = faults_of(check_charts, world.stack, [{}], cluster=world.cluster)
    assert found == {("WrongType", "charts[0]")}
    found = faults_of(check_charts, world.stack, [], cluster="mine")
    assert found == {("WrongType", "charts.cluster")}


def test_a_chart_that_cannot_be_read_is_told(world):
    class Broken(cdk8s.Chart):
        def to_json(self) -> Any:
            raise ZeroDivisionError("no")

    add_g6e(world)
    check_charts(world.stack, [Broken(cdk8s.App(), "jobs")], cluster=world.cluster)

    (told,) = infos(world.stack, "ManifestsNotRead")
    assert "cannot be read: no" in told


def test_values_of_the_deployment_are_unknown_and_the_rest_is_judged(world):
    add_g6e(world)
    role = iam.Role(world.stack, "Role", assumed_by=iam.ServicePrincipal("pods.eks.amazonaws.com"))
    spec = {"nodeSelector": {"vpc": world.vpc.vpc_id}}
    fine = job("gpus", name="fine", **spec)
    wrong = job("gpus", name="wrong", tolerations=[], **spec)
    for one in (fine, wrong):
        one["metadata"]["annotations"] = {"role": role.role_arn, "quoted": f'"{role.role_arn}"'}
    world.cluster.cluster.add_manifest("Train", template(4), fine, wrong)

    (told,) = warnings(world.stack, "NoNodegroupServesPod")
    assert "Job default/wrong" in told


def test_a_manifest_that_was_removed_again_is_not_judged(world):
    add_g6e(world)
    world.cluster.cluster.add_manifest("Train", template(9))
    assert world.cluster.cluster.node.try_remove_child("manifest-Train")

    assert warnings(world.stack, "NoNodegroupServes") == []


def test_each_synth_judges_what_there_is_then(world):
    add_g6e(world)
    assert warnings(world.stack, "NoNodegroupServes") == []

    world.cluster.cluster.add_manifest("Train", template(9))
    later = world.app.synth(force=True).get_stack_by_name("Training")
    told = [one.entry.data for one in later.messages]
    assert [one for one in told if "NoNodegroupServesClaim" in str(one)]


def test_manifests_in_another_stack_go_to_their_cluster(world):
    add_g6e(world)
    jobs = cdk.Stack(world.app, "Jobs", env=cdk.Environment(region="us-east-2"))
    eks.KubernetesManifest(jobs, "Train", cluster=world.cluster.cluster, manifest=[template(9)])

    assert warnings(jobs, "NoNodegroupServesClaim", at="/Jobs/Train")


def test_manifests_of_another_cluster_are_held_against_its_own_groups(world, kubectl):
    add_g6e(world)
    other = eks.Cluster(
        world.stack,
        "Other",
        vpc=world.vpc,
        version=eks.KubernetesVersion.V1_34,
        default_capacity=0,
        default_capacity_type=eks.DefaultCapacityType.NODEGROUP,
        kubectl_provider_options=kubectl(cdk.Stack(world.app, "Layer")).kubectl_provider_options,
    )
    other.add_manifest("Train", template(9))

    assert warnings(world.stack, "NoNodegroupServesClaim") == []


def reference(**options: Any) -> ClusterReference:
    return ClusterReference(
        name="theirs", version="1.36", security_group="sg-0123456789abcdef0", **options
    )


def join(stack: cdk.Stack, name: str, cluster: Any, **options: Any) -> AcceleratedNodegroup:
    subnet = ec2.Subnet.from_subnet_attributes(
        stack, f"{name}Subnet", subnet_id="subnet-0", availability_zone="us-east-2a"
    )
    return AcceleratedNodegroup(
        stack, name, cluster=cluster, instance_type="g6e.12xlarge", max_size=1, mechanism=DRA,
        subnet=subnet, **options,
    )  # fmt: skip


@pytest.fixture
def stack(tmp_path) -> cdk.Stack:
    return cdk.Stack(cdk.App(outdir=str(tmp_path / "out")), "Stack")


def test_a_reference_says_how_claims_of_its_cluster_are_told(stack, tmp_path, faults_of):
    theirs = reference(claim_checks=ClaimChecks.ERROR)
    delivery = Delivery.gitops(str(tmp_path / "manifests"))
    DeviceDrivers(stack, "Drivers", cluster=theirs, delivery=delivery)
    group = join(stack, "G6e", theirs)

    assert faults_of(add_voodoo, group) == {("NoDeviceMatches", "claims.train/voodoo")}
    other = reference(claim_checks=ClaimChecks.WARN)
    assert faults_of(join, stack, "Other", other) == {
        ("ReferencesDiffer", "nodegroups.Other.cluster.claim_checks")
    }


def test_an_installation_says_how_claims_of_its_cluster_are_told(stack, tmp_path, faults_of):
    delivery = Delivery.gitops(str(tmp_path / "manifests"))
    options: dict[str, Any] = {"cluster": reference(), "delivery": delivery}
    DeviceDrivers(stack, "Drivers", **options, claim_checks=ClaimChecks.ERROR)
    group = join(stack, "G6e", reference())

    assert faults_of(add_voodoo, group) == {("NoDeviceMatches", "claims.train/voodoo")}
    lax = {**options, "claim_checks": ClaimChecks.WARN, "scope_name": "lax"}
    assert faults_of(DeviceDrivers, stack, "Lax", **lax) == {
        ("ClaimChecksDiffer", "drivers.claim_checks")
    }


def test_manifests_of_a_cluster_of_the_older_module_are_judged(stack, kubectl):
    vpc = ec2.Vpc(stack, "Vpc", max_azs=2)
    layer = kubectl(stack).kubectl_provider_options.kubectl_layer
    theirs = older_eks.Cluster(
        stack, "Theirs", vpc=vpc, version=older_eks.KubernetesVersion.of("1.36"),
        default_capacity=0, kubectl_layer=layer,
    )  # fmt: skip
    known = ClusterReference(
        name=theirs.cluster_name,
        version="1.36",
        security_group=theirs.cluster_security_group_id,
        vpc=vpc,
    )
    join(stack, "G6e", known)
    theirs.add_manifest("Train", template(9))

    assert warnings(stack, "NoNodegroupServesClaim", at="/Stack/Theirs/manifest-Train")


def test_templates_are_the_same_with_and_without_checks(make_served):
    found = []
    for checks in (ClaimChecks.WARN, ClaimChecks.OFF):
        world = make_served(version="1.36", claim_checks=checks)
        add_voodoo(add_g6e(world))
        world.cluster.cluster.add_manifest("Train", template(9))
        found.append(Template.from_stack(world.stack).to_json())

    assert found[0] == found[1]
