"""Everything that the managers may do to nodes and cluster, as one list that a review can read."""

from __future__ import annotations

from typing import Any


def workloads(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [item for item in items if item["kind"] in ("DaemonSet", "Deployment")]


def containers(item: dict[str, Any]) -> list[dict[str, Any]]:
    pod = item["spec"]["template"]["spec"]
    return [*pod.get("initContainers", ()), *pod["containers"]]


def of_containers(items: list[dict[str, Any]]) -> dict[str, list[str]]:
    """What each container's security context allows and refuses."""
    found = {}
    for item in workloads(items):
        for one in containers(item):
            context = one.get("securityContext", {})
            said = [f"{key}={value}" for key, value in context.items() if key not in DEEP]
            said += [f"drop {name}" for name in context.get("capabilities", {}).get("drop", ())]
            said += [f"add {name}" for name in context.get("capabilities", {}).get("add", ())]
            said += [context["seccompProfile"]["type"]] if "seccompProfile" in context else []
            found[f"{item['metadata']['name']}/{one['name']}"] = sorted(said)
    return found


DEEP = ("capabilities", "seccompProfile")


def of_hosts(items: list[dict[str, Any]]) -> dict[str, list[str]]:
    """The host's folders and namespaces that each workload uses."""
    found = {}
    for item in workloads(items):
        pod = item["spec"]["template"]["spec"]
        paths = {one["name"]: one.get("hostPath") for one in pod.get("volumes", ())}
        said = [key for key in ("hostNetwork", "hostPID", "hostIPC") if pod.get(key)]
        for container in containers(item):
            mounts = container.get("volumeMounts", ())
            said += [mounted(one, paths[one["name"]]) for one in mounts if paths[one["name"]]]
        found[item["metadata"]["name"]] = sorted(said)
    return found


def mounted(mount: dict[str, Any], path: dict[str, Any]) -> str:
    parts = [path["path"], "ro" if mount.get("readOnly") else "rw"]
    parts += [mount["mountPropagation"]] if "mountPropagation" in mount else []
    return " ".join(parts)


def of_accounts(items: list[dict[str, Any]]) -> dict[str, list[str]]:
    """What each account may do; rules of a Role say their namespace."""
    rules = {
        (item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]): item["rules"]
        for item in items
        if item["kind"] in ("ClusterRole", "Role")
    }
    found: dict[str, list[str]] = {}
    for item in items:
        if not item["kind"].endswith("RoleBinding"):
            continue
        space = item["metadata"].get("namespace")
        (subject,) = item["subjects"]
        granted = rules[item["roleRef"]["kind"], space, item["roleRef"]["name"]]
        name = f"{subject['namespace']}/{subject['name']}"
        found.setdefault(name, []).extend(ruled(one, space) for one in granted)
    return {name: sorted(granted) for name, granted in found.items()}


def ruled(rule: dict[str, Any], space: str | None) -> str:
    (group,) = rule["apiGroups"]
    names = f" named {','.join(rule['resourceNames'])}" if "resourceNames" in rule else ""
    where = f" in {space}" if space else ""
    verbs = " ".join(rule["verbs"])
    return f"{group or 'core'}: {', '.join(rule['resources'])}{names}{where}: {verbs}"


