"""Starts and stops a control plane: etcd, API server, controllers and scheduler."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

import urllib3

from .._outcome import OperationError
from . import components
from .binaries import Binaries
from .client import Api
from .components import LOOPBACK
from .credentials import ADMINISTRATORS, Credentials
from .processes import Process, free_ports, wait_until

T = TypeVar("T")

_OK: Final = 200
_SECONDS_TO_START: Final = 60
# Another program can take a port between our look and the start.
_ATTEMPTS: Final = 3
_PORT_TAKEN: Final = "address already in use"


class ControlPlane:
    """A control plane that runs while it is entered, in a folder of its own.

    It listens on free ports of loopback, with keys that were made for the run. Its processes end
    with the block, and also when this process is killed.

    Args:
        binaries: What to run.
        folder: Where logs and keys are.
        node_grace_seconds: How long a node counts as alive that says nothing; Kubernetes' default
            of less than a minute unless given.
        nodes_to_score_percent: How many of the nodes that fit a Pod are compared, at least a
            hundred; as many as Kubernetes thinks fit for the size of the cluster unless given.

    Attributes:
        folder: Where logs and keys are, also afterwards.
        version: The version of the API server.
    """

    def __init__(
        self,
        binaries: Binaries,
        folder: Path,
        *,
        node_grace_seconds: int | None = None,
        nodes_to_score_percent: int | None = None,
    ) -> None:
        self.folder = folder
        self.version = binaries.version
        self._binaries = binaries
        self._node_grace_seconds = node_grace_seconds
        self._nodes_to_score = nodes_to_score_percent
        self._processes: list[Process] = []
        self._kubeconfig: Path | None = None
        self._api: Api | None = None

    @property
    def api(self) -> Api:
        """The client of an administrator.

        Raises:
            OperationError: The control plane does not run.
        """
        return _running(self._api)

    @property
    def kubeconfig(self) -> Path:
        """A file with which its holder is an administrator.

        Raises:
            OperationError: The control plane does not run.
        """
        return _running(self._kubeconfig)

    @property
    def processes(self) -> tuple[Process, ...]:
        """What runs, in the order of its start."""
        return tuple(self._processes)

    def __enter__(self) -> Self:
        """Start everything, and return when all of it is healthy.

        Raises:
            OperationError: A component did not start; with the end of its log.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                self._start(self.folder / f"start-{attempt}")
            except BaseException as error:
                self.stop()
                if attempt == _ATTEMPTS or _PORT_TAKEN not in str(error):
                    raise
            else:
                return self
        raise AssertionError("the last attempt returns or raises")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop everything."""
        self.stop()

    def stop(self) -> None:
        """End what runs, last first; logs and keys stay."""
        if self._api is not None:
            self._api.pool.clear()
        self._api = self._kubeconfig = None
        while self._processes:
            self._processes.pop().stop()

    def _start(self, folder: Path) -> None:
        folder.mkdir()
        client, peer, secure, controllers, scheduler = free_ports(5)
        keys = Credentials(folder / "keys", host=LOOPBACK)
        etcd, server = f"https://{LOOPBACK}:{client}", f"https://{LOOPBACK}:{secure}"
        kubeconfig = keys.kubeconfig(server, "administrator", ADMINISTRATORS)
        api = Api.of(kubeconfig)

        peers, data = f"https://{LOOPBACK}:{peer}", folder / "data"
        arguments = components.etcd(etcd, peers, data, keys)
        self._run("etcd", arguments, folder, _answers(api, f"{etcd}/health"), data=data)
        arguments = components.api_server(etcd, secure, keys)
        self._run("kube-apiserver", arguments, folder, _answers(api, f"{server}/readyz"))
        arguments = components.controller_manager(
            server, controllers, keys, node_grace_seconds=self._node_grace_seconds
        )
        healthy = _answers(api, f"https://{LOOPBACK}:{controllers}/healthz")
        self._run("kube-controller-manager", arguments, folder, healthy)
        arguments = components.scheduler(
            server, scheduler, keys, folder, nodes_to_score_percent=self._nodes_to_score
        )
        healthy = _answers(api, f"https://{LOOPBACK}:{scheduler}/healthz")
        self._run("kube-scheduler", arguments, folder, healthy)
        self._api, self._kubeconfig = api, kubeconfig

    def _run(
        self,
        name: str,
        arguments: list[str],
        folder: Path,
        healthy: Callable[[], bool],
        *,
        data: Path | None = None,
    ) -> None:
        command = [str(self._binaries.path(name)), *arguments]
        process = Process(name, command, folder / f"{name}.log", data=data)
        self._processes.append(process)
        wait_until(healthy, process, _SECONDS_TO_START)


def _running(value: T | None) -> T:
    if value is None:
        raise OperationError("the control plane does not run; enter it first")
    return value


def _answers(api: Api, address: str) -> Callable[[], bool]:
    def ask() -> bool:
        try:
            return api.pool.request("GET", address, timeout=2).status == _OK
        except urllib3.exceptions.HTTPError:
            return False

    return ask
