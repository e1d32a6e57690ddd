"""Pod specs that users hand in as plain mappings: a copy to write to, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Protocol, TypeVar

from ._json_values import frozen_mapping
from ._pod_resources import extended_faults
from .findings import Finding, fault, meant, raise_faults
from .names import CLASS_RESOURCES, GPU_CLASS, MIG_CLASS, NVIDIA_RESOURCES
from .syntax import dns_label
from .typecheck import as_list, members, plain_text, text, wrong_type

Amount = TypeVar("Amount", int, Fraction)
T = TypeVar("T", dict[str, Any], list[Any])

POD_SPEC: Final = "pod_spec"
AMOUNTS: Final = ("limits", "requests")

_INIT: Final = "initContainers"
_FIELDS: Final = (_INIT, "containers")
_WANTED: Final = 'the mapping of a Pod spec, {"containers": [...]}'
_FIX: Final = (
    'pass the Pod spec itself: manifest["spec"] of a Pod, '
    'manifest["spec"]["template"]["spec"] of a Job, Deployment or StatefulSet'
)
_PODS: Final = "https://kubernetes.io/docs/concepts/workloads/pods/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A container of a Pod spec; `values` is part of the spec's copy, to be written to."""

    name: str
    path: str
    values: dict[str, Any]
    is_init: bool


