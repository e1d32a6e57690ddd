"""The catalogue against the table of facts that was collected by hand, and lookups of bad names."""

import csv
import dataclasses
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_devices import instance_records
from eks_devices.findings import EksDevicesError, Finding, Severity
from eks_devices.instance_records import CatalogueError
from eks_devices.instance_types import AcceleratedInstanceType, CpuArchitecture, built, lookup
from eks_devices.vocabulary import DeviceType

DATA = Path(__file__).parent / "data"
ALL = AcceleratedInstanceType.all()
EFA_ONLY = AcceleratedInstanceType.efa_only()


def table(name: str) -> dict[str, dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return {row["instance_type"]: row for row in csv.DictReader(file)}


FACTS = table("instance-types.csv")
EFA_FACTS = table("efa-types.csv")


def number(text: str) -> int | None:
    return int(text) if text else None


def fault_of(name: object) -> Finding:
    found = lookup(name, "nodegroups.a.instance_type")
    assert isinstance(found, Finding)
    return found


def test_the_catalogue_has_every_type_of_the_table():
    assert [each.name for each in ALL] == sorted(FACTS)
    assert len(ALL) == 83
    assert [each.name for each in EFA_ONLY] == sorted(EFA_FACTS)
    assert len(AcceleratedInstanceType.announced()) == 10


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.name)
def test_a_type_agrees_with_the_table(each: AcceleratedInstanceType):
    row = FACTS[each.name]

    assert each.architecture == row["architecture"]
    assert (each.vcpus, each.memory_mib) == (int(row["vcpus"]), int(row["memory_mib"]))
    assert each.usage_classes == set(row["usage_classes"].split())
    assert sorted(each.placement_strategies) == row["placement_strategies"].split()
    assert each.hypervisor == row["hypervisor"]
    assert each.instance_store_gb == int(row["instance_store_gb"])
    assert each.bare_metal == each.name.endswith(".metal")


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.name)
def test_its_accelerator_agrees_with_the_table(each: AcceleratedInstanceType):
    row, accelerator = FACTS[each.name], each.accelerator

    assert accelerator is not None
    assert (accelerator.vendor, accelerator.name) == (row["accel_vendor"], row["accel_name"])
    # The table carries the API's 0 for fractions of a GPU; a node shows one device.
    assert accelerator.count == (int(row["accel_count"]) or 1)
    assert (accelerator.partition < 1) == (row["accel_count"] == "0")
    assert accelerator.memory_mib == number(row["accel_memory_mib_each"])
    assert accelerator.cores_per_device == number(row["neuron_cores_per_device"])
    assert accelerator.core_version == number(row["neuron_core_version"])
    expected = DeviceType.NEURON if row["neuron_core_version"] else DeviceType.GPU
    assert each.device_type == accelerator.device_type == expected


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.name)
def test_its_network_agrees_with_the_table(each: AcceleratedInstanceType):
    row, cards = FACTS[each.name], each.network_cards

    assert [card.index for card in cards] == list(range(int(row["network_cards"])))
    assert cards[0].max_interfaces == int(row["max_enis_card0"])
    assert sum(card.max_interfaces for card in cards) == int(row["max_enis_total"])
    assert each.max_efa_interfaces == int(row["max_efa"])
    assert each.ipv4_addresses_per_interface == number(row["ipv4_per_eni"])
    takes_efa = [str(card.index) for card in cards if "efa-only" in card.interface_types]
    first_and_last = "-".join(dict.fromkeys([*takes_efa[:1], *takes_efa[-1:]]))
    assert first_and_last == row["efa_card_indices"]


@pytest.mark.parametrize("each", EFA_ONLY, ids=lambda each: each.name)
def test_an_efa_type_agrees_with_the_table(each: AcceleratedInstanceType):
    row = EFA_FACTS[each.name]

    assert each.accelerator is None
    assert each.device_type is None
    assert each.architecture == row["architecture"]
    assert (each.vcpus, each.memory_mib) == (int(row["vcpus"]), int(row["memory_mib"]))
    assert len(each.network_cards) == int(row["network_cards"])
    assert each.network_cards[0].max_interfaces == int(row["max_enis_card0"])
    assert each.max_efa_interfaces == int(row["max_efa"]) > 0
    assert each.ipv4_addresses_per_interface == int(row["ipv4_per_eni"])


