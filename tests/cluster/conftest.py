"""Control planes for the tests, and what the tests do with them in words."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.oracle.oracle import Oracle, built_minors

from eks_device_charts import ImageSource, device_manifests
from eks_device_operations._outcome import OperationError
from eks_device_operations.control_plane import (
    Api,
    Binaries,
    ControlPlane,
    Kubelets,
    apply_all,
    delete_all,
    find_binaries,
    group_node,
    plain_node,
    settle,
)
from eks_device_operations.control_plane.pods import make_namespace, pod, remove, wait_offered
from eks_devices import (
    Capacity,
    ClusterPlan,
    DeviceType,
    Mechanism,
    NodegroupPlan,
    NodegroupSpec,
    plan_cluster,
)

ROOT = Path(__file__).parents[2]
MINOR = "1.34"
# The first patch whose kubelet keeps a DRA driver's registration.
KUBELET = "v1.34.2"
DRA, PLUGIN = Mechanism.DRA, Mechanism.DEVICE_PLUGIN
GPU, NEURON, EFA = DeviceType.GPU, DeviceType.NEURON, DeviceType.EFA
EVERY_MANAGER = {
    NEURON: (DRA, PLUGIN),
    GPU: (DRA, PLUGIN),
    DeviceType.COMPUTE_DOMAIN: (DRA,),
    EFA: (DRA, PLUGIN),
}
IMAGES = ImageSource(region="us-east-2")

PLANS_OF_THE_APP = """
import pathlib, pickle, runpy, sys
app = runpy.run_path(sys.argv[1])
groups = {"Training": app["cluster"].plan.nodegroups, "Blackwell": (app["gb200"].plan,)}
pathlib.Path(sys.argv[2]).write_bytes(pickle.dumps(groups))
"""

Item = dict[str, Any]
TALLY = pytest.StashKey[Counter[str]]()
MOST_SECONDS = "seconds to start, at most"


@dataclass
class World:
    """A cluster with nothing in it yet, and what happens there."""

    plane: ControlPlane = field(repr=False)
    api: Api = field(repr=False)
    kubelets: Kubelets = field(repr=False)
    tally: Counter[str]
    applied: list[Item] = field(default_factory=list, repr=False)

    def install(self, *items: Item) -> list[Item]:
        """Apply objects, none of which the server warns of; what it made of them."""
        before = len(self.api.warnings)
        # Noted first: what a refusal leaves behind has to go as well.
        self.applied += items
        made = apply_all(self.api, items)
        assert self.api.warnings[before:] == []
        self.tally["objects applied"] += len(items)
        return made

    def join(
        self, group: NodegroupPlan, count: int = 1, *, taints: Sequence[Item] = ()
    ) -> list[str]:
        """Let nodes of a group join, with taints that somebody else adds."""
        names = [f"{group.name.lower()}-{index}" for index in range(count)]
        for name in names:
            node = group_node(group, name, kubelet_version=KUBELET)
            node["spec"]["taints"] += taints
            self.kubelets.join(node, group)
        self.tally["nodes"] += count
        return names

    def join_other(self, name: str, **labels: str) -> str:
        """Let a node join that no plan knows."""
        node = plain_node(name, instance_type="m7i.2xlarge", kubelet_version=KUBELET, labels=labels)
        self.kubelets.join(node)
        self.tally["nodes"] += 1
        return name

    def serve(self, plan: ClusterPlan, namespace: str) -> None:
        """Let a node of each group join, with all its devices, and make a namespace for claims."""
        self.install(*device_manifests(plan, images=IMAGES))
        nodes = {self.join(group)[0]: group for group in plan.nodegroups}
        wait_offered(self.api, nodes)
        make_namespace(self.api, namespace)

    def settle(self) -> None:
        """Wait until the DaemonSets have their Pods, and no node has anything to complain of."""
        settle(self.api)
        assert self.kubelets.faults == []

    @staticmethod
    def planned(nodes: Mapping[str, NodegroupPlan]) -> dict[str, list[str]]:
        """The managers that nodes should have, by the plans of their groups."""
        return {
            name: sorted(f"{one.device_type}/{one.mechanism}" for one in group.devices)
            for name, group in nodes.items()
        }

    def managers(self) -> dict[str, list[str]]:
        """The managers of each node, such as `gpu/dra`, once the cluster has made up its mind."""
        self.settle()
        return {
            name: ["/".join(key) for key in self.kubelets.managers(name)]
            for name in self.kubelets.names()
        }

    def remove(self, items: Sequence[Item]) -> None:
        """Take objects away, and wait until they are gone."""
        delete_all(self.api, items)
        self.applied = [item for item in self.applied if item not in items]

    def clear(self) -> None:
        """Take away every node and every object, and wait until all of it is gone."""
        self.remove(self.applied)
        for name in self.kubelets.names():
            self.kubelets.leave(name)
        self.kubelets.faults.clear()


@pytest.fixture(scope="session")
def binaries() -> Binaries:
    try:
        return find_binaries(MINOR)
    except OperationError as error:
        pytest.exit(f"{error} (make controlplane builds them)", returncode=2)


@pytest.fixture(scope="session", params=built_minors())
def oracle(request: pytest.FixtureRequest, pytestconfig: pytest.Config) -> Iterator[Oracle]:
    """The allocator of each minor in turn."""
    try:
        started = Oracle(request.param)
    except OperationError as error:
        pytest.exit(f"{error}", returncode=2)
    with started:
        yield started
    pytestconfig.stash[TALLY][f"questions to the allocator of {started.minor}"] += started.asked


@pytest.fixture(scope="session")
def start(
    binaries: Binaries, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Callable[[], AbstractContextManager[World]]:
    """Starts a control plane with nothing in it; its logs stay in pytest's folder."""
    tally = pytestconfig.stash[TALLY]

    @contextmanager
    def started() -> Iterator[World]:
        before = time.monotonic()
        with ControlPlane(binaries, tmp_path_factory.mktemp("control-plane")) as plane:
            seconds = round(time.monotonic() - before)
            tally[MOST_SECONDS] = max(tally[MOST_SECONDS], seconds)
            tally[f"control planes of {plane.version}"] += 1
            api = plane.api
            with Kubelets(api) as kubelets:
                yield World(plane=plane, api=api, kubelets=kubelets, tally=tally)
                assert kubelets.faults == []
            tally["requests"] += api.asked.total()

    return started


