"""The API servers of every minor that is here: what they take is what this library says."""

from __future__ import annotations

import json
from collections import Counter
from itertools import islice

import pytest
from tests.affinity_forms import FINE, WRONG
from tests.built_claims import built_claims
from tests.feasibility_claims import claim, exactly
from tests.generated.costly import costly
from tests.workload_manifests import G6E, checked, plan_of

from eks_device_operations.control_plane import ApiError, ControlPlane, find_binaries
from eks_device_operations.control_plane.binaries import minors_here
from eks_devices import EksDevicesError
from eks_devices.feasibility.cel.expressions import refusal

ADMIN = "resource.kubernetes.io/admin-access"
CLAIMS, EXPRESSIONS, SEED = 200, 150, 12
PLAN = plan_of(G6E)


@pytest.fixture(scope="module", params=minors_here() or ["1.34"])
def server(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plane")
    with ControlPlane(find_binaries(request.param), folder) as plane:
        named = {"name": "default", "labels": {ADMIN: "true"}}
        plane.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": named})
        account = {"name": "default", "namespace": "default"}
        plane.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
        yield request.param, plane.api


def test_they_take_what_the_builders_take(server):
    minor, api = server
    answers = [answer(api, one) for one in islice(written(minor), CLAIMS)]

    assert [one for one in answers if one] == []


def test_they_refuse_what_is_told_to_cost_too_much(server):
    minor, api = server
    seen: Counter[str] = Counter()
    for text in costly(SEED, EXPRESSIONS):
        said, found = refusal(text, minor), answer(api, claim(exactly("gpu.nvidia.com", text)))
        is_dear = "exceeds cost limit" in found

        is_told = said is not None and "estimated cost" in said[0]

        # A server tells of types before it looks at costs.
        assert is_told or not is_dear, (text, said)
        assert found or not said, (text, said)
        seen["dear" if is_dear else "refused" if found else "taken"] += 1

    assert min(seen[one] for one in ("dear", "taken", "refused")) > EXPRESSIONS / 10


@pytest.mark.parametrize("name", [*FINE, *WRONG])
def test_they_take_and_refuse_the_node_affinity_that_is_told_so(server, name):
    _, api = server
    affinity = FINE[name] if name in FINE else WRONG[name][0]
    spec = {"affinity": affinity, "containers": [{"name": "a", "image": "a"}]}

    found = answer(api, workload("v1", "Pod", spec))

    assert bool(found) is (name in WRONG), found


@pytest.mark.parametrize(
    ("resources", "of_container", "is_right"),
    [
        ({"limits": {"cpu": 2, "memory": "1Gi"}}, {"limits": {"nvidia.com/gpu": 1}}, True),
        ({"limits": {"nvidia.com/gpu": 1}}, {}, False),
        ({"requests": {"ephemeral-storage": "1Gi"}}, {}, False),
        ({"requests": {"cpu": 1}}, {"requests": {"cpu": 2}}, False),
        ({"limits": {"cpu": 1}}, {"limits": {"cpu": 2}}, False),
        ({"limits": {"cpu": 1}, "requests": {"cpu": 2}}, {}, False),
        ({}, {"limits": {"memory": "1Gi"}, "requests": {"memory": "2Gi"}}, False),
        ({}, {"limits": {"memory": "2Gi"}, "requests": {"memory": "1Gi"}}, True),
    ],
)
def test_they_take_and_refuse_resources_as_is_told(server, resources, of_container, is_right):
    _, api = server
    container = {"name": "a", "image": "a", "resources": of_container}

    pod = workload("v1", "Pod", {"resources": resources or None, "containers": [container]})

    assert (answer(api, pod) == "") is is_right
    told = {one.finding.code for one in checked(PLAN, pod).remarks}
    assert told.isdisjoint({"PodLevelResource", "RequestAboveLimit"}) is is_right


@pytest.mark.parametrize("policy", ["Always", "Never", "OnFailure", None])
@pytest.mark.parametrize("labels", [{"a": "b"}, {"a": "c"}])
@pytest.mark.parametrize("kind", ["Job", "Deployment", "StatefulSet", "DaemonSet"])
def test_they_take_and_refuse_objects_of_kinds_as_is_told(server, kind, policy, labels):
    _, api = server
    container = {"name": "a", "image": "a", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    pod = {"restartPolicy": policy, "containers": [container]}
    template = {"metadata": {"labels": labels}, "spec": pod}
    selector = {} if kind == "Job" else {"selector": {"matchLabels": {"a": "b"}}}
    api_version = "batch/v1" if kind == "Job" else "apps/v1"

    made = workload(api_version, kind, {"template": template, **selector})

    told = "MalformedWorkload" in {one.finding.code for one in checked(PLAN, made).remarks}
    assert bool(answer(api, made)) is told


def workload(api_version, kind, spec):
    metadata = {"name": "x", "namespace": "default"}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def written(minor):
    """The manifests of claims that can be written for a minor."""
    for one in built_claims(SEED):
        try:
            yield one.to_dict(kubernetes_version=minor)
        except EksDevicesError:
            continue


def answer(api, manifest):
    """Why a server refuses an object; empty where it does not."""
    place = api.collection(manifest["apiVersion"], manifest["kind"], "default")
    try:
        api.request("POST", f"{place}?dryRun=All&fieldValidation=Strict", manifest)
    except ApiError as error:
        return f"{error.message}\n{json.dumps(manifest)}"
    return ""
