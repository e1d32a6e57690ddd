"""What a claim asks for, read from one of ours or from a manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .._frozen import FrozenDict
from .._json_values import frozen_mapping, json_faults
from ..claims.templates import RESOURCE_API, ResourceClaim, ResourceClaimTemplate
from ..findings import EksDevicesError, Finding, meant, raise_faults
from ..names import CLAIM_KIND, TEMPLATE_KIND
from ..typecheck import path_step
from .api_rules import EXACTLY_FIELDS, broken, broken_spec
from .form_reader import AS_API, UNREAD, FormReader
from .slices import amount
from .wanted import Ask, Constraint, Request, Toleration, Wanted

Claim = ResourceClaim | ResourceClaimTemplate | Mapping[str, Any]
"""A claim or a template of ours, or the manifest of one."""

_MODES: Final = ("ExactCount", "All")
_MOST_REQUESTS: Final = 32
_MOST_OPTIONS: Final = 8
_MOST_SELECTORS: Final = 32
_MOST_DEVICES: Final = 2**63
# The server does not count them, though its documentation does.
_MOST_TOLERATIONS: Final = 1024
_OPERATORS: Final = ("Equal", "Exists")
_WAYS: Final = ("exactly", "firstAvailable")
_SELECTOR: Final = 'write - cel: {expression: "..."}'
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
    reader = ClaimReader(path_of(copy))
    wanted = reader.claim(copy, is_written=is_written)
    raise_faults(reader.faults)
    return wanted


_FIX: Final = "pass the manifest as a dict"


class ClaimReader(FormReader):
    """Reads a claim, or a part of one, and collects the faults of it."""

    def claim(self, manifest: Mapping[str, Any], *, is_written: bool) -> Wanted:
        """What a claim, or a template, asks for."""
        self.one_of(manifest.get("apiVersion"), "apiVersion", (RESOURCE_API,))
        kind = manifest.get("kind")
        self.one_of(kind, "kind", (CLAIM_KIND, TEMPLATE_KIND))
        at = "spec"
        spec = self.part(manifest, "spec", at)
        is_template = isinstance(kind, str) and kind == TEMPLATE_KIND
        wrong = list(broken_spec(spec, at, is_template=is_template))
        if is_template:
            at = "spec.spec"
            spec = self.part(spec, "spec", at)
            wrong += broken_spec(spec, at, is_template=False)
        devices = self.part(spec, "devices", f"{at}.devices")
        at = f"{at}.devices"
        read = {name: devices.get(name) for name in ("requests", "constraints")}
        if no_json := list(json_faults(read, f"{self.path}.{at}")):
            # Nothing else of them can be looked at.
            self.faults += no_json
            return Wanted(self.path, ())
        fix = "write a list, each request with a dash: - name: ..."
        given = self.sequence(
            devices.get("requests"), f"{at}.requests", most=_MOST_REQUESTS, fix=fix
        )
        requests = tuple(
            self._request(one, f"{at}.requests[{index}]") for index, one in enumerate(given)
        )
        names = [one.name for one in requests]
        if len({*names}) < len(names):
            self.fault("requests", at, names, "requests with names that differ")
        known = _known_names(requests)
        constraints = tuple(self._constraints(devices, at, known))
        if not self.faults:
            wrong += broken(devices, at, known)
        for one in wrong if is_written else ():
            self.fault("", one.path, one.got, one.allowed, fix=one.fix or AS_API)
        return Wanted(self.path, requests, constraints, is_named=not is_template)

    def _request(self, value: Any, at: str) -> Request:
        request = self.mapping(value, at)
        name = self.text(request.get("name"), f"{at}.name")
        exactly, first = request.get("exactly"), request.get("firstAvailable")
        if exactly is None and not first:
            exactly = self._beside(request, at)
        elif exactly is not None and first:
            self.fault("exactly", at, sorted(request), "either exactly or firstAvailable")
        if not first:
            return Request(name, (self._ask(exactly, f"{at}.exactly", name),))
        options = self.sequence(first, f"{at}.firstAvailable", most=_MOST_OPTIONS)
        asks = tuple(
            self._alternative(one, f"{at}.firstAvailable[{index}]")
            for index, one in enumerate(options)
        )
        return Request(name, asks, is_prioritised=True)

    def _beside(self, request: Mapping[str, Any], at: str) -> Mapping[str, Any]:
        """Tells of a request without `exactly`, of which nothing else is read."""
        fields = [one for one in request if one in EXACTLY_FIELDS]
        if fields:
            fix = f"put {', '.join(fields)} below exactly:"
            self.fault("exactly", at, sorted(request), "what is asked for below exactly", fix=fix)
        else:
            near = next((told for one in request if (told := meant(one, _WAYS))), "")
            allowed = "either exactly or firstAvailable"
            self.fault("exactly", at, sorted(request), allowed, fix=near or AS_API)
        return UNREAD

    def _alternative(self, value: Any, at: str) -> Ask:
        option = self.mapping(value, at)
        if option is not UNREAD and "exactly" in option:
            fix = "put what is below exactly beside the name: alternatives have no exactly"
            self.fault(
                "exactly", at, option["exactly"], "the fields of exactly, and a name", fix=fix
            )
            option = UNREAD
        own = self.text(option.get("name"), f"{at}.name", fix="give each alternative a name")
        return self._ask(option, at, own)

    def _ask(self, value: Any, at: str, name: str) -> Ask:
        ask = self.mapping(value, at)
        mode = ask.get("allocationMode") or _MODES[0]
        self.one_of(mode, f"{at}.allocationMode", _MODES)
        # The API server takes 0 for a count that is left out.
        count = ask.get("count") or 1
        if type(count) is not int or not 0 < count < _MOST_DEVICES:
            fix = "write the number without quotes" if isinstance(count, str) else AS_API
            self.fault("count", at, count, "a whole number from 1", fix=fix)
            count = 1
        if mode == _MODES[1] and ask.get("count"):
            self.fault("count", at, count, "no count beside allocationMode: All")
        admin = ask.get("adminAccess")
        if not (admin is None or admin is UNREAD or isinstance(admin, bool)):
            self.fault("adminAccess", at, admin, "true or false")
        return Ask(
            name=name,
            device_class=self.named(ask, "deviceClassName", at),
            count=None if mode == _MODES[1] else count,
            selectors=self.selectors(ask.get("selectors", ()), f"{at}.selectors"),
            admin=admin is True,
            amounts=self._amounts(ask.get("capacity"), f"{at}.capacity"),
            tolerations=tuple(self._tolerations(ask.get("tolerations", ()), f"{at}.tolerations")),
        )

    def _amounts(self, value: Any, at: str) -> FrozenDict[str, Any]:
        if value is None:
            return FrozenDict()
        asked = self.mapping(value, at).get("requests")
        given = self.mapping({} if asked is None else asked, f"{at}.requests")
        found = {}
        for name, one in given.items():
            try:
                # The server takes these for nothing.
                found[name] = amount(0 if one in (None, "-", "+") else one)
            except ValueError:
                self.fault(path_step(name), f"{at}.requests", one, "a quantity such as 10Gi")
        return FrozenDict(found)

    def _tolerations(self, value: Any, at: str) -> Iterator[Toleration]:
        for index, one in enumerate(self.sequence(value, at, most=_MOST_TOLERATIONS)):
            place = f"{at}[{index}]"
            given = self.mapping(one, place)
            key, value, effect = (
                self.text(given[name], f"{place}.{name}") if given.get(name) else ""
                for name in ("key", "value", "effect")
            )
            operator = given.get("operator") or _OPERATORS[0]
            self.one_of(operator, f"{place}.operator", _OPERATORS)
            if effect:
                self.one_of(effect, f"{place}.effect", _EFFECTS)
            if value and operator == _OPERATORS[1]:
                self.fault("value", place, value, "no value beside operator: Exists")
            yield Toleration(key, operator == _OPERATORS[1], value, effect)

    def selectors(self, value: Any, at: str) -> tuple[str, ...]:
        """The expressions of a list of selectors."""
        found = []
        for index, one in enumerate(self.sequence(value, at, most=_MOST_SELECTORS, fix=_SELECTOR)):
            place = f"{at}[{index}]"
            given = self.mapping(one, place, fix=_SELECTOR)
            if "cel" not in given and given is not UNREAD:
                self.fault("cel", place, sorted(given), "an expression below cel", fix=_SELECTOR)
                given = UNREAD
            cel = self.mapping(given.get("cel"), f"{place}.cel", fix=_SELECTOR)
            found.append(self.named(cel, "expression", f"{place}.cel"))
        return tuple(found)

    def _constraints(
        self, devices: Mapping[str, Any], at: str, known: frozenset[str]
    ) -> Iterator[Constraint]:
        given = self.sequence(
            devices.get("constraints", ()), f"{at}.constraints", most=_MOST_REQUESTS
        )
        for index, one in enumerate(given):
            place = f"{at}.constraints[{index}]"
            constraint = self.mapping(one, place)
            names = self.sequence(
                constraint.get("requests", ()), f"{place}.requests", most=_MOST_REQUESTS
            )
            if not all(isinstance(name, str) and name in known for name in names):
                near = (meant(name, known) for name in names if name not in known)
                fix = next(filter(None, near), AS_API)
                allowed = f"names of requests: {', '.join(sorted(known))}"
                self.fault("requests", place, names, allowed, fix=fix)
                continue
            # Beside the other one it is not looked at.
            is_distinct = constraint.get("matchAttribute") is None
            is_distinct = is_distinct and constraint.get("distinctAttribute") is not None
            field = "distinctAttribute" if is_distinct else "matchAttribute"
            attribute = self.text(constraint.get(field), f"{place}.{field}")
            if "/" not in attribute:
                self.fault(field, place, attribute, "a name with its domain")
                continue
            yield Constraint(attribute, frozenset(names), is_distinct)


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
