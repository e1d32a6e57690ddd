"""Where the partitions that a group asks for cannot be, by its mechanism, system and cluster."""

from __future__ import annotations

from collections.abc import Iterator

from ._data import read_toml
from .feature_gates import gates_source
from .findings import Finding, Severity, fault, warning
from .gpu_taints import toleration_findings
from .instance_types import AcceleratedInstanceType
from .kubernetes import floors
from .mechanisms import Choice, feature_findings
from .mig import MIG_GUIDE, Mig, MigStrategy, mig_bottlerocket_faults, mig_hardware_faults
from .names import mig_resource
from .published import mig_model, published
from .sharing import GpuSharing
from .spec import NodegroupSpec
from .vocabulary import Feature, Mechanism, OperatingSystem


def mig_type_faults(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """Faults of partitions that the GPUs of a type cannot be cut into, or that are shared."""
    if spec.mig is None:
        return
    # Why a GPU of an UltraServer is never cut is told with its mechanism.
    if not instance.nvlink_domain:
        yield from mig_hardware_faults(spec.mig, instance, f"{spec.path}.mig")
    if spec.gpu_sharing is not None:
        yield _shared(spec.gpu_sharing, f"{spec.path}.gpu_sharing")


def _shared(sharing: GpuSharing, path: str) -> Finding:
    return fault(
        "SharingOfPartitions",
        path,
        "a MIG partition is for one Pod at a time: MPS refuses partitions, and slices of one "
        "would be neither isolated nor told apart from those of others",
        got=str(sharing.feature),
        allowed="gpu_sharing or mig",
        fix="use smaller partitions, or share whole GPUs",
        source=MIG_GUIDE,
    )


def mig_findings(
    spec: NodegroupSpec, instance: AcceleratedInstanceType, version: str, choice: Choice
) -> Iterator[Finding]:
    """Faults and warnings of a group's partitions under the mechanism of its GPUs."""
    mig, path = spec.mig, f"{spec.path}.mig"
    if mig is None:
        return
    by_plugin = choice.mechanism is Mechanism.DEVICE_PLUGIN
    found = list(_support_findings(spec, mig, instance, version, choice))
    if mig.is_dynamic and by_plugin:
        # Where DRA could not cut either, that is the reason to name.
        refused = [one for one in found if one.severity is Severity.ERROR]
        yield from refused or [_needs_dra(choice, path)]
        return
    yield from found
    if mig.is_dynamic:
        yield from _dynamic_findings(instance, version, path)
    elif spec.operating_system is OperatingSystem.BOTTLEROCKET and not instance.nvlink_domain:
        yield from mig_bottlerocket_faults(mig, instance, path)
    if by_plugin and mig.strategy is MigStrategy.MIXED:
        yield from toleration_findings(spec, mig_resource(mig.profiles[0]), f"{path}.strategy")


def _support_findings(
    spec: NodegroupSpec, mig: Mig, instance: AcceleratedInstanceType, version: str, choice: Choice
) -> Iterator[Finding]:
    """What is known of such partitions here; only DRA cuts on request."""
    yield from feature_findings(
        spec,
        Mechanism.DRA if mig.is_dynamic else choice.mechanism,
        Feature.DYNAMIC_MIG if mig.is_dynamic else Feature.STATIC_MIG,
        "mig",
        got=_words(mig),
        family=instance.family,
        version=version,
    )


def _words(mig: Mig) -> str:
    return "partitions on request" if mig.is_dynamic else " ".join(mig.profiles)


def _needs_dra(choice: Choice, path: str) -> Finding:
    return fault(
        "OptionOfOtherMechanism",
        path,
        f"only the DRA driver cuts on request, and a device plugin serves the GPUs: "
        f"{choice.reason}",
        got="Mig.dynamic()",
        allowed="Mig.uniform(...) or Mig.layout(...) with the device plugin",
        fix="name mechanism=Mechanism.DRA, or say how each GPU is cut",
    )


def _dynamic_findings(
    instance: AcceleratedInstanceType, version: str, path: str
) -> Iterator[Finding]:
    model = published()["gpuModels"].get(mig_model(instance.name), {})
    if model.get("architecture") in read_toml("mig_nodes.toml")["mode"]["needs_reset"]:
        yield fault(
            "DynamicMigNeedsHopper",
            path,
            "the driver cannot enable MIG mode on these GPUs while it runs, so that it publishes "
            "whole GPUs only and claims for partitions wait in vain",
            got=instance.name,
            allowed="GPUs from Hopper on",
            fix="use Mig.uniform(...) or Mig.layout(...), or a newer type",
            source=gates_source(),
        )
    floor = floors()["dynamic-mig-control-plane"]
    patch = floor.patches.get(version, 0)
    if patch:
        yield warning(
            "ControlPlanePatchFloor",
            path,
            f"{floor.needed_for} need a control plane of {version}.{patch} or later: {floor.why}",
            fix="look at the patch of the cluster with `kubectl version` before nodes join",
            source=floor.source,
        )