def test_other_accelerators_are_named_on_the_types_that_have_them():
    named = {each.name: each.other_accelerator for each in EFA_ONLY if each.other_accelerator}

    assert named == {
        "dl2q.24xlarge": "Qualcomm AI100",
        "f2.48xlarge": "Xilinx Virtex UltraScale+ (VU47P)",
        "vt1.24xlarge": "Xilinx U30",
    }


def test_the_gb200_entry_is_whole_and_says_that_it_is_unverified():
    gb200 = AcceleratedInstanceType.of("p6e-gb200.36xlarge")

    assert gb200.architecture is CpuArchitecture.ARM64
    assert [card.max_interfaces for card in gb200.network_cards] == [2] + [1, 2] * 8
    assert gb200.network_cards[0].interface_types == ("interface",)
    assert gb200.network_cards[1].interface_types == ("efa-only",)
    assert gb200.network_cards[2].interface_types == ("interface", "efa", "efa-only")
    assert gb200.efa_layouts == ((1, 5, 9, 13), (1, 3, 5, 7, 9, 11, 13, 15))
    assert gb200.ultraserver_sizes == (9, 18)
    assert gb200.nvlink_domain
    assert "API" in gb200.unverified


def test_only_types_with_weaker_sources_are_unverified():
    assert [each.name for each in ALL if each.unverified] == [
        "p3.16xlarge",
        "p3.2xlarge",
        "p3.8xlarge",
        "p6e-gb200.36xlarge",
    ]


def test_types_made_for_multi_node_training():
    assert [each.name for each in ALL if each.multi_node_training] == [
        "p4d.24xlarge",
        "p4de.24xlarge",
        "p5.48xlarge",
        "p5.4xlarge",
        "p5e.48xlarge",
        "p5en.48xlarge",
        "p6-b200.48xlarge",
        "p6-b300.48xlarge",
        "p6e-gb200.36xlarge",
        "trn1.32xlarge",
        "trn1n.32xlarge",
        "trn2.48xlarge",
        "trn2u.48xlarge",
    ]
    assert all(each.max_efa_interfaces for each in ALL if each.multi_node_training)


def test_trainium2_groups_physical_cores_and_trainium1_does_not():
    trn2 = AcceleratedInstanceType.of("trn2u.48xlarge")
    trn1 = AcceleratedInstanceType.of("trn1.32xlarge")

    assert (trn2.logical_core_sizes, trn2.default_logical_core_size) == ((1, 2), 2)
    assert trn2.ultraserver_sizes == (1, 2, 4)
    assert (trn1.logical_core_sizes, trn1.default_logical_core_size) == ((), 1)


def test_a_fraction_of_a_gpu_is_one_device():
    accelerator = AcceleratedInstanceType.of("g6f.large").accelerator

    assert accelerator is not None
    assert (accelerator.count, accelerator.partition, accelerator.memory_mib) == (1, 0.125, 2861)


def test_the_first_known_architecture_counts():
    record = json.loads(json.dumps(instance_records.accelerated_record("g5.xlarge")))

    record["ProcessorInfo"]["SupportedArchitectures"] = ["i386", "x86_64"]
    assert built(record) == AcceleratedInstanceType.of("g5.xlarge")

    record["ProcessorInfo"]["SupportedArchitectures"] = ["i386"]
    with pytest.raises(CatalogueError, match=r"g5\.xlarge: .*SupportedArchitectures has none of"):
        built(record)


def test_the_data_folder_holds_the_catalogue():
    folder = Path(instance_records.data_folder())

    assert (folder / instance_records.ACCELERATED_FILE).is_file()
    assert (folder / instance_records.EFA_FILE).is_file()


