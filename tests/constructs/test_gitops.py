"""Kubernetes objects as files for a GitOps tool."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
import yaml
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from tests.hostile import Hostile, Untouchable

from eks_device_constructs import AcceleratedCluster, Delivery, ExternalDrivers
from eks_devices import DeviceRequest, Mechanism, NeuronInstallation

G6E: dict[str, Any] = {
    "instance_type": "g6e.12xlarge",
    "max_size": 1,
    "mechanism": Mechanism.DEVICE_PLUGIN,
}


def test_gitops_writes_yaml_in_apply_order_and_makes_no_lambda(make_world):
    world = make_world(delivery=lambda _: Delivery.gitops("unused"))
    world.add_trn2()

    folder = Path(world.app.synth().directory) / "eks-devices"
    names = [path.name for path in sorted(folder.rglob("*.yaml"))]

    assert names == [
        "0-namespace-neuron-dra-driver.yaml",
        "2-efa-dra.yaml",
        "2-marker.yaml",
        "2-neuron-dra.yaml",
        "3-efa-dra-default.yaml",
        "3-neuron-dra-default.yaml",
    ]
    world.template().resource_count_is("AWS::Lambda::Function", 0)
    assert not Path("unused").exists()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository that the CDK CLI, which drives the app, may write into."""
    monkeypatch.setenv("CDK_CLI_VERSION", "2.1148.1")
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "mine.yaml").write_text("kept: true\n")
    return folder


def gitops_world(make_world, repository):
    return make_world(delivery=lambda _: Delivery.gitops(str(repository)))


def written(repository) -> list[str]:
    return sorted(path.name for path in repository.glob("*.yaml"))


def test_gitops_copies_into_the_repository_when_the_cli_runs_the_app(make_world, repository):
    for add_group in (True, False):
        world = gitops_world(make_world, repository)
        if add_group:
            world.add_trn2()
        world.app.synth()

    assert written(repository) == ["2-marker.yaml", "mine.yaml"]


def test_what_a_synth_refuses_does_not_come_to_the_repository(make_world, repository):
    good = gitops_world(make_world, repository)
    good.add_trn2()
    good.app.synth()
    before = {one.name: one.read_bytes() for one in repository.iterdir()}

    extended = NeuronInstallation(scheduler_extension=True)
    delivery = Delivery.gitops(str(repository))
    bad = make_world(delivery=lambda _: delivery, neuron=extended)
    bad.add_trn2(mechanism=Mechanism.DRA)
    bad.cluster.add_nodegroup("G6e", **G6E)
    with pytest.raises(RuntimeError, match="SchedulerExtensionNeedsPlugin"):
        bad.app.synth()

    assert {one.name: one.read_bytes() for one in repository.iterdir()} == before


def test_drivers_and_claims_share_the_directory(make_world, repository):
    for _ in range(2):
        world = gitops_world(make_world, repository)
        group = world.add_trn2()
        group.add_resource_claim_template("a", namespace="n", requests=[DeviceRequest.neuron(1)])
        gone = world.add_trn2("Gone")
        gone.add_resource_claim_template("b", namespace="n", requests=[DeviceRequest.neuron(1)])
        world.cluster.node.try_remove_child("Gone")
        world.app.synth()

    names = written(repository)
    assert "3-neuron-dra-default.yaml" in names
    assert "4-resourceclaimtemplate-n.a.yaml" in names
    assert "4-resourceclaimtemplate-n.b.yaml" not in names


def test_what_is_claimed_comes_after_what_serves_and_checks_it(make_world, repository):
    world = gitops_world(make_world, repository)
    group = world.add_trn2()
    group.add_resource_claim("shared", namespace="n", requests=[DeviceRequest.neuron(1)])
    world.app.synth()

    assert "4-resourceclaim-n.shared.yaml" in written(repository)


def test_tools_find_nothing_but_objects(make_world, repository):
    """kubectl and Argo CD read every file that ends like JSON or YAML, hidden ones too."""
    world = gitops_world(make_world, repository)
    world.add_trn2()
    world.app.synth()

    read = [one for one in repository.iterdir() if one.suffix in {".json", ".yaml", ".yml"}]
    objects = [item for one in read for item in yaml.safe_load_all(one.read_text())]
    (index,) = set(repository.iterdir()) - set(read)

    assert len(objects) > len(read)
    assert all("kind" in item for item in objects if item != {"kept": True})
    assert index.name.startswith(".eks-devices-")


