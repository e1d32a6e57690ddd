"""What the drivers publish, checked against literal values."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from eks_devices import published
from eks_devices._data import data_path, read_json, read_toml
from eks_devices.instance_types import AcceleratedInstanceType
from eks_devices.network import default_efa_count
from eks_devices.vocabulary import DeviceType

DATA = read_json("published_devices.json")
TRN2_BUSES = ["c9", "b4", "b3", "ca", "6c", "57", "56", "6d", "98", "83", "82", "99", "f5", "e0"]
TRN2_EFAS = [f"0000:{bus}:00.0" for bus in [*TRN2_BUSES, "df", "f6"]]
MAPPED = [
    "trn1.32xlarge",
    "trn1n.32xlarge",
    "trn2.48xlarge",
    "trn2e.48xlarge",
    "trn2u.48xlarge",
    "trn3.48xlarge",
    "trn3p.48xlarge",
    "trn3pd98.48xlarge",
    "trn3s.48xlarge",
    "trn3-dev0.48xlarge",
    "trn3-dev1.48xlarge",
]


def test_the_file_covers_the_types_that_upstream_read():
    assert len(DATA["gpus"]) == 53
    assert len(DATA["efas"]) == 29
    assert set(DATA["efas"]) <= set(DATA["gpus"])
    assert sorted(DATA["neuronTypes"]) == sorted(MAPPED)


def test_the_file_has_one_record_a_line():
    lines = Path(data_path("published_devices.json")).read_text(encoding="utf-8").splitlines()

    for section in ("gpuModels", "gpus", "efas", "neuronTypes", "neuronAttributes"):
        for name, record in DATA[section].items():
            assert f'  "{name}": {json.dumps(record)}' in [line.rstrip(",") for line in lines]


def test_every_section_is_documented_and_sourced():
    about = " ".join(DATA["about"])

    assert all(section in about for section in DATA if section != "about")
    for row in read_toml("published_devices.source.toml").values():
        assert {"what", "source", "licence", "checked"} == set(row)


@pytest.mark.parametrize("name", sorted(DATA["gpus"]))
def test_gpus_and_efas_agree_with_the_catalogue(name: str):
    instance = AcceleratedInstanceType.of(name)

    assert instance.accelerator is not None
    roots = published.pcie_roots(name)
    assert roots is not None
    assert sum(root.gpus for root in roots) == instance.accelerator.count
    assert sum(root.efas for root in roots) == default_efa_count(instance)


@pytest.mark.parametrize(
    ("name", "roots"),
    [
        ("p4d.24xlarge", ((2, 1),) * 4),
        ("p4de.24xlarge", ((2, 1),) * 4),
        ("p5.48xlarge", ((1, 4),) * 8),
        ("p5.4xlarge", ((1, 1),)),
        ("p5e.48xlarge", ((1, 4),) * 8),
        ("p5en.48xlarge", ((2, 4),) * 4),
        ("p6-b200.48xlarge", ((2, 2),) * 4),
        ("p6-b300.48xlarge", ((1, 2),) * 8),
        ("g5.48xlarge", ((8, 1),)),
        ("p3dn.24xlarge", ((8, 1),)),
        ("g4dn.12xlarge", ((4, 1),)),
        ("g4dn.metal", ()),
        ("g6.48xlarge", ()),
        ("g6e.48xlarge", ()),
        ("gr6.8xlarge", ()),
        ("g6.xlarge", ()),
        ("g7.8xlarge", None),
        ("g7e.48xlarge", None),
        ("p6e-gb200.36xlarge", None),
        ("trn2.48xlarge", None),
    ],
)
def test_gpus_and_efas_of_a_shared_root(name, roots):
    assert published.gpu_efa_roots(name) == roots


def test_roots_keep_the_names_that_the_driver_publishes():
    roots = published.pcie_roots("p5.48xlarge")

    assert roots is not None
    assert [root.name[-2:] for root in roots] == ["44", "55", "66", "77", "88", "99", "aa", "bb"]
    assert roots[0] == published.PcieRoot(name="pci0000:44", gpus=1, efas=4)


def test_efas_of_different_numa_nodes_on_one_type_are_all_counted():
    roots = published.pcie_roots("g6e.48xlarge")

    assert roots is not None
    assert [(root.name, root.efas) for root in roots if root.efas] == [
        ("pci0000:84", 2),
        ("pci0000:a5", 2),
    ]


@pytest.mark.parametrize(
    ("name", "efas"),
    [
        ("trn1.32xlarge", [1, 2, 4, 8]),
        ("trn1n.32xlarge", [1, 4, 8, 16]),
        ("trn2.48xlarge", [1, 4, 8, 16]),
        ("trn2u.48xlarge", [1, 4, 8, 16]),
        ("trn2.3xlarge", [None] * 4),
        ("trn1.2xlarge", [None] * 4),
        ("inf2.48xlarge", [None] * 4),
        ("p5.48xlarge", [None] * 4),
    ],
)
def test_efas_of_a_device_group(name, efas):
    assert [published.efa_per_device_group(name, size) for size in (1, 4, 8, 16)] == efas


@pytest.mark.parametrize("size", [0, 2, 3, 5, 12, 32, -1])
def test_only_four_sizes_of_groups_are_published(size):
    assert published.efa_per_device_group("trn2.48xlarge", size) is None


def test_group_sizes():
    assert published.all_device_group_sizes() == (1, 4, 8, 16)
    assert published.device_group_sizes("trn2.48xlarge") == (1, 4, 8, 16)
    assert published.device_group_sizes("trn2.3xlarge") == ()
    assert published.device_group_sizes("inf2.xlarge") == ()


def test_group_ids_of_trn2_are_the_documented_ones():
    assert DATA["neuronMaps"][DATA["neuronTypes"]["trn2.48xlarge"]] == {
        "efas": TRN2_EFAS,
        "devicegroup4_id": [
            "13713e551cd37c19",
            "671622785349fddf",
            "237e3ef7b968b4d3",
            "b3d6ce1919d29f8f",
        ],
        "devicegroup8_id": ["3593812b8066a078", "614e16dab9ba2f1f"],
        "devicegroup16_id": ["821d14afaf11327d"],
    }


def test_group_ids_of_trn1_are_the_documented_ones():
    assert DATA["neuronMaps"][DATA["neuronTypes"]["trn1.32xlarge"]]["devicegroup4_id"] == [
        "88a3c6ad1661fe1d",
        "69b2225fd72a59dd",
        "e3c29faa0cd11323",
        "178a9e264a26793e",
    ]


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("p5.48xlarge", "1g.10gb 1g.10gb+me 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb"),
        ("p5.4xlarge", "1g.10gb 1g.10gb+me 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb"),
        ("p4d.24xlarge", "1g.5gb 1g.5gb+me 1g.10gb 2g.10gb 3g.20gb 4g.20gb 7g.40gb"),
        ("p4de.24xlarge", "1g.10gb 1g.10gb+me 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb"),
        ("p5e.48xlarge", "1g.18gb 1g.18gb+me 1g.35gb 2g.35gb 3g.71gb 4g.71gb 7g.141gb"),
        ("p5en.48xlarge", "1g.18gb 1g.18gb+me 1g.35gb 2g.35gb 3g.71gb 4g.71gb 7g.141gb"),
        ("p6-b200.48xlarge", "1g.23gb 1g.23gb+me 1g.45gb 2g.45gb 3g.90gb 4g.90gb 7g.180gb"),
        ("p6-b300.48xlarge", "1g.34gb 1g.34gb+me 1g.67gb 2g.67gb 3g.135gb 4g.135gb 7g.269gb"),
        (
            "g7.2xlarge",
            "1g.16gb 1g.16gb+gfx 1g.16gb+me.all 1g.16gb-me 2g.32gb 2g.32gb+gfx",
        ),
        (
            "g7e.48xlarge",
            """1g.24gb 1g.24gb+me 1g.24gb+gfx 1g.24gb+me.all 1g.24gb-me 2g.48gb 2g.48gb+gfx
            2g.48gb+me.all 2g.48gb-me 4g.96gb 4g.96gb+gfx""",
        ),
        ("g6.xlarge", ""),
        ("g5.48xlarge", ""),
        ("g4dn.xlarge", ""),
        ("g5g.xlarge", ""),
        ("g6e.xlarge", ""),
        ("g6f.large", ""),
        ("p3dn.24xlarge", ""),
        ("p6e-gb200.36xlarge", ""),
    ],
)
def test_known_mig_profiles(name, known):
    assert published.mig_profiles(name) == tuple(known.split())


def test_what_has_no_gpus_has_no_known_mig_profiles():
    assert published.mig_profiles("trn2.48xlarge") is None


def test_the_mig_profiles_of_every_gpu_type_are_known():
    for instance in AcceleratedInstanceType.all():
        if instance.device_type is DeviceType.GPU:
            assert published.mig_profiles(instance.name) is not None, instance.name


@pytest.mark.parametrize(
    ("name", "profile", "placements"),
    [
        ("p5.48xlarge", "1g.10gb", 7),
        ("p5.48xlarge", "3g.40gb", 2),
        ("p5.48xlarge", "7g.80gb", 1),
        ("p4d.24xlarge", "2g.10gb", 3),
        ("p4de.24xlarge", "1g.10gb", 7),
        ("p5.48xlarge", "1g.10gb+me", 1),
        ("p5.48xlarge", "1g.20gb", 4),
        ("p5.48xlarge", "1g.5gb", None),
        ("p5en.48xlarge", "1g.18gb", 7),
        ("p6-b300.48xlarge", "2g.67gb", 3),
        ("g7e.2xlarge", "1g.24gb", 4),
        ("g7e.2xlarge", "2g.48gb+me.all", 1),
        ("g7.2xlarge", "1g.16gb", 2),
        ("g6.xlarge", "1g.5gb", None),
        ("trn2.48xlarge", "1g.10gb", None),
    ],
)
def test_partitions_of_a_profile_on_one_gpu(name, profile, placements):
    assert published.mig_placements(name, profile) == placements


def test_each_model_says_where_its_mig_profiles_are_from():
    sources = read_toml("published_devices.source.toml")

    for name, model in DATA["gpuModels"].items():
        assert model["mig"] == DATA["migProfiles"].get(name, {"origin": "none"})["origin"]
    for record in DATA["migProfiles"].values():
        facts = {key for profile in record["profiles"].values() for key in profile}
        assert record["origin"] in sources
        assert ("placements" in facts) == (record.get("placements") in sources)
        assert ("memory" in facts) == (record.get("details") in sources)


def test_every_family_that_nobody_read_has_a_known_model():
    for family, model in DATA["gpuFamilies"].items():
        assert model in DATA["gpuModels"]
        assert not any(name.startswith(f"{family}.") for name in DATA["gpus"])


def test_the_model_is_what_the_driver_calls_it():
    assert published.gpu_model("p5.48xlarge") == "NVIDIA H100 80GB HBM3"
    assert published.gpu_model("trn2.48xlarge") is None
    assert published.gpu_model("g7e.48xlarge") is None
    assert published.mig_model("g7e.48xlarge") == "NVIDIA RTX PRO 6000 Blackwell Server Edition"
    assert published.mig_model("p5.48xlarge") == "NVIDIA H100 80GB HBM3"
    assert published.mig_model("trn2.48xlarge") is None


def test_importing_published_facts_and_claims_reads_no_data():
    code = (
        "import sys; opened = []\n"
        "sys.addaudithook(lambda event, args: event == 'open' and opened.append(str(args[0])))\n"
        "import eks_devices.published, eks_devices.claims\n"
        "print([name for name in opened if name.endswith(('.json', '.toml'))], 'tomllib' in "
        "sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[] False"
