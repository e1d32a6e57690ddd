"""The documents hold: their Python runs, their links lead somewhere."""

import re
from pathlib import Path

import pytest

from eks_devices import (
    AcceleratedInstanceType,
    Capacity,
    DeviceRequest,
    EksDevicesError,
    MatchAttribute,
    Mechanism,
    NodegroupSpec,
    ResourceClaimTemplate,
    plan_nodegroup,
)

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
RUN = (
    "README.md",
    "docs/check.md",
    "docs/claim-checks.md",
    "docs/claims.md",
    "docs/neuron-efa.md",
    "docs/nvidia.md",
)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)[^)]*\)")


def documents(root: Path) -> list[Path]:
    return [root / name for name in DOCUMENTS] + sorted((root / "docs").rglob("*.md"))


@pytest.mark.parametrize("name", RUN)
def test_python_of_a_document_runs(root: Path, capsys: pytest.CaptureFixture[str], name: str):
    blocks = BLOCK.findall((root / name).read_text(encoding="utf-8"))

    names: dict[str, object] = {}  # as for a reader who pastes one block after the other
    for block in blocks:
        exec(compile(block, name, "exec"), names)  # noqa: S102 - the documented example

    assert blocks
    assert capsys.readouterr().out


def test_every_document_with_python_is_run(root: Path):
    told = {
        str(document.relative_to(root))
        for document in documents(root)
        if BLOCK.search(document.read_text(encoding="utf-8"))
    }

    assert told == set(RUN)


PODS_PER_NODE = re.compile(r"^\| ((?:inf|trn)[^ ]*) \| (.*) \|$", re.MULTILINE)


def claims_of(instance_type: str, count: int, match: MatchAttribute | None) -> str:
    """How many claims for connected devices a node serves; a dash where none is served."""
    claim = ResourceClaimTemplate(
        name="a", namespace="b", requests=[DeviceRequest.neuron(count)], match=match
    )
    try:
        claim.to_dict(kubernetes_version="1.36", instance_type=instance_type)
    except EksDevicesError:
        return "-"
    accelerator = AcceleratedInstanceType.of(instance_type).accelerator
    assert accelerator is not None
    return str(accelerator.count // count)


def test_pods_per_node_are_those_of_plans_and_claims(root: Path):
    """The table is written by hand, so that a change of plans or claims is noticed here."""
    text = (root / "docs/neuron-efa.md").read_text(encoding="utf-8")
    rows = {name: cells.split(" | ") for name, cells in PODS_PER_NODE.findall(text)}

    chips = ("inf2.", "trn")
    assert set(rows) == {
        one.name for one in AcceleratedInstanceType.all() if one.name.startswith(chips)
    }
    for name, cells in rows.items():
        group = NodegroupSpec(
            name="a",
            instance_type=name,
            capacity=Capacity.reservation("cr-0123456789abcdef0"),
            max_size=1,
            mechanism=Mechanism.DEVICE_PLUGIN,
        )
        offered = plan_nodegroup(group, kubernetes_version="1.36").extended_resources
        connected = [claims_of(name, count, MatchAttribute.DEVICE_GROUP) for count in (4, 8, 16)]
        assert cells == [
            str(offered["aws.amazon.com/neuron"]),
            str(offered["aws.amazon.com/neuroncore"]),
            claims_of(name, 1, None),
            *connected,
        ], name


def test_relative_links_lead_somewhere(root: Path):
    broken = [
        f"{document.relative_to(root)}: {target}"
        for document in documents(root)
        for target in LINK.findall(document.read_text(encoding="utf-8"))
        if not (document.parent / target).exists()
    ]

    assert broken == []


def test_the_commands_of_the_readme_exist(root: Path):
    readme = (root / "README.md").read_text(encoding="utf-8")
    makefile = (root / "Makefile").read_text(encoding="utf-8")

    commands = re.findall(r"^make ([a-z-]+)", readme, re.MULTILINE)

    assert commands == ["synth", "test"]
    for command in commands:
        assert re.search(rf"^{command}:", makefile, re.MULTILINE), command
