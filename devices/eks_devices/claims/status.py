"""What the status of a claim says of its devices, as typed values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .._frozen import FrozenDict
from .._json_values import frozen_mapping
from ..findings import EksDevicesError, Finding, fault, raise_faults
from ..typecheck import path_step

_PATH: Final = "claim"
_WANTED: Final = "the manifest of a ResourceClaim"
_SOURCE: Final = "https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-claim-v1/"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCondition:
    """A condition that a driver tells of a device; which there are is the driver's matter.

    `status` is "True", "False" or "Unknown"; texts that are not there are empty.
    """

    type: str
    status: str
    reason: str = ""
    message: str = ""
    last_transition_time: str = ""
    observed_generation: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceNetwork:
    """What a driver tells of a network device; texts that are not there are empty."""

    interface_name: str = ""
    ips: tuple[str, ...] = ()
    hardware_address: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceStatus:
    """A device of a claim: what the scheduler gave, and what its driver tells of it.

    `request` is the request that it was given for, with a slash before the alternative, and empty
    for a device that the claim does not hold any more. `share_id` tells apart claims that share a
    device, `consumed_capacity` is what this one takes of it, and `data` is the driver's own.
    """

    driver: str
    pool: str
    device: str
    share_id: str = ""
    request: str = ""
    admin_access: bool = False
    consumed_capacity: Mapping[str, str]
    conditions: tuple[DeviceCondition, ...] = ()
    network: DeviceNetwork | None = None
    data: Mapping[str, Any] | None = None

    def condition(self, type: str) -> DeviceCondition | None:  # noqa: A002  (the API's name)
        """The condition of a type; None where the driver tells of none."""
        return next((one for one in self.conditions if one.type == type), None)


def device_statuses(claim: Mapping[str, Any]) -> tuple[DeviceStatus, ...]:
    """The devices of a claim, in the order in which they were given; none before that.

    Args:
        claim: The manifest of a ResourceClaim as the API server has it. What is not there is left
            empty: few drivers tell of conditions, and fewer of networks.

    Raises:
        EksDevicesError: `MalformedStatus` or `WrongType` for every part that no API server writes.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
    """
    copy = frozen_mapping(claim, _PATH, _WANTED, "pass what the API server returns")
    if isinstance(copy, Finding):
        raise EksDevicesError([copy])
    reader = _Reader()
    found = tuple(reader.devices(copy))
    raise_faults(reader.faults)
    return found


class _Reader:
    """Reads a status and collects the faults of it."""

    def __init__(self) -> None:
        self.faults: list[Finding] = []

    def devices(self, claim: Mapping[str, Any]) -> Iterator[DeviceStatus]:
        kind = claim.get("kind", "ResourceClaim")
        if not isinstance(kind, str) or kind != "ResourceClaim":
            self._fault(f"{_PATH}.kind", kind, "ResourceClaim")
        at = f"{_PATH}.status"
        status = self._mapping(claim, "status", _PATH)
        allocation = self._mapping(status, "allocation", at)
        results = self._mapping(allocation, "devices", f"{at}.allocation")
        told = {
            self._key(one, path): (one, path) for path, one in self._entries(status, "devices", at)
        }
        for path, one in self._entries(results, "results", f"{at}.allocation.devices"):
            key = self._key(one, path)
            yield self._device(key, (one, path), told.pop(key, ({}, path)))
        for key, found in told.items():
            yield self._device(key, ({}, found[1]), found)

    def _device(
        self,
        key: tuple[str, str, str, str],
        given: tuple[Mapping[str, Any], str],
        told: tuple[Mapping[str, Any], str],
    ) -> DeviceStatus:
        (result, path), (status, at) = given, told
        driver, pool, device, share = key
        return DeviceStatus(
            driver=driver,
            pool=pool,
            device=device,
            share_id=share,
            request=self._text(result, "request", path, needed=bool(result)),
            admin_access=result.get("adminAccess") is True,
            consumed_capacity=self._amounts(result, path),
            conditions=tuple(
                self._condition(one, place)
                for place, one in self._entries(status, "conditions", at)
            ),
            network=self._network(status, at),
            data=self._mapping(status, "data", at) if status.get("data") is not None else None,
        )

    def _key(self, entry: Mapping[str, Any], path: str) -> tuple[str, str, str, str]:
        driver, pool, device = (
            self._text(entry, name, path, needed=True) for name in ("driver", "pool", "device")
        )
        return driver, pool, device, self._text(entry, "shareID", path)

    def _condition(self, entry: Mapping[str, Any], path: str) -> DeviceCondition:
        generation = entry.get("observedGeneration")
        if generation is not None and type(generation) is not int:
            self._fault(f"{path}.observedGeneration", generation, "a whole number")
        return DeviceCondition(
            type=self._text(entry, "type", path, needed=True),
            status=self._text(entry, "status", path, needed=True),
            reason=self._text(entry, "reason", path),
            message=self._text(entry, "message", path),
            last_transition_time=self._text(entry, "lastTransitionTime", path),
            observed_generation=generation if type(generation) is int else None,
        )

    def _network(self, status: Mapping[str, Any], at: str) -> DeviceNetwork | None:
        if status.get("networkData") is None:
            return None
        path, network = f"{at}.networkData", self._mapping(status, "networkData", at)
        ips = network.get("ips") or ()
        if not isinstance(ips, tuple) or not all(isinstance(one, str) for one in ips):
            self._fault(f"{path}.ips", ips, "a list of addresses")
            ips = ()
        return DeviceNetwork(
            interface_name=self._text(network, "interfaceName", path),
            ips=ips,
            hardware_address=self._text(network, "hardwareAddress", path),
        )

    def _amounts(self, result: Mapping[str, Any], path: str) -> FrozenDict[str, str]:
        amounts = self._mapping(result, "consumedCapacity", path)
        at = f"{path}.consumedCapacity"
        return FrozenDict((name, self._text(amounts, name, at, needed=True)) for name in amounts)

    def _mapping(self, owner: Mapping[str, Any], name: str, path: str) -> Mapping[str, Any]:
        value = owner.get(name)
        if isinstance(value, Mapping):
            return value
        if value is not None:
            self._fault(f"{path}.{name}", value, "a mapping")
        return FrozenDict()

    def _entries(
        self, owner: Mapping[str, Any], name: str, path: str
    ) -> list[tuple[str, Mapping[str, Any]]]:
        value = owner.get(name)
        if value is not None and not isinstance(value, tuple):
            self._fault(f"{path}.{name}", value, "a list")
        found = []
        for index, one in enumerate(value if isinstance(value, tuple) else ()):
            if isinstance(one, Mapping):
                found.append((f"{path}.{name}[{index}]", one))
            else:
                self._fault(f"{path}.{name}[{index}]", one, "a mapping")
        return found

    def _text(self, owner: Mapping[str, Any], name: str, path: str, *, needed: bool = False) -> str:
        value = owner.get(name)
        if isinstance(value, str) and (value or not needed):
            return value
        if needed or value is not None:
            self._fault(f"{path}.{path_step(name)}", value, "a text")
        return ""

    def _fault(self, path: str, got: object, allowed: str) -> None:
        self.faults.append(
            fault(
                "MalformedStatus",
                path,
                "no API server writes such a status",
                got=got,
                allowed=allowed,
                fix="pass the claim as `kubectl get resourceclaim -o json` prints it",
                source=_SOURCE,
            )
        )
