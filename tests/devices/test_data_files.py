"""The schema of the data files, and that every row says where it is from and when it was read."""

import datetime as dt
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from botocore.session import get_session

import eks_devices
from eks_devices import (
    Component,
    Compute,
    DeviceType,
    Feature,
    Mechanism,
    NeuronError,
    NodegroupSpec,
    OperatingSystem,
)
from eks_devices import Verdict as SupportVerdict
from eks_devices.releases import release_number

DATA = Path(eks_devices.__file__).parent / "data"
MINORS = ("1.33", "1.34", "1.35", "1.36", "1.37")
EARLIEST = dt.date(2025, 1, 1)
DEVICES = {str(one) for one in DeviceType}
MECHANISMS = {str(one) for one in Mechanism}
SYSTEMS = {str(one) for one in OperatingSystem}
Row = dict[str, Any]
Keys = Mapping[str, Any]


def read(name: str) -> Row:
    return tomllib.loads((DATA / name).read_text(encoding="utf-8"))


SUPPORT, AMIS, KUBERNETES = read("support.toml"), read("amis.toml"), read("kubernetes.toml")
RELEASES, LIMITS = read("releases.toml")["releases"], read("limits.toml")
COMPONENTS, MAINTENANCE = read("releases.toml")["components"], read("maintenance.toml")
FILES = sorted(file.name for file in DATA.glob("*.toml"))
EKS = get_session().get_service_model("eks")
ACCOUNTS = json.loads((DATA / "registry_accounts.json").read_text(encoding="utf-8"))


# Tables whose source stands in another table of their file, and those that say what this library
# does with what the rest of the file says of AWS.
COVERED = {"amis.toml ami": "source", "launch_template.toml allowed": "allowed_source"}
OURS = {
    "nodegroup_properties.toml option",
    "nodegroup_properties.toml parameter",
    "user_data.toml bottlerocket",
}


def unsourced(value: Any, path: str) -> Iterator[str]:
    """Paths of what neither says itself where it is from and when it was read, nor is in a table
    that does."""
    if isinstance(value, dict):
        if faults_of_source(value):
            for name, one in value.items():
                yield from unsourced(one, f"{path}.{name}")
    elif isinstance(value, list) and any(isinstance(one, dict) for one in value):
        for index, one in enumerate(value):
            yield from unsourced(one, f"{path}[{index}]")
    else:
        yield path


def dates(value: Any) -> Iterator[Any]:
    """Every date of reading in a file."""
    for name, one in value.items() if isinstance(value, dict) else enumerate(value):
        if name == "checked":
            yield one
        elif isinstance(one, (dict, list)):
            yield from dates(one)


def faults_of_source(row: Row) -> list[str]:
    """What a row lacks to be believed."""
    source, checked = row.get("source", row.get("url")), row.get("checked")
    return [
        *([] if isinstance(source, str) and len(source) > 10 else ["no source"]),
        *([] if isinstance(checked, dt.date) else ["no date"]),
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


@pytest.mark.parametrize("name", FILES)
def test_every_row_says_where_it_is_from_and_when_it_was_read(name: str):
    tables = read(name)
    loose = [] if not faults_of_source(tables) else [
        path
        for table, value in tables.items()
        if f"{name} {table}" not in COVERED.keys() | OURS
        for path in unsourced(value, table)
    ]  # fmt: skip

    assert tables
    assert loose == []


@pytest.mark.parametrize("name", FILES)
def test_a_row_was_read_after_the_project_began(name: str):
    assert all(one >= EARLIEST for one in dates(read(name)))


def test_what_others_cover_is_covered_by_a_row_with_a_source():
    for place, other in COVERED.items():
        name, table = place.split()
        tables = read(name)

        assert tables[table]
        assert faults_of_source(tables[other]) == []
    assert all(read(name)[table] for name, table in map(str.split, OURS))


@pytest.mark.parametrize(
    ("table", "paths"),
    [
        ({"a": 1}, ["t.a"]),
        ({"a": 1, "source": "https://example.com"}, ["t.a", "t.source"]),
        ({"a": 1, "source": "", "checked": EARLIEST}, ["t.a", "t.source", "t.checked"]),
        ({"a": 1, "source": "https://example.com", "checked": EARLIEST}, []),
        ([{"a": 1}, {"source": "https://example.com", "checked": EARLIEST}], ["t[0].a"]),
        ({"rows": {"b": {"c": [1, 2]}}}, ["t.rows.b.c"]),
    ],
)
def test_what_has_no_source_is_noticed(table: Any, paths: list[str]):
    assert list(unsourced(table, "t")) == paths


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
        "ami", "disk", "source", "gap", "floor", "avoid", "amazon_linux_2", "own_image_nri",
    }  # fmt: skip
    assert {row["operating_system"]: row["device_name"] for row in AMIS["disk"]} == {
        "al2023": "/dev/xvda",
        "bottlerocket": "/dev/xvdb",
    }
    assert {row["ami_type"] for row in rows} <= set(EKS.shape_for("AMITypes").enum)
    for row in rows:
        assert faults_of_keys(row, keys, {}) == []
        assert row["operating_system"] in {"al2023", "bottlerocket"}
        assert row["architecture"] in {"x86_64", "arm64"}
        assert row["accelerator"] in {"gpu", "neuron", "none"}
        assert row["ami_type"].upper().startswith(row["operating_system"].upper())
        assert ("ARM_64" in row["ami_type"]) == (row["architecture"] == "arm64")
    questions = [tuple(row[key] for key in list(keys)[:3]) for row in rows]
    assert len(questions) == len(set(questions))