class PodSpec:
    """A copy of a user's Pod spec in `values`, and in `faults` what is wrong with the input.

    What nobody reads is copied as it is: tokens and other objects of the CDK may stand there.

    Args:
        given: What was given as the Pod spec.
    """

    def __init__(self, given: object) -> None:
        self.faults: list[Finding] = []
        self.values: dict[str, Any] = {}
        copy = frozen_mapping(given, POD_SPEC, _WANTED, _FIX)
        if isinstance(copy, Finding):
            self.faults.append(copy)
        else:
            self.values = _thawed(copy)
        self.containers = [] if self.faults else list(self._containers())

    def checked(self) -> dict[str, Any]:
        """The copy.

        Raises:
            EksDevicesError: Everything that was found wrong so far, and amounts of extended
                resources, in any container, that the API server refuses.
        """
        for one in self.containers:
            path = f"{one.path}.resources"
            self.faults += extended_faults(one.name, path, *self.amounts(one))
        raise_faults(dict.fromkeys(self.faults))
        return self.values

    def part(self, owner: dict[str, Any], field: str, kind: type[T], path: str) -> T:
        """What a field holds, or an empty value; what is of another kind is a fault.

        Args:
            owner: The mapping with the field.
            field: The name of the field; null is as good as none.
            kind: `dict` or `list`.
            path: How faults name the owner.
        """
        value = owner.get(field)
        if value is not None and not isinstance(value, kind):
            wanted = "a list" if kind is list else "a mapping"
            fix = f"write {wanted}, as Kubernetes takes it"
            self.faults.append(wrong_type(f"{path}.{field}", value, wanted, fix))
        return value if isinstance(value, kind) else kind()

    def entries(
        self, owner: dict[str, Any], field: str, path: str
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """The mappings in a list of a field, each with its path; others are faults."""
        for index, one in enumerate(self.part(owner, field, list, path)):
            at = f"{path}.{field}[{index}]"
            if isinstance(one, dict):
                yield at, one
            else:
                fix = "write a mapping, as Kubernetes takes it"
                self.faults.append(wrong_type(at, one, "a mapping", fix))

    def claims(self, container: Container) -> list[dict[str, Any]]:
        """The claims of the Pod that a container lists."""
        path = f"{container.path}.resources"
        resources = self.part(container.values, "resources", dict, container.path)
        return [one for _, one in self.entries(resources, "claims", path)]

    def amounts(self, container: Container) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """The limits and the requests of a container."""
        path = f"{container.path}.resources"
        resources = self.part(container.values, "resources", dict, container.path)
        limits, requests = (self.part(resources, one, dict, path) for one in AMOUNTS)
        return limits, requests

    def asks_for(self, container: Container, wanted: Callable[[str], bool]) -> bool:
        """Whether a container asks for any of an extended resource.

        Args:
            container: The container.
            wanted: Whether the resource of a name is meant.
        """
        return any(
            isinstance(name, str) and wanted(name) and not _is_zero(amounts[name])
            for amounts in self.amounts(container)
            for name in amounts
        )

    def takes_gpus(self, container: Container) -> bool:
        """Whether a container asks for GPUs, or parts of them, by an extended resource."""
        return self.asks_for(container, _is_gpu)

    def named(self, names: object) -> list[Container]:
        """The containers of these names; what names none is a fault."""
        path, known = "containers", {one.name: one for one in self.containers}
        given = members(names)
        if given is None:
            fix = as_list(names, path, "main")
            self.faults.append(wrong_type(path, names, "a list of names of containers", fix))
            return []
        found, readable = {}, not self.faults
        for index, one in enumerate(map(plain_text, given)):
            wrong = list(text(one, f"{path}[{index}]", "the name of a container", "write its name"))
            if not wrong and one in known:
                found[one] = known[one]
            elif wrong or readable:
                self.faults += wrong or [_unknown(one, f"{path}[{index}]", list(known))]
        return list(found.values())

    def _containers(self) -> Iterator[Container]:
        if self.values.get("containers") is None:
            self.faults.append(_no_pod_spec(self.values))
            return
        seen: set[str] = set()
        for field in _FIELDS:
            for path, values in self.entries(self.values, field, POD_SPEC):
                name = values.get("name")
                wrong = list(dns_label(name, f"{path}.name"))
                if not wrong and name in seen:
                    wrong = [_repeated(name, f"{path}.name")]
                self.faults += wrong
                if not wrong and isinstance(name, str):
                    seen.add(name)
                    yield Container(name=name, path=path, values=values, is_init=field == _INIT)
        if not self.part(self.values, "containers", list, POD_SPEC) and not self.faults:
            self.faults.append(_no_pod_spec(self.values))


class _Part(Protocol):
    """A container of a Pod, as far as its turn goes."""

    @property
    def is_init(self) -> bool: ...

    @property
    def values(self) -> Mapping[str, Any]: ...


def taken_at_once(counts: Iterable[tuple[_Part, Amount]]) -> Amount | int:
    """The most of something that a Pod holds at once, of what its containers ask for.

    An init container gives it back when it ends, except one that goes on beside those after it.

    Args:
        counts: Every container in the order of the Pod spec, with what it asks for.
    """
    most: Amount | int = 0
    lasting: Amount | int = 0
    for one, count in counts:
        most = max(most, lasting + count)
        lasting += count if is_lasting(one) else 0
    return most


def is_lasting(container: _Part) -> bool:
    """Whether a container runs beside the others: no init container, or one that goes on."""
    policy = container.values.get("restartPolicy")
    return not container.is_init or (isinstance(policy, str) and policy == "Always")


def _thawed(value: Any) -> Any:
    """A frozen copy as plain dicts and lists that can be written to."""
    if isinstance(value, dict):
        return {key: _thawed(one) for key, one in value.items()}
    return [_thawed(one) for one in value] if isinstance(value, tuple) else value


def _is_gpu(name: str) -> bool:
    """Whether an extended resource is a GPU or a part of one."""
    if not name.startswith(CLASS_RESOURCES):
        return name.startswith(NVIDIA_RESOURCES)
    device_class = name.removeprefix(CLASS_RESOURCES)
    return device_class in (GPU_CLASS, MIG_CLASS) or device_class.endswith(f".{GPU_CLASS}")


def _is_zero(amount: object) -> bool:
    return isinstance(amount, (int, str)) and amount in (0, "0")


def _no_pod_spec(values: dict[str, Any]) -> Finding:
    return fault(
        "NotAPodSpec",
        f"{POD_SPEC}.containers",
        "the mapping lists no container, so it is no Pod spec",
        got=sorted(key for key in values if isinstance(key, str)),
        allowed=_WANTED,
        fix=_FIX,
        source=_PODS,
    )


def _repeated(name: object, path: str) -> Finding:
    return fault(
        "RepeatedContainerName",
        path,
        "two containers of a Pod have one name",
        got=name,
        allowed="names that differ within the Pod, init containers included",
        fix="give each its own name",
        source=_PODS,
    )


def _unknown(name: object, path: str, known: list[str]) -> Finding:
    return fault(
        "UnknownContainer",
        path,
        "the Pod spec has no container of this name",
        got=name,
        allowed=", ".join(known),
        fix=meant(name, known) or "name a container of the Pod spec",
    )
