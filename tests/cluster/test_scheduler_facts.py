"""What a real scheduler does with claims, one test for each fact of docs/scheduler-facts.md."""

from __future__ import annotations

import time

import pytest

from eks_device_operations.control_plane import ApiError, wait_for
from eks_device_operations.control_plane.pods import (
    claim,
    claims_of,
    given,
    remove,
    wait_bound,
    wait_decided,
)
from eks_devices import DeviceRequest, EksDevicesError, Mechanism, ResourceClaimTemplate
from eks_devices.names import EFA_CLASS, GPU_CLASS, GPU_RESOURCE, NEURON_CLASS

MINOR = "1.34"
SPACE = "facts"
API = "resource.k8s.io/v1"
ROOT = "resource.kubernetes.io/pcieRoot"
GROUP_OF_8 = "resource.aws.com/devicegroup8_id"
EVERYWHERE = {"tolerations": [{"operator": "Exists"}]}
NUMA = "device.attributes['dra.net'].numaNode == 0"
GUARDED = f"'numaNode' in device.attributes['dra.net'] && {NUMA}"


def request(name, device_class, count=1, *selectors, **more):
    exactly = {"deviceClassName": device_class, "count": count} | more
    if selectors:
        exactly["selectors"] = [{"cel": {"expression": one}} for one in selectors]
    return {"name": name, "exactly": exactly}


def every(name, device_class, *selectors):
    asked = request(name, device_class, 0, *selectors, allocationMode="All")
    del asked["exactly"]["count"]
    return asked


def template(name, *requests, **options):
    return claim("ResourceClaimTemplate", name, *requests, namespace=SPACE, **options)


@pytest.fixture(scope="module")
def groups(shared, spec, planned):
    """One node of each: eight PCIe roots, four, one; device groups; and device plugins."""
    dra = {"mechanism": Mechanism.DRA, "efa": True}
    plan = planned(
        spec("p5", "p5.48xlarge", **dra),
        spec("p4d", "p4d.24xlarge", **dra),
        spec("g5", "g5.8xlarge", **dra),
        spec("trn2", "trn2.48xlarge", **dra),
        spec("plugin", "g6e.12xlarge", mechanism=Mechanism.DEVICE_PLUGIN),
    )
    shared.serve(plan, SPACE)
    return {group.name: group for group in plan.nodegroups}


@pytest.fixture
def ask(run):
    """Makes a Pod, with a claim for what is requested where anything is."""

    def make(name, *requests, match="", **options):
        made = [template(name, *requests, match=match)] if requests else []
        templates = [name] if requests else options.pop("templates", [])
        return run(name, *made, namespace=SPACE, templates=templates, **options)

    return make


def decided(shared, item, **options):
    (found,) = wait_decided(shared.api, item, **options)
    shared.tally["facts settled"] += 1
    return found


def test_a_claim_holds_32_devices(shared, groups, ask):
    """Also where a node has more, and whatever they are."""
    most = ask("most", request("efa", EFA_CLASS, 32), group=groups["p5"])
    wait_bound(shared.api, most)
    remove(shared.api, most)
    too_many = ask(
        "too-many", request("gpu", GPU_CLASS, 8), request("efa", EFA_CLASS, 25), **EVERYWHERE
    )

    found = decided(shared, too_many)

    assert (found.node, found.reason) == ("", "SchedulerError")
    assert "number of requested devices 33 exceeds the claim limit of 32" in found.message
    asked = [DeviceRequest.gpu(8), DeviceRequest.efa(25)]
    with pytest.raises(EksDevicesError, match="at most 32 devices"):
        ResourceClaimTemplate(name="x", requests=asked).to_dict(kubernetes_version=MINOR)


def test_a_claim_has_256_consumers(shared, groups, ask):
    """On the nodes of a managed group, which take fewer Pods, nobody gets that far."""
    named = claim("ResourceClaim", "crowded", request("gpu", GPU_CLASS), namespace=SPACE)
    shared.api.create(named)
    first = ask("first", claims=["crowded"], group=groups["p5"])
    wait_bound(shared.api, first)

    kept = reserve(shared.api, named, 256)
    with pytest.raises(ApiError, match="Too many: 257: must have at most 256 items"):
        reserve(shared.api, named, 257)

    assert len(kept["status"]["reservedFor"]) == 256
    assert max(group.max_pods or 0 for group in groups.values()) < 256
    remove(shared.api, first)
    shared.api.delete(named)


