"""The devices of one node as its ResourceSlices have them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._frozen import FrozenDict
from ..quantities import amount_of
from .cel.values import quantity, semver
from .minors import Scheduler, newest_scheduler

Amount = Any
"""What a quantity amounts to: a whole number, or a fraction where it is none."""
CounterSet = tuple[str, str]
"""The driver that publishes counters, and the name of the set of them."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What may be asked for of a capacity; None where nothing is said."""

    default: Amount | None = None
    values: tuple[Amount, ...] = ()
    least: Amount | None = None
    most: Amount | None = None
    step: Amount | None = None

    @property
    def has_range(self) -> bool:
        """Whether what is asked for has bounds or steps."""
        return any(one is not None for one in (self.least, self.most, self.step))


@dataclass(frozen=True, slots=True)
class Size:
    """How much a device has of a capacity, and what may be asked for."""

    amount: Amount
    policy: Policy | None = None


@dataclass(frozen=True, slots=True)
class DeviceTaint:
    """What keeps claims off a device that do not tolerate it."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True, eq=False)
class NodeDevice:
    """A device as selectors, constraints and amounts look at it.

    `attributes` and `capacity` go by qualified name; `at_run_time` has the qualified names of
    attributes whose value, or presence, only a running node knows; `versions` the names without a
    domain of attributes that are versions. `written` has versions as they are published, by
    qualified name, where selectors look at less: constraints compare the build as well. `sizes`
    are the capacities by their names as published. `consumes` are amounts by set of counters and
    name.
    """

    driver: str
    name: str
    attributes: FrozenDict[str, Any]
    capacity: FrozenDict[str, Any]
    at_run_time: frozenset[str]
    versions: frozenset[str]
    written: FrozenDict[str, str] = field(default_factory=FrozenDict)
    sizes: FrozenDict[str, Size] = field(default_factory=FrozenDict)
    is_shared: bool = False
    consumes: FrozenDict[CounterSet, FrozenDict[str, Amount]] = field(default_factory=FrozenDict)
    taints: tuple[DeviceTaint, ...] = ()

    def by_domain(self, values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Values by domain and name; names without a domain are of the driver's."""
        found: dict[str, dict[str, Any]] = {}
        for qualified, value in values.items():
            domain, _, name = qualified.rpartition("/")
            found.setdefault(domain, {})[name] = value
        return found

    def matched(self, attribute: str) -> tuple[bool, Any]:
        """Whether it is known what a constraint compares, and that; None where there is nothing.

        What is equal on all devices of a node is known to be equal, whatever it is.
        """
        value = self.attributes.get(attribute)
        if value is None:
            return attribute not in self.at_run_time, None
        return True, (type(value).__name__, self.written.get(attribute, str(value)))


@dataclass(frozen=True, slots=True, eq=False)
class NodeDevices:
    """The devices of a node in the order in which its scheduler goes through them.

    `unpublished` says per driver why it may publish more, or other devices. `counters` are the
    amounts of each set that devices consume from.
    """

    devices: tuple[NodeDevice, ...]
    unpublished: FrozenDict[str, str]
    scheduler: Scheduler = field(default_factory=newest_scheduler)
    counters: FrozenDict[CounterSet, FrozenDict[str, Amount]] = field(default_factory=FrozenDict)


def read_slices(
    slices: Iterable[Mapping[str, Any]],
    scheduler: Scheduler,
    *,
    at_run_time: Callable[[str, Mapping[str, Any]], frozenset[str]] = lambda *_: frozenset(),
    unpublished: Mapping[str, str] = FrozenDict(),
) -> NodeDevices:
    """The devices of the slices of one node, with what its scheduler looks at.

    Args:
        slices: ResourceSlices that the API server takes, each pool whole.
        scheduler: Which one looks at the devices.
        at_run_time: Tells the qualified names that only a running node knows, of the driver and
            the device that it is given.
        unpublished: Per driver, why it may publish more, or other devices.
    """
    specs = [one["spec"] for one in sorted(slices, key=_order)]
    devices = tuple(
        _device(spec["driver"], one, scheduler, at_run_time(spec["driver"], one))
        for spec in specs
        for one in spec.get("devices", ())
    )
    counters = {
        (spec["driver"], one["name"]): _counters(one["counters"])
        for spec in specs
        for one in spec.get("sharedCounters", ())
    }
    return NodeDevices(devices, FrozenDict(unpublished), scheduler, FrozenDict(counters))


def _order(one: Mapping[str, Any]) -> tuple[str, str, str]:
    """By pool, and by name within it."""
    spec = one["spec"]
    return spec["driver"], spec["pool"]["name"], one["metadata"]["name"]


def _device(
    driver: str, device: Mapping[str, Any], scheduler: Scheduler, at_run_time: frozenset[str]
) -> NodeDevice:
    given = {_qualified(driver, name): one for name, one in device.get("attributes", {}).items()}
    capacity = device.get("capacity", {})
    consumed = device.get("consumesCounters", ()) if scheduler.counters else ()
    taints = device.get("taints", ()) if scheduler.taints else ()
    versions = {name.rpartition("/")[2] for name, one in given.items() if "version" in one}
    return NodeDevice(
        driver,
        device["name"],
        FrozenDict((name, _value(one)) for name, one in given.items()),
        FrozenDict(
            (_qualified(driver, name), quantity(one["value"])) for name, one in capacity.items()
        ),
        at_run_time,
        frozenset(versions),
        FrozenDict((name, one["version"]) for name, one in given.items() if "version" in one),
        FrozenDict((name, _size(one)) for name, one in capacity.items()),
        scheduler.shares and device.get("allowMultipleAllocations") is True,
        FrozenDict(((driver, one["counterSet"]), _counters(one["counters"])) for one in consumed),
        tuple(DeviceTaint(one["key"], one.get("value", ""), one["effect"]) for one in taints),
    )


def _qualified(driver: str, name: str) -> str:
    return name if "/" in name else f"{driver}/{name}"


def _value(typed: Mapping[str, Any]) -> Any:
    ((kind, value),) = typed.items()
    return semver(value) if kind == "version" else value


def _counters(given: Mapping[str, Any]) -> FrozenDict[str, Amount]:
    return FrozenDict((name, amount(one["value"])) for name, one in given.items())


def _size(given: Mapping[str, Any]) -> Size:
    policy = given.get("requestPolicy")
    return Size(amount(given["value"]), None if policy is None else _policy(policy))


def _policy(given: Mapping[str, Any]) -> Policy:
    default, bounds = given.get("default"), given.get("validRange") or {}
    least, most, step = (
        None if bounds.get(name) is None else amount(bounds[name])
        for name in ("min", "max", "step")
    )
    return Policy(
        default=None if default is None else amount(default),
        values=tuple(amount(one) for one in given.get("validValues") or ()),
        least=least,
        most=most,
        step=step,
    )


def amount(text: object) -> Amount:
    """What a quantity of a manifest amounts to, as a whole number where it is one.

    Blanks around it do not count.

    Raises:
        ValueError: It is no quantity.
    """
    found = amount_of(str(text).strip())
    if found is None:
        raise ValueError(f"no quantity: {str(text)[:64]}")
    return int(found) if found.denominator == 1 else found
