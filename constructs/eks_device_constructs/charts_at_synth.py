"""Charts that something else than this app sends to a cluster, judged with its manifests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import cdk8s
from constructs import Construct

from eks_devices.findings import raise_faults
from eks_devices.typecheck import listed

from .hosts import AnyCluster
from .inputs import scope_faults, stage_faults
from .joining import find_host
from .known_cluster import KnownCluster
from .references import ClusterReference
from .sent_manifests import note_chart

if TYPE_CHECKING:
    from .cluster import AcceleratedCluster


def check_charts(
    scope: Construct,
    charts: Iterable[cdk8s.Chart],
    *,
    cluster: AcceleratedCluster | AnyCluster | ClusterReference,
    kubernetes_version: str | None = None,
) -> None:
    """Hold charts against the node groups of a cluster at synth, as manifests that the app sends.

    For charts of a cdk8s App of your own, whose files a GitOps tool applies for instance. They are
    read at synth, so objects may be added to them afterwards; charts that `add_cdk8s_chart` sends
    are found without this.

    Args:
        scope: The stack, or a construct in it, where findings are told.
        charts: The charts.
        cluster: The cluster that they go to.
        kubernetes_version: The minor of a cluster that was imported, "1.34".

    Raises:
        EksDevicesError: A value has the wrong type.
    """
    raise_faults(scope_faults(scope, "charts"))
    many, one, fix = "a list of cdk8s charts", "a cdk8s.Chart", "pass a list of charts"
    given, faults = listed(charts, cdk8s.Chart, "charts", many=many, one=one, fix=fix)
    host = find_host(cluster, scope, kubernetes_version, "charts")
    faults += host if isinstance(host, list) else stage_faults(scope, host.place, "charts")
    raise_faults(faults)

    def known() -> KnownCluster | None:
        # Its first group may have come after this.
        found = find_host(cluster, scope, kubernetes_version, "charts")
        return None if isinstance(found, list) else found.known

    for chart in given:
        note_chart(scope, chart, known)