def test_values_are_frozen_hashable_and_picklable():
    p5 = AcceleratedInstanceType.of("p5.48xlarge")

    assert AcceleratedInstanceType.of("p5.48xlarge") is p5
    assert {p5: 1}[pickle.loads(pickle.dumps(p5))] == 1  # noqa: S301  (our own bytes)
    assert dataclasses.replace(p5, vcpus=1) != p5
    with pytest.raises(dataclasses.FrozenInstanceError):
        p5.vcpus = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("P5.48xlarge", "p5.48xlarge"),
        (" p5.48xlarge\n", "p5.48xlarge"),
        ("ｐ5.48xlarge", "p5.48xlarge"),  # noqa: RUF001  (a full-width letter)
        ("p5\u200b.48xlarge", "p5.48xlarge"),
        ("\U0001d52d5.48xlarge", "p5.48xlarge"),  # a letter of another alphabet
        ("p5_48xlarge", "p5.48xlarge"),
        ("trn2.48xl", "trn2.48xlarge"),
        ("tnr2.48xlarge", "trn2.48xlarge"),
        ("c7gn.15xlarge", "c7gn.16xlarge"),
        ("TRN3.48xlarge", "trn3.48xlarge"),
    ],
)
def test_a_slip_gets_a_suggestion(name: str, meant: str):
    fault = fault_of(name)

    assert fault.code == "UnknownInstanceType"
    assert meant in fault.fix


def test_an_unknown_size_lists_the_sizes_of_its_family():
    assert fault_of("p5.7xlarge").allowed == "p5.4xlarge, p5.48xlarge"
    assert fault_of("p5").allowed == "p5.4xlarge, p5.48xlarge"


@pytest.mark.parametrize(
    "name", ["", " ", ".", "m5.large", "x" * 100_000, "\ud800", "日本", "a\0b"]
)
def test_an_unknown_family_lists_the_families(name: str):
    fault = fault_of(name)

    assert fault.code == "UnknownInstanceType"
    assert "p6e-gb200" in fault.allowed
    assert "did you mean" not in fault.fix
    assert len(fault.got) <= 120


@pytest.mark.parametrize("name", AcceleratedInstanceType.announced())
def test_an_announced_type_says_what_to_use_meanwhile(name: str):
    fault = fault_of(name)

    assert fault.code == "AnnouncedInstanceType"
    assert fault.source
    line = name.partition(".")[0][:3]
    known = {each.name for each in ALL}
    suggested = [word.strip("',;") for word in fault.fix.split() if word.startswith("'")]
    assert any(word in known and word.startswith(line) for word in suggested)


@pytest.mark.parametrize("name", [None, 5, b"p5.48xlarge", ["p5.48xlarge"], object(), ("a",), {}])
def test_a_name_that_is_no_string_is_a_wrong_type(name: object):
    assert fault_of(name).code == "WrongType"


def test_a_token_is_refused():
    assert fault_of("${Token[TOKEN.123]}").code == "TokenNotAllowed"
    assert fault_of("p5.${Token[Size.7]}").code == "TokenNotAllowed"


def test_of_raises_the_fault():
    with pytest.raises(EksDevicesError, match=r"p5\.48xlarge") as caught:
        AcceleratedInstanceType.of("p5.49xlarge")

    assert [each.code for each in caught.value.faults] == ["UnknownInstanceType"]
    assert caught.value.faults[0].path == "instance_type"


@given(st.text(max_size=80))
def test_any_text_gives_a_type_or_an_explained_fault(name: str):
    found = lookup(name, "a.b")

    if isinstance(found, Finding):
        assert found.severity is Severity.ERROR
        assert found.path == "a.b"
        assert found.fix
        assert found.allowed
    else:
        assert found.name == name


def run(code: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return result.stdout


def test_one_lookup_builds_one_type_and_leaves_efa_types_alone():
    printed = run(
        "import sys; opened = []\n"
        "def note(event, args):\n"
        "    if event == 'open': opened.append(str(args[0]))\n"
        "sys.addaudithook(note)\n"
        "from eks_devices import instance_types\n"
        "assert {'tomllib', 'difflib', 'unicodedata'}.isdisjoint(sys.modules), 'eager import'\n"
        "instance_types.AcceleratedInstanceType.of('trn2.48xlarge')\n"
        "print(len(instance_types._BUILT), *opened)"
    )

    assert printed.startswith("1 ")
    assert "instance_types.json" in printed
    assert "efa_types.json" not in printed
