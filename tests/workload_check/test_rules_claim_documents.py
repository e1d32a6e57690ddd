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
