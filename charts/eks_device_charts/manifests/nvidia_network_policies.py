"""What the Pods of NVIDIA's managers may talk to, where a cluster enforces NetworkPolicies.

They know the API server by the address in their environment and ask no DNS. Which address that is
on the wire differs by network plugin, before and after the translation of Services, so policies
name its port only. Probes need no rule: a node always reaches its own Pods.

Source: https://kubernetes.io/docs/concepts/services-networking/network-policies/ and
https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/releases/tag/v0.5.0
"""

from __future__ import annotations

from collections.abc import Sequence

from eks_devices.names import COMPUTE_DOMAIN_LABEL

from .nvidia_common import NAMESPACE
from .objects import Object, metadata

# EKS serves its API there, and so does the Service inside the cluster.
_API_SERVER = 443
# Between daemons: memory sharing, and the status of one another.
_DAEMON_PORTS = (50000, 50005)


def api_client_policy(name: str, *, metrics_port: int) -> Object:
    """For Pods that ask the API server, and that only a scraper of metrics asks.

    Args:
        name: The Pods' `app.kubernetes.io/name`, whoever owns them: a driver or the controller.
        metrics_port: Where they tell their metrics.
    """
    egress = [{"ports": _ports(_API_SERVER)}]
    ingress = [{"ports": _ports(metrics_port)}]
    return _policy(name, _of_app(name), ingress=ingress, egress=egress)


def silent_policy(name: str) -> Object:
    """For Pods that talk to the kubelet by files alone: device plugin, MPS daemon, labels.

    Args:
        name: The Pods' `app.kubernetes.io/name`, whoever owns them.
    """
    return _policy(name, _of_app(name), ingress=[], egress=[])


def webhook_policy(name: str, *, port: int) -> Object:
    """For Pods that the API server asks, and that ask nobody.

    Args:
        name: The Pods' `app.kubernetes.io/name`.
        port: Where they listen; the API server is no Pod, so it is not named.
    """
    return _policy(name, _of_app(name), ingress=[{"ports": _ports(port)}], egress=[])


def compute_domain_daemon_policy() -> Object:
    """For the daemons of ComputeDomains: one another, on their two ports, and the API server.

    The driver makes them when a ComputeDomain exists, so without this a policy that refuses
    everything in their namespace keeps every domain from becoming ready. A selector cannot say
    "of the same domain", so it lets daemons of other domains in as well.
    """
    daemons = {"matchExpressions": [{"key": COMPUTE_DOMAIN_LABEL, "operator": "Exists"}]}
    among = _ports(*_DAEMON_PORTS)
    return _policy(
        "compute-domain-daemon",
        daemons,
        ingress=[{"from": [{"podSelector": daemons}], "ports": among}],
        egress=[
            {"to": [{"podSelector": daemons}], "ports": among},
            {"ports": _ports(_API_SERVER)},
        ],
    )


def _of_app(name: str) -> Object:
    return {"matchLabels": {"app.kubernetes.io/name": name}}


def _ports(*numbers: int) -> list[Object]:
    return [{"protocol": "TCP", "port": number} for number in numbers]


def _policy(
    name: str, pods: Object, *, ingress: Sequence[Object], egress: Sequence[Object]
) -> Object:
    """A policy of the managers' namespace; an empty list refuses everything of its direction."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(name, NAMESPACE),
        "spec": {
            "podSelector": pods,
            "policyTypes": ["Ingress", "Egress"],
            "ingress": list(ingress),
            "egress": list(egress),
        },
    }
