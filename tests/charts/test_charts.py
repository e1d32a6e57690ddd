"""The cdk8s charts hold what the pure functions give, and nothing loads cdk8s before they do."""

import json
import subprocess
import sys
from pathlib import Path

import cdk8s
import pytest

import eks_device_charts
from eks_device_charts import ImageSource, claims_chart, device_charts, device_manifests
from eks_devices import (
    Capacity,
    ComputeDomain,
    DeviceRequest,
    EksDevicesError,
    MatchAttribute,
    Mechanism,
    NodegroupSpec,
    OpaqueConfig,
    ResourceClaimTemplate,
    whole_node_claims,
)

from .conftest import IMAGES

BLOCK = Capacity.block("cr-0123456789abcdef0")
PLUGIN = Mechanism.DEVICE_PLUGIN
CLAIM = ResourceClaimTemplate(name="gpu", namespace="train", requests=[DeviceRequest.gpu(1)])
EXAMPLE = Path(__file__).parents[2] / "examples" / "manifests"


@pytest.fixture
def app(tmp_path):
    return cdk8s.App(outdir=str(tmp_path / "dist"))


def charts_of(app, plan):
    return {chart.node.id: chart for chart in device_charts(app, plan, images=IMAGES)}


def texts(items):
    return sorted(json.dumps(item, sort_keys=True) for item in items)


def test_charts_hold_exactly_the_manifests(app, planned, installation, version):
    plan = planned(installation, version=version)

    charts = charts_of(app, plan)

    items = [item for chart in charts.values() for item in chart.to_json()]
    assert texts(items) == texts(device_manifests(plan, images=IMAGES))


def test_each_manager_has_a_chart(app, planned):
    charts = charts_of(app, planned("fleet"))

    assert list(charts) == [
        "namespaces",
        "neuron-device-plugin",
        "neuron-dra",
        "gpu-device-plugin",
        "gpu-dra",
        "compute-domain-dra",
        "efa-device-plugin",
        "efa-dra",
    ]


def test_a_chart_keeps_the_apply_order(app, planned):
    plan = planned("compute-domain-dra")

    charts = charts_of(app, plan)

    items = [item for chart in charts.values() for item in chart.to_json()]
    assert items == device_manifests(plan, images=IMAGES)


def test_the_files_sort_in_apply_order(app, planned, tmp_path):
    charts_of(app, planned("gpu-dra"))

    app.synth()

    files = sorted(file.name for file in (tmp_path / "dist").iterdir())
    assert files == ["0000-namespaces.k8s.yaml", "0001-gpu-dra.k8s.yaml"]


def test_without_a_namespace_there_is_no_chart_for_them(app, planned):
    assert list(charts_of(app, planned("efa-dra"))) == ["efa-dra"]


def test_a_fault_comes_before_any_chart(app, planned):
    with pytest.raises(EksDevicesError, match="RegionNeeded"):
        device_charts(app, planned("efa-dra"), images=ImageSource())

    assert app.node.children == []


CLAIMS: list[ResourceClaimTemplate | ComputeDomain] = [
    ResourceClaimTemplate(name="one", namespace="train", requests=[DeviceRequest.gpu(1)]),
    ComputeDomain(name="job", namespace="train"),
]


def test_claims_make_a_chart(app):
    chart = claims_chart(app, CLAIMS, kubernetes_version="1.34")

    assert chart.to_json() == [one.to_dict(kubernetes_version="1.34") for one in CLAIMS]


def test_the_faults_of_every_claim_are_named(app):
    open_counts = [
        ResourceClaimTemplate(name=name, requests=[DeviceRequest.efa()]) for name in ("a", "b")
    ]

    with pytest.raises(EksDevicesError) as error:
        claims_chart(app, open_counts, kubernetes_version="1.34")

    assert {one.path.split(".")[1] for one in error.value.faults} == {"default/a", "default/b"}
    assert app.node.children == []


def test_a_token_never_reaches_the_yaml(app):
    from eks_device_charts.charts import _chart

    item = {"kind": "ConfigMap", "data": {"a": ["x", "${Token[TOKEN.441]}"]}}

    with pytest.raises(EksDevicesError) as error:
        _chart(app, "tokens", [item])

    assert [(one.code, one.path) for one in error.value.faults] == [
        ("TokenNotAllowed", "ConfigMap.data.a[1]")
    ]


def run(code, *arguments, cwd=None):
    command = [sys.executable, "-P", "-c", code, *arguments]
    result = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True)
    return result.stdout


@pytest.mark.parametrize("module", ["eks_device_charts", "eks_device_charts.manifests"])
def test_manifests_load_no_node(module):
    loaded = run(f"import sys, {module}; print(*sys.modules)").split()

    assert module in loaded
    assert {"aws_cdk", "cdk8s", "constructs", "jsii"}.isdisjoint(loaded)


