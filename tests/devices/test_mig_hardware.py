"""What GPUs can be cut into, by NVIDIA's guide, and what Pods find on a node that is cut."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_devices import published
from eks_devices.instance_types import AcceleratedInstanceType
from eks_devices.mig import Mig, MigStrategy, mig_hardware_faults, mig_resources, partitions
from eks_devices.mig.fit import layout_faults
from eks_devices.mig.geometry import MigGpu, MigProfile, mig_gpu
from eks_devices.mig.placement import created, has_room, largest_first

A100, H100, H200, B200 = "p4d.24xlarge", "p5.48xlarge", "p5en.48xlarge", "p6-b200.48xlarge"
B300, RTX_4500, RTX_6000 = "p6-b300.48xlarge", "g7.12xlarge", "g7e.48xlarge"
ABLE = (A100, "p4de.24xlarge", H100, H200, B200, B300, RTX_4500, RTX_6000)


def faults(mig: Mig, name: str) -> list[str]:
    instance = AcceleratedInstanceType.of(name)
    return [f"{one.code} {one.path}" for one in mig_hardware_faults(mig, instance, "mig")]


def layout(text: str, *, prepared: bool = False) -> Mig:
    return Mig.layout(*text.split(), prepared=prepared)


def known(name: str) -> MigGpu:
    gpu = mig_gpu(name)
    assert gpu is not None
    return gpu


def profiles(name: str, text: str) -> list[MigProfile]:
    return [known(name).profiles[one] for one in text.split()]


VALID = [
    (A100, "7g.40gb"),
    (A100, "4g.20gb 3g.20gb"),
    (A100, "4g.20gb 2g.10gb 1g.5gb"),
    (A100, "4g.20gb 1g.5gb 1g.5gb 1g.5gb"),
    (A100, "3g.20gb 3g.20gb"),
    (A100, "3g.20gb 2g.10gb 1g.5gb 1g.5gb"),
    (A100, "3g.20gb 2g.10gb 2g.10gb"),
    (A100, "2g.10gb 2g.10gb 2g.10gb 1g.5gb"),
    (A100, "2g.10gb 1g.5gb 1g.5gb 1g.5gb 1g.5gb 1g.5gb"),
    (A100, "1g.5gb 1g.5gb 1g.5gb 1g.5gb 1g.5gb 1g.5gb 1g.5gb"),
    (A100, "1g.10gb 1g.10gb 1g.10gb 1g.10gb"),
    (A100, "1g.5gb+me 1g.5gb 1g.5gb 1g.5gb 1g.5gb 1g.5gb 1g.5gb"),
    (H100, "7g.80gb"),
    (H100, "4g.40gb 3g.40gb"),
    (H100, "3g.40gb 3g.40gb"),
    (H100, "3g.40gb 2g.20gb 2g.20gb"),
    (H100, "4g.40gb 1g.20gb 1g.20gb"),
    (H100, "3g.40gb 1g.10gb 1g.10gb 1g.10gb 1g.10gb"),
    (H100, "1g.20gb 1g.10gb 1g.10gb 1g.10gb 1g.10gb 1g.10gb"),
    (H200, "3g.71gb 2g.35gb 1g.35gb"),
    (B200, "2g.45gb 2g.45gb 2g.45gb 1g.23gb"),
    (B300, "3g.135gb 2g.67gb 2g.67gb"),
    (RTX_4500, "1g.16gb+me.all 1g.16gb-me"),
    (RTX_6000, "2g.48gb 1g.24gb+gfx 1g.24gb"),
    (RTX_6000, "1g.24gb 2g.48gb 1g.24gb"),
    (RTX_6000, "2g.48gb+me.all 2g.48gb-me"),
    (RTX_6000, "1g.24gb+me 1g.24gb 1g.24gb 1g.24gb"),
]
INVALID = [
    (A100, "4g.20gb 4g.20gb"),
    (A100, "7g.40gb 1g.5gb"),
    (A100, "3g.20gb 3g.20gb 1g.5gb"),
    (A100, "3g.20gb 3g.20gb 3g.20gb"),
    (A100, "2g.10gb 2g.10gb 2g.10gb 2g.10gb"),
    (A100, "1g.5gb 1g.5gb 1g.5gb 1g.5gb 1g.5gb 1g.5gb 1g.5gb 1g.5gb"),
    (A100, "1g.5gb+me 1g.5gb+me"),
    (H100, "4g.40gb 4g.40gb"),
    (H100, "3g.40gb 3g.40gb 1g.10gb"),
    (H100, "1g.20gb 1g.20gb 1g.20gb 1g.20gb 1g.20gb"),
    (H100, "7g.80gb 7g.80gb"),
    (B300, "4g.135gb 4g.135gb"),
    (B300, "1g.67gb 1g.67gb 1g.67gb 1g.67gb 1g.67gb"),
    (RTX_4500, "2g.32gb 1g.16gb"),
    (RTX_4500, "1g.16gb+me.all 1g.16gb"),
    (RTX_6000, "4g.96gb 1g.24gb"),
    (RTX_6000, "2g.48gb 2g.48gb 1g.24gb"),
    (RTX_6000, "1g.24gb+me 2g.48gb+me.all"),
]


@pytest.mark.parametrize(("name", "text"), VALID)
def test_a_layout_of_nvidias_guide_fits(name, text):
    assert faults(layout(text), name) == []


@pytest.mark.parametrize(("name", "text"), INVALID)
@pytest.mark.parametrize("prepared", [False, True])
def test_a_layout_that_no_gpu_holds_is_refused(name, text, prepared):
    found = faults(layout(text, prepared=prepared), name)

    assert set(found) == {"MigLayoutDoesNotFit mig.profiles"}


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("3g.20gb 3g.20gb", (4, 0)),
        ("1g.5gb 2g.10gb 4g.20gb", (6, 4, 0)),
        ("3g.20gb 1g.5gb 2g.10gb 1g.5gb", (4, 0, 2, 1)),
        ("2g.10gb 1g.5gb 1g.5gb 1g.5gb 1g.5gb 1g.5gb", (4, 6, 0, 1, 2, 3)),
        ("1g.5gb 1g.5gb 2g.10gb 3g.20gb", None),
    ],
)
def test_partitions_lie_where_nvidias_guide_shows_them(text, places):
    assert created(known(A100), profiles(A100, text)) == places


def test_an_order_that_does_not_work_is_told_with_one_that_does():
    mig = layout("1g.5gb 1g.5gb 2g.10gb 3g.20gb")
    (fault,) = mig_hardware_faults(mig, AcceleratedInstanceType.of(A100), "mig")

    assert fault.code == "MigLayoutDoesNotFit"
    assert fault.fix == "name them in this order: 3g.20gb 2g.10gb 1g.5gb 1g.5gb"
    assert faults(layout("3g.20gb 2g.10gb 1g.5gb 1g.5gb"), A100) == []


def test_nodes_that_come_cut_may_be_cut_in_any_order():
    assert faults(layout("1g.5gb 1g.5gb 2g.10gb 3g.20gb", prepared=True), A100) == []


@pytest.mark.parametrize("name", [one for one in ABLE if one not in (B300, RTX_4500)])
def test_the_largest_first_works_wherever_any_order_does(name):
    gpu = known(name)
    plain = [one for one in gpu.profiles.values() if "+" not in one.name and "-" not in one.name]

    for many in range(1, gpu.compute_slices + 1):
        for some in itertools.combinations_with_replacement(plain, many):
            works = created(gpu, largest_first(some)) is not None
            assert works == has_room(some), [one.name for one in some]


@given(name=st.sampled_from((A100, H100, RTX_6000)), data=st.data())
def test_partitions_never_overlap(name: str, data: st.DataObject):
    gpu = known(name)
    one = st.sampled_from(list(gpu.profiles.values()))
    chosen = data.draw(st.lists(one, min_size=1, max_size=gpu.compute_slices))

    places = created(gpu, chosen)
    if places is None:
        return
    slices = [
        number
        for profile, first in zip(chosen, places, strict=True)
        for number in range(first, first + profile.memory_slices)
    ]
    assert len(slices) == len(set(slices))
    assert all(0 <= number < gpu.memory_slices for number in slices)
    assert all(first in (one.starts or ()) for one, first in zip(chosen, places, strict=True))


@given(name=st.sampled_from(ABLE), data=st.data())
def test_what_has_no_fault_never_exceeds_the_slices_of_a_gpu(name: str, data: st.DataObject):
    gpu = known(name)
    one = st.sampled_from(list(gpu.profiles))
    mig = Mig.layout(*data.draw(st.lists(one, min_size=1, max_size=9)))

    if faults(mig, name):
        return
    counts = [(gpu.profiles[profile], count) for profile, count in partitions(mig, name) or ()]
    assert sum(each.memory_slices * count for each, count in counts) <= gpu.memory_slices
    assert sum(each.compute_slices * count for each, count in counts) <= gpu.compute_slices
    assert all(count <= each.most for each, count in counts)


@pytest.mark.parametrize("name", ABLE)
def test_a_uniform_cut_fits_and_leaves_no_room_for_one_more(name):
    gpu = known(name)

    for profile in gpu.profiles.values():
        ((told, count),) = partitions(Mig.uniform(profile.name), name) or ()
        assert faults(Mig.uniform(profile.name), name) == []
        assert faults(Mig.layout(*[told] * count), name) == []
        assert faults(Mig.layout(*[told] * (count + 1)), name)


@pytest.mark.parametrize(
    ("name", "profile", "count"),
    [
        (A100, "1g.5gb", 7),
        (A100, "1g.10gb", 4),
        (H100, "2g.20gb", 3),
        (H100, "3g.40gb", 2),
        (H100, "1g.10gb+me", 1),
        (B300, "1g.34gb", 7),
        (RTX_4500, "1g.16gb", 2),
        (RTX_6000, "1g.24gb", 4),
    ],
)
def test_partitions_of_a_uniform_cut(name, profile, count):
    assert partitions(Mig.uniform(profile), name) == ((profile, count),)


def test_partitions_of_a_layout_are_counted_by_profile():
    mig = layout("3g.40gb 2g.20gb 2g.20gb")

    assert partitions(mig, H100) == (("3g.40gb", 1), ("2g.20gb", 2))


def test_partitions_that_nobody_can_know():
    assert partitions(Mig.dynamic(), H100) is None
    assert partitions(Mig.uniform("1g.10gb"), "trn2.48xlarge") is None
    assert partitions(Mig.uniform("1g.10gb"), A100) == (("1g.10gb", 4),)
    assert partitions(Mig.uniform("2g.20gb"), A100) is None


@pytest.mark.parametrize(
    ("mig", "name", "gpus", "resources"),
    [
        (Mig.uniform("1g.10gb"), H100, 8, {"nvidia.com/gpu": 56}),
        (
            Mig.uniform("1g.10gb", strategy=MigStrategy.MIXED),
            H100,
            8,
            {"nvidia.com/mig-1g.10gb": 56},
        ),
        (layout("3g.40gb 3g.40gb"), H100, 8, {"nvidia.com/gpu": 16}),
        (
            layout("3g.40gb 2g.20gb 2g.20gb"),
            H100,
            8,
            {"nvidia.com/mig-3g.40gb": 8, "nvidia.com/mig-2g.20gb": 16},
        ),
        (
            layout("1g.10gb+me 1g.10gb"),
            H100,
            1,
            {"nvidia.com/mig-1g.10gb.me": 1, "nvidia.com/mig-1g.10gb": 1},
        ),
        (
            layout("1g.24gb+me.all 1g.24gb-me"),
            RTX_6000,
            2,
            {"nvidia.com/mig-1g.24gb.me.all": 2, "nvidia.com/mig-1g.24gb-me": 2},
        ),
        (layout("2g.48gb+gfx 1g.24gb"), RTX_6000, 1, None),
        (Mig.dynamic(), H100, 8, {}),
        (Mig.uniform("1g.10gb"), "trn2.48xlarge", 8, {}),
    ],
)
def test_resources_that_pods_ask_for(mig, name, gpus, resources):
    if resources is None:
        resources = {"nvidia.com/mig-2g.48gb.gfx": 1, "nvidia.com/mig-1g.24gb": 1}

    assert mig_resources(mig, name, gpus) == resources


@pytest.mark.parametrize(
    "name", ["g6.xlarge", "g4dn.xlarge", "p3dn.24xlarge", "p6e-gb200.36xlarge", "trn2.48xlarge"]
)
@pytest.mark.parametrize("mig", [Mig.uniform("1g.10gb"), Mig.dynamic()])
def test_types_without_mig_are_refused_with_those_that_have_it(name, mig):
    (fault,) = mig_hardware_faults(mig, AcceleratedInstanceType.of(name), "mig")

    assert (fault.code, fault.path) == ("MigNotSupported", "mig")
    assert all(one in fault.allowed for one in ABLE)
    assert "g6.xlarge" not in fault.allowed


@pytest.mark.parametrize("name", ABLE)
def test_any_gpu_with_mig_can_be_cut_on_request(name):
    assert faults(Mig.dynamic(), name) == []


def test_unknown_profiles_are_told_together():
    mig = layout("1g.5gb 3g.40gb 9g.90gb")

    assert faults(mig, H100) == [
        "UnknownMigProfile mig.profiles[0]",
        "UnknownMigProfile mig.profiles[2]",
    ]
    assert faults(Mig.uniform("1g.5gb"), H100) == ["UnknownMigProfile mig.profiles[0]"]


def test_of_unknown_gpus_only_what_no_gpu_holds_is_refused(monkeypatch):
    for module in ("eks_devices.mig.hardware", "eks_devices.published"):
        monkeypatch.setattr(f"{module}.mig_profiles", lambda _: None)

    assert faults(layout("3g.999gb 4g.999gb"), H100) == []
    assert faults(layout("4g.999gb 4g.999gb"), H100) == ["MigLayoutDoesNotFit mig.profiles"]
    assert faults(layout("1g.9gb+me 2g.9gb+me"), H100) == ["MigLayoutDoesNotFit mig.profiles"]
    assert faults(Mig.uniform("1g.999gb"), H100) == ["MigPartitionsUnknown mig.profiles"]


def test_without_placements_only_slices_and_counts_are_checked():
    mig = layout("1g.34gb 1g.34gb 2g.67gb 3g.135gb")

    assert list(layout_faults(mig, known(B300), "mig.profiles")) == []


@pytest.mark.parametrize("name", ABLE)
def test_the_data_of_a_gpu_agrees_with_itself(name):
    gpu = known(name)

    for profile in gpu.profiles.values():
        assert 0 < profile.compute_slices <= gpu.compute_slices
        assert profile.most * profile.memory_slices <= gpu.memory_slices
        assert profile.most * profile.compute_slices <= gpu.compute_slices
        starts = profile.starts
        if starts is not None and not profile.name.endswith(("+me", "+me.all")):
            free = -1
            apart = [free := first + profile.memory_slices for first in starts if first >= free]
            assert len(apart) == profile.most
    assert set(published.mig_profiles(name) or ()) == set(gpu.profiles)
