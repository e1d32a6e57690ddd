"""Reads parts of manifests of claims, and tells of each cause once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ..findings import Finding, fault, meant
from ..typecheck import path_step, wrong_type

SOURCE: Final = "https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-claim-v1/"
AS_API: Final = "write it as resource.k8s.io/v1 has it"


class _Unread(dict[str, Any]):
    """What stands for a part that could not be read: nothing more is said of what it holds."""

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ARG002
        """The same of every field."""
        return self


UNREAD: Final[Mapping[str, Any]] = _Unread()
"""Stands for a part of which a fault is told already."""


class FormReader:
    """Reads a manifest and collects the faults of it.

    Args:
        path: How findings name the manifest.
        code: The code of what the API server refuses.
        what: What it refuses, in words.
    """

    def __init__(self, path: str, *, code: str = "MalformedClaim", what: str = "claim") -> None:
        self.path, self.code, self.what = path, code, what
        self.faults: list[Finding] = []

    def mapping(self, value: Any, at: str, *, fix: str = AS_API) -> Mapping[str, Any]:
        """A mapping; `UNREAD` for what is none."""
        if isinstance(value, Mapping):
            return value
        self._wrong(at, value, "a mapping", fix)
        return UNREAD

    def part(self, owner: Mapping[str, Any], name: str, at: str) -> Mapping[str, Any]:
        """A part that may be left out, as a claim for nothing has it."""
        value = owner.get(name)
        return {} if value is None else self.mapping(value, at)

    def sequence(self, value: Any, at: str, *, most: int, fix: str = AS_API) -> tuple[Any, ...]:
        """A list that may be left out; empty for what is none."""
        if isinstance(value, tuple) and len(value) <= most:
            return value
        if value is not None and value is not UNREAD:
            self.fault("", at, value, f"a list of at most {most}", fix=fix)
        return ()

    def text(self, value: Any, at: str, *, fix: str = AS_API) -> str:
        """A text that is not empty; empty for what is none."""
        if isinstance(value, str) and value:
            return value
        if value is not UNREAD:
            # YAML reads these words as true and false.
            is_word = isinstance(value, bool)
            self._wrong(at, value, "a text", _QUOTES if is_word else fix)
        return ""

    def named(self, owner: Mapping[str, Any], name: str, at: str) -> str:
        """A text by its name, which may be misspelt."""
        if name not in owner and owner is not UNREAD:
            written = next((one for one in owner if meant(one, [name])), None)
            if written is not None:
                self.fault(path_step(written), at, written, name, fix=meant(written, [name]))
                return ""
        return self.text(owner.get(name), f"{at}.{name}")

    def one_of(self, value: Any, at: str, allowed: Iterable[str]) -> None:
        """Notes a value that is none of some."""
        known = tuple(allowed)
        if value is not UNREAD and not (isinstance(value, str) and value in known):
            fix = meant(value, known) or AS_API
            self.fault("", at, value, " or ".join(known), fix=fix)

    def fault(self, name: str, at: str, got: Any, allowed: str, *, fix: str = AS_API) -> None:
        """Notes a value that the API server refuses."""
        self.faults.append(
            fault(
                self.code,
                ".".join(one for one in (self.path, at, name) if one),
                f"the API server takes no such {self.what}",
                got=got,
                allowed=allowed,
                fix=fix,
                source=SOURCE,
            )
        )

    def _wrong(self, at: str, value: Any, wanted: str, fix: str) -> None:
        self.faults.append(wrong_type(f"{self.path}.{at}", value, wanted, fix))


_QUOTES: Final = (
    "write it in quotes: YAML reads n, no, off and the like as false, y, yes, on as true"
)
