"""What EKS refuses of a managed node group, beside what EC2 does of its launch template."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from tests.checker.pair import Pair, as_values, is_opaque, listed, rule, shown, target_id

_API = "https://docs.aws.amazon.com/eks/latest/APIReference"
_USER_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide"
CREATE = f"{_API}/API_CreateNodegroup.html"
TEMPLATES = f"{_USER_GUIDE}/launch-templates.html"
NODEGROUP = (
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-eks-nodegroup.html"
)


def _number(value: object) -> int | None:
    """A literal number; None for what CloudFormation computes, or what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _between(value: object, lowest: int, highest: int) -> bool:
    number = _number(value)
    return number is not None and lowest <= number <= highest


@rule("required-property", NODEGROUP)
def required_property(pair: Pair) -> Iterator[str]:
    for name in ("ClusterName", "NodeRole", "Subnets", "LaunchTemplate"):
        if not pair.group.get(name):
            yield f"a node group without {name}"


@rule("name", CREATE)
def name(pair: Pair) -> Iterator[str]:
    value = pair.group.get("NodegroupName")
    if isinstance(value, str) and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}", value):
        yield f"node group name {value!r}"


@rule("instance-type-once", CREATE)
def instance_type_once(pair: Pair) -> Iterator[str]:
    in_group = listed(pair.group.get("InstanceTypes"))
    if "InstanceType" in pair.data and in_group:
        yield "instance types in the launch template and in the node group"
    if "InstanceType" not in pair.data and not in_group:
        yield "no instance type: EKS would start t3.medium"
    if len(in_group) > 20:
        yield f"{len(in_group)} instance types, above 20"
    if len(set(map(shown, in_group))) != len(in_group):
        yield "an instance type twice"


@rule("instance-type-known", "https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html")
def instance_type_known(pair: Pair) -> Iterator[str]:
    unknown = set(pair.type_names) - {one.name for one in pair.types}
    yield from (f"EC2 has no {name}" for name in sorted(unknown))


@rule("one-architecture", f"{_USER_GUIDE}/managed-node-groups.html")
def one_architecture(pair: Pair) -> Iterator[str]:
    found = {one.architecture for one in pair.types}
    if len(found) > 1:
        yield f"instance types of {' and '.join(sorted(found))} in one group"


# Linux AMI types of the EKS API without AL2's, whose images ended in November 2025.
_AMI_TYPES = {
    "AL2023_x86_64_STANDARD": ("x86_64", "none"),
    "AL2023_ARM_64_STANDARD": ("arm64", "none"),
    "AL2023_x86_64_NEURON": ("x86_64", "neuron"),
    "AL2023_x86_64_NVIDIA": ("x86_64", "nvidia"),
    "AL2023_ARM_64_NVIDIA": ("arm64", "nvidia"),
    "BOTTLEROCKET_x86_64": ("x86_64", "none"),
    "BOTTLEROCKET_ARM_64": ("arm64", "none"),
    "BOTTLEROCKET_x86_64_FIPS": ("x86_64", "none"),
    "BOTTLEROCKET_ARM_64_FIPS": ("arm64", "none"),
    "BOTTLEROCKET_x86_64_NVIDIA": ("x86_64", "nvidia"),
    "BOTTLEROCKET_ARM_64_NVIDIA": ("arm64", "nvidia"),
    "BOTTLEROCKET_x86_64_NVIDIA_FIPS": ("x86_64", "nvidia"),
    "BOTTLEROCKET_ARM_64_NVIDIA_FIPS": ("arm64", "nvidia"),
}


@rule("ami-type", f"{_API}/API_Nodegroup.html")
def ami_type(pair: Pair) -> Iterator[str]:
    if "ImageId" not in pair.data and pair.ami_type not in _AMI_TYPES:
        yield f"AmiType {pair.ami_type or 'and ImageId are both absent'}"


@rule("ami-architecture", f"{_API}/API_Nodegroup.html")
def ami_architecture(pair: Pair) -> Iterator[str]:
    architecture, _ = _AMI_TYPES.get(pair.ami_type, (None, None))
    for one in pair.types:
        if architecture and architecture != one.architecture:
            yield f"{pair.ami_type} on {one.name}, which is {one.architecture}"


@rule("ami-driver", f"{_USER_GUIDE}/ml-eks-optimized-ami.html")
def ami_driver(pair: Pair) -> Iterator[str]:
    """Bottlerocket's plain variants carry Neuron's driver; NVIDIA's has variants of its own."""
    _, driver = _AMI_TYPES.get(pair.ami_type, (None, None))
    plain_for_neuron = pair.ami_type.startswith("BOTTLEROCKET")
    for one in pair.types:
        needed = one.accelerator
        if needed == "neuron" and plain_for_neuron:
            needed = "none"
        if driver and driver != needed:
            yield f"{pair.ami_type} on {one.name}, whose accelerator is {one.accelerator}"


