"""Pod specs that use EFA: huge pages, shared and locked memory, environment, no host devices."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hostile import (
    NUMBER_TOKEN,
    TOKEN,
    Hostile,
    HostileList,
    HostileText,
    Untouchable,
)
from tests.pod_specs import NO_POD_SPECS, box, codes, faults_of, pod

from eks_devices import AcceleratedInstanceType, use_efa

SHM = "/dev/shm"  # noqa: S108  (a mount in containers)
EFA, PAGES = "vpc.amazonaws.com/efa", "hugepages-2Mi"
CLAIMS = [{"name": "efas"}]
SHARED = {"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}}
MOUNT = {"name": "shared-memory", "mountPath": SHM}
PROVIDER = {"name": "FI_PROVIDER", "value": "efa"}
RDMA = {"name": "FI_EFA_USE_DEVICE_RDMA", "value": "1"}
FIRST = "pod_spec.containers[0]"
P5, G5 = "p5.48xlarge", "g5.48xlarge"


def efa(name: str = "main", *, count: Any = 1, memory: Any = "64Gi", **fields: Any) -> Any:
    """A container that asks for EFAs and has memory."""
    limits = {EFA: count} | ({"memory": memory} if memory else {})
    return box(name, resources={"limits": limits}, **fields)


def container(name: str = "main", **fields: Any) -> dict[str, Any]:
    """A container with a claim that has memory."""
    resources = {"requests": {"memory": "64Gi"}, "claims": CLAIMS}
    return box(name, **{"resources": resources, **fields})


def pages(made: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The limit and the request of each container that has huge pages."""
    every = [*(made.get("initContainers") or []), *made["containers"]]
    resources = {one["name"]: one.get("resources") or {} for one in every}
    return {
        name: (one["limits"][PAGES], one["requests"][PAGES])
        for name, one in resources.items()
        if PAGES in (one.get("limits") or {}) or PAGES in (one.get("requests") or {})
    }


def mounting(made: dict[str, Any]) -> list[str]:
    """The containers that mount the volume for /dev/shm."""
    every = [*(made.get("initContainers") or []), *made["containers"]]
    return [one["name"] for one in every if MOUNT in (one.get("volumeMounts") or [])]


def test_a_container_with_efas_gets_pages_and_shared_memory():
    assert use_efa(pod(efa())) == {
        "containers": [
            {
                "name": "main",
                "resources": {
                    "limits": {EFA: 1, "memory": "64Gi", PAGES: "5120Mi"},
                    "requests": {PAGES: "5120Mi"},
                },
                "volumeMounts": [MOUNT],
            }
        ],
        "volumes": [SHARED],
    }


@pytest.mark.parametrize(
    "resources",
    [
        {"limits": {EFA: 1, "cpu": 1}},
        {"limits": {EFA: 1}, "requests": {EFA: "1", "cpu": 1}},
        {"limits": {EFA: NUMBER_TOKEN, "cpu": 1}},
        {"limits": {"deviceclass.resource.kubernetes.io/efa.networking.k8s.aws": 1, "cpu": 1}},
        {"claims": CLAIMS, "limits": {"cpu": 1}},
        {"claims": [{"name": "a", "request": "efa"}], "limits": {"cpu": 1}},
    ],
)
def test_containers_that_ask_for_efas_or_have_claims_are_meant(resources):
    spec = pod(box("logs"), box("main", resources=resources), initContainers=[efa("probe")])

    made = use_efa(spec)

    assert list(pages(made)) == mounting(made) == ["main"]


def test_named_containers_are_exactly_those_that_are_meant():
    spec = pod(efa("a"), efa("b"), initContainers=[efa("probe")])

    made = use_efa(spec, containers=["b", "probe"])

    assert list(pages(made)) == mounting(made) == ["probe", "b"]
    assert use_efa(spec, containers=[]) == spec


