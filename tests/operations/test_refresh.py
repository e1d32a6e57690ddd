"""The refresh of the instance catalogue, on the answers that moto recorded."""

import gzip
import importlib.metadata
import importlib.util
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from eks_device_operations._outcome import COULD_NOT_LOOK, WRONG, OperationError
from eks_device_operations.refresh import RefreshResult, refresh_instance_types
from eks_device_operations.refresh.describe import describe, require_card_field
from eks_device_operations.refresh.records import CatalogueRecords, joined, to_record
from eks_device_operations.refresh.render import render
from eks_device_operations.refresh.soundness import require_sound
from eks_devices import instance_records
from eks_devices.instance_types import AcceleratedInstanceType

COMMITTED = Path(instance_records.data_folder())
FILES = ("instance_types.json", "efa_types.json")


def recorded_file() -> Path:
    spec = importlib.util.find_spec("moto")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "ec2/resources/instance_types.json.gz"


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(gzip.decompress(recorded_file().read_bytes()))
    return answer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with the committed files."""
    data = tmp_path / "data"
    data.mkdir()
    for name in FILES:
        (data / name).write_bytes((COMMITTED / name).read_bytes())
    return data


def refresh(
    source: Path, folder: Path, *, check: bool = False, allow_removals: bool = False
) -> RefreshResult:
    return refresh_instance_types(
        source_file=str(source),
        regions=[],
        check=check,
        data_folder=str(folder),
        allow_removals=allow_removals,
    )


def changed(result: RefreshResult) -> tuple[str, ...]:
    """Every type that a refresh adds, removes or alters."""
    found = result.differences
    return tuple(sorted((*found.added, *found.removed, *found.altered)))


def saved(folder: Path, content: Any) -> Path:
    path = folder / "answer.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def content_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def without(infos: dict[str, Any], *names: str) -> list[Any]:
    return [info for name, info in infos.items() if name not in names]


def test_the_committed_files_are_what_the_recorded_answer_gives():
    result = refresh(recorded_file(), COMMITTED, check=True)

    assert changed(result) == ()
    assert result.exit_code == 0
    assert result.text == "up to date: 79 accelerated, 260 with EFA only"


def test_the_committed_files_have_one_record_a_line():
    for name in FILES:
        lines = (COMMITTED / name).read_text(encoding="utf-8").splitlines()

        assert len(lines) == 2 + len(json.loads("".join(lines)))
        assert lines[1:-1] == sorted(lines[1:-1])


def test_the_source_file_names_the_recording_that_was_used():
    source = tomllib.loads((COMMITTED / "instance_types.source.toml").read_text(encoding="utf-8"))

    assert source["version"] == importlib.metadata.version("moto")
    assert source["licence"] == "Apache-2.0"


def test_a_refresh_writes_what_it_would_check(tmp_path: Path):
    data = tmp_path / "data"
    data.mkdir()

    written = refresh(recorded_file(), data)

    assert len(changed(written)) == 339
    assert written.exit_code == 0
    assert "instance_types.source.toml" in written.text
    assert content_of(data) == {name: (COMMITTED / name).read_bytes() for name in FILES}
    assert refresh(recorded_file(), data, check=True).exit_code == 0


@pytest.mark.parametrize("shape", ["answer", "answers", "entries", "by name"])
def test_every_shape_of_an_answer_is_read(
    shape: str, tmp_path: Path, folder: Path, recorded: dict[str, Any]
):
    infos = list(recorded.values())
    page = {"InstanceTypes": infos[:700], "NextToken": "more"}
    shapes: dict[str, Any] = {
        "answer": {"InstanceTypes": infos, "ResponseMetadata": {}},
        "answers": [page, {"InstanceTypes": infos[700:]}],
        "entries": infos[::-1],
        "by name": recorded,
    }

    assert refresh(saved(tmp_path, shapes[shape]), folder, check=True).exit_code == 0


def test_a_changed_answer_is_stale_and_a_check_writes_nothing(
    tmp_path: Path, folder: Path, recorded: dict[str, Any]
):
    before = content_of(folder)
    p5 = recorded["p5.48xlarge"] | {"SupportedUsageClasses": ["on-demand"]}
    p9 = recorded["p5.48xlarge"] | {"InstanceType": "p9.48xlarge"}
    source = saved(tmp_path, [*without(recorded, "p5.48xlarge", "g5.xlarge"), p5, p9])

    result = refresh(source, folder, check=True)

    assert changed(result) == ("g5.xlarge", "p5.48xlarge", "p9.48xlarge")
    assert result.differences.removed == ("g5.xlarge",)
    assert result.exit_code == 1
    assert result.stale_files == ("instance_types.json",)
    assert "REMOVED: g5.xlarge" in result.text
    assert content_of(folder) == before


def test_a_refresh_reports_what_it_removes(tmp_path: Path, folder: Path, recorded: dict[str, Any]):
    source = saved(tmp_path, without(recorded, "g5.xlarge", "c5n.metal"))

    result = refresh(source, folder, allow_removals=True)

    assert result.differences.removed == ("c5n.metal", "g5.xlarge")
    assert "REMOVED: c5n.metal" in result.text
    assert sorted(content_of(folder)) == sorted(FILES)
    assert b'"g5.xlarge"' not in (folder / FILES[0]).read_bytes()


def test_types_of_today_that_are_missing_are_listed_and_nothing_is_written(
    tmp_path: Path, folder: Path, recorded: dict[str, Any]
):
    before = content_of(folder)
    source = saved(tmp_path, without(recorded, "trn2.48xlarge", "g5.xlarge", "c5n.metal"))

    with pytest.raises(OperationError, match="--allow-removals") as caught:
        refresh(source, folder)

    missing = ("missing: c5n.metal", "missing: g5.xlarge", "missing: trn2.48xlarge")
    assert caught.value.code == WRONG
    assert caught.value.messages[1:] == missing
    assert content_of(folder) == before


def test_a_check_tells_missing_types_as_stale(
    tmp_path: Path, folder: Path, recorded: dict[str, Any]
):
    source = saved(tmp_path, without(recorded, "trn2.48xlarge", "g5.xlarge"))

    result = refresh(source, folder, check=True)

    assert result.exit_code == 1
    assert "REMOVED: trn2.48xlarge" in result.text
    assert "a refresh needs --allow-removals: 2 types would be lost" in result.text


def test_a_type_that_loses_its_accelerator_is_missing(
    tmp_path: Path, folder: Path, recorded: dict[str, Any]
):
    before = content_of(folder)
    source = saved(tmp_path, [*without(recorded, P5), broken(recorded[P5], "GpuInfo", "del")])

    with pytest.raises(OperationError, match=r"missing: p5\.48xlarge"):
        refresh(source, folder)

    assert content_of(folder) == before


def test_a_correction_without_its_record_is_no_type(
    tmp_path: Path, folder: Path, recorded: dict[str, Any]
):
    before = content_of(folder)
    trn2 = [name for name in recorded if name.startswith("trn2")]
    source = saved(tmp_path, without(recorded, *trn2))

    with pytest.raises(OperationError) as caught:
        refresh(source, folder, allow_removals=True)

    assert caught.value.code == WRONG
    assert [message.partition(":")[0] for message in caught.value.messages] == sorted(trn2)
    for message in caught.value.messages:
        assert "overrides.toml corrects a record" in message
        assert "ask the Regions" in message
    assert content_of(folder) == before


def test_a_catalogue_that_was_broken_before_is_not_up_to_date(
    tmp_path: Path, folder: Path, recorded: dict[str, Any]
):
    infos = without(recorded, *[name for name in recorded if name.startswith("trn2")])
    path = folder / FILES[0]
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if '"trn2' not in line), encoding="utf-8")

    with pytest.raises(OperationError, match=r"trn2u\.48xlarge: overrides\.toml corrects"):
        refresh(saved(tmp_path, infos), folder, check=True)


def test_an_override_that_gives_a_wrong_value_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    patches: dict[str, Any] = {
        **instance_records._patches(),
        P5: [{"InstanceType": P5, "VCpuInfo": {"DefaultVCpus": "many"}}],
        "g5.xlarge": [{"InstanceType": "g5.xlarge", "MemoryInfo": {"SizeInMiB": 0}}],
    }
    monkeypatch.setattr(instance_records, "_patches", lambda: patches)

    with pytest.raises(OperationError) as caught:
        refresh(recorded_file(), folder)

    assert caught.value.messages == (
        "g5.xlarge: MemoryInfo.SizeInMiB is 0; expected at least 1",
        "p5.48xlarge: VCpuInfo: DefaultVCpus: expected int, got 'many'",
    )


def test_a_type_that_cannot_be_built_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch):
    facts = instance_records.extra_facts

    def extra(name: str) -> dict[str, Any]:
        return {**facts(name), **({"no_such_attribute": 1} if name == P5 else {})}

    monkeypatch.setattr(instance_records, "extra_facts", extra)

    with pytest.raises(OperationError, match=r"p5\.48xlarge: no type .*no_such") as caught:
        refresh(recorded_file(), folder, check=True)

    assert caught.value.code == WRONG


def test_many_faults_are_told_in_part(tmp_path: Path, folder: Path, recorded: dict[str, Any]):
    infos = [broken(info, "VCpuInfo.DefaultVCpus", -1) for info in recorded.values()]

    with pytest.raises(OperationError) as caught:
        refresh(saved(tmp_path, infos), folder)

    assert len(caught.value.messages) == 21
    assert caught.value.messages[-1] == "and 319 faults more"


def test_a_type_that_gets_an_accelerator_moves_to_the_other_file(
    tmp_path: Path, folder: Path, recorded: dict[str, Any]
):
    info = recorded["c5n.metal"] | {"GpuInfo": recorded["p5.48xlarge"]["GpuInfo"]}
    source = saved(tmp_path, [*without(recorded, "c5n.metal"), info])

    result = refresh(source, folder)

    assert changed(result) == ("c5n.metal",)
    assert result.stale_files == FILES
    assert b'"c5n.metal"' in (folder / FILES[0]).read_bytes()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"g5.xlarge": 1}'])
def test_a_file_that_people_broke_is_stale_and_written_anew(folder: Path, text: str):
    (folder / FILES[0]).write_text(text, encoding="utf-8")

    assert refresh(recorded_file(), folder, check=True).exit_code == 1
    refresh(recorded_file(), folder)
    assert (folder / FILES[0]).read_bytes() == (COMMITTED / FILES[0]).read_bytes()


def test_an_edit_of_the_text_alone_is_stale(folder: Path):
    path = folder / FILES[0]
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    result = refresh(recorded_file(), folder, check=True)

    assert (changed(result), result.exit_code) == ((), 1)
    assert "by hand" in result.text


P5 = "p5.48xlarge"


def broken(info: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A deep copy of an entry with another value at a path; `del` removes it."""
    copy: dict[str, Any] = json.loads(json.dumps(info))
    *parents, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    place: Any = copy
    for key in parents:
        place = place[key]
    if value == "del":
        del place[last]
    else:
        place[last] = value
    return copy


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("NetworkInfo.NetworkCards.3.InterfaceTypes", "del", r"NetworkCards\[3\] lacks Interface"),
        ("NetworkInfo.NetworkCards.0.NetworkCardIndex", "del", "lacks NetworkCardIndex"),
        ("NetworkInfo.NetworkCards", [], "NetworkCards is missing or empty"),
        ("NetworkInfo.NetworkCards", {"0": 1}, "expected list"),
        ("NetworkInfo", 5, "expected dict"),
        ("NetworkInfo", "del", "NetworkCards is missing or empty"),
        ("NetworkInfo.EfaSupported", "true", "expected bool"),
        ("GpuInfo.Gpus.0.Count", True, "expected int"),
        ("GpuInfo.Gpus.0.Count", "8", "expected int"),
        ("GpuInfo.Gpus.0", None, "expected dict"),
        ("GpuInfo", [], "expected dict"),
        ("VCpuInfo.DefaultVCpus", "del", r"p5\.48xlarge: VCpuInfo\.DefaultVCpus is missing"),
        ("VCpuInfo.DefaultVCpus", 0, r"p5\.48xlarge: VCpuInfo\.DefaultVCpus is 0"),
        ("VCpuInfo.DefaultVCpus", -192, "DefaultVCpus is -192; expected at least 1"),
        ("MemoryInfo.SizeInMiB", 0, r"p5\.48xlarge: MemoryInfo\.SizeInMiB is 0"),
        ("MemoryInfo", "del", r"MemoryInfo\.SizeInMiB is missing"),
        ("ProcessorInfo.SupportedArchitectures", ["i386"], r"SupportedArchitectures is \['i386'\]"),
        ("ProcessorInfo.SupportedArchitectures", [], "SupportedArchitectures is missing or empty"),
        ("GpuInfo.Gpus.0.Count", "del", r"p5\.48xlarge: GpuInfo\.Gpus\.Count is missing"),
        ("GpuInfo.Gpus.0.Count", -8, r"GpuInfo\.Gpus\.Count is -8"),
        ("GpuInfo.Gpus.0.Count", 0, r"GpuInfo\.Gpus\.Count is 0; expected at least 1"),
        ("GpuInfo.Gpus.0.Name", "del", r"p5\.48xlarge: GpuInfo\.Gpus\.Name is missing"),
        ("GpuInfo.Gpus.0.Name", "", r"GpuInfo\.Gpus\.Name is missing or empty"),
        ("GpuInfo.Gpus.0.Manufacturer", "del", r"GpuInfo\.Gpus\[0\]\.Manufacturer is missing"),
        ("GpuInfo.Gpus.0.GpuPartitionSize", 0, "GpuPartitionSize is 0"),
        ("GpuInfo.Gpus.0.GpuPartitionSize", 2.5, r"GpuPartitionSize is 2\.5"),
        ("GpuInfo.Gpus.0.MemoryInfo.SizeInMiB", -1, r"Gpus\.MemoryInfo\.SizeInMiB is -1"),
        ("GpuInfo.Gpus", [{"Manufacturer": "NVIDIA"}] * 2, "have 2 entries of ours; expected 1"),
        ("NetworkInfo.Ipv4AddressesPerInterface", -1, "Ipv4AddressesPerInterface is -1"),
        ("NetworkInfo.Ipv4AddressesPerInterface", 0, "Ipv4AddressesPerInterface is 0"),
        ("NetworkInfo.EfaInfo", "del", r"EfaInfo\.MaximumEfaInterfaces is missing"),
        ("NetworkInfo.EfaInfo.MaximumEfaInterfaces", -1, "MaximumEfaInterfaces is -1"),
        (
            "NetworkInfo.NetworkCards.2.MaximumNetworkInterfaces",
            0,
            r"p5\.48xlarge: NetworkInfo\.NetworkCards\[2\]\.MaximumNetworkInterfaces is 0",
        ),
        ("NetworkInfo.NetworkCards.2.InterfaceTypes", [5], "expected str, got 5"),
        ("NetworkInfo.NetworkCards.2.InterfaceTypes", [], r"Cards\[2\]\.InterfaceTypes is empty"),
        (
            "NetworkInfo.NetworkCards.2.NetworkCardIndex",
            1,
            r"NetworkCards\[2\]\.NetworkCardIndex is 1, as that of another card",
        ),
        ("NetworkInfo.NetworkCards.2.NetworkCardIndex", -2, "NetworkCardIndex is -2"),
        ("NetworkInfo.NetworkCards.0.NetworkCardIndex", 40, "expected 0, the primary card, first"),
        (
            "NetworkInfo.NetworkCards.0.BaselineBandwidthInGbps",
            10**400,
            "BaselineBandwidthInGbps: expected float",
        ),
        ("InstanceStorageInfo.TotalSizeInGB", -1, "TotalSizeInGB is -1"),
        ("ProcessorInfo.SupportedArchitectures", [None], "expected str"),
        ("InstanceType", "del", "expected entries with an InstanceType"),
        ("InstanceType", "p5\n.48xlarge", "expected entries with an InstanceType"),
        ("InstanceType", "", "expected entries with an InstanceType"),
        ("InstanceType", 5, "expected entries with an InstanceType"),
    ],
)
def test_a_malformed_entry_is_named_and_nothing_is_written(
    path: str, value: Any, message: str, folder: Path, recorded: dict[str, Any]
):
    before = content_of(folder)
    source = saved(folder.parent, [*without(recorded, P5), broken(recorded[P5], path, value)])

    with pytest.raises(OperationError, match=message) as caught:
        refresh(source, folder)

    assert caught.value.code == WRONG
    assert content_of(folder) == before


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("Count", "del", r"trn1\.32xlarge: NeuronInfo\.NeuronDevices\.Count is missing"),
        ("Count", 0, r"NeuronDevices\.Count is 0"),
        ("Name", "del", r"trn1\.32xlarge: NeuronInfo\.NeuronDevices\.Name is missing"),
        ("CoreInfo", "del", r"NeuronDevices\.CoreInfo\.Count is missing"),
        ("CoreInfo.Count", -2, r"NeuronDevices\.CoreInfo\.Count is -2"),
        ("CoreInfo.Version", "del", r"NeuronDevices\.CoreInfo\.Version is missing"),
    ],
)
def test_a_malformed_neuron_device_is_named(
    path: str, value: Any, message: str, folder: Path, recorded: dict[str, Any]
):
    name = "trn1.32xlarge"
    info = broken(recorded[name], f"NeuronInfo.NeuronDevices.0.{path}", value)
    source = saved(folder.parent, [*without(recorded, name), info])

    with pytest.raises(OperationError, match=message):
        refresh(source, folder)


