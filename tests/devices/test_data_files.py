"""The schema of the data files, and that every row says where it is from and when it was read."""

import datetime as dt
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import eks_devices
from eks_devices import Compute, DeviceType, Feature, Mechanism, NodegroupSpec, OperatingSystem
from eks_devices import Verdict as SupportVerdict

DATA = Path(eks_devices.__file__).parent / "data"
MINORS = ("1.33", "1.34", "1.35", "1.36", "1.37")
EARLIEST, LATEST = dt.date(2025, 1, 1), dt.date(2026, 12, 31)
EKS_AMI_TYPES = {
    "AL2023_ARM_64_NVIDIA",
    "AL2023_ARM_64_STANDARD",
    "AL2023_x86_64_NEURON",
    "AL2023_x86_64_NVIDIA",
    "AL2023_x86_64_STANDARD",
    "BOTTLEROCKET_ARM_64",
    "BOTTLEROCKET_ARM_64_NVIDIA",
    "BOTTLEROCKET_x86_64",
    "BOTTLEROCKET_x86_64_NVIDIA",
}
DEVICES = {str(one) for one in DeviceType}
MECHANISMS = {str(one) for one in Mechanism}
SYSTEMS = {str(one) for one in OperatingSystem}
Row = dict[str, Any]
Keys = Mapping[str, Any]


def read(name: str) -> Row:
    return tomllib.loads((DATA / name).read_text(encoding="utf-8"))


SUPPORT, AMIS, KUBERNETES = read("support.toml"), read("amis.toml"), read("kubernetes.toml")
RELEASES, LIMITS = read("releases.toml")["releases"], read("limits.toml")
ACCOUNTS = json.loads((DATA / "registry_accounts.json").read_text(encoding="utf-8"))


def sourced_rows() -> Iterator[tuple[str, Row]]:
    for table in ("rule", "against_dra"):
        for row in SUPPORT[table]:
            yield f"support.toml {table} {row.get('id', row.get('option'))}", row
    for table in ("gap", "floor", "avoid"):
        for place, row in enumerate(AMIS[table]):
            yield f"amis.toml {table} {place}", row
    yield "amis.toml", AMIS["source"]
    yield "kubernetes.toml", KUBERNETES
    for version, row in KUBERNETES["minors"].items():
        yield f"kubernetes.toml {version}", row
    for row in KUBERNETES["floors"]:
        yield f"kubernetes.toml {row['id']}", row
    for name, row in RELEASES.items():
        yield f"releases.toml {name}", row
    for name, row in LIMITS.items():
        yield f"limits.toml {name}", row


def faults_of_source(row: Row) -> list[str]:
    """What a row lacks to be believed."""
    source, checked = row.get("source"), row.get("checked")
    return [
        *([] if isinstance(source, str) and len(source) > 10 else ["no source"]),
        *([] if isinstance(checked, dt.date) else ["no date"]),
        *(
            ["a date that cannot be"]
            if isinstance(checked, dt.date) and not EARLIEST <= checked <= LATEST
            else []
        ),
    ]


def faults_of_keys(row: Row, required: Keys, optional: Keys) -> list[str]:
    """Keys that are missing, unknown or of a wrong type."""
    types = {**required, **optional, "source": str, "checked": dt.date}
    return [
        *(f"{key} is missing" for key in required.keys() - row.keys()),
        *(f"{key} is unknown" for key in row.keys() - types.keys()),
        *(
            f"{key} is no {types[key].__name__}"
            for key in row.keys() & types.keys()
            if type(row[key]) is not types[key]
        ),
    ]


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in sourced_rows()])
def test_a_row_has_a_source_and_a_date(row: Row):
    assert faults_of_source(row) == []


@pytest.mark.parametrize(
    ("row", "faults"),
    [
        ({}, ["no source", "no date"]),
        ({"source": "", "checked": "2026-11-30"}, ["no source", "no date"]),
        (
            {"source": "https://example.com", "checked": dt.date(2027, 1, 1)},
            ["a date that cannot be"],
        ),
        (
            {"source": "https://example.com", "checked": dt.date(2024, 12, 31)},
            ["a date that cannot be"],
        ),
    ],
)
def test_a_row_without_them_is_noticed(row: Row, faults: list[str]):
    assert faults_of_source(row) == faults


def test_a_row_with_wrong_keys_is_noticed():
    row = {"id": 1, "extra": "x"}

    assert sorted(faults_of_keys(row, {"id": str, "device": str}, {})) == [
        "device is missing",
        "extra is unknown",
        "id is no str",
    ]


RULE_KEYS: Keys = {
    "id": str,
    "device": str,
    "mechanism": str,
    "compute": list,
    "operating_system": list,
    "verdict": str,
    "message": str,
}
RULE_OPTIONS: Keys = {
    "option": str,
    "feature": str,
    "families": list,
    "kubernetes_min": str,
    "kubernetes_max": str,
    "automatic": bool,
    "warn": bool,
    "why_not": str,
    "fix": str,
}