@pytest.mark.parametrize(
    "resources",
    [None, {}, {"limits": {"cpu": 1}}, {"limits": {EFA: 0, "cpu": 1}}, {"claims": None}],
)
def test_a_named_container_without_efas_is_told_how_to_ask(resources):
    spec = pod(efa("a"), box("b", resources=resources))

    (fault,) = faults_of(use_efa, spec, containers=["a", "b"], hugepages=None)

    assert (fault.code, fault.path) == ("NoEfaRequested", "pod_spec.containers[1].resources")
    assert EFA in fault.fix
    assert "DeviceRequest.efa()" in fault.fix


def test_claims_may_be_for_efas_and_reach_every_container_of_the_pod():
    """What a template holds is not known; DRANET gives the EFAs of a Pod to all containers."""
    own = pod(container("a"), box("b", resources={"limits": {"cpu": 1}}))
    of_pod = pod(
        box("b", resources={"limits": {"cpu": 1}}),
        resourceClaims=[{"name": "a", "resourceClaimTemplateName": "any"}],
    )

    assert list(pages(use_efa(own, containers=["a"]))) == ["a"]
    assert list(pages(use_efa(of_pod, containers=["b"]))) == ["b"]


@pytest.mark.parametrize(
    ("claims", "code"),
    [({"a": 1}, "WrongType"), (Hostile(), "WrongType"), (TOKEN, "TokenNotAllowed")],
)
def test_claims_that_cannot_be_read_may_be_for_efas(claims, code):
    spec = pod(box(HostileText("b")), resourceClaims=claims)

    assert codes(use_efa, spec, containers=[HostileText("b")], hugepages=None) == [
        (code, "pod_spec.resourceClaims")
    ]


def test_the_api_server_takes_no_request_for_efas_without_an_equal_limit():
    asking = box("b", resources={"requests": {EFA: 4, "cpu": 1}, "limits": {EFA: 2}})

    for containers in (None, ["a"]):
        assert codes(use_efa, pod(efa("a"), asking), containers=containers) == [
            ("RequestNotEqualToLimit", f"pod_spec.containers[1].resources.requests['{EFA}']")
        ]


@pytest.mark.parametrize(
    "resources", [None, {}, {"limits": {EFA: 0}}, {"limits": {"nvidia.com/gpu": 8}}]
)
def test_without_devices_nobody_knows_who_uses_efa(resources):
    (fault,) = faults_of(use_efa, pod(box("main", resources=resources), box("b")))

    assert (fault.code, fault.path) == ("NoContainerWithEfa", "pod_spec.containers")
    assert fault.got == "['main', 'b']"


def test_containers_are_only_to_be_named_where_that_would_do():
    bare = pod(box("main"), box("b"))
    claims = [{"name": "a", "resourceClaimTemplateName": "any"}]

    for spec, names in (
        ({**bare, "resourceClaims": claims}, "main, b"),
        ({**bare, "initContainers": [efa("probe")]}, "probe"),
    ):
        (fault,) = faults_of(use_efa, spec, hugepages=None)
        assert fault.fix == f'name containers=["..."] that use EFA, of {names}'
        assert use_efa(spec, containers=names.split(", "), hugepages=None)

    (fault,) = faults_of(use_efa, bare)
    assert EFA in fault.fix
    assert "DeviceRequest.efa()" in fault.fix
    assert "containers=" not in fault.fix


def test_claims_that_cannot_be_read_are_the_only_fault():
    assert codes(use_efa, pod(box("main"), resourceClaims={})) == [
        ("WrongType", "pod_spec.resourceClaims")
    ]


CLASS = "deviceclass.resource.kubernetes.io/efa.networking.k8s.aws"


@pytest.mark.parametrize(
    ("spec", "most"),
    [
        (pod(efa(count=33)), 33),
        (pod(efa("a", count="30"), efa("b", count=3)), 33),
        (pod(efa("a"), initContainers=[efa("b", count=40)]), 40),
        (pod(efa(count=32), initContainers=[efa("b", restartPolicy="Always")]), 33),
        (pod(box("a", resources={"limits": {CLASS: 33, "cpu": 1}})), 33),
    ],
)
def test_a_pod_asks_for_no_more_efas_than_the_type_has(spec, most):
    (fault,) = faults_of(use_efa, spec, instance_type=P5)

    assert (fault.code, fault.path) == ("TooManyEfas", "pod_spec.containers")
    assert (fault.got, "at most 32 " in fault.allowed) == (str(most), True)
    assert use_efa(spec)