def test_a_fraction_of_a_gpu_without_a_count_is_named(folder: Path, recorded: dict[str, Any]):
    info = broken(recorded["g6f.large"], "GpuInfo.Gpus.0.LogicalGpuCount", "del")
    source = saved(folder.parent, [*without(recorded, "g6f.large"), info])

    with pytest.raises(OperationError, match=r"g6f\.large: .*LogicalGpuCount is missing"):
        refresh(source, folder)


def test_a_malformed_device_that_is_not_ours_is_named(folder: Path, recorded: dict[str, Any]):
    info = broken(recorded["f2.48xlarge"], "FpgaInfo.Fpgas.0.Name", "del")
    source = saved(folder.parent, [*without(recorded, "f2.48xlarge"), info])

    with pytest.raises(OperationError, match=r"f2\.48xlarge: FpgaInfo\.Fpgas\.Name is missing"):
        refresh(source, folder)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("ProcessorInfo.SupportedArchitectures", ["i386", "x86_64"]),
        ("NetworkInfo.NetworkCards.2.InterfaceTypes", ["interface", "of-the-future"]),
        ("NetworkInfo.Ipv4AddressesPerInterface", "del"),
    ],
)
def test_what_the_api_may_say_is_written(
    path: str, value: Any, folder: Path, recorded: dict[str, Any]
):
    source = saved(folder.parent, [*without(recorded, P5), broken(recorded[P5], path, value)])

    assert changed(refresh(source, folder)) == (P5,)


