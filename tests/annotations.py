"""What a stack tells its users: the texts of annotations that hold a word."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk.assertions import Annotations, Match, Matcher


def warnings(stack: cdk.Stack, word: str, *, at: str = "*") -> list[str]:
    found = Annotations.from_stack(stack).find_warning(at, _holds(word))
    return [str(one.entry.data) for one in found]


def infos(stack: cdk.Stack, word: str, *, at: str = "*") -> list[str]:
    found = Annotations.from_stack(stack).find_info(at, _holds(word))
    return [str(one.entry.data) for one in found]


def _holds(word: str) -> Matcher:
    return Match.string_like_regexp(f".*{word}.*")
