"""Rules that stand once and that others ask: lists, tokens, tags, ranges, unknown options."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest
from tests.hostile import (
    LIST_TOKEN,
    NUMBER_TOKEN,
    TOKEN,
    Hostile,
    HostileList,
    HostileMapping,
    HostileSet,
    HostileText,
    HostileTuple,
    UncomparedNumber,
)

from eks_devices import Mechanism
from eks_devices._frozen import FrozenDict
from eks_devices.nodegroup_rules import disk_faults, nodegroup_name_faults, size_faults
from eks_devices.syntax import ipv4_range
from eks_devices.tags import tag_faults, tag_key_faults, tag_value_faults
from eks_devices.typecheck import (
    is_number_token,
    is_token,
    listed,
    members,
    plain_text,
    unknown_option,
    whole_number,
)


def told(faults: Any) -> list[str]:
    found = list(faults)
    for one in found:
        assert one.got
        assert one.allowed
        assert one.fix
    return [f"{one.code} {one.path}" for one in found]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2], [1, 2]),
        ((), []),
        (range(2), [0, 1]),
        ({"a"}, ["a"]),
        (frozenset({5}), [5]),
        ({"a": 1}.keys(), ["a"]),
    ],
)
def test_lists_and_sets_have_members(values: object, expected: list[Any]):
    assert members(values) == expected


@pytest.mark.parametrize(
    "values",
    [
        "ab", b"ab", bytearray(b"ab"), {"a": 1}, FrozenDict(), iter([1]), (one for one in [1]), 5,
        None, TOKEN, Hostile(), HostileMapping(), HostileList([1]), HostileSet({1}),
        HostileTuple((1,)),
    ],
)  # fmt: skip
def test_what_is_no_list_or_cannot_be_read_has_none(values: object):
    assert members(values) is None


@pytest.mark.parametrize(("values", "expected"), [([2, 1], [2, 1]), ((1,), [1]), ({1}, None)])
def test_a_set_has_no_order(values: Collection[int], expected: list[int] | None):
    assert members(values, ordered=True) == expected


@pytest.mark.parametrize("values", [HostileList([1]), HostileSet({1}), HostileTuple((1,))])
def test_a_list_that_cannot_be_read_is_no_list(values: object):
    found, faults = listed(values, int, "here", many="numbers", one="a number", fix="write one")

    assert found == []
    assert told(faults) == ["WrongType here"]


@pytest.mark.parametrize("value", [Mechanism.DRA, HostileText("dra")])
def test_another_kind_of_text_is_its_text(value: str):
    plain = plain_text(value)

    assert (type(plain), plain) == (str, "dra")


@pytest.mark.parametrize("value", [None, 5, b"dra", ["dra"]])
def test_what_is_no_text_stays_what_it_is(value: object):
    assert plain_text(value) is value


@pytest.mark.parametrize(
    ("value", "text", "number"),
    [
        (TOKEN, True, False),
        (LIST_TOKEN, True, False),
        (f"arn:{TOKEN}", True, False),
        (NUMBER_TOKEN, False, True),
        (-1e300, False, True),
        (-1.0, False, False),
        (0, False, False),
        (-(10**250), False, False),
        (float("nan"), False, False),
        (float("inf"), False, False),
        (float("-inf"), False, False),
        (Hostile(), False, False),
    ],
)
def test_a_token_is_told_from_what_only_looks_strange(value: object, text: bool, number: bool):
    assert is_token(value) is text
    assert is_number_token(value) is number


def test_numbers_that_cannot_be_compared_are_told_apart_too():
    values: list[object] = [UncomparedNumber(1), UncomparedNumber(NUMBER_TOKEN)]

    assert [is_number_token(one) for one in values] == [False, True]
    assert [told(whole_number(one, "size", lowest=0)) for one in values] == [
        ["WrongType size"],
        ["TokenNotAllowed size"],
    ]


@pytest.mark.parametrize(
    ("value", "code"),
    [(NUMBER_TOKEN, "TokenNotAllowed"), (float("-inf"), "WrongType"), (1.0, "WrongType")],
)
def test_a_number_token_has_a_fault_of_its_own(value: object, code: str):
    assert told(whole_number(value, "size", lowest=0)) == [f"{code} size"]


@pytest.mark.parametrize(
    "text",
    ["10.0.0.0/18", "0.0.0.0/0", "255.255.255.255/32", "100.64.0.0/9", "10.0.0.18/18"],
)
def test_a_range_of_ipv4_addresses(text: str):
    assert ipv4_range(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "10.0.0.0", "10.0.0.0/33", "10.0.0.0/99", "10.0.0.0/-1", "10.0.0.0/", "999.0.0.0/8",
        "256.0.0.0/8", "10.0.0/8", "10.0.0.0.0/8", "010.0.0.0/8", "10.0.0.0/08", "10.0.0.0/8 ",
        "10.0.0.0/8\n", "1\u0660.0.0.0/8", "2001:db8::/32", "10.0.0.0/255.0.0.0",
    ],
)  # fmt: skip
def test_no_range_of_ipv4_addresses(text: str):
    assert not ipv4_range(text)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("team", []),
        ("a b/c:d", []),
        ("k" * 128, []),
        ("", ["MalformedTag t"]),
        ("k" * 129, ["MalformedTag t"]),
        ("aws:team", ["ReservedTag t"]),
        ("AWS:team", ["ReservedTag t"]),
        ("awsome", []),
        (TOKEN, ["TokenNotAllowed t"]),
        (b"team", ["WrongType t"]),
        (Hostile(), ["WrongType t"]),
    ],
)
def test_the_key_of_a_tag(key: object, expected: list[str]):
    assert told(tag_key_faults(key, "t")) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", []),
        ("v" * 256, []),
        ("v" * 257, ["MalformedTag t"]),
        (TOKEN + "v" * 300, []),
        (5, ["WrongType t"]),
        (None, ["WrongType t"]),
        (NUMBER_TOKEN, ["TokenNotAllowed t"]),
        (Hostile(), ["WrongType t"]),
    ],
)
def test_the_value_of_a_tag(value: object, expected: list[str]):
    assert told(tag_value_faults(value, "t")) == expected


def test_all_faults_of_tags_are_told_together():
    tags = FrozenDict({"aws:a": "v" * 257, 5: None, "b": "c"})

    assert told(tag_faults(tags, "tags")) == [
        "ReservedTag tags[aws:a]",
        "MalformedTag tags[aws:a]",
        "WrongType tags[5]",
        "WrongType tags[5]",
    ]


@pytest.mark.parametrize("path", ["", "nodegroups.a"])
def test_an_unknown_option_is_told_with_what_may_be_meant(path: str):
    one = unknown_option("maxsize", ["max_size", "labels"], path, of="a node group")

    assert one.code == "UnknownOption"
    assert one.path == ".".join(filter(None, [path, "maxsize"]))
    assert one.message == "a node group has no such option"
    assert one.allowed == "max_size, labels"
    assert one.fix == "did you mean max_size?"


def test_an_option_that_resembles_none_is_to_be_left_out():
    assert unknown_option(Hostile(), iter(["labels"]), "", of="a cluster").fix == (
        "leave the option out"
    )


@pytest.mark.parametrize("name", ["a", "A-b_9", "a" * 63])
def test_the_name_of_a_node_group(name: str):
    assert told(nodegroup_name_faults(name, "name")) == []


@pytest.mark.parametrize("name", ["", "a" * 64, "-a", "a-", "a b", "a.b", "\u00e4", "a\n"])
def test_a_name_that_no_node_group_has(name: str):
    assert told(nodegroup_name_faults(name, "name")) == ["MalformedName name"]


def sizes(lowest: int, **given: Any) -> list[str]:
    none: dict[str, Any] = {"max_size": None, "desired_size": None, "autoscaled": False}
    return told(size_faults("g", **(none | {"min_size": lowest} | given), lowest=lowest))


def test_a_group_may_begin_with_no_node_where_that_is_said():
    assert sizes(0, min_size=0, desired_size=0, max_size=1) == []
    assert sizes(1, min_size=0, desired_size=0, max_size=1) == [
        "OutOfRange g.min_size",
        "OutOfRange g.desired_size",
    ]


def test_a_group_has_room_for_one_node_at_least():
    assert sizes(0, max_size=0) == ["OutOfRange g.max_size"]


@pytest.mark.parametrize(("size", "expected"), [(20, []), (65_536, []), (None, [])])
def test_a_disk_that_gp3_has(size: int | None, expected: list[str]):
    assert told(disk_faults(size, "disk")) == expected


@pytest.mark.parametrize("size", [0, 19, 65_537])
def test_a_disk_that_gp3_does_not_have(size: int):
    assert told(disk_faults(size, "disk")) == ["OutOfRange disk"]
