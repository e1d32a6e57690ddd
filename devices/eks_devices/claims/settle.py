"""Settles the counts of a claim for a cluster and an instance type, or says why it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ..findings import Finding, fault, raise_faults, shown
from ..instance_types import AcceleratedInstanceType, lookup
from ..kubernetes import dra_faults, find_minor, minors, newest_minor
from .alignment import claims_per_root, efa_count_needed, open_efas, placement_faults
from .all_devices import all_devices, all_faults
from .asked import Asked, asks_for, group_size, open_path
from .choices import AllOf, View, choice_faults, one_of, parts, places_of
from .differing import differing_faults
from .hardware import hardware_faults
from .kinds import WHOLE_GPUS, RequestKind
from .partitions import partition_faults
from .requests import DeviceRequest
from .served import support_faults
from .shape import contradictions
from .syntax import DRA_PAGE, MOST_DEVICES
from .version_gates import gate_faults

Counts = tuple[tuple[int | None, ...], ...]
"""The devices of each request, of a list for each alternative; None for all that match."""


def settled_counts(
    asked: Asked,
    *,
    kubernetes_version: object,
    instance_type: object,
    all_of: AllOf | None = None,
) -> Counts:
    """The number of devices of each request, of lists for each alternative.

    Args:
        asked: The claim.
        kubernetes_version: The minor of the cluster.
        instance_type: Type of the nodes; None where they may be of any.
        all_of: How many devices requests for all get; by default those of the type.

    Raises:
        EksDevicesError: With every fault of the claim on this cluster and type.
    """
    known = _known_version(kubernetes_version)
    instance = None
    faults = list(version_faults(kubernetes_version, f"{asked.path}.kubernetes_version"))
    if instance_type is not None:
        found = lookup(instance_type, f"{asked.path}.instance_type")
        instance = None if isinstance(found, Finding) else found
        faults += [found] if isinstance(found, Finding) else []
    judge = _Judge(asked, instance, known, needs_type=instance_type is None)
    if under_constraint := [*all_faults(asked, instance)]:
        faults += under_constraint
    else:
        judge.look(all_of or (one_of if instance is None else partial(all_devices, instance)))
    raise_faults([*faults, *judge.faults, *gate_faults(asked, known)])
    return judge.counts()


class _Judge:
    """Looks at each choice of a claim on a type, and remembers what open counts come to."""

    def __init__(
        self,
        asked: Asked,
        instance: AcceleratedInstanceType | None,
        version: str,
        *,
        needs_type: bool,
    ) -> None:
        self._asked = asked
        self._instance = instance
        self._version = version
        self._needs_type = needs_type
        self._efas: dict[str, set[int]] = {}
        self.faults: list[Finding] = []

    def look(self, all_of: AllOf) -> None:
        """Look at the choices; what none of them is free of are faults."""
        self.faults = choice_faults(self._asked, self._faults, all_of, every=bool(self._open()))
        self.faults += [] if self.faults else self._left_open()

    def counts(self) -> Counts:
        """The numbers, where there are no faults."""
        return tuple(
            tuple(self._count(place, option) for place, option in places_of(request, index))
            for index, request in enumerate(self._asked.requests)
        )

    def _count(self, place: str, option: DeviceRequest) -> int | None:
        return min(self._efas[place]) if option.is_open else option.count

    def _faults(self, view: View) -> list[Finding]:
        efas, faults = self._on_type(view)
        devices = sum(efas if one.is_open else one.count or 0 for one in view.requests)
        name = None if self._instance is None else self._instance.name
        faults = [*faults, *_size_faults(view, devices, name)]
        for place, one in zip(view.places, view.requests, strict=True):
            if one.is_open and not faults:
                self._efas.setdefault(place, set()).add(efas)
        return faults

    def _on_type(self, view: View) -> tuple[int, list[Finding]]:
        """The EFAs that an open count stands for (0 when it cannot be filled), and the faults."""
        instance = self._instance
        if instance is None:
            return 0, list(_type_needed(view)) if self._needs_type else []
        faults = [
            *contradictions(view),
            *hardware_faults(view, instance),
            *partition_faults(view, instance),
            *support_faults(view, instance, self._version),
            *differing_faults(view, instance),
        ]
        faults += [
            part.placed(one) for part in parts(view) for one in placement_faults(part, instance)
        ]
        if faults or not open_path(view):
            return 0, faults
        efas = open_efas(view, instance)
        return (0, [efas]) if isinstance(efas, Finding) else (efas, [])

    def _open(self) -> list[str]:
        pairs = (
            pair for index, one in enumerate(self._asked.requests) for pair in places_of(one, index)
        )
        return [place for place, option in pairs if option.is_open]

    def _left_open(self) -> Iterator[Finding]:
        """Faults of open counts that no choice fills, or each in another way."""
        for place in self._open():
            numbers, path = sorted(self._efas.get(place, ())), f"{self._asked.path}.{place}.count"
            if self._needs_type:
                yield _open_without_type(path)
            elif len(numbers) != 1:
                either = " or ".join(map(str, numbers))
                depends = f"it depends on the alternatives whether it is {either}"
                message = depends if numbers else "no node of the type serves it"
                yield efa_count_needed(path, message)


def version_faults(kubernetes_version: object, path: str) -> Iterator[Finding]:
    """The fault of a version that is not known, or does not serve `resource.k8s.io/v1`."""
    served = (version for version, minor in minors().items() if minor.serves_dra)
    allowed = f"a string, one of {', '.join(served)}"
    found = find_minor(kubernetes_version, path)
    if isinstance(found, Finding):
        yield replace(found, allowed=allowed)
    else:
        yield from dra_faults(found, path, allowed=allowed)


def _known_version(kubernetes_version: object) -> str:
    """The version to ask the support rules about; one with a fault of its own is left to it."""
    found = find_minor(kubernetes_version, "")
    return newest_minor() if isinstance(found, Finding) or not found.serves_dra else found.version


def _type_needed(asked: Asked) -> Iterator[Finding]:
    if open_path(asked):
        yield _open_without_type(open_path(asked))
    for part in parts(asked):
        if group_size(part) is not None:
            message = "only some types publish device groups, and no instance type was given"
            yield _no_type(f"{asked.path}.{part.match_place}", message, "")


def _open_without_type(path: str) -> Finding:
    """The fault of an open EFA count for nodes of any type."""
    message = "an open EFA count is filled from the instance type, and none was given"
    return _no_type(path, message, ", or write the EFA count")


def _no_type(path: str, message: str, other_way: str) -> Finding:
    return fault(
        "InstanceTypeNeeded",
        path,
        message,
        got="no instance type",
        allowed="the name of an EC2 instance type",
        fix=f'pass instance_type="...", or let a node group pass its own{other_way}',
        source=DRA_PAGE,
    )


def _size_faults(asked: Asked, devices: int, instance_type: object) -> Iterator[Finding]:
    if devices > MOST_DEVICES:
        yield fault(
            "ClaimTooLarge",
            f"{asked.path}.requests",
            "the scheduler never allocates a claim for so many devices",
            got=f"{shown(devices)} devices",
            allowed=f"at most {MOST_DEVICES} devices in a claim",
            fix=_split(asked, instance_type),
            source=DRA_PAGE,
        )


def _split(asked: Asked, instance_type: object) -> str:
    fix = "split the request into two claims of one Pod"
    if not asks_for(asked, *WHOLE_GPUS) or not asks_for(asked, RequestKind.EFA):
        return fix
    fix = "use two claims in one Pod, one for the GPUs and one for the EFAs"
    per_root = claims_per_root(instance_type) if isinstance(instance_type, str) else ""
    return f"{fix}, or {per_root} with MatchAttribute.PCIE_ROOT" if per_root else fix
