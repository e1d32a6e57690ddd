"""How each component of a control plane is told what to do: its arguments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from .credentials import Credentials

LOOPBACK: Final = "127.0.0.1"
# What EKS runs beside the plugins that are on by default, as far as it matters to devices.
_ADMISSION: Final = "NodeRestriction,ExtendedResourceToleration"
# A test waits for decisions, not for limits on requests.
_RATE: Final = {"qps": 2000, "burst": 4000}
_SERVICE_ADDRESSES: Final = "10.100.0.0/16"
_ISSUER: Final = "https://kubernetes.default.svc"


def etcd(client: str, peer: str, data: Path, keys: Credentials) -> list[str]:
    """One member that keeps its data for the run only, so it need not wait for the disk.

    Whoever reads it has every secret of the cluster, so it asks for a certificate.
    """
    certificate, key = keys.serving
    return [
        "--name=local",
        f"--data-dir={data}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=local={peer}",
        "--unsafe-no-fsync",
        *(
            f"--{peers}{option}"
            for peers in ("", "peer-")
            for option in (
                f"cert-file={certificate}",
                f"key-file={key}",
                f"trusted-ca-file={keys.authority}",
                "client-cert-auth",
            )
        ),
    ]


def api_server(etcd_address: str, port: int, keys: Credentials) -> list[str]:
    """An API server with RBAC, node authorisation and the admission plugins of EKS.

    Gates and API versions are left at their defaults: EKS enables no alpha feature and no beta API,
    and offers no way to set a gate.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html
    """
    certificate, key = keys.serving
    tokens = keys.signing_key
    return [
        f"--etcd-servers={etcd_address}",
        f"--etcd-cafile={keys.authority}",
        f"--etcd-certfile={certificate}",
        f"--etcd-keyfile={key}",
        f"--bind-address={LOOPBACK}",
        f"--advertise-address={LOOPBACK}",
        f"--secure-port={port}",
        "--endpoint-reconciler-type=none",
        f"--service-cluster-ip-range={_SERVICE_ADDRESSES}",
        f"--tls-cert-file={certificate}",
        f"--tls-private-key-file={key}",
        f"--client-ca-file={keys.authority}",
        f"--service-account-issuer={_ISSUER}",
        f"--service-account-key-file={tokens}",
        f"--service-account-signing-key-file={tokens}",
        "--authorization-mode=Node,RBAC",
        f"--enable-admission-plugins={_ADMISSION}",
        "--allow-privileged=true",
        "--max-requests-inflight=3000",
        "--max-mutating-requests-inflight=1000",
    ]


def controller_manager(
    server: str, port: int, keys: Credentials, *, node_grace_seconds: int | None = None
) -> list[str]:
    """The controllers, each with its own account and permissions, as in a real cluster."""
    certificate, key = keys.serving
    user = "system:kube-controller-manager"
    grace = node_grace_seconds
    return [
        *([] if grace is None else [f"--node-monitor-grace-period={grace}s"]),
        f"--kubeconfig={keys.kubeconfig(server, user)}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={port}",
        f"--tls-cert-file={certificate}",
        f"--tls-private-key-file={key}",
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={keys.signing_key}",
        f"--root-ca-file={keys.authority}",
        "--leader-elect=false",
        f"--kube-api-qps={_RATE['qps']}",
        f"--kube-api-burst={_RATE['burst']}",
    ]


def scheduler(
    server: str,
    port: int,
    keys: Credentials,
    folder: Path,
    *,
    nodes_to_score_percent: int | None = None,
) -> list[str]:
    """The default scheduler; it looks again soon at Pods that did not fit."""
    certificate, key = keys.serving
    kubeconfig = keys.kubeconfig(server, "system:kube-scheduler")
    configuration: dict[str, Any] = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig), **_RATE},
        "leaderElection": {"leaderElect": False},
        "podInitialBackoffSeconds": 1,
        "podMaxBackoffSeconds": 2,
    }
    if nodes_to_score_percent is not None:
        configuration["percentageOfNodesToScore"] = nodes_to_score_percent
    file = folder / "scheduler.json"
    file.write_text(json.dumps(configuration, indent=1), encoding="utf-8")
    return [
        f"--config={file}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={port}",
        f"--tls-cert-file={certificate}",
        f"--tls-private-key-file={key}",
    ]