@rule("ami-with-image", TEMPLATES)
def ami_with_image(pair: Pair) -> Iterator[str]:
    for name in ("AmiType", "Version", "ReleaseVersion"):
        if "ImageId" in pair.data and name in pair.group:
            yield f"{name} beside an ImageId in the launch template"


@rule("bottlerocket-gb200", f"{_USER_GUIDE}/device-management-nvidia-dra-device-plugin.html")
def bottlerocket_gb200(pair: Pair) -> Iterator[str]:
    for one in pair.types:
        if one.family.startswith("p6e-gb") and pair.ami_type.startswith("BOTTLEROCKET"):
            yield f"no Bottlerocket variant has a driver for {one.name}"


_RELEASES = {"AL2023": r"(1\.\d+)\.\d+-\d{8}", "BOTTLEROCKET": r"\d+\.\d+\.\d+-[0-9a-f]{8}"}


@rule("release-version", f"{_USER_GUIDE}/eks-linux-ami-versions.html")
def release_version(pair: Pair) -> Iterator[str]:
    value, system = pair.group.get("ReleaseVersion"), pair.ami_type.partition("_")[0]
    if not isinstance(value, str) or system not in _RELEASES:
        return
    found = re.fullmatch(_RELEASES[system], value)
    if found is None:
        yield f"{value!r} is no release of {pair.ami_type}"
    elif found.groups() and found[1] != pair.group.get("Version", found[1]):
        yield f"release {value} on version {pair.group['Version']}"


@rule("cluster-version", CREATE)
def cluster_version(pair: Pair) -> Iterator[str]:
    """EKS takes no other version of a new group than its cluster's."""
    cluster = as_values(pair.resource(pair.group.get("ClusterName")))
    wanted = as_values(cluster.get("Properties")).get("Version")
    if "Version" in pair.group and wanted not in (None, pair.group["Version"]):
        yield f"a group of {pair.group['Version']} in a cluster of {wanted}"


@rule("launch-template-id", f"{_API}/API_LaunchTemplateSpecification.html")
def launch_template_id(pair: Pair) -> Iterator[str]:
    reference = as_values(pair.group.get("LaunchTemplate"))
    if "Name" in reference or "Id" not in reference:
        yield "a launch template is named by its id, and by nothing else"
    else:
        kind = as_values(pair.resource(reference["Id"])).get("Type", "AWS::EC2::LaunchTemplate")
        if kind != "AWS::EC2::LaunchTemplate":
            yield f"the launch template is a {kind}"


@rule("launch-template-version", f"{_USER_GUIDE}/update-managed-node-group.html")
def launch_template_version(pair: Pair) -> Iterator[str]:
    """The default version stays the first one, so a changed template would never reach nodes."""
    reference = as_values(pair.group.get("LaunchTemplate"))
    latest = {"Fn::GetAtt": [target_id(reference.get("Id")), "LatestVersionNumber"]}
    if "Id" in reference and reference.get("Version") != latest:
        yield f"the version is {shown(reference.get('Version'))}, not the template's latest"


@rule("in-launch-template", TEMPLATES)
def in_launch_template(pair: Pair) -> Iterator[str]:
    for name in ("DiskSize", "RemoteAccess"):
        if name in pair.group:
            yield f"{name} beside a launch template"


@rule("force-update", NODEGROUP)
def force_update(pair: Pair) -> Iterator[str]:
    """A forced update ends Pods against their disruption budgets."""
    if pair.group.get("ForceUpdateEnabled", False) is not False:
        yield "ForceUpdateEnabled"


@rule("scaling", f"{_API}/API_NodegroupScalingConfig.html")
def scaling(pair: Pair) -> Iterator[str]:
    config = as_values(pair.group.get("ScalingConfig"))
    for name in ("MinSize", "MaxSize"):
        if name not in config:
            yield f"no {name}"
    sizes = [_number(config.get(name)) for name in ("MinSize", "DesiredSize", "MaxSize")]
    known = [size for size in sizes if size is not None]
    if known != sorted(known) or any(size < 0 for size in known):
        yield f"sizes out of order: {known}"
    if sizes[2] is not None and sizes[2] < 1:
        yield f"a largest size of {sizes[2]}"


@rule("update-config", f"{_API}/API_NodegroupUpdateConfig.html")
def update_config(pair: Pair) -> Iterator[str]:
    if "UpdateConfig" not in pair.group:
        return
    config = as_values(pair.group["UpdateConfig"])
    kinds = [one for one in ("MaxUnavailable", "MaxUnavailablePercentage") if one in config]
    if len(kinds) != 1:
        yield f"an update config with {len(kinds)} of count and percentage"
    for kind in kinds:
        if not is_opaque(config[kind]) and not _between(config[kind], 1, 100):
            yield f"{kind} {config[kind]}"
    if config.get("UpdateStrategy", "DEFAULT") not in ("DEFAULT", "MINIMAL"):
        yield f"UpdateStrategy {config['UpdateStrategy']}"