@pytest.mark.parametrize("rule", SUPPORT["rule"], ids=lambda rule: rule["id"])
def test_a_rule_of_support(rule: Row):
    assert faults_of_keys(rule, RULE_KEYS, RULE_OPTIONS) == []
    assert re.fullmatch(r"[a-z0-9.]+(-[a-z0-9.]+)+", rule["id"])
    assert rule["device"] in DEVICES | {"any"}
    assert rule["mechanism"] in MECHANISMS | {"any"}
    assert set(rule["compute"]) <= {str(one) for one in Compute}
    assert set(rule["operating_system"]) <= SYSTEMS
    assert rule["compute"]
    assert rule["operating_system"]
    assert rule.get("feature", "mps") in {str(one) for one in Feature}
    assert rule["verdict"] in {str(one) for one in SupportVerdict}
    assert set(MINORS) >= {rule[key] for key in rule if key.startswith("kubernetes_")}
    assert rule["message"][0].islower() or rule["message"].split()[0][0].isupper()
    assert not rule["message"].endswith(".")
    # A refusal says what to do instead, and so does a warning; an automatic "no" says why.
    if rule["verdict"] == "no":
        assert rule["fix"]
    if rule.get("automatic") is False:
        assert rule["verdict"] == "yes"


def test_the_ids_of_rules_are_unique():
    ids = [rule["id"] for rule in SUPPORT["rule"]]
    codes = {
        "".join(part.capitalize() for part in name.replace(".", "").split("-")) for name in ids
    }

    assert len(ids) == len(set(ids)) == len(codes)


@pytest.mark.parametrize("row", SUPPORT["against_dra"], ids=lambda row: row["option"])
def test_a_declaration_against_dra(row: Row):
    required: Keys = {
        "option": str,
        "devices": list,
        "reason": str,
        "when_named": str,
    }

    assert faults_of_keys(row, required, {}) == []
    assert row["option"] in NodegroupSpec.__annotations__
    assert set(row["devices"]) <= DEVICES
    assert row["when_named"] in {"warning", "fault", "none"}


def test_ami_types_are_those_of_the_eks_api():
    rows = AMIS["ami"]
    keys = {"operating_system": str, "architecture": str, "accelerator": str, "ami_type": str}

    assert AMIS.keys() == {
        "ami", "disk", "source", "gap", "floor", "avoid", "amazon_linux_2",
    }  # fmt: skip
    assert {row["operating_system"]: row["device_name"] for row in AMIS["disk"]} == {
        "al2023": "/dev/xvda",
        "bottlerocket": "/dev/xvdb",
    }
    assert {row["ami_type"] for row in rows} == EKS_AMI_TYPES
    for row in rows:
        assert faults_of_keys(row, keys, {}) == []
        assert row["operating_system"] in {"al2023", "bottlerocket"}
        assert row["architecture"] in {"x86_64", "arm64"}
        assert row["accelerator"] in {"gpu", "neuron", "none"}
        assert row["ami_type"].upper().startswith(row["operating_system"].upper())
        assert ("ARM_64" in row["ami_type"]) == (row["architecture"] == "arm64")
    questions = [tuple(row[key] for key in list(keys)[:3]) for row in rows]
    assert len(questions) == len(set(questions))


def test_gaps_floors_and_releases_to_avoid_of_amis():
    for row in AMIS["gap"]:
        keys: Keys = {"operating_system": str, "message": str, "fix": str}
        assert faults_of_keys(row, keys, {"families": list, "accelerator": str}) == []
        assert ("families" in row) != ("accelerator" in row)
    for row in AMIS["floor"]:
        keys = {"operating_system": str, "release": str, "message": str}
        options: Keys = {
            "families": list,
            "device": str,
            "mechanism": str,
            "rule": str,
            "external": bool,
        }
        assert faults_of_keys(row, keys, options) == []
        forms = {"al2023": r"20[0-9]{6}", "bottlerocket": r"1\.[0-9]+\.[0-9]+"}
        assert re.fullmatch(forms[row["operating_system"]], row["release"])
        assert ("families" in row) == (row["operating_system"] == "al2023")
        assert (
            ("device" in row) == ("mechanism" in row) == (row["operating_system"] == "bottlerocket")
        )
    for row in AMIS["avoid"]:
        texts: Keys = {"operating_system": str, "release": str, "message": str, "fix": str}
        lists: Keys = {"minors": list}
        assert faults_of_keys(row, {**texts, **lists}, {}) == []
        assert set(row["minors"]) <= set(MINORS)


def test_minors_are_those_that_are_served():
    assert tuple(KUBERNETES["minors"]) == MINORS
    for version, row in KUBERNETES["minors"].items():
        optional = {
            "standard_support_ends": dt.date,
            "extended_support_ends": dt.date,
            "note": str,
        }
        assert faults_of_keys(row, {"resource_api_versions": list}, optional) == []
        assert ("v1" in row["resource_api_versions"]) == (version != "1.33")
        # What was not seen is said in words.
        assert "note" in row or {"standard_support_ends", "extended_support_ends"} <= row.keys()


