"""The custom resources of Neuron's UltraServer operator.

Source: https://github.com/aws-neuron/neuron-helm-charts (neuron-helm-chart 1.9.0,
ultraserver-operator-crds.yaml)
"""

from __future__ import annotations

from eks_devices.names import NEURON_DRIVER, ULTRASERVER_API

from .objects import Object, metadata

GROUP = NEURON_DRIVER
ULTRASERVERS, WORKLOADS = "neuronultraservers", "neuronultraserverworkloads"
_TEXT: Object = {"type": "string"}
_NUMBER: Object = {"type": "integer"}
_TIME: Object = {"type": "string", "format": "date-time"}
_GENERATION: Object = {"type": "integer", "format": "int64"}


def ultraserver_crds() -> list[Object]:
    """NeuronUltraServer, which the operator writes, and NeuronUltraServerWorkload, users do."""
    server = _crd("NeuronUltraServer", ULTRASERVERS, "nus", _server())
    workload = _crd("NeuronUltraServerWorkload", WORKLOADS, "nusw", _workload())
    return [server, workload]


def _crd(kind: str, plural: str, short: str, schema: Object) -> Object:
    version = {
        "name": ULTRASERVER_API,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }
    names = {
        "kind": kind,
        "listKind": f"{kind}List",
        "plural": plural,
        "singular": kind.lower(),
        "shortNames": [short],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata(f"{plural}.{GROUP}"),
        "spec": {"group": GROUP, "names": names, "scope": "Namespaced", "versions": [version]},
    }


def _whole(spec: Object, status: Object) -> Object:
    properties = {
        "apiVersion": _TEXT,
        "kind": _TEXT,
        "metadata": {"type": "object"},
        "spec": spec,
        "status": status,
    }
    return {"type": "object", "required": ["spec"], "properties": properties}


def _server() -> Object:
    spec = _object(
        required={
            "instanceType": {
                "type": "string",
                "minLength": 1,
                "maxLength": 253,
                "pattern": r"^[a-zA-Z0-9][a-zA-Z0-9.\-]*$",
            },
            "topology": _atomic(
                _object(
                    required={
                        "nodeName": _TEXT,
                        "nodeId": _NUMBER,
                        "linkStatusHorizontal": _TEXT,
                        "linkStatusVertical": _TEXT,
                    }
                )
            ),
        }
    )
    status = _object(
        {
            "state": _TEXT,
            "allocations": _atomic(_allocation()),
            "conditions": _conditions(),
            "observedGeneration": _GENERATION,
        }
    )
    same_type = {
        "rule": "self.spec.instanceType == oldSelf.spec.instanceType",
        "message": "the instance type of an UltraServer cannot change",
    }
    return _whole(spec, status) | {"x-kubernetes-validations": [same_type]}


def _allocation() -> Object:
    return _object(
        required={
            "workloadRef": _TEXT,
            "phase": _TEXT,
            "ultraserverIndex": _NUMBER,
            "nodeCount": _NUMBER,
            "allocatedNodes": _atomic(_TEXT),
            "leaderNodeName": _TEXT,
            "allocatedAt": _TIME,
        }
    )


def _workload() -> Object:
    cores = {"type": "integer", "minimum": 1, "maximum": 2, "default": 2}
    spec = _object(
        {
            "allocationPolicy": _object({"failureStrategy": _TEXT | {"default": "NoOp"}}),
            "config": _object({"logicalNeuronCore": cores}),
            "resourceClaimTemplate": _object(required={"name": _TEXT}),
        },
        required={
            "instanceType": _TEXT,
            "serverCount": {"type": "integer", "minimum": 1},
            # Three is no size, and is taken as the vendor takes it; ultraserver_workload refuses.
            "topologySize": {"type": "integer", "minimum": 1, "maximum": 4},
        },
    )
    states = ["Pending", "Allocating", "Allocated", "PartiallyAllocated", "Failed", "Deallocating"]
    status = _object(
        {
            "state": {"type": "string", "enum": states},
            "allocatedUltraServers": _atomic(_TEXT),
            "allocatedAt": _TIME,
            "conditions": _conditions(),
            "observedGeneration": _GENERATION,
        }
    )
    return _whole(spec, status)


def _conditions() -> Object:
    """Conditions as Kubernetes has them everywhere (metav1.Condition)."""
    label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
    condition = _object(
        {"observedGeneration": _GENERATION | {"minimum": 0}},
        required={
            "type": {
                "type": "string",
                "maxLength": 316,
                "pattern": rf"^({label}(\.{label})*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
            },
            "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
            "reason": {
                "type": "string",
                "minLength": 1,
                "maxLength": 1024,
                "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
            },
            "message": {"type": "string", "maxLength": 32768},
            "lastTransitionTime": _TIME,
        },
    )
    return {"type": "array", "items": condition}


def _object(optional: Object | None = None, required: Object | None = None) -> Object:
    """An object by its properties."""
    needed = required or {}
    found: Object = {"type": "object", "properties": (optional or {}) | needed}
    return found | ({"required": list(needed)} if needed else {})


def _atomic(items: Object) -> Object:
    """A list that is written as a whole."""
    return {"type": "array", "x-kubernetes-list-type": "atomic", "items": items}