def test_another_group_renames_and_changes_no_file(make_world, repository):
    texts = []
    for first in (False, True):
        world = gitops_world(make_world, repository)
        if first:
            world.cluster.add_nodegroup("G6e", **G6E)
        world.add_trn2()
        world.app.synth()
        texts.append({path.name: path.read_text() for path in repository.glob("*.yaml")})

    before, after = texts
    assert before.items() <= after.items()
    assert len(after) > len(before)


def test_a_broken_index_loses_nothing(make_world, repository):
    gitops_world(make_world, repository).app.synth()
    (index,) = repository.glob(".eks-devices-*.index")
    for broken in ("{", "[1]", '["../outside.yaml"]', "{}"):
        index.write_text(broken)
        (repository.parent / "outside.yaml").write_text("kept: true\n")
        gitops_world(make_world, repository).app.synth()

        assert written(repository) == ["2-marker.yaml", "mine.yaml"]
        assert (repository.parent / "outside.yaml").exists()


def test_two_clusters_share_no_directory(make_world, faults_of):
    world = make_world(delivery=lambda _: Delivery.gitops("manifests"))
    options: dict[str, Any] = {
        "vpc": world.vpc,
        "version": eks.KubernetesVersion.V1_34,
        "delivery": Delivery.gitops("./manifests"),
    }

    found = faults_of(AcceleratedCluster, world.stack, "Other", **options)

    assert found == {("SharedDirectory", "delivery.directory")}


@pytest.mark.parametrize("directory", [None, "", 7, "${Token[TOKEN.1]}"])
def test_a_directory_is_a_text(directory, faults_of):
    ((_, path),) = faults_of(Delivery.gitops, directory)

    assert path == "delivery.directory"


@pytest.mark.parametrize("option", ["kubectl_layer", "provider"])
@pytest.mark.parametrize(
    "wrong", ["v34", 7, Hostile(), pytest.param(Untouchable(), id="untouchable")]
)
def test_kubectl_needs_a_layer_or_a_provider(faults_of, option, wrong):
    assert faults_of(Delivery.kubectl, **{option: wrong}) == {("WrongType", f"delivery.{option}")}


def test_a_file_of_the_user_s_is_never_overwritten(make_world, repository):
    (repository / "2-marker.yaml").write_text("mine: true\n")

    with pytest.raises(RuntimeError, match="FileInTheWay"):
        gitops_world(make_world, repository).app.synth()

    assert (repository / "2-marker.yaml").read_text() == "mine: true\n"


def test_a_lost_index_is_made_anew(make_world, repository):
    for _ in range(2):
        world = gitops_world(make_world, repository)
        world.add_trn2()
        world.app.synth()
        before = written(repository)
        (index,) = repository.glob(".eks-devices-*.index")
        index.unlink()

    assert written(repository) == before


def test_a_long_name_of_a_claim_makes_a_short_name_of_a_file(make_world):
    world = make_world(delivery=lambda _: Delivery.gitops("unused"))
    group = world.add_trn2()
    options: dict[str, Any] = {"namespace": "n", "requests": [DeviceRequest.neuron(1)]}
    for name in ("a" * 250, "a" * 251):
        group.add_resource_claim_template(name, **options)

    folder = Path(world.app.synth().directory) / "eks-devices"

    assert len(list(folder.rglob("4-*.yaml"))) == 2


def test_what_stays_when_a_manager_goes_is_not_pruned(make_world):
    world = make_world(delivery=lambda _: Delivery.gitops("unused"))
    group = world.add_trn2()
    group.add_resource_claim_template(
        "a", namespace="n", requests=[DeviceRequest.neuron(1)], create_namespace=True
    )

    folder = Path(world.app.synth().directory) / "eks-devices"
    kept = {path.name for path in folder.rglob("*.yaml") if "Prune=false" in path.read_text()}

    assert kept == {"0-namespace-neuron-dra-driver.yaml", "0-namespace-n.yaml"}


