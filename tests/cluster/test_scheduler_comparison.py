"""Generated claims before the whole control plane: it binds, refuses or errs as this library says.

Each Pod has a node of its own, with the devices of a planned group or with some that are made up,
so that all can be decided at once.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest
from tests.cluster.oracle.comparison import Comparison, Result, has_unclear_expressions
from tests.cluster.oracle.oracle import Oracle, Scope
from tests.feasibility_claims import EFA, GPU, NEURON, PCIE_ROOT, claim, exactly, match
from tests.generated.cases import Case, Kind
from tests.generated.claims import named
from tests.generated.nodes import CLASSES, class_manifest, installed, planned
from tests.generated.run_time import filled_in

from eks_device_operations.control_plane import ApiError, plain_node, wait_for
from eks_device_operations.control_plane.pods import pod
from eks_devices.feasibility import Status, Verdict, check_claims

MINOR = "1.34"
SPACE = "generated"
SEED = 34
SIZES = {Kind.REALISTIC: 390, Kind.HOSTILE: 120}
RESOURCES = "resource.k8s.io/v1"
ADMIN = "resource.kubernetes.io/admin-access"
CLAIM_OF_POD = "resource.kubernetes.io/pod-claim-name"
# Of three that can be served, so many may be there that cannot: those are the most by nature.
REFUSED_FOR_EACH = 1.2

Item = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """A Pod that is made: its claims, where they are judged, and the verdict on that."""

    name: str
    case: Case
    verdict: Verdict


@dataclass(frozen=True)
class Found:
    """What became of a Pod; `word` is the reason of the scheduler, or `refused` by the server."""

    node: str = ""
    word: str = ""
    message: str = ""


@pytest.fixture(scope="module")
def asked():
    """Pods that the scheduler decides on soon, by the word of its allocator."""
    found: list[Asked] = []
    with Oracle(MINOR) as oracle:
        comparison = Comparison(oracle, seconds=0.03)
        for kind, size in SIZES.items():
            found += [
                Asked(f"{kind}-{index}", one.case, one.verdict)
                for index, one in zip(range(size), quick(comparison, kind), strict=False)
            ]
    return found


def quick(comparison: Comparison, kind: Kind) -> Iterator[Any]:
    """Comparisons without those that are undecided, nor too many that end alike."""
    seen: Counter[Status] = Counter()
    for first in range(0, 20_000, 250):
        cases = list(comparison.cases(kind, SEED, range(first, first + 250)))
        for one in comparison.all_of(cases):
            served, status = seen[Status.FEASIBLE], one.verdict.status
            if one.result is Result.UNDECIDED or one.answer.scope is Scope.TIME:
                continue
            if has_unclear_expressions(one.case):
                continue
            if status is Status.INFEASIBLE and seen[status] > REFUSED_FOR_EACH * served + 5:
                continue
            seen[status] += 1
            yield one


def templates(one: Asked) -> list[Item]:
    return [
        {
            "apiVersion": RESOURCES,
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": f"{one.name}-{index}", "namespace": SPACE},
            "spec": {"spec": claim["spec"]},
        }
        for index, claim in enumerate(one.case.claims)
    ]


def slices_on(node: str, case: Case) -> list[Item]:
    """The slices of a case's node, under another name."""
    place = case.place
    found = deepcopy(place.slices) if place.group is None else filled_in(place, 0)
    for one in found:
        one["metadata"] = {"name": f"{node}-{one['spec']['driver']}"}
        one["spec"]["nodeName"] = node
        one["spec"]["pool"]["name"] = node
    return list(found)


def on_nodes(*names: str) -> Item:
    """A Pod's affinity to nodes, whatever their taints."""
    field = {"key": "metadata.name", "operator": "In"}
    terms = [{"matchFields": [field | {"values": [name]}]} for name in names]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"affinity": {"nodeAffinity": required}, "tolerations": [{"operator": "Exists"}]}


@pytest.fixture(scope="module")
def cluster(shared, asked):
    """A cluster with a node for each Pod."""
    own = [class_manifest(*one) for one in CLASSES.items()]
    shared.install(*deepcopy([*installed(MINOR), *own]))
    meta = {"name": SPACE, "labels": {ADMIN: "true"}}
    shared.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
    account = f"/api/v1/namespaces/{SPACE}/serviceaccounts/default"
    wait_for(lambda: shared.api.find(account), "the ServiceAccount")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda one: make_node(shared.api, one.name, one.case), asked))
    shared.tally["nodes"] += len(asked)
    return shared


def make_node(api, name, case):
    api.create(plain_node(name, instance_type="m7i.2xlarge", kubelet_version="v1.34.2"))
    for one in slices_on(name, case):
        api.create(one)


@pytest.fixture(scope="module")
def found(cluster, asked) -> dict[str, Found]:
    """What became of each Pod."""
    with ThreadPoolExecutor(4) as pool:
        refused = dict(pool.map(lambda one: make_pod(cluster.api, one), asked))
    decided = wait_for(lambda: all_decided(cluster.api, refused), "a decision", seconds=120)
    # A Pod may have been looked at before its claim was there, or what it stands for was heard of.
    time.sleep(2.5)
    decided = all_decided(cluster.api, refused) or decided
    cluster.tally["generated claims before the scheduler"] += sum(
        len(one.case.claims) for one in asked
    )
    return decided


def make_pod(api, one: Asked) -> tuple[str, str]:
    """Make a Pod with its claims; the error of the server, where it refuses one."""
    made = templates(one)
    try:
        for item in made:
            api.create(item)
    except ApiError as error:
        return one.name, str(error)
    names = [item["metadata"]["name"] for item in made]
    api.create(pod(one.name, namespace=SPACE, templates=names, **on_nodes(one.name)))
    return one.name, ""


