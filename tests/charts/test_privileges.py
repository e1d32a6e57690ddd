"""Everything that the managers may do to nodes and cluster, as one list that a review can read."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest

from eks_device_charts import device_manifests
from eks_devices import (
    ClaimWebhook,
    ClusterPlan,
    DeviceIdStrategy,
    DeviceListStrategy,
    DeviceType,
    GpuDriver,
    GpuPlugin,
    Mig,
    MigStrategy,
    NvidiaInstallation,
    OperatingSystem,
    plan_cluster,
)
from eks_devices.feature_gates import GPU_COMPONENT, feature_gates
from eks_devices.kubernetes import gate_is_on

from .conftest import DRA, GPU, IMAGES, MPS, PLUGIN, SLICED, VERSIONS, spec


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
        key = (item["roleRef"]["kind"], space, item["roleRef"]["name"])
        name = f"{subject['namespace']}/{subject['name']}"
        said = [ruled(one, space) for one in rules[key]] if key in rules else [f"role {key[2]}"]
        found.setdefault(name, []).extend(said)
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


def test_managers_of_efa_run_as_root_where_nothing_forbids_it(manifests):
    """EKS's own namespace takes every Pod; an image that names no user must not be refused."""
    items = manifests("every-manager")
    found = [
        (item["metadata"]["namespace"], one["securityContext"], item["spec"]["template"]["spec"])
        for item in workloads(items)
        for one in containers(item)
        if app(item) in ("aws-dranet", "efa-aws-efa-k8s-device-plugin")
    ]

    assert len(found) == 2
    for namespace, context, pod in found:
        assert namespace == "kube-system"
        assert context["runAsUser"] == 0
        assert not context.get("runAsNonRoot")
        assert not pod.get("securityContext", {}).get("runAsNonRoot")


def test_pods_that_never_ask_the_api_server_get_no_token(manifests):
    without = {
        app(one)
        for one in workloads(manifests("fleet"))
        if one["spec"]["template"]["spec"].get("automountServiceAccountToken") is False
    }

    assert without == {"efa-aws-efa-k8s-device-plugin", "nvdp-nvidia-device-plugin"}


def test_what_options_add_asks_the_api_server_for_nothing():
    with_token = {
        app(one)
        for one in workloads(device_manifests(with_options(), images=IMAGES))
        if one["spec"]["template"]["spec"].get("automountServiceAccountToken") is not False
    }

    assert with_token == {
        "dra-driver-nvidia-gpu-compute-domain-plugin",
        "dra-driver-nvidia-gpu-controller",
        "dra-driver-nvidia-gpu-kubelet-plugin",
    }


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


