"""The webhook of the NVIDIA DRA driver, which refuses claims that the driver could not read.

Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/releases/tag/v0.5.0
"""

from __future__ import annotations

from typing import Final

from eks_devices.claim_webhook import ClaimWebhook, claim_webhook_faults
from eks_devices.feature_gates import gates_text
from eks_devices.findings import raise_faults
from eks_devices.names import (
    COMPUTE_DOMAIN_DRIVER,
    GPU_DRIVER,
    MPS_GATE,
    PASSTHROUGH_GATE,
    TIME_SLICING_GATE,
)

from .nvidia_common import NAMESPACE, NO_GPUS, RESOURCES
from .nvidia_network_policies import webhook_policy
from .objects import (
    UNPRIVILEGED,
    Object,
    cluster_pod,
    deployment,
    http_probe,
    metadata,
    service_account,
    value,
)

NAME: Final = "dra-driver-nvidia-gpu-webhook"
"""The Deployment, its Service, and what they need; the Service is in the certificate."""
PORT: Final = 8443
"""Where it listens: no low port, so no root, and one that node groups often open to the API."""

_CERTIFICATE, _AUTHORITY = f"{NAME}-cert", f"{NAME}-ca"
_SELF_SIGNED = f"{NAME}-issuer"
_ISSUERS = "cert-manager.io/v1"
_TEN_YEARS = "87600h"
_LABELS = {"app.kubernetes.io/name": NAME}
# What configurations of claims depend on; which groups have them on, the drivers judge.
_CONFIGURED = (MPS_GATE, PASSTHROUGH_GATE, TIME_SLICING_GATE)
_GATES = gates_text(dict.fromkeys(_CONFIGURED, True))

# The server reads its certificate once. A copy of what it started with lets the probe tell that
# the certificate was renewed since, and the kubelet starts the server anew.
_FILE, _COPY = "/cert/tls.crt", "/started/tls.crt"
_START = (
    f'printf "%s" "$(<{_FILE})" >{_COPY} && exec webhook --port={PORT} '
    f"--tls-cert-file={_FILE} --tls-private-key-file=/cert/tls.key"
)
_IS_CURRENT = f'[[ "$(<{_FILE})" == "$(<{_COPY})" ]]'

# Of a ResourceClaim, or of what is within a ResourceClaimTemplate.
_CONFIGURATIONS = "object.spec.?spec.orValue(object.spec).?devices.?config.orValue([])"
_OF_NVIDIA = f"['{GPU_DRIVER}', '{COMPUTE_DOMAIN_DRIVER}']"
_CONFIGURES_NVIDIA = (
    f"{_CONFIGURATIONS}.exists(one, one.?opaque.?driver.orValue('') in {_OF_NVIDIA})"
)


def webhook_objects(image: str, *, certificate: ClaimWebhook) -> list[Object]:
    """What the webhook is made of, in apply order; its namespace is that of the drivers.

    Args:
        image: That of the GPU driver.
        certificate: Who makes the certificate.

    Raises:
        EksDevicesError: The faults of `claim_webhook_faults`.
    """
    raise_faults(claim_webhook_faults(certificate))
    secret = certificate.secret_name or _CERTIFICATE
    account = service_account(NAME, NAMESPACE) | {"automountServiceAccountToken": False}
    return [
        account,
        *([] if certificate.secret_name else _certificates()),
        _service(),
        # Nobody makes a claim for the drivers while none answers.
        deployment(NAME, NAMESPACE, _pod(_container(image), secret), replicas=2),
        _disruption_budget(),
        _configuration(certificate),
    ]


def webhook_network_policy() -> list[Object]:
    """What its Pods may talk to."""
    return [webhook_policy(NAME, port=PORT)]