def all_decided(api, refused: dict[str, str]) -> dict[str, Found]:
    """What became of all Pods; empty while it is open for one."""
    decided = {name: Found(word="refused", message=text) for name, text in refused.items() if text}
    for one in api.list("v1", "Pod", SPACE):
        name = one["metadata"]["name"]
        conditions = one["status"].get("conditions", ())
        refusal = [each for each in conditions if each["type"] == "PodScheduled"]
        if node := one["spec"].get("nodeName"):
            decided[name] = Found(node=node)
        elif refusal and "resourceclaim" not in refusal[0].get("message", ""):
            decided[name] = Found(word=refusal[0]["reason"], message=refusal[0]["message"])
    return decided if len(decided) >= len(refused) else {}


def status_of(one: Found) -> Status:
    """The scheduler's decision in the words of this library."""
    if one.node:
        return Status.FEASIBLE
    return Status.INFEASIBLE if one.word == "Unschedulable" else Status.ERROR


def test_the_scheduler_decides_as_the_verdicts_say(found, asked):
    different = [
        (one.name, str(one.verdict.status), one.verdict.code, found[one.name])
        for one in asked
        if status_of(found[one.name]) is not one.verdict.status
    ]

    assert different == []
    kinds = Counter((one.case.kind, one.verdict.status) for one in asked)
    assert len(asked) >= 500
    assert min(kinds[Kind.REALISTIC, one] for one in (Status.FEASIBLE, Status.INFEASIBLE)) > 100
    assert min(kinds[Kind.HOSTILE, one] for one in ("feasible", "infeasible", "error")) > 15


def test_the_server_refuses_what_the_verdicts_say_it_refuses(found, asked):
    refused = {name for name, one in found.items() if one.word == "refused"}
    said = {one.name for one in asked if one.verdict.code == "ExpressionInvalid"}

    assert refused == said
    assert said


def test_pods_have_the_devices_of_their_verdicts(cluster, found, asked):
    given: dict[str, list[tuple[str, str, str, str]]] = {}
    for one in cluster.api.list(RESOURCES, "ResourceClaim", SPACE):
        (owner,) = one["metadata"]["ownerReferences"]
        claim = one["metadata"]["annotations"][CLAIM_OF_POD].replace("devices-", "c")
        results = one.get("status", {}).get("allocation", {}).get("devices", {}).get("results", ())
        given.setdefault(owner["name"], []).extend(
            (claim, each["request"], each["driver"], each["device"]) for each in results
        )
    devices = 0
    for one in asked:
        if found[one.name].node:
            said = [
                (each.claim.rpartition("/")[2], each.request, each.driver, each.device)
                for each in one.verdict.devices
            ]
            assert sorted(given[one.name]) == sorted(said), one.name
            devices += len(said)
    cluster.tally["devices allocated"] += devices
    assert devices > 500


ROOT_OF_ALL = [exactly(GPU), exactly(EFA, name="efa", allocationMode="All"), match(PCIE_ROOT)]
# A claim, a group whose nodes end the attempt of its Pod, and one whose nodes serve it.
STOPPED = {
    "an attribute of larger types": (
        claim(exactly(NEURON, "device.attributes['neuron.aws.com'].topology4_id == 1")),
        "trn2-3xlarge-efa",
        "trn2-48xlarge-efa",
    ),
    "a connected group of larger types": (
        claim(exactly(NEURON, "device.attributes['resource.aws.com'].devicegroup4_id != ''")),
        "inf2-48xlarge",
        "trn1-32xlarge-efa",
    ),
    "all EFAs at the root of a GPU": (
        claim(*ROOT_OF_ALL),
        "p4d-24xlarge-efa",
        "p5-4xlarge-efa",
    ),
}


def stopped(name: str) -> tuple[Case, ...]:
    """The cases of a claim on both groups."""
    manifest, *names = STOPPED[name]
    places = {one.name: one for one in planned(MINOR)}
    claims = [named(manifest, "c0")]
    return tuple(Case(Kind.REALISTIC, name, places[one], claims) for one in names)


def test_what_ends_an_attempt_on_one_node_keeps_a_pod_from_others_too(cluster):
    """Each Pod may go to a node that serves its claim; half of them to one that errs as well."""
    expected, words = {}, {}
    for number, name in enumerate(STOPPED):
        bad, good = stopped(name)
        verdicts = [said(one) for one in (bad, good)]
        assert [one.status for one in verdicts] == [Status.ERROR, Status.FEASIBLE], name
        one = Asked(f"stopped-{number}", bad, verdicts[0])
        (made,) = templates(one)
        cluster.api.create(made)
        for kind, node in (("bad", bad), ("good", good)):
            make_node(cluster.api, f"{kind}-{number}", node)
        for kind, nodes in (("both", ["bad", "good"]), ("only", ["good"])):
            places = on_nodes(*(f"{each}-{number}" for each in nodes))
            own = pod(
                f"{kind}-{number}", namespace=SPACE, templates=[made["metadata"]["name"]], **places
            )
            cluster.api.create(own)
            expected[f"{kind}-{number}"] = ""
            words[f"{kind}-{number}"] = "SchedulerError" if kind == "both" else ""

    def decided() -> dict[str, Found]:
        found = all_decided(cluster.api, expected)
        return {one: found[one] for one in expected} if expected.keys() <= found.keys() else {}

    found = wait_for(decided, "a decision", seconds=60)

    assert {name: one.word for name, one in found.items()} == words


def said(one: Case) -> Verdict:
    assert one.place.group is not None
    (verdict,) = check_claims(one.claims, one.place.group)
    return verdict
