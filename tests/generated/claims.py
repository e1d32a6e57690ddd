"""Claims that are made up, each from a seed: as people write them, and hostile ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from tests.feasibility_claims import EFA, GPU, NEURON, PCIE_ROOT, exactly, first_of, match
from tests.feasibility_claims import claim as claim_of
from tests.generated.expressions import Wild, for_efas, for_gpus, for_neuron, only_a_node_knows
from tests.generated.nodes import CLASSES, MADE_UP, ONE, Place

from eks_devices.names import COMPUTE_DOMAIN_CHANNEL_CLASS, MIG_CLASS

Json = dict[str, Any]
MATCHED = (
    f"{ONE}/root",
    f"{ONE}/root",
    f"{ONE}/index",
    f"{ONE}/version",
    f"{ONE}/mixed",
    f"{ONE}/own",
    "other.example.com/group",
    "other.example.com/root",
    f"{ONE}/nothing",
    "no.example.com/root",
)


def named(claim: Json, name: str) -> Json:
    """The claim, with a name of its own."""
    return claim | {"metadata": {"name": name, "namespace": "default"}}


def template_of(claim: Mapping[str, Any]) -> Json:
    """The template of a claim, under its name."""
    return {**claim, "kind": "ResourceClaimTemplate", "spec": {"spec": claim["spec"]}}


def _renamed(request: Json, name: str) -> Json:
    return request | {"name": name}


class AsPeopleWrite:
    """Claims for the devices of our drivers, most of them for those that a node has."""

    def __init__(self, rng: Random, place: Place) -> None:
        self.rng, self.place = rng, place
        counts = (
            {str(one.device_type): one.count for one in place.group.devices} if place.group else {}
        )
        self.gpus, self.neurons = counts.get("gpu", 0), counts.get("neuron", 0)
        self.efas = counts.get("efa", 0)
        self.own = {
            name.rpartition("/")[2]: typed["string"]
            for one in place.slices
            for name, typed in one["spec"]["devices"][0]["attributes"].items()
            if "string" in typed
        }
        self.is_cut = place.group is not None and place.group.mig is not None

    def pod(self) -> list[Json]:
        """The claims of one Pod."""
        kind = self._kind()
        if self.rng.random() < 0.12:
            return [named(kind(), f"c{at}") for at in range(self.rng.randint(2, 4))]
        return [named(kind(), "c0")]

    def _kind(self) -> Callable[[], Json]:
        gpu = [self.plain, self.plain, self.aligned, self.alternatives, self.every, self.several]
        kinds: list[Callable[[], Json]] = []
        kinds += gpu * bool(self.gpus) * (not self.is_cut)
        kinds += [self.cut] * 5 * self.is_cut
        kinds += [self.neuron, self.neuron, self.connected, self.connected] * bool(self.neurons)
        kinds += [self.network, self.whole] * bool(self.efas)
        if not kinds or self.rng.random() < 0.08:
            kinds = [self.plain, self.aligned, self.neuron, self.cut, self.network, self.channel]
        return self.rng.choice(kinds)

    def _count(self, there: int) -> int:
        """Mostly what there is, sometimes more."""
        if self.rng.random() < 0.07:
            return there + self.rng.randint(1, 2)
        some = [one for one in (1, 1, 2, 4, 8, there // 2, there) if 0 < one <= there]
        return self.rng.choice(some or [1])

    def _selected(self, device_class: str, name: str, **more: Any) -> Json:
        makers = {GPU: for_gpus, NEURON: for_neuron, EFA: for_efas, MIG_CLASS: for_gpus}
        chance = self.rng.random()
        many = 0 if chance < 0.6 else 1 if chance < 0.95 else 2
        texts = [makers[device_class](self.rng, self.own) for _ in range(many)]
        if self.rng.random() < 0.02:
            texts.append(only_a_node_knows(self.rng))
        return exactly(device_class, *texts, name=name, **more)

    def plain(self) -> Json:
        return claim_of(self._selected(GPU, "gpu", count=self._count(self.gpus)))

    def several(self) -> Json:
        names = [f"gpu-{at}" for at in range(self.rng.randint(2, 5))]
        requests = [
            self._selected(GPU, one, count=self._count(self.gpus // len(names))) for one in names
        ]
        about = self.rng.sample(names, self.rng.randint(1, len(names)))
        shared = [f"{GPU}/productName", f"{GPU}/driverVersion", PCIE_ROOT, f"{GPU}/uuid"]
        parts = [match(self.rng.choice(shared), *about)] * (self.rng.random() < 0.6)
        return claim_of(*requests, *parts)

    def aligned(self) -> Json:
        gpus, efas = self.rng.choice([1, 1, 1, 2, 2, 4, 8]), self.rng.choice([1, 1, 2, 4, 4, 5, 8])
        requests = [
            self._selected(GPU, "gpu", count=gpus),
            self._selected(EFA, "efa", count=efas),
        ]
        if self.rng.random() < 0.08:
            requests[1] = exactly(EFA, name="efa", allocationMode="All")
        names = self.rng.choice([[], [], ["gpu", "efa"], ["efa"], ["gpu"]])
        return claim_of(*requests, match(PCIE_ROOT, *names))

    def alternatives(self) -> Json:
        options = [
            self._selected(GPU, "x", count=self._count(self.gpus))
            for _ in range(self.rng.randint(1, 4))
        ]
        if self.rng.random() < 0.08:
            options[0] = exactly(GPU, allocationMode="All")
        parts = [first_of(*options, name="gpu")]
        if self.rng.random() < 0.3:
            parts.append(self._selected(EFA, "efa", count=self.rng.choice([1, 2, 4])))
            parts.append(match(PCIE_ROOT, *self.rng.choice([[], ["efa", "gpu/o0"], ["gpu"]])))
        return claim_of(*parts)

    def every(self) -> Json:
        device_class = self.rng.choice([GPU, GPU, EFA])
        mode = {"allocationMode": "All"}
        if device_class == GPU and self.rng.random() < 0.3:
            mode["adminAccess"] = True  # type: ignore[assignment]
        parts = [self._selected(device_class, "all", **mode)]
        if self.rng.random() < 0.2:
            parts.append(self._selected(GPU, "gpu", count=1))
        return claim_of(*parts)

    def cut(self) -> Json:
        chosen = self._selected(MIG_CLASS, "mig", count=self.rng.choice([1, 2, 3, 4, 5, 8, 12]))
        profile = self.rng.choice(["1g.10gb", "3g.40gb", "2g.20gb", "7g.80gb"])
        domain = f"device.attributes['{GPU}']"
        guard = f"'profile' in {domain} && {domain}.profile == '{profile}'"
        chosen["exactly"].setdefault("selectors", []).append({"cel": {"expression": guard}})
        parts = [match(f"{GPU}/parentUUID")] * (self.rng.random() < 0.5)
        return claim_of(chosen, *parts)

    def neuron(self) -> Json:
        request = self._selected(NEURON, "neuron", count=self._count(self.neurons))
        return claim_of(request)

    def connected(self) -> Json:
        size = self.rng.choice([1, 4, 4, 8, 16, 2])
        count = size if self.rng.random() < 0.8 else self._count(size)
        parts = [self._selected(NEURON, "neuron", count=count)]
        if self.efas and self.rng.random() < 0.7:
            efas = max(1, size * self.efas // max(self.neurons, 1))
            parts.append(exactly(EFA, name="efa", count=efas))
        return claim_of(*parts, match(f"resource.aws.com/devicegroup{size}_id"))

    def network(self) -> Json:
        return claim_of(self._selected(EFA, "efa", count=self._count(self.efas)))

    def whole(self) -> Json:
        accelerators = [
            exactly(GPU, name="gpu", count=self.gpus),
            exactly(NEURON, name="neuron", count=self.neurons),
        ]
        parts = [one for one in accelerators if one["exactly"]["count"]]
        efas = [exactly(EFA, name="efa", count=self._count(self.efas))]
        return claim_of(*(parts + efas if self.rng.random() < 0.7 else efas))

    def channel(self) -> Json:
        return claim_of(exactly(COMPUTE_DOMAIN_CHANNEL_CLASS, name="channel"))


class Hostile:
    """Claims for devices that are made up, with everything that the API has."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.wild = Wild(rng, MADE_UP)
        # Of few claims with few requests, more can be served.
        self.most = rng.choice([1, 2, 2, 3, 4])

    def pod(self) -> list[Json]:
        """The claims of one Pod."""
        many = self.rng.choice([1, 1, 1, 1, 1, 2, 2, 3])
        return [named(self.claim(), f"c{at}") for at in range(many)]

    def claim(self) -> Json:
        size = self.rng.randint(1, self.most)
        if self.rng.random() < 0.02:
            size = self.rng.randint(5, 32)
        requests = [self._request(f"r{at}") for at in range(size)]
        names = [one["name"] for one in requests]
        names += [
            f"{one['name']}/{option['name']}"
            for one in requests
            for option in one.get("firstAvailable", ())
        ]
        constraints = [
            match(self.rng.choice(MATCHED), *self._some(names))
            for _ in range(self.rng.choice([0, 0, 0, 1, 1, 2, 3]))
        ]
        return claim_of(*requests, *constraints)

    def _some(self, names: list[str]) -> list[str]:
        if self.rng.random() < 0.4:
            return []
        return self.rng.sample(names, self.rng.randint(1, min(len(names), 4)))

    def _request(self, name: str) -> Json:
        if self.rng.random() < 0.2:
            options = [self._ask(is_option=True) for _ in range(self.rng.randint(1, 4))]
            return first_of(*options, name=name)
        return _renamed(self._ask(), name)

    def _ask(self, *, is_option: bool = False) -> Json:
        rng = self.rng
        more: Json = {"count": rng.choice([1, 1, 1, 1, 1, 2, 2, 3])}
        if rng.random() < 0.02:
            more = {"count": rng.choice([0, 31, 32, 33, 40, 2**31 - 1, 2**31, 2**40])}
        if rng.random() < 0.1:
            more = {"allocationMode": "All"}
        elif rng.random() < 0.2:
            more["allocationMode"] = "ExactCount"
        if not is_option and rng.random() < 0.05:
            more["adminAccess"] = rng.random() < 0.8
        chosen = rng.choice(["one"] * 16 + ["two", "two", "any", "rooted", "rooted", "fragile"])
        if rng.random() < 0.01:
            chosen = "none"
        if rng.random() < 0.005:
            chosen = "missing"
        assert chosen in CLASSES or chosen == "missing"
        return exactly(chosen, *self._selectors(), **more)

    def _selectors(self) -> list[str]:
        chance = self.rng.random()
        if chance < 0.5:
            return []
        if chance < 0.93:
            return [self._tame() for _ in range(self.rng.choice([1, 1, 2]))]
        return [self.wild.truth(1)]

    def _tame(self) -> str:
        """An expression that most often answers."""
        own = f"device.attributes['{ONE}']"
        other = "device.attributes['other.example.com']"
        amounts = f"device.capacity['{ONE}']"
        texts = [
            f"'root' in {own} && {own}.root == '{self.rng.choice('xyz')}'",
            f"'index' in {own} && {own}.index < {self.rng.randint(0, 3)}",
            f"'fast' in {own} && {own}.fast",
            f"{own}.?index.orValue(0) >= {self.rng.randint(0, 2)}",
            f"'group' in {other} && {other}.group == {self.rng.randint(0, 1)}",
            f"'memory' in {amounts} && {amounts}.memory.isGreaterThan(quantity('50Gi'))",
            f"'version' in {own} && {own}.version.isLessThan(semver('2.0.0'))",
            f"!('fast' in {own}) || {own}.index != 1",
            "true",
            f"'x' in device.attributes['no.example.com'] || device.driver != '{ONE}'",
        ]
        if self.rng.random() < 0.12:
            texts = [f"{own}.root == 'x'", f"{own}.index == 1", f"{own}.fast", f"{own}.own != 'x'"]
        return self.rng.choice(texts)