def reserve(api, item, consumers):
    """Put so many consumers down in a claim, whatever is there now."""
    found = api.get(item)
    found["status"]["reservedFor"] = [
        {"resource": "pods", "name": f"consumer-{index}", "uid": f"uid-{index}"}
        for index in range(consumers)
    ]
    # Not kept: the controller of claims takes consumers off that do not exist.
    return api.request("PUT", f"{api.path(item)}/status", found, query={"dryRun": "All"})


@pytest.mark.usefixtures("groups")
def test_a_missing_attribute_ends_the_attempt_for_every_node(shared, ask):
    """Every time: the EFA of g5 has no numaNode, those of p5 and p4d have and would fit."""
    asked = request("efa", EFA_CLASS, 1, NUMA)
    items = [ask(f"bare-{index}", asked, **EVERYWHERE) for index in range(5)]

    for found in wait_decided(shared.api, *items):
        assert (found.node, found.reason) == ("", "SchedulerError")
        assert "selector #0: CEL runtime error: no such key: numaNode" in found.message
    shared.tally["facts settled"] += 1


def test_a_guard_or_a_node_selector_helps(shared, groups, ask):
    guarded = ask("guarded", request("efa", EFA_CLASS, 1, GUARDED), **EVERYWHERE)
    selected = ask("selected", request("efa", EFA_CLASS, 1, NUMA), group=groups["p4d"])

    assert wait_bound(shared.api, guarded) in ("p5-0", "p4d-0")
    assert wait_bound(shared.api, selected) == "p4d-0"


def test_all_with_a_constraint_ends_the_attempt_for_every_node(shared, groups, ask):
    """It fits g5, where all is on one PCIe root; p4d has four, and p5 first of all too many."""
    asked = (request("gpu", GPU_CLASS), every("efa", EFA_CLASS))
    alone = ask("alone", *asked, match=ROOT, group=groups["g5"])
    wait_bound(shared.api, alone)
    remove(shared.api, alone)
    why = {
        "p4d": "because a claim constraint would not be satisfied",
        "p5": "number of requested devices 33 exceeds the claim limit of 32",
    }

    items = [ask(name, *asked, match=ROOT, group=groups[name]) for name in why]
    items.append(ask("lost", *asked, match=ROOT, **EVERYWHERE))

    for found, message in zip(wait_decided(shared.api, *items), (*why.values(), ""), strict=True):
        assert (found.node, found.reason) == ("", "SchedulerError")
        assert message in found.message
    shared.tally["facts settled"] += 2


def test_all_of_one_root_works(shared, groups, ask):
    root = "device.attributes['resource.kubernetes.io'].pcieRoot == 'pci0000:44'"
    asked = (request("gpu", GPU_CLASS), every("efa", EFA_CLASS, root))

    item = ask("narrowed", *asked, match=ROOT, group=groups["p5"])

    wait_bound(shared.api, item)
    assert {one.attributes[ROOT] for one in given(shared.api, item)} == {"pci0000:44"}
    assert len(given(shared.api, item)) == 5


def test_a_search_in_vain_holds_everybody_up(shared, groups, ask):
    """One EFA of the first group of 8 is taken; the second group is free, and is never tried."""
    wait_bound(shared.api, ask("taker", request("efa", EFA_CLASS), group=groups["trn2"]))
    asked = (request("neuron", NEURON_CLASS, 8), request("efa", EFA_CLASS, 8))
    searching = ask("searching", *asked, match=GROUP_OF_8, group=groups["trn2"])
    wait_for(lambda: claims_of(shared.api, searching), "the claim that is searched for")
    time.sleep(0.5)

    started = time.monotonic()
    wait_bound(shared.api, ask("other", request("gpu", GPU_CLASS), group=groups["p5"]))
    waited = time.monotonic() - started

    found = decided(shared, searching, look_again=False)
    assert (found.node, found.reason) == ("", "Unschedulable")
    assert "1 timed out trying to allocate devices" in found.message
    assert 5 < waited < 20


