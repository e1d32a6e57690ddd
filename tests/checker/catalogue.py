"""What EC2 says of its instance types, for the checker alone.

Facts are EC2's DescribeInstanceTypes as moto recorded it, and a small table of what that lacks.
"""

from __future__ import annotations

import functools
import gzip
import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Card:
    """A network card: what may be attached, and how many interfaces fit."""

    types: frozenset[str]
    most: int


@dataclass(frozen=True)
class InstanceType:
    """An EC2 instance type; `accelerator` is `nvidia`, `neuron` or `none`."""

    name: str
    architecture: str
    accelerator: str
    vcpus: int
    cards: tuple[Card, ...]
    most_efa: int
    usage: frozenset[str]
    strategies: frozenset[str]
    block_nodes: tuple[int, ...] = ()
    """Instances of the UltraServers that Capacity Blocks hold; empty when there are none."""

    @property
    def family(self) -> str:
        return self.name.partition(".")[0]


def instance_type(name: str) -> InstanceType | None:
    """The type of a name, None when EC2 has none that we know."""
    return _types().get(name)


def accelerated() -> tuple[InstanceType, ...]:
    """Every type with a driver of EKS's AMIs: NVIDIA GPUs or Neuron devices."""
    return tuple(one for one in _types().values() if one.accelerator != "none")


@functools.cache
def recorded() -> dict[str, dict[str, Any]]:
    """The recorded answer, by type."""
    found = importlib.util.find_spec("moto")
    assert found is not None
    assert found.submodule_search_locations
    folder = Path(found.submodule_search_locations[0])
    with gzip.open(folder / "ec2/resources/instance_types.json.gz") as file:
        answer: dict[str, dict[str, Any]] = json.load(file)
    return answer


@functools.cache
def _types() -> dict[str, InstanceType]:
    found = {name: _of(record) for name, record in sorted(recorded().items())}
    return found | OWN | {name: change(found[name]) for name, change in CORRECTED.items()}


def _of(record: Mapping[str, Any]) -> InstanceType:
    network = record["NetworkInfo"]
    architectures = record["ProcessorInfo"]["SupportedArchitectures"]
    return InstanceType(
        name=record["InstanceType"],
        architecture="arm64" if "arm64" in architectures else "x86_64",
        accelerator=_accelerator(record),
        vcpus=record["VCpuInfo"]["DefaultVCpus"],
        cards=tuple(_card(card) for card in network["NetworkCards"]),
        most_efa=network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
        usage=frozenset(record["SupportedUsageClasses"]),
        strategies=frozenset(record["PlacementGroupInfo"]["SupportedStrategies"]),
    )


def _accelerator(record: Mapping[str, Any]) -> str:
    gpus = record.get("GpuInfo", {}).get("Gpus", [])
    if any(gpu["Manufacturer"] == "NVIDIA" for gpu in gpus):
        return "nvidia"
    return "neuron" if "NeuronInfo" in record else "none"


def _card(card: Mapping[str, Any]) -> Card:
    return Card(frozenset(card["InterfaceTypes"]), card["MaximumNetworkInterfaces"])


_PLAIN = frozenset({"interface"})
_STRATEGIES = frozenset({"cluster", "partition", "spread"})


def _p3(size: str, vcpus: int, interfaces: int) -> InstanceType:
    # https://docs.aws.amazon.com/ec2/latest/instancetypes/pg.html, and for the interfaces
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/AvailableIpPerENI.html
    return InstanceType(
        name=f"p3.{size}",
        architecture="x86_64",
        accelerator="nvidia",
        vcpus=vcpus,
        cards=(Card(_PLAIN, interfaces),),
        most_efa=0,
        usage=frozenset({"on-demand", "spot"}),
        strategies=_STRATEGIES,
    )


# Cards: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html, their
# interfaces: https://github.com/aws/aws-parallelcluster/pull/6930, UltraServers:
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
_GB200 = InstanceType(
    name="p6e-gb200.36xlarge",
    architecture="arm64",
    accelerator="nvidia",
    vcpus=144,
    cards=(
        Card(_PLAIN, 2),
        *[Card(frozenset({"efa-only"}), 1), Card(frozenset({"interface", "efa", "efa-only"}), 2)]
        * 8,
    ),
    most_efa=16,
    usage=frozenset({"capacity-block"}),
    strategies=frozenset(),
    block_nodes=(9, 18),
)

# What no recorded answer has.
OWN: dict[str, InstanceType] = {
    one.name: one
    for one in (
        _p3("2xlarge", 8, 4),
        _p3("8xlarge", 32, 8),
        _p3("16xlarge", 64, 8),
        _GB200,
    )
}

# The answer shows no NeuronInfo for it. It has 16 Trainium2, and four are an UltraServer:
# https://aws.amazon.com/ec2/instance-types/trn2/
CORRECTED = {
    "trn2u.48xlarge": lambda one: replace(one, accelerator="neuron", block_nodes=(4,)),
}
