"""What a played kubelet does with Pods and with refusals, against an API that only takes notes."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from eks_device_operations.control_plane import ApiError, Kubelets, group_node
from eks_device_operations.control_plane.kubelet import Kubelet
from eks_devices import Mechanism, NodegroupSpec, OperatingSystem, plan_nodegroup

GPU_PLUGIN, GPU_DRIVER = "nvdp-nvidia-device-plugin", "dra-driver-nvidia-gpu-kubelet-plugin"


class Notes:
    """An API that takes everything, but for what it is told to refuse, and notes who asked what."""

    def __init__(self, who="administrator", asked=None, refused=None):
        self.who, self.warnings = who, []
        self.asked = [] if asked is None else asked
        self.refused = {} if refused is None else refused
        self.pool = SimpleNamespace(clear=lambda: None)

    def as_user(self, name, *_):
        return Notes(name, self.asked, self.refused)

    def with_token(self, token):
        return Notes(token, self.asked, self.refused)

    def path(self, item):
        return item["metadata"]["name"]

    def _note(self, what, body=None):
        self.asked.append((self.who, what, body))
        if what in self.refused:
            raise ApiError(what, self.refused[what], json.dumps({"message": "no"}).encode())

    def create(self, item):
        self._note(f"create {item['kind']}", item)

    def delete(self, item, **_):
        self._note(f"delete {item['kind']}")

    def merge(self, path, change):
        self._note(f"merge {path.rpartition('/')[2]}", change)

    def request(self, method, path, body=None, **_):
        self._note(f"{method} {path.rpartition('/')[2]}", body)
        return {"status": {"token": "a-token"}, "metadata": {"uid": "node-uid"}}


def planned(instance_type="g6e.12xlarge", **options):
    spec = NodegroupSpec(name="a", instance_type=instance_type, max_size=1, **options)
    return plan_nodegroup(spec, kubernetes_version="1.34")


def pod(name, uid="1", phase="Pending", **meta):
    return {
        "kind": "Pod",
        "metadata": {
            "name": f"pod-{uid}",
            "namespace": "x",
            "uid": uid,
            "labels": {"app.kubernetes.io/name": name},
            **meta,
        },
        "spec": {
            "serviceAccountName": "y",
            "nodeName": "n",
            "containers": [{"name": "c", "image": "i"}],
        },
        "status": {"phase": phase},
    }


@pytest.fixture
def api():
    return Notes()


@pytest.fixture
def kubelet(api):
    """The kubelet of a node whose GPUs are by DRA, unless another group is given."""

    def make(group=None):
        return Kubelet(api, "n", group or planned(mechanism=Mechanism.DRA), [])

    return make


def done(api, what):
    return [(who, body) for who, one, body in api.asked if one == what]


def test_a_driver_publishes_once_and_with_the_token_of_its_pod(api, kubelet):
    one = kubelet()

    one.heed(pod(GPU_DRIVER))
    one.heed(pod(GPU_DRIVER))

    ((who, item),) = done(api, "create ResourceSlice")
    assert who == "a-token"
    assert item["spec"]["nodeName"] == "n"
    assert item["metadata"]["ownerReferences"][0]["uid"] == "node-uid"
    assert [who for who, _ in done(api, "merge status")] == ["system:node:n"] * 2
    assert one.managers == (("gpu", "dra"),)
    assert one.faults == []


def test_a_driver_that_may_not_publish_is_a_fault_and_does_not_run(api, kubelet):
    api.refused["create ResourceSlice"] = 403
    one = kubelet()

    one.heed(pod(GPU_DRIVER))

    assert len(one.faults) == 1
    assert "node n: Pod x/pod-1" in one.faults[0]
    assert "403" in one.faults[0]
    assert one.managers == ()
    assert done(api, "merge status") == []


def test_a_pod_that_is_gone_by_now_is_no_fault(api, kubelet):
    api.refused["merge status"] = 404
    one = kubelet()

    one.heed(pod("anything"))

    assert one.faults == []


def test_two_managers_of_a_device_type_are_a_fault(kubelet):
    one = kubelet()

    one.heed(pod(GPU_DRIVER, "1"))
    one.heed(pod(GPU_DRIVER, "2"))

    assert one.faults == ["node n: a manager of gpu by dra beside a manager of gpu by dra"]


def test_a_manager_beside_that_of_the_operating_system_is_a_fault(kubelet):
    group = planned(operating_system=OperatingSystem.BOTTLEROCKET)
    one = kubelet(group)
    one.register(group_node(group, "n", kubelet_version="v1.34.2"))
    assert one.managers == (("gpu", "device-plugin"),)

    one.heed(pod(GPU_PLUGIN))

    assert len(one.faults) == 1
    assert "beside a manager of gpu by device-plugin" in one.faults[0]


@pytest.mark.parametrize("group", [None, planned(mechanism=Mechanism.DEVICE_PLUGIN)])
def test_a_manager_without_a_device_to_manage_is_a_fault(api, group):
    one = Kubelet(api, "n", group, [])

    one.heed(pod(GPU_DRIVER))

    assert one.faults == ["node n: a manager of gpu by dra has nothing to manage here"]
    assert done(api, "create ResourceSlice") == []


def test_devices_go_with_the_manager(api, kubelet):
    one = kubelet(planned(mechanism=Mechanism.DEVICE_PLUGIN))
    one.heed(pod(GPU_PLUGIN))
    one.heed(pod(GPU_PLUGIN, deletionTimestamp="now"))
    assert len(done(api, "delete Pod")) == 1

    one.heed(pod(GPU_PLUGIN), gone=True)

    amounts = [body["status"].get("allocatable") for _, body in done(api, "merge status")]
    assert [one for one in amounts if one] == [{"nvidia.com/gpu": "4"}, {"nvidia.com/gpu": "0"}]
    assert one.managers == ()


def test_a_pod_that_went_unseen_is_noticed_at_the_next_list(api, kubelet):
    one = kubelet()
    one.heed(pod(GPU_DRIVER, "1"))

    one.forget_all_but(["2"])
    one.heed(pod(GPU_DRIVER, "2"))

    assert len(done(api, "DELETE resourceslices")) == 1
    assert len(done(api, "create ResourceSlice")) == 2
    assert one.faults == []


def test_what_the_operating_system_runs_is_not_forgotten(kubelet):
    group = planned(operating_system=OperatingSystem.BOTTLEROCKET)
    one = kubelet(group)
    one.register(group_node(group, "n", kubelet_version="v1.34.2"))

    one.forget_all_but([])

    assert one.managers == (("gpu", "device-plugin"),)


def test_a_node_that_is_refused_did_not_join(api):
    api.refused["create Node"] = 403
    kubelets = Kubelets(api)
    group = planned(mechanism=Mechanism.DRA)

    with pytest.raises(ApiError, match="403"):
        kubelets.join(group_node(group, "n", kubelet_version="v1.34.2"), group)

    assert kubelets.names() == ()
    assert len(done(api, "delete Lease")) == 1
