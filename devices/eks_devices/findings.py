"""What rules report: findings, and the one exception that carries all faults of an input."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

_LONGEST_SHOWN = 120
_MOST_SHOWN = 10_000


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that a rule says of an input.

    `code` is stable across releases; `path` names the input (`nodegroups.trn2.efa`); `got` and
    `allowed` are filled for faults; `fix` is what to change; `source` is where the rule is from.
    """

    code: str
    severity: Severity
    path: str
    message: str
    fix: str = ""
    source: str = ""
    got: str = ""
    allowed: str = ""

    def __str__(self) -> str:
        """One line in the user's words."""
        parts = [f"{self.path}: {self.message}"]
        parts += [f"got {self.got}"] if self.got else []
        parts += [f"allowed: {self.allowed}"] if self.allowed else []
        parts += [f"fix: {self.fix}"] if self.fix else []
        return "; ".join(parts) + f" [{self.code}]"

    def to_dict(self) -> dict[str, str]:
        """The finding as plain JSON values, empty texts left out."""
        values = {name: str(getattr(self, name)) for name in self.__slots__}
        return {name: value for name, value in values.items() if value}


class EksDevicesError(ValueError):
    """An input contradicts itself or the rules; `faults` holds everything that is wrong with it."""

    def __init__(self, faults: Iterable[Finding]) -> None:
        self.faults: tuple[Finding, ...] = tuple(faults)
        super().__init__(self._text())

    def _text(self) -> str:
        if len(self.faults) == 1:
            return str(self.faults[0])
        return "\n  - ".join([f"{len(self.faults)} faults:", *map(str, self.faults)])

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by faults: the default would pass the text where faults are expected."""
        return (type(self), (self.faults,))


def shown(value: object) -> str:
    """A value as an error shows it: short, and safe for objects whose repr fails."""
    try:
        text = repr(value) if _is_small(value) else f"a {type(value).__name__} of many values"
    except Exception:  # noqa: BLE001  (a hostile repr must not hide the fault)
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."


def _is_small(value: object) -> bool:
    """Whether a nested value is soon written: a few lists in each other can hold billions."""
    waiting, left = [value], _MOST_SHOWN
    while waiting and left:
        one = waiting.pop()
        left -= 1
        if isinstance(one, dict):
            waiting += [*one.values()]
        elif isinstance(one, (list, tuple, set, frozenset)):
            waiting += [*one]
    return not waiting


def meant(name: object, known: Iterable[str]) -> str:
    """What an unknown name may stand for, "did you mean a or b?"; empty where nothing is alike.

    Capitals, hyphens and underscores do not count.

    Args:
        name: What a user wrote; it may be of any type.
        known: The names that there are.
    """
    return question(alike(name, known))


def question(names: Sequence[str]) -> str:
    """Names as a question, "did you mean a or b?"; empty without any."""
    return f"did you mean {' or '.join(names)}?" if names else ""


def listed_or(names: Iterable[str]) -> str:
    """Names as a choice: "a, b or c"."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def alike(name: object, known: Iterable[str], *, least: float = 0.6) -> list[str]:
    """The one or two names that are spelled most like another one.

    Args:
        name: What a user wrote; it may be of any type.
        known: The names that there are.
        least: How much of them has to be alike, from 0 to 1.
    """
    import difflib  # noqa: PLC0415  (only when something is wrong)

    written, spelled = _spelling(name), {_spelling(one): one for one in known}
    near = [written]
    if written not in spelled:
        near = difflib.get_close_matches(written, spelled, n=2, cutoff=least)
    return [spelled[one] for one in near]


def _spelling(name: object) -> str:
    text = str.__str__(name) if isinstance(name, str) else shown(name)
    return text[:_LONGEST_SHOWN].casefold().replace("-", "").replace("_", "")


def fault(
    code: str, path: str, message: str, *, got: object, allowed: str, fix: str, source: str = ""
) -> Finding:
    """An error finding; every one says what was given, what is allowed and what to change."""
    return Finding(
        code=code,
        severity=Severity.ERROR,
        path=path,
        message=message,
        fix=fix,
        source=source,
        got=shown(got),
        allowed=allowed,
    )


def warning(code: str, path: str, message: str, *, fix: str = "", source: str = "") -> Finding:
    """A finding about a risk of the environment."""
    return Finding(
        code=code, severity=Severity.WARNING, path=path, message=message, fix=fix, source=source
    )


def info(code: str, path: str, message: str, *, fix: str = "", source: str = "") -> Finding:
    """A finding that only tells."""
    return Finding(
        code=code, severity=Severity.INFO, path=path, message=message, fix=fix, source=source
    )


def raise_faults(faults: Iterable[Finding]) -> None:
    """Raise one EksDevicesError for all faults, or return when there is none."""
    found = tuple(faults)
    if found:
        raise EksDevicesError(found)
