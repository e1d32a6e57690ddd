"""Faults that are known when the app is whole: what the CDK and the plan file tell of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from tests.short_names import DRA, PLUGIN

from eks_device_operations.cli import main
from eks_devices import NeuronInstallation

EXTENDED = NeuronInstallation(scheduler_extension=True)
OPERATED = NeuronInstallation(ultraserver_operator=True)


def refuse_mechanism(make: Any, neuron: NeuronInstallation, mechanism: Any) -> Any:
    world = make(neuron=neuron)
    world.add_trn2(mechanism=mechanism)
    return world


def refuse_tags(make: Any) -> Any:
    world = make()
    group = world.add_trn2()
    for number in range(60):
        cdk.Tags.of(group).add(f"tag{number}", "x")
    return world


def findings_after(world: Any) -> tuple[str, list[dict[str, str]]]:
    """What a synth that fails says, and the findings in the file that it leaves."""
    with pytest.raises(RuntimeError) as raised:
        world.app.synth()
    (file,) = Path(world.app.outdir).glob("*.eks-devices.json")
    (cluster,) = json.loads(file.read_text())["clusters"]
    return str(raised.value), cluster["plan"]["findings"]


@pytest.mark.parametrize(
    ("refuse", "code"),
    [
        (lambda make: refuse_mechanism(make, EXTENDED, DRA), "SchedulerExtensionNeedsPlugin"),
        (lambda make: refuse_mechanism(make, OPERATED, PLUGIN), "UltraServerOperatorNeedsDra"),
        (refuse_tags, "TooManyTags"),
    ],
)
def test_a_fault_at_synth_is_told_with_its_cluster_and_stands_in_the_plan(
    make_served, refuse, code
):
    message, findings = findings_after(refuse(make_served))
    errors = [one for one in findings if one["severity"] == "error"]

    assert f"Training/Cluster: {errors[0]['path']}: " in message
    assert f"[{code}]" in message
    assert {one["code"] for one in errors} == {code}


@pytest.mark.parametrize(("neuron", "mechanism"), [(EXTENDED, DRA), (OPERATED, PLUGIN)])
def test_an_option_at_fault_is_not_called_without_effect_too(make_served, neuron, mechanism):
    world = refuse_mechanism(make_served, neuron, mechanism)
    _, findings = findings_after(world)

    assert "NeuronOptionWithoutEffect" not in {one["code"] for one in findings}
    told = [str(one.data) for one in world.cluster.cluster.node.metadata]
    assert told
    assert not [one for one in told if "does nothing" in one]


def test_the_command_line_tells_that_such_a_synth_failed(make_served, capsys):
    world = refuse_mechanism(make_served, OPERATED, PLUGIN)
    findings_after(world)

    assert main(["plan", world.app.outdir]) == 1
    output = capsys.readouterr()
    assert "UltraServerOperatorNeedsDra" in output.out
    assert "1 error," in output.out
    assert "synthesis did not finish" in output.err
