"""Neuron's scheduler extension and the scheduler that asks it: what they are told, and when."""

from __future__ import annotations

import json
from typing import Any

import pytest

from eks_device_charts import ImageSource, device_manifests
from eks_device_charts.manifests import neuron_scheduler
from eks_device_charts.manifests.bundles import bundles
from eks_device_charts.manifests.installation import Installation
from eks_devices import Component, EksDevicesError, NeuronInstallation, plan_cluster

from .conftest import BLOCK, DRA, EXTENDED, IMAGES, NEURON, PLUGIN, VERSIONS, spec

ASKED = "neuron-scheduler"
EXTENSION, SCHEDULER = "k8s-neuron-scheduler", "neuron-scheduler"
PLAIN = ImageSource()
BOTH = (Component.NEURON_SCHEDULER_EXTENSION, Component.KUBE_SCHEDULER)
OWN = "example.com/scheduler"
DIGEST = f"{OWN}@sha256:{'0' * 64}"


def plan(*groups: Any, version: str = "1.36", neuron: NeuronInstallation = EXTENDED) -> Any:
    keep = None if groups else {NEURON: (PLUGIN,)}
    return plan_cluster(kubernetes_version=version, nodegroups=groups, keep=keep, neuron=neuron)


def names(items: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(one["kind"], one["metadata"]["name"]) for one in items}


def trn2(name: str = "trn2", **options: Any) -> Any:
    return spec(name, "trn2.48xlarge", capacity=BLOCK, **options)


@pytest.fixture
def configuration(find):
    """What the second scheduler is told."""
    (text,) = find("ConfigMap", ASKED, name=SCHEDULER)["data"].values()
    return json.loads(text)


@pytest.fixture
def container(find):
    def only(name: str) -> dict[str, Any]:
        (found,) = find("Deployment", ASKED, name=name)["spec"]["template"]["spec"]["containers"]
        return dict(found)

    return only


# --- when they come ---


def test_both_come_with_the_plugin_where_somebody_asks(manifests):
    added = names(manifests(ASKED)) - names(manifests("neuron-device-plugin"))

    assert added == {
        ("ServiceAccount", EXTENSION),
        ("ClusterRole", EXTENSION),
        ("ClusterRoleBinding", EXTENSION),
        ("Service", EXTENSION),
        ("Deployment", EXTENSION),
        ("ServiceAccount", SCHEDULER),
        ("ClusterRoleBinding", "neuron-scheduler-as-kube-scheduler"),
        ("ClusterRoleBinding", "neuron-scheduler-as-volume-scheduler"),
        ("Role", SCHEDULER),
        ("RoleBinding", SCHEDULER),
        ("RoleBinding", "neuron-scheduler-authentication-reader"),
        ("ConfigMap", SCHEDULER),
        ("Deployment", SCHEDULER),
    }


def test_nothing_of_the_plugin_itself_changes(manifests):
    before = {json.dumps(one, sort_keys=True) for one in manifests("neuron-device-plugin")}

    assert before <= {json.dumps(one, sort_keys=True) for one in manifests(ASKED)}


def test_a_fleet_has_them_once_whatever_its_groups():
    groups = [
        trn2("plugin", mechanism=PLUGIN),
        trn2("too", mechanism=PLUGIN),
        trn2("dra", mechanism=DRA),
        trn2("lab", mechanism=PLUGIN, scope="lab"),
    ]

    alone, together = (
        device_manifests(plan(*some), images=IMAGES) for some in (groups[:1], groups)
    )

    one, all_ = (
        [item for item in items if "scheduler" in item["metadata"]["name"]]
        for items in (alone, together)
    )
    assert one == all_
    assert len(names(all_)) == len(all_) == 13


def test_the_default_installation_alone_holds_them():
    found = plan(trn2(mechanism=PLUGIN), trn2("lab", mechanism=PLUGIN, scope="lab"))
    installation = Installation.of(found, IMAGES)

    drawn = {
        driver.owner == "default": [
            bundle.name
            for bundle in bundles(driver, installation)
            if bundle.name == "neuron-device-plugin-scheduler"
        ]
        for driver in found.drivers
        if (driver.device_type, driver.mechanism) == (NEURON, PLUGIN)
    }

    assert drawn == {True: ["neuron-device-plugin-scheduler"], False: []}


# --- what they are told ---


def test_the_scheduler_asks_the_service_of_the_extension(configuration, find, container):
    service = find("Service", ASKED, name=EXTENSION)
    (port,) = service["spec"]["ports"]
    (extender,) = configuration["extenders"]
    deployment = find("Deployment", ASKED, name=EXTENSION)

    host = f"{service['metadata']['name']}.{service['metadata']['namespace']}.svc"
    assert extender["urlPrefix"] == f"http://{host}:{port['port']}"
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]
    (listening,) = container(EXTENSION)["ports"]
    assert port["targetPort"] == listening["name"]
    told = {one["name"]: one["value"] for one in container(EXTENSION)["env"]}
    assert told == {"PORT": str(listening["containerPort"])}


def test_the_extension_chooses_for_both_resources_and_cannot_be_left_out(configuration):
    (extender,) = configuration["extenders"]

    assert extender["managedResources"] == [
        {"name": "aws.amazon.com/neuron", "ignoredByScheduler": False},
        {"name": "aws.amazon.com/neuroncore", "ignoredByScheduler": False},
    ]
    assert (extender["filterVerb"], extender["bindVerb"]) == ("filter", "bind")
    assert extender["ignorable"] is extender["nodeCacheCapable"] is False


