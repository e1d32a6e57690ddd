"""What each manager's account may do, as the real authorizer decides: what it calls, and no more.

The calls of NVIDIA's driver are those of its source. Neuron's managers are closed, and the source
of EKS' build of the EFA driver was not seen, so theirs are what the vendors ask for.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from typing import NamedTuple

import pytest

from eks_device_operations.control_plane.kubelet import pod_token
from eks_devices import GpuDriver, Mechanism, NeuronInstallation

# A line is a resource, where and which where that matters, and verbs.
CALLS = {
    "kube-system:aws-dranet": """
        nodes: get
        resourceslices.resource.k8s.io: list watch create update delete
        resourceclaims.resource.k8s.io: get
        resourceclaims.resource.k8s.io/status: patch update
        resourceclaims.resource.k8s.io/driver =dra.net: associated-node:patch associated-node:update
        deviceclasses.resource.k8s.io: get
    """,
    "kube-system:neuron-device-plugin": """
        nodes: get list watch
        nodes/status: patch update
        nodes/proxy: get list
        pods: get list watch update patch
        events: create patch
    """,
    "neuron-dra-driver:neuron-dra-driver-sa": """
        nodes: get list watch update patch
        nodes/status: patch
        resourceslices.resource.k8s.io: get list watch create update patch delete
        resourceclaims.resource.k8s.io: get list watch
        deviceclasses.resource.k8s.io: get list watch
        neuronultraservers.neuron.aws.com: get list watch
    """,
    "neuron-dra-driver:neuron-ultraserver-operator": """
        nodes pods: get list watch
        pods/eviction: create
        events: create patch
        resourceslices.resource.k8s.io: get list watch
        resourceclaimtemplates.resource.k8s.io: get list watch create update patch delete
        neuronultraservers.neuron.aws.com: get list watch create update patch delete
        neuronultraservers.neuron.aws.com/status: get update patch
        neuronultraserverworkloads.neuron.aws.com: get list watch create update patch delete
        neuronultraserverworkloads.neuron.aws.com/status: get update patch
        neuronultraserverworkloads.neuron.aws.com/finalizers: update
        leases.coordination.k8s.io @neuron-dra-driver: get list watch create update patch delete
    """,
    "nvidia:compute-domain-daemon-service-account": """
        computedomains.resource.nvidia.com: get list watch
        computedomains.resource.nvidia.com/status: update
        computedomaincliques.resource.nvidia.com @nvidia: get list watch create update
        pods @nvidia: get list watch patch
    """,
    "nvidia:dra-driver-nvidia-gpu-compute-domain-plugin": """
        nodes: get update patch
        resourceslices.resource.k8s.io: get list watch create update delete
        resourceclaims.resource.k8s.io: get
        computedomains.resource.nvidia.com: get list watch
        computedomaincliques.resource.nvidia.com @nvidia: get
    """,
    "nvidia:dra-driver-nvidia-gpu-controller": """
        nodes: get list watch update
        computedomains.resource.nvidia.com: get list watch update
        computedomains.resource.nvidia.com/status: update
        resourceclaimtemplates.resource.k8s.io: get list watch create update delete
        computedomaincliques.resource.nvidia.com @nvidia: get list watch update
        daemonsets.apps @nvidia: get list watch create update delete
        pods @nvidia: get list watch
    """,
    "nvidia:dra-driver-nvidia-gpu-kubelet-plugin": """
        nodes: get
        resourceslices.resource.k8s.io: get list watch create update delete
        resourceclaims.resource.k8s.io: get
    """,
    "nvidia:nvdp-nvidia-device-plugin": "",
}
# Whoever makes MPS daemons has an account of its own: that of a group with the gate MPSSupport.
MPS = "nvidia:dra-driver-nvidia-gpu-kubelet-plugin-4096a403"
CALLS[MPS] = (
    CALLS["nvidia:dra-driver-nvidia-gpu-kubelet-plugin"]
    + """
    deployments.apps @nvidia: get create delete
    pods @nvidia: list
"""
)
# What every account may do: ask about itself.
EVERYBODY = """
    selfsubjectreviews.authentication.k8s.io: create
    selfsubjectaccessreviews.authorization.k8s.io: create
    selfsubjectrulesreviews.authorization.k8s.io: create
