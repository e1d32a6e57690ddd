"""Admission policies let a manager change what is its own node's, and judge nobody else.

The engine is Google's, by the extra `check`.
"""

import pytest
from cel_expr_python import cel  # type: ignore[import-untyped]
from cel_expr_python.ext import ext_optional  # type: ignore[import-untyped]

ADMISSION = cel.NewEnv(
    variables=dict.fromkeys(("object", "oldObject", "request", "variables"), cel.Type.DYN),
    extensions=[ext_optional.ExtOptional()],
)
# Slices of every node, of a selection, and of none in particular.
WIDE: list[dict[str, object]] = [{"allNodes": True}, {"nodeSelector": {}}, {"nodeName": ""}]
SLICES = {
    "aws-dranet": ("kube-system", "aws-dranet", "dra.net"),
    "dra-driver-nvidia-gpu-compute-domain-plugin": (
        "nvidia",
        "dra-driver-nvidia-gpu-compute-domain-plugin",
        "compute-domain.nvidia.com",
    ),
    "dra-driver-nvidia-gpu-kubelet-plugin": (
        "nvidia",
        "dra-driver-nvidia-gpu-kubelet-plugin",
        "gpu.nvidia.com",
    ),
    "neuron-dra-driver": ("neuron-dra-driver", "neuron-dra-driver-sa", "neuron.aws.com"),
}
# Whoever may change Node objects, except the controller, whose business all nodes are.
NODES = {
    "dra-driver-nvidia-gpu-compute-domain-plugin": SLICES[
        "dra-driver-nvidia-gpu-compute-domain-plugin"
    ][:2],
    "neuron-device-plugin": ("kube-system", "neuron-device-plugin"),
    "neuron-dra-driver": SLICES["neuron-dra-driver"][:2],
}
DAEMON = ("nvidia", "compute-domain-daemon-service-account")
POLICIES = {f"resourceslices-{name}": account[:2] for name, account in SLICES.items()} | {
    f"nodes-{name}": account for name, account in NODES.items()
}
PODS = {"pods-compute-domain-daemon": DAEMON}
GPU_DRIVER = "dra-driver-nvidia-gpu-kubelet-plugin"
DEPLOYMENTS = {f"deployments-{GPU_DRIVER}": ("nvidia", GPU_DRIVER)}
# How Neuron's managers label the nodes of an UltraServer is not documented, so these only warn.
TELLING = {"nodes-neuron-device-plugin", "nodes-neuron-dra-driver"}


def answer(text, **data):
    """What an expression says; errors are values in this engine, so the type is looked at."""
    value = ADMISSION.compile(text).eval(data=data)
    assert value.type() == cel.Type.BOOL, value.plain_value()
    return value.plain_value()


def judge(policy, request, **objects):
    """Whether a policy lets a request pass: None where it does not apply."""
    spec = policy["spec"]
    data = {"request": request, "object": None, "oldObject": None, **objects}
    variables: dict[str, object] = {}
    matches = [
        answer(one["expression"], variables=variables, **data) for one in spec["matchConditions"]
    ]
    if not all(matches):
        return None
    for one in spec["variables"]:
        value = ADMISSION.compile(one["expression"]).eval(data={"variables": variables, **data})
        assert value.type() != cel.Type.ERROR, value.plain_value()
        variables[one["name"]] = value.plain_value()
    return all(
        answer(one["expression"], variables=variables, **data) for one in spec["validations"]
    )


def request(user, operation="CREATE", nodes=("node-a",)):
    extra = {} if nodes is None else {"authentication.kubernetes.io/node-name": list(nodes)}
    return {"operation": operation, "userInfo": {"username": user, "extra": extra}}


@pytest.mark.parametrize("driver", SLICES)
def test_a_driver_touches_slices_of_its_own_node_and_name_only(find, driver):
    policy = find("ValidatingAdmissionPolicy", "every-manager", name=f"resourceslices-{driver}")
    space, account, name = SLICES[driver]
    user = f"system:serviceaccount:{space}:{account}"
    own = {"spec": {"driver": name, "nodeName": "node-a"}}
    other = {"spec": {"driver": name, "nodeName": "node-b"}}
    foreign = {"spec": {"driver": "example.com", "nodeName": "node-a"}}

    for operation in ("CREATE", "UPDATE"):
        ask = request(user, operation)
        assert judge(policy, ask, object=own, oldObject=own) is True
        assert judge(policy, ask, object=other, oldObject=own) is False
        assert judge(policy, ask, object=foreign, oldObject=own) is False
    assert judge(policy, request(user, "DELETE"), oldObject=own) is True
    assert judge(policy, request(user, "DELETE"), oldObject=other) is False
    for wide in WIDE:
        assert judge(policy, request(user), object={"spec": {"driver": name, **wide}}) is False
    for nodes in (None, (), ("",)):
        for slice_ in (own, {"spec": {"driver": name, "allNodes": True}}):
            assert judge(policy, request(user, nodes=nodes), object=slice_) is False


