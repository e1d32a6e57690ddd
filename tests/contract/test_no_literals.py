"""Facts are data: code names no instance type, AMI type, image or registry."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

FACTS = {
    "an EC2 instance type": re.compile(
        r"\b[a-z]+[0-9]+[a-z]*(?:-[a-z0-9]+)?\.(?:metal\b|(?:[0-9]*x?large|medium|small|micro|nano)\b)"
    ),
    "an AMI type": re.compile(r"\b(?:AL2023|AL2|BOTTLEROCKET|WINDOWS)_[A-Za-z0-9_]+"),
    "an image registry": re.compile(
        r"public\.ecr\.aws|registry\.k8s\.io|nvcr\.io|quay\.io|ghcr\.io|docker\.io|gcr\.io|\.dkr\.ecr\b"
    ),
    "an image tag": re.compile(r"[a-z0-9/_-]:v?[0-9]+\.[0-9]+(?:\.[0-9]+)?\b"),
}


def docstrings(tree: ast.AST) -> set[int]:
    """The ids of the nodes that document something: strings that stand alone."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def literals(source: str) -> Iterator[tuple[int, str]]:
    """Each string in code, with its line: neither docstrings nor comments."""
    tree = ast.parse(source)
    skipped = docstrings(tree)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in skipped
        ):
            yield node.lineno, node.value


def facts(source: str) -> list[str]:
    """The facts that the strings of a source name."""
    return [
        f"line {line}: {kind}: {text!r}"
        for line, text in literals(source)
        for kind, pattern in FACTS.items()
        if pattern.search(text)
    ]


def test_a_source_file_holds_no_fact(source_file: Path):
    assert facts(source_file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        "trn2.48xlarge",
        "p6e-gb200.36xlarge",
        "g4dn.metal",
        "u7i.large",
        "AL2023_x86_64_NVIDIA",
        "BOTTLEROCKET_ARM_64",
        "public.ecr.aws/eks/plugin",
        "602401143452.dkr.ecr.{region}.amazonaws.com",
        "neuron-device-plugin:2.30.42",
    ],
)
def test_a_planted_fact_is_noticed(text: str):
    assert len(facts(f"x = {text!r}\n")) == 1
    assert len(facts(f"x = f'{{y}}{text}'\n".replace("{region}", "{{region}}"))) == 1


def test_documentation_may_name_examples():
    assert facts('"""Plans trn2.48xlarge."""\n# AL2023_x86_64_NEURON\nx = "trn"\n') == []
