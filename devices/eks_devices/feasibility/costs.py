"""Whether an expression may cost more than Kubernetes lets one cost.

The API server refuses an expression whose estimated cost is above the limit, and the scheduler
stops one whose actual cost is. What has no loops and builds no long texts is far below it, as an
expression has at most 10 KiB.

Source: https://github.com/kubernetes/kubernetes (staging/src/k8s.io/api/resource/v1/types.go,
CELSelectorExpressionMaxCost)
"""

from __future__ import annotations

import math
import re
from typing import Final

from . import form

_LIMIT: Final = 1_000_000
# Less than half of the limit is safe for a bound that is a little rough.
_SAFE: Final = _LIMIT // 3
_LOOPS: Final = re.compile(r"\.\s*(?:all|exists|exists_one|map|filter)\s*\(")
_BUILDS: Final = re.compile(r"\.\s*(?:replace|join|format)\s*\(|\bcel\s*\.\s*bind\s*\(")
_SPLITS: Final = re.compile(r"\.\s*split\s*\(")
_STEPS: Final = re.compile(r"\w+|[-+*/%<>=!&|?]+")
_MOST_BUILDS: Final = 2
_LONGEST_TEXT: Final = 64
# Matching a character of a text against one of a pattern, each text of a device being this long.
_PER_CHARACTER: Final = 2


def too_costly(text: str) -> str:
    """Why an expression may cost too much; empty where it surely does not."""
    plain = form.bare(text)
    loops = len(_LOOPS.findall(plain))
    builds = len(_BUILDS.findall(plain))
    if builds > _MOST_BUILDS and (loops or "+" in plain or "replace" in plain):
        return "it builds texts of which nobody can say how long they get"
    if not loops:
        return ""
    if _SPLITS.search(plain) and loops > 1:
        return "it goes through the parts of a text within a loop"
    sizes = sorted((len(one) for one in form.lists(text)), reverse=True)
    # A loop over what is no written list goes through what another one made, or through a text.
    others = [sizes[0] if sizes else _LONGEST_TEXT] * loops
    turns = math.prod((sizes + others)[:loops])
    literals = sum(len(one[0]) for one in form.QUOTED.finditer(text))
    each = len(_STEPS.findall(_without_lists(plain))) + literals * _PER_CHARACTER
    return "its loops may cost more than Kubernetes allows" if turns * each > _SAFE else ""


def _without_lists(plain: str) -> str:
    """What is left of a text without the elements of lists that hold numbers and texts alone."""
    return re.sub(r"\[[\s\d',.-]*\]", "[]", plain)
