"""Workloads of Neuron's UltraServer operator, which gives them whole UltraServers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final

from ._data import read_toml
from .claims.templates import DEFAULT_NAMESPACE
from .findings import Finding, fault, raise_faults
from .names import NEURON_DRIVER, ULTRASERVER_API
from .syntax import dns_label, dns_subdomain, well_formed
from .typecheck import member, plain_text, whole_number

_LONGEST_TYPE: Final = 253
_TYPE: Final = re.compile(r"[a-z][a-z0-9-]*\.[a-z0-9-]+")
_MOST_SERVERS: Final = 2**31 - 1
_PAGE: Final = (
    "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/deploy/eks/ultraserver-operator.html"
)


class FailureStrategy(StrEnum):
    """What the operator does when a node of a workload fails.

    The names are those of the chart's custom resource, which takes any text; the vendor's page
    calls the last one ReplaceAffected.
    """

    NO_OP = "NoOp"
    """It tells, and does nothing."""
    RESTART_ALL = "RestartAll"
    """It gives up every UltraServer of the workload, and allocates again."""
    MIGRATE_AFFECTED = "MigrateAffected"
    """It moves the Pods of the UltraServer with the node to another one."""


def ultraserver_workload(
    *,
    name: str,
    instance_type: str,
    server_count: int = 1,
    topology_size: int = 4,
    namespace: str = DEFAULT_NAMESPACE,
    logical_neuron_cores: int | None = None,
    failure_strategy: FailureStrategy = FailureStrategy.NO_OP,
    claim_template: str | None = None,
) -> dict[str, Any]:
    """The manifest of a NeuronUltraServerWorkload: UltraServers that are allocated before its Pods.

    The operator makes a ResourceClaimTemplate, whose name each Pod claims by; there is one Pod on
    each node, `server_count` times `topology_size` in all. More than one UltraServer also needs a
    claim for EFAs by DRA on every Pod.

    Args:
        name: Name of the workload.
        instance_type: The type of the nodes, one of the Trn3pds UltraServers; only its form is
            checked, as no source names them all.
        server_count: How many UltraServers, one by default.
        topology_size: Nodes of each UltraServer that work together, 1, 2 or 4; four by default.
        namespace: Where the workload, the template and the Pods are, `default` when left out.
        logical_neuron_cores: Physical cores that act as one, 1 or 2; the operator's own default,
            which is 2, when left out.
        failure_strategy: What happens when a node fails; nothing by default.
        claim_template: Name of the template that the operator makes; that of the workload when
            left out.

    Raises:
        EksDevicesError: Every fault: malformed names, numbers out of range, another type of
            strategy, tokens.

    Source: https://awsdocs-neuron.readthedocs-hosted.com/en/latest/deploy/eks/ultraserver-operator.html
    """
    texts = {
        "name": plain_text(name),
        "instance_type": plain_text(instance_type),
        "namespace": plain_text(namespace),
        "claim_template": plain_text(claim_template),
    }
    numbers = [
        *whole_number(server_count, "server_count", lowest=1, highest=_MOST_SERVERS),
        *_choice(topology_size, "topology_size", "topology_sizes"),
    ]
    if logical_neuron_cores is not None:
        numbers += _choice(logical_neuron_cores, "logical_neuron_cores", "logical_neuron_cores")
    strategy = member(failure_strategy, FailureStrategy, "failure_strategy")
    raise_faults([*_text_faults(texts), *numbers, *strategy])
    spec: dict[str, Any] = {
        "instanceType": texts["instance_type"],
        "serverCount": server_count,
        "topologySize": topology_size,
        "allocationPolicy": {"failureStrategy": str(failure_strategy)},
    }
    if logical_neuron_cores is not None:
        spec["config"] = {"logicalNeuronCore": logical_neuron_cores}
    if claim_template is not None:
        spec["resourceClaimTemplate"] = {"name": texts["claim_template"]}
    return {
        "apiVersion": f"{NEURON_DRIVER}/{ULTRASERVER_API}",
        "kind": "NeuronUltraServerWorkload",
        "metadata": {"name": texts["name"], "namespace": texts["namespace"]},
        "spec": spec,
    }


def _text_faults(texts: dict[str, Any]) -> Iterator[Finding]:
    # The operator names a ResourceClaimTemplate after the workload.
    yield from dns_subdomain(texts["name"], "name")
    yield from well_formed(
        texts["instance_type"],
        "instance_type",
        _is_type,
        code="MalformedInstanceType",
        message="the value has not the form of an instance type",
        allowed=f"<family>.<size>, of at most {_LONGEST_TYPE} lower case letters, digits and "
        "hyphens",
        fix="write the instance type of the nodes",
        source=_PAGE,
    )
    yield from dns_label(texts["namespace"], "namespace")
    if texts["claim_template"] is not None:
        yield from dns_subdomain(texts["claim_template"], "claim_template")


def _is_type(value: str) -> bool:
    """Whether a text has the form of an EC2 instance type, and of what the operator takes."""
    return len(value) <= _LONGEST_TYPE and _TYPE.fullmatch(value) is not None


def _choice(value: object, path: str, row: str) -> Iterator[Finding]:
    """The fault of a number that is none of those of a row of the data."""
    allowed: list[int] = read_toml("neuron_ultraservers.toml")["workload"][row]
    wrong = list(whole_number(value, path, lowest=min(allowed), highest=max(allowed)))
    yield from wrong
    if not wrong and value not in allowed:
        yield fault(
            "UltraServerSize",
            path,
            "no mode of an UltraServer has so many nodes, although the API server takes the number",
            got=value,
            allowed=", ".join(map(str, allowed)),
            fix="choose an allowed number",
            source=_PAGE,
        )