@pytest.mark.parametrize(
    "spec",
    [
        pod(efa(count=32)),
        pod(efa("a", count=16), efa("b", count="16")),
        pod(efa(count=32), initContainers=[efa("b", count=32)]),
        pod(efa(count=NUMBER_TOKEN), efa("b", count=32)),
    ],
)
def test_every_efa_of_a_type_may_be_asked_for(spec):
    assert use_efa(spec, instance_type=P5)


def test_a_container_that_asks_for_pages_itself_keeps_its_own():
    limit = box("a", resources={"limits": {EFA: 1, "cpu": 1, PAGES: "256Mi"}})
    request = box("b", resources={"limits": {EFA: 1, "cpu": 1}, "requests": {PAGES: "1Gi"}})
    none = box("c", resources={"limits": {EFA: 1, "cpu": 1, PAGES: 0}})
    token = box("d", resources={"limits": {EFA: 1, "cpu": 1, PAGES: TOKEN}})

    for hugepages in ("5120Mi", None):
        made = use_efa(pod(limit, request, none, token), hugepages=hugepages)

        assert pages(made) == {
            "a": ("256Mi", "256Mi"),
            "b": ("1Gi", "1Gi"),
            "c": (0, 0),
            "d": (TOKEN, TOKEN),
        }


def test_without_pages_none_are_asked_for_and_no_memory_is_needed():
    spec = pod(efa(memory=None))

    assert pages(use_efa(spec, hugepages=None)) == {}
    assert pages(use_efa(pod(efa()), hugepages="2Gi")) == {"main": ("2Gi", "2Gi")}


@pytest.mark.parametrize(
    ("limit", "request_"),
    [("256Mi", "512Mi"), ("1Gi", "1G"), ("0", "2Mi"), (2 * 2**20, "4Mi")],
)
def test_a_request_below_the_limit_is_refused_by_the_api_server(limit, request_):
    resources = {"limits": {EFA: 1, "cpu": 1, PAGES: limit}, "requests": {PAGES: request_}}
    (fault,) = faults_of(use_efa, pod(box("main", resources=resources)))

    assert fault.path.startswith(f"{FIRST}.resources")
    assert fault.code in ("HugePagesNotEqual", "MalformedQuantity")


def test_the_same_amount_in_other_words_is_the_same():
    resources = {"limits": {EFA: 1, "cpu": 1, PAGES: "1Gi"}, "requests": {PAGES: "1024Mi"}}

    assert pages(use_efa(pod(box("main", resources=resources)))) == {"main": ("1Gi", "1024Mi")}


@pytest.mark.parametrize(
    "amount",
    [
        "256",
        256,
        "3Mi",
        "1.5Mi",
        "-2Mi",
        "many",
        "",
        True,
        1.5,
        [],
        Hostile(),
        pytest.param(10**5000 + 1, id="huge"),
    ],
)
def test_own_pages_are_whole_ones_with_a_unit(amount):
    spec = pod(box("main", resources={"limits": {EFA: 1, "cpu": 1, PAGES: amount}}))

    for hugepages in ("5120Mi", None):
        assert codes(use_efa, spec, hugepages=hugepages) == [
            ("MalformedQuantity", f"{FIRST}.resources.limits['{PAGES}']")
        ]


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("hugepages", "5120", "MalformedQuantity"),
        ("hugepages", "3Mi", "MalformedQuantity"),
        ("hugepages", "0", "MalformedQuantity"),
        ("hugepages", "-2Mi", "MalformedQuantity"),
        ("hugepages", "many", "MalformedQuantity"),
        ("hugepages", 5120, "WrongType"),
        ("hugepages", True, "WrongType"),
        ("hugepages", Hostile(), "WrongType"),
        ("hugepages", TOKEN, "TokenNotAllowed"),
        ("hugepages", NUMBER_TOKEN, "TokenNotAllowed"),
        ("shared_memory", "64", "MalformedQuantity"),
        ("shared_memory", "0Gi", "MalformedQuantity"),
        ("shared_memory", "", "MalformedQuantity"),
        ("shared_memory", 8, "WrongType"),
        ("shared_memory", Hostile(), "WrongType"),
        ("shared_memory", TOKEN, "TokenNotAllowed"),
        ("lock_memory", 1, "WrongType"),
        ("lock_memory", Hostile(), "WrongType"),
        ("environment", "efa", "WrongType"),
        ("environment", None, "WrongType"),
        ("instance_type", "t3.micro", "UnknownInstanceType"),
        ("instance_type", "inf2.48xlarge", "EfaNotSupported"),
        ("instance_type", "g5.xlarge", "EfaNotSupported"),
        ("instance_type", Hostile(), "WrongType"),
        ("instance_type", TOKEN, "TokenNotAllowed"),
    ],
)
def test_options_of_another_kind_are_faults(option, value, code):
    assert codes(use_efa, pod(efa()), **{option: value}) == [(code, option)]