@pytest.mark.parametrize("manager", NODES)
def test_a_manager_changes_its_own_node_only(find, manager):
    policy = find("ValidatingAdmissionPolicy", "every-manager", name=f"nodes-{manager}")
    user = "system:serviceaccount:" + ":".join(NODES[manager])
    own, other = ({"metadata": {"name": name}} for name in ("node-a", "node-b"))

    ask = request(user, "UPDATE")
    assert judge(policy, ask, object=own, oldObject=own) is True
    assert judge(policy, ask, object=other, oldObject=other) is False
    for nodes in (None, (), ("",)):
        for node in (own, {"metadata": {"name": ""}}):
            assert judge(policy, request(user, "UPDATE", nodes), object=node) is False


def test_a_daemon_of_a_compute_domain_changes_its_own_pod_only(find):
    """Other Pods of its namespace are privileged, and a patch puts any image into one."""
    policy = find("ValidatingAdmissionPolicy", "every-manager", name="pods-compute-domain-daemon")
    key = "authentication.kubernetes.io/pod-name"

    def asked(user, names):
        extra = {} if names is None else {key: names}
        return {"operation": "UPDATE", "userInfo": {"username": user, "extra": extra}}

    daemon = "system:serviceaccount:" + ":".join(DAEMON)
    own, other = ({"metadata": {"name": name}} for name in ("daemon-a", "plugin-b"))
    assert judge(policy, asked(daemon, ["daemon-a"]), object=own, oldObject=own) is True
    assert judge(policy, asked(daemon, ["daemon-a"]), object=other, oldObject=other) is False
    for names in (None, [], [""]):
        for pod in (own, {"metadata": {"name": ""}}):
            assert judge(policy, asked(daemon, names), object=pod) is False
    for user in (f"{daemon}x", "system:serviceaccount:default:default", "kubernetes-admin"):
        assert judge(policy, asked(user, ["daemon-a"]), object=other) is None


def test_an_owner_with_an_account_of_its_own_is_judged_as_well(find):
    policy = find("ValidatingAdmissionPolicy", "gpu-dra-mps", name=f"resourceslices-{GPU_DRIVER}")
    user = find("DaemonSet", "gpu-dra-mps")["spec"]["template"]["spec"]["serviceAccountName"]
    slices = [{"spec": {"driver": "gpu.nvidia.com", "nodeName": node}} for node in ("node-a", "b")]
    asked = request(f"system:serviceaccount:nvidia:{user}")

    assert user != GPU_DRIVER
    assert [judge(policy, asked, object=one) for one in slices] == [True, False]
    assert judge(policy, request(f"system:serviceaccount:other:{user}"), object=slices[1]) is None


def daemon(node="node-a", **pod):
    """A Deployment as the driver makes it for MPS, and whatever a Pod of it has besides."""
    one = {"name": "mps-control-daemon", "env": [{"name": "CUDA_VISIBLE_DEVICES", "value": "GPU"}]}
    volumes = [{"name": "driver-root", "hostPath": {"path": "/"}}]
    spec = {"nodeName": node, "hostPID": True, "containers": [one], "volumes": volumes} | pod
    return {"spec": {"template": {"spec": spec}}}


@pytest.fixture
def judged(find):
    """What is said of a driver that writes Deployments, by an account of its owner's."""
    policy = find("ValidatingAdmissionPolicy", "gpu-dra-mps", name=f"deployments-{GPU_DRIVER}")

    def judge_it(
        operation="CREATE", *, user=f"{GPU_DRIVER}-4096a403", nodes=("node-a",), **objects
    ):
        asked = request(f"system:serviceaccount:nvidia:{user}", operation, nodes)
        return judge(policy, asked, **objects)

    return judge_it


def test_a_driver_runs_and_ends_daemons_on_its_own_node_only(judged):
    nowhere = daemon()
    del nowhere["spec"]["template"]["spec"]["nodeName"]

    assert judged(object=daemon()) is True
    assert judged("DELETE", oldObject=daemon()) is True
    assert judged("UPDATE", object=daemon(), oldObject=daemon()) is True
    for other in (daemon("node-b"), daemon(""), nowhere):
        assert judged(object=other) is False
        assert judged("DELETE", oldObject=other) is False
        assert judged("UPDATE", object=other, oldObject=daemon()) is False
        assert judged("UPDATE", object=daemon(), oldObject=other) is False
        assert judged(object=other, nodes=None) is False
    assert judged(object=daemon(), nodes=None) is False


@pytest.mark.parametrize(
    ("account", "good"),
    [
        ("", True),
        ("default", True),
        (f"{GPU_DRIVER}-4096a403", True),
        (GPU_DRIVER, False),
        ("4096a403", False),
        ("dra-driver-nvidia-gpu-controller", False),
    ],
)
def test_daemons_of_a_driver_may_do_no_more_than_it(judged, account, good):
    """The account before that of an owner may be gone, and then its daemons have to go too."""
    item = daemon(serviceAccountName=account)

    assert judged(object=item) is good
    assert judged("UPDATE", object=item, oldObject=daemon()) is good
    assert judged("DELETE", oldObject=item) is True


