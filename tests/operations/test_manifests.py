"""Files of manifests, and the lines of what is in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from eks_device_operations._outcome import OperationError
from eks_device_operations.manifests import read_manifests

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
