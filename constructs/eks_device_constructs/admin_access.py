"""Claims with admin access, and the label that their namespace needs."""

from __future__ import annotations

from eks_devices import ComputeDomain, Finding
from eks_devices.claims.objects import Claim
from eks_devices.findings import fault, info
from eks_devices.names import ADMIN_ACCESS_LABEL

_SOURCE = (
    "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/"
    "#admin-access"
)


def needs_admin_access(claim: Claim) -> bool:
    """Whether a claim asks for devices that others use."""
    return not isinstance(claim, ComputeDomain) and claim.needs_admin_access


def label_needed(claim: Claim) -> Finding:
    """The info of a label that somebody else has to set."""
    return info(
        "AdminAccessLabelNeeded",
        f"{claim.path}.namespace",
        f"the API server refuses claims with admin access unless the namespace {claim.namespace} "
        f'has the label {ADMIN_ACCESS_LABEL}: "true"',
        fix="set the label, or pass create_namespace=True for a namespace that nobody made",
        source=_SOURCE,
    )


def made_without_label(claim: Claim) -> Finding:
    """The fault of a namespace that an earlier claim made for itself."""
    return fault(
        "NamespaceWithoutAdminAccess",
        f"{claim.path}.namespace",
        "an earlier claim of this app makes the namespace without the label "
        f"{ADMIN_ACCESS_LABEL}, so the API server would refuse this one",
        got=claim.namespace,
        allowed="a namespace of its own, or one that the claim with admin access makes",
        fix="add this claim first, with create_namespace=True, or use another namespace",
        source=_SOURCE,
    )
