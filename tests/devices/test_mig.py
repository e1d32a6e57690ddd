"""What a user says of partitions, and what is no way to say it."""

import pickle
from typing import Any

import pytest
from tests.hostile import (
    LIST_TOKEN,
    NUMBER_TOKEN,
    TOKEN,
    Hostile,
    HostileList,
    HostileMapping,
    HostileText,
    HostileTuple,
    Untouchable,
)

from eks_devices.findings import EksDevicesError
from eks_devices.mig import Mig, MigStrategy, mig_form_faults

SINGLE, MIXED = MigStrategy.SINGLE, MigStrategy.MIXED
HOSTILE = [
    Hostile(),
    Untouchable(),
    HostileMapping(),
    HostileList(),
    HostileTuple(),
    HostileText("x"),
    TOKEN,
    LIST_TOKEN,
    NUMBER_TOKEN,
    1,
    None,
]


def raw(**changes: Any) -> Mig:
    """A value that no factory made."""
    plain: dict[str, Any] = {
        "profiles": ("1g.10gb",),
        "fill": True,
        "is_dynamic": False,
        "is_prepared": False,
        "strategy": SINGLE,
    }
    return Mig(**plain | changes)


def told(mig: object) -> list[str]:
    """Code and path of each fault."""
    return [f"{one.code} {one.path}" for one in mig_form_faults(mig, "mig")]


def raised(make: Any) -> list[str]:
    with pytest.raises(EksDevicesError) as error:
        make()
    return [f"{one.code} {one.path}" for one in error.value.faults]


@pytest.mark.parametrize(
    ("mig", "strategy"),
    [
        (Mig.uniform("1g.10gb"), SINGLE),
        (Mig.uniform("1g.10gb", strategy=MIXED), MIXED),
        (Mig.layout("3g.40gb", "3g.40gb"), SINGLE),
        (Mig.layout("3g.40gb", "2g.20gb", "2g.20gb"), MIXED),
        (Mig.layout("1g.10gb+me", "1g.10gb"), MIXED),
        (Mig.layout("3g.40gb", "3g.40gb", strategy=MIXED), MIXED),
        (Mig.dynamic(), None),
    ],
)
def test_the_strategy_is_mixed_only_where_partitions_differ(mig, strategy):
    assert mig.strategy is strategy


def test_a_layout_keeps_the_order_of_creation():
    mig = Mig.layout("2g.20gb", "3g.40gb", "2g.20gb", prepared=True)

    assert mig.profiles == ("2g.20gb", "3g.40gb", "2g.20gb")
    assert (mig.fill, mig.is_prepared, mig.is_dynamic) == (False, True, False)


def test_a_uniform_cut_fills_each_gpu():
    mig = Mig.uniform("1g.10gb")

    assert (mig.profiles, mig.fill, mig.is_prepared) == (("1g.10gb",), True, False)


def test_the_driver_cuts_by_nobody_elses_profiles():
    mig = Mig.dynamic()

    assert (mig.profiles, mig.fill, mig.is_dynamic) == ((), False, True)


def test_values_are_equal_hashable_and_can_be_pickled():
    mig = Mig.layout("3g.40gb", "2g.20gb")

    assert pickle.loads(pickle.dumps(mig)) == mig  # noqa: S301 - our own bytes
    assert len({mig, Mig.layout("3g.40gb", "2g.20gb"), Mig.layout("2g.20gb", "3g.40gb")}) == 2


def test_a_text_of_a_class_of_its_own_is_taken_as_the_text():
    mig = Mig.layout(HostileText("3g.40gb"), HostileText("3g.40gb"))

    assert (mig.profiles, mig.strategy) == (("3g.40gb", "3g.40gb"), SINGLE)
    assert all(type(one) is str for one in mig.profiles)


@pytest.mark.parametrize(
    "profile", ["", "1G.10GB", "mig-1g.10gb", "10gb", "1g.10gb ", "all-1g.10gb", "1g.10gb+", "19"]
)
def test_a_profile_has_the_drivers_form(profile):
    assert raised(lambda: Mig.uniform(profile)) == ["MalformedMigProfile mig.profiles[0]"]


