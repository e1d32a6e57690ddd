"""Claims whose namespace does not allow what they ask for, or that ask for nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.rule_pods import ADMIN_NAMESPACE, claim, codes, namespace, remarks, request, template

ADMIN = request(adminAccess=True)


def test_admin_access_in_a_namespace_that_does_not_allow_it_is_an_error() -> None:
    (found,) = remarks(namespace("default", team="ml"), template(ADMIN))
    assert (found.finding.code, found.finding.severity) == ("NamespaceWithoutAdminAccess", "error")
    assert found.steps[-2:] == ("exactly", "adminAccess")
    assert found.finding.path.endswith(".exactly.adminAccess")
    assert 'resource.kubernetes.io/admin-access: "true"' in found.finding.fix


def test_a_namespace_that_allows_it_is_told_nothing() -> None:
    assert codes(ADMIN_NAMESPACE, template(ADMIN), claim(ADMIN)) == []
    assert codes(namespace(), template(request(adminAccess=False))) == []


def test_a_namespace_that_nobody_shows_is_good_to_know() -> None:
    (found,) = remarks(template(ADMIN), namespace("other"))
    assert (found.finding.code, found.finding.severity) == ("AdminAccessLabelNeeded", "info")


def test_a_namespace_of_the_app_has_the_label_by_the_app() -> None:
    assert codes(template(ADMIN), planned_claims=[claim(ADMIN)]) == []


LABEL = "resource.kubernetes.io/admin-access"


def test_another_value_of_the_label_is_shown() -> None:
    (found,) = remarks(namespace("default", **{LABEL: "yes"}), template(ADMIN))
    assert (found.finding.code, found.finding.got) == ("NamespaceWithoutAdminAccess", "'yes'")
    assert found.finding.fix.startswith(f'write {LABEL}: "true" among its labels')


def test_a_label_without_quotes_is_told_at_the_namespace_alone() -> None:
    wrong: Any = {LABEL: True}
    (found,) = remarks(namespace("default", **wrong), template(ADMIN))
    assert (found.finding.code, found.finding.got) == ("WrongType", "true")
    assert found.steps == ("metadata", "labels", LABEL)
    assert found.finding.fix == f'write {LABEL}: "true", in quotes'


def test_an_alternative_which_may_not_have_it_is_told_nothing_of_namespaces() -> None:
    option = {"name": "a", **ADMIN["exactly"]}
    assert codes(template({"name": "gpu", "firstAvailable": [option]})) == []


@pytest.mark.parametrize("make", [claim, template])
def test_a_count_of_zero_is_told_as_one_device(make: Callable[..., dict[str, Any]]) -> None:
    (found,) = remarks(make(request(count=0)))
    assert (found.finding.code, found.finding.severity) == ("CountOfZero", "warning")
    assert found.steps[-1] == "count"
    assert codes(make(request(count=0, allocationMode="All"))) == []
    assert codes(make(request())) == []


def test_an_alternative_and_an_older_version_are_looked_at_too() -> None:
    first = {"name": "gpu", "firstAvailable": [{"name": "a", **request(count=0)["exactly"]}]}
    assert codes(template(first)) == ["CountOfZero"]
    flat = {"name": "gpu", **request(count=0, adminAccess=True)["exactly"]}
    old = template(flat) | {"apiVersion": "resource.k8s.io/v1beta1"}
    assert codes(namespace(), old) == ["NamespaceWithoutAdminAccess", "CountOfZero"]


MEMORY = "device.capacity['gpu.nvidia.com'].memory"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{}.compareTo(quantity('40')) >= 0", "{}.compareTo(quantity('40Gi')) >= 0"),
        ("{}.isGreaterThan(quantity('40960'))", "{}.isGreaterThan(quantity('40960Mi'))"),
        ("quantity('40').isLessThan({})", "quantity('40Gi').isLessThan({})"),
        ("{}.asInteger() >= 40", "{}.asInteger() >= 42949672960"),
    ],
)
def test_memory_without_a_unit_is_told_with_the_one_that_is_meant(text: str, part: str) -> None:
    (found,) = remarks(template(selecting(text.format(MEMORY))))
    assert (found.finding.code, found.finding.severity) == ("MemoryWithoutUnit", "warning")
    assert found.steps[-3:] == (0, "cel", "expression")
    assert found.finding.fix == f"write {part.format(MEMORY)}"


@pytest.mark.parametrize(
    "text", ["{}.compareTo(quantity('40Gi')) >= 0", "{}.asInteger() >= 42949672960"]
)
def test_memory_with_a_unit_is_told_nothing(text: str) -> None:
    assert codes(template(selecting(text.format(MEMORY)))) == []


def test_memory_that_devices_do_not_have_is_told_as_they_have_it() -> None:
    (found,) = remarks(template(selecting(f"{MEMORY}.compareTo(quantity('80')) >= 0")))
    assert found.finding.fix == (
        f"write {MEMORY}.compareTo(quantity('81152Mi')) >= 0, for these devices have memory 81152Mi"
    )


def selecting(text: str) -> dict[str, Any]:
    return request(selectors=[{"cel": {"expression": text}}])