def test_texts_of_another_kind_are_the_texts():
    made = use_efa(pod(efa()), hugepages=HostileText("4Mi"), shared_memory=HostileText("1Gi"))

    assert pages(made) == {"main": ("4Mi", "4Mi")}
    assert made["volumes"][0]["emptyDir"]["sizeLimit"] == "1Gi"
    json.dumps(made)


@pytest.mark.parametrize("beside", [{"memory": "1Gi"}, {"cpu": 1}, {"cpu": NUMBER_TOKEN}])
@pytest.mark.parametrize("field", ["limits", "requests"])
def test_pages_need_memory_or_cpu_beside_them(field, beside):
    lacking = {"limits": {EFA: 1, "ephemeral-storage": "1Gi", "memory": None}}
    has = {**lacking, field: {**lacking.get(field, {}), **beside}}

    assert pages(use_efa(pod(box("main", resources=has))))
    assert codes(use_efa, pod(box("main", resources=lacking))) == [
        ("HugePagesNeedMemory", f"{FIRST}.resources")
    ]


def test_own_pages_need_memory_too():
    spec = pod(box("main", resources={"limits": {EFA: 1, PAGES: "2Mi"}}))

    assert codes(use_efa, spec, hugepages=None) == [("HugePagesNeedMemory", f"{FIRST}.resources")]


def test_a_mount_of_a_container_s_own_stays():
    own = {"name": "dshm", "mountPath": f"{SHM}/"}
    volume = {"name": "dshm", "emptyDir": {"medium": "Memory"}}
    spec = pod(efa("a", volumeMounts=[own]), efa("b"), volumes=[volume])

    made = use_efa(spec)

    assert made["containers"][0]["volumeMounts"] == [own]
    assert mounting(made) == ["b"]
    assert made["volumes"] == [volume, SHARED]


def test_no_volume_is_added_where_nobody_needs_it():
    mounted = efa(volumeMounts=[{"name": "dshm", "mountPath": SHM}])

    assert "volumes" not in use_efa(pod(mounted))
    assert "volumes" not in use_efa(pod(efa()), shared_memory=None)


def test_other_mounts_stay_beside_the_new_one():
    data = {"name": "data", "mountPath": "/data"}

    made = use_efa(pod(efa(volumeMounts=[data]), volumes=[{"name": "data", "emptyDir": {}}]))

    assert made["containers"][0]["volumeMounts"] == [data, MOUNT]


