"""What the name of an EC2 instance type tells of a type that the catalogue does not hold.

Source: https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ._data import read_toml
from .findings import Finding, fault
from .instance_types import CpuArchitecture

# Series, size of high memory types, generation, options, more options; size.
_NAME = re.compile(
    r"([a-z]+)(?:-?[0-9]+tb)?([0-9]*)([a-z]*)(?:-[a-z0-9]+)*\.[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceName:
    """The parts of a name: `c8gn.large` is of series c, generation 8, with the options g and n."""

    name: str
    series: str
    generation: str
    """Empty only for some Macs."""
    options: str

    @property
    def is_accelerated(self) -> bool:
        """Whether the series is one with GPUs, Neuron devices or other accelerators."""
        return self.series in read_toml("cluster.toml")["instance_names"]["accelerated"]

    @property
    def architecture(self) -> CpuArchitecture:
        """The processor architecture: a `g` after the generation is an AWS Graviton processor.

        It holds for types without accelerators, except for the families that no node can have.
        """
        graviton = read_toml("cluster.toml")["instance_names"]["graviton"] in self.options
        return CpuArchitecture.ARM64 if graviton else CpuArchitecture.X86_64


def parsed_name(name: str) -> InstanceName | None:
    """The parts of a name, None for a text of another form."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    series, generation, options = match.groups()
    return InstanceName(name=name, series=series, generation=generation, options=options)


def no_node_faults(parsed: InstanceName, path: str) -> Iterator[Finding]:
    """The fault of a type on which no EKS node can run."""
    family = parsed.name.partition(".")[0]
    for row in read_toml("cluster.toml")["no_node"]:
        if family in row.get("families", ()) or parsed.series in row.get("series", ()):
            yield _no_node(parsed.name, row, path)


def _no_node(name: str, row: Mapping[str, Any], path: str) -> Finding:
    return fault(
        "NoNodeOnInstanceType",
        path,
        row["message"],
        got=name,
        allowed="types that run Amazon Linux 2023",
        fix="use another family",
        source=row["source"],
    )
