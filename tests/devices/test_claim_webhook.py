"""Where the certificate of the claim webhook comes from: what is taken, and what is refused."""

from __future__ import annotations

import pickle
from base64 import b64encode
from typing import Any

import pytest
import trustme
from tests.hostile import TOKEN, Hostile, HostileList, HostileText, Untouchable, doubled

from eks_devices import EksDevicesError
from eks_devices.claim_webhook import ClaimWebhook, claim_webhook_faults

ONE, OTHER = trustme.CA(), trustme.CA()
PEM = ONE.cert_pem.bytes()
KEY = ONE.issue_cert("example.com").private_key_pem.bytes()


def encoded(pem: bytes) -> str:
    return b64encode(pem).decode()


BUNDLE = encoded(PEM)


def secret(name: Any = "webhook-tls", ca_bundle: Any = BUNDLE) -> ClaimWebhook:
    return ClaimWebhook.secret(name=name, ca_bundle=ca_bundle)


def faults(**values: Any) -> list[tuple[str, str]]:
    with pytest.raises(EksDevicesError) as error:
        secret(**values)
    return [(one.code, one.path) for one in error.value.faults]


@pytest.mark.parametrize(
    "bundle",
    [PEM, PEM + OTHER.cert_pem.bytes(), b"# Issuer: example.com\n" + PEM, PEM.strip()],
)
def test_bundles_of_certificates_are_taken_as_they_are(bundle):
    webhook = secret(ca_bundle=encoded(bundle))

    assert (webhook.secret_name, webhook.ca_bundle) == ("webhook-tls", encoded(bundle))
    assert not [*claim_webhook_faults(webhook)]


def test_cert_manager_needs_nothing():
    webhook = ClaimWebhook.cert_manager()

    assert webhook == ClaimWebhook()
    assert not [*claim_webhook_faults(webhook)]


def test_a_webhook_is_a_value():
    assert secret() == secret() == pickle.loads(pickle.dumps(secret()))  # noqa: S301
    assert hash(secret()) == hash(secret()) != hash(ClaimWebhook.cert_manager())
    with pytest.raises(AttributeError):
        secret().secret_name = "other"  # type: ignore[misc]


@pytest.mark.parametrize("name", ["", "Webhook", "a_b", "-a", "a/b", "a" * 254, "a\n", "a..b"])
def test_a_name_that_no_secret_has_is_refused(name):
    assert faults(name=name) == [("MalformedName", "claim_webhook.name")]


@pytest.mark.parametrize(
    "bundle",
    [
        "",
        "not base64!",
        PEM.decode(),
        f" {BUNDLE}",
        f"{BUNDLE[:76]}\n{BUNDLE[76:]}",
        BUNDLE[:-3],
        encoded(b""),
        encoded(b"no certificate"),
        encoded(b"\xff\xfe"),
        encoded(PEM[: len(PEM) // 2]),
        encoded(PEM.replace(b"\n", b"")),
        encoded(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
        encoded(PEM + b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"),
        encoded(PEM * 400),
        f"Ä{BUNDLE}",
    ],
)
def test_a_bundle_that_cannot_be_trusted_is_refused(bundle):
    assert faults(ca_bundle=bundle) == [("MalformedCaBundle", "claim_webhook.ca_bundle")]


@pytest.mark.parametrize(
    "bundle", [KEY.decode(), encoded(KEY), encoded(KEY + PEM), encoded(PEM + KEY)]
)
def test_a_private_key_is_refused_and_not_shown(bundle):
    with pytest.raises(EksDevicesError) as error:
        secret(ca_bundle=bundle)

    (one,) = error.value.faults
    assert one.code == "PrivateKeyInCaBundle"
    assert not {line for line in (*KEY.decode().splitlines(), bundle) if line[:40] in str(one)}


def test_no_fault_shows_the_bundle():
    wrapped = "\n".join(encoded(KEY)[start : start + 76] for start in range(0, 300, 76))
    with pytest.raises(EksDevicesError) as error:
        secret(ca_bundle=wrapped)

    assert wrapped[:20] not in str(error.value)


def test_every_fault_is_named_at_once():
    assert faults(name="A", ca_bundle="?") == [
        ("MalformedName", "claim_webhook.name"),
        ("MalformedCaBundle", "claim_webhook.ca_bundle"),
    ]


@pytest.mark.parametrize("part", ["name", "ca_bundle"])
def test_a_token_is_refused(part):
    assert faults(**{part: TOKEN}) == [("TokenNotAllowed", f"claim_webhook.{part}")]
    assert faults(**{part: f"a-{TOKEN}"}) == [("TokenNotAllowed", f"claim_webhook.{part}")]


WRONG = [None, 1, b"a", ["a"], {"a": 1}, Hostile(), Untouchable(), HostileList(), doubled(40)]


@pytest.mark.parametrize("part", ["name", "ca_bundle"])
@pytest.mark.parametrize("value", WRONG, ids=lambda one: type(one).__name__)
def test_a_value_of_a_wrong_type_is_refused(part, value):
    assert faults(**{part: value}) == [("WrongType", f"claim_webhook.{part}")]


def test_another_kind_of_text_is_the_text():
    webhook = secret(name=HostileText("webhook-tls"), ca_bundle=HostileText(BUNDLE))

    assert (type(webhook.secret_name), type(webhook.ca_bundle)) == (str, str)
    assert webhook == secret()


@pytest.mark.parametrize(
    "value", [None, "cert-manager", Hostile(), ClaimWebhook], ids=lambda one: type(one).__name__
)
def test_what_is_no_webhook_is_named(value):
    (one,) = claim_webhook_faults(value, "drivers.claim_webhook")

    assert (one.code, one.path) == ("WrongType", "drivers.claim_webhook")
    assert "ClaimWebhook.cert_manager()" in one.allowed


@pytest.mark.parametrize(
    ("webhook", "path"),
    [
        (ClaimWebhook(secret_name="a"), "x.ca_bundle"),  # noqa: S106
        (ClaimWebhook(ca_bundle=BUNDLE), "x.name"),
    ],
)
def test_half_a_secret_is_none(webhook, path):
    (one,) = claim_webhook_faults(webhook, "x")

    assert (one.code, one.path) == ("WrongType", path)
