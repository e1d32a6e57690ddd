"""Sends objects to the API server in a sensible order, and keeps what it says of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Final, TypeVar

import urllib3

from ..control_plane import Api, ApiError, apply_all, wait_for
from .files import Item, Object
from .namespaces import missing_namespaces, told
from .unplayed import why_left_out
from .workloads import Workload

T = TypeVar("T")
R = TypeVar("R")

_AT_ONCE: Final = 8
# What others need comes first; equal kinds in the order of the files.
_FIRST: Final = (
    "Namespace",
    "CustomResourceDefinition",
    "PriorityClass",
    "RuntimeClass",
    "StorageClass",
    "DeviceClass",
    "ServiceAccount",
    "LimitRange",
    "ResourceQuota",
)
_STEP: Final = re.compile(r"\.([A-Za-z0-9_-]+)|\[([^\]]+)\]")
_PATH: Final = re.compile(r"\b(?:spec|metadata)(?:\.[A-Za-z0-9_-]+|\[[^\]]+\])*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """What the API server refused, or what is passed over, and why.

    Of a workload that becomes several objects, `count` is how many of them are refused.
    """

    item: Item
    line: int
    message: str
    count: int = 1

    @property
    def place(self) -> str:
        """Where it is: `<file>:<line>`."""
        return f"{self.item.file}:{self.line}" if self.line else self.item.file


@dataclass(slots=True, kw_only=True)
class Sent:
    """What became of objects: refused, passed over, or made beside them."""

    refusals: list[Refusal] = field(default_factory=list)
    passed_over: list[Refusal] = field(default_factory=list)
    made: list[str] = field(default_factory=list)


def at_once(work: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Do work for each item, some at a time; the results are in the order of the items."""
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        return list(pool.map(work, items))
    finally:
        # Whoever interrupts this does not wait for the rest.
        pool.shutdown(cancel_futures=True)


def send_all(
    api: Api, items: Sequence[Item], workloads: Sequence[Workload], *, namespace: str
) -> Sent:
    """Send objects, and then workloads.

    Args:
        api: An administrator's client.
        items: The objects that are no workloads.
        workloads: The workloads.
        namespace: Where objects are that name no namespace.
    """
    return _Sending(api, namespace).all(items, workloads)


