"""Claims by our builders from wild values: what they take, whatever it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, TypeVar

from eks_devices import (
    AllocationMode,
    ClaimSharing,
    DeviceRequest,
    DeviceSelector,
    DeviceTaintEffect,
    DeviceToleration,
    DistinctAttribute,
    EksDevicesError,
    IommuBackendPolicy,
    MatchAttribute,
    OpaqueConfig,
    ResourceClaim,
    ResourceClaimTemplate,
)
from eks_devices.claims.templates import DeviceClaim

T = TypeVar("T")
TEXTS = (
    *("", "a", "H100", "it's", 'a"b', "a\\b", "é", "日本", "😀", "\n", "\t", "\0", "\x7f"),
    *("x" * 64, "x" * 65, "x" * 200, "${a}", "{{b}}", "#", "%s", "'''", "True", "-1", "1.0"),
)
NAMES = (
    *("a", "gpu", "gpu-0", "g" * 63, "g" * 64, "1a", "a.b", "A", "a_b", "-a", "a-", ""),
    *("x" * 253, "x" * 254, "a..b", "é", "gpu/x", "null", "0"),
)
DOMAINS = (
    *("gpu.nvidia.com", "efa.networking.k8s.aws", "neuron.aws.com", "resource.kubernetes.io"),
    *("a.b", "x" * 63, "x" * 64, "EXAMPLE.com", "a_b.com", "foo", "1.2"),
)
KEYS = ("productName", "uuid", "pcieRoot", "x" * 32, "x" * 33, "_a", "1a", "a-b", "in", "true", "é")
NUMBERS = (0, 1, 7, -1, 2**31, 2**53, 2**63 - 1, 2**63, -(2**63))
COUNTS: tuple[Any, ...] = (1, 1, 1, 2, 4, 8, 16, 32, 33, 0, -1, AllocationMode.ALL)
AMOUNTS = ("40Gi", "1", "0", "1e3", "1Ei", "100Ki", "1.5Gi", "-1Gi", "80GB", "1m", "1Mi")
VERSIONS = ("9.0", "9.0.0", "1.2.3-a", "1.2.3+b", "01.2.3", "99999999999.0.0", "580.95.05", "13")
LABELS = ("a", "example.com/x", "x" * 63, "A", "a/b/c", "")
PROFILES = ("1g.10gb", "2g.20gb", "1g.10gb+me", "7g.80gb")


def built_claims(seed: int) -> Iterator[DeviceClaim]:
    """Claims without end."""
    some = _Some(Random(seed))
    while True:
        yield some.taken(some.claim)


class _Some:
    """Makes parts of claims; those that are refused are made again."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def one(self, values: Sequence[Any]) -> Any:
        return self._random.choice(values)

    def taken(self, make: Callable[[], T]) -> T:
        while True:
            try:
                return make()
            except EksDevicesError:
                continue

    def several(self, make: Callable[[], T], most: int, least: int = 0) -> list[T]:
        return [self.taken(make) for _ in range(self._random.randint(least, most))]

    def seldom(self, make: Callable[[], T]) -> T | None:
        return make() if self._random.random() < 0.2 else None

    def attribute(self) -> str:
        return f"{self.one(DOMAINS)}/{self.one(KEYS)}"

    def selector(self) -> DeviceSelector | str:
        some = DeviceSelector
        make: Callable[[], DeviceSelector | str] = self.one(
            [
                lambda: some.gpu_memory_at_least(self.one(AMOUNTS)),
                lambda: some.gpu_product(*self.several(lambda: self.one(TEXTS), 3, 1)),
                lambda: some.gpu_compute_capability_at_least(self.one(VERSIONS)),
                lambda: some.gpu_driver_at_least(self.one(VERSIONS)),
                lambda: some.gpu_numa_node(self.one(NUMBERS)),
                lambda: some.pcie_root(self.one(TEXTS), "pci0000:00"),
                lambda: some.neuron_device(self.one(NUMBERS)),
                lambda: some.device_group(self.one((1, 4, 8, 16)), self.one(TEXTS)),
                lambda: some.attribute_is(self.attribute(), self.one((*TEXTS, *NUMBERS, True))),
                lambda: "device.driver != ''",
            ]
        )
        return make()

    def toleration(self) -> DeviceToleration:
        return DeviceToleration(
            key=self.one((None, *LABELS)),
            value=self.one((None, "v", "", "x" * 63)),
            effect=self.one((None, *DeviceTaintEffect)),
            seconds=self.one((None, None, 0, 30, -5, 2**31 - 1, 2**31)),
        )

    def plain(self) -> DeviceRequest:
        some, count, name = DeviceRequest, self.one(COUNTS), self.seldom(lambda: self.one(NAMES))
        make: Callable[[], DeviceRequest] = self.one(
            [
                lambda: some.gpu(
                    count,
                    name=name,
                    sharing=self.seldom(ClaimSharing.time_slicing),
                    memory=self.seldom(lambda: self.one(AMOUNTS)),
                ),
                lambda: some.mig(self.one(PROFILES), count, name=name),
                lambda: some.neuron(count, name=name, driver_version=self.one((None, *TEXTS))),
                lambda: some.efa(self.one((None, count)), name=name),
                lambda: some.ultraserver_node(name=name),
                lambda: some.passthrough_gpu(
                    count, name=name, iommu_backend=self.one((None, *IommuBackendPolicy))
                ),
            ]
        )
        made = make()
        for selector in self.several(self.selector, 2):
            made = made.where(selector)
        return made.tolerating(*self.several(self.toleration, 1)) if self.one((0, 0, 1)) else made

    def request(self) -> DeviceRequest:
        if self.one((0, 0, 1)):
            return DeviceRequest.first_available(*self.several(self.plain, 4, 1))
        made = self.taken(self.plain)
        return made.with_admin_access() if self.one((0,) * 9 + (1,)) else made

    def constraint(self, requests: list[DeviceRequest]) -> Any:
        names = [one.name for one in requests]
        names += [f"{one.name}/{other.name}" for one in requests for other in one.alternatives]
        made = self.one(
            [
                MatchAttribute.PCIE_ROOT,
                MatchAttribute.DEVICE_GROUP,
                MatchAttribute.of(self.attribute()),
                DistinctAttribute.of(self.attribute()),
            ]
        )
        return made.over(*self.several(lambda: self.one(names), 3, 1)) if self.one((0, 1)) else made

    def parameters(self, depth: int = 0) -> Any:
        value = self.one([*TEXTS, *NUMBERS, 1.5, 1e300, 10**30, True])
        if depth > 4 or self.one((0, 1)):
            return value
        deeper = [self.parameters(depth + 1)]
        return self.one([deeper, {self.one(TEXTS): deeper}, value])

    def config(self, requests: list[DeviceRequest]) -> OpaqueConfig:
        return OpaqueConfig(
            driver=self.one(DOMAINS),
            parameters={"kind": "K", "value": self.parameters()},
            requests=[one.name for one in requests if self.one((0, 1))],
        )

    def labels(self) -> Any:
        return self.one([{}, {}, {self.one(LABELS): self.one(("", "v", "x" * 63, "é", "-"))}])

    def claim(self) -> DeviceClaim:
        requests = self.several(self.request, 4, 1)
        options: dict[str, Any] = {
            "name": self.one(NAMES),
            "requests": requests,
            "match": self.one((None, None, MatchAttribute.PCIE_ROOT)),
            "constraints": self.several(lambda: self.constraint(requests), self.one((0, 2))),
            "configs": self.several(lambda: self.config(requests), self.one((0, 0, 2))),
            "labels": self.labels(),
        }
        if self.one((0, 1)):
            return ResourceClaim(**options)
        return ResourceClaimTemplate(claim_labels=self.labels(), **options)
