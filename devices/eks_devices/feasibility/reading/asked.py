"""What a claim asks for, read from one of ours or from a manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..._json_values import frozen_mapping, json_faults
from ...claims.templates import RESOURCE_API, ResourceClaim, ResourceClaimTemplate
from ...findings import EksDevicesError, Finding, meant, raise_faults
from ...names import CLAIM_KIND, EFA_CLASS, GPU_CLASS, NEURON_CLASS, TEMPLATE_KIND
from ...typecheck import path_step
from ..wanted import Ask, Constraint, Request, Wanted
from .api_minors import api_of
from .api_rules import broken, broken_constraint, broken_spec
from .asked_parts import PartReader
from .broken import Broken
from .fields import EXACTLY_FIELDS
from .form_advice import as_requests
from .form_reader import UNREAD

Claim = ResourceClaim | ResourceClaimTemplate | Mapping[str, Any]
"""A claim or a template of ours, or the manifest of one."""

_MODES: Final = ("ExactCount", "All")
_MOST_REQUESTS: Final = 32
_MOST_OPTIONS: Final = 8
_MOST_DEVICES: Final = 2**63
_WAYS: Final = ("exactly", "firstAvailable")
_MATCH, _DISTINCT = "matchAttribute", "distinctAttribute"
_REQUEST: Final = f"write - {{name: gpu, exactly: {{deviceClassName: {GPU_CLASS}}}}}"
_REQUESTS: Final = "write a list, each request with a dash: - name: ..."
_EXACTLY: Final = f"write exactly: {{deviceClassName: {GPU_CLASS}}}, or the class that is meant"
_OPTION: Final = f"write - {{name: whole, deviceClassName: {GPU_CLASS}}}"
_OPTIONS: Final = "write a list, each alternative with a dash: - name: ..."
_CONSTRAINT: Final = f"write - {_MATCH}: resource.kubernetes.io/pcieRoot, or what is to be shared"
_CLASS: Final = (
    f"name a DeviceClass, such as {GPU_CLASS}, {NEURON_CLASS} or {EFA_CLASS}, by the devices that "
    "are meant"
)


def path_of(claim: Claim) -> str:
    """How findings name a claim: `claims.<namespace>/<name>`."""
    if isinstance(claim, (ResourceClaim, ResourceClaimTemplate)):
        return claim.path
    metadata = claim.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    namespace, name = metadata.get("namespace", "default"), metadata.get("name", "")
    return f"claims.{path_step(namespace)}/{path_step(name)}"


def read_manifest(
    manifest: object, path: str, *, kubernetes_version: str = "", is_written: bool = True
) -> Wanted:
    """What the manifest of a claim, or of a template, asks for.

    Args:
        manifest: The manifest.
        path: How faults name what is no manifest at all.
        kubernetes_version: The minor of the API server; the newest one unless given.
        is_written: That somebody wrote it, so that names and fields have to be what the API server
            takes; of what is made up here they are not looked at.

    Raises:
        EksDevicesError: With every fault of the manifest.
    """
    copy = frozen_mapping(manifest, path, "a ResourceClaim or ResourceClaimTemplate", _FIX)
    if isinstance(copy, Finding):
        raise EksDevicesError([copy])
    api = api_of(kubernetes_version) if kubernetes_version else None
    reader = ClaimReader(path_of(copy), api=api)
    wanted = reader.claim(copy, is_written=is_written)
    raise_faults(reader.faults)
    return wanted


_FIX: Final = "pass the manifest as a dict"


class ClaimReader(PartReader):
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
        given = self.sequence(
            devices.get("requests"),
            f"{at}.requests",
            most=_MOST_REQUESTS,
            fix=_REQUESTS,
            fewer="ask for several devices of a class by the count of one request",
        )
        fixes = _name_fixes(given, "give it a name: - name: gpu", "give each request a name")
        requests = tuple(
            self._request(one, f"{at}.requests[{index}]", fixes[index])
            for index, one in enumerate(given)
        )
        self._repeated(requests, f"{at}.requests")
        known = _known_names(requests)
        unread = [one["name"] for one in given if isinstance(one, Mapping) and "name" in one]
        constraints = tuple(self._constraints(devices, at, known, unread, wrong))
        if not self.faults:
            wrong += broken(devices, at, known, self.api)
        for one in wrong if is_written else ():
            self.fault("", one.path, one.got, one.allowed, fix=one.fix)
        return Wanted(self.path, requests, constraints, is_named=not is_template)

    def _repeated(self, requests: tuple[Request, ...], at: str) -> None:
        """Notes the second of two requests with one name."""
        seen: set[str] = set()
        for index, one in enumerate(requests):
            if one.name and one.name in seen:
                fix = "give each a name of its own, or ask for several devices by the count of one"
                wanted = "requests with names that differ"
                self.fault("name", f"{at}[{index}]", one.name, wanted, fix=fix)
            seen.add(one.name)

    def _request(self, value: Any, at: str, name_fix: str) -> Request:
        request = self.mapping(value, at, fix=_REQUEST)
        name = self._name(request, at, name_fix)
        exactly, first = request.get("exactly"), request.get("firstAvailable")
        if not isinstance(first, (tuple, type(None))) and first is not UNREAD:
            self.sequence(first, f"{at}.firstAvailable", most=_MOST_OPTIONS, fix=_OPTIONS)
            first, exactly = None, UNREAD if exactly is None else exactly
        if exactly is None and not first:
            exactly = self._beside(request, at)
        elif exactly is not None and first and request is not UNREAD:
            fix = "leave exactly out, and write what it asks for as one more alternative"
            allowed = "either exactly or firstAvailable"
            self.fault("exactly", at, sorted(request), allowed, fix=fix)
        if not first:
            return Request(name, (self._ask(exactly, f"{at}.exactly", name),))
        options = self.sequence(first, f"{at}.firstAvailable", most=_MOST_OPTIONS, fix=_OPTIONS)
        fixes = _name_fixes(options, "give each alternative a name", "give each alternative a name")
        asks = tuple(
            self._alternative(one, f"{at}.firstAvailable[{index}]", fixes[index])
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
            self.fault("exactly", at, sorted(request), allowed, fix=near or _EXACTLY)
        return UNREAD

    def _name(self, owner: Mapping[str, Any], at: str, fix: str) -> str:
        """The name of a request or an alternative; without a fix that it has none is told."""
        return self.text(owner.get("name"), f"{at}.name", fix=fix) if fix else ""

    def _alternative(self, value: Any, at: str, name_fix: str) -> Ask:
        option = self.mapping(value, at, fix=_OPTION)
        if option is not UNREAD and "exactly" in option:
            fix = "put what is below exactly beside the name: alternatives have no exactly"
            self.fault(
                "exactly", at, option["exactly"], "the fields of exactly, and a name", fix=fix
            )
            option = UNREAD
        return self._ask(option, at, self._name(option, at, name_fix))

    def _ask(self, value: Any, at: str, name: str) -> Ask:
        ask = self.mapping(value, at, fix=_EXACTLY)
        mode = ask.get("allocationMode")
        # The API server takes an empty text for one that is left out.
        mode = _MODES[0] if mode is None or mode == "" else mode
        self.one_of(mode, f"{at}.allocationMode", _MODES)
        count = self._count(ask, at, is_all=mode == _MODES[1])
        admin = ask.get("adminAccess")
        if not (admin is None or admin is UNREAD or isinstance(admin, bool)):
            fix = "write true or false, without quotes"
            self.fault("adminAccess", at, admin, "true or false", fix=fix)
        return Ask(
            name=name,
            device_class=self.named(ask, "deviceClassName", at, fix=_CLASS),
            count=None if mode == _MODES[1] else count,
            selectors=self.selectors(ask.get("selectors", ()), f"{at}.selectors"),
            admin=admin is True,
            amounts=self.amounts(ask.get("capacity"), f"{at}.capacity"),
            tolerations=tuple(self.tolerations(ask.get("tolerations", ()), f"{at}.tolerations")),
        )

    def _count(self, ask: Mapping[str, Any], at: str, *, is_all: bool) -> int:
        count = ask.get("count")
        # The API server takes 0 for a count that is left out.
        if ask is UNREAD or count is None or (type(count) is int and count == 0):
            return 1
        if type(count) is not int or not 0 < count < _MOST_DEVICES:
            is_digits = isinstance(count, str) and count.strip().isdigit()
            fix = "write the number without quotes" if is_digits else _COUNT
            self.fault("count", at, count, "a whole number from 1", fix=fix)
            return 1
        if is_all:
            allowed = "no count beside allocationMode: All"
            fix = "leave count out, or leave allocationMode out"
            self.fault("count", at, count, allowed, fix=fix)
        return count

    def _constraints(
        self,
        devices: Mapping[str, Any],
        at: str,
        known: Mapping[str, tuple[str, ...]],
        given_names: list[Any],
        wrong: list[Broken],
    ) -> Iterator[Constraint]:
        """The constraints; what requests have for names, of the wrong type too, they may name.

        What the server refuses in them is added to `wrong`.
        """
        given = self.sequence(
            devices.get("constraints", ()),
            f"{at}.constraints",
            most=_MOST_REQUESTS,
            fix=f"write a list: - {_MATCH}: ...",
        )
        for index, one in enumerate(given):
            place = f"{at}.constraints[{index}]"
            constraint = self.mapping(one, place, fix=_CONSTRAINT)
            if constraint is UNREAD:
                continue
            named = constraint.get("requests", ())
            fix = as_requests(named, known)
            names = self.sequence(named, f"{place}.requests", most=_MOST_REQUESTS, fix=fix)
            if not all(name in known or name in given_names for name in names):
                allowed = f"names of requests: {', '.join(sorted(known))}"
                self.fault("requests", place, names, allowed, fix=fix)
                continue
            is_distinct = constraint.get(_MATCH) is None
            attribute = self.attribute(constraint, place)
            if attribute is not None:
                wrong += broken_constraint(constraint, place, known, self.api)
                yield Constraint(attribute, frozenset(names), is_distinct)


_COUNT: Final = "write how many devices, from 1, or allocationMode: All for all of a node"


def _name_fixes(given: tuple[Any, ...], one: str, many: str) -> list[str]:
    """What to write for the name of each entry of a list; empty where it is told of another."""
    lack = [at for at, entry in enumerate(given) if _has_no_name(entry)]
    fixes = [many if len(lack) > 1 else one] * len(given)
    for at in lack[1:]:
        fixes[at] = ""
    return fixes


def _has_no_name(entry: Any) -> bool:
    return isinstance(entry, Mapping) and entry.get("name") is None


def _known_names(requests: tuple[Request, ...]) -> dict[str, tuple[str, ...]]:
    """What a constraint may name, requests and their alternatives, each with its classes."""
    known = {}
    for one in requests:
        if not one.name:
            continue
        known[one.name] = tuple(ask.device_class for ask in one.options)
        if one.is_prioritised:
            known |= {f"{one.name}/{ask.name}": (ask.device_class,) for ask in one.options}
    return known