def test_all_malformed_profiles_are_told_together():
    codes = raised(lambda: Mig.layout("x", "1g.10gb", "y", strategy="single"))  # type: ignore[arg-type]

    assert codes == [
        "MalformedMigProfile mig.profiles[0]",
        "MalformedMigProfile mig.profiles[2]",
        "WrongType mig.strategy",
    ]


def test_a_layout_names_a_partition():
    assert raised(Mig.layout) == ["WrongNumberOfMigProfiles mig.profiles"]


def test_unequal_partitions_cannot_be_offered_as_gpus():
    codes = raised(lambda: Mig.layout("3g.40gb", "2g.20gb", strategy=SINGLE))

    assert codes == ["UnequalMigPartitions mig.strategy"]


@pytest.mark.parametrize("value", HOSTILE, ids=lambda one: type(one).__name__)
def test_a_hostile_profile_is_a_fault(value):
    for make in (lambda: Mig.uniform(value), lambda: Mig.layout("1g.10gb", value)):
        (fault,) = raised(make)
        assert fault.split()[0] in ("WrongType", "TokenNotAllowed", "MalformedMigProfile")


@pytest.mark.parametrize("value", HOSTILE[:-1], ids=lambda one: type(one).__name__)
def test_a_hostile_strategy_or_preparation_is_a_fault(value):
    (strategy,) = raised(lambda: Mig.uniform("1g.10gb", strategy=value))
    (prepared,) = raised(lambda: Mig.uniform("1g.10gb", prepared=value))

    assert strategy.split()[1] == "mig.strategy"
    assert prepared.split()[1] == "mig.is_prepared"


@pytest.mark.parametrize("value", [*HOSTILE, Mig, "uniform"], ids=lambda one: type(one).__name__)
def test_what_no_factory_made_is_a_fault(value):
    (fault,) = told(value)

    assert fault in ("WrongType mig", "TokenNotAllowed mig")


@pytest.mark.parametrize("value", HOSTILE, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("name", ["profiles", "fill", "is_dynamic", "is_prepared"])
def test_a_hostile_field_is_a_fault(name, value):
    (fault,) = told(raw(**{name: value}))

    assert fault.split()[1] == f"mig.{name}"


@pytest.mark.parametrize(
    ("changes", "faults"),
    [
        ({}, []),
        ({"profiles": ()}, ["WrongNumberOfMigProfiles mig.profiles"]),
        ({"profiles": ("1g.10gb",) * 2}, ["WrongNumberOfMigProfiles mig.profiles"]),
        ({"profiles": ("1g.10gb",) * 2, "fill": False}, []),
        ({"profiles": ["1g.10gb"]}, ["WrongType mig.profiles"]),
        ({"strategy": None}, ["WrongType mig.strategy"]),
        (
            {"is_dynamic": True},
            [
                "OptionDoesNotFit mig.profiles",
                "OptionDoesNotFit mig.fill",
                "OptionDoesNotFit mig.strategy",
            ],
        ),
        ({"is_dynamic": True, "profiles": (), "fill": False, "strategy": None}, []),
        (
            {
                "is_dynamic": True,
                "profiles": (),
                "fill": False,
                "strategy": None,
                "is_prepared": True,
            },
            ["OptionDoesNotFit mig.is_prepared"],
        ),
    ],
)
def test_fields_agree_with_each_other(changes, faults):
    assert told(raw(**changes)) == faults


@pytest.mark.parametrize(
    "mig",
    [
        Mig.uniform("1g.10gb"),
        Mig.layout("3g.40gb", "1g.10gb+me", prepared=True),
        Mig.layout("1g.24gb+me.all", "1g.24gb-me"),
        Mig.dynamic(),
    ],
)
def test_what_a_factory_makes_has_no_fault(mig):
    assert told(mig) == []