_MOST = 2**31 - 1
_PER_KIND = (
    ("MaxUnhealthyNodeThresholdCount", "MaxUnhealthyNodeThresholdPercentage"),
    ("MaxParallelNodesRepairedCount", "MaxParallelNodesRepairedPercentage"),
)


@rule("node-repair-kind", f"{_API}/API_NodeRepairConfig.html")
def node_repair_kind(pair: Pair) -> Iterator[str]:
    config = as_values(pair.group.get("NodeRepairConfig"))
    for count, percentage in _PER_KIND:
        if count in config and percentage in config:
            yield f"{count} and {percentage}"


@rule("node-repair-range", f"{_API}/API_NodeRepairConfig.html")
def node_repair_range(pair: Pair) -> Iterator[str]:
    config = as_values(pair.group.get("NodeRepairConfig"))
    for count, percentage in _PER_KIND:
        for name, most in ((count, _MOST), (percentage, 100)):
            if name in config and not _between(config[name], 1, most):
                yield f"{name} {config[name]}"
    if config and not isinstance(config.get("Enabled"), bool):
        yield f"Enabled {config.get('Enabled')}"


_OVERRIDE = ("MinRepairWaitTimeMins", "NodeMonitoringCondition", "NodeUnhealthyReason")


@rule("node-repair-override", f"{_API}/API_NodeRepairConfigOverrides.html")
def node_repair_override(pair: Pair) -> Iterator[str]:
    config = as_values(pair.group.get("NodeRepairConfig"))
    for one in listed(config.get("NodeRepairConfigOverrides")):
        for name in (*_OVERRIDE, "RepairAction"):
            if one.get(name) in (None, ""):
                yield f"an override without {name}"
        if one.get("RepairAction", "NoAction") not in ("Replace", "Reboot", "NoAction"):
            yield f"RepairAction {one['RepairAction']}"
        minutes = one.get("MinRepairWaitTimeMins")
        if minutes is not None and not _between(minutes, 1, _MOST):
            yield f"MinRepairWaitTimeMins {minutes}"


_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?")
_KEY = re.compile(rf"([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?{_VALUE.pattern}")


@rule("label-key", f"{_API}/API_CreateNodegroup.html")
def label_key(pair: Pair) -> Iterator[str]:
    for key in as_values(pair.group.get("Labels")):
        if len(key) > 63 or not _KEY.fullmatch(key):
            yield f"label key {key!r}"


@rule("label-value", "https://github.com/aws-controllers-k8s/community/issues/2208")
def label_value(pair: Pair) -> Iterator[str]:
    """Kubernetes has empty values, and EKS takes none."""
    for key, value in as_values(pair.group.get("Labels")).items():
        if not is_opaque(value) and (len(str(value)) > 63 or not _VALUE.fullmatch(str(value))):
            yield f"label {key} with value {value!r}"


_KUBELETS_OWN = {
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
}


@rule("label-prefix", "https://github.com/kubernetes/cloud-provider-aws/issues/242")
def label_prefix(pair: Pair) -> Iterator[str]:
    """The kubelet takes few labels of Kubernetes' own, and EKS none of its own."""
    for key in as_values(pair.group.get("Labels")):
        prefix = f".{key.partition('/')[0]}" if "/" in key else ""
        allowed = (".kubelet.kubernetes.io", ".node.kubernetes.io")
        if prefix.endswith(".eks.amazonaws.com"):
            yield f"label {key} of EKS's own"
        elif prefix.endswith(allowed) or key in _KUBELETS_OWN:
            continue
        elif prefix.endswith((".kubernetes.io", ".k8s.io")):
            yield f"label {key} of Kubernetes' own"


@rule("taint-count", f"{_USER_GUIDE}/node-taints-managed-node-groups.html")
def taint_count(pair: Pair) -> Iterator[str]:
    count = len(listed(pair.group.get("Taints")))
    if count > 50:
        yield f"{count} taints, above 50"


@rule("taint-effect", f"{_API}/API_Taint.html")
def taint_effect(pair: Pair) -> Iterator[str]:
    for taint in listed(pair.group.get("Taints")):
        if taint.get("Effect") not in ("NO_SCHEDULE", "NO_EXECUTE", "PREFER_NO_SCHEDULE"):
            yield f"taint effect {taint.get('Effect')}"


@rule("taint-key", f"{_API}/API_Taint.html")
def taint_key(pair: Pair) -> Iterator[str]:
    found = listed(pair.group.get("Taints"))
    for taint in found:
        key, value = str(taint.get("Key", "")), taint.get("Value", "")
        if len(key) > 63 or not _KEY.fullmatch(key):
            yield f"taint key {key!r}"
        if value and not is_opaque(value) and not (len(value) <= 63 and _VALUE.fullmatch(value)):
            yield f"taint value {value!r}"
    for (key, effect), count in Counter(
        (one.get("Key"), one.get("Effect")) for one in found
    ).items():
        if count > 1:
            yield f"taint {key} with effect {effect}, {count} times"
