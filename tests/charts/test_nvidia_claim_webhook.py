"""The webhook of the NVIDIA driver: who is asked about what, and with which certificate."""

from __future__ import annotations

import subprocess
from base64 import b64encode
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import trustme
from cel_expr_python import cel  # type: ignore[import-untyped]
from cel_expr_python.ext import ext_optional  # type: ignore[import-untyped]

from eks_device_charts.manifests.nvidia_claim_webhook import webhook_objects
from eks_devices import EksDevicesError
from eks_devices.claim_webhook import ClaimWebhook

IMAGE = "example.com/driver:1"
NAME = "dra-driver-nvidia-gpu-webhook"
BUNDLE = b64encode(trustme.CA().cert_pem.bytes()).decode()
BY_CERT_MANAGER = ClaimWebhook.cert_manager()
BY_SECRET = ClaimWebhook.secret(name="webhook-tls", ca_bundle=BUNDLE)
ADMISSION = cel.NewEnv(variables={"object": cel.Type.DYN}, extensions=[ext_optional.ExtOptional()])


def objects(certificate: ClaimWebhook = BY_CERT_MANAGER) -> list[dict[str, Any]]:
    return webhook_objects(IMAGE, certificate=certificate)


def find(kind: str, certificate: ClaimWebhook = BY_CERT_MANAGER) -> dict[str, Any]:
    (found,) = (one for one in objects(certificate) if one["kind"] == kind)
    return found


def named(kind: str) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one["spec"] for one in objects() if one["kind"] == kind}


def pod(certificate: ClaimWebhook = BY_CERT_MANAGER) -> dict[str, Any]:
    return dict(find("Deployment", certificate)["spec"]["template"]["spec"])


def container() -> dict[str, Any]:
    (only,) = pod()["containers"]
    return dict(only)


def webhook(certificate: ClaimWebhook = BY_CERT_MANAGER) -> dict[str, Any]:
    (only,) = find("ValidatingWebhookConfiguration", certificate)["webhooks"]
    return dict(only)


@pytest.mark.parametrize("certificate", [BY_CERT_MANAGER, BY_SECRET])
def test_every_object_fits_its_schema(certificate, version):
    for item in objects(certificate):
        if item["apiVersion"] != "cert-manager.io/v1":
            kubernetes_validate.validate(item, version, strict=True)


def test_the_kinds_of_a_certificate_come_with_cert_manager_only():
    ours = [
        "ServiceAccount",
        "Service",
        "Deployment",
        "PodDisruptionBudget",
        "ValidatingWebhookConfiguration",
    ]

    assert [one["kind"] for one in objects(BY_SECRET)] == ours
    made = [one["kind"] for one in objects(BY_CERT_MANAGER)]
    assert [one for one in made if one in ours] == ours
    assert [one for one in made if one not in ours] == [
        "Issuer",
        "Certificate",
        "Issuer",
        "Certificate",
    ]


# --- which claims are its business ---


def claim(*configurations: dict[str, Any], **spec: Any) -> dict[str, Any]:
    devices = {"requests": [], "config": list(configurations)} if configurations else {}
    return {"kind": "ResourceClaim", "spec": {"devices": devices, **spec}}


def opaque(driver: str) -> dict[str, Any]:
    return {"requests": ["a"], "opaque": {"driver": driver, "parameters": {"kind": "X"}}}


def template(inner: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "ResourceClaimTemplate", "spec": {"spec": inner["spec"]}}


def is_asked(item: dict[str, Any]) -> bool:
    (condition,) = webhook()["matchConditions"]
    value = ADMISSION.compile(condition["expression"]).eval(data={"object": item})
    assert value.type() == cel.Type.BOOL, value.plain_value()
    return bool(value.plain_value())