def test_gaps_and_floors_of_amis():
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
            "above": str,
            "external": bool,
            "host_service": bool,
            "sharing": str,
        }
        assert faults_of_keys(row, keys, options) == []
        forms = {"al2023": r"20[0-9]{6}", "bottlerocket": r"1\.[0-9]+\.[0-9]+"}
        assert re.fullmatch(forms[row["operating_system"]], row["release"])
        assert ("families" in row) != ("device" in row)
        assert ("device" in row) == ("mechanism" in row)
        assert "families" not in row or row["operating_system"] == "al2023"


def test_a_floor_above_another_is_of_a_later_release():
    releases = {row.get("rule"): row["release"] for row in AMIS["floor"]}
    for row in AMIS["floor"]:
        if "above" in row:
            lower, higher = releases[row["above"]], row["release"]
            assert [*map(int, lower.split("."))] < [*map(int, higher.split("."))]


def test_releases_to_avoid_of_amis():
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

    assert len(KUBERNETES["gates"]) == 16
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


@pytest.mark.parametrize("name", COMPONENTS)
def test_a_release_of_a_component(name: str):
    row = COMPONENTS[name]
    keys: Keys = {"image": str, "avoid": list, "verified": bool}
    options: Keys = {
        "tag": str,
        "tags": dict,
        "oldest": str,
        "oldest_why": str,
        "newer": str,
        "note": str,
    }

    assert faults_of_keys(row, keys, options) == []
    assert name in set(Component)
    assert ("oldest" in row) == ("oldest_why" in row)
    assert ("tag" in row) != ("tags" in row)
    if "oldest" in row:
        assert release_number(row["tag"]) >= release_number(row["oldest"]) != ()
    # A scheduler of another minor than the cluster's may not understand its API server.
    for minor, tag in row.get("tags", {}).items():
        assert minor in MINORS
        assert tag.startswith(f"v{minor}.")


def test_each_component_has_a_release():
    assert COMPONENTS.keys() == set(Component)


def test_each_error_of_a_neuron_device_has_the_reason_that_eks_reports():
    rows = MAINTENANCE["neuron_reason"]

    assert [row["error"] for row in rows] == list(NeuronError)
    assert len({row["name"] for row in rows}) == len(rows)
    for row in rows:
        assert faults_of_keys(row, {"error": str, "name": str, "condition": str}, {}) == []
        assert row["condition"] in MAINTENANCE["repair"]["conditions"]
        # One name is the other in words: NeuronDMAError is of DMA_ERROR.
        assert row["name"].lower() == "neuron" + row["error"].replace("_", "").lower()


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
        "oldest_for": list,
        "older_majors": list,
        "build": str,
        "before": str,
        "before_why": str,
        "newer": str,
        "note": str,
    }

    assert faults_of_keys(row, keys, options) == []
    build = "" if row.get("build", "eks") == "eks" else f"-{row['build']}"
    assert name == f"{row['device']}-{row['mechanism']}{build}"
    assert row["device"] in DEVICES
    assert row["mechanism"] in MECHANISMS
    assert row["kubernetes_min"] == ("1.34" if row["mechanism"] == "dra" else "1.33")
    assert ("image" in row) != ("repository" in row)
    assert re.fullmatch(r"v?[0-9]+\.[0-9]+\.[0-9]+(\.[0-9]+|-eksbuild\.[0-9]+)?", row["tag"])
    assert row["tag"] not in row["avoid"]
    assert (row["avoid"] == []) == ("avoid_why" not in row)
    assert ("oldest" in row) == ("oldest_why" in row)
    assert ("before" in row) == ("before_why" in row)
    assert "before" not in row or release_number(row["tag"]) < release_number(row["before"])
    assert all(type(one) is int for one in row.get("older_majors", ()))
    assert "older_majors" not in row or "oldest" in row
    assert ":" not in row.get("image", row.get("repository"))
    # Nobody pulled an image so far.
    assert row["verified"] is False


def test_no_data_file_has_a_digest_or_a_moving_tag():
    for file in sorted(DATA.glob("*.toml")):
        text = file.read_text(encoding="utf-8")

        assert "sha256:" not in text
        assert not re.search(r'tag = "[^"0-9]*"', text)


@pytest.mark.parametrize(
    ("shape", "table", "key"),
    [
        ("labelKey", "keys", "longest"),
        ("taintKey", "keys", "longest"),
        ("labelValue", "keys", "longest_value"),
        ("taintValue", "keys", "longest_value"),
        ("TagMap", "tags", "most"),
        ("TagKey", "tags", "longest_key"),
        ("TagValue", "tags", "longest_value"),
    ],
)
def test_limits_are_those_of_the_eks_api(shape: str, table: str, key: str):
    assert LIMITS[table][key] == EKS.shape_for(shape).metadata["max"]


def test_registry_accounts_have_twelve_digits():
    assert re.fullmatch("[0-9]{12}", ACCOUNTS["default_account"])
    assert ACCOUNTS["accounts"].keys() == ACCOUNTS["suffix_by_partition"].keys()
    for regions in ACCOUNTS["accounts"].values():
        assert regions
        for region, account in regions.items():
            assert re.fullmatch(r"[a-z]{2,3}(-[a-z]+)+-[0-9]", region)
            assert re.fullmatch("[0-9]{12}", account)
    assert dt.date.fromisoformat(ACCOUNTS["checked"]) >= EARLIEST
    assert ACCOUNTS["source"]