def test_stacks_of_one_name_in_two_regions_have_folders_of_their_own(tmp_path):
    app = cdk.App(outdir=str(tmp_path / "out"))
    for name, region in (("A", "us-east-2"), ("B", "us-west-2")):
        env = cdk.Environment(region=region)
        stack = cdk.Stack(app, name, stack_name="same", env=env)
        AcceleratedCluster(
            stack,
            "Cluster",
            vpc=ec2.Vpc(stack, "Vpc", max_azs=2),
            version=eks.KubernetesVersion.V1_34,
            delivery=Delivery.gitops(name),
        )

    app.synth()

    assert len(list((tmp_path / "out" / "eks-devices").iterdir())) == 2


def test_a_cluster_that_goes_leaves_its_directory_to_the_next(make_world, repository):
    world = gitops_world(make_world, repository)
    world.stack.node.try_remove_child("Cluster")
    AcceleratedCluster(
        world.stack,
        "Next",
        vpc=world.vpc,
        version=eks.KubernetesVersion.V1_34,
        delivery=Delivery.gitops(str(repository)),
    ).add_nodegroup("G6e", **G6E)

    world.app.synth()

    assert "3-gpu-device-plugin-default.yaml" in written(repository)


def test_the_order_of_groups_changes_no_file_of_a_cluster(make_world, repository):
    for order in (("A", "B"), ("B",)):
        world = make_world()
        for name in order:
            drivers = ExternalDrivers(delivery=Delivery.gitops(str(repository)))
            group = world.add_trn2(name, drivers=drivers)
            requests = [DeviceRequest.neuron(1)]
            group.add_resource_claim_template(name.lower(), namespace="n", requests=requests)
        world.app.synth()

    assert written(repository) == ["4-resourceclaimtemplate-n.b.yaml", "mine.yaml"]


def test_a_cluster_of_another_name_does_not_mix_with_the_old_one(make_world, repository):
    gitops_world(make_world, repository).app.synth()
    before = written(repository)
    world = make_world()
    AcceleratedCluster(
        world.stack,
        "Renamed",
        vpc=world.vpc,
        version=eks.KubernetesVersion.V1_34,
        delivery=Delivery.gitops(str(repository)),
    )

    with pytest.raises(RuntimeError, match="DirectoryOfAnother"):
        world.app.synth()

    assert written(repository) == before


@pytest.mark.parametrize("directory", ["manifests/b", "."])
def test_no_cluster_has_a_directory_in_that_of_another(make_world, faults_of, directory):
    world = make_world(delivery=lambda _: Delivery.gitops("manifests"))
    options: dict[str, Any] = {
        "vpc": world.vpc,
        "version": eks.KubernetesVersion.V1_34,
        "delivery": Delivery.gitops(directory),
    }

    found = faults_of(AcceleratedCluster, world.stack, "Other", **options)

    assert found == {("SharedDirectory", "delivery.directory")}


def test_from_kubectl_to_gitops_groups_stay_and_all_but_namespaces_and_crds_go(
    make_served, make_world, repository
):
    """What the page about changes says of `delivery`."""
    applied, files = make_served(), gitops_world(make_world, repository)
    for world in (applied, files):
        group = world.add_trn2()
        group.add_resource_claim_template(
            "one", namespace="train", requests=[DeviceRequest.neuron(1)], create_namespace=True
        )
    before, after = (one.template().to_json()["Resources"] for one in (applied, files))

    for name in before.keys() & after.keys():
        assert before[name].get("Properties") == after[name].get("Properties")
    kinds: dict[str, set[str]] = {"Retain": set(), "Delete": set()}
    for name in before.keys() - after.keys():
        if before[name]["Type"] == "Custom::AWSCDK-EKS-KubernetesResource":
            text = json.dumps(before[name]["Properties"]["Manifest"]).replace("\\", "")
            found = re.findall(r'"apiVersion":"[^"]+","kind":"(\w+)"', text)
            kinds[before[name]["DeletionPolicy"]] |= set(found)
    assert kinds["Retain"] <= {"Namespace", "CustomResourceDefinition"}
    assert {"DaemonSet", "DeviceClass", "ResourceClaimTemplate", "ConfigMap"} <= kinds["Delete"]
    assert not kinds["Retain"] & kinds["Delete"]
    assert after.keys() <= before.keys()
