"""Which control plane runs a rehearsal: of the plan's minor, or of the nearest that is there."""

from __future__ import annotations

import os
from collections.abc import Mapping

from eks_devices.kubernetes import version_key

from .._outcome import OperationError
from ..control_plane.binaries import VARIABLE, Binaries, find_binaries, minors_here

_HOW = (
    "fix: in a checkout of eks-devices, with Go installed, run "
    f"'make controlplane MINOR=<minor>', or set {VARIABLE} to a folder with the binaries"
)


def nearest_binaries(
    planned: str, asked: str | None, environ: Mapping[str, str] = os.environ
) -> tuple[Binaries, str]:
    """The binaries of a control plane, and what to say of their version.

    Args:
        planned: The minor of the plan.
        asked: The minor that the user asks for; none other will do then.
        environ: The environment.

    Raises:
        OperationError: There are none, or none of the minor that is asked for.
    """
    here = minors_here(environ)
    if not here or (asked is not None and asked not in here):
        there = f"; there is {', '.join(here)}" if here else ""
        raise OperationError(f"there is no control plane of {asked or planned}{there}", _HOW)
    minor = asked or min(here, key=lambda one: _distance(one, planned))
    note = ""
    if minor != planned:
        note = f"the plan is for Kubernetes {planned}, and this is a control plane of {minor}"
    return find_binaries(minor, environ), note


def _distance(minor: str, planned: str) -> tuple[int, int]:
    """How far a minor is from the planned one; of two as far, the later is nearer."""
    (_, mine), (_, theirs) = version_key(minor), version_key(planned)
    return abs(mine - theirs), -mine