ROOT_ON_THE_NODE = ["privileged=True"]
NOTHING_MORE = ["allowPrivilegeEscalation=False", "drop ALL"]
CONTAINERS = {
    "aws-dranet/dranet": [
        "RuntimeDefault",
        "allowPrivilegeEscalation=False",
        "drop ALL",
        "privileged=False",
        "readOnlyRootFilesystem=True",
        "runAsGroup=0",
        "runAsUser=0",
    ],
    "dra-driver-nvidia-gpu-compute-domain-plugin/compute-domains": ROOT_ON_THE_NODE,
    "dra-driver-nvidia-gpu-compute-domain-plugin/init-container": ROOT_ON_THE_NODE,
    "dra-driver-nvidia-gpu-controller/compute-domain": [
        "RuntimeDefault",
        "allowPrivilegeEscalation=False",
        "drop ALL",
        "readOnlyRootFilesystem=True",
        "runAsNonRoot=True",
        "runAsUser=65532",
    ],
    "dra-driver-nvidia-gpu-kubelet-plugin/gpus": ROOT_ON_THE_NODE,
    "dra-driver-nvidia-gpu-kubelet-plugin/init-container": ROOT_ON_THE_NODE,
    "efa-aws-efa-k8s-device-plugin/aws-efa-k8s-device-plugin": [
        "allowPrivilegeEscalation=True",
        "privileged=True",
        "runAsNonRoot=False",
        "runAsUser=0",
    ],
    "neuron-device-plugin/neuron-device-plugin": NOTHING_MORE,
    # The vendor's default: no privilege asked for, and none given up.
    "neuron-dra-driver-kubelet-plugin/neuron-dra-driver": [],
    "nvdp-nvidia-device-plugin/nvidia-device-plugin-ctr": NOTHING_MORE,
}
HOSTS = {
    "aws-dranet": [
        "/dev/infiniband rw HostToContainer",
        "/var/lib/kubelet/plugins rw",
        "/var/lib/kubelet/plugins_registry rw",
        "/var/run/dranet rw",
        "/var/run/netns rw HostToContainer",
        "/var/run/nri rw",
        "hostNetwork",
    ],
    "dra-driver-nvidia-gpu-compute-domain-plugin": [
        "/ ro",
        "/ ro HostToContainer",
        "/var/lib/kubelet/plugins rw Bidirectional",
        "/var/lib/kubelet/plugins_registry rw",
        "/var/run/cdi rw",
    ],
    "dra-driver-nvidia-gpu-controller": [],
    "dra-driver-nvidia-gpu-kubelet-plugin": [
        "/ ro",
        "/ rw HostToContainer",
        "/var/lib/kubelet/plugins rw Bidirectional",
        "/var/lib/kubelet/plugins_registry rw",
        "/var/run/cdi rw",
    ],
    "efa-aws-efa-k8s-device-plugin": [
        "/dev/infiniband rw",
        "/opt/aws/neuron rw",
        "/var/lib/kubelet/device-plugins rw",
        "hostNetwork",
    ],
    "neuron-device-plugin": ["/opt/aws ro", "/run rw", "/var/lib/kubelet/device-plugins rw"],
    "neuron-dra-driver-kubelet-plugin": [
        "/var/lib/kubelet/plugins rw",
        "/var/lib/kubelet/plugins_registry rw",
        "/var/run/cdi rw",
        "hostNetwork",
    ],
    "nvdp-nvidia-device-plugin": ["/var/lib/kubelet/device-plugins rw"],
}
DRIVER_STATUS = "associated-node:patch associated-node:update"
ACCOUNTS = {
    "kube-system/aws-dranet": [
        "core: nodes: get",
        "resource.k8s.io: resourceclaims, deviceclasses: get",
        f"resource.k8s.io: resourceclaims/driver named dra.net: {DRIVER_STATUS}",
        "resource.k8s.io: resourceclaims/status: patch update",
        "resource.k8s.io: resourceslices: list watch create update delete",
    ],
    "kube-system/neuron-device-plugin": [
        "core: events: create patch",
        "core: nodes/proxy: get list",
        "core: nodes/status: patch update",
        "core: nodes: get list watch",
        "core: pods: get list watch update patch",
    ],
    "neuron-dra-driver/neuron-dra-driver-sa": [
        "core: nodes/status: patch",
        "core: nodes: get list watch patch update",
        "resource.k8s.io: resourceclaims, deviceclasses: get list watch",
        "resource.k8s.io: resourceslices: get list watch create update patch delete",
    ],
    "nvidia/compute-domain-daemon-service-account": [
        "core: pods in nvidia: get list watch patch",
        "resource.nvidia.com: computedomaincliques in nvidia: get list watch create update",
        "resource.nvidia.com: computedomains/status: update",
        "resource.nvidia.com: computedomains: get list watch",
    ],
    "nvidia/dra-driver-nvidia-gpu-compute-domain-plugin": [
        "core: nodes: get update patch",
        "resource.k8s.io: resourceclaims: get",
        "resource.k8s.io: resourceslices: get list watch create update delete",
        "resource.nvidia.com: computedomaincliques in nvidia: get",
        "resource.nvidia.com: computedomains: get list watch",
    ],
    "nvidia/dra-driver-nvidia-gpu-controller": [
        "apps: daemonsets in nvidia: get list watch create update delete",
        "core: nodes: get list watch update",
        "core: pods in nvidia: get list watch",
        "resource.k8s.io: resourceclaimtemplates: get list watch create update delete",
        "resource.nvidia.com: computedomaincliques in nvidia: get list watch update",
        "resource.nvidia.com: computedomains/status: update",
        "resource.nvidia.com: computedomains: get list watch update",
    ],
    "nvidia/dra-driver-nvidia-gpu-kubelet-plugin": [
        "core: nodes: get",
        "resource.k8s.io: resourceclaims: get",
        "resource.k8s.io: resourceslices: get list watch create update delete",
    ],
}


