"""The few requests to a Kubernetes API that judging manifests takes, strict and told in full."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import urllib3

Object = dict[str, Any]

JSON: Final = "application/json"
APPLY_PATCH: Final = "application/apply-patch+yaml"
MERGE_PATCH: Final = "application/merge-patch+json"
_SECONDS: Final = 30
_REFUSED: Final = 300
_FIELD_MANAGER: Final = "eks-devices"
# The server asks to come back later while it gets ready to serve a new kind.
_RETRIES: Final = urllib3.Retry(
    total=10,
    connect=0,
    read=0,
    redirect=0,
    status_forcelist=[429],
    allowed_methods=None,
    raise_on_status=False,
)


class ApiError(Exception):
    """A request was refused; `code` is HTTP's, `reason` the server's word, `message` its text."""

    def __init__(self, request: str, code: int, body: bytes) -> None:
        try:
            said = json.loads(body)
        except ValueError:
            said = None
        said = said if isinstance(said, dict) else {}
        self.code = code
        self.reason = str(said.get("reason", ""))
        self.message = str(said.get("message", body.decode(errors="replace")))
        super().__init__(f"{request}: {code} {self.reason}: {self.message}")


@dataclass(frozen=True)
class Api:
    """A client of one API server, for one who asks; safe to use from several threads.

    Attributes:
        server: Its address.
        pool: The connections, with the certificate of whoever asks, if that is the proof.
        headers: What each request says besides, such as a token.
        warnings: What the server warned this client of, in order.
        asked: How many requests were sent, by method; clients made from one another share it.
    """

    server: str
    pool: urllib3.PoolManager
    headers: urllib3.HTTPHeaderDict = field(default_factory=urllib3.HTTPHeaderDict)
    warnings: list[str] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    _kinds: dict[tuple[str, str], Object] = field(default_factory=dict)

    @classmethod
    def of(cls, kubeconfig: Path) -> Api:
        """The client of whoever holds a kubeconfig that `Credentials` wrote."""
        content = json.loads(kubeconfig.read_text(encoding="utf-8"))
        cluster, user = content["clusters"][0]["cluster"], content["users"][0]["user"]
        pool = urllib3.PoolManager(
            maxsize=16,
            retries=_RETRIES,
            ca_certs=cluster["certificate-authority"],
            cert_file=user["client-certificate"],
            key_file=user["client-key"],
        )
        return cls(server=cluster["server"], pool=pool)

    def as_user(self, name: str, *groups: str) -> Api:
        """The same client in the name of another user; only an administrator may do that."""
        headers = urllib3.HTTPHeaderDict({"Impersonate-User": name})
        for group in groups:
            headers.add("Impersonate-Group", group)
        return replace(self, headers=headers, warnings=[])

    def with_token(self, token: str) -> Api:
        """The client of whoever holds a token, and nothing but that."""
        trust = self.pool.connection_pool_kw["ca_certs"]
        pool = urllib3.PoolManager(maxsize=2, retries=_RETRIES, ca_certs=trust)
        headers = urllib3.HTTPHeaderDict({"Authorization": f"Bearer {token}"})
        return replace(self, pool=pool, headers=headers, warnings=[])

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        content_type: str = JSON,
        query: Mapping[str, str | int] | None = None,
    ) -> Object:
        """Send one request and return the answer.

        Raises:
            ApiError: The server refused it.
        """
        response = self._send(method, path, body, content_type, query or {})
        answer: Object = json.loads(response.data or b"{}")
        return answer

    def apply(self, item: Mapping[str, Any], **query: str | int) -> Object:
        """Apply an object on the server's side; a field that its kind does not have is an error."""
        options = {"fieldManager": _FIELD_MANAGER, "force": "true", "fieldValidation": "Strict"}
        path = self.path(item)
        return self.request("PATCH", path, item, content_type=APPLY_PATCH, query=options | query)

    def create(self, item: Mapping[str, Any]) -> Object:
        """Create an object that may not exist yet."""
        meta = item["metadata"]
        path = self.collection(item["apiVersion"], item["kind"], meta.get("namespace"))
        return self.request("POST", path, item, query={"fieldValidation": "Strict"})

    def get(self, item: Mapping[str, Any]) -> Object | None:
        """An object as it is now; None when it is not there."""
        return self.find(self.path(item))

    def find(self, path: str) -> Object | None:
        """What is at a path; None when nothing is."""
        try:
            return self.request("GET", path)
        except ApiError as error:
            if error.code == HTTPStatus.NOT_FOUND:
                return None
            raise

    def delete(self, item: Mapping[str, Any], **query: str | int) -> None:
        """Delete an object and what it owns; one that is not there is fine."""
        try:
            options = {"propagationPolicy": "Background", **query}
            self.request("DELETE", self.path(item), query=options)
        except ApiError as error:
            if error.code != HTTPStatus.NOT_FOUND:
                raise

    def merge(self, path: str, change: object) -> Object:
        """Change parts of an object."""
        return self.request("PATCH", path, change, content_type=MERGE_PATCH)

    def list(
        self, api_version: str, kind: str, namespace: str | None = None, **query: str | int
    ) -> list[Object]:
        """The objects of a kind, of one namespace or of all."""
        answer = self.request("GET", self.collection(api_version, kind, namespace), query=query)
        return list(answer["items"])

    def watch(self, path: str, version: str) -> Iterator[Object]:
        """What changes from a version of a collection on, until the server ends the answer."""
        query: dict[str, str | int] = {
            "watch": 1,
            "resourceVersion": version,
            "timeoutSeconds": 300,
        }
        response = self._send("GET", path, None, JSON, query, stream=True)
        with response:
            for line in response:
                yield json.loads(line)

    def path(self, item: Mapping[str, Any]) -> str:
        """Where an object is.

        Raises:
            ValueError: It lacks the namespace that its kind needs, so it would be found nowhere.
        """
        meta = item["metadata"]
        namespaced = self._resource(item["apiVersion"], item["kind"])["namespaced"]
        if namespaced and not meta.get("namespace"):
            raise ValueError(f"{item['kind']} {meta['name']} has no namespace")
        place = self.collection(item["apiVersion"], item["kind"], meta.get("namespace"))
        return f"{place}/{meta['name']}"

    def collection(self, api_version: str, kind: str, namespace: str | None = None) -> str:
        """Where the objects of a kind are."""
        resource = self._resource(api_version, kind)
        inside = f"/namespaces/{namespace}" if resource["namespaced"] and namespace else ""
        return f"{_base(api_version)}{inside}/{resource['name']}"

    def resources(self) -> Iterator[tuple[str, Object]]:
        """Every resource that is served, with its API version; subresources too."""
        groups = self.request("GET", "/apis")["groups"]
        for version in ("v1", *(one["preferredVersion"]["groupVersion"] for one in groups)):
            for resource in self.request("GET", _base(version))["resources"]:
                yield version, resource

    def _resource(self, api_version: str, kind: str) -> Object:
        if (api_version, kind) not in self._kinds:
            for resource in self.request("GET", _base(api_version))["resources"]:
                if "/" not in resource["name"]:
                    self._kinds[api_version, resource["kind"]] = resource
        if (api_version, kind) not in self._kinds:
            text = json.dumps({"reason": "NoKind", "message": f"no {kind} in {api_version}"})
            raise ApiError(f"GET {_base(api_version)}", HTTPStatus.NOT_FOUND, text.encode())
        return self._kinds[api_version, kind]

    def _send(
        self,
        method: str,
        path: str,
        body: object,
        content_type: str,
        query: Mapping[str, str | int],
        *,
        stream: bool = False,
    ) -> urllib3.BaseHTTPResponse:
        headers = self.headers | {"Content-Type": content_type}
        address = f"{self.server}{path}" + (f"?{urlencode(query)}" if query else "")
        data = None if body is None else json.dumps(body)
        # A watch is silent for as long as nothing changes.
        timeout = None if stream else _SECONDS
        response = self.pool.request(
            method,
            address,
            body=data,
            headers=headers,
            preload_content=not stream,
            timeout=timeout,
        )
        self.asked[method] += 1
        self.warnings.extend(response.headers.getlist("Warning"))
        if response.status >= _REFUSED:
            raise ApiError(f"{method} {path}", response.status, response.data)
        return response


def _base(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
