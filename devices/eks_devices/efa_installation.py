"""What a cluster's installation of the EFA managers has once, whatever its node groups are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .findings import raise_faults
from .typecheck import member

_BUILD = "build"


class DranetBuild(StrEnum):
    """Who builds the DRA driver of EFA devices, which differ in release, rights and claims."""

    EKS = "eks"
    """The build of AWS, made of DRANET 1.2.0 and served by each Region's registry."""
    UPSTREAM = "upstream"
    """The Kubernetes project's own, which writes events and takes no claim of several Pods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EfaInstallation:
    """Options of the EFA managers that a cluster has once.

    Args:
        build: Which build of DRANET hands EFA devices out by DRA; that of EKS unless named.
            Another one updates the DaemonSets in place, under the same names.

    Raises:
        EksDevicesError: With every fault of the values.

    Source: https://github.com/kubernetes-sigs/dranet
    """

    build: DranetBuild = DranetBuild.EKS

    def __post_init__(self) -> None:
        """Raise EksDevicesError with every fault."""
        raise_faults(member(self.build, DranetBuild, f"efa.{_BUILD}"))

    def dra_settings(self) -> Iterator[tuple[str, str]]:
        """What the DRA driver is drawn by beyond its defaults."""
        if self.build is not DranetBuild.EKS:
            yield _BUILD, str(self.build)

    def to_dict(self) -> dict[str, Any]:
        """The options as plain JSON values."""
        return {_BUILD: str(self.build)}


def build_of(settings: Mapping[str, object]) -> DranetBuild:
    """The build that the settings of a manager name; that of EKS where they name none."""
    return DranetBuild(str(settings.get(_BUILD, DranetBuild.EKS)))
