"""What a claim asks for, read from one of ours or from a manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .._frozen import FrozenDict
from .._json_values import frozen_mapping, json_faults
from ..claims.templates import RESOURCE_API, ResourceClaim, ResourceClaimTemplate
from ..findings import EksDevicesError, Finding, fault, raise_faults
from ..names import CLAIM_KIND, TEMPLATE_KIND
from ..typecheck import path_step, wrong_type
from .api_rules import broken, broken_spec
from .slices import amount
from .wanted import Ask, Constraint, Request, Toleration, Wanted

Claim = ResourceClaim | ResourceClaimTemplate | Mapping[str, Any]
"""A claim or a template of ours, or the manifest of one."""

_SOURCE: Final = "https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-claim-v1/"
_MODES: Final = ("ExactCount", "All")
_MOST_REQUESTS: Final = 32
_MOST_OPTIONS: Final = 8
_MOST_SELECTORS: Final = 32
_MOST_DEVICES: Final = 2**63
# The server does not count them, though its documentation does.
_MOST_TOLERATIONS: Final = 1024
_OPERATORS: Final = ("Equal", "Exists")
_EFFECTS: Final = ("NoSchedule", "NoExecute", "None")


def path_of(claim: Claim) -> str:
    """How findings name a claim: `claims.<namespace>/<name>`."""
    if isinstance(claim, (ResourceClaim, ResourceClaimTemplate)):
        return claim.path
    metadata = claim.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    namespace, name = metadata.get("namespace", "default"), metadata.get("name", "")
    return f"claims.{path_step(namespace)}/{path_step(name)}"


def read_manifest(manifest: object, path: str, *, is_written: bool = True) -> Wanted:
    """What the manifest of a claim, or of a template, asks for.

    Args:
        manifest: The manifest.
        path: How faults name what is no manifest at all.
        is_written: That somebody wrote it, so that names and fields have to be what the API server
            takes; of what is made up here they are not looked at.

    Raises:
        EksDevicesError: With every fault of the manifest.
    """
    copy = frozen_mapping(manifest, path, "a ResourceClaim or ResourceClaimTemplate", _FIX)
    if isinstance(copy, Finding):
        raise EksDevicesError([copy])
    reader = _Reader(path_of(copy), is_written=is_written)
    wanted = reader.claim(copy)
    raise_faults(reader.faults)
    return wanted


_FIX: Final = "pass the manifest as a dict"


class _Reader:
    """Reads a manifest and collects the faults of it."""

    def __init__(self, path: str, *, is_written: bool = True) -> None:
        self.path, self.is_written = path, is_written
        self.faults: list[Finding] = []

    def claim(self, manifest: Mapping[str, Any]) -> Wanted:
        self._one_of(manifest.get("apiVersion"), "apiVersion", (RESOURCE_API,))
        kind = manifest.get("kind")
        self._one_of(kind, "kind", (CLAIM_KIND, TEMPLATE_KIND))
        at = "spec"
        spec = self._part(manifest, "spec", at)
        is_template = isinstance(kind, str) and kind == TEMPLATE_KIND
        wrong = list(broken_spec(spec, at, is_template=is_template))
        if is_template:
            at = "spec.spec"
            spec = self._part(spec, "spec", at)
            wrong += broken_spec(spec, at, is_template=False)
        devices = self._part(spec, "devices", f"{at}.devices")
        at = f"{at}.devices"
        read = {name: devices.get(name) for name in ("requests", "constraints")}
        if no_json := list(json_faults(read, f"{self.path}.{at}")):
            # Nothing else of them can be looked at.
            self.faults += no_json
            return Wanted(self.path, ())
        given = self._list(devices.get("requests"), f"{at}.requests", most=_MOST_REQUESTS)
        requests = tuple(
            self._request(one, f"{at}.requests[{index}]") for index, one in enumerate(given)
        )
        names = [one.name for one in requests]
        if len({*names}) < len(names):
            self._fault("requests", at, names, "requests with names that differ")
        known = _known_names(requests)
        constraints = tuple(self._constraints(devices, at, known))
        if not self.faults:
            wrong += broken(devices, at, known)
        for one in wrong if self.is_written else ():
            self._fault("", one.path, one.got, one.allowed)
        return Wanted(self.path, requests, constraints, is_named=not is_template)

    def _request(self, value: Any, at: str) -> Request:
        request = self._mapping(value, at)
        name = self._text(request.get("name"), f"{at}.name")
        exactly, first = request.get("exactly"), request.get("firstAvailable")
        if (exactly is None) == (not first):
            self._fault("exactly", at, sorted(request), "either exactly or firstAvailable")
        if not first:
            return Request(name, (self._ask(exactly, f"{at}.exactly", name),))
        options = self._list(first, f"{at}.firstAvailable", most=_MOST_OPTIONS)
        asks = []
        for index, one in enumerate(options):
            place = f"{at}.firstAvailable[{index}]"
            own = self._text(self._mapping(one, place).get("name"), f"{place}.name")
            asks.append(self._ask(one, place, own))
        return Request(name, tuple(asks), is_prioritised=True)

    def _ask(self, value: Any, at: str, name: str) -> Ask:
        ask = self._mapping(value, at)
        mode = ask.get("allocationMode") or _MODES[0]
        self._one_of(mode, f"{at}.allocationMode", _MODES)
        # The API server takes 0 for a count that is left out.
        count = ask.get("count") or 1
        if type(count) is not int or not 0 < count < _MOST_DEVICES:
            self._fault("count", at, count, "a whole number from 1")
            count = 1
        if mode == _MODES[1] and ask.get("count"):
            self._fault("count", at, count, "no count beside allocationMode: All")
        admin = ask.get("adminAccess", False)
        if admin is not None and not isinstance(admin, bool):
            self._fault("adminAccess", at, admin, "true or false")
        return Ask(
            name=name,
            device_class=self._text(ask.get("deviceClassName"), f"{at}.deviceClassName"),
            count=None if mode == _MODES[1] else count,
            selectors=self.selectors(ask.get("selectors", ()), f"{at}.selectors"),
            admin=admin is True,
            amounts=self._amounts(ask.get("capacity"), f"{at}.capacity"),
            tolerations=tuple(self._tolerations(ask.get("tolerations", ()), f"{at}.tolerations")),
        )

    def _amounts(self, value: Any, at: str) -> FrozenDict[str, Any]:
        if value is None:
            return FrozenDict()
        asked = self._mapping(value, at).get("requests")
        given = self._mapping({} if asked is None else asked, f"{at}.requests")
        found = {}
        for name, one in given.items():
            try:
                found[name] = amount(one)
            except ValueError:
                self._fault(path_step(name), f"{at}.requests", one, "a quantity such as 10Gi")
        return FrozenDict(found)

    def _tolerations(self, value: Any, at: str) -> Iterator[Toleration]:
        for index, one in enumerate(self._list(value, at, most=_MOST_TOLERATIONS)):
            place = f"{at}[{index}]"
            given = self._mapping(one, place)
            key, value, effect = (
                self._text(given[name], f"{place}.{name}") if given.get(name) else ""
                for name in ("key", "value", "effect")
            )
            operator = given.get("operator") or _OPERATORS[0]
            self._one_of(operator, f"{place}.operator", _OPERATORS)
            if effect:
                self._one_of(effect, f"{place}.effect", _EFFECTS)
            if value and operator == _OPERATORS[1]:
                self._fault("value", place, value, "no value beside operator: Exists")
            yield Toleration(key, operator == _OPERATORS[1], value, effect)

    def selectors(self, value: Any, at: str) -> tuple[str, ...]:
        """The expressions of a list of selectors."""
        given = self._list(value, at, most=_MOST_SELECTORS)
        found = []
        for index, one in enumerate(given):
            place = f"{at}[{index}]"
            cel = self._mapping(self._mapping(one, place).get("cel"), f"{place}.cel")
            found.append(self._text(cel.get("expression"), f"{place}.cel.expression"))
        return tuple(found)

    def _constraints(
        self, devices: Mapping[str, Any], at: str, known: frozenset[str]
    ) -> Iterator[Constraint]:
        given = self._list(devices.get("constraints", ()), f"{at}.constraints", most=_MOST_REQUESTS)
        for index, one in enumerate(given):
            place = f"{at}.constraints[{index}]"
            constraint = self._mapping(one, place)
            names = self._list(
                constraint.get("requests", ()), f"{place}.requests", most=_MOST_REQUESTS
            )
            if not all(isinstance(name, str) and name in known for name in names):
                self._fault("requests", place, names, f"names of requests: {', '.join(known)}")
                continue
            # Beside the other one it is not looked at.
            is_distinct = constraint.get("matchAttribute") is None
            is_distinct = is_distinct and constraint.get("distinctAttribute") is not None
            field = "distinctAttribute" if is_distinct else "matchAttribute"
            attribute = self._text(constraint.get(field), f"{place}.{field}")
            if "/" not in attribute:
                self._fault(field, place, attribute, "a name with its domain")
                continue
            yield Constraint(attribute, frozenset(names), is_distinct)

    def _part(self, owner: Mapping[str, Any], name: str, at: str) -> Mapping[str, Any]:
        """A part that may be left out, as a claim for nothing has it."""
        return {} if owner.get(name) is None else self._mapping(owner[name], at)

    def _mapping(self, value: Any, at: str) -> Mapping[str, Any]:
        if isinstance(value, Mapping):
            return value
        self.faults.append(wrong_type(f"{self.path}.{at}", value, "a mapping", _AS_API))
        return {}

    def _list(self, value: Any, at: str, *, most: int) -> tuple[Any, ...]:
        if isinstance(value, tuple) and len(value) <= most:
            return value
        if value is not None:
            self._fault("", at, value, f"a list of at most {most}")
        return ()

    def _text(self, value: Any, at: str) -> str:
        if isinstance(value, str) and value:
            return value
        self.faults.append(wrong_type(f"{self.path}.{at}", value, "a text", _AS_API))
        return ""

    def _one_of(self, value: Any, at: str, allowed: tuple[str, ...]) -> None:
        if not isinstance(value, str) or value not in allowed:
            self._fault("", at, value, " or ".join(allowed))

    def _fault(self, name: str, at: str, got: Any, allowed: str) -> None:
        path = ".".join(one for one in (self.path, at, name) if one)
        message = "the API server takes no such claim"
        self.faults.append(
            fault(
                "MalformedClaim",
                path,
                message,
                got=got,
                allowed=allowed,
                fix=_AS_API,
                source=_SOURCE,
            )
        )


_AS_API: Final = "write it as resource.k8s.io/v1 has it"


def _known_names(requests: tuple[Request, ...]) -> frozenset[str]:
    """What a constraint may name: requests, and their alternatives."""
    names = {one.name for one in requests}
    return frozenset(
        names
        | {
            f"{one.name}/{ask.name}"
            for one in requests
            if one.is_prioritised
            for ask in one.options
        }
    )


def read_class(manifest: object, path: str) -> tuple[str, tuple[str, ...]]:
    """The name of a DeviceClass and its expressions, from its manifest.

    Raises:
        EksDevicesError: With every fault of the manifest.
    """
    copy = frozen_mapping(manifest, path, "a DeviceClass", _FIX)
    if isinstance(copy, Finding):
        raise EksDevicesError([copy])
    reader = _Reader(path)
    reader._one_of(copy.get("kind"), "kind", ("DeviceClass",))  # noqa: SLF001  (of this module)
    name = reader._text(  # noqa: SLF001
        reader._mapping(copy.get("metadata"), "metadata").get("name"),  # noqa: SLF001
        "metadata.name",
    )
    spec = reader._mapping(copy.get("spec", {}), "spec")  # noqa: SLF001
    selectors = reader.selectors(spec.get("selectors", ()), "spec.selectors")
    raise_faults(reader.faults)
    return name, selectors
