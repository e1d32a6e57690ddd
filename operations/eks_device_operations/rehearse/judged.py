"""What the library's own check says of Pods, beside what the scheduler does with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eks_devices import ClusterPlan, EksDevicesError
from eks_devices.feasibility import Verdict
from eks_devices.workload_check import Document, check_workloads

from .files import Item, Object

Verdicts = tuple[tuple[Verdict, ...], ...]
"""For each template of Pods that ask for devices, the verdict on each group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the check says.

    Attributes:
        verdicts: Of each object with Pods that ask for devices, by its place among the items.
        silence: Why it says nothing, where it cannot; empty otherwise.
    """

    verdicts: Mapping[int, Verdicts] = field(default_factory=dict)
    silence: str = ""


def judged(
    plan: ClusterPlan,
    items: Sequence[Item],
    claims: Sequence[Object],
    namespace: str,
    nodegroup_names: Mapping[str, str],
) -> Judgement:
    """What the library's check says of the Pods of objects, if its engine is installed.

    Args:
        plan: The plan of the cluster.
        items: All objects of files, claims and DeviceClasses among them.
        claims: The manifests of the claims of the plan.
        namespace: Where objects are that name no namespace.
        nodegroup_names: The names of groups in EKS, by their names in the plan.
    """
    documents = [Document(origin=str(at), content=one.content) for at, one in enumerate(items)]
    try:
        report = check_workloads(
            documents,
            plan,
            planned_claims=claims,
            namespace=namespace,
            nodegroup_names=nodegroup_names,
        )
    except EksDevicesError as error:
        return Judgement(silence="; ".join(one.message for one in error.faults))
    found: dict[int, list[tuple[Verdict, ...]]] = defaultdict(list)
    for one in report.pods:
        found[int(one.pod.document.origin)].append(one.verdicts)
    return Judgement(verdicts={at: tuple(those) for at, those in found.items()})
