"""Pod specs as users write them, right and wrong, and the faults of what is done with them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.hostile import (
    TOKEN,
    Hostile,
    HostileList,
    HostileMapping,
    HostileTuple,
    Untouchable,
    doubled,
    endless,
)

from eks_devices import EksDevicesError, Finding, Severity


def pod(*containers: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"containers": list(containers), **fields}


def box(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, **fields}


def faults_of(function: Any, *arguments: Any, **options: Any) -> list[Finding]:
    """The faults of a call, each of them complete."""
    with pytest.raises(EksDevicesError) as error:
        function(*arguments, **options)
    for fault in error.value.faults:
        assert fault.severity is Severity.ERROR
        assert all((fault.message, fault.got, fault.allowed, fault.fix))
    return list(error.value.faults)


def codes(*arguments: Any, **options: Any) -> list[tuple[str, str]]:
    return [(one.code, one.path) for one in faults_of(*arguments, **options)]


# What is no Pod spec, each with the code and the path of its fault.
NO_POD_SPECS: list[tuple[Any, tuple[str, str]]] = [
    (None, ("WrongType", "pod_spec")),
    ([], ("WrongType", "pod_spec")),
    ("containers", ("WrongType", "pod_spec")),
    (TOKEN, ("TokenNotAllowed", "pod_spec")),
    (Hostile(), ("WrongType", "pod_spec")),
    (Untouchable(), ("WrongType", "pod_spec")),
    (HostileMapping(), ("WrongType", "pod_spec")),
    (endless(), ("TooDeep", "pod_spec")),
    (doubled(25), ("TooLarge", "pod_spec")),
    ({"containers": HostileList()}, ("WrongType", "pod_spec")),
    ({"containers": HostileTuple((1,))}, ("WrongType", "pod_spec")),
    ({}, ("NotAPodSpec", "pod_spec.containers")),
    ({"containers": None}, ("NotAPodSpec", "pod_spec.containers")),
    ({"containers": []}, ("NotAPodSpec", "pod_spec.containers")),
    ({"kind": "Job", "spec": {}}, ("NotAPodSpec", "pod_spec.containers")),
    ({"containers": {"main": {}}}, ("WrongType", "pod_spec.containers")),
    ({"containers": Hostile()}, ("WrongType", "pod_spec.containers")),
    ({"containers": ["main"]}, ("WrongType", "pod_spec.containers[0]")),
    ({"containers": [{}]}, ("WrongType", "pod_spec.containers[0].name")),
    ({"containers": [{"name": 5}]}, ("WrongType", "pod_spec.containers[0].name")),
    ({"containers": [{"name": TOKEN}]}, ("TokenNotAllowed", "pod_spec.containers[0].name")),
    ({"containers": [{"name": "A"}]}, ("MalformedName", "pod_spec.containers[0].name")),
    (
        {"containers": [{"name": "main"}, {"name": "main"}]},
        ("RepeatedContainerName", "pod_spec.containers[1].name"),
    ),
    (
        {"containers": [{"name": "main"}], "initContainers": [{"name": "main"}]},
        ("RepeatedContainerName", "pod_spec.containers[0].name"),
    ),
    (
        {"containers": [{"name": "main"}], "initContainers": 5},
        ("WrongType", "pod_spec.initContainers"),
    ),
]


def claiming(spec: dict[str, Any], claim: str) -> list[str]:
    """The containers that list a claim."""
    every = [*(spec.get("initContainers") or []), *spec["containers"]]
    return [
        one["name"]
        for one in every
        if {"name": claim} in ((one.get("resources") or {}).get("claims") or [])
    ]