NVIDIA = [
    claim(opaque("gpu.nvidia.com")),
    claim(opaque("compute-domain.nvidia.com")),
    claim(opaque("neuron.aws.com"), opaque("gpu.nvidia.com")),
]
OTHERS = [
    claim(),
    claim(opaque("neuron.aws.com")),
    claim(opaque("gpu.nvidia.com.example.com")),
    # Another kind of configuration than an opaque one, and an opaque one without a driver.
    claim({"requests": ["a"]}),
    claim({"opaque": {}}),
    {"spec": {}},
    {"spec": {"devices": {"requests": []}}},
    {"spec": {"devices": {"config": []}}},
]


@pytest.mark.parametrize("item", NVIDIA)
def test_it_is_asked_about_configurations_of_its_drivers(item):
    assert is_asked(item)
    assert is_asked(template(item))


@pytest.mark.parametrize("item", OTHERS)
def test_nobody_else_waits_for_it(item):
    assert not is_asked(item)
    assert not is_asked(template(item))


def test_a_claim_that_exists_never_waits_for_it():
    """Its specification cannot change, and its finalizer must go while the webhook is away."""
    (rule,) = webhook()["rules"]

    assert rule == {
        "apiGroups": ["resource.k8s.io"],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["resourceclaims", "resourceclaimtemplates"],
        "scope": "Namespaced",
    }
    assert webhook()["failurePolicy"] == "Fail"
    assert webhook()["sideEffects"] == "None"
    # Absent: the API server converts claims of other versions and asks about them, too.
    assert "matchPolicy" not in webhook()


# --- who answers ---


def test_the_service_leads_to_where_it_listens():
    reference = webhook()["clientConfig"]["service"]
    service = find("Service")
    (port,) = service["spec"]["ports"]
    (listens,) = container()["ports"]
    labels = find("Deployment")["spec"]["template"]["metadata"]["labels"]

    assert reference == {
        "namespace": "nvidia",
        "name": service["metadata"]["name"],
        "port": port["port"],
        "path": "/validate-resource-claim-parameters",
    }
    assert port["targetPort"] == listens["name"]
    assert f"--port={listens['containerPort']}" in container()["command"][2]
    assert listens["containerPort"] > 1023
    assert service["spec"]["selector"].items() <= labels.items()
    assert container()["readinessProbe"]["httpGet"]["port"] == listens["name"]


