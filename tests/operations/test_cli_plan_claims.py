"""What `eks-devices plan` tells of claims, and of files that tell of none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eks_device_operations.cli import main
from eks_devices import NodegroupSpec, plan_cluster
from eks_devices.plans import PLAN_FILE_SCHEMA

PLAN = plan_cluster(
    kubernetes_version="1.36",
    nodegroups=[NodegroupSpec(name="trn2", instance_type="trn2.3xlarge", max_size=1)],
).to_dict()
HALF: dict[str, Any] = {
    "kind": "ResourceClaimTemplate",
    "namespace": "train",
    "name": "half",
    "nodegroups": ["trn2", "trn2-b"],
    "requests": [
        {"name": "neuron", "device_class": "neuron.aws.com", "count": 8, "selectors": 0},
        {"name": "efa", "device_class": "efa.networking.k8s.aws", "count": 8, "selectors": 1},
    ],
    "match": ["resource.aws.com/devicegroup8_id"],
}
DOMAIN: dict[str, Any] = {
    "kind": "ComputeDomain",
    "namespace": "train",
    "name": "job",
    "nodegroups": ["gb200"],
    "requests": [],
    "match": [],
    "nodes": 4,
    "channel_template": "job-channel",
}


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "1000")


@pytest.fixture
def report(tmp_path, capsys):
    """Runs the verb on a file with these claims; without any the file has no such key."""

    def run(claims: Any = None, *options: str) -> tuple[int, str]:
        entry = {"path": "T/Cluster", "plan": PLAN} | ({} if claims is None else {"claims": claims})
        content = json.dumps({"schema": PLAN_FILE_SCHEMA, "clusters": [entry]})
        Path(tmp_path / "T.eks-devices.json").write_text(content)
        stack = {"T": {"type": "aws:cloudformation:stack"}}
        Path(tmp_path / "manifest.json").write_text(json.dumps({"artifacts": stack}))
        code = main(["plan", str(tmp_path), *options])
        output = capsys.readouterr()
        return code, output.out + output.err

    return run


def rows(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_claims_are_told_with_their_groups_and_what_they_ask_for(report):
    code, text = report([HALF, DOMAIN])

    assert code == 0
    found = rows(text)
    at = found.index("CLAIM KIND FOR GROUPS ASKS FOR")
    assert found[at + 1 : at + 4] == [
        (
            "train/half ResourceClaimTemplate trn2, trn2-b 8 neuron.aws.com, "
            "8 efa.networking.k8s.aws (1 selector); "
            "all with the same resource.aws.com/devicegroup8_id"
        ),
        "train/job ComputeDomain gb200 a channel by the template job-channel, ready with 4 nodes",
        "",
    ]


def test_a_part_of_a_device_is_told(report):
    asked = {"name": "gpu", "device_class": "gpu.nvidia.com", "count": 1, "selectors": 0}
    part = HALF | {"requests": [asked | {"capacity": {"memory": "10Gi"}}], "match": []}

    (row,) = [one for one in rows(report([part])[1]) if one.startswith("train/half")]
    assert row.endswith("1 gpu.nvidia.com with memory 10Gi")


@pytest.mark.parametrize(
    ("narrowed", "told"),
    [
        ({}, "8 neuron.aws.com"),
        (
            {"instance_type": "trn2.48xlarge", "driver_version": "2.27.4.0"},
            "8 neuron.aws.com (trn2.48xlarge, driver 2.27.4.0)",
        ),
        (
            {"count": 1, "ultraserver_mode": 4},
            "1 neuron.aws.com (UltraServer node, mode 4)",
        ),
        (
            {"logical_neuron_cores": 1, "selectors": 2},
            "8 neuron.aws.com (LNC 1, 2 selectors)",
        ),
        (
            {"device_class": "mig.nvidia.com", "profile": "1g.10gb"},
            "8 mig.nvidia.com (1g.10gb)",
        ),
    ],
)
def test_which_devices_are_meant_is_told_in_short(report, narrowed, told):
    asked = HALF["requests"][0] | narrowed

    (row,) = [
        one
        for one in rows(report([HALF | {"requests": [asked], "match": []}])[1])
        if one.startswith("train/half")
    ]
    assert row.partition("trn2-b ")[2] == told


@pytest.mark.parametrize("claims", [None, []])
def test_a_file_without_claims_is_fine(report, claims):
    code, text = report(claims)

    assert code == 0
    assert "CLAIM" not in text


def test_json_has_the_claims_as_they_are(report):
    code, text = report([HALF, DOMAIN | {"more": 1}], "--json")

    (cluster,) = json.loads(text)["clusters"]
    assert (code, cluster["claims"]) == (0, [HALF, DOMAIN | {"more": 1}])


WRONG = [
    {},
    [1],
    [None],
    [{}],
    [HALF | {"name": 5}],
    [HALF | {"nodegroups": "trn2"}],
    [HALF | {"requests": [{}]}],
    [HALF | {"requests": [HALF["requests"][0] | {"count": True}]}],
    [HALF | {"requests": [HALF["requests"][0] | {"capacity": {"memory": 5}}]}],
    *(
        [HALF | {"requests": [HALF["requests"][0] | {key: wrong}]}]
        for key, wrong in {
            "profile": 1,
            "ultraserver_mode": "4",
            "instance_type": None,
            "driver_version": 2.29,
            "logical_neuron_cores": True,
        }.items()
    ),
    [HALF | {"match": [1]}],
    [DOMAIN | {"nodes": None}],
]


@pytest.mark.parametrize("claims", WRONG, ids=range(len(WRONG)))
def test_claims_of_another_shape_are_told(report, claims):
    code, text = report(claims)

    assert code == 1
    assert "T.eks-devices.json: is not" in text


def test_no_control_character_reaches_the_terminal(report):
    _, text = report([HALF | {"name": "a\x1b[31mb\u202e"}])

    assert "\x1b" not in text
    assert "\u202e" not in text


def test_every_form_of_a_claim_is_told(report):
    gpu = {"device_class": "gpu.nvidia.com", "selectors": 0}
    forms = HALF | {
        "requests": [
            {
                "name": "gpus",
                "first_available": [
                    gpu | {"name": "all", "count": "all", "admin_access": True},
                    gpu | {"name": "two", "count": 2, "tolerations": 1},
                ],
            }
        ],
        "match": [],
        "distinct": ["gpu.nvidia.com/uuid"],
        "configs": ["gpu.nvidia.com", "gpu.nvidia.com"],
    }

    code, output = report([forms])

    assert code == 0
    assert (
        "all gpu.nvidia.com (admin access) or else 2 gpu.nvidia.com (1 toleration); "
        "each with another gpu.nvidia.com/uuid; configured for gpu.nvidia.com"
    ) in output
