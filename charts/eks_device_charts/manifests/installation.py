"""What the text of objects depends on, beside the settings of their manager."""

from __future__ import annotations

from dataclasses import dataclass

from eks_devices import ClusterPlan
from eks_devices.installation_options import InstallationOptions

from .images import ImageSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The values of a cluster that objects are drawn from; never which node groups there are."""

    kubernetes_version: str
    images: ImageSource
    options: InstallationOptions

    @classmethod
    def of(cls, plan: ClusterPlan, images: ImageSource) -> Installation:
        """The installation of a cluster's plan."""
        options = InstallationOptions(nvidia=plan.nvidia, neuron=plan.neuron, efa=plan.efa)
        return cls(kubernetes_version=plan.kubernetes_version, images=images, options=options)