@pytest.fixture(scope="module")
def shared(start) -> Iterator[World]:
    """One world for all tests of a file."""
    with start() as world:
        yield world


@pytest.fixture
def world(start) -> Iterator[World]:
    """A world for one test; a new control plane is there sooner than a namespace is gone."""
    with start() as world:
        yield world


@pytest.fixture
def run(shared: World) -> Iterator[Callable[..., Item]]:
    """Makes claims and a Pod that uses them, which go when the test is over."""
    pods: list[Item] = []
    others: list[Item] = []

    def make(name: str, *manifests: Item, **options: Any) -> Item:
        others.extend(manifests)
        shared.install(*manifests)
        item = pod(name, **options)
        pods.append(item)
        shared.api.create(item)
        return item

    yield make
    remove(shared.api, *pods)
    for item in others:
        shared.api.delete(item)


@pytest.fixture(scope="session")
def spec() -> Callable[..., NodegroupSpec]:
    """A node group by its type; one of a block where it cannot be had otherwise."""

    def make(name: str, instance_type: str, **options: Any) -> NodegroupSpec:
        if instance_type.startswith("p6e"):
            options = {"capacity": Capacity.block("cr-0123456789abcdef0")} | options
        return NodegroupSpec(name=name, instance_type=instance_type, **{"max_size": 2} | options)

    return make


@pytest.fixture(scope="session")
def planned() -> Callable[..., ClusterPlan]:
    """The plan of node groups, and of what is kept besides."""

    def plan(*groups: NodegroupSpec, keep: Any = None, **options: Any) -> ClusterPlan:
        return plan_cluster(kubernetes_version=MINOR, nodegroups=groups, keep=keep or {}, **options)

    return plan


@pytest.fixture(scope="session")
def manifests() -> Callable[[ClusterPlan], list[Item]]:
    """The objects that install the managers of a plan."""
    return lambda plan: device_manifests(plan, images=IMAGES)


@pytest.fixture(scope="session")
def reference_app(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], tuple[Path, dict[str, tuple[NodegroupPlan, ...]]]]:
    """Synthesises app.py by a way of delivery: the cloud assembly, and the groups of each stack."""

    @cache
    def synthesise(delivery: str) -> tuple[Path, dict[str, tuple[NodegroupPlan, ...]]]:
        folder = tmp_path_factory.mktemp("assembly")
        context = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
        settings = {"delivery": delivery, "kubernetes_version": MINOR}
        # In a process of its own: jsii's takes its environment from the first app.
        subprocess.run(
            [sys.executable, "-c", PLANS_OF_THE_APP, str(ROOT / "app.py"), str(folder / "plans")],
            env=os.environ
            | {"CDK_OUTDIR": str(folder), "CDK_CONTEXT_JSON": json.dumps(context | settings)},
            check=True,
        )
        groups = pickle.loads((folder / "plans").read_bytes())  # noqa: S301  (written just now)
        return folder, groups

    return synthesise


@pytest.fixture(scope="session")
def every_manager(planned, manifests) -> list[Item]:
    """The objects of every manager at once."""
    return list(manifests(planned(keep=EVERY_MANAGER)))


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TALLY] = Counter()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process among several tells the first one what really ran in it."""
    told = getattr(session.config, "workeroutput", None)
    if told is not None:
        tally: Counter[str] = session.config.stash[TALLY]
        told["tally"] = dict(tally)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    tally: Counter[str] = node.config.stash[TALLY]
    told: dict[str, int] = getattr(node, "workeroutput", {}).get("tally", {})
    most = max(tally[MOST_SECONDS], told.pop(MOST_SECONDS, 0))
    tally.update(told)
    if most:
        tally[MOST_SECONDS] = most


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Function,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Name the logs of the control plane that a test failed on."""
    report = yield
    if report.failed:
        worlds = [one for one in item.funcargs.values() if isinstance(one, World)]
        report.sections += [("logs", f"{one.plane.folder}") for one in worlds]
    return report


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """What really ran, in numbers."""
    tally = config.stash[TALLY]
    if tally:
        terminalreporter.section("control plane")
        for name, count in sorted(tally.items()):
            terminalreporter.write_line(f"{name}: {count}")
