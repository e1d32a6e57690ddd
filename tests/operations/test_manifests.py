"""Files of manifests, and the lines of what is in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eks_device_operations._outcome import OperationError
from eks_device_operations.manifests import manifests_of, read_manifests

TEXT = """\
# two documents
apiVersion: v1
kind: Pod
spec:
  containers:
  - name: main
    image: train
---
kind: Job
spec: {template: {spec: {containers: [
  {name: a}]}}}
"""


def test_each_document_knows_the_lines_of_its_values(tmp_path: Path) -> None:
    file = tmp_path / "pods.yaml"
    file.write_text(TEXT)
    pod, job = read_manifests(file)
    assert pod.content["spec"]["containers"][0]["image"] == "train"
    assert pod.line() == 2
    assert pod.line(("spec", "containers", 0, "image")) == 7
    assert pod.line(("spec", "containers", 0, "resources", "claims")) == 6
    assert job.line(("spec", "template", "spec", "containers", 0)) == 11


@pytest.mark.parametrize("text", ["a: [", "\ta: 1", "!!python/object:os.system {}", "a: *b"])
def test_what_is_no_yaml_is_told(tmp_path: Path, text: str) -> None:
    file = tmp_path / "pods.yaml"
    file.write_text(text)
    with pytest.raises(OperationError, match="is not YAML"):
        read_manifests(file)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("On", True),
        ("y", True),
        ("n", False),
        ("off", False),
        ("~", None),
        ("", None),
        ("null", None),
        ("2026-12-01", "2026-12-01"),
        ("2026-12-01T10:00:00Z", "2026-12-01T10:00:00Z"),
        ("22:30", "22:30"),
        ("010", 8),
        ("0o10", 8),
        ("08", 8),
        ("0x1F", 31),
        ("0b11", 3),
        ("-0b11", -3),
        ("+1", 1),
        ("1_000", 1000),
        ("1e3", 1000),
        ("1.5", 1.5),
        (".5", 0.5),
        ("-.5", -0.5),
        ("1.2.3", "1.2.3"),
        ("16Gi", "16Gi"),
        ("500m", "500m"),
        ("1e999", "1e999"),
        ("'yes'", "yes"),
        ('"1"', "1"),
        ("!!str 1", "1"),
        ("!!int '1'", 1),
        ("!!float 1", 1),
        ("!!binary aGFsbG8=", "hallo"),
        ("! 1", "1"),
        ("!Ref 1", "1"),
        ("=", "="),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", float(2**64)),
        ("-9223372036854775808", -(2**63)),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_words_are_values_as_kubernetes_reads_them(text: str, value: Any) -> None:
    (document,) = manifests_of("f", f"a: {text}\n".encode()).documents
    found = document.content["a"]
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    "text", [".inf", "-.INF", ".NaN", "!!int x", "!!bool 1", "!!binary ~", "!!set {a}"]
)
def test_values_that_no_manifest_has_are_told(text: str) -> None:
    found = manifests_of("f", f"a: {text}\n".encode())
    assert [one.finding.code for one in found.troubles] == ["NotYaml"]


def test_tags_of_ones_own_are_read_past() -> None:
    (document,) = manifests_of("f", b"a: !GetAtt {b: !Sub 'c'}\nd: !Join [e]\n").documents
    assert document.content == {"a": {"b": "c"}, "d": ("e",)}


def test_a_template_of_several_documents_is_told_once() -> None:
    found = manifests_of("f", b"a: {{ b }}\n---\nc: {{ d }}\n---\ne: f\n")
    assert [one.finding.code for one in found.troubles] == ["TemplateNotRendered"]
    assert [one.content for one in found.documents] == [{"e": "f"}]


def test_keys_are_texts() -> None:
    (document,) = manifests_of("f", b"1: a\ntrue: b\n~: c\n1.5: d\n").documents
    assert document.content == {"1": "a", "true": "b", "null": "c", "1.5": "d"}


def test_merges_fill_in_what_a_mapping_does_not_say_itself() -> None:
    text = """\
base: &base {a: 1, b: 2}
more: &more {b: 3, c: 4}
one: {<<: *base, b: 5}
two:
  b: 6
  <<: [*base, *more]
"""
    (document,) = manifests_of("f", text.encode()).documents
    assert document.content["one"] == {"a": 1, "b": 5}
    assert document.content["two"] == {"a": 1, "b": 6, "c": 4}
    assert document.line(("two", "c")) == 2
    assert document.line(("two", "b")) == 5


def test_directives_and_ends_of_documents_are_read() -> None:
    text = b"%YAML 1.1\n---\na: 1\n...\n%YAML 1.1\n---\nb: 2\n"
    assert [one.content for one in manifests_of("f", text).documents] == [{"a": 1}, {"b": 2}]


def test_documents_after_the_first_know_their_lines() -> None:
    text = b"---\na: 1\n--- # two\nb:\n- 2\n---\n\n\nc: {d: 3}\n"
    one, two, three = manifests_of("f", text).documents
    assert (one.line(("a",)), two.line(("b", 0)), three.line(("c", "d"))) == (2, 5, 9)
    assert three.mark(("c", "d")) == (9, 5)


def test_json_that_is_laid_out_with_tabs_is_read() -> None:
    (document,) = manifests_of("f", b'{\n\t"kind":\t"Pod"\n}').documents
    assert document.content == {"kind": "Pod"}


TREES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=80, deadline=None)
@given(tree=st.dictionaries(st.text(max_size=5), TREES, max_size=4))
def test_json_is_read_as_it_was_written(tree: dict[str, Any]) -> None:
    found = manifests_of("f", json.dumps(tree, ensure_ascii=True).encode())
    assert found.troubles == []
    assert json.loads(json.dumps(found.documents[0].content)) == tree


@settings(max_examples=120, deadline=None)
@given(text=st.text(alphabet="ab:-[]{}&*!|>'\"%#?, \n\t<~1.", max_size=40))
def test_no_text_is_too_odd_to_be_looked_at(text: str) -> None:
    found = manifests_of("f", text.encode())
    for one in found.documents:
        assert one.line() >= 1
        json.dumps(one.content)