def test_all_of_a_whole_node_is_decided_at_once(shared, groups, ask):
    asked = (every("neuron", NEURON_CLASS), every("efa", EFA_CLASS))
    taker = ask("taker", request("efa", EFA_CLASS), group=groups["trn2"])
    wait_bound(shared.api, taker)

    started = time.monotonic()
    whole = ask("whole", *asked, group=groups["trn2"])
    found = decided(shared, whole, look_again=False)

    assert time.monotonic() - started < 5
    assert "1 cannot allocate all claims" in found.message
    remove(shared.api, taker)
    wait_bound(shared.api, whole)
    assert len(given(shared.api, whole)) == 32


def test_a_pod_that_names_its_small_claim_first_is_decided_at_once(shared, groups, ask):
    """A whole p5 of which one GPU is taken: the claim for EFAs alone would be given."""
    taker = ask("taker", request("gpu", GPU_CLASS), group=groups["p5"])
    wait_bound(shared.api, taker)
    for name, asked in (("gpus", (GPU_CLASS, 8)), ("efas", (EFA_CLASS, 32))):
        shared.install(template(name, request("device", *asked)))

    started = time.monotonic()
    whole = ask("whole-p5", templates=["gpus", "efas"], group=groups["p5"])
    found = decided(shared, whole, look_again=False)

    assert time.monotonic() - started < 5
    assert "1 cannot allocate all claims" in found.message


def tolerated(item):
    return {one["key"] for one in item["spec"].get("tolerations", ())}


@pytest.mark.usefixtures("groups")
def test_only_extended_resources_bring_their_toleration(shared, ask):
    by_plugin = ask("by-plugin", limits={GPU_RESOURCE: 1})
    by_claim = ask("by-claim", request("gpu", GPU_CLASS))

    assert wait_bound(shared.api, by_plugin) == "plugin-0"
    assert GPU_RESOURCE in tolerated(shared.api.get(by_plugin))
    assert GPU_RESOURCE not in tolerated(shared.api.get(by_claim))
    assert "5 node(s) had untolerated taint(s)" in decided(shared, by_claim).message


def test_priority_frees_extended_resources_and_no_claimed_devices(shared, groups, ask):
    for name, value in (("low", 1), ("high", 1000)):
        about = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
        shared.install(about | {"metadata": {"name": name}, "value": value})
    low, high = ({"priorityClassName": name} for name in ("low", "high"))

    first = ask("first", request("gpu", GPU_CLASS, 8), group=groups["p4d"], **low)
    wait_bound(shared.api, first)
    found = decided(shared, ask("second", request("gpu", GPU_CLASS), group=groups["p4d"], **high))
    assert "Preemption is not helpful" in found.message
    assert wait_bound(shared.api, first) == "p4d-0"

    victim = ask("victim", limits={GPU_RESOURCE: 4}, **low)
    wait_bound(shared.api, victim)
    wait_bound(shared.api, ask("winner", limits={GPU_RESOURCE: 4}, **high))
    assert shared.api.get(victim) is None


def test_a_template_is_a_claim_for_each_pod_and_a_name_is_one_for_all(shared, groups, ask):
    own = [ask("own", request("gpu", GPU_CLASS), group=groups["p5"])]
    own.append(ask("own-2", templates=["own"], group=groups["p5"]))
    named = claim("ResourceClaim", "named", request("gpu", GPU_CLASS), namespace=SPACE)
    shared.api.create(named)
    both = [ask(name, claims=["named"], **EVERYWHERE) for name in ("one", "two")]
    nodes = [wait_bound(shared.api, item) for item in (*own, *both)]

    ((first,), (second,)) = (given(shared.api, item) for item in own)
    assert first.device != second.device
    assert given(shared.api, both[0]) == given(shared.api, both[1])
    assert nodes[2] == nodes[3]
    (held,) = claims_of(shared.api, both[0])
    assert {one["name"] for one in held["status"]["reservedFor"]} == {"one", "two"}
    remove(shared.api, *both)
    shared.api.delete(named)


def test_first_available_takes_what_there_is(shared, groups, ask):
    names = {"large": 9, "small": 2}
    choices = [
        {"name": name, "deviceClassName": GPU_CLASS, "count": count}
        for name, count in names.items()
    ]

    item = ask("choice", {"name": "gpu", "firstAvailable": choices}, group=groups["p5"])

    wait_bound(shared.api, item)
    assert [one.request for one in given(shared.api, item)] == ["gpu/small"] * 2
