"""Where the certificate of the webhook that checks claims for NVIDIA's drivers comes from."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from .findings import Finding, fault, raise_faults
from .syntax import dns_subdomain
from .typecheck import is_token, plain_text, wrong_type

_SOURCE: Final = (
    "https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/"
)
_BUNDLE: Final = "base64 of certificates in PEM form, as `base64 -w0 ca.crt` writes it"
_FACTORIES: Final = "ClaimWebhook.cert_manager() or ClaimWebhook.secret(name=..., ca_bundle=...)"
_PATH: Final = "claim_webhook"
# An object of Kubernetes holds about a megabyte; a chain of authorities is a few kilobytes.
_LONGEST: Final = 200_000
_PEM: Final = "-----BEGIN "
_PRIVATE_KEY: Final = "PRIVATE KEY"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimWebhook:
    """The webhook that refuses claims which NVIDIA's drivers could not read.

    Without it a misspelt driver configuration is noticed when a Pod starts, and the Pod waits for
    ever. The API server asks it about such claims only, over TLS; make one with a factory, which
    says who makes the certificate.

    Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/releases/tag/v0.5.0
    """

    secret_name: str | None = None
    """The Secret with the certificate; None where cert-manager makes one."""
    ca_bundle: str | None = None
    """The authorities of that certificate, base64 of PEM; None likewise."""

    @classmethod
    def cert_manager(cls) -> ClaimWebhook:
        """A certificate of an authority of its own, which cert-manager makes and renews.

        The cluster has to run cert-manager, with its CA injector.

        Source: https://cert-manager.io/docs/concepts/ca-injector/
        """
        return cls()

    @classmethod
    def secret(cls, *, name: str, ca_bundle: str) -> ClaimWebhook:
        """A certificate that you make and renew.

        Args:
            name: A Secret of type `kubernetes.io/tls` in the namespace `nvidia`; its certificate
                is for the DNS name `dra-driver-nvidia-gpu-webhook.nvidia.svc`.
            ca_bundle: The authorities to trust, base64 of PEM (`base64 -w0 ca.crt`).

        Raises:
            EksDevicesError: Every fault of both: `MalformedName`, `WrongType`,
                `TokenNotAllowed`, `MalformedCaBundle`, `PrivateKeyInCaBundle`.
        """
        webhook = cls(secret_name=name, ca_bundle=ca_bundle)
        raise_faults(_secret_faults(webhook, _PATH))
        return webhook

    @property
    def certificate(self) -> str:
        """Where the certificate comes from, in a word: "cert-manager" or "secret"."""
        return "cert-manager" if self.secret_name is None else "secret"

    def __post_init__(self) -> None:
        """Keep another kind of text as the text itself."""
        for name in ("secret_name", "ca_bundle"):
            object.__setattr__(self, name, plain_text(getattr(self, name)))


def claim_webhook_faults(webhook: object, path: str = _PATH) -> Iterator[Finding]:
    """Faults of a value that should be a `ClaimWebhook`, also of one that no factory made."""
    if not isinstance(webhook, ClaimWebhook):
        yield wrong_type(path, webhook, f"{_FACTORIES}, or None", f"use {_FACTORIES}")
    elif webhook.secret_name is not None or webhook.ca_bundle is not None:
        yield from _secret_faults(webhook, path)


def _secret_faults(webhook: ClaimWebhook, path: str) -> Iterator[Finding]:
    yield from dns_subdomain(webhook.secret_name, f"{path}.name")
    yield from _bundle_faults(webhook.ca_bundle, f"{path}.ca_bundle")


def _bundle_faults(bundle: Any, path: str) -> Iterator[Finding]:
    if not isinstance(bundle, str) or is_token(bundle):
        fix = "write the output of `base64 -w0 ca.crt`"
        yield wrong_type(path, bundle, _BUNDLE, fix)
        return
    pem = _decoded(bundle)
    if _PRIVATE_KEY in (bundle if pem is None else pem):
        yield _private_key(path)
    elif _PEM in bundle:
        yield _malformed(path, "this is PEM itself, which the API takes as base64", bundle)
    elif pem is None:
        yield _malformed(path, "this is not base64 of a text, without line breaks", bundle)
    elif not _can_be_trusted(pem):
        yield _malformed(path, "it holds a certificate that cannot be read, or none", bundle)


def _decoded(bundle: str) -> str | None:
    """The text that base64 stands for; None where it is none."""
    if not 0 < len(bundle) <= _LONGEST:
        return None
    try:
        return b64decode(bundle, validate=True).decode("ascii")
    except ValueError:
        return None


def _can_be_trusted(pem: str) -> bool:
    """Whether a text holds certificates that can be read."""
    import ssl  # noqa: PLC0415  (only where a bundle is given; it is slow to import)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=pem)
    except (ssl.SSLError, ValueError):
        return False
    return True


def _malformed(path: str, message: str, bundle: str) -> Finding:
    return fault(
        "MalformedCaBundle",
        path,
        message,
        # Not the text itself: it may be a key, and faults end up in logs.
        got=f"a text of {len(bundle)} characters",
        allowed=_BUNDLE,
        fix="write the output of `base64 -w0 ca.crt`",
        source=_SOURCE,
    )


def _private_key(path: str) -> Finding:
    return fault(
        "PrivateKeyInCaBundle",
        path,
        "the bundle holds a private key, and everybody may read it where it stands",
        got="a private key",
        allowed=_BUNDLE,
        fix="leave the key out, and make another one if this was seen",
        source=_SOURCE,
    )
