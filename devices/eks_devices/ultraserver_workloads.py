"""Workloads of Neuron's UltraServer operator, which gives them whole UltraServers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final

from ._data import read_toml
from .claims.templates import DEFAULT_NAMESPACE
from .findings import Finding, fault, raise_faults
from .instance_types import AcceleratedInstanceType, lookup
from .names import NEURON_DRIVER, ULTRASERVER_API
from .syntax import dns_label, dns_subdomain, well_formed
from .typecheck import member, plain_text, whole_number
from .vocabulary import DeviceType

_LONGEST_TYPE: Final = 253
_TYPE: Final = re.compile(r"[a-z][a-z0-9-]*\.[a-z0-9-]+")
_TEXTS: Final = ("name", "instance_type", "namespace", "claim_template")
_MOST_SERVERS: Final = 2**31 - 1


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

    The operator makes a ResourceClaimTemplate, by whose name Pods claim, one on each node. With
    more than one UltraServer each Pod needs a claim for EFAs by DRA, too.

    Args:
        name: Name of the workload.
        instance_type: The type of the nodes, of a Trn3pds UltraServer. EC2 names none of them yet,
            so any is taken whose family the catalogue does not have.
        server_count: How many UltraServers, one by default.
        topology_size: Nodes of each UltraServer, 1, 2 or 4; four by default.
        namespace: Where workload, template and Pods are, `default` when left out.
        logical_neuron_cores: Physical cores that act as one, 1 or 2; when left out the operator's
            own default, 2.
        failure_strategy: What happens when a node fails; nothing by default.
        claim_template: Name of the template; that of the workload when left out.

    Raises:
        EksDevicesError: Every fault: malformed names, numbers out of range, wrong types, tokens,
            and `TypeWithoutUltraServerOperator` for a family that the operator never serves.

    Source: https://awsdocs-neuron.readthedocs-hosted.com/en/latest/deploy/eks/ultraserver-operator.html
    """
    given = (name, instance_type, namespace, claim_template)
    texts = dict(zip(_TEXTS, map(plain_text, given), strict=True))
    sizes = {"serverCount": server_count, "topologySize": topology_size}
    faults = [*_text_faults(texts), *_size_faults(server_count, topology_size)]
    faults += _core_faults(logical_neuron_cores)
    raise_faults([*faults, *member(failure_strategy, FailureStrategy, "failure_strategy")])
    return _manifest(texts, sizes, logical_neuron_cores, str(failure_strategy))


def _manifest(
    texts: dict[str, Any], sizes: dict[str, int], cores: int | None, strategy: str
) -> dict[str, Any]:
    template = texts["claim_template"]
    spec: dict[str, Any] = {"instanceType": texts["instance_type"], **sizes}
    spec["allocationPolicy"] = {"failureStrategy": strategy}
    spec |= {} if cores is None else {"config": {"logicalNeuronCore": cores}}
    spec |= {} if template is None else {"resourceClaimTemplate": {"name": template}}
    return {
        "apiVersion": f"{NEURON_DRIVER}/{ULTRASERVER_API}",
        "kind": "NeuronUltraServerWorkload",
        "metadata": {"name": texts["name"], "namespace": texts["namespace"]},
        "spec": spec,
    }


def _size_faults(servers: object, nodes: object) -> Iterator[Finding]:
    yield from whole_number(servers, "server_count", lowest=1, highest=_MOST_SERVERS)
    allowed: list[int] = _rows()["topology_sizes"]
    wrong = list(whole_number(nodes, "topology_size", lowest=min(allowed), highest=max(allowed)))
    yield from wrong
    if not wrong and nodes not in allowed:
        yield fault(
            "UltraServerSize",
            "topology_size",
            "no mode of an UltraServer has so many nodes, although the API server takes the number",
            got=nodes,
            allowed=", ".join(map(str, allowed)),
            fix="choose an allowed number",
            source=_rows()["source"],
        )


def _core_faults(cores: object) -> Iterator[Finding]:
    allowed: list[int] = _rows()["logical_neuron_cores"]
    path, least, most = "logical_neuron_cores", min(allowed), max(allowed)
    return whole_number(cores, path, lowest=least, highest=most, optional=True)


def _rows() -> dict[str, Any]:
    return dict(_data()["workload"])


def _data() -> dict[str, Any]:
    return read_toml("neuron_ultraservers.toml")


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
        source=_rows()["source"],
    )
    yield from dns_label(texts["namespace"], "namespace")
    yield from _type_faults(texts["instance_type"])
    if texts["claim_template"] is not None:
        yield from dns_subdomain(texts["claim_template"], "claim_template")


def _type_faults(name: object) -> Iterator[Finding]:
    """The fault of a type whose family the catalogue has and the operator does not serve."""
    known, families = _known(name), _data()["operator"]["families"]
    if known is None or known.family in families:
        return
    trainium = known.device_type is DeviceType.NEURON and known.ultraserver_sizes
    yield fault(
        "TypeWithoutUltraServerOperator",
        "instance_type",
        f"the operator serves no {known.family}, so the workload would wait for ever",
        got=name,
        allowed=f"types of the families {' and '.join(families)}",
        fix="leave the workload out, and use DeviceRequest.ultraserver_node(...) with "
        "ultraserver_workers"
        if trainium
        else "name the type of an UltraServer that the operator serves",
        source=_data()["operator"]["source"],
    )


def _known(name: object) -> AcceleratedInstanceType | None:
    """The type of this name, or else one of its family: the size may be misspelt."""
    found, plain = lookup(name, "instance_type"), plain_text(name)
    if not isinstance(found, Finding):
        return found
    family = plain.partition(".")[0] if isinstance(plain, str) else None
    return next((one for one in AcceleratedInstanceType.all() if one.family == family), None)


def _is_type(value: str) -> bool:
    """Whether a text has the form of an EC2 instance type, and of what the operator takes."""
    return len(value) <= _LONGEST_TYPE and _TYPE.fullmatch(value) is not None
