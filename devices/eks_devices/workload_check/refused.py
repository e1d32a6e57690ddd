"""Pods that never run, whatever nodes there are: the API server, or a driver, refuses them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ..feasibility.verdicts import Status, Verdict
from ..findings import Finding, Severity
from .claimed import PodClaim
from .documents import Document, Steps
from .pods import PodTemplate
from .report import Remark

_CLASS: Final = "MalformedDeviceClass"
# Errors of what the API server takes: nodes, or other errors' verdicts, decide on these Pods.
_TAKEN: Final = frozenset(
    (
        *("NoNodegroupServesPod", "NoNodegroupServesClaim", "AttemptFailsOnNodegroup"),
        *("BothMechanisms", "TooManyDevicesInClaim", "ExpressionInvalid", "DistinctNotServed"),
        *("EfaClaimOnHostNetwork", "RetiredResource", "ClaimNameClash", "ConfigRefused"),
        *("ClaimNeedsFeatureGate", "TokenNotAllowed"),
    )
)
# Errors of what the scheduler takes as well, and the driver of the devices refuses on the node.
_NOT_STARTED: Final = ("EfaClaimOnHostNetwork", "ClaimNeedsFeatureGate", "ConfigRefused")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the Pods of a template never come to be: the code of a verdict, and its reason."""

    code: str
    reason: str

    def of(self, verdict: Verdict) -> Verdict:
        """What becomes of a verdict that nothing else is wrong with."""
        if verdict.status in (Status.INFEASIBLE, Status.ERROR):
            return verdict
        return Verdict(
            nodegroup=verdict.nodegroup,
            status=Status.INFEASIBLE,
            code=self.code,
            reason=self.reason,
            fits=0,
        )


def is_refusal(finding: Finding) -> bool:
    """Whether a finding is of something that the API server does not take."""
    return finding.severity is Severity.ERROR and finding.code not in _TAKEN


_OF_CLAIM: Final = Refusal("MalformedClaim", "it has a claim that the API server refuses")
NOT_STARTED: Final = "PodNotStarted"
"""Of Pods that get a node, where a driver then starts none of them."""
_OF_DRIVER: Final = Refusal(NOT_STARTED, "the driver of its devices starts no such Pod")


class Refusals:
    """What is refused, by all that is told.

    Args:
        remarks: What is told.
        classes: The names of the DeviceClasses that are refused.
    """

    def __init__(self, remarks: Iterable[Remark], classes: Collection[str]) -> None:
        told = tuple(remarks)
        wrong = [one for one in told if is_refusal(one.finding)]
        self._steps = _by_document(wrong)
        kept = (one for one in told if one.finding.severity is Severity.ERROR)
        self._not_started = _by_document(one for one in kept if one.finding.code in _NOT_STARTED)
        self._spaces = {one.document.name for one in wrong if one.document.kind == "Namespace"}
        own = (one.document.name for one in wrong if one.document.kind == "DeviceClass")
        self._classes = {*classes, *own}

    def of_pod(
        self, pod: PodTemplate, claims: Sequence[PodClaim], classes: Collection[str]
    ) -> Refusal | None:
        """Why the Pods of a template never come to be; None where nothing is refused.

        Args:
            pod: The template.
            claims: The claims that it names.
            classes: The classes that these name.
        """
        if any(_is_around(steps, pod.steps) for steps in self._of(pod.document)):
            return Refusal("PodRefused", "the API server refuses the Pod")
        if pod.document.namespace in self._spaces:
            return Refusal("NamespaceRefused", "the API server refuses the Pod's namespace")
        documents = [one.document for one in claims if one.document is not None]
        if any(map(self._of, documents)):
            return _OF_CLAIM
        return self.of_classes(classes) or self._of_driver(pod, documents)

    def _of_driver(self, pod: PodTemplate, claims: Sequence[Document]) -> Refusal | None:
        """Why Pods do not start that are scheduled; None where nothing keeps them from it."""
        in_pod = self._not_started.get(id(pod.document), ())
        is_kept = any(_is_around(steps, pod.steps) for steps in in_pod)
        return (
            _OF_DRIVER if is_kept or any(id(one) in self._not_started for one in claims) else None
        )

    def of_claim(self, document: Document, classes: Collection[str]) -> Refusal | None:
        """Why a claim by itself is never served; None where nothing is refused."""
        if self._of(document):
            return _OF_CLAIM
        return self.of_classes(classes)

    def of_classes(self, classes: Iterable[str]) -> Refusal | None:
        """Why claims for classes are never served; None where none of the classes is refused."""
        wrong = next((one for one in sorted(classes) if one in self._classes), None)
        if wrong is None:
            return None
        return Refusal(_CLASS, f"the API server refuses the DeviceClass {wrong}")

    def _of(self, document: Document) -> list[Steps]:
        return self._steps.get(id(document), [])


def _by_document(remarks: Iterable[Remark]) -> dict[int, list[Steps]]:
    """The places of remarks, by the `id` of their documents."""
    found: dict[int, list[Steps]] = {}
    for one in remarks:
        found.setdefault(id(one.document), []).append(one.steps)
    return found


def _is_around(steps: Steps, pod: Steps) -> bool:
    """Whether what is refused is in a Pod, around or beside it; all of a document is not meant."""
    around = steps if steps[: len(pod)] == pod else steps[:-1] or steps
    return bool(steps) and all(one == other for one, other in zip(around, pod, strict=False))


def told_as(refusal: Refusal | None, verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """Verdicts of what a refusal, if there is one, leaves to nobody."""
    return tuple(verdicts) if refusal is None else tuple(map(refusal.of, verdicts))