"""
DANGEROUS = """
    secrets @,kube-system,nvidia: get list watch create update patch delete
    pods/exec pods/attach pods/portforward pods/proxy pods/eviction: get create
    pods/ephemeralcontainers: update patch
    pods @,kube-system,nvidia: create delete deletecollection
    nodes nodes/proxy: create delete deletecollection
    nodes/proxy: get update patch
    users groups serviceaccounts: impersonate
    serviceaccounts serviceaccounts/token @,kube-system,nvidia: create
    roles.rbac.authorization.k8s.io @,nvidia: create update patch bind escalate
    clusterroles.rbac.authorization.k8s.io: create update patch bind escalate
    rolebindings.rbac.authorization.k8s.io @,nvidia: create update patch
    clusterrolebindings.rbac.authorization.k8s.io: create update patch delete
    daemonsets.apps @,kube-system: create update patch delete
    deployments.apps jobs.batch @,nvidia: create update patch delete
    configmaps @kube-system: get create update patch delete
    validatingadmissionpolicies.admissionregistration.k8s.io: create update patch delete
    validatingadmissionpolicybindings.admissionregistration.k8s.io: create update patch delete
    validatingwebhookconfigurations.admissionregistration.k8s.io: create update patch delete
    mutatingwebhookconfigurations.admissionregistration.k8s.io: create update patch delete
    customresourcedefinitions.apiextensions.k8s.io: create update patch delete
    certificatesigningrequests.certificates.k8s.io/approval: update patch
    deviceclasses.resource.k8s.io resourceclaims.resource.k8s.io: create update patch delete
    resourceslices.resource.k8s.io: deletecollection
    * *.* *.resource.k8s.io: get list create update patch delete *
    nodes pods @,nvidia: *
"""
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
NOBODY = "default:default"
# Where accounts live, and where they do not.
SPACES = ("default", "kube-system", "neuron-dra-driver", "nvidia")


class Ask(NamedTuple):
    """One thing to do; the namespace is empty for all of them."""

    verb: str
    resource: str
    space: str = ""
    name: str = ""

    def __str__(self):
        where = f" @{self.space}" if self.space else ""
        return f"{self.verb} {self.resource}{where}" + (f" ={self.name}" if self.name else "")

    def attributes(self):
        path, _, subresource = self.resource.partition("/")
        resource, _, group = path.partition(".")
        found = {"verb": self.verb, "group": group, "resource": resource, "name": self.name}
        return found | {"subresource": subresource, "namespace": self.space}


def asks(table):
    """The requests of a table."""
    for line in filter(None, map(str.strip, table.splitlines())):
        what, _, verbs = line.partition(": ")
        words = what.split()
        names = [one[1:] for one in words if one.startswith("=")] or [""]
        spaces = [one[1:].split(",") for one in words if one.startswith("@")] or [[""]]
        resources = [one for one in words if one[0] not in "=@"]
        yield from map(Ask._make, product(verbs.split(), resources, *spaces, names))


def user_of(account):
    groups = ("serviceaccounts", f"serviceaccounts:{account.partition(':')[0]}", "authenticated")
    return f"system:serviceaccount:{account}", [f"system:{one}" for one in groups]


@pytest.fixture(scope="module")
def every_account(every_manager, manifests, planned, spec):
    """Every manager, one that makes MPS daemons, and Neuron's UltraServer operator."""
    gated = GpuDriver(feature_gates={"MPSSupport": True})
    groups = spec("mps", "g6e.xlarge", gpu_driver=gated), spec("ultra", "trn2u.48xlarge")
    more = manifests(planned(*groups, neuron=NeuronInstallation(ultraserver_operator=True)))
    return [*every_manager, *(one for one in more if one not in every_manager)]


@pytest.fixture(scope="module")
def installed(shared, every_account):
    """The world with every manager in it."""
    shared.install(*every_account)
    return shared


@pytest.fixture(scope="module")
def allowed(installed):
    """What of some requests the authorizer allows an account."""

    def allows(account, ask):
        user, groups = user_of(account)
        spec = {"user": user, "groups": groups, "resourceAttributes": ask.attributes()}
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        return installed.api.request("POST", path, {"spec": spec})["status"]["allowed"]

    def find(account: str, wanted: Iterable[Ask]) -> set[str]:
        questions = list(wanted)
        installed.tally["permissions checked"] += len(questions)
        with ThreadPoolExecutor(8) as threads:
            answers = threads.map(partial(allows, account), questions)
        return {str(ask) for ask, yes in zip(questions, answers, strict=True) if yes}

    return find


def test_the_tables_have_every_account(every_account):
    accounts = [one["metadata"] for one in every_account if one["kind"] == "ServiceAccount"]

    assert sorted(f"{one['namespace']}:{one['name']}" for one in accounts) == sorted(CALLS)


@pytest.mark.parametrize("account", CALLS)
def test_it_may_do_what_it_calls(allowed, account):
    calls = list(asks(CALLS[account]))
    # A call that is allowed everywhere is allowed in a namespace that nobody knows.
    somewhere = [ask._replace(space="train") for ask in calls if not ask.space]

    assert allowed(account, calls) == set(map(str, calls))
    assert allowed(account, somewhere) == set(map(str, somewhere))


ASKED_FOR = {
    # The vendor asks for it, and the kubelet takes it for leave to run commands.
    "kube-system:neuron-device-plugin": {"get nodes/proxy"},
    # It moves the Pods of workloads that ask for it, which are in the namespaces of users.
    "neuron-dra-driver:neuron-ultraserver-operator": {"create pods/eviction"},
    # A Deployment can run anything in the namespace, which is why nobody else has this account.
    MPS: {"create deployments.apps @nvidia", "delete deployments.apps @nvidia"},
}