def test_pods_name_the_one_profile(configuration):
    assert configuration["profiles"] == [{"schedulerName": "neuron-scheduler"}]


def test_the_lease_is_not_that_of_the_clusters_own_scheduler(configuration, find):
    election = configuration["leaderElection"]
    (rule,) = find("Role", ASKED)["rules"]

    assert election["leaderElect"] is True
    assert (election["resourceNamespace"], election["resourceName"]) == (
        "kube-system",
        "neuron-scheduler",
    )
    assert rule["resourceNames"] == [election["resourceName"]]


def test_the_scheduler_reads_the_file_that_is_mounted(container, find):
    (key,) = find("ConfigMap", ASKED, name=SCHEDULER)["data"]
    (mounted,) = container(SCHEDULER)["volumeMounts"]

    assert mounted["readOnly"] is True
    assert f"--config={mounted['mountPath']}/{key}" in container(SCHEDULER)["command"]


def test_another_configuration_starts_the_scheduler_anew(find, monkeypatch):
    before = find("Deployment", ASKED, name=SCHEDULER)
    again = find("Deployment", ASKED, name=SCHEDULER)
    monkeypatch.setattr(neuron_scheduler, "_PORT", 12346)
    after = find("Deployment", ASKED, name=SCHEDULER)

    assert before == again
    templates = [one["spec"].pop("template") for one in (before, after)]
    assert before == after
    annotations = [one["metadata"].pop("annotations") for one in templates]
    assert annotations[0].keys() == annotations[1].keys()
    assert annotations[0] != annotations[1]
    assert templates[0] == templates[1]


def test_neither_waits_for_the_scheduler_that_is_about_to_start(find):
    for name in (EXTENSION, SCHEDULER):
        pod = find("Deployment", ASKED, name=name)["spec"]["template"]["spec"]

        assert "schedulerName" not in pod


def test_two_extensions_never_choose_at_once(find):
    spec_ = find("Deployment", ASKED, name=EXTENSION)["spec"]

    assert (spec_["replicas"], spec_["strategy"]) == (1, {"type": "Recreate"})


@pytest.mark.parametrize("name", [EXTENSION, SCHEDULER])
def test_a_pod_says_how_it_is_and_what_it_needs(container, name):
    found = container(name)

    assert found["resources"]["requests"].keys() == {"cpu", "memory"}
    assert found["readinessProbe"]
    assert found["livenessProbe"]["initialDelaySeconds"] > 0


# --- which images they run ---


def images(version: str, source: ImageSource) -> dict[str, str]:
    items = device_manifests(plan(version=version), images=source)
    return {
        one["metadata"]["name"]: one["spec"]["template"]["spec"]["containers"][0]["image"]
        for one in items
        if one["kind"] == "Deployment"
    }


@pytest.mark.parametrize("minor", VERSIONS)
def test_the_scheduler_is_of_the_clusters_own_minor(minor):
    found = images(minor, PLAIN)

    assert found[SCHEDULER].partition(":")[2].startswith(f"v{minor}.")
    assert found[EXTENSION].startswith("public.ecr.aws/neuron/neuron-scheduler:")


def test_registries_are_rewritten_for_both():
    source = ImageSource(registries={"public.ecr.aws": "example.com/mirror"})

    assert all(one.startswith("example.com/mirror/") for one in images("1.36", source).values())


@pytest.mark.parametrize("component", BOTH)
def test_an_image_of_ones_own_is_run(component):
    found = images("1.36", ImageSource(overrides={component: DIGEST}))

    assert list(found.values()).count(DIGEST) == 1
    assert (found[SCHEDULER] == DIGEST) == (component is Component.KUBE_SCHEDULER)


def faults(version: str, source: ImageSource) -> list[tuple[str, str]]:
    with pytest.raises(EksDevicesError) as caught:
        images(version, source)
    return [(one.code, one.path) for one in caught.value.faults]


def test_a_version_without_a_known_scheduler_needs_an_image():
    source = ImageSource(overrides={Component.KUBE_SCHEDULER: f"{OWN}:v1.33.13-eks-1-33-33"})

    assert faults("1.33", PLAIN) == [("NoRelease", "images.overrides")]
    assert images("1.33", source)[SCHEDULER].endswith("v1.33.13-eks-1-33-33")
    assert device_manifests(plan(version="1.33", neuron=NeuronInstallation()), images=PLAIN)


@pytest.mark.parametrize(
    ("tag", "is_taken"),
    [
        ("v1.36.2-eks-1-36-7", True),
        ("v1.35.0", True),
        ("1.36.9", True),
        ("v1.34.9-eks-1-34-21", False),
        ("v1.31.12-eks-1-31-30", False),
        ("v1.37.0", False),
        ("v2.36.0", False),
        ("own", True),
    ],
)
def test_a_scheduler_of_a_minor_that_the_api_server_does_not_work_with_is_refused(tag, is_taken):
    source = ImageSource(overrides={Component.KUBE_SCHEDULER: f"{OWN}:{tag}"})

    if is_taken:
        assert images("1.36", source)[SCHEDULER] == f"{OWN}:{tag}"
    else:
        expected = [("SchedulerVersionSkew", "images.overrides[kube-scheduler]")]
        assert faults("1.36", source) == expected


def test_a_scheduler_of_the_wrong_minor_that_nobody_runs_is_no_fault():
    source = ImageSource(overrides={Component.KUBE_SCHEDULER: f"{OWN}:v1.31.1"})

    assert device_manifests(plan(neuron=NeuronInstallation()), images=source)
