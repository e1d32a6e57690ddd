"""cdk8s charts of the device managers and of claims: each wraps the dicts of a pure function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import cdk8s
from constructs import Construct

from eks_devices import (
    ClusterPlan,
    EksDevicesError,
)
from eks_devices.claims.objects import Claim, object_keys
from eks_devices.findings import Finding, fault, raise_faults
from eks_devices.typecheck import is_token, listed, wrong_type

from .manifests import ImageSource
from .manifests.assembly import manifests_by_part

_NAMESPACES = "namespaces"


def device_charts(scope: Construct, plan: ClusterPlan, *, images: ImageSource) -> list[cdk8s.Chart]:
    """One chart for the namespaces of the managers and one for each manager of a plan.

    What managers share, such as health monitoring of Neuron, has a chart of its own.

    The objects are those of `device_manifests`, names included. A manager's chart holds what all
    its installations need, so a new node group adds objects to a chart or adds a chart.

    Args:
        scope: A cdk8s App, or a construct below one; never a Stack of the AWS CDK.
        plan: The plan of a cluster.
        images: Where the nodes pull images from.

    Raises:
        EksDevicesError: The faults of `device_manifests`.
    """
    parts = manifests_by_part(plan, images)
    spaces = {
        item["metadata"]["name"]: item
        for items in parts.values()
        for item in items
        if item["kind"] == "Namespace"
    }
    first = [_chart(scope, _NAMESPACES, list(spaces.values()))] if spaces else []
    charts = []
    for part, items in parts.items():
        own = [item for item in items if item["kind"] != "Namespace"]
        chart = _chart(scope, part, own)
        for namespaces in first:
            chart.add_dependency(namespaces)
        charts.append(chart)
    return [*first, *charts]


def claims_chart(
    scope: Construct,
    claims: Iterable[Claim],
    *,
    kubernetes_version: str,
    instance_type: str | None = None,
    name: str = "claims",
) -> cdk8s.Chart:
    """A chart of claims, claim templates and ComputeDomains.

    Args:
        scope: A cdk8s App, or a construct below one; never a Stack of the AWS CDK.
        claims: The values; each is checked as by its `to_dict`.
        kubernetes_version: The minor of the cluster, "1.34".
        instance_type: The type of the nodes; by default the claims are checked against none.
        name: The chart's name, and its file's; each name once in an app.

    Raises:
        EksDevicesError: The faults of every claim, `TokenNotAllowed` for CDK tokens in one, and
            `RepeatedName` for a claim or a chart that is there already.
    """
    items: list[dict[str, Any]] = []
    given, faults = _listed(claims)
    if scope.node.try_find_child(name) is not None:
        faults.append(_repeated("name", name, "chart", "an app"))
    for one in given:
        try:
            items.append(
                one.to_dict(kubernetes_version=kubernetes_version, instance_type=instance_type)
            )
        except EksDevicesError as error:
            faults += error.faults
    raise_faults(faults)
    return _chart(scope, name, items)


def _chart(scope: Construct, name: str, items: Sequence[dict[str, Any]]) -> cdk8s.Chart:
    raise_faults(fault for item in items for fault in _token_faults(item, item["kind"]))
    chart = cdk8s.Chart(scope, name, disable_resource_name_hashes=True)
    for item in items:
        meta = item["metadata"]
        # No name of a namespace holds a dot, so no two objects share a path.
        path = ".".join([item["kind"], *filter(None, [meta.get("namespace")]), meta["name"]])
        made = cdk8s.ApiObject(
            chart,
            path,
            api_version=item["apiVersion"],
            kind=item["kind"],
            metadata={"name": meta["name"]},
        )
        # One patch for the whole object: field by field, each would be a call to Node.
        made.add_json_patch(cdk8s.JsonPatch.replace("", item))
    return chart


def _listed(claims: object) -> tuple[list[Claim], list[Finding]]:
    """The claims of a list, and what in it is no claim or comes twice."""
    found, faults = listed(
        claims,
        Claim,
        "claims",
        many="a list of claims, claim templates and ComputeDomains",
        one="a claim",
        fix="use ResourceClaimTemplate(...) for one",
    )
    names = Counter(key for one in found for key in object_keys(one))
    faults += [
        _repeated("claims", f"{namespace}/{name}", kind, "a namespace")
        for (kind, namespace, name), times in names.items()
        if times > 1
    ]
    return found, faults


def _repeated(path: str, got: str, what: str, where: str) -> Finding:
    message = f"two of one kind ({what}) have this name"
    allowed = f"each name once in {where}"
    return fault("RepeatedName", path, message, got=got, allowed=allowed, fix="rename one")


def _token_faults(value: object, path: str) -> Iterator[Finding]:
    """Faults of CDK tokens, which cdk8s would write into the YAML as they are."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _token_faults(one, f"{path}.{key}")
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from _token_faults(one, f"{path}[{index}]")
    elif is_token(value):
        yield wrong_type(path, value, "a literal", "write the value itself")
