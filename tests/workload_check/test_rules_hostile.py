"""No rule trips over what a manifest may hold, whatever stands wherever."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from typing import Any

import pytest
from tests.cluster_plans import cluster_of
from tests.hostile import (
    LIST_TOKEN,
    NUMBER_TOKEN,
    TOKEN,
    Hostile,
    HostileList,
    HostileMapping,
    HostileSet,
    HostileText,
    HostileTuple,
    UncomparedNumber,
    UncomparedText,
    Untouchable,
    doubled,
    endless,
)
from tests.rule_pods import (
    EFA,
    NEURON,
    claim,
    container,
    env,
    gpu_pod,
    listing,
    of_claim,
    of_template,
    request,
    template,
)

from eks_devices import Mechanism
from eks_devices.workload_check import Document
from eks_devices.workload_check.claimed import KnownClaims
from eks_devices.workload_check.pods import PodTemplate, pods_of
from eks_devices.workload_check.rules import RULES, SET_RULES, Context, Whole
from eks_devices.workload_check.rules.own_classes import own_classes
from eks_devices.workload_check.rules.readable import UNKNOWN, readable

Path = tuple[str | int, ...]

PLAN = cluster_of(
    {"instance_type": "p5.48xlarge"},
    {"instance_type": "trn2.48xlarge", "mechanism": Mechanism.DEVICE_PLUGIN},
    kubernetes_version="1.35",
)
RESOURCES = {
    "limits": {"nvidia.com/gpu": 1, "aws.amazon.com/neuron": 4, "hugepages-2Mi": "4Mi"},
    "requests": {"vpc.amazonaws.com/efa": 1, "memory": "1Gi"},
    **listing("gpus", "own/first"),
}
MAIN = container(
    resources=RESOURCES,
    env=env(FI_PROVIDER="tcp", NVIDIA_VISIBLE_DEVICES="all", NEURON_RT_NUM_CORES="99"),
    securityContext={"privileged": False, "capabilities": {"add": ["IPC_LOCK"]}, "runAsUser": 1},
)
SPREAD = {
    "topologyKey": "kubernetes.io/hostname",
    "maxSkew": 1,
    "labelSelector": {
        "matchLabels": {"a": "b"},
        "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}],
    },
}
SPEC = gpu_pod(
    initContainers=[container("init", resources=listing("own"), restartPolicy="Always")],
    resourceClaims=[of_claim(), of_template("own")],
    volumes=[{"name": "x", "hostPath": {"path": "/dev/infiniband"}}],
    nodeSelector={"a": "b"},
    hostNetwork=True,
    priorityClassName="high",
    schedulerName="neuron-scheduler",
    securityContext={"runAsNonRoot": True},
    topologySpreadConstraints=[SPREAD],
    affinity={
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [SPREAD]},
    },
)["spec"] | {"containers": [MAIN, {**MAIN, "name": "second"}]}
WORKLOAD = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {
        "name": "x",
        "labels": {"kueue.x-k8s.io/queue-name": "a", "kai.scheduler/queue": "b"},
    },
    "spec": {
        "replicas": 3,
        "nprocPerNode": "auto",
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": SPEC},
    },
}
CONFIG = [
    {
        "requests": ["first"],
        "opaque": {"driver": "gpu.nvidia.com", "parameters": {"sharing": {"strategy": "MPS"}}},
    },
    {"opaque": {"driver": NEURON, "parameters": {"logicalNeuronCore": 1}}},
]
FIRST = {"name": "first", "firstAvailable": [{"name": "a", "deviceClassName": EFA, "count": 1}]}
CLAIMS = [
    claim(request(device_class=EFA, allocationMode="All", adminAccess=True), config=CONFIG),
    template(
        FIRST,
        request(
            "second",
            device_class=NEURON,
            count=2,
            selectors=[{"cel": {"expression": "true"}}],
        ),
        name="own",
        config=CONFIG,
    ),
]
PRIORITY = {"kind": "PriorityClass", "metadata": {"name": "high"}, "globalDefault": True}
DEVICE_CLASS = {
    "kind": "DeviceClass",
    "metadata": {"name": "x"},
    "spec": {
        "extendedResourceName": "nvidia.com/gpu",
        "selectors": [{"cel": {"expression": "device.driver == 'dra.net'"}}],
    },
}
QUOTA = {
    "kind": "ResourceQuota",
    "metadata": {"name": "x"},
    "spec": {"hard": {"requests.vpc.amazonaws.com/efa": 1}},
}
MANIFESTS = [WORKLOAD, *CLAIMS, PRIORITY, DEVICE_CLASS, QUOTA]
# Which claim an entry names is not for the rules to find.
(SANE,) = pods_of(Document(origin="x", content=WORKLOAD))
NAMED = list(KnownClaims([Document(origin="x", content=one) for one in MANIFESTS]).of(SANE))

VALUES: dict[str, Callable[[], Any]] = {
    "an object": Hostile,
    "a wild object": Untouchable,
    "a mapping": HostileMapping,
    "a list": lambda: HostileList([1]),
    "a tuple": lambda: HostileTuple([1]),
    "a set": lambda: HostileSet([1]),
    "a text": lambda: HostileText("x"),
    "a text that is not compared": lambda: UncomparedText("x"),
    "a number": lambda: UncomparedNumber(1),
    "endless": endless,
    "doubled": lambda: doubled(40),
    "a token": lambda: TOKEN,
    "a list of a token": lambda: [LIST_TOKEN],
    "a number that is a token": lambda: NUMBER_TOKEN,
    "nothing": lambda: None,
    "true": lambda: True,
    "0": lambda: 0,
    "a large number": lambda: 10**400,
    "no number": lambda: float("nan"),
    "no text": lambda: "",
    "a long text": lambda: "9" * 10_000,
    "a dash": lambda: "-",
    "no list": list,
    "no mapping": dict,
    "a list of all": lambda: [None, True, 1, "x", [], {}],
    "a mapping of a list": lambda: {"name": ["x"], "path": {}, 7: 8},
}


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of all values in a manifest."""
    yield path
    listed = enumerate(value) if isinstance(value, list) else ()
    for key, one in value.items() if isinstance(value, dict) else listed:
        yield from places(one, (*path, key))


