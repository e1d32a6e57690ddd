"""The closed sets of words that rules, plans and claims are written in."""

from __future__ import annotations

from enum import StrEnum


class DeviceType(StrEnum):
    """A kind of hardware that Kubernetes hands out to Pods."""

    NEURON = "neuron"
    GPU = "gpu"
    COMPUTE_DOMAIN = "compute-domain"
    EFA = "efa"


class Mechanism(StrEnum):
    """How a device reaches a Pod.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/device-management.html
    """

    DRA = "dra"
    """Dynamic Resource Allocation: a driver publishes ResourceSlices, Pods use claims."""
    DEVICE_PLUGIN = "device-plugin"
    """The kubelet's device plugin API: Pods ask for an extended resource."""


ManagerKey = tuple[DeviceType, Mechanism]
"""Which manager of devices is meant, whoever owns it: there is one for each key."""


class OperatingSystem(StrEnum):
    """The operating system family of a node."""

    AL2023 = "al2023"
    BOTTLEROCKET = "bottlerocket"
    AUTO_MODE = "auto-mode-image"
    """The image of EKS Auto Mode; no node group can have it."""


class Compute(StrEnum):
    """Who makes and scales the nodes."""

    MANAGED = "managed"
    SELF_MANAGED = "self-managed"
    KARPENTER_STATIC = "karpenter-static"
    KARPENTER_DYNAMIC = "karpenter-dynamic"
    AUTO_MODE = "auto-mode"
    FARGATE = "fargate"


class Feature(StrEnum):
    """A use of a device beyond handing out whole ones, with support of its own."""

    TIME_SLICING = "time-slicing"
    MPS = "mps"
    STATIC_MIG = "static-mig"
    DYNAMIC_MIG = "dynamic-mig"
    EXTENDED_RESOURCE = "extended-resource"
    HEALTH_TAINTS = "health-taints"
    HOST_SERVICE = "host-service"
    SHARED_CLAIM = "shared-claim"
    REUSED_CLAIM = "reused-claim"
    DEVICE_TAINT_RULE = "device-taint-rule"
    ALL_WITH_CONSTRAINT = "all-with-constraint"
    SECOND_MECHANISM = "second-mechanism"


class Verdict(StrEnum):
    """What the sources say of a combination."""

    YES = "yes"
    """Documented or shipped; an automatic choice may use it."""
    LIMITED = "limited"
    """Documented with a trap or as alpha: allowed when named, with a warning."""
    UNPROVEN = "unproven"
    """Sources disagree: allowed when named, with a warning, never automatic."""
    NO = "no"
    """Unsupported, or shown not to work: an error."""
