"""The attribute in which devices of a claim must differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .._frozen import copied_list
from ..findings import raise_faults
from ..typecheck import plain_text
from .syntax import attribute, request_names


@dataclass(frozen=True, slots=True, kw_only=True)
class DistinctAttribute:
    """An attribute whose value no two devices have in common: of a claim, or of some requests.

    Kubernetes has it from 1.36 on; claims for older clusters are refused. Up to 1.36 the scheduler
    compares devices of one request with the one before only, so three may have two equal values.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
    """

    attribute: str
    """The qualified name, `resource.kubernetes.io/pcieRoot`."""
    requests: Sequence[str] = ()
    """Names of the requests whose devices are compared; none means those of all requests."""

    def __post_init__(self) -> None:
        """Raise EksDevicesError with every fault."""
        object.__setattr__(self, "attribute", plain_text(self.attribute))
        object.__setattr__(self, "requests", copied_list(self.requests))
        raise_faults(
            [
                *attribute(self.attribute, "distinct.attribute"),
                *request_names(self.requests, "distinct.requests"),
            ]
        )

    @classmethod
    def of(cls, attribute: str) -> DistinctAttribute:
        """An attribute by its domain and name, which every device must publish.

        Raises:
            EksDevicesError: `MalformedAttribute`, `WrongType` or `TokenNotAllowed`.
        """
        return cls(attribute=attribute)

    def over(self, *requests: str) -> DistinctAttribute:
        """The same for the devices of some requests.

        Args:
            requests: Names of requests of the claim, or of an alternative, "gpu/large".

        Raises:
            EksDevicesError: A value is no name.
        """
        return replace(self, requests=requests)
