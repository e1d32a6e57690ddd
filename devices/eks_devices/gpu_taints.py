"""What the taints of a group mean for the Pods that use its GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from .feature_gates import gates_source
from .findings import Finding, info, warning
from .labels import taints_of
from .names import GPU_RESOURCE
from .spec import NodegroupSpec
from .taints import TaintEffect
from .vocabulary import DeviceType

_TOLERATIONS = (
    "https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/"
    "#extendedresourcetoleration"
)


def toleration_findings(spec: NodegroupSpec, resource: str, path: str) -> Iterator[Finding]:
    """EKS gives Pods a toleration for the key that is called like what they ask for.

    Args:
        spec: A group with GPUs.
        resource: What Pods ask for instead of whole GPUs.
        path: Names the option that has it so.
    """
    taints = [one for one in taints_of(spec, DeviceType.GPU) if one.key == GPU_RESOURCE]
    if taints:
        yield info(
            "TolerationNotAdded",
            path,
            f"Pods that ask for {resource} get no toleration for the taint {taints[0]}, as those "
            f"that ask for {GPU_RESOURCE} do",
            fix=f"add the toleration {{key: {GPU_RESOURCE}, operator: Exists}} to them",
            source=_TOLERATIONS,
        )


def eviction_findings(spec: NodegroupSpec) -> Iterator[Finding]:
    """The DRA driver puts MPS daemons on their node by name, without tolerations."""
    for taint in taints_of(spec, DeviceType.GPU):
        if taint.effect is TaintEffect.NO_EXECUTE:
            yield warning(
                "MpsDaemonEvicted",
                f"{spec.path}.taints",
                f"the driver's MPS daemons do not tolerate {taint}, so that they are evicted and "
                "Pods which share a GPU by MPS wait for one in vain",
                fix="use the effect NoSchedule, or share otherwise",
                source=gates_source(),
            )