@pytest.mark.parametrize("account", CALLS)
def test_it_may_do_nothing_dangerous(allowed, account):
    assert allowed(account, asks(DANGEROUS)) == ASKED_FOR.get(account, set())


@pytest.fixture(scope="module")
def everything(installed):
    """Each verb on each resource that the server has, in each namespace that matters."""
    groups = installed.api.request("GET", "/apis")["groups"]
    found = []
    for version in ("v1", *(one["preferredVersion"]["groupVersion"] for one in groups)):
        group, slash, _ = version.rpartition("/")
        base = f"/apis/{version}" if slash else f"/api/{version}"
        for resource in installed.api.request("GET", base)["resources"]:
            spaces = SPACES if resource["namespaced"] else [""]
            name = named(group, resource["name"])
            found += [Ask(verb, name, space) for verb in VERBS for space in spaces]
    return found


def named(group, resource):
    """A resource, or a part of one, in the words of a table."""
    plain, slash, part = resource.partition("/")
    return f"{plain}.{group}{slash}{part}" if group else resource


@pytest.mark.parametrize("account", [*CALLS, NOBODY])
def test_of_all_that_the_server_has_it_may_do_no_more(allowed, everything, account):
    calls = [*asks(CALLS.get(account, "")), *asks(EVERYBODY)]
    expected = [one for one in everything if one in calls or one._replace(space="") in calls]

    assert len(everything) > 1000
    assert allowed(account, everything) == set(map(str, expected))


@pytest.mark.parametrize("account", [*CALLS, NOBODY])
def test_its_rules_say_no_more_either(installed, account):
    """Also on what no server has yet, or has under no path of its own."""
    calls = [*asks(CALLS.get(account, "")), *asks(EVERYBODY)]

    for space in SPACES:
        rules, public = (rules_of(installed.api, one, space) for one in (account, NOBODY))
        here = {str(ask._replace(space="")) for ask in calls if ask.space in ("", space)}
        assert rules["incomplete"] is False
        assert {*granted(rules["resourceRules"])} == here
        assert {*map(str, rules["nonResourceRules"])} == {*map(str, public["nonResourceRules"])}


def rules_of(api, account, space):
    user, groups = user_of(account)
    path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
    body = {"spec": {"namespace": space}}
    return api.as_user(user, *groups).request("POST", path, body)["status"]


def granted(rules):
    """What rules allow, in the words of a table."""
    for rule in rules:
        names = rule.get("resourceNames", [""])
        whats = [named(*one) for one in product(rule["apiGroups"], rule["resources"])]
        yield from (str(Ask(*one)) for one in product(rule["verbs"], whats, [""], names))


@pytest.fixture(scope="module")
def pods(installed, planned, spec):
    """A Pod of each manager as the server has it, by its name."""
    plugins = spec("Plugins", "p5.48xlarge", mechanism=Mechanism.DEVICE_PLUGIN)
    types = ("p6e-gb200.36xlarge", "trn2.48xlarge", "inf2.48xlarge")
    for group in planned(plugins, *(spec(name[:3], name) for name in types)).nodegroups:
        installed.join(group)
    installed.settle()
    names = "app.kubernetes.io/name"
    return {one["metadata"]["labels"][names]: one for one in installed.api.list("v1", "Pod")}


def test_only_pods_that_ask_the_server_have_a_token(pods, every_account):
    workloads = [one for one in every_account if one["kind"] in ("DaemonSet", "Deployment")]
    apps = {one["metadata"]["labels"]["app.kubernetes.io/name"] for one in workloads}
    volumes = {name: pod["spec"]["volumes"] for name, pod in pods.items()}

    assert pods.keys() == apps
    without = {name for name in pods if "serviceAccountToken" not in repr(volumes[name])}
    assert without == {"efa-aws-efa-k8s-device-plugin", "nvdp-nvidia-device-plugin"}


LISTS = {
    "nodes": "/api/v1/nodes",
    "pods": "/api/v1/pods",
    "secrets": "/api/v1/namespaces/kube-system/secrets",
    "resourceslices.resource.k8s.io": "/apis/resource.k8s.io/v1/resourceslices",
    "resourceclaims.resource.k8s.io": "/apis/resource.k8s.io/v1/resourceclaims",
    "computedomains.resource.nvidia.com": "/apis/resource.nvidia.com/v1beta1/computedomains",
}


def test_the_tokens_of_pods_open_that_and_no_more(installed, pods):
    for pod in pods.values():
        account = f"{pod['metadata']['namespace']}:{pod['spec']['serviceAccount']}"
        calls = [*asks(CALLS.get(account, ""))]
        api = installed.api.with_token(pod_token(installed.api, pod))

        codes = {what: code(api, path) for what, path in LISTS.items()}
        assert codes == {what: 200 if Ask("list", what) in calls else 403 for what in LISTS}
        installed.tally["requests with a Pod's token"] += len(LISTS)


def code(api, path):
    return api.pool.request("GET", f"{api.server}{path}", headers=api.headers).status