class _Sending:
    def __init__(self, api: Api, namespace: str) -> None:
        self._api = api
        self._namespace = namespace
        self._sent = Sent()

    def all(self, items: Sequence[Item], workloads: Sequence[Workload]) -> Sent:
        for kind in _FIRST:
            self._send_items([one for one in items if one.kind == kind])
            if kind == "Namespace":
                self._make_namespaces(items, workloads)
            elif kind == "ServiceAccount":
                self._make_accounts(workloads)
        self._send_items([one for one in items if one.kind not in _FIRST])
        self._wait_for_quotas(items)
        pairs = [(one.item, made) for one in workloads for made in one.objects]
        at_once(lambda pair: self._send(*pair), pairs)
        # One word for all Pods of a workload.
        self._sent.refusals = _first_of_each(self._sent.refusals)
        return self._sent

    def _send_items(self, items: Sequence[Item]) -> None:
        served = self._groups() if items else frozenset[str]()
        wanted = []
        for item in items:
            if why := why_left_out(item, served):
                self._pass_over(item, why)
            else:
                wanted.append((item, self._with_namespace(item)))
        at_once(lambda pair: self._send(*pair), wanted)

    def _groups(self) -> frozenset[str]:
        found = self._api.request("GET", "/apis")["groups"]
        return frozenset({"", *(one["name"] for one in found)})

    def _with_namespace(self, item: Item) -> Object:
        if item.namespace or not self._is_namespaced(item):
            return item.content
        return {
            **item.content,
            "metadata": {**item.content["metadata"], "namespace": self._namespace},
        }

    def _is_namespaced(self, item: Item) -> bool:
        probe = {"apiVersion": item.api_version, "kind": item.kind, "metadata": {"name": "any"}}
        try:
            self._api.path(probe)
        except ValueError:
            return True
        except (ApiError, urllib3.exceptions.HTTPError):
            return False
        return False

    def _send(self, item: Item, content: Object) -> None:
        try:
            self._make(content)
        except ApiError as error:
            line = item.line(_steps(error.message))
            self._sent.refusals.append(Refusal(item=item, line=line, message=error.message))
        except (TimeoutError, ValueError, urllib3.exceptions.HTTPError) as error:
            refusal = Refusal(item=item, line=item.line(), message=f"cannot be sent: {error}")
            self._sent.refusals.append(refusal)

    def _make(self, content: Object) -> None:
        """Make an object, or change it where one of its name is there, as `kubectl apply` does."""
        if content["kind"] == "CustomResourceDefinition":
            apply_all(self._api, [content])
            return
        try:
            self._api.create(content)
        except ApiError as error:
            if error.code != HTTPStatus.CONFLICT or not content["metadata"].get("name"):
                raise
            self._api.apply(content)

    def _make_namespaces(self, items: Sequence[Item], workloads: Sequence[Workload]) -> None:
        refused = {one.item.name for one in self._sent.refusals}
        there = {one.name for one in items if one.kind == "Namespace"} - refused
        for one in missing_namespaces(items, workloads, self._namespace):
            try:
                self._api.apply(one)
            except ApiError:
                continue  # what is in it is refused, with the reason
            self._sent.made.append(told(one))
            there.add(one["metadata"]["name"])
        wait_for(lambda: there <= self._ready_namespaces(), "the accounts of namespaces")

    def _ready_namespaces(self) -> set[str]:
        found = self._api.list("v1", "ServiceAccount", fieldSelector="metadata.name=default")
        return {one["metadata"]["namespace"] for one in found}

    def _make_accounts(self, workloads: Sequence[Workload]) -> None:
        """Make the accounts that Pods run under: a server refuses Pods without."""
        wanted = {
            (one.namespace, name)
            for one in workloads
            for spec in one.specs
            if isinstance(name := spec.get("serviceAccountName") or spec.get("serviceAccount"), str)
        }
        there = {
            (one["metadata"]["namespace"], one["metadata"]["name"])
            for one in (self._api.list("v1", "ServiceAccount") if wanted else ())
        }
        for namespace, name in sorted(wanted - there):
            meta = {"name": name, "namespace": namespace}
            try:
                self._api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
            except ApiError:
                continue  # the Pod is refused, with the reason
            self._sent.made.append(f"ServiceAccount {namespace}/{name}")

    def _wait_for_quotas(self, items: Sequence[Item]) -> None:
        """Wait until quotas count: the server takes no Pod before."""
        if any(one.kind == "ResourceQuota" for one in items):
            wait_for(self._quotas_count, "quotas that count")

    def _quotas_count(self) -> bool:
        found = self._api.list("v1", "ResourceQuota")
        return all(one.get("status", {}).get("hard") == one["spec"].get("hard") for one in found)

    def _pass_over(self, item: Item, why: str) -> None:
        self._sent.passed_over.append(Refusal(item=item, line=item.line(), message=why))


def _first_of_each(refusals: Sequence[Refusal]) -> list[Refusal]:
    """One refusal for each item, the first, with the count of all."""
    counts = Counter(id(one.item) for one in refusals)
    first = {id(one.item): one for one in reversed(refusals)}
    found = [replace(one, count=counts[key]) for key, one in first.items()]
    return sorted(found, key=lambda one: (one.item.file, one.line))


def _steps(message: str) -> tuple[str | int, ...]:
    """Where in an object a message points to, as far as it names a place."""
    found = _PATH.search(message)
    return tuple(_each_step(found.group())) if found else ()


def _each_step(path: str) -> Iterator[str | int]:
    for name, inner in _STEP.findall(f".{path}"):
        word = name or inner.strip('"')
        yield int(word) if word.isdecimal() else word
