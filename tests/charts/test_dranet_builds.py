"""What differs between the two builds of the EFA DRA driver, and which images each takes."""

from __future__ import annotations

from typing import Any

import pytest

from eks_device_charts import ImageSource, device_manifests
from eks_devices import (
    EfaInstallation,
    EksDevicesError,
    OperatingSystem,
    UserData,
    plan_cluster,
)

from .conftest import DRA, EFA, GPU, PLUGIN, UPSTREAM, spec

EKS = EfaInstallation()
AT = "images.overrides[efa by dra]"
IMAGE = "registry.k8s.io/networking/dranet:v1.4.0"
P5 = spec("p5", "p5.48xlarge", mechanism=DRA)
SCOPED = spec("scoped", "p5.48xlarge", mechanism=DRA, scope="lab")


def objects(
    efa: EfaInstallation, *groups: Any, images: ImageSource | None = None
) -> dict[tuple[str, str], dict[str, Any]]:
    plan = plan_cluster(kubernetes_version="1.34", nodegroups=groups, keep={EFA: (DRA,)}, efa=efa)
    made = device_manifests(plan, images=images or ImageSource(region="us-east-2"))
    return {(one["kind"], one["metadata"]["name"]): one for one in made}


def container(item: dict[str, Any]) -> dict[str, Any]:
    (found,) = item["spec"]["template"]["spec"]["containers"]
    return dict(found)


def test_another_build_is_an_update_in_place():
    eks, upstream = objects(EKS, P5), objects(UPSTREAM, P5)
    added = upstream.keys() - eks.keys()
    changed = {key for key, item in eks.items() if upstream[key] != item}

    assert not eks.keys() - upstream.keys()
    assert added == {
        ("ClusterRole", "aws-dranet-events"),
        ("ClusterRoleBinding", "aws-dranet-events"),
    }
    assert {name for kind, name in changed if kind == "DaemonSet"} == {
        name for kind, name in eks if kind == "DaemonSet" and "dranet" in name
    }
    assert {kind for kind, _ in changed} == {"DaemonSet"}


def test_the_image_and_the_time_to_start_are_upstream_s():
    eks, upstream = (container(objects(one)["DaemonSet", "aws-dranet"]) for one in (EKS, UPSTREAM))

    assert upstream.pop("image") == IMAGE
    assert upstream.pop("startupProbe") == {
        "httpGet": {"path": "/healthz", "port": 9177},
        "periodSeconds": 5,
        "failureThreshold": 12,
    }
    assert eks.pop("image") != IMAGE
    # The filter and the hint of the cloud among them.
    assert upstream == eks


def test_each_owner_runs_the_build():
    found = objects(UPSTREAM, P5, SCOPED)
    images = {
        container(item)["image"]
        for (kind, name), item in found.items()
        if kind == "DaemonSet" and name.startswith("aws-dranet")
    }

    assert images == {IMAGE}
    assert sum(name.startswith("aws-dranet") for kind, name in found if kind == "DaemonSet") == 2


def test_the_events_are_for_the_account_of_the_driver():
    found = objects(UPSTREAM)

    (rule,) = found["ClusterRole", "aws-dranet-events"]["rules"]
    assert rule == {"apiGroups": [""], "resources": ["events"], "verbs": rule["verbs"]}
    assert sorted(rule["verbs"]) == ["create", "patch", "update"]
    binding = found["ClusterRoleBinding", "aws-dranet-events"]
    assert binding["roleRef"]["name"] == "aws-dranet-events"
    assert [(one["namespace"], one["name"]) for one in binding["subjects"]] == [
        ("kube-system", "aws-dranet")
    ]


def test_upstream_s_image_needs_no_region_and_follows_a_mirror():
    plain = objects(UPSTREAM, images=ImageSource())
    mirror = ImageSource(registries={"registry.k8s.io": "mirror.example.com/k8s"})
    mirrored = objects(UPSTREAM, images=mirror)

    assert container(plain["DaemonSet", "aws-dranet"])["image"] == IMAGE
    assert container(mirrored["DaemonSet", "aws-dranet"])["image"] == (
        "mirror.example.com/k8s/networking/dranet:v1.4.0"
    )


@pytest.mark.parametrize(
    ("efa", "image", "told"),
    [
        (EKS, "a.io/eks/dranet:v1.2.0-eksbuild.39", ""),
        (EKS, "a.io/eks/dranet:v1.3.0", ""),
        (EKS, IMAGE, "DranetBuild.UPSTREAM"),
        (EKS, "a.io/eks/dranet:v1.4.0-eksbuild.1", "DranetBuild.UPSTREAM"),
        (EKS, "a.io/dranet:1.10.0", "DranetBuild.UPSTREAM"),
        (UPSTREAM, "a.io/dranet:v1.4.1", ""),
        (UPSTREAM, "a.io/dranet:v1.3.0", "DranetBuild.EKS"),
        (UPSTREAM, "a.io/eks/dranet:v1.2.0-eksbuild.2", "DranetBuild.EKS"),
        (EKS, "a.io/dranet:ours", ""),
        (UPSTREAM, "a.io/dranet:ours", ""),
        (EKS, f"a.io/dranet@sha256:{'0' * 64}", ""),
    ],
)
def test_an_image_is_of_the_build_that_is_installed(efa, image, told):
    images = ImageSource(overrides={(EFA, DRA): image})

    if not told:
        assert container(objects(efa, images=images)["DaemonSet", "aws-dranet"])["image"] == image
        return
    with pytest.raises(EksDevicesError) as caught:
        objects(efa, P5, SCOPED, images=images)
    (fault,) = caught.value.faults
    assert (fault.code, fault.path) == ("ImageOfOtherBuild", AT)
    assert told in fault.fix
    assert fault.source


def test_dranet_of_bottlerocket_has_the_class_of_a_driver_that_runs_on_none_of_its_nodes():
    """What the page on EFA tells users of the service to do."""
    host = UserData.bottlerocket("[settings.kubelet-dra-drivers.net]\nenabled = true\n")
    group = spec(
        "host",
        "p5.48xlarge",
        operating_system=OperatingSystem.BOTTLEROCKET,
        mechanism={GPU: PLUGIN, EFA: DRA},
        external={EFA},
        user_data=host,
    )

    plan = plan_cluster(kubernetes_version="1.36", nodegroups=[group], keep={EFA: (DRA,)})
    made = device_manifests(plan, images=ImageSource(region="us-east-2"))

    assert "efa.networking.k8s.aws" in plan.nodegroups[0].device_classes
    assert "efa.networking.k8s.aws" in {
        one["metadata"]["name"] for one in made if one["kind"] == "DeviceClass"
    }
    for driver in (one for one in made if one["kind"] == "DaemonSet"):
        affinity = driver["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
        (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        wanted = {one["key"]: one for one in term["matchExpressions"]}
        assert (
            plan.nodegroups[0].labels["eks-devices/efa-manager"]
            not in (wanted["eks-devices/efa-manager"]["values"])
        )
