"""Random claims on devices that are shared, cut or tainted, with what the engine says of them."""

from __future__ import annotations

import copy
import functools
import random
from dataclasses import dataclass
from typing import Any

from tests.cluster.oracle.oracle import Answer

from eks_devices._frozen import FrozenDict
from eks_devices.feasibility.judge import Judgement, judged
from eks_devices.feasibility.minors import scheduler_of
from eks_devices.feasibility.reading.asked import read_manifest
from eks_devices.feasibility.slices import NodeDevices, read_slices
from eks_devices.feasibility.wanted import Wanted
from eks_devices.kubernetes import gate_is_on

API = "resource.k8s.io/v1"
DRIVER = "gpu.example.com"
CLASS = {
    "apiVersion": API,
    "kind": "DeviceClass",
    "metadata": {"name": "any"},
    "spec": {"selectors": [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}]},
}
CLASSES = FrozenDict({"any": (f"device.driver == '{DRIVER}'",)})
OWN = f"device.attributes['{DRIVER}']"
SELECTORS = (
    f"{OWN}.kind == 'a'",
    f"{OWN}.kind != 'a'",
    f"{OWN}.at < 3",
    f"'root' in {OWN} && {OWN}.root != 'x'",
    f"{OWN}.root == 'y'",
    "true",
)
KEYS = ("broken", "slow")


@dataclass(frozen=True, eq=False)
class Case:
    """Claims of a Pod and the slices of a node."""

    seed: int
    slices: list[dict[str, Any]]
    claims: list[dict[str, Any]]
    node: NodeDevices
    wanted: tuple[Wanted, ...]

    def given(self, found: Judgement) -> list[tuple[str, str]]:
        """Claims and devices, by name."""
        return sorted((f"c{one.claim}", self.node.devices[one.device].name) for one in found.picks)


