"""Known answers for every supported type, from what AWS and the drivers' makers publish.

The numbers are written down here, and not taken from the data: devices of a type from AWS's
pages of its instance types, what a driver says of them from
https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu and
https://github.com/aws/karpenter-provider-aws (pkg/providers/drametadata), and Neuron's groups from
https://github.com/aws-neuron/connected-device-maps-over-efa-for-neuron, on 2026-11-30.
"""

from __future__ import annotations

import functools

import pytest
from tests.feasibility_claims import (
    EFA,
    GPU,
    NEURON,
    PCIE_ROOT,
    exactly,
    first_of,
    group_of,
    match,
    template,
    verdict,
)

from eks_devices import AcceleratedInstanceType, Mechanism

FEASIBLE = ("feasible", "")
TOO_FEW, NO_MATCH = ("infeasible", "TooFewDevices"), ("infeasible", "NoDeviceMatches")
NO_CLASS, NEVER = ("infeasible", "ClassNotOnGroup"), ("infeasible", "ConstraintNeverHolds")
TOO_MANY = ("error", "TooManyDevicesInClaim")
OWN = "device.attributes['gpu.nvidia.com']"
MEMORY = "device.capacity['gpu.nvidia.com'].memory"

# How many GPUs and EFAs the sizes of a family have.
GPUS = {
    "g4dn": "xlarge 1 0, 2xlarge 1 0, 4xlarge 1 0, 8xlarge 1 1, 12xlarge 4 1, 16xlarge 1 1,"
    " metal 8 1",
    "g5": "xlarge 1 0, 2xlarge 1 0, 4xlarge 1 0, 8xlarge 1 1, 12xlarge 4 1, 16xlarge 1 1,"
    " 24xlarge 4 1, 48xlarge 8 1",
    "g5g": "xlarge 1 0, 2xlarge 1 0, 4xlarge 1 0, 8xlarge 1 0, 16xlarge 2 0, metal 2 0",
    "g6": "xlarge 1 0, 2xlarge 1 0, 4xlarge 1 0, 8xlarge 1 1, 12xlarge 4 1, 16xlarge 1 1,"
    " 24xlarge 4 1, 48xlarge 8 1",
    "g6e": "xlarge 1 0, 2xlarge 1 0, 4xlarge 1 0, 8xlarge 1 1, 12xlarge 4 1, 16xlarge 1 1,"
    " 24xlarge 4 2, 48xlarge 8 4",
    "g6f": "large 1 0, xlarge 1 0, 2xlarge 1 0, 4xlarge 1 0",
    "gr6": "4xlarge 1 0, 8xlarge 1 1",
    "gr6f": "4xlarge 1 0",
    "g7": "2xlarge 1 0, 4xlarge 1 0, 8xlarge 1 1, 12xlarge 2 1, 24xlarge 4 1, 48xlarge 8 2",
    "g7e": "2xlarge 1 0, 4xlarge 1 0, 8xlarge 1 1, 12xlarge 2 1, 24xlarge 4 2, 48xlarge 8 4",
    "p3": "2xlarge 1 0, 8xlarge 4 0, 16xlarge 8 0",
    "p3dn": "24xlarge 8 1",
    "p4d": "24xlarge 8 4",
    "p4de": "24xlarge 8 4",
    "p5": "4xlarge 1 1, 48xlarge 8 32",
    "p5e": "48xlarge 8 32",
    "p5en": "48xlarge 8 16",
    "p6-b200": "48xlarge 8 8",
    "p6-b300": "48xlarge 8 16",
}
# And how many Neuron devices and EFAs.
NEURONS = {
    "inf2": "xlarge 1 0, 8xlarge 1 0, 24xlarge 6 0, 48xlarge 12 0",
    "trn1": "2xlarge 1 0, 32xlarge 16 8",
    "trn1n": "32xlarge 16 16",
    "trn2": "3xlarge 1 1, 48xlarge 16 16",
    "trn2u": "48xlarge 16 16",
}
# What the driver says of a family's GPUs: name, architecture, and the most GiB that each has.
MODELS = {
    "g4dn": ("Tesla T4", "Turing", 15),
    "g5": ("NVIDIA A10G", "Ampere", 22),
    "g5g": ("NVIDIA T4G", "Turing", 15),
    "g6": ("NVIDIA L4", "Ada Lovelace", 22),
    "gr6": ("NVIDIA L4", "Ada Lovelace", 22),
    "g6e": ("NVIDIA L40S", "Ada Lovelace", 44),
    "p3dn": ("Tesla V100-SXM2-32GB", "Volta", 32),
    "p4d": ("NVIDIA A100-SXM4-40GB", "Ampere", 39),
    "p4de": ("NVIDIA A100-SXM4-80GB", "Ampere", 80),
    "p5": ("NVIDIA H100 80GB HBM3", "Hopper", 79),
    "p5e": ("NVIDIA H200", "Hopper", 140),
    "p5en": ("NVIDIA H200", "Hopper", 140),
    "p6-b200": ("NVIDIA B200", "Blackwell", 178),
    "p6-b300": ("NVIDIA B300 SXM6 AC", "Blackwell", 268),
}
LARGER = {"g5g.metal": 16}
# GPUs and EFAs of a root that has both, and how many such roots; a GPU shares none elsewhere.
ROOTS = {
    "p4d.24xlarge": (2, 1, 4),
    "p4de.24xlarge": (2, 1, 4),
    "p5.4xlarge": (1, 1, 1),
    "p5.48xlarge": (1, 4, 8),
    "p5e.48xlarge": (1, 4, 8),
    "p5en.48xlarge": (2, 4, 4),
    "p6-b200.48xlarge": (2, 2, 4),
    "p6-b300.48xlarge": (1, 2, 8),
}
APART = ("g6", "g6e", "gr6")
# Neuron devices that share an EFA, and the sizes of connected groups.
CONNECTED = {
    "trn1.32xlarge": (2, (1, 4, 8, 16)),
    "trn1n.32xlarge": (1, (1, 4, 8, 16)),
    "trn2.48xlarge": (1, (1, 4, 8, 16)),
}