@pytest.mark.parametrize(
    "source",
    [
        {"emptyDir": {}},
        {"emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
        {"configMap": {"name": "a"}},
        {"emptyDir": Hostile()},
    ],
)
def test_another_volume_of_the_name_is_a_fault(source):
    spec = pod(efa(), volumes=[{"name": "shared-memory", **source}])

    assert codes(use_efa, spec) == [("VolumeNameTaken", "pod_spec.volumes[0]")]
    assert use_efa(spec, shared_memory=None)["volumes"] == spec["volumes"]


@pytest.mark.parametrize(
    "path",
    [
        "/dev/infiniband",
        "/dev/infiniband/",
        "/dev/./infiniband",
        "//dev//infiniband",
        "/dev/infiniband/uverbs0",
        "/dev",
        "/",
    ],
)
def test_the_nodes_rdma_devices_are_no_volume(path):
    spec = pod(efa(), volumes=[{"name": "rdma", "hostPath": {"path": path}}])

    (fault,) = faults_of(use_efa, spec, shared_memory=None)

    assert (fault.code, fault.path) == ("HostRdmaDevices", "pod_spec.volumes[0].hostPath.path")


@pytest.mark.parametrize(
    "path", [SHM, "/dev/infiniband0", "/data/dev/infiniband", "/devices", "", TOKEN, None]
)
def test_other_paths_of_the_node_are_volumes(path):
    volume = {"name": "host", "hostPath": {"path": path}}

    assert use_efa(pod(efa(), volumes=[volume]))["volumes"] == [volume, SHARED]


@pytest.mark.parametrize(
    "context", [None, {}, {"runAsUser": 0}, {"runAsNonRoot": False}, {"runAsUser": NUMBER_TOKEN}]
)
def test_root_may_lock_memory_where_it_is_asked_for(context):
    spec = pod(efa(securityContext=context), securityContext=context)

    made = use_efa(spec, lock_memory=True)["containers"][0]["securityContext"]

    assert made == {**(context or {}), "capabilities": {"add": ["IPC_LOCK"]}}
    assert use_efa(spec)["containers"][0].get("securityContext") == context


def test_capabilities_that_there_are_stay():
    given_ = {"capabilities": {"drop": ["ALL"], "add": ["SYS_PTRACE"]}}
    has = {"capabilities": {"add": ["CAP_IPC_LOCK"]}}

    made = use_efa(
        pod(efa("a", securityContext=given_), efa("b", securityContext=has)), lock_memory=True
    )

    assert [one["securityContext"]["capabilities"] for one in made["containers"]] == [
        {"drop": ["ALL"], "add": ["SYS_PTRACE", "IPC_LOCK"]},
        {"add": ["CAP_IPC_LOCK"]},
    ]


LOCK = {"capabilities": {"add": ["IPC_LOCK"]}}


@pytest.mark.parametrize(
    ("of_pod", "own", "works"),
    [
        ({"runAsUser": 1000}, {}, False),
        ({"runAsNonRoot": True}, {}, False),
        ({}, {"runAsUser": 1000}, False),
        ({}, {"runAsNonRoot": True}, False),
        ({"runAsUser": 0}, {"runAsUser": 1000}, False),
        ({"runAsUser": 1000}, {"runAsUser": 0}, True),
        ({"runAsNonRoot": True}, {"runAsNonRoot": False}, True),
        ({"runAsGroup": 1000}, {}, True),
        ({}, {}, True),
    ],
)
def test_the_capability_is_nothing_to_another_user(of_pod, own, works):
    asked = pod(efa(securityContext=own), securityContext=of_pod)
    has = pod(efa(securityContext={**own, **LOCK}), securityContext=of_pod)
    wanted = [("IpcLockNeedsRoot", f"{FIRST}.securityContext")]

    if works:
        assert use_efa(asked, lock_memory=True)["containers"] == use_efa(has)["containers"]
    else:
        assert codes(use_efa, asked, lock_memory=True) == wanted
        assert codes(use_efa, has) == wanted
        assert use_efa(asked)


def test_another_user_is_told_how_nodes_let_it_lock_memory():
    spec = pod(efa(securityContext={"runAsUser": 1000}))

    (fault,) = faults_of(use_efa, spec, lock_memory=True)

    assert fault.got == "{'runAsUser': 1000}"
    assert "RLIMIT_MEMLOCK" in fault.fix


def test_the_environment_is_left_alone_unless_it_is_asked_for():
    assert "env" not in use_efa(pod(efa()), instance_type=P5)["containers"][0]


@pytest.mark.parametrize(
    ("instance_type", "told"),
    [
        (None, [PROVIDER]),
        (P5, [PROVIDER, RDMA]),
        ("p4d.24xlarge", [PROVIDER, RDMA]),
        ("trn1.32xlarge", [PROVIDER, RDMA]),
        ("trn2.48xlarge", [PROVIDER, RDMA]),
        ("g6.8xlarge", [PROVIDER, RDMA]),
        (G5, [PROVIDER]),
        ("g4dn.metal", [PROVIDER]),
        ("p3dn.24xlarge", [PROVIDER]),
        ("inf1.24xlarge", [PROVIDER]),
        ("c5n.18xlarge", [PROVIDER]),
    ],
)
def test_libfabric_is_told_of_rdma_where_the_type_is_known_to_have_it(instance_type, told):
    made = use_efa(pod(efa()), environment=True, instance_type=instance_type)

    assert made["containers"][0]["env"] == told


def test_every_family_that_is_said_to_lack_rdma_has_efa():
    families = {one.family for one in AcceleratedInstanceType.all() if one.max_efa_interfaces}
    lacking = {
        family
        for family in families
        for one in AcceleratedInstanceType.all()
        if one.family == family and one.max_efa_interfaces
        and RDMA not in use_efa(
            pod(efa()), environment=True, instance_type=one.name
        )["containers"][0]["env"]
    }  # fmt: skip

    assert lacking == {"g4dn", "g5", "inf1", "p3dn"}


def test_what_a_container_says_itself_stays():
    env = [{"name": "A", "value": "1"}, PROVIDER, {"name": "FI_EFA_USE_DEVICE_RDMA", "value": "0"}]
    spec = pod(efa(env=env))

    assert use_efa(spec, environment=True, instance_type=P5)["containers"][0]["env"] == env


@pytest.mark.parametrize("value", ["tcp", "", None, TOKEN, Hostile()])
def test_another_provider_is_a_conflict_where_efa_is_asked_for(value):
    spec = pod(efa(env=[{"name": "FI_PROVIDER", "value": value}]))

    assert codes(use_efa, spec, environment=True) == [("EnvironmentConflict", f"{FIRST}.env[0]")]
    assert use_efa(spec)


@pytest.mark.parametrize("value", ["1", "true", "Yes", "on"])
def test_rdma_in_vain_would_abort_the_application(value):
    spec = pod(efa(env=[{"name": "FI_EFA_USE_DEVICE_RDMA", "value": value}]))

    assert codes(use_efa, spec, instance_type=G5) == [("NoDeviceRdma", f"{FIRST}.env[0]")]
    for known in (None, P5, "c5n.18xlarge"):
        assert use_efa(spec, instance_type=known)


@pytest.mark.parametrize("value", ["0", "off", None, TOKEN, Hostile()])
def test_rdma_that_is_not_asked_for_is_no_fault(value):
    spec = pod(efa(env=[{"name": "FI_EFA_USE_DEVICE_RDMA", "value": value}]))

    assert use_efa(spec, instance_type=G5)["containers"][0]["env"][0]["value"] is value


def test_what_nobody_reads_stays_tokens_and_objects_too():
    value = Untouchable()
    spec = pod(efa(image=TOKEN), priority=NUMBER_TOKEN, custom={"a": [value]})

    made = use_efa(spec, lock_memory=True, environment=True, instance_type=P5)

    assert made["containers"][0]["image"] == TOKEN
    assert made["priority"] == NUMBER_TOKEN
    assert made["custom"]["a"][0] is value


def test_faults_of_the_pod_spec_and_of_the_options_come_together():
    host = {"name": "dev", "hostPath": {"path": "/dev"}}
    spec = pod(box("A"), efa("b", memory=None), volumes=[host])

    assert codes(use_efa, spec, hugepages="1", instance_type="x", environment=1) == [
        ("MalformedName", "pod_spec.containers[0].name"),
        ("UnknownInstanceType", "instance_type"),
        ("MalformedQuantity", "hugepages"),
        ("WrongType", "environment"),
        ("HugePagesNeedMemory", "pod_spec.containers[1].resources"),
        ("HostRdmaDevices", "pod_spec.volumes[0].hostPath.path"),
    ]


WAYS: dict[str, Callable[[Any], Any]] = {
    "by default": use_efa,
    "named": lambda spec: use_efa(spec, containers=["main"], hugepages=None),
    "with everything": lambda spec: use_efa(
        spec, lock_memory=True, environment=True, instance_type=P5
    ),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize(("spec", "code"), NO_POD_SPECS, ids=range(len(NO_POD_SPECS)))
def test_what_is_no_pod_spec_is_told(way, spec, code):
    assert codes(way, spec) == [code]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"resources": []}, "resources"),
        ({"resources": {"limits": [EFA]}}, "resources.limits"),
        ({"resources": {"claims": ["a"]}}, "resources.claims[0]"),
        ({"volumeMounts": {}}, "volumeMounts"),
        ({"volumeMounts": [SHM]}, "volumeMounts[0]"),
        ({"env": {"A": "1"}}, "env"),
        ({"securityContext": []}, "securityContext"),
        ({"securityContext": {"capabilities": ["IPC_LOCK"]}}, "securityContext.capabilities"),
        (
            {"securityContext": {"capabilities": {"add": "IPC_LOCK"}}},
            "securityContext.capabilities.add",
        ),
    ],
)
def test_parts_of_another_type_are_faults(fields, path):
    spec = pod(container(**fields))

    def everything() -> object:
        return use_efa(spec, hugepages=None, lock_memory=True, environment=True)

    assert codes(everything) == [("WrongType", f"{FIRST}.{path}")]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"volumes": {}}, "volumes"),
        ({"volumes": ["a"]}, "volumes[0]"),
        ({"volumes": [{"name": "a", "hostPath": "/dev"}]}, "volumes[0].hostPath"),
        ({"securityContext": [1]}, "securityContext"),
        ({"securityContext": Hostile()}, "securityContext"),
    ],
)
def test_parts_of_the_pod_of_another_type_are_faults(fields, path):
    spec = pod(container(), **fields)

    assert codes(use_efa, spec, lock_memory=True) == [("WrongType", f"pod_spec.{path}")]