def changed(value: Any, path: Path, new: Any) -> Any:
    """A copy of a manifest with another value at a path."""
    if not path:
        return new
    made = copy(value)
    made[path[0]] = changed(value[path[0]], path[1:], new)
    return made


def look(content: Any, index: int) -> list[str]:
    """What all rules say of the manifests, one of which is replaced, as texts."""
    documents = [
        Document(origin="x", content=content if at == index else one)
        for at, one in enumerate(MANIFESTS)
    ]
    workload = documents[0].content if isinstance(documents[0].content, dict) else {}
    spec = workload.get("spec")
    given: Any = spec.get("template") if type(spec) is dict else None
    template: dict[str, Any] = given if type(given) is dict else {}
    pod = PodTemplate(
        document=documents[0],
        steps=("spec", "template", "spec"),
        spec=template.get("spec", {}),
        metadata=template.get("metadata", {}),
    )
    claims = [
        replace(one, manifest=content) if at == index - 1 else one for at, one in enumerate(NAMED)
    ]
    of_class = readable(documents[MANIFESTS.index(DEVICE_CLASS)].content)
    classes = own_classes(
        [Document(origin="x", content=of_class)] if isinstance(of_class, dict) else []
    )
    context = Context(
        pod=pod, claims=tuple(claims), plan=PLAN, groups=PLAN.nodegroups, classes=classes
    )
    whole = Whole(documents=documents, pods=[context], planned_claims=CLAIMS[:1], plan=PLAN)
    found = [str(finding) for rule in RULES for _, finding in rule(context)]
    return found + [str(finding) for rule in SET_RULES for _, _, finding in rule(whole)]


# One of each kind of what a copy may hold; what cannot be read is one value in all copies.
EVERYWHERE = [
    "an object",
    "nothing",
    "true",
    "a large number",
    "no text",
    "a long text",
    "no list",
    "no mapping",
    "a list of all",
    "a mapping of a list",
]


@pytest.mark.parametrize("name", EVERYWHERE)
def test_no_rule_raises_whatever_stands_wherever(name: str) -> None:
    for index, manifest in enumerate(MANIFESTS):
        for path in places(manifest):
            look(changed(manifest, path, VALUES[name]()), index)


@pytest.mark.parametrize("name", sorted(VALUES.keys() - {*EVERYWHERE}))
def test_no_rule_raises_whatever_stands_somewhere(name: str) -> None:
    for index, manifest in enumerate(MANIFESTS):
        for path in [*places(manifest)][::16]:
            look(changed(manifest, path, VALUES[name]()), index)


def test_the_manifests_of_these_tests_are_told_a_lot() -> None:
    assert len(look(WORKLOAD, 0)) > 15


@pytest.mark.parametrize("name", VALUES)
def test_what_is_read_is_plain(name: str) -> None:
    def kinds(value: Any) -> Iterator[type]:
        yield type(value)
        inside = value.values() if isinstance(value, dict) else value
        for one in inside if isinstance(value, (dict, list)) else ():
            yield from kinds(one)

    plain = {dict, list, str, int, float, bool, type(None), type(UNKNOWN)}
    assert set(kinds(readable({"a": VALUES[name]()}))) <= plain


def test_what_is_plain_is_read_as_it_is() -> None:
    assert readable(WORKLOAD) == WORKLOAD
    assert readable(({"a": (1, 2.5, None, True)},)) == [{"a": [1, 2.5, None, True]}]
