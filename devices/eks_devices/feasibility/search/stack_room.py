"""Room for deep searches on the stack of the interpreter."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# More than half of a MiB, in words: the interpreter rounds up to a whole MiB, and the rest of it
# holds the frames of the deepest search.
_WORDS: Final = 70_000


def with_room(search: Callable[P, R]) -> Callable[P, R]:
    """The same function, whose calls do not cross a border between pieces of the stack.

    CPython 3.11 and 3.12, and the first patches of 3.13 and 3.14, take and return memory at each
    call that crosses one. A search that goes up and down there takes several times as long,
    depending on how deep its caller is.

    Source: https://github.com/python/cpython/issues/142183
    """

    def call(*arguments: P.args, **options: P.kwargs) -> R:
        return search(*arguments, **options)

    # The piece for a frame that asks for much is as large, and has room for those after it.
    call.__code__ = call.__code__.replace(co_stacksize=_WORDS)
    return functools.wraps(search)(call)
