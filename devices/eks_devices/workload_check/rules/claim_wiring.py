"""How a Pod's claims are declared, and how its containers name them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ...feasibility.reading.form_advice import quoted
from ...findings import meant
from ...names import CLAIM_FIELDS, EFA_DRIVER
from ...syntax import is_dns_label, is_dns_subdomain
from ...vocabulary import DeviceType
from ..documents import Steps, mapping, mappings
from ..pods import Container
from .claim_content import request_names, types_of
from .claim_entries import source_meant
from .claim_fields import has_strays
from .context import Context, Told, names_of_claims
from .readable import UNKNOWN

_SOURCES: Final = ("resourceClaimName", "resourceClaimTemplateName")
_LISTED: Final = "name a claim of the Pod's resourceClaims: - name: ..."
_PAGE: Final = (
    "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/"
)
_API: Final = (
    "https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/validation.go"
)
_KUBELET: Final = (
    "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/cm/dra/claiminfo.go"
)


def claim_sources(context: Context) -> Iterator[Told]:
    """An entry of `resourceClaims` names one claim, or one template."""
    for index, entry in mappings(context.spec, "resourceClaims"):
        given = [field for field in _SOURCES if entry.get(field) is not None]
        steps = ("resourceClaims", index)
        if len(given) != 1 and not (_is_misspelt(entry) and not given):
            code = "BothClaimSources" if given else "NoClaimSource"
            yield context.error(
                steps,
                code,
                "the API server takes a Pod's claim from one place: a claim that exists, or a "
                "template that makes one for each Pod",
                got=given,
                allowed="either resourceClaimName or resourceClaimTemplateName",
                fix=_one_source(context, steps) if given else _source(entry),
                source=_PAGE,
            )
        for field in given:
            name = entry[field]
            if name is not UNKNOWN and not (isinstance(name, str) and is_dns_subdomain(name)):
                yield _malformed(context, (*steps, field), name, part=-1)


def _one_source(context: Context, steps: Steps) -> str:
    """Which of two sources to leave out: the one that there is not, where one is known."""
    there = {one.kind for one in context.claims if one.steps == steps and one.is_known}
    if len(there) == 1:
        return f"leave {next(one for one in _SOURCES if CLAIM_FIELDS[one] not in there)} out"
    return (
        f"leave {_SOURCES[0]} out for a claim of each Pod's own, or {_SOURCES[1]} for one that "
        "Pods share"
    )


def _source(entry: Mapping[str, Any]) -> str:
    """What to write for an entry without a source: what is below one, as it was once."""
    old = mapping(entry, "source")
    written = [(one, old[one]) for one in _SOURCES if isinstance(old.get(one), str)]
    if len(written) == 1:
        field, name = written[0]
        return f"write {field}: {name} beside the name, without source:"
    gone = ", beside the name: `source` is gone" if "source" in entry else ""
    return f"write {_SOURCES[1]}, or {_SOURCES[0]} for a claim that Pods share{gone}"


def _is_misspelt(entry: Mapping[str, Any]) -> bool:
    """Whether an entry has another field in the place of its source, of which that is told."""
    return any(source_meant(one, entry) for one in entry)


def claim_names(context: Context) -> Iterator[Told]:
    """Each entry of `resourceClaims` has a name of its own."""
    seen: set[str] = set()
    for index, entry in mappings(context.spec, "resourceClaims"):
        name, steps = entry.get("name"), ("resourceClaims", index, "name")
        if isinstance(name, str) and name in seen:
            yield context.error(
                steps,
                "RepeatedClaimName",
                "two claims of the Pod have one name, and the API server refuses the Pod",
                got=name,
                allowed="names that differ within the Pod",
                fix="give each its own name, and let containers list both",
                source=_API,
            )
        elif isinstance(name, str) and is_dns_label(name):
            seen.add(name)
        elif name is not UNKNOWN:
            yield _malformed(context, steps, name, missing="give it a name: - name: gpu")


def _malformed(
    context: Context, steps: Steps, name: Any, *, missing: str = _LISTED, part: int = 0
) -> Told:
    return context.error(
        steps,
        "MalformedClaimName",
        "the API server takes no such name",
        got=name,
        allowed="lower-case letters, digits and '-', with a letter or digit at both ends, and at "
        "most 63 of them for the Pod's own name of a claim",
        fix=missing if name is None else _as_name(name, part),
        source=_API,
    )


def _as_name(name: Any, part: int) -> str:
    """What to write for a name that is none, which may be a part of what is written."""
    if told := quoted(name):
        return told
    if not isinstance(name, str) or "/" not in name:
        return "write a name of that form"
    why = "the claims of a Pod are those of its own namespace"
    if part == 0:
        why = "a container lists requests, and no alternatives"
    return f"write {name.split('/')[part]}: {why}"


def listed_claims_exist(context: Context) -> Iterator[Told]:
    """A container lists claims that its Pod has, each once."""
    if has_strays(context):
        return
    known = [one.get("name") for _, one in mappings(context.spec, "resourceClaims")]
    names = [one for one in known if isinstance(one, str)]
    for container in context.containers:
        seen: set[tuple[str, str]] = set()
        for index, name, request in _entries(container):
            steps = (*container.steps, "resources", "claims", index)
            if name not in names and UNKNOWN not in known:
                yield context.error(
                    (*steps, "name"),
                    "UnknownPodClaim",
                    "the container lists a claim that the Pod does not have, and the API server "
                    "refuses the Pod",
                    got=name,
                    allowed=", ".join(names) or "names from spec.resourceClaims, which is empty",
                    fix=meant(name, names) or _add_or_write(names),
                    source=_API,
                )
            if _repeats((name, request), seen):
                yield _repeated_entry(context, steps, name, request)
            seen.add((name, request))


def _add_or_write(names: list[str]) -> str:
    own = f"write {names[0]}, which the Pod has, or " if len(names) == 1 else ""
    return f"{own}add the claim to spec.resourceClaims of the Pod"


def _entries(container: Container) -> Iterator[tuple[int, str, str]]:
    for index, one in mappings(mapping(container.content, "resources"), "claims"):
        name, request = one.get("name"), one.get("request")
        if isinstance(name, str):
            yield index, name, request if isinstance(request, str) else ""


def _repeats(entry: tuple[str, str], seen: set[tuple[str, str]]) -> bool:
    """Whether an entry says again what one before it said: the whole claim has every request."""
    name, request = entry
    whole = (name, "") in seen
    return whole or entry in seen or (not request and any(name == one for one, _ in seen))


def _repeated_entry(context: Context, steps: Steps, name: str, request: str) -> Told:
    return context.error(
        steps,
        "ClaimListedTwice",
        "the container lists a claim twice, and the API server refuses the Pod",
        got=f"{name}/{request}" if request else name,
        allowed="the claim once, or each of its requests once",
        fix="leave one of the entries out",
        source=_API,
    )


def listed_names(context: Context) -> Iterator[Told]:
    """What a container lists of claims are names."""
    declared = [one.get("name") for _, one in mappings(context.spec, "resourceClaims")]
    for container in context.containers:
        for index, one in mappings(mapping(container.content, "resources"), "claims"):
            steps = (*container.steps, "resources", "claims", index)
            for field in ("name", "request"):
                value = one.get(field)
                is_left_out = value is None and (field == "request" or _has_more(one))
                # What its declaration has for a name is told there.
                is_told = field == "name" and value is not None and value in declared
                if not (isinstance(value, str) or value is UNKNOWN or is_left_out or is_told):
                    yield _malformed(context, (*steps, field), value)


def _has_more(entry: Mapping[str, Any]) -> bool:
    """Whether what a container lists has fields that there are not, of which that is told."""
    return any(one not in ("name", "request") for one in entry)


def listed_requests_exist(context: Context) -> Iterator[Told]:
    """A container that lists one request of a claim gets devices only if the claim has it."""
    known = {one.name: one for one in context.claims}
    for container in context.containers:
        for index, name, request in _entries(container):
            claim = known.get(name)
            names = request_names(claim) if claim else []
            if request and not is_dns_label(request):
                yield _malformed(
                    context, (*container.steps, "resources", "claims", index, "request"), request
                )
            elif request and names and request not in names:
                told = meant(request, names)
                yield context.warn(
                    (*container.steps, "resources", "claims", index, "request"),
                    "UnknownRequestOfClaim",
                    f"the claim {name} has no request {request}, so the container starts without "
                    f"any device of it; its requests are {', '.join(names)}",
                    fix=told or "name a request of the claim, or leave `request` out for all",
                    source=_KUBELET,
                )


def unused_claims(context: Context) -> Iterator[Told]:
    """A claim that no container lists is allocated, and gives nobody its devices."""
    if has_strays(context) or _lists_others(context):
        return
    used = {name for one in context.containers for name in names_of_claims(one)}
    for claim in context.claims:
        if claim.name in used or not claim.name:
            continue
        types = types_of(claim)
        # Drivers of networks give their devices to the Pod.
        of_pod = claim.manifest is not None and types <= {DeviceType.EFA, None}
        tell = context.tell if of_pod else context.warn
        yield tell(
            claim.steps,
            "ClaimNotListed",
            f"no container lists the claim {claim.name}: {_outcome(types, of_pod=of_pod)}",
            fix=f"add {{name: {claim.name}}} to resources.claims of the containers that use it, "
            "or leave the claim out",
            source=_PAGE,
        )


def _lists_others(context: Context) -> bool:
    """Whether a container lists what is none of the claims, and may be meant for any of them."""
    known = [one.get("name") for _, one in mappings(context.spec, "resourceClaims")]
    lists = (mapping(one.content, "resources") for one in context.containers)
    entries = (entry for one in lists for _, entry in mappings(one, "claims"))
    names = (one.get("name") for one in entries)
    return any(not isinstance(one, str) or one not in known for one in names)


def _outcome(types: set[DeviceType | None], *, of_pod: bool) -> str:
    if types == {DeviceType.EFA}:
        return (
            f"its EFAs come to all containers of the Pod by themselves ({EFA_DRIVER}), and to "
            "autoscalers the Pod seems to want none"
        )
    if of_pod:
        return "no container gets its devices, unless their driver gives them to the whole Pod"
    return "its devices are kept for the Pod, and no container can use them"


RULES = (
    claim_sources,
    claim_names,
    listed_claims_exist,
    listed_names,
    listed_requests_exist,
    unused_claims,
)
