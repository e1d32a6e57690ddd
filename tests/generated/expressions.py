"""CEL selectors that are made up: what people write for our drivers, and what nobody should."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

GPU, NEURON, EFA = "gpu.nvidia.com", "neuron.aws.com", "dra.net"
OF_GPU, OF_NEURON, OF_EFA = (f"device.attributes['{one}']" for one in (GPU, NEURON, EFA))
MEMORY = f"device.capacity['{GPU}'].memory"
GROUPS = "device.attributes['resource.aws.com']"

ARCHITECTURES = ("Turing", "Ampere", "Ada Lovelace", "Hopper", "Blackwell", "Volta")
PRODUCTS = ("NVIDIA H100 80GB HBM3", "NVIDIA H200", "NVIDIA A10G", "NVIDIA L40S", "Tesla T4")
QUOTED = "'x', 'y'"
SIZES = ("15Gi", "24G", "24Gi", "40Gi", "46068Mi", "79Gi", "80Gi", "80G", "100Gi", "1Ti")


def guarded(domain: str, name: str, rest: str) -> str:
    """An expression about an attribute that a device may lack."""
    return f"'{name}' in {domain} && {domain}.{name} {rest}"


def for_gpus(rng: Random, own: Mapping[str, str]) -> str:
    """What people select GPUs by, often what a node has of its `own`."""
    words = own if rng.random() < 0.6 else {}
    size = rng.choice(SIZES)
    product = words.get("productName") or rng.choice(PRODUCTS)
    architecture = words.get("architecture") or rng.choice(ARCHITECTURES)
    return rng.choice(
        [
            f"{MEMORY}.compareTo(quantity('{size}')) >= 0",
            f"{MEMORY}.isGreaterThan(quantity('{size}'))",
            f"{MEMORY}.isLessThan(quantity('{size}'))",
            f"'memory' in device.capacity['{GPU}'] && {MEMORY} == quantity('{size}')",
            guarded(OF_GPU, "architecture", f"== '{architecture}'"),
            f"{OF_GPU}.architecture in ['{architecture}', '{rng.choice(ARCHITECTURES)}']",
            f"{OF_GPU}.architecture != '{architecture}'",
            guarded(OF_GPU, "productName", f"== '{product}'"),
            f"{OF_GPU}.productName.startsWith('NVIDIA')",
            f"{OF_GPU}['productName'].lowerAscii().contains('h100')",
            f"{OF_GPU}.productName.matches('(H|B)[0-9]+')",
            f"{OF_GPU}.brand == 'Nvidia' || {OF_GPU}.productName == '{product}'",
            f"{OF_GPU}.cudaComputeCapability.isGreaterThan(semver('8.6.0'))",
            f"{OF_GPU}.cudaComputeCapability.compareTo(semver('9.0.0')) >= 0",
            f"{OF_GPU}.cudaComputeCapability.major() == {rng.randint(7, 12)}",
            f"{OF_GPU}.type == 'gpu' && {OF_GPU}.architecture == '{architecture}'",
            guarded(OF_GPU, "profile", "== '1g.10gb'"),
            guarded(OF_GPU, "nvlink", "== true"),
            f"cel.bind(gpu, {OF_GPU}, gpu.architecture == '{architecture}')",
            f"{OF_GPU}.?profile.orValue('none') == 'none'",
        ]
    )


def for_neuron(rng: Random, own: Mapping[str, str]) -> str:
    """What people select Neuron devices by."""
    number = rng.randint(0, 15)
    return rng.choice(
        [
            f"{OF_NEURON}.deviceId < {number}",
            f"{OF_NEURON}.deviceId == {number}",
            f"{OF_NEURON}.deviceId in [{number}, {number + 1}, 3]",
            f"{OF_NEURON}.deviceId % 2 == 0",
            guarded(OF_NEURON, "topology4_id", f"== {number % 4}"),
            f"{OF_NEURON}.topology4_id == {number % 4}",
            f"{OF_NEURON}.topology_x >= {number % 4}",
            f"{OF_NEURON}.resourceType == 'neuron_device'",
            f"{OF_NEURON}.instanceType == '{own.get('instanceType', 'trn2.48xlarge')}'",
            f"{OF_NEURON}.instanceType.startsWith('trn')",
            f"'devicegroup4_id' in {GROUPS} && {GROUPS}.devicegroup4_id != 'none'",
            f"{OF_NEURON}.deviceId >= 8 || {OF_NEURON}.nothing == 1",
        ]
    )


def for_efas(rng: Random, own: Mapping[str, str]) -> str:
    """What people select EFAs by."""
    generation = own.get("pciSubsystem") or f"efa{rng.randint(1, 3)}"
    return rng.choice(
        [
            f"{OF_EFA}.rdma",
            guarded(OF_EFA, "rdma", "== true"),
            guarded(OF_EFA, "numaNode", f"== {rng.randint(0, 1)}"),
            f"{OF_EFA}.numaNode == {rng.randint(0, 1)}",
            f"{OF_EFA}.pciSubsystem == '{generation}'",
            f"{OF_EFA}.pciVendor.startsWith('Amazon')",
            f"{OF_EFA}.pciDevice.contains('EFA')",
        ]
    )


def only_a_node_knows(rng: Random) -> str:
    """What depends on a running node."""
    return rng.choice(
        [
            f"{OF_GPU}.driverVersion.isGreaterThan(semver('570.0.0'))",
            f"{OF_GPU}.uuid.startsWith('GPU-')",
            f"{OF_GPU}.type == 'mig' && {OF_GPU}.uuid != ''",
            f"{OF_EFA}.mtu > 9000",
        ]
    )


@dataclass(frozen=True)
class Words:
    """What the devices have that expressions are about, and things that look like it."""

    domains: Sequence[str]
    names: Sequence[str]
    capacities: Sequence[str]
    drivers: Sequence[str]
    literals: Sequence[str] = (
        *("'x'", "'y'", '"x"', "''", "0", "1", "2", "-1", "true", "false", "'1.2.3'") * 2,
        *("1.0", "1u", "null", "semver('1.2.3')", "semver('2.0.0-rc.1')", "semver('1.2')"),
        *("semver('v1.2.3')", "quantity('80Gi')", "quantity('1')", "quantity('abc')"),
        *("[1, 2]", "['x', 'y']", "[]", "{}"),
    )


class Wild:
    """Makes expressions of any kind, most of them well formed, not all of them meaningful."""

    def __init__(self, rng: Random, words: Words) -> None:
        self.rng, self.words = rng, words

    def quoted(self, text: str) -> str:
        return self.rng.choice([f"'{text}'", f'"{text}"'])

    def literal(self) -> str:
        return self.rng.choice(self.words.literals)

    def domain(self) -> str:
        return f"device.attributes[{self.quoted(self.rng.choice(self.words.domains))}]"

    def attribute(self) -> str:
        domain, name = self.domain(), self.rng.choice(self.words.names)
        forms = [f"{domain}.{name}"] * 3
        forms += [f"{domain}[{self.quoted(name)}]", f"{domain}.?{name}.orValue({self.literal()})"]
        return self.rng.choice(forms)

    def capacity(self) -> str:
        domain = self.quoted(self.rng.choice(self.words.domains))
        return f"device.capacity[{domain}].{self.rng.choice(self.words.capacities)}"

    def number(self) -> str:
        one = self.rng.choice([self.attribute(), self.capacity(), "semver('1.2.3')"])
        other = self.rng.choice([self.literal(), self.attribute(), self.capacity()])
        return self.rng.choice(
            [
                self.attribute(),
                f"{one}.compareTo({other})",
                f"{self.attribute()}.{self.rng.choice(['major', 'minor', 'patch'])}()",
                f"{self.capacity()}.asInteger()",
                f"sign({self.capacity()})",
                "size(device.driver)",
                f"size({self.attribute()})",
                f"{self.attribute()} + {self.rng.randint(0, 2)}",
                str(self.rng.randint(0, 3)),
            ]
        )

    def truth(self, depth: int = 2) -> str:
        if depth and self.rng.random() < 0.45:
            one, other = self.truth(depth - 1), self.truth(depth - 1)
            return self.rng.choice(
                [
                    f"({one}) && ({other})",
                    f"({one}) || ({other})",
                    f"{self.truth(0)} && {self.truth(0)}",
                    f"!({one})",
                    f"({one}) ? ({other}) : ({self.truth(0)})",
                ]
            )
        return self.rng.choice([self.comparison, self.call, self.look])()

    def comparison(self) -> str:
        attribute, order = self.attribute(), self.rng.choice(["==", "!=", "==", "<", ">="])
        return self.rng.choice(
            [
                f"{attribute} {order} {self.literal()}",
                f"{attribute} == {self.literal()}",
                f"{self.literal()} == {attribute}",
                f"{attribute} == {self.attribute()}",
                f"{self.number()} {order} {self.number()}",
                f"{attribute} in [{self.literal()}, {self.literal()}]",
                f"{attribute} in [{self.rng.choice(('1, 2', QUOTED))}]",
                f"{self.capacity()} == {self.rng.choice([self.literal(), self.capacity()])}",
                f"device.driver == {self.quoted(self.rng.choice(self.words.drivers))}",
            ]
        )

    def call(self) -> str:
        attribute, amount = self.attribute(), self.capacity()
        text = self.quoted(self.rng.choice("xyz."))
        one = self.rng.choice([attribute, amount])
        word = self.rng.choice(["startsWith", "contains", "matches", "endsWith"])
        return self.rng.choice(
            [
                f"{one}.{self.rng.choice(['isGreaterThan', 'isLessThan'])}({self.literal()})",
                f"{amount}.isGreaterThan(quantity('{self.rng.choice(SIZES)}'))",
                f"{attribute}.{word}({text})",
                f"{attribute}.lowerAscii() == 'x'",
                f"isQuantity({self.rng.choice([self.literal(), attribute])})",
                f"isSemver({self.rng.choice([self.quoted('1.2.3'), attribute])})",
                f"{attribute}.split('').size() > 1",
                f"type({attribute}) == {self.rng.choice(['string', 'int', 'bool'])}",
                f"[{self.literal()}, {self.literal()}].exists(one, one == {attribute})",
                f"{amount}.isInteger()",
            ]
        )

    def look(self) -> str:
        name, domain = self.rng.choice(self.words.names), self.domain()
        inside = self.quoted(name)
        return self.rng.choice(
            [
                f"{inside} in {domain}",
                f"{inside} in {domain} && {domain}.{name} == {self.literal()}",
                f"has({domain}.{name})",
                f"{self.quoted(self.rng.choice(self.words.domains))} in device.attributes",
                f"{domain} == {{}}",
                f"size({domain}) > 1",
                f"{domain}.exists(one, one == {inside})",
                f"cel.bind(own, {domain}, own.{name} == {self.literal()})",
                self.attribute(),
                self.number(),
                self.literal(),
                "device.nothing == 1",
                "device.allowMultipleAllocations == true",
                f"nothing({domain})",
                f"{domain}.{name} ==",
            ]
        )