def test_it_may_do_nothing():
    account = find("ServiceAccount")

    assert account["automountServiceAccountToken"] is False
    assert pod()["automountServiceAccountToken"] is False
    assert pod()["serviceAccountName"] == account["metadata"]["name"]
    assert not [one for one in objects() if "Role" in one["kind"]]
    assert container()["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert not [one for one in pod()["volumes"] if "hostPath" in one]
    assert not {"hostNetwork", "hostPID", "hostIPC"} & pod().keys()
    assert {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"} in container()["env"]


def test_one_of_two_answers_while_the_other_moves():
    deployment, budget = find("Deployment")["spec"], find("PodDisruptionBudget")["spec"]
    (spread,) = pod()["topologySpreadConstraints"]
    selector = deployment["selector"]

    assert deployment["replicas"] == 2
    assert (budget["maxUnavailable"], budget["selector"]) == (1, selector)
    assert (spread["topologyKey"], spread["labelSelector"]) == ("kubernetes.io/hostname", selector)


def test_it_reads_every_configuration_whatever_the_gates_of_the_groups_are():
    """The text of an object must not depend on which groups there are; drivers judge gates."""
    env = {one["name"]: one["value"] for one in container()["env"]}

    assert env == {
        "NVIDIA_VISIBLE_DEVICES": "void",
        "FEATURE_GATES": "MPSSupport=true,PassthroughSupport=true,TimeSlicingSettings=true",
    }


# --- its certificate ---


def secret_of(certificate: ClaimWebhook) -> str:
    (name,) = (
        one["secret"]["secretName"] for one in pod(certificate)["volumes"] if "secret" in one
    )
    return str(name)


def test_a_secret_of_the_user_is_mounted_and_its_authority_trusted():
    item = find("ValidatingWebhookConfiguration", BY_SECRET)

    assert secret_of(BY_SECRET) == "webhook-tls"
    assert webhook(BY_SECRET)["clientConfig"]["caBundle"] == BUNDLE
    assert "annotations" not in item["metadata"]


def test_cert_manager_injects_the_authority_of_the_certificate_that_is_mounted():
    item = find("ValidatingWebhookConfiguration", BY_CERT_MANAGER)
    certificates = named("Certificate")
    served = secret_of(BY_CERT_MANAGER)

    assert item["metadata"]["annotations"] == {"cert-manager.io/inject-ca-from": f"nvidia/{served}"}
    assert "caBundle" not in webhook()["clientConfig"]
    assert certificates[served]["secretName"] == served
    assert certificates[served]["dnsNames"] == [f"{find('Service')['metadata']['name']}.nvidia.svc"]
    assert "isCA" not in certificates[served]


def test_the_authority_outlives_the_certificates_that_it_signs():
    """A certificate that signed itself would be refused as soon as there is a newer one."""
    certificates, issuers = named("Certificate"), named("Issuer")
    issuer = issuers[certificates[secret_of(BY_CERT_MANAGER)]["issuerRef"]["name"]]
    authority = certificates[issuer["ca"]["secretName"]]

    assert authority["isCA"] is True
    assert authority["secretName"] == issuer["ca"]["secretName"]
    assert authority["duration"] == "87600h"
    assert issuers[authority["issuerRef"]["name"]] == {"selfSigned": {}}
    assert "duration" not in certificates[secret_of(BY_CERT_MANAGER)]


def test_the_factory_tells_users_the_name_that_the_certificate_is_for():
    dns_name = f"{find('Service')['metadata']['name']}.nvidia.svc"

    assert f"`{dns_name}`" in str(ClaimWebhook.secret.__doc__)


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """The folders of the container, and a server that tells how it was started."""
    for name in ("cert", "started", "bin"):
        (tmp_path / name).mkdir()
    (tmp_path / "cert/tls.crt").write_text("first [a-z]*\n\n", encoding="utf-8")
    server = tmp_path / "bin/webhook"
    server.write_text('#!/bin/bash\necho "$@"\n', encoding="utf-8")
    server.chmod(0o755)
    return tmp_path


def run(command: list[str], node: Path) -> subprocess.CompletedProcess[str]:
    """What a command of the container does where its folders are in another one."""
    shell, option, script = command
    for name in ("cert", "started"):
        script = script.replace(f"/{name}/", f"{node}/{name}/")
    env = {"PATH": f"{node}/bin:/usr/bin:/bin"}
    return subprocess.run(
        [shell, option, script], env=env, capture_output=True, text=True, check=False
    )


def test_a_server_that_was_started_with_an_older_certificate_is_not_well(node):
    start, probe = container()["command"], container()["livenessProbe"]["exec"]["command"]

    started = run(start, node)
    assert started.stdout.split()[1:] == [
        f"--tls-cert-file={node}/cert/tls.crt",
        f"--tls-private-key-file={node}/cert/tls.key",
    ]
    assert run(probe, node).returncode == 0
    # What a pattern would take for the same.
    (node / "cert/tls.crt").write_text("first a\n", encoding="utf-8")
    assert run(probe, node).returncode == 1
    run(start, node)
    assert run(probe, node).returncode == 0


def test_no_server_starts_without_a_copy_of_its_certificate(node):
    (node / "started").rmdir()

    started = run(container()["command"], node)

    assert started.returncode != 0
    assert started.stdout == ""


def test_a_certificate_that_no_factory_made_is_refused():
    wrong: Any = "cert-manager"
    for value in (wrong, ClaimWebhook(ca_bundle="x")):
        with pytest.raises(EksDevicesError):
            objects(value)
