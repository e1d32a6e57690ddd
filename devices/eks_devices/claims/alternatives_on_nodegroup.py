"""What is worth knowing of a claim's alternatives on the nodes of a group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .._data import read_toml
from ..findings import Finding, info, warning
from ..kubernetes import version_key
from ..plans import NodegroupPlan
from ..vocabulary import Mechanism
from .choices import View, changed, has_more_choices, places_of
from .requests import DeviceRequest
from .syntax import DRA_PAGE
from .templates import DeviceClaim


def as_claim(claim: DeviceClaim, view: View) -> DeviceClaim:
    """A choice as a claim or template like the one that it is of."""
    pairs = zip(view.requests, claim.requests, strict=True)
    if all(one is given for one, given in pairs):
        return claim
    choice: DeviceClaim = changed(
        claim, requests=view.requests, match=view.match, constraints=view.constraints, configs=()
    )
    return choice


def told_once(found: Iterable[Finding]) -> list[Finding]:
    """Of findings that choices have in common, the first."""
    kept: dict[tuple[str, str], Finding] = {}
    for one in found:
        kept.setdefault((one.code, one.path), one)
    return [*kept.values()]


def alternative_findings(
    claim: DeviceClaim, plan: NodegroupPlan, judged: Sequence[tuple[View, list[Finding]]]
) -> Iterator[Finding]:
    """Infos of alternatives that no node of the group serves, and what old schedulers do to some.

    Args:
        claim: A claim that the group serves.
        plan: The plan of the group.
        judged: The choices, each with what keeps the group from serving it.
    """
    served = {place for view, wrong in judged if not wrong for place in view.places}
    for index, request in enumerate(claim.requests):
        for place, one in places_of(request, index) if request.alternatives else ():
            if place not in served and not has_more_choices(claim):
                why = next(wrong[0] for view, wrong in judged if place in view.places)
                yield _never_served(claim, place, one, plan, why)
        yield from _lost(claim, index, request, plan)


def _never_served(
    claim: DeviceClaim, place: str, option: DeviceRequest, plan: NodegroupPlan, why: Finding
) -> Finding:
    device = plan.device_of(option.kind.device_type)
    fix = ""
    if device is None or device.mechanism is not Mechanism.DRA:
        fix = (
            f"see that a group of the cluster brings the DeviceClass {option.kind.device_class}: "
            "without it the scheduler gives up every Pod with the claim"
        )
    return info(
        "AlternativeNeverServed",
        f"{claim.path}.{place}",
        f"nodes of group {plan.name} never serve this alternative: {why.message}",
        fix=fix,
        source=why.source or DRA_PAGE,
    )


def _lost(
    claim: DeviceClaim, index: int, request: DeviceRequest, plan: NodegroupPlan
) -> Iterator[Finding]:
    row = read_toml("kubernetes.toml")["schedulers"]["all_as_alternative"]
    if version_key(plan.kubernetes_version) >= version_key(row["first"]):
        return
    for place, one in [*places_of(request, index)][1:]:
        if one.takes_all:
            yield warning(
                "AllAsAlternative",
                f"{claim.path}.{place}",
                f"schedulers before Kubernetes {row['first']} go on with the first alternative "
                "after one device of this one",
                fix="write the number of devices, or put this alternative first",
                source=row["source"],
            )
