"""What the allocator of a Kubernetes minor makes of claims, asked of the oracle beside this file.

An oracle is a process that lives as long as a `with` block. It answers in the order in which it
is asked, so that thousands of questions can be on their way.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from eks_device_operations._outcome import OperationError
from eks_device_operations.control_plane.binaries import cache_folder as control_plane_folder
from eks_devices._data import read_toml
from eks_devices.kubernetes import gate_is_on, version_key

Json = Mapping[str, Any]

HERE = Path(__file__).parent
NAME = "oracle"
VARIABLE = "EKS_DEVICES_ORACLE"


class Scope(StrEnum):
    """How far an error reaches."""

    ATTEMPT = "attempt"
    """The scheduler aborts its attempt: no other node is tried."""
    POD = "pod"
    """The Pod is refused before any node is tried."""
    NODE = "node"
    """This node is not fit; others are tried."""
    TIME = "time"
    """The search took too long; others are tried."""
    LINE = "line"
    """The question makes no sense."""
    PANIC = "panic"
    """The allocator panicked, as the scheduler would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A device of an allocation."""

    claim: str
    request: str
    driver: str
    pool: str
    device: str
    # Named as Kubernetes writes them.
    adminAccess: bool = False  # noqa: N815
    shareID: str = ""  # noqa: N815
    consumedCapacity: Mapping[str, str] = field(default_factory=dict)  # noqa: N815


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Whether the claims of a Pod can be had on a node; without an error, just not there."""

    id: str
    allocated: bool
    scope: Scope | None = None
    error: str = ""
    devices: tuple[Given, ...] = ()


def built_minors() -> list[str]:
    """The minors that there is a module file for, oldest first."""
    found = (file.name.removeprefix("v").removesuffix(".mod") for file in HERE.glob("v*.mod"))
    return sorted(found, key=version_key)


def cache_folder(minor: str, environ: Mapping[str, str] = os.environ) -> Path:
    """The folder that the oracle of a minor is built into, beside that of control planes."""
    return control_plane_folder(minor, environ).parents[1] / NAME / minor


def binary(minor: str, environ: Mapping[str, str] = os.environ) -> Path:
    """The oracle of a minor: in the folder that `EKS_DEVICES_ORACLE` names, or in the cache.

    Raises:
        OperationError: It is not there.
    """
    named = environ.get(VARIABLE)
    folder = Path(named).expanduser() / minor if named else cache_folder(minor, environ)
    if not os.access(folder / NAME, os.X_OK):
        raise OperationError(f"there is no oracle in {folder}; fix: make oracle builds it")
    return folder / NAME


def gates(minor: str) -> dict[str, bool]:
    """The feature gates of DRA as a minor has them by itself."""
    names = read_toml("kubernetes.toml")["gates"]
    return {name: gate_is_on(name, minor) for name in names if name.startswith("DRA")}


def question(
    claims: Sequence[Json],
    *,
    node: str = "",
    labels: Mapping[str, str] | None = None,
    recall: str = "",
    **setting: Any,
) -> dict[str, Any]:
    """The claims of one Pod, for a node.

    Args:
        claims: ResourceClaims. Those with an allocation say what is taken.
        node: The name of the node; empty where it is recalled.
        labels: Of the node.
        recall: The setting of that name serves for what is not said here.
        setting: `slices`, `classes`, `features` by gate, `seconds` before the search ends (as in
            the scheduler, 10), and `remember`, a name for the setting.
    """
    asked = {"claims": list(claims), "recall": recall} | setting
    return asked | ({"node": {"name": node, "labels": labels or {}}} if node else {})


def claim_of(template: Json, name: str = "") -> dict[str, Any]:
    """The claim that the control plane makes from a template for a Pod."""
    metadata = {"name": name or template["metadata"]["name"], "namespace": "default"}
    return {
        "apiVersion": template["apiVersion"],
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": template["spec"]["spec"],
    }


class Oracle:
    """A running oracle of a minor.

    Attributes:
        minor: Such as `1.34`.
        asked: How many questions it has answered.

    Raises:
        OperationError: It is not built, or it ended before it had answered; with what it said.
    """

    def __init__(self, minor: str, environ: Mapping[str, str] = os.environ) -> None:
        self.minor = minor
        self.asked = 0
        self._binary = binary(minor, environ)
        self._errors: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        self._process = subprocess.Popen(
            [self._binary],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for stream in filter(None, (self._process.stdin, self._process.stdout, self._errors)):
            # What was on its way to the process has nowhere to go.
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def said(self, option: str) -> str:
        """What the oracle prints for `-version` or `-gates`."""
        command = [str(self._binary), option]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    def costs(self, texts: Iterable[str]) -> list[tuple[int, str]]:
        """What the API server estimates that expressions cost, and why one does not compile."""
        command = [str(self._binary), "-costs"]
        asked = "".join(f"{json.dumps(one)}\n" for one in texts)
        told = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
        found = map(json.loads, told.stdout.splitlines())
        return [(one["cost"], one.get("error", "")) for one in found]

    def ask(self, claims: Sequence[Json], **setting: Any) -> Answer:
        """Ask one question; the arguments are those of `question`."""
        (answer,) = self.ask_all([question(claims, **setting)])
        return answer

    def ask_all(self, questions: Iterable[Json]) -> Iterator[Answer]:
        """The answers to questions, in their order; each is sent while others are answered.

        Where a question has no `id`, its number serves.
        """
        sent: queue.SimpleQueue[str | BaseException | None] = queue.SimpleQueue()
        threading.Thread(target=self._send, args=(questions, sent), daemon=True).start()
        while (told := sent.get()) is not None:
            if isinstance(told, BaseException):
                raise told
            yield self._receive(told)

    def _send(
        self, questions: Iterable[Json], sent: queue.SimpleQueue[str | BaseException | None]
    ) -> None:
        stream = self._process.stdin
        assert stream is not None
        try:
            for index, one in enumerate(questions):
                asked = {"id": str(index), **one}
                line = json.dumps(asked, separators=(",", ":")) + "\n"
                # Before it is sent: where the oracle has ended, the reader tells what it said.
                sent.put(asked["id"])
                stream.write(line)
                stream.flush()
        except Exception as error:  # noqa: BLE001  (raised where the answers are read)
            sent.put(error)
        sent.put(None)

    def _receive(self, asked: str) -> Answer:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            self._errors.seek(0)
            raise OperationError(f"the oracle of {self.minor} ended: {self._errors.read()}")
        self.asked += 1
        answer = _answer(json.loads(line))
        if answer.id != asked:
            raise OperationError(f"an answer to {answer.id!r} where {asked!r} was asked")
        return answer


def _answer(told: dict[str, Any]) -> Answer:
    devices = tuple(Given(**one) for one in told.pop("devices", ()))
    scope = Scope(told.pop("scope")) if "scope" in told else None
    return Answer(scope=scope, devices=devices, **told)
