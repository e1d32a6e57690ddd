"""The attribute that all devices of a claim must share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from .._frozen import copied_list
from ..findings import raise_faults
from ..names import PCIE_ROOT_ATTRIBUTE, device_group_attribute
from ..typecheck import plain_text
from .syntax import attribute, request_names

_SIZED: Final = device_group_attribute(0)
_GROUP: Final = re.compile("(0|[1-9][0-9]*)".join(map(re.escape, _SIZED.split("0"))), re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchAttribute:
    """An attribute whose value devices must have in common: all of a claim, or of some requests.

    Use `PCIE_ROOT`, `DEVICE_GROUP` or `of`, and `over` for some requests. A claim for one device
    has nothing to match, so its manifest carries no constraint.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
    """

    attribute: str
    """The qualified name, `resource.kubernetes.io/pcieRoot`; for DEVICE_GROUP a stand-in."""
    requests: Sequence[str] = ()
    """Names of the requests whose devices are compared; none means those of all requests."""

    PCIE_ROOT: ClassVar[MatchAttribute]
    """GPUs and EFAs on one PCIe root.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html
    """
    DEVICE_GROUP: ClassVar[MatchAttribute]
    """Neuron devices, and their EFAs, of one connected group of 1, 4, 8 or 16 devices.

    The size is the number of Neuron devices that the claim asks for.
    Source: https://github.com/aws-neuron/connected-device-maps-over-efa-for-neuron
    """

    def __post_init__(self) -> None:
        """Raise EksDevicesError for a name that is not an attribute."""
        object.__setattr__(self, "attribute", plain_text(self.attribute))
        object.__setattr__(self, "requests", copied_list(self.requests))
        raise_faults(
            [
                *attribute(self.attribute, "match.attribute"),
                *request_names(self.requests, "match.requests"),
            ]
        )

    @classmethod
    def of(cls, attribute: str) -> MatchAttribute:
        """An attribute of a driver's own, `gpu.nvidia.com/parentUUID`.

        Args:
            attribute: Domain and name of the attribute; every device must publish it, and groups
                warn of names that no driver publishes (`AttributeNotPublished`). The name of a
                device group, `resource.aws.com/devicegroup4_id`, limits the claim to its size.

        Raises:
            EksDevicesError: `MalformedAttribute`, `WrongType` or `TokenNotAllowed`.
        """
        return cls(attribute=attribute)

    def over(self, *requests: str) -> MatchAttribute:
        """The same for the devices of some requests, for the list `constraints` of a claim.

        Args:
            requests: Names of requests of the claim, or of an alternative, "gpu/large".

        Raises:
            EksDevicesError: A value is no name.
        """
        return replace(self, requests=requests)

    def attribute_for(self, neuron_devices: int) -> str:
        """The attribute's name in a claim for so many Neuron devices."""
        return device_group_attribute(neuron_devices) if self.is_sized else self.attribute

    def group_size(self, neuron_devices: int) -> int | None:
        """The Neuron devices of the group meant in a claim for so many; None without a group."""
        found = _GROUP.fullmatch(self.attribute)
        if found is None or self.is_sized:
            return neuron_devices if found else None
        return int(found[1])

    @property
    def is_sized(self) -> bool:
        """Whether the number of Neuron devices decides which group is meant: DEVICE_GROUP."""
        return self.attribute == _SIZED

    @property
    def is_pcie_root(self) -> bool:
        """Whether devices of one PCIe root are asked for."""
        return self.attribute == PCIE_ROOT_ATTRIBUTE


MatchAttribute.PCIE_ROOT = MatchAttribute(attribute=PCIE_ROOT_ATTRIBUTE)
MatchAttribute.DEVICE_GROUP = MatchAttribute(attribute=_SIZED)
