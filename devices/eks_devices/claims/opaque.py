"""Configurations of the user's own that a claim carries to a driver."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .._data import read_toml
from .._frozen import FrozenDict, copied_list
from .._json_values import frozen_mapping, json_faults
from ..findings import Finding, fault, raise_faults
from ..syntax import is_dns_subdomain, well_formed
from ..typecheck import path_step, plain_text, wrong_type
from .syntax import DRA_PAGE, request_names

_WANTED: Final = "what the driver reads, a mapping of JSON values"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpaqueConfig:
    """What a driver is told of the devices of a claim, in the driver's own words.

    What the options of requests say, such as `sharing` and `logical_neuron_cores`, comes beside
    it; the driver decides what two configurations of one request mean.

    Args:
        driver: The name of the driver, "gpu.nvidia.com".
        parameters: What it reads, with `apiVersion` and `kind` where it looks at them; at most
            10 KiB as JSON, without nulls.
        requests: Names of the requests that it is about, or of an alternative, "gpu/large"; by
            default all requests.

    Raises:
        EksDevicesError: With every fault of the arguments.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
    """

    driver: str
    parameters: Mapping[str, Any]
    requests: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Copy the parameters, and raise EksDevicesError with every fault."""
        object.__setattr__(self, "driver", plain_text(self.driver))
        object.__setattr__(self, "requests", copied_list(self.requests))
        copy = frozen_mapping(self.parameters, "config.parameters", _WANTED, "write a dict")
        faults = [*_driver_faults(self.driver), *request_names(self.requests, "config.requests")]
        faults += [copy] if isinstance(copy, Finding) else _parameter_faults(copy)
        raise_faults(faults)
        object.__setattr__(self, "parameters", copy)

    def to_dict(self) -> dict[str, Any]:
        """The configuration as `resource.k8s.io/v1` takes it."""
        opaque = {"driver": self.driver, "parameters": _plain(self.parameters)}
        about = {"requests": [*self.requests]} if self.requests else {}
        return about | {"opaque": opaque}


def config_type_faults(configs: object, path: str) -> Iterator[Finding]:
    """Faults of configurations that are of the wrong Python type."""
    if type(configs) is not tuple:
        yield wrong_type(path, configs, "a list of OpaqueConfig", "write [OpaqueConfig(...)]")
        return
    for index, one in enumerate(configs):
        if not isinstance(one, OpaqueConfig):
            fix = "write OpaqueConfig(driver=..., parameters=...)"
            yield wrong_type(f"{path}[{index}]", one, "an OpaqueConfig", fix)


def _driver_faults(driver: object) -> Iterator[Finding]:
    longest = read_toml("limits.toml")["claims"]["longest_driver"]
    yield from well_formed(
        driver,
        "config.driver",
        lambda name: len(name) <= longest and is_dns_subdomain(name),
        code="MalformedName",
        message="no DRA driver has such a name",
        allowed=f"a DNS name of at most {longest} characters",
        fix='write the name of the driver, "gpu.nvidia.com"',
        source=DRA_PAGE,
    )


def _parameter_faults(parameters: FrozenDict[Any, Any]) -> Iterator[Finding]:
    faults = [
        *json_faults(parameters, "config.parameters"),
        *_null_faults(parameters, "config.parameters"),
    ]
    yield from faults
    limit = read_toml("limits.toml")["claims"]
    size = 0 if faults else len(json.dumps(parameters).encode())
    if size > limit["most_parameters_bytes"]:
        yield fault(
            "ParametersTooLarge",
            "config.parameters",
            "the API server takes no longer parameters",
            got=f"{size} bytes",
            allowed=f"at most {limit['most_parameters_bytes']} bytes of JSON",
            fix="shorten what the driver is told",
            source=limit["source"],
        )


def _null_faults(value: object, path: str) -> Iterator[Finding]:
    """Faults of nulls, which not every way to the cluster keeps."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _null_faults(one, f"{path}.{path_step(key)}")
    elif isinstance(value, tuple):
        for index, one in enumerate(value):
            yield from _null_faults(one, f"{path}[{index}]")
    elif value is None:
        yield fault(
            "NullParameter",
            path,
            "cdk8s and the CDK leave nulls out, so the driver would not see this one",
            got=None,
            allowed="values, and no null",
            fix="leave the key out",
            source=DRA_PAGE,
        )


def _plain(value: Any) -> Any:
    """Frozen JSON values as plain dicts and lists."""
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value
