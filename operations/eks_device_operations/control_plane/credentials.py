"""Keys and certificates of one control plane, made for the run and for nothing else."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any

import trustme

ADMINISTRATORS = "system:masters"


class Credentials:
    """A certificate authority in a new folder, and what it issues there.

    Every file is for its owner alone: whoever reads the administrator's key has the cluster.

    Attributes:
        authority: The certificate to trust.
    """

    def __init__(self, folder: Path, *, host: str) -> None:
        folder.mkdir(mode=0o700)
        self._folder = folder
        self._host = host
        self._issuer = trustme.CA(organization_name="eks-devices")
        self.authority = self._write("ca.crt", self._issuer.cert_pem.bytes())

    @cached_property
    def serving(self) -> tuple[Path, Path]:
        """Certificate and key of the servers of this host, and of one that asks another."""
        return self._issue("serving")

    @cached_property
    def signing_key(self) -> Path:
        """The key that signs the tokens of service accounts, and that checks them."""
        return self._issue("tokens")[1]

    def kubeconfig(self, server: str, user: str, group: str | None = None) -> Path:
        """A file with which its holder is a user, in a group where one is named."""
        name = user.replace(":", "-")
        certificate, key = self._issue(name, user=user, group=group)
        proof = {"client-certificate": str(certificate), "client-key": str(key)}
        cluster = {"server": server, "certificate-authority": str(self.authority)}
        content: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "local", "cluster": cluster}],
            "users": [{"name": user, "user": proof}],
            "contexts": [{"name": "local", "context": {"cluster": "local", "user": user}}],
            "current-context": "local",
        }
        return self._write(f"{name}.kubeconfig", json.dumps(content, indent=1).encode())

    def _issue(
        self, name: str, *, user: str | None = None, group: str | None = None
    ) -> tuple[Path, Path]:
        # The host is on every certificate: one without an address has an empty list of them,
        # marked as critical, which Go refuses.
        leaf = self._issuer.issue_cert(self._host, common_name=user, organization_name=group)
        chain = b"".join(part.bytes() for part in leaf.cert_chain_pems)
        certificate = self._write(f"{name}.crt", chain)
        return certificate, self._write(f"{name}.key", leaf.private_key_pem.bytes())

    def _write(self, name: str, content: bytes) -> Path:
        file = self._folder / name
        file.touch(mode=0o600)
        file.write_bytes(content)
        return file
