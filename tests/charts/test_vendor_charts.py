"""Our manifests against what the vendors' own charts make, every difference explained."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eks_device_charts import ImageSource, device_manifests
from eks_device_charts.manifests.neuron_health import health_objects
from eks_devices import (
    ClaimWebhook,
    DeviceListStrategy,
    DeviceType,
    DranetBuild,
    DriverRelease,
    EfaInstallation,
    GpuPlugin,
    Mechanism,
    NeuronHealth,
    NeuronInstallation,
    NvidiaInstallation,
    plan_cluster,
)

from .conftest import (
    AUTHORITY,
    DRA,
    DYNAMIC_MIG,
    EFA,
    EXTENDED,
    GPU,
    MIG,
    MPS,
    MPS_DRA,
    NEURON,
    OPERATED,
    PASSTHROUGH,
    PLUGIN,
    SHARES,
    SLICED,
    SLICED_DRA,
    VERSIONS,
    Kept,
    spec,
)
from .conftest import (
    UPSTREAM as UPSTREAM_BUILD,
)
from .vendor_differences import (
    CHARTS,
    FOLDER,
    Decision,
    Difference,
    chart,
    decisions,
    differences,
    facts_of,
    page,
    written,
)
from .vendor_facts import facts

DOMAIN = DeviceType.COMPUTE_DOMAIN
DRIVER, DEVICE_PLUGIN, NEURON_CHART, EFA_PLUGIN, EFA_DRIVER, UPSTREAM = CHARTS
# The Region whose registry the vendor's charts name.
IMAGES = ImageSource(region="us-west-2")
Objects = Callable[[str], list[dict[str, Any]]]
Case = tuple[str, str]


def of(
    *groups: Any,
    nvidia: NvidiaInstallation | None = None,
    neuron_options: NeuronInstallation | None = None,
    efa_options: EfaInstallation | None = None,
    **keep: tuple[Mechanism, ...],
) -> Objects:
    """The objects of node groups and of what is kept, for a Kubernetes version."""
    kept: Kept = {DeviceType(device.replace("_", "-")): how for device, how in keep.items()}

    def objects(version: str) -> list[dict[str, Any]]:
        plan = plan_cluster(
            kubernetes_version=version,
            nodegroups=groups,
            keep=kept,
            nvidia=nvidia,
            neuron=neuron_options,
            efa=efa_options,
        )
        return device_manifests(plan, images=IMAGES)

    return objects


def watched(mechanism: Mechanism, health: NeuronHealth) -> Objects:
    """The objects of a mechanism of Neuron and of what watches its devices."""
    rest = of(neuron=(mechanism,))
    return lambda version: [*rest(version), *health_objects(health, IMAGES)]


def plugin(name: str, **options: Any) -> Any:
    """A node group whose device plugin has options."""
    return spec(name, "g6e.xlarge", gpu_plugin=GpuPlugin(**options))


# What we make for a feature set of a chart.
CASES: dict[Case, Objects] = {
    (DRIVER, "gpus"): of(gpu=(DRA,)),
    (DRIVER, "gpus-time-slicing"): of(SLICED_DRA),
    (DRIVER, "gpus-mps"): of(MPS_DRA),
    (DRIVER, "gpus-passthrough"): of(PASSTHROUGH),
    (DRIVER, "gpus-consumable-shares"): of(SHARES),
    (DRIVER, "gpus-dynamic-mig"): of(DYNAMIC_MIG),
    (DRIVER, "compute-domains"): of(compute_domain=(DRA,)),
    (DRIVER, "compute-domains-clique-label"): of(compute_domain=(DRA,)),
    (DRIVER, "both"): of(gpu=(DRA,), compute_domain=(DRA,)),
    (DRIVER, "network-policies"): of(
        gpu=(DRA,), compute_domain=(DRA,), nvidia=NvidiaInstallation(network_policies=True)
    ),
    (DRIVER, "webhook"): of(
        gpu=(DRA,),
        compute_domain=(DRA,),
        nvidia=NvidiaInstallation(
            claim_webhook=ClaimWebhook.secret(name="webhook-tls", ca_bundle=AUTHORITY)
        ),
    ),
    (DEVICE_PLUGIN, "default"): of(gpu=(PLUGIN,)),
    (DEVICE_PLUGIN, "time-slicing"): of(SLICED),
    (DEVICE_PLUGIN, "mps"): of(MPS),
    (DEVICE_PLUGIN, "cdi-cri"): of(plugin("cdi", device_list_strategy=DeviceListStrategy.CDI_CRI)),
    (DEVICE_PLUGIN, "cpu-manager"): of(plugin("pinned", pass_device_specs=True)),
    (DEVICE_PLUGIN, "gdrcopy-gds"): of(plugin("direct", gdrcopy=True, gds=True)),
    (DEVICE_PLUGIN, "gfd"): of(plugin("labelled", feature_discovery=True)),
    (DEVICE_PLUGIN, "mig-mixed"): of(MIG),
    (NEURON_CHART, "device-plugin"): of(neuron=(PLUGIN,)),
    (NEURON_CHART, "dra"): of(neuron=(DRA,)),
    (NEURON_CHART, "scheduler"): of(neuron=(PLUGIN,), neuron_options=EXTENDED),
    (NEURON_CHART, "ultraserver-operator"): of(neuron=(DRA,), neuron_options=OPERATED),
    (NEURON_CHART, "node-problem-detector"): watched(PLUGIN, NeuronHealth()),
    (NEURON_CHART, "node-recovery"): watched(PLUGIN, NeuronHealth(recovery=True)),
    (NEURON_CHART, "dra-node-problem-detector"): watched(DRA, NeuronHealth()),
    (EFA_PLUGIN, "default"): of(efa=(PLUGIN,)),
    (EFA_DRIVER, "default"): of(efa=(DRA,)),
    (UPSTREAM, "efa"): of(efa=(DRA,), efa_options=UPSTREAM_BUILD),
}
# What a chart has and we do not make.
NOT_MADE: set[Case] = set()
# What Kubernetes has only from a version on.
SINCE = {(DRIVER, "gpus-consumable-shares"): "1.36", (DRIVER, "gpus-dynamic-mig"): "1.36"}
# No release of the second scheduler is known for a later one, which needs an image of one's own.
UNTIL = {(NEURON_CHART, "scheduler"): "1.36"}
COMPARED = [
    (case, version)
    for case in CASES
    for version in VERSIONS
    if SINCE.get(case, VERSIONS[0]) <= version <= UNTIL.get(case, VERSIONS[-1])
]
# What the vendor calls an object of ours. Our two DaemonSets of the DRA driver are one of theirs.
_KUBELET_PLUGIN = "DaemonSet dra-driver-nvidia-gpu-kubelet-plugin"
_ACCOUNT = "Account nvidia/dra-driver-nvidia-gpu-service-account"
_POLICY = "ValidatingAdmissionPolicy resourceslices"
_DRIVER_POLICY = f"{_POLICY}-policy-dra-driver-nvidia-gpu"
_PLUGIN = "nvdp-nvidia-device-plugin"
_EXTENSION = "Deployment k8s-neuron-scheduler"
NAMES = {
    "DaemonSet dra-driver-nvidia-gpu-compute-domain-plugin": _KUBELET_PLUGIN,
    "Account nvidia/dra-driver-nvidia-gpu-kubelet-plugin": f"{_ACCOUNT}-kubeletplugin",
    "Account nvidia/dra-driver-nvidia-gpu-compute-domain-plugin": f"{_ACCOUNT}-kubeletplugin",
    "Account nvidia/dra-driver-nvidia-gpu-controller": f"{_ACCOUNT}-controller",
    f"{_POLICY}-dra-driver-nvidia-gpu-kubelet-plugin": _DRIVER_POLICY,
    f"{_POLICY}-dra-driver-nvidia-gpu-compute-domain-plugin": _DRIVER_POLICY,
    "Account nvidia/dra-driver-nvidia-gpu-webhook": (
        "Account nvidia/dra-driver-nvidia-gpu-webhook-service-account"
    ),
    "NetworkPolicy dra-driver-nvidia-gpu-compute-domain-plugin": (
        "NetworkPolicy dra-driver-nvidia-gpu-kubelet-plugin"
    ),
    "ValidatingWebhookConfiguration dra-driver-nvidia-gpu-webhook": (
        "ValidatingWebhookConfiguration dra-driver-nvidia-gpu-webhook-config"
    ),
    f"Account nvidia/{_PLUGIN}": f"Account nvidia/{_PLUGIN}-service-account",
    f"ConfigMap {_PLUGIN}": f"ConfigMap {_PLUGIN}-configs",
    "Account kube-system/neuron-scheduler": "Account kube-system/my-scheduler",
    "ConfigMap neuron-scheduler": "ConfigMap my-scheduler-config",
    "Deployment neuron-scheduler": "Deployment my-scheduler",
    "Deployment neuron-scheduler, container kube-scheduler": (
        "Deployment my-scheduler, container kube-second-scheduler"
    ),
    f"{_EXTENSION}, container neuron-scheduler-extension": (
        f"{_EXTENSION}, container neuron-scheduler-exp"
    ),
}
# The names of upstream, where the vendor's own are ours.
UPSTREAM_NAMES = {
    "Account kube-system/aws-dranet": "Account kube-system/dranet",
    "DaemonSet aws-dranet": "DaemonSet dranet",
}


@functools.cache
def found(case: Case, version: str) -> frozenset[Difference]:
    theirs = facts_of(chart(case[0]), case[1])
    names = UPSTREAM_NAMES if case[0] == UPSTREAM else NAMES
    return frozenset(differences(theirs, facts(CASES[case](version)), names))


def rows_for(case: Case, one: Difference) -> list[Decision]:
    return [row for row in decisions() if row.covers(*case, one)]


def test_each_feature_set_is_compared():
    known = {(name, one) for name in CHARTS for one in chart(name)["sets"]}

    assert CASES.keys() | NOT_MADE == known
    assert not CASES.keys() & NOT_MADE


@pytest.mark.parametrize(("case", "minor"), COMPARED, ids=str)
def test_every_difference_is_explained(case, minor):
    unexplained = [str(one) for one in sorted(found(case, minor)) if not rows_for(case, one)]

    assert unexplained == []


@pytest.mark.parametrize("case", CASES, ids="/".join)
def test_a_difference_has_one_explanation(case):
    explained = {
        str(one): [row.why for row in rows]
        for version in VERSIONS
        if (case, version) in COMPARED
        for one in found(case, version)
        if len(rows := rows_for(case, one)) > 1
    }

    assert explained == {}


def test_every_explanation_is_of_a_difference():
    there = [(case, one) for case, version in COMPARED for one in found(case, version)]
    stale = [
        f"{row.what}: {row.vendor} -> {row.ours}"
        for row in decisions()
        if not any(row.covers(*case, one) for case, one in there)
    ]

    assert stale == []


def test_every_explanation_says_why_and_names_a_source():
    for row in decisions():
        assert row.chart in CHARTS
        assert {*row.sets} <= chart(row.chart)["sets"].keys()
        assert row.why[:1].isupper(), row
        assert row.why.endswith("."), row
        assert row.source.startswith("https://"), row


@pytest.mark.parametrize(
    ("name", "sets", "device", "mechanism", "build"),
    [
        (DRIVER, None, GPU, DRA, None),
        (DRIVER, None, DOMAIN, DRA, None),
        (DEVICE_PLUGIN, None, GPU, PLUGIN, None),
        (NEURON_CHART, ["device-plugin"], NEURON, PLUGIN, None),
        (NEURON_CHART, ["dra"], NEURON, DRA, None),
        (EFA_PLUGIN, None, EFA, PLUGIN, None),
        (EFA_DRIVER, None, EFA, DRA, DranetBuild.EKS),
        (UPSTREAM, None, EFA, DRA, DranetBuild.UPSTREAM),
    ],
)
def test_the_pinned_release_is_the_one_that_we_compare_with(name, sets, device, mechanism, build):
    asked: Any = {"device_type": device, "mechanism": mechanism, "build": build}
    release = DriverRelease.of(**asked)
    file = chart(name)
    containers = {
        f"{lines['image']}:{lines['tag']}"
        for one in sets or file["sets"]
        for lines in facts_of(file, one).values()
        if "image" in lines
    }

    assert containers == {IMAGES.image(**asked)}
    assert file["source"]["version"] in release.source


@pytest.mark.parametrize("name", CHARTS)
def test_a_file_of_facts_is_written_in_one_way(name):
    file = chart(name)
    sets = {
        one: (rest["values"], rest.get("like"), facts_of(file, one))
        for one, rest in file["sets"].items()
    }

    assert written(file["source"], sets) == (FOLDER / f"{name}.json").read_text(encoding="utf-8")


def test_the_page_says_what_the_table_says(request):
    file = Path(request.config.rootpath) / "docs" / "vendor-differences.md"
    head, mark, _ = file.read_text(encoding="utf-8").partition("## ")
    whole = head + page(decisions())
    if request.config.getoption("--update-snapshots"):
        file.write_text(whole, encoding="utf-8")

    assert mark
    assert file.read_text(encoding="utf-8") == whole
