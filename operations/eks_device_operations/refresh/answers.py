"""The shapes in which an answer of DescribeInstanceTypes comes. Pure."""

from __future__ import annotations

from typing import Any, Final

from .._outcome import WRONG, OperationError

_ENTRIES: Final = "InstanceTypes"
_EXPECTED: Final = (
    "expected an answer of DescribeInstanceTypes ({'InstanceTypes': [...]}), a list of answers, "
    "a list of their entries, or entries by type name"
)


def infos_in(answer: Any) -> list[Any]:
    """The instance type entries of an answer, whichever of the known shapes it has.

    Args:
        answer: An answer or page of DescribeInstanceTypes, a list of those, a list of entries,
            or entries by type name.

    Raises:
        OperationError: It has none of these shapes, is empty, or is only a part of an answer.
    """
    if isinstance(answer, dict) and _ENTRIES not in answer:
        return _filled(list(answer.values()))
    if not isinstance(answer, (dict, list)):
        raise OperationError(f"{_EXPECTED}; got {type(answer).__name__}", code=WRONG)
    items = [answer] if isinstance(answer, dict) else answer
    _require_last_page(items)
    return _filled([info for item in items for info in _infos_in_item(item)])


def _infos_in_item(item: Any) -> list[Any]:
    if not isinstance(item, dict) or _ENTRIES not in item:
        return [item]
    infos = item[_ENTRIES]
    if not isinstance(infos, list):
        raise OperationError(f"{_EXPECTED}; {_ENTRIES} is {type(infos).__name__}", code=WRONG)
    return infos


def _require_last_page(items: list[Any]) -> None:
    last = items[-1] if items else None
    if isinstance(last, dict) and _ENTRIES in last and last.get("NextToken"):
        raise OperationError(
            "the answer ends with a NextToken: it is only a part, and types would be lost; "
            "ask again without --max-items and --no-paginate",
            code=WRONG,
        )


def _filled(infos: list[Any]) -> list[Any]:
    if not infos:
        raise OperationError(f"{_EXPECTED}; got one without entries", code=WRONG)
    return infos