@pytest.mark.parametrize("containers", ["main", {"main": 1}, Hostile(), HostileList(["main"])])
def test_names_of_another_type_are_faults(containers):
    assert codes(use_efa, pod(efa()), containers=containers) == [("WrongType", "containers")]


RESOURCES = st.sampled_from(
    [
        {"limits": {EFA: 4, "memory": "1Gi"}},
        {"limits": {EFA: "1", "cpu": "1"}, "requests": None},
        {"claims": CLAIMS, "requests": {"cpu": "1"}},
        {"claims": CLAIMS, "limits": {"cpu": "1", PAGES: "2Mi"}},
        {"claims": CLAIMS, "requests": {"cpu": "1", PAGES: "1Gi"}},
    ]
)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "env": st.sampled_from([None, [], [PROVIDER], [RDMA], [{"name": "A", "value": "1"}]]),
    "securityContext": st.sampled_from(
        [None, {}, LOCK, {"runAsUser": 0, "capabilities": {"drop": ["ALL"]}}]
    ),
    "volumeMounts": st.sampled_from([None, [], [{"name": "a", "mountPath": SHM}], [MOUNT]]),
}
BOXES = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from("abcd"), "resources": RESOURCES}, optional=FIELDS
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda one: one["name"],
)
SPECS = st.fixed_dictionaries(
    {"containers": BOXES},
    optional={
        "initContainers": st.sampled_from([None, [], [box("init")], [efa("init")]]),
        "volumes": st.sampled_from([None, [], [SHARED], [{"name": "a", "emptyDir": {}}]]),
        "tolerations": st.just([{"operator": "Exists"}]),
    },
)


@given(
    spec=SPECS,
    lock_memory=st.booleans(),
    environment=st.booleans(),
    instance_type=st.sampled_from([None, P5]),
)
@settings(max_examples=150, deadline=None)
def test_the_input_stays_and_a_second_call_changes_nothing(spec, **options):
    before = copy.deepcopy(spec)

    made = use_efa(spec, **options)

    assert spec == before
    assert use_efa(made, **options) == made
    json.dumps(made)
    for limit, request in pages(made).values():
        assert limit == request
    assert set(pages(made)) == {one["name"] for one in made["containers"]}
    assert made.get("tolerations") == spec.get("tolerations")
    assert made.get("initContainers") == spec.get("initContainers")