def test_every_type_of_the_package_is_sound():
    catalogue = CatalogueRecords(
        accelerated=json.loads((COMMITTED / FILES[0]).read_bytes()),
        efa_only=json.loads((COMMITTED / FILES[1]).read_bytes()),
    )

    require_sound(catalogue)

    assert {each.name for each in AcceleratedInstanceType.all()} == {
        *catalogue.accelerated,
        *instance_records.overridden_names(),
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not JSON"),
        (b"InstanceTypes: []", "not JSON"),
        (b'{"InstanceTypes": [', "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"\x1f\x8bno gzip", "not JSON"),
        (gzip.compress(b"{}", mtime=0)[:-6], "not JSON"),
        (b'{"a": NaN}', "NaN is not a number of JSON"),
        (b"[" * 200_000, "nested too deeply"),
        (5, "got int"),
        (None, "got NoneType"),
        ("p5.48xlarge", "got str"),
        ({}, "without entries"),
        ([], "without entries"),
        ({"InstanceTypes": []}, "without entries"),
        ({"InstanceTypes": {}}, "InstanceTypes is dict"),
        ([{"InstanceTypes": None}], "InstanceTypes is NoneType"),
        ({"Error": {"Code": "UnauthorizedOperation"}}, "expected entries with an InstanceType"),
        ([["p5.48xlarge"]], "expected entries with an InstanceType"),
        ({"InstanceTypes": [{"InstanceType": "m5.large"}]}, "none of the 1 instance types"),
        ({"InstanceTypes": [{}], "NextToken": "abc"}, "only a part"),
    ],
)
def test_content_that_is_no_answer_is_refused_and_nothing_is_written(
    content: Any, message: str, tmp_path: Path, folder: Path
):
    before = content_of(folder)

    with pytest.raises(OperationError, match=message) as caught:
        refresh(saved(tmp_path, content), folder)

    assert caught.value.code == WRONG
    assert content_of(folder) == before