def test_what_containers_may_do_to_nodes(manifests):
    assert of_containers(manifests("every-manager")) == CONTAINERS


def test_what_pods_see_of_nodes(manifests):
    assert of_hosts(manifests("every-manager")) == HOSTS


def test_what_accounts_may_do_in_the_cluster(manifests):
    assert of_accounts(manifests("every-manager")) == ACCOUNTS


def test_sharing_and_scopes_add_no_privilege(manifests):
    items = manifests("fleet")
    names = {one["metadata"]["name"]: app(one) for one in workloads(items)}

    assert len(names) > len(HOSTS)
    assert of_accounts(items) == ACCOUNTS
    assert of_hosts(items) == {name: HOSTS[plain] for name, plain in names.items()}
    for path, said in of_containers(items).items():
        name, _, container = path.partition("/")
        assert said == CONTAINERS[f"{names[name]}/{container}"]


def app(item: dict[str, Any]) -> str:
    return str(item["metadata"]["labels"]["app.kubernetes.io/name"])


def test_pods_that_never_ask_the_api_server_get_no_token(manifests):
    without = {
        app(one)
        for one in workloads(manifests("fleet"))
        if one["spec"]["template"]["spec"].get("automountServiceAccountToken") is False
    }

    assert without == {"efa-aws-efa-k8s-device-plugin", "nvdp-nvidia-device-plugin"}


def test_whoever_makes_mps_daemons_has_an_account_of_its_own(manifests):
    """An account that may make Deployments can run anything in the namespace."""
    accounts = of_accounts(manifests("fleet", "gpu-dra-mps"))
    (own,) = accounts.keys() - ACCOUNTS.keys()
    plain = "nvidia/dra-driver-nvidia-gpu-kubelet-plugin"

    assert own.startswith(f"{plain}-")
    assert accounts[own] == [
        "apps: deployments in nvidia: get create delete",
        *ACCOUNTS[plain][:1],
        "core: pods in nvidia: list",
        *ACCOUNTS[plain][1:],
    ]
    assert accounts[plain] == ACCOUNTS[plain]


def test_passthrough_sees_the_whole_host(manifests):
    (host,) = of_hosts(manifests("gpu-dra-passthrough")).values()
    plain = HOSTS["dra-driver-nvidia-gpu-kubelet-plugin"]

    assert sorted(set(host) - set(plain)) == [
        "/ ro HostToContainer",
        "/lib/modules ro HostToContainer",
        "/proc rw Bidirectional",
        "/sys rw Bidirectional",
    ]


def test_namespaces_admit_what_managers_need(manifests):
    spaces = [one for one in manifests("every-manager") if one["kind"] == "Namespace"]

    assert {one["metadata"]["name"] for one in spaces} == {"neuron-dra-driver", "nvidia"}
    for one in spaces:
        assert one["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