def test_every_gate_has_a_stage_on_every_minor_and_never_goes_back():
    order = ["none", "alpha", "beta-off", "beta", "ga"]

    assert len(KUBERNETES["gates"]) == 10
    for stages in KUBERNETES["gates"].values():
        assert tuple(stages) == MINORS
        places = [order.index(stages[version]) for version in MINORS]
        assert places == sorted(places)


def test_patch_floors_are_of_known_minors():
    ids = [row["id"] for row in KUBERNETES["floors"]]

    assert len(ids) == len(set(ids))
    for row in KUBERNETES["floors"]:
        keys = {"id": str, "where": str, "patches": dict, "needed_for": str, "why": str}
        assert faults_of_keys(row, keys, {}) == []
        assert row["where"] in {"node", "control-plane"}
        assert row["patches"].keys() < set(MINORS)
        assert all(type(patch) is int and 0 <= patch < 20 for patch in row["patches"].values())


@pytest.mark.parametrize("name", RELEASES)
def test_a_release(name: str):
    row = RELEASES[name]
    keys: Keys = {
        "device": str,
        "mechanism": str,
        "tag": str,
        "kubernetes_min": str,
        "avoid": list,
        "verified": bool,
    }
    options: Keys = {
        "image": str,
        "repository": str,
        "avoid_why": str,
        "oldest": str,
        "oldest_why": str,
        "newer": str,
        "note": str,
    }

    assert faults_of_keys(row, keys, options) == []
    assert name == f"{row['device']}-{row['mechanism']}"
    assert row["device"] in DEVICES
    assert row["mechanism"] in MECHANISMS
    assert row["kubernetes_min"] == ("1.34" if row["mechanism"] == "dra" else "1.33")
    assert ("image" in row) != ("repository" in row)
    assert re.fullmatch(r"v?[0-9]+\.[0-9]+\.[0-9]+(\.[0-9]+|-eksbuild\.[0-9]+)?", row["tag"])
    assert row["tag"] not in row["avoid"]
    assert (row["avoid"] == []) == ("avoid_why" not in row)
    assert ("oldest" in row) == ("oldest_why" in row)
    assert ":" not in row.get("image", row.get("repository"))
    # Nobody pulled an image so far.
    assert row["verified"] is False


def test_no_data_file_has_a_digest_or_a_moving_tag():
    for file in sorted(DATA.glob("*.toml")):
        text = file.read_text(encoding="utf-8")

        assert "sha256:" not in text
        assert not re.search(r'tag = "[^"0-9]*"', text)


def test_limits_are_numbers():
    assert LIMITS.keys() == {
        "max_pods", "taints", "keys", "labels", "names", "sizes", "disk", "vpc_cni",
        "search", "instance_types", "tags", "quotas", "capacity_blocks", "subnets", "vcpu_quotas",
        "desired_size", "manifest",
    }  # fmt: skip
    assert (LIMITS["disk"]["smallest"], LIMITS["disk"]["largest"]) == (20, 16384)
    assert LIMITS["vpc_cni"]["efa_only"] == "1.18.5"
    assert LIMITS["max_pods"].items() >= {"small_vcpus": 30, "small": 110, "large": 250}.items()
    assert (LIMITS["taints"]["most"], LIMITS["sizes"]["most"]) == (50, 2_147_483_647)
    assert (LIMITS["keys"]["longest"], LIMITS["keys"]["longest_value"]) == (63, 63)
    assert LIMITS["names"]["longest"] == 63
    assert LIMITS["search"]["quick"] == 9
    assert LIMITS["instance_types"]["most"] == 20
    assert (LIMITS["tags"]["most"], LIMITS["tags"]["longest_key"]) == (50, 128)
    assert (LIMITS["quotas"]["nodegroups"], LIMITS["quotas"]["nodes"]) == (30, 450)
    blocks = LIMITS["capacity_blocks"]
    assert (blocks["instances_per_block"], blocks["instances_a_day"]) == (64, 256)
    assert LIMITS["subnets"]["reserved_addresses"] == 5
    assert all(prefix.endswith("/") for prefix in LIMITS["labels"]["reserved"])


def test_registry_accounts_have_twelve_digits():
    assert re.fullmatch("[0-9]{12}", ACCOUNTS["default_account"])
    assert ACCOUNTS["accounts"].keys() == ACCOUNTS["suffix_by_partition"].keys()
    for regions in ACCOUNTS["accounts"].values():
        assert regions
        for region, account in regions.items():
            assert re.fullmatch(r"[a-z]{2,3}(-[a-z]+)+-[0-9]", region)
            assert re.fullmatch("[0-9]{12}", account)
    assert EARLIEST <= dt.date.fromisoformat(ACCOUNTS["checked"]) <= LATEST
    assert ACCOUNTS["source"]