FROM_SECRET = {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "tls", "key": "tls.key"}}}
FROM_FIELD = {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}


@pytest.mark.parametrize(
    ("pod", "good"),
    [
        ({"volumes": [{"name": "root", "hostPath": {"path": "/"}}]}, True),
        ({"volumes": [{"name": "tls", "secret": {"secretName": "tls"}}]}, False),
        ({"volumes": [{"name": "tls", "projected": {"sources": []}}]}, False),
        ({"imagePullSecrets": [{"name": "registry"}]}, False),
        ({"containers": [{"name": "daemon"}]}, True),
        ({"containers": [{"name": "daemon", "env": [FROM_FIELD]}]}, True),
        ({"containers": [{"name": "daemon", "env": [FROM_FIELD, FROM_SECRET]}]}, False),
        ({"initContainers": [{"name": "first", "env": [FROM_SECRET]}]}, False),
        ({"containers": [{"name": "d", "envFrom": [{"secretRef": {"name": "tls"}}]}]}, False),
        ({"initContainers": [{"name": "d", "envFrom": [{"secretRef": {"name": "x"}}]}]}, False),
    ],
)
def test_daemons_of_a_driver_bring_no_secret_to_its_node(judged, pod, good):
    assert judged(object=daemon(**pod)) is good


def test_deployments_of_anybody_else_are_not_judged(judged):
    for user in (f"{GPU_DRIVER}x", "dra-driver-nvidia-gpu-controller", "default"):
        assert judged(user=user, object=daemon("node-b")) is None


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_judges_the_account_of_its_manager_and_nobody_else(find, manifests, name):
    policy = find("ValidatingAdmissionPolicy", "every-manager", name=name)
    space, account = POLICIES[name]
    own = {"metadata": {"name": "node-a"}, "spec": {"driver": "x", "nodeName": "node-a"}}
    pods = [
        item["spec"]["template"]["spec"]
        for item in manifests("every-manager")
        if item["kind"] == "DaemonSet" and item["metadata"]["namespace"] == space
    ]

    assert [pod.get("serviceAccountName") for pod in pods].count(account) == 1
    assert (
        judge(policy, request(f"system:serviceaccount:{space}:{account}"), object=own) is not None
    )
    for user in (
        f"system:serviceaccount:{space}:{account}x",
        f"system:serviceaccount:default:{account}",
        "system:node:node-a",
        "kubernetes-admin",
    ):
        assert judge(policy, request(user), object=own) is None


def test_every_policy_is_bound_and_every_driver_has_one(manifests):
    items = manifests("every-manager")
    policies = [one for one in items if one["kind"] == "ValidatingAdmissionPolicy"]
    bindings = [one for one in items if one["kind"] == "ValidatingAdmissionPolicyBinding"]

    assert [one["metadata"]["name"] for one in policies] == sorted(
        {**POLICIES, **PODS, **DEPLOYMENTS}
    )
    assert [one["spec"] for one in bindings] == [
        {
            "policyName": name,
            "validationActions": ["Warn", "Audit"] if name in TELLING else ["Deny"],
        }
        for name in sorted({**POLICIES, **PODS, **DEPLOYMENTS})
    ]
    for policy in policies:
        kind = policy["metadata"]["name"].partition("-")[0]
        assert policy["spec"]["failurePolicy"] == "Fail"
        assert policy["spec"]["matchConstraints"] == {"resourceRules": [RULED[kind]]}


RULED = {
    "deployments": {
        "apiGroups": ["apps"],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE", "DELETE"],
        "resources": ["deployments"],
    },
    "resourceslices": {
        "apiGroups": ["resource.k8s.io"],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE", "DELETE"],
        "resources": ["resourceslices"],
    },
    "pods": {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["UPDATE"],
        "resources": ["pods", "pods/ephemeralcontainers", "pods/resize", "pods/status"],
    },
    "nodes": {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["UPDATE"],
        "resources": ["nodes", "nodes/status"],
    },
}


def test_whoever_may_change_nodes_has_a_policy_but_for_the_controller(manifests):
    items = manifests("every-manager")
    changing = {
        item["metadata"]["name"]
        for item in items
        if item["kind"] == "ClusterRole" and any(changes_nodes(one) for one in item["rules"])
    }
    accounts = {
        f"{subject['namespace']}/{subject['name']}"
        for item in items
        if item["kind"] == "ClusterRoleBinding" and item["roleRef"]["name"] in changing
        for subject in item["subjects"]
    }

    assert accounts == {"/".join(one) for one in NODES.values()} | {
        "nvidia/dra-driver-nvidia-gpu-controller"
    }


def changes_nodes(rule):
    return {"nodes", "nodes/status"} & {*rule["resources"]} and {"update", "patch"} & {
        *rule["verbs"]
    }
