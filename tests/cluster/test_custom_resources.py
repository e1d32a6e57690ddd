"""ComputeDomains, cliques and DeviceClasses as a real server takes and refuses them."""

from __future__ import annotations

from functools import partial

import pytest

from eks_device_operations.control_plane import ApiError
from eks_devices import ComputeDomain

API = "resource.nvidia.com/v1beta1"
CHANNEL = {"resourceClaimTemplate": {"name": "channel"}}
MEMBER = {"cliqueID": "a.0", "ipAddress": "10.0.0.1"}


@pytest.fixture(scope="module")
def api(shared, every_manager):
    shared.install(*every_manager)
    return shared.api


@pytest.fixture
def domain(api):
    """A ComputeDomain that is there."""
    item = domain_of({"channel": CHANNEL})
    yield api.create(item)
    api.delete(item)


@pytest.fixture(scope="module")
def refused(shared):
    """Asks for something that must not be, and returns what the server says."""

    def ask(request, *parts):
        shared.tally["objects refused"] += 1
        with pytest.raises(ApiError) as caught:
            request(*parts)
        assert caught.value.code == 422, caught.value
        return caught.value.message

    return ask


def domain_of(spec, name="train"):
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": API, "kind": "ComputeDomain", "metadata": meta, "spec": spec}


def clique_of(*daemons):
    meta = {"name": "uid.0", "namespace": "nvidia"}
    kind = "ComputeDomainClique"
    return {"apiVersion": API, "kind": kind, "metadata": meta, "daemons": list(daemons)}


def test_a_domain_is_filled_in(domain):
    assert domain["spec"] == {"numNodes": 0, "channel": CHANNEL | {"allocationMode": "Single"}}


def test_a_domain_of_the_core_is_taken_as_it_is(api):
    item = ComputeDomain(name="whole", namespace="default").to_dict(kubernetes_version="1.34")

    made = api.create(item)

    assert made["spec"] == {"numNodes": 0} | item["spec"] | {
        "channel": {"allocationMode": "Single"} | item["spec"]["channel"]
    }
    api.delete(item)


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({}, "spec.channel: Required"),
        ({"channel": {}}, "spec.channel.resourceClaimTemplate: Required"),
        ({"channel": {"resourceClaimTemplate": {}}}, "resourceClaimTemplate.name: Required"),
        ({"channel": CHANNEL, "numNodes": -1}, "spec.numNodes"),
        ({"channel": CHANNEL, "numNodes": "two"}, "spec.numNodes"),
        ({"channel": CHANNEL | {"allocationMode": "Some"}}, "spec.channel.allocationMode"),
    ],
)
def test_a_domain_that_makes_no_sense_is_refused(api, refused, spec, path):
    assert path in refused(api.create, domain_of(spec, "senseless"))


@pytest.mark.parametrize("change", [{"numNodes": 2}, {"channel": {"allocationMode": "All"}}])
def test_the_spec_of_a_domain_stays(api, domain, refused, change):
    said = refused(api.merge, api.path(domain), {"spec": change})

    assert "a ComputeDomain's spec cannot change" in said
    api.merge(api.path(domain), {"metadata": {"labels": {"a": "b"}}})


def test_the_status_of_a_domain_is_written_by_itself(api, domain, refused):
    path, status = api.path(domain), api.path(domain) + "/status"
    node = MEMBER | {"name": "node-a", "index": 0}

    assert "status" not in api.merge(path, {"status": {"status": "Ready"}})
    assert api.merge(status, {"status": {}})["status"] == {"status": "NotReady"}
    made = api.merge(status, {"status": {"nodes": [node]}, "spec": {"numNodes": 9}})
    assert made["status"]["nodes"] == [node | {"status": "NotReady"}]
    assert made["spec"] == domain["spec"]
    ask = partial(refused, api.merge, status)
    assert "status.status" in ask({"status": {"status": "Soon"}})
    assert "Duplicate" in ask({"status": {"nodes": [node, node | {"index": 1}]}})
    assert "cliqueID: Required" in ask({"status": {"nodes": [{"name": "a", "ipAddress": "b"}]}})


def test_each_daemon_has_its_own_place_in_a_clique(api, refused):
    one, two = MEMBER | {"nodeName": "a"}, MEMBER | {"nodeName": "b", "status": "Ready"}

    api.apply(clique_of(one), fieldManager="a")
    made = api.apply(clique_of(two), fieldManager="b")

    assert made["daemons"] == [one | {"status": "NotReady"}, two]
    path = api.path(clique_of())
    assert "Duplicate" in refused(api.merge, path, {"daemons": [one, one]})
    assert "Required" in refused(api.merge, path, {"daemons": [{"nodeName": "c"}]})
    assert "daemons[0].status" in refused(api.merge, path, {"daemons": [one | {"status": "x"}]})
    assert api.find(f"{path}/status") is None
    api.delete(clique_of())


@pytest.mark.parametrize("wrong", ["device.driver ==", "device.driver", "device.vendor == 'a'"])
def test_a_class_whose_text_does_not_compile_is_refused(api, every_manager, refused, wrong):
    """So a class that is taken has a text that compiles."""
    for item in (one for one in every_manager if one["kind"] == "DeviceClass"):
        selectors = [{"cel": {"expression": wrong}}]
        bad = item | {"spec": item["spec"] | {"selectors": selectors}}
        assert "spec.selectors[0].cel.expression" in refused(api.apply, bad)
