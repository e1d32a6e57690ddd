"""The hand-written facts: each with its origin, each still needed."""

import dataclasses
import datetime as dt
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eks_devices import instance_records, instance_types
from eks_devices.instance_records import CatalogueError, data_folder, with_overrides
from eks_devices.instance_types import AcceleratedInstanceType

DATA = Path(data_folder())
OVERRIDES: dict[str, list[dict[str, Any]]] = tomllib.loads(
    (DATA / "overrides.toml").read_text(encoding="utf-8")
)
GENERATED: dict[str, dict[str, Any]] = {}
for _name in ("instance_types.json", "efa_types.json"):
    GENERATED |= json.loads((DATA / _name).read_bytes())
ENTRIES = [(kind, entry) for kind, entries in OVERRIDES.items() for entry in entries]
ORIGIN = {"source", "checked", "why"}
WHAT = {
    "records": {"types", "set"},
    "announced": {"names", "instead"},
    "facts": {
        "types",
        "families",
        "unverified",
        "efa_layouts",
        "ultraserver_sizes",
        "ultraserver_block_sizes",
        "nvlink_domain",
        "logical_core_sizes",
        "default_logical_core_size",
        "multi_node_training",
        "high_ip_cards",
    },
}
DEFAULTS = {
    field.name: field.default
    for field in dataclasses.fields(AcceleratedInstanceType)
    if field.default is not dataclasses.MISSING
}


def agreements(patch: Any, record: Any, path: str = "") -> Iterator[str]:
    """Where a patch says what a record says already."""
    if isinstance(patch, dict):
        for key, value in patch.items():
            if isinstance(record, dict) and key in record:
                yield from agreements(value, record[key], f"{path}.{key}")
    elif isinstance(patch, list) and patch and isinstance(patch[0], dict):
        pairs = zip(patch, record, strict=False) if isinstance(record, list) else ()
        for position, (value, old) in enumerate(pairs):
            yield from agreements(value, old, f"{path}[{position}]")
    elif patch == record:
        yield path


def dead(overrides: dict[str, Any], generated: dict[str, Any]) -> list[str]:
    """What the generated files know as well as the overrides."""
    found = [
        f"{name}{path}"
        for entry in overrides["records"]
        for name in entry["types"]
        for path in agreements(entry["set"], generated.get(name))
    ]
    names = [name for entry in overrides["announced"] for name in entry["names"]]
    return found + [name for name in names if name in generated]


@pytest.mark.parametrize(("kind", "entry"), ENTRIES)
def test_an_entry_says_what_from_where_when_and_why(kind: str, entry: dict[str, Any]):
    assert entry.keys() - ORIGIN <= WHAT[kind]
    assert entry.keys() >= ORIGIN
    assert entry["why"]
    assert entry["source"].startswith("https://") or len(entry["source"]) > 20
    assert isinstance(entry["checked"], dt.date)
    assert dt.date(2026, 11, 30) <= entry["checked"]


def test_no_override_repeats_what_the_api_says():
    assert dead(OVERRIDES, GENERATED) == []


def test_an_override_dies_when_the_api_catches_up():
    corrected = {name: with_overrides(record) for name, record in GENERATED.items()}

    found = dead(OVERRIDES, corrected)

    assert "trn2.48xlarge.NeuronInfo.NeuronDevices[0].MemoryInfo.SizeInMiB" in found
    assert "trn2u.48xlarge.NeuronInfo.NeuronDevices[0].Name" in found


def test_a_whole_record_dies_when_the_api_returns_the_type():
    record = {"VCpuInfo": {"DefaultVCpus": 8}, "MemoryInfo": {"SizeInMiB": 1}}

    assert dead(OVERRIDES, {"p3.2xlarge": record}) == ["p3.2xlarge.VCpuInfo.DefaultVCpus"]


def test_an_announced_name_dies_when_the_api_returns_it():
    assert dead(OVERRIDES, {"trn3.48xlarge": {}}) == ["trn3.48xlarge"]


@pytest.mark.parametrize("entry", OVERRIDES["facts"])
def test_a_fact_is_about_types_that_exist_and_changes_them(entry: dict[str, Any]):
    known = AcceleratedInstanceType.all()
    about = {"types": [each.name for each in known], "families": [each.family for each in known]}

    assert entry.keys() & about.keys()
    for kind, names in about.items():
        assert set(entry.get(kind, ())) <= set(names)
    values = {key: entry[key] for key in entry.keys() & DEFAULTS.keys()}
    assert values
    assert all(value != DEFAULTS[key] for key, value in values.items())


def test_no_two_facts_fight_over_one_attribute_of_a_type():
    for each in AcceleratedInstanceType.all():
        keys = [
            key
            for entry in OVERRIDES["facts"]
            if each.name in entry.get("types", ()) or each.family in entry.get("families", ())
            for key in entry.keys() & DEFAULTS.keys()
        ]
        assert len(keys) == len(set(keys)), each.name


def test_an_announced_name_is_listed_once_and_points_to_types_with_data():
    names = [name for entry in OVERRIDES["announced"] for name in entry["names"]]
    known = {each.name for each in AcceleratedInstanceType.all()}

    assert sorted(names) == list(AcceleratedInstanceType.announced())
    assert known.isdisjoint(names)
    for entry in OVERRIDES["announced"]:
        assert entry["instead"]
        assert set(entry["instead"]) <= known


def test_a_correction_leaves_the_rest_of_the_record_alone():
    record = GENERATED["trn2.48xlarge"]
    before = json.dumps(record)

    corrected = with_overrides(record)

    device = corrected["NeuronInfo"]["NeuronDevices"][0]
    assert device["MemoryInfo"] == {"SizeInMiB": 98304}
    assert (device["Count"], device["CoreInfo"]) == (16, {"Count": 8, "Version": 3})
    assert json.dumps(record) == before


@pytest.mark.parametrize("name", ["trn2.3xlarge", "trn2u.48xlarge"])
def test_a_correction_without_its_record_is_a_clear_error(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    missing = rf"{name}: overrides\.toml corrects a record .* lacks ProcessorInfo"
    with pytest.raises(CatalogueError, match=missing):
        instance_records.accelerated_record(name, {})

    monkeypatch.setattr(instance_types, "_BUILT", {})
    monkeypatch.setattr(instance_records, "read_json", lambda _: {})
    with pytest.raises(CatalogueError, match=missing):
        AcceleratedInstanceType.of(name)
    with pytest.raises(CatalogueError, match=r"overrides\.toml corrects"):
        AcceleratedInstanceType.all()


def test_a_whole_record_needs_no_record_of_the_api():
    record = instance_records.accelerated_record("p3.2xlarge", {})

    assert record is not None
    assert record["VCpuInfo"] == {"DefaultVCpus": 8}
    assert instance_records.accelerated_record("m5.large", {}) is None