class Generator:
    """Questions from a seed."""

    def __init__(self, seed: int, version: str) -> None:
        self.random, self.seed, self.version = random.Random(seed), seed, version

    def case(self) -> Case:
        """All of a question."""
        slices, claims = self.slices(), self.claims()
        node = read_slices(slices, scheduler_of(self.version))
        wanted = tuple(read_manifest(one, "c") for one in claims)
        return Case(self.seed, slices, claims, node, wanted)

    def slices(self) -> list[dict[str, Any]]:
        """The slices of a node; what can be shared, cut or tainted on it differs."""
        scheduler = scheduler_of(self.version)
        chance = self.random.random
        self.shares = scheduler.shares and chance() < 0.5
        self.taints = scheduler.taints and chance() < 0.2
        self.sets = self.counters() if scheduler.counters and chance() < 0.4 else []
        devices = [self.device(at) for at in range(self.random.randint(1, 7))]
        if not self.sets:
            return [self.slice("devices", devices=devices)]
        counters = self.slice("counters", of=2, sharedCounters=self.sets)
        return [counters, self.slice("devices", of=2, devices=devices)]

    def counters(self) -> list[dict[str, Any]]:
        pick = self.random.randint
        return [
            {"name": f"s{at}", "counters": {name: {"value": str(pick(1, 4))} for name in "xy"}}
            for at in range(pick(1, 3))
        ]

    def consumed(self) -> list[dict[str, Any]]:
        pick = self.random
        sets = pick.sample(self.sets, k=min(len(self.sets), pick.choice((0, 1, 1, 1, 1, 2))))
        return [
            {
                "counterSet": one["name"],
                "counters": {
                    name: {"value": str(pick.randint(1, 2))} for name in pick.choice(("x", "xy"))
                },
            }
            for one in sets
        ]

    def capacity(self, *, is_shared: bool) -> dict[str, Any]:
        pick = self.random.choice
        found: dict[str, Any] = {}
        for name in pick((["memory"], ["memory"], ["memory", "width"], [])):
            found[name] = {"value": pick(("4", "8", "10"))}
            if is_shared and (policy := self.policy()):
                found[name]["requestPolicy"] = policy
        return found

    def policy(self) -> dict[str, Any]:
        pick = self.random.choice
        bounds: dict[str, Any] = {"min": pick(("0", "1", "2"))}
        if self.random.random() < 0.5:
            bounds["max"] = "4"
        if self.random.random() < 0.5:
            bounds["step"] = pick(("1", "2", "500m"))
        return pick(
            (
                {},
                {"default": "2"},
                {"default": "2", "validValues": ["1", "2", "4"]},
                {"default": bounds["min"], "validRange": bounds},
                {"default": bounds["min"], "validRange": bounds},
            )
        )

    def slice(self, name: str, of: int = 1, **content: Any) -> dict[str, Any]:
        pool = {"name": "pool", "generation": 1, "resourceSliceCount": of}
        spec = {"driver": DRIVER, "nodeName": "node", "pool": pool, **content}
        return {
            "apiVersion": API,
            "kind": "ResourceSlice",
            "metadata": {"name": name},
            "spec": spec,
        }

    def device(self, at: int) -> dict[str, Any]:
        pick = self.random.choice
        attributes: dict[str, Any] = {"kind": {"string": pick("ab")}, "at": {"int": at}}
        if self.random.random() < 0.9:
            attributes["root"] = {"string": pick("xyz")}
        found: dict[str, Any] = {"name": f"d{at}", "attributes": attributes}
        is_shared = self.shares and self.random.random() < 0.7
        if is_shared:
            found["allowMultipleAllocations"] = True
        capacity = self.capacity(is_shared=is_shared)
        if is_shared and self.sets:
            # Of shares without amounts, 1.36 charges the counters with each Pod again.
            capacity.setdefault("memory", {"value": "8"})
        if capacity:
            found["capacity"] = capacity
        if self.sets and (consumed := self.consumed()):
            found["consumesCounters"] = consumed
        if self.taints and self.random.random() < 0.5:
            effect = pick(("NoSchedule", "NoExecute", "None"))
            found["taints"] = [{"key": pick(KEYS), "value": pick(("", "v")), "effect": effect}]
        return found

    def claims(self) -> list[dict[str, Any]]:
        """The claims of a Pod."""
        return [self.claim(f"c{at}") for at in range(self.random.choice((1, 1, 2)))]

    def claim(self, name: str) -> dict[str, Any]:
        requests = [self.request(at) for at in range(self.random.choice((1, 1, 2, 3)))]
        devices = {"requests": requests, "constraints": self.constraints(requests)}
        return {
            "apiVersion": API,
            "kind": "ResourceClaim",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"devices": devices},
        }

    def request(self, at: int) -> dict[str, Any]:
        if self.random.random() < 0.2:
            options = [self.ask() | {"name": f"o{n}"} for n in range(self.random.randint(1, 3))]
            if scheduler_of(self.version).loses_alternatives:
                for one in options[1:]:
                    one.pop("allocationMode", None)
            return {"name": f"r{at}", "firstAvailable": options}
        ask = self.ask()
        if self.random.random() < 0.07:
            ask["adminAccess"] = True
        return {"name": f"r{at}", "exactly": ask}

    def ask(self) -> dict[str, Any]:
        pick = self.random
        found: dict[str, Any] = {"deviceClassName": "any"}
        if pick.random() < 0.15:
            found["allocationMode"] = "All"
        else:
            found["count"] = pick.choice((1, 1, 1, 2, 2, 3))
        if pick.random() < 0.5:
            found["selectors"] = [{"cel": {"expression": pick.choice(SELECTORS)}}]
        if pick.random() < (0.5 if self.shares else 0.1):
            names = pick.choice(
                (["memory"], ["memory"], ["memory"], ["width"], ["memory", "width"])
            )
            amounts = ("0", "1", "2", "3", "5", "1500m")
            found["capacity"] = {"requests": {name: pick.choice(amounts) for name in names}}
        if self.taints and pick.random() < 0.5:
            found["tolerations"] = [self.toleration()]
        return found

    def toleration(self) -> dict[str, Any]:
        pick = self.random.choice
        found = {"operator": pick(("Exists", "Equal"))}
        if self.random.random() < 0.6:
            found["key"] = pick(KEYS)
        if found["operator"] == "Equal" and self.random.random() < 0.5:
            found["value"] = "v"
        if self.random.random() < 0.3:
            found["effect"] = pick(("NoSchedule", "NoExecute"))
        return found

    def constraints(self, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
        found = []
        for _ in range(self.random.choice((0, 0, 1, 2))):
            how = self.random.choice(("matchAttribute", "distinctAttribute"))
            one: dict[str, Any] = {how: f"{DRIVER}/{self.random.choice(('root', 'kind', 'at'))}"}
            if self.random.random() < 0.4:
                one["requests"] = [self.random.choice(requests)["name"]]
            found.append(one)
        return found


def stored(claim: dict[str, Any], version: str) -> dict[str, Any]:
    """A claim without what the API server of a minor drops."""
    kept = copy.deepcopy(claim)
    devices = kept["spec"]["devices"]
    for request in devices["requests"]:
        for ask in request.get("firstAvailable", [request.get("exactly")]):
            if not gate_is_on("DRAConsumableCapacity", version):
                ask.pop("capacity", None)
            if not gate_is_on("DRADeviceTaints", version):
                ask.pop("tolerations", None)
    return kept


@functools.cache
def judgement(case: Case) -> Judgement:
    """What the engine says of a case."""
    return judged(case.wanted, case.node, CLASSES)


def held(claim: dict[str, Any], answer: Answer) -> dict[str, Any]:
    """A claim with the devices that it got."""
    mine = [one for one in answer.devices if one.claim == claim["metadata"]["name"]]
    results = [
        {
            "request": one.request,
            "driver": one.driver,
            "pool": one.pool,
            "device": one.device,
            "adminAccess": one.adminAccess,
            **({"shareID": one.shareID} if one.shareID else {}),
            **({"consumedCapacity": dict(one.consumedCapacity)} if one.consumedCapacity else {}),
        }
        for one in mine
    ]
    return claim | {"status": {"allocation": {"devices": {"results": results}}}}
