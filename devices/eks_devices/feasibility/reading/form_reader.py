"""Reads parts of manifests of claims, and tells of each cause once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ..._yaml_text import AsYaml, wrong_in_manifest
from ...findings import Finding, alike, fault, meant, question
from ...typecheck import path_step
from .api_minors import Api, newest_api
from .form_advice import quoted

SOURCE: Final = "https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-claim-v1/"


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
        api: The API server that it is for; that of the newest minor unless given.
    """

    def __init__(
        self,
        path: str,
        *,
        code: str = "MalformedClaim",
        what: str = "claim",
        api: Api | None = None,
    ) -> None:
        self.path, self.code, self.what = path, code, what
        self.api = api or newest_api()
        self.faults: list[Finding] = []

    def mapping(self, value: Any, at: str, *, fix: str) -> Mapping[str, Any]:
        """A mapping; `UNREAD` for what is none."""
        if isinstance(value, Mapping):
            return value
        self._wrong(at, value, "a mapping", fix)
        return UNREAD

    def part(self, owner: Mapping[str, Any], name: str, at: str) -> Mapping[str, Any]:
        """A part that may be left out, as a claim for nothing has it."""
        value = owner.get(name)
        fix = f"write {name}: and what it holds indented below"
        return {} if value is None else self.mapping(value, at, fix=fix)

    def sequence(
        self, value: Any, at: str, *, most: int, fix: str, fewer: str = ""
    ) -> tuple[Any, ...]:
        """A list that may be left out; empty for what is none, or is too long.

        `fewer` says how fewer entries do.
        """
        if isinstance(value, tuple) and len(value) <= most:
            return value
        if isinstance(value, tuple):
            given, allowed = len(value), f"at most {most} entries"
            self.fault("", at, given, allowed, fix=fewer or f"leave {given - most} of them out")
        elif value is not None and value is not UNREAD:
            self.fault("", at, value, f"a list of at most {most}", fix=fix)
        return ()

    def text(self, value: Any, at: str, *, fix: str) -> str:
        """A text that is not empty; empty for what is none."""
        if isinstance(value, str) and value:
            return value
        if value == "":
            self.fault("", at, value, "a text that is not empty", fix=fix)
        elif value is not UNREAD:
            self._wrong(at, value, "a text", quoted(value) or fix)
        return ""

    def named(self, owner: Mapping[str, Any], name: str, at: str, *, fix: str) -> str:
        """A text by its name, which may be misspelt."""
        if name not in owner and owner is not UNREAD:
            written = next((one for one in owner if meant(one, [name])), None)
            if written is not None:
                self.misspelt(written, at, (name,))
                return ""
        return self.text(owner.get(name), f"{at}.{name}", fix=fix)

    def misspelt(self, written: str, at: str, names: tuple[str, ...]) -> None:
        """Notes a field in the place of one that is needed."""
        fix = question(alike(written, names)[:1])
        self.fault(path_step(written), at, written, " or ".join(names), fix=fix)

    def one_of(self, value: Any, at: str, allowed: Iterable[str]) -> None:
        """Notes a value that is none of some."""
        known = tuple(allowed)
        if value is not UNREAD and not (isinstance(value, str) and value in known):
            shown = " or ".join(known)
            self.fault("", at, value, shown, fix=meant(value, known) or f"write {shown}")

    def fault(self, name: str, at: str, got: Any, allowed: str, *, fix: str) -> None:
        """Notes a value that the API server refuses."""
        self.faults.append(
            fault(
                self.code,
                ".".join(one for one in (self.path, at, name) if one),
                f"the API server takes no such {self.what}",
                got=AsYaml(got),
                allowed=allowed,
                fix=fix,
                source=SOURCE,
            )
        )

    def _wrong(self, at: str, value: Any, wanted: str, fix: str) -> None:
        self.faults.append(wrong_in_manifest(f"{self.path}.{at}", value, wanted, fix))