def test_namespaces_admit_what_managers_need(manifests):
    spaces = [one for one in manifests("every-manager") if one["kind"] == "Namespace"]

    assert {one["metadata"]["name"] for one in spaces} == {"neuron-dra-driver", "nvidia"}
    for one in spaces:
        assert one["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"


SCHEDULERS = {
    "kube-system/k8s-neuron-scheduler": [
        "core: bindings, pods/binding: create",
        "core: events: create patch",
        "core: nodes/status: get patch update",
        "core: nodes: get list watch",
        "core: pods: get list watch patch update",
    ],
    "kube-system/neuron-scheduler": [
        "coordination.k8s.io: leases named neuron-scheduler in kube-system: get update",
        "role extension-apiserver-authentication-reader",
        "role system:kube-scheduler",
        "role system:volume-scheduler",
    ],
}


def test_what_the_scheduler_extension_adds(manifests):
    plain, extended = manifests("neuron-device-plugin"), manifests("neuron-scheduler")
    scheduler = "neuron-scheduler/kube-scheduler"
    extension = "k8s-neuron-scheduler/neuron-scheduler-extension"

    assert of_accounts(extended) == of_accounts(plain) | SCHEDULERS
    assert of_hosts(extended) == of_hosts(plain) | {
        "k8s-neuron-scheduler": [],
        "neuron-scheduler": [],
    }
    assert of_containers(extended) == of_containers(plain) | {
        scheduler: OPTION_CONTAINERS["dra-driver-nvidia-gpu-webhook/webhook"],
        extension: sorted(["RuntimeDefault", *NOTHING_MORE]),
    }


OPERATOR_RULES = [
    "coordination.k8s.io: leases in neuron-dra-driver: get list watch create update patch delete",
    "core: events: create patch",
    "core: nodes, pods: get list watch",
    # Strategies for failures move Pods, which are in the namespaces of users.
    "core: pods/eviction: create",
    (
        "neuron.aws.com: neuronultraservers, neuronultraserverworkloads: "
        "get list watch create update patch delete"
    ),
    (
        "neuron.aws.com: neuronultraservers/status, neuronultraserverworkloads/status: "
        "get update patch"
    ),
    "neuron.aws.com: neuronultraserverworkloads/finalizers: update",
    "resource.k8s.io: resourceclaimtemplates: get list watch create update patch delete",
    "resource.k8s.io: resourceslices: get list watch",
]


def test_what_the_ultraserver_operator_adds(manifests):
    plain, operated = manifests("neuron-dra"), manifests("neuron-ultraservers")
    driver, operator = (
        f"neuron-dra-driver/{one}"
        for one in ("neuron-dra-driver-sa", "neuron-ultraserver-operator")
    )
    watched = "neuron.aws.com: neuronultraservers: get list watch"

    assert of_accounts(operated) == of_accounts(plain) | {
        driver: sorted([*ACCOUNTS[driver], watched]),
        operator: OPERATOR_RULES,
    }
    assert of_hosts(operated) == of_hosts(plain) | {"neuron-ultraserver-operator": []}
    assert of_containers(operated) == of_containers(plain) | {
        "neuron-ultraserver-operator/neuron-ultraserver-operator": [
            "RuntimeDefault",
            "allowPrivilegeEscalation=False",
            "drop ALL",
            "readOnlyRootFilesystem=True",
            "runAsNonRoot=True",
        ],
    }


def test_upstream_s_dranet_gets_no_more_of_a_node_than_the_eks_build(manifests):
    eks, upstream = manifests("efa-dra"), manifests("efa-dra-upstream")
    (account,) = of_accounts(eks)

    assert of_containers(upstream) == of_containers(eks)
    assert of_hosts(upstream) == of_hosts(eks)
    assert of_accounts(upstream) == {
        account: sorted([*ACCOUNTS[account], "core: events: create patch update"])
    }


# What options of NVIDIA's managers change of the tables above: by the group that has the option.


def driver(name: str, **options: Any) -> Any:
    return spec(name, "g6e.xlarge", gpu_driver=GpuDriver(**options))


def plugin(name: str, **options: Any) -> Any:
    return spec(name, "g6e.xlarge", gpu_plugin=GpuPlugin(**options))


def gated(name: str, *gates: str, instance_type: str = "g6e.xlarge", **options: Any) -> Any:
    on = GpuDriver(feature_gates=dict.fromkeys(gates, True), **options)
    return spec(name, instance_type, gpu_driver=on)


def cut(name: str, mig: Mig, **options: Any) -> Any:
    return spec(name, "p5.48xlarge", efa=False, mig=mig, **options)


UNIFORM = Mig.uniform("1g.10gb")
BY_PROFILE = Mig.uniform("1g.10gb", strategy=MigStrategy.MIXED)
OPTIONS = [
    gated("fabric", "FabricManagerPartitioning"),
    gated("health", "NVMLDeviceHealthCheck", ignored_xids=[31]),
    gated("mps-by-claim", "MPSSupport"),
    gated("slices-by-claim", "TimeSlicingSettings"),
    gated("passthrough", "PassthroughSupport", "DeviceMetadata", instance_type="g4dn.metal"),
    driver("shares", consumable_shares="unlimited"),
    spec(
        "host-service",
        "g6e.xlarge",
        operating_system=OperatingSystem.BOTTLEROCKET,
        mechanism=DRA,
        gpu_driver=GpuDriver(host_service=True),
    ),
    MPS,
    SLICED,
    plugin("cdi-annotations", device_list_strategy=DeviceListStrategy.CDI_ANNOTATIONS),
    plugin("cdi", device_list_strategy=DeviceListStrategy.CDI_CRI),
    plugin("variables", device_list_strategy=DeviceListStrategy.ENVVAR),
    plugin("volumes", device_list_strategy=DeviceListStrategy.VOLUME_MOUNTS),
    plugin("index", device_id_strategy=DeviceIdStrategy.INDEX),
    plugin("direct", gdrcopy=True, gds=True),
    plugin("labels", feature_discovery=True),
    plugin(
        "labels-volumes",
        feature_discovery=True,
        device_list_strategy=DeviceListStrategy.VOLUME_MOUNTS,
    ),
    plugin("pinned", pass_device_specs=True),
    plugin("unwatched", health_checks=False),
    plugin("xids", ignored_xids=[31]),
    cut("single", UNIFORM, mechanism=PLUGIN),
    cut("mixed", BY_PROFILE, mechanism=PLUGIN),
    cut("labels-single", UNIFORM, gpu_plugin=GpuPlugin(feature_discovery=True)),
    cut("pinned-single", UNIFORM, gpu_plugin=GpuPlugin(pass_device_specs=True)),
    # Under DRA partitions add nothing, whoever cuts: the driver has the whole node as it is.
    cut("found", UNIFORM, mechanism=DRA),
    cut("on-request", Mig.dynamic(), mechanism=DRA),
]
INSTALLATION = NvidiaInstallation(
    claim_webhook=ClaimWebhook.cert_manager(),
    compute_domain_gates={"CrashOnNVLinkFabricErrors": False},
    extended_resource=False,
    network_policies=True,
    nodes_per_imex_domain=9,
)
FOR_MIG_OR_VOLUMES = ["add SYS_ADMIN", "drop ALL"]
OPTION_CONTAINERS = {
    "dra-driver-nvidia-gpu-webhook/webhook": [
        "RuntimeDefault",
        "allowPrivilegeEscalation=False",
        "drop ALL",
        "readOnlyRootFilesystem=True",
        "runAsNonRoot=True",
        "runAsUser=65532",
    ],
    "labels: nvdp-nvidia-device-plugin-gpu-feature-discovery/gpu-feature-discovery-ctr": (
        NOTHING_MORE
    ),
    "labels-single: nvdp-nvidia-device-plugin-gpu-feature-discovery/gpu-feature-discovery-ctr": (
        FOR_MIG_OR_VOLUMES
    ),
    "labels-single: nvdp-nvidia-device-plugin/nvidia-device-plugin-ctr": FOR_MIG_OR_VOLUMES,
    "labels-volumes: nvdp-nvidia-device-plugin-gpu-feature-discovery/gpu-feature-discovery-ctr": (
        FOR_MIG_OR_VOLUMES
    ),
    "labels-volumes: nvdp-nvidia-device-plugin/nvidia-device-plugin-ctr": FOR_MIG_OR_VOLUMES,
    "mixed: nvdp-nvidia-device-plugin/nvidia-device-plugin-ctr": FOR_MIG_OR_VOLUMES,
    "mps: nvdp-nvidia-device-plugin-mps-control-daemon/mps-control-daemon-ctr": ROOT_ON_THE_NODE,
    "mps: nvdp-nvidia-device-plugin-mps-control-daemon/mps-control-daemon-mounts": (
        ROOT_ON_THE_NODE
    ),
    "mps: nvdp-nvidia-device-plugin/wait-for-mps-control-daemon": NOTHING_MORE,
    "pinned: nvdp-nvidia-device-plugin/nvidia-device-plugin-ctr": ROOT_ON_THE_NODE,
    "pinned-single: nvdp-nvidia-device-plugin/nvidia-device-plugin-ctr": ROOT_ON_THE_NODE,
    "single: nvdp-nvidia-device-plugin/nvidia-device-plugin-ctr": FOR_MIG_OR_VOLUMES,
    "volumes: nvdp-nvidia-device-plugin/nvidia-device-plugin-ctr": FOR_MIG_OR_VOLUMES,
}
WRITES_CDI = ["/ ro", "/var/lib/kubelet/device-plugins rw", "/var/run/cdi rw"]
WRITES_FEATURES = ["/etc/kubernetes/node-feature-discovery/features.d rw"]
OPTION_HOSTS = {
    "cdi-annotations: nvdp-nvidia-device-plugin": WRITES_CDI,
    "cdi: nvdp-nvidia-device-plugin": WRITES_CDI,
    "dra-driver-nvidia-gpu-webhook": [],
    "fabric: dra-driver-nvidia-gpu-kubelet-plugin": [
        "/ ro",
        "/ ro HostToContainer",
        "/ rw HostToContainer",
        "/var/lib/kubelet/plugins rw Bidirectional",
        "/var/lib/kubelet/plugins_registry rw",
        "/var/run/cdi rw",
    ],
    "labels-volumes: nvdp-nvidia-device-plugin-gpu-feature-discovery": WRITES_FEATURES,
    "labels-single: nvdp-nvidia-device-plugin-gpu-feature-discovery": WRITES_FEATURES,
    "labels: nvdp-nvidia-device-plugin-gpu-feature-discovery": WRITES_FEATURES,
    "mps: nvdp-nvidia-device-plugin": [
        "/run/nvidia/mps ro",
        "/run/nvidia/mps rw",
        "/run/nvidia/mps/shm rw",
        "/var/lib/kubelet/device-plugins rw",
    ],
    "mps: nvdp-nvidia-device-plugin-mps-control-daemon": [
        "/run/nvidia/mps rw",
        "/run/nvidia/mps rw Bidirectional",
        "/run/nvidia/mps/shm rw",
        "hostPID",
    ],
    "passthrough: dra-driver-nvidia-gpu-kubelet-plugin": [
        "/ ro",
        "/ ro HostToContainer",
        "/ rw HostToContainer",
        "/lib/modules ro HostToContainer",
        "/proc rw Bidirectional",
        "/sys rw Bidirectional",
        "/var/lib/kubelet/plugins rw Bidirectional",
        "/var/lib/kubelet/plugins_registry rw",
        "/var/run/cdi rw",
    ],
}
OPTION_ACCOUNTS = {
    # The account of the webhook, and the namespace's own for MPS daemons by claim, have no role.
    "mps-by-claim: nvidia/dra-driver-nvidia-gpu-kubelet-plugin": [
        "apps: deployments in nvidia: get create delete",
        "core: nodes: get",
        "core: pods in nvidia: list",
        "resource.k8s.io: resourceclaims: get",
        "resource.k8s.io: resourceslices: get list watch create update delete",
    ],
}


def with_options() -> ClusterPlan:
    """Every manager of NVIDIA's with every option."""
    return plan_cluster(
        kubernetes_version=VERSIONS[-1],
        nodegroups=OPTIONS,
        keep={GPU: (DRA, PLUGIN), DeviceType.COMPUTE_DOMAIN: (DRA,)},
        nvidia=INSTALLATION,
    )


@pytest.mark.parametrize(
    ("tell", "plain", "changed"),
    [
        (of_containers, CONTAINERS, OPTION_CONTAINERS),
        (of_hosts, HOSTS, OPTION_HOSTS),
        (of_accounts, ACCOUNTS, OPTION_ACCOUNTS),
    ],
    ids=["containers", "hosts", "accounts"],
)
def test_what_options_change(tell, plain, changed):
    plan = with_options()
    groups = {
        one.owner.rpartition("-")[2]: one.nodegroups[0] for one in plan.drivers if one.nodegroups
    }
    found = {}
    for path, said in tell(device_manifests(plan, images=IMAGES)).items():
        owner = re.search(r"-([0-9a-f]{8})(?=/|$)", path)
        name = path.replace(owner[0], "") if owner else path
        if plain.get(name) != said:
            found[f"{groups[owner[1]]}: {name}" if owner else name] = said

    assert found == changed


@pytest.mark.parametrize(
    ("values", "plain"),
    [
        ([one.gpu_driver for one in OPTIONS], GpuDriver()),
        ([one.gpu_plugin for one in OPTIONS], GpuPlugin()),
        ([INSTALLATION], NvidiaInstallation()),
    ],
    ids=["driver", "plugin", "installation"],
)
def test_no_option_is_left_out(values, plain):
    given = [one for one in values if one is not None]
    changed = {
        field.name
        for field in dataclasses.fields(plain)
        for one in given
        if getattr(one, field.name) != getattr(plain, field.name)
    }

    assert changed == {field.name for field in dataclasses.fields(plain)}


def test_no_gate_and_no_strategy_is_left_out():
    drivers = [one.gpu_driver for one in OPTIONS if one.gpu_driver]
    plugins = [one.gpu_plugin for one in OPTIONS if one.gpu_plugin]
    served = {
        name
        for name, gate in feature_gates().items()
        if gate.component == GPU_COMPONENT and not gate.option
        if not gate.kubernetes_gate or gate_is_on(gate.kubernetes_gate, VERSIONS[-1])
    }

    assert {name for one in drivers for name in one.feature_gates} == served
    assert {one.device_list_strategy for one in plugins} == {None, *DeviceListStrategy}
    assert {one.mig.strategy for one in OPTIONS if one.mig} == {None, *MigStrategy}