def sizes(table):
    """The types of a table with their devices and EFAs."""
    for family, text in table.items():
        for one in text.split(","):
            size, devices, efas = one.split()
            yield f"{family}.{size}", int(devices), int(efas)


def answers():
    """The types, what is asked for there, the verdict, and how many such Pods fit."""
    for device_class, other, table in ((GPU, NEURON, GPUS), (NEURON, GPU, NEURONS)):
        for name, count, efas in sizes(table):
            yield from counts(name, count, device_class)
            yield from of_efas(name, efas)
            yield name, f"no {other}", [exactly(other)], NO_CLASS, None
            if name.partition(".")[0] in MODELS:
                yield from of_model(name, count, *MODELS[name.partition(".")[0]])
    for name, shape in ROOTS.items():
        yield from of_root(name, *shape)
    for name, (per_efa, known) in CONNECTED.items():
        yield from of_groups(name, per_efa, known)


def counts(name, count, device_class):
    # How the nodes of an UltraServer publish more is not documented; enough is there anyway.
    is_open = name.startswith("trn2u")
    more, every = exactly(device_class, count=count + 1), exactly(device_class, count=count)
    none = ("unknown", "NoPublishedData") if is_open else TOO_FEW
    yield name, "one", [exactly(device_class)], FEASIBLE, None if is_open else count
    yield name, "every", [every], FEASIBLE, None if is_open else 1
    whole = none if is_open else FEASIBLE
    yield name, "all", [exactly(device_class, allocationMode="All")], whole, None
    yield name, "one more", [more], none, None
    yield name, "one more or every", [first_of(more, every)], FEASIBLE, None


def of_efas(name, efas):
    if not efas:
        yield name, "no EFA", [exactly(EFA)], NO_CLASS, None
        return
    none = TOO_FEW if efas < 32 else TOO_MANY
    yield name, "every EFA", [exactly(EFA, count=efas)], FEASIBLE, None
    yield name, "an EFA more", [exactly(EFA, count=efas + 1)], none, None


