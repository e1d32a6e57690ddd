"""What is claimed in a cluster, and to which objects it leads, so that no two lead to one."""

from __future__ import annotations

from .compute_domain import ComputeDomain
from .templates import DeviceClaim, ResourceClaim, ResourceClaimTemplate

Claim = DeviceClaim | ComputeDomain
"""What Pods on the nodes of a group can be given by its name."""

# Kind, namespace and name.
ObjectKey = tuple[str, str, str]

_KINDS = (ComputeDomain, ResourceClaim, ResourceClaimTemplate)


def object_keys(claim: Claim) -> list[ObjectKey]:
    """Kind, namespace and name of what a claim leads to, the claim itself first.

    For a ComputeDomain the driver makes a template. Where there is another one of its name, the
    driver tries for ever, and Pods of the domain get what the other one is for.

    Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu (v0.5.0,
    cmd/compute-domain-controller/resourceclaimtemplate.go)
    """
    kind = next(one.__name__ for one in _KINDS if isinstance(claim, one))
    keys = [(kind, claim.namespace, claim.name)]
    if isinstance(claim, ComputeDomain):
        keys.append((ResourceClaimTemplate.__name__, claim.namespace, claim.channel))
    return keys