def _certificates() -> list[Object]:
    """An authority, and a certificate of it.

    With the vendor's, which signs itself, the API server trusts the renewed one before the
    webhook has it, and refuses the old one; an authority stays the same.
    """
    authority: Object = {
        "isCA": True,
        "commonName": _AUTHORITY,
        "duration": _TEN_YEARS,
        "privateKey": {"algorithm": "ECDSA", "size": 256},
    }
    return [
        _issuer(_SELF_SIGNED, {"selfSigned": {}}),
        _certificate(_AUTHORITY, _SELF_SIGNED, authority),
        _issuer(_AUTHORITY, {"ca": {"secretName": _AUTHORITY}}),
        _certificate(_CERTIFICATE, _AUTHORITY, {"dnsNames": [f"{NAME}.{NAMESPACE}.svc"]}),
    ]


def _issuer(name: str, spec: Object) -> Object:
    meta = metadata(name, NAMESPACE)
    return {"apiVersion": _ISSUERS, "kind": "Issuer", "metadata": meta, "spec": spec}


def _certificate(name: str, issuer: str, spec: Object) -> Object:
    """A certificate in a Secret of its own name."""
    spec = {"secretName": name, "issuerRef": {"kind": "Issuer", "name": issuer}, **spec}
    meta = metadata(name, NAMESPACE)
    return {"apiVersion": _ISSUERS, "kind": "Certificate", "metadata": meta, "spec": spec}


def _service() -> Object:
    ports = [{"name": "https", "port": 443, "targetPort": "https", "protocol": "TCP"}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(NAME, NAMESPACE, **_LABELS),
        "spec": {"selector": dict(_LABELS), "ports": ports},
    }


def _pod(container: Object, secret: str) -> Object:
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": dict(_LABELS)},
    }
    return cluster_pod(NAME, container) | {
        "automountServiceAccountToken": False,
        "topologySpreadConstraints": [spread],
        "volumes": [
            {"name": "cert", "secret": {"secretName": secret}},
            {"name": "started", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
        ],
    }


def _container(image: str) -> Object:
    return {
        "name": "webhook",
        "image": image,
        "command": ["bash", "-c", _START],
        "env": [NO_GPUS, value("FEATURE_GATES", _GATES)],
        "ports": [{"name": "https", "containerPort": PORT}],
        "resources": RESOURCES,
        "readinessProbe": http_probe("/readyz", "https", tls=True),
        "livenessProbe": {"exec": {"command": ["bash", "-c", _IS_CURRENT]}, "periodSeconds": 30},
        "securityContext": UNPRIVILEGED,
        "volumeMounts": [
            {"name": "cert", "mountPath": "/cert", "readOnly": True},
            {"name": "started", "mountPath": "/started"},
        ],
    }


def _disruption_budget() -> Object:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(NAME, NAMESPACE, **_LABELS),
        "spec": {
            "maxUnavailable": 1,
            # One that does not answer anyway holds up no node.
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
            "selector": {"matchLabels": dict(_LABELS)},
        },
    }


def _configuration(certificate: ClaimWebhook) -> Object:
    """Which requests the API server asks about.

    Specs of claims cannot change, so there is nothing to ask about updates; the vendor's asks,
    and a claim cannot be finalised, or get a label, while the webhook is away.
    """
    path = "/validate-resource-claim-parameters"
    client: Object = {"service": {"namespace": NAMESPACE, "name": NAME, "port": 443, "path": path}}
    meta = metadata(NAME)
    if certificate.ca_bundle is None:
        meta["annotations"] = {"cert-manager.io/inject-ca-from": f"{NAMESPACE}/{_CERTIFICATE}"}
    else:
        client["caBundle"] = certificate.ca_bundle
    webhook = {
        "name": "claims.gpu.nvidia.com",
        "clientConfig": client,
        "rules": [_CLAIMS],
        # Claims of other drivers, and claims without a driver's configuration, are not its business
        # and do not wait for it.
        "matchConditions": [
            {"name": "configures-an-nvidia-driver", "expression": _CONFIGURES_NVIDIA}
        ],
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": meta,
        "webhooks": [webhook],
    }


# The API server converts requests in other versions of the API before it asks.
_CLAIMS: Object = {
    "apiGroups": ["resource.k8s.io"],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["resourceclaims", "resourceclaimtemplates"],
    "scope": "Namespaced",
}