@pytest.mark.parametrize("name", ["missing.json", ".", "a\0b"])
def test_a_file_that_cannot_be_read_is_no_answer(name: str, tmp_path: Path, folder: Path):
    with pytest.raises(OperationError, match="cannot be read") as caught:
        refresh(tmp_path / name, folder)

    assert caught.value.code == COULD_NOT_LOOK


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path):
    with pytest.raises(OperationError, match="cannot be written"):
        refresh(recorded_file(), tmp_path / "missing")
    (tmp_path / "file").touch()
    with pytest.raises(OperationError, match="cannot be read"):
        refresh(recorded_file(), tmp_path / "file")


def test_a_failure_halfway_leaves_no_half_written_file(
    folder: Path, recorded: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    before = content_of(folder)
    real = Path.write_bytes

    def full_disk(self: Path, data: bytes) -> int:
        if "efa_types" in self.name:
            raise OSError(28, "No space left on device")
        return real(self, data)

    source = saved(tmp_path, without(recorded, "g5.xlarge", "c5n.metal"))
    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(OperationError, match="No space left"):
        refresh(source, folder, allow_removals=True)

    assert content_of(folder) == before


def test_a_source_must_be_given_and_only_one(folder: Path):
    for source, regions in ((None, []), ("a.json", ["us-east-1"])):
        with pytest.raises(OperationError, match="file"):
            refresh_instance_types(
                source_file=source, regions=regions, check=True, data_folder=str(folder)
            )


class FakeClient:
    """An EC2 client with one page of answers, and a model of network cards."""

    def __init__(self, infos: list[Any], members: tuple[str, ...] = ("InterfaceTypes",)) -> None:
        model = SimpleNamespace(shape_for=lambda _: SimpleNamespace(members=members))
        self.meta = SimpleNamespace(service_model=model)
        self.page = {"InstanceTypes": infos}

    def get_paginator(self, name: str) -> Any:
        assert name == "describe_instance_types"
        return SimpleNamespace(paginate=lambda: [self.page])


def test_regions_are_joined(
    folder: Path, recorded: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    infos = list(recorded.values())
    other = broken(recorded[P5], "SupportedUsageClasses", ["on-demand"])
    regions = {"us-east-1": [*infos[:900], other], "us-west-2": [*infos[500:], recorded[P5]]}
    monkeypatch.setattr(boto3, "client", lambda _, region_name: FakeClient(regions[region_name]))

    result = refresh_instance_types(
        source_file=None, regions=list(regions), check=True, data_folder=str(folder)
    )

    assert result.text.startswith("up to date")


def test_whole_numbers_of_bandwidth_are_the_same_as_fractions(recorded: dict[str, Any]):
    whole = broken(recorded[P5], "NetworkInfo.NetworkCards.0.BaselineBandwidthInGbps", 100)

    assert render({P5: to_record(whole)}) == render({P5: to_record(recorded[P5])})


def test_regions_that_sell_differently_are_united(recorded: dict[str, Any]):
    record = to_record(recorded[P5])
    one = {**record, "SupportedUsageClasses": ["spot"]}
    other = {**record, "SupportedUsageClasses": ["capacity-block", "on-demand"]}

    assert joined(one, other) == joined(other, one) == record


def test_a_model_without_the_interface_types_of_cards_is_refused():
    with pytest.raises(OperationError, match="upgrade boto3"):
        require_card_field(FakeClient([], members=("NetworkCardIndex",)))


def test_the_installed_model_has_the_interface_types_of_cards():
    require_card_field(boto3.client("ec2", region_name="us-east-1"))


def test_ec2_is_asked_page_by_page(monkeypatch: pytest.MonkeyPatch, recorded: dict[str, Any]):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    client = boto3.client("ec2", region_name="us-east-2")
    pages = [
        {"InstanceTypes": [recorded["g5.xlarge"]], "NextToken": "more"},
        {"InstanceTypes": [recorded[P5]]},
    ]
    monkeypatch.setattr(boto3, "client", lambda *_, **__: client)

    with Stubber(client) as stubber:
        stubber.add_response("describe_instance_types", pages[0], {})
        stubber.add_response("describe_instance_types", pages[1], {"NextToken": "more"})
        assert list(describe(["us-east-2"])) == pages


@pytest.mark.parametrize("region", ["us-east-1", "", "not a region", "\n"])
def test_ec2_that_cannot_be_asked_is_no_answer(region: str):
    with pytest.raises(OperationError, match="cannot be asked"):
        list(describe([region]))


def test_a_missing_boto3_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "boto3", None)

    with pytest.raises(OperationError, match=r"pip install \"\.\[operations\]\""):
        list(describe(["us-east-1"]))


def test_importing_the_refresh_loads_no_boto3():
    code = "import sys, eks_device_operations.refresh; print('boto3' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert result.stdout.strip() == "False"


def test_rendering_is_sorted_and_stable():
    text = render({"b.large": {"B": 1, "A": 2}, "a.large": {}})

    assert text == '{\n"a.large": {},\n"b.large": {"A": 2, "B": 1}\n}\n'