def test_manifests_need_no_extra():
    blocked = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(('aws_cdk', 'boto3', 'cdk8s', 'constructs', 'jsii')))\n"
        "from eks_device_charts import ImageSource, device_manifests\n"
        "from eks_devices import DeviceType, Mechanism, plan_cluster\n"
        "plan = plan_cluster(kubernetes_version='1.34', nodegroups=[],\n"
        "    keep={DeviceType.NEURON: (Mechanism.DRA,)})\n"
        "print(len(device_manifests(plan, images=ImageSource())))\n"
    )

    assert int(run(blocked)) == 10


def test_an_unknown_name_is_no_attribute():
    with pytest.raises(AttributeError, match="charts_of_devices"):
        _ = eks_device_charts.charts_of_devices


def test_the_example_needs_no_aws_cdk(tmp_path, planned):
    code = (
        "import runpy, sys\n"
        "sys.modules['aws_cdk'] = None\n"
        "runpy.run_path(sys.argv[1], run_name='__main__')\n"
    )
    run(code, str(EXAMPLE / "main.py"), cwd=tmp_path)
    plan = planned(
        NodegroupSpec(name="trn2", instance_type="trn2.48xlarge", max_size=4, capacity=BLOCK),
        NodegroupSpec(name="g6e", instance_type="g6e.12xlarge", max_size=2, mechanism=PLUGIN),
    )

    files = {file.name: cdk8s.Yaml.load(str(file)) for file in (tmp_path / "dist").iterdir()}
    claims = files.pop("0004-claims.k8s.yaml")

    assert sorted(files) == [
        "0000-namespaces.k8s.yaml",
        "0001-neuron-dra.k8s.yaml",
        "0002-gpu-device-plugin.k8s.yaml",
        "0003-efa-dra.k8s.yaml",
    ]
    items = [item for name in sorted(files) for item in files[name]]
    assert texts(items) == texts(device_manifests(plan, images=IMAGES))
    assert [item["kind"] for item in claims] == ["ResourceClaimTemplate"]


def test_the_example_is_what_cdk8s_runs():
    assert (EXAMPLE / "cdk8s.yaml").read_text(encoding="utf-8").splitlines() == [
        "language: python",
        "app: python3 main.py",
    ]


@pytest.mark.parametrize("claims", [None, 5, "x", CLAIM, [None], [CLAIM, 5], [CLAIM, CLAIM]])
def test_what_is_no_list_of_claims_is_told(claims):
    with pytest.raises(EksDevicesError) as raised:
        claims_chart(cdk8s.Testing.app(), claims, kubernetes_version="1.34")

    (found,) = raised.value.faults
    assert found.path.startswith("claims")


@pytest.mark.parametrize(
    "other",
    [
        ResourceClaimTemplate(
            name="trainer-channel", namespace="train", requests=[DeviceRequest.gpu(1)]
        ),
        ComputeDomain(name="other", namespace="train", channel_template="trainer-channel"),
    ],
    ids=["a template", "another domain"],
)
def test_the_channel_of_a_domain_is_no_other_template(other):
    domain = ComputeDomain(name="trainer", namespace="train")
    with pytest.raises(EksDevicesError) as raised:
        claims_chart(cdk8s.Testing.app(), [domain, other], kubernetes_version="1.34")

    (found,) = raised.value.faults
    assert (found.code, found.got) == ("RepeatedName", "'train/trainer-channel'")


def test_two_charts_of_claims_have_two_names():
    app = cdk8s.Testing.app()
    claims_chart(app, [CLAIM], kubernetes_version="1.34")

    with pytest.raises(EksDevicesError, match="RepeatedName"):
        claims_chart(app, [CLAIM], kubernetes_version="1.34")
    claims_chart(app, [CLAIM], kubernetes_version="1.34", name="more")


def test_claims_of_every_form_stand_in_a_chart(app):
    whole = whole_node_claims("all", nodes="p5.48xlarge")
    pairs = ResourceClaimTemplate(
        name="pairs",
        requests=[
            DeviceRequest.first_available(DeviceRequest.gpu(2), DeviceRequest.neuron(4), name="a"),
            DeviceRequest.efa(2),
        ],
        constraints=[MatchAttribute.PCIE_ROOT.over("a/gpu", "efa")],
        configs=[OpaqueConfig(driver="example.com", parameters={"list": [1, {"b": True}]})],
    )

    chart = claims_chart(app, [*whole.templates, pairs], kubernetes_version="1.34")

    found = chart.to_json()
    assert [one["metadata"]["name"] for one in found] == ["all-gpu", "all-efa", "pairs"]
    assert found[2] == pairs.to_dict(kubernetes_version="1.34")