def of_model(name, gpus, product, architecture, memory):
    memory = LARGER.get(name, memory)
    for what, text, expected in (
        ("product", f"{OWN}.productName == '{product}'", FEASIBLE),
        ("no product", f"{OWN}.productName == '{product} '", NO_MATCH),
        ("architecture", f"{OWN}.architecture == '{architecture}'", FEASIBLE),
        ("no architecture", f"{OWN}.architecture == 'Pascal'", NO_MATCH),
        ("memory", f"{MEMORY}.compareTo(quantity('{memory}Gi')) >= 0", FEASIBLE),
        ("more memory", f"{MEMORY}.compareTo(quantity('{memory + 1}Gi')) >= 0", NO_MATCH),
    ):
        yield name, what, [exactly(GPU, text, count=gpus)], expected, None
    efas = {one: efas for one, _, efas in sizes(GPUS)}[name]
    if efas and name.partition(".")[0] in APART:
        parts = [exactly(GPU), exactly(EFA), match(PCIE_ROOT)]
        yield name, "a GPU beside an EFA", parts, NEVER, None


def of_root(name, gpus, efas, roots):
    whole = {one: (gpus, efas) for one, gpus, efas in sizes(GPUS)}[name]
    for what, some, expected, fits in (
        ("a root", (gpus, efas), FEASIBLE, roots),
        ("one of each", (1, 1), FEASIBLE, None),
        ("a root and a GPU", (gpus + 1, efas), NEVER if whole[0] > gpus else TOO_FEW, None),
        ("a root and an EFA", (gpus, efas + 1), NEVER if whole[1] > efas else TOO_FEW, None),
    ):
        parts = [exactly(GPU, count=some[0]), exactly(EFA, count=some[1]), match(PCIE_ROOT)]
        yield name, what, parts, expected, fits


def of_groups(name, per_efa, known):
    for size in (1, 2, 4, 8, 16):
        together = match(f"resource.aws.com/devicegroup{size}_id")
        efas = max(1, size // per_efa)
        devices, more = exactly(NEURON, count=size), exactly(NEURON, count=size + 1)
        network, another = exactly(EFA, count=efas), exactly(EFA, count=efas + 1)
        if size not in known:
            yield name, f"a group of {size}", [devices, network, together], NEVER, None
            continue
        fits = min(16 // size, 16 // per_efa // efas)
        yield name, f"a group of {size}", [devices, network, together], FEASIBLE, fits
        # Devices of one alone may share their EFA.
        one_more = FEASIBLE if size == 1 < per_efa else NEVER if size < 16 else TOO_FEW
        yield name, f"a group of {size} and one", [more, together], one_more, None
        # The whole of a node and one are 33 devices, where it has as many EFAs.
        none = NEVER if size < 16 else TOO_FEW if per_efa > 1 else TOO_MANY
        yield name, f"a group of {size} and an EFA", [devices, another, together], none, None


ANSWERS = list(answers())


@functools.cache
def options_of(name):
    """Whatever it takes that DRA drivers serve a type, with its EFAs where it has some."""
    options: dict[str, object] = {}
    if AcceleratedInstanceType.of(name).max_efa_interfaces:
        options["efa"] = True
    devices = group_of(name, **options).nodegroups[0].devices
    if any(one.mechanism is not Mechanism.DRA for one in devices):
        options["mechanism"] = Mechanism.DRA
    return options


@pytest.mark.parametrize(
    ("name", "parts", "expected", "fits"),
    [(name, parts, *rest) for name, _, parts, *rest in ANSWERS],
    ids=[f"{name}: {what}" for name, what, *_ in ANSWERS],
)
def test_what_a_type_has_can_be_had_and_no_more(name, parts, expected, fits):
    found = verdict(name, template(*parts), **options_of(name))

    assert (str(found.status), found.code) == expected
    if fits is not None:
        assert found.fits == fits


def test_every_supported_type_has_answers():
    supported = {one.name for one in AcceleratedInstanceType.all()}

    # The Neuron DRA driver does not cover Inf1; p6e comes by capacity blocks alone.
    assert {name for name, *_ in ANSWERS} == {
        one for one in supported if not one.startswith(("inf1.", "p6e"))
    }
    assert len(ANSWERS) > 900
