"""The policy that keeps each driver Pod to the ResourceSlices of its own node."""

from __future__ import annotations

from .objects import Object, metadata

_API = "admissionregistration.k8s.io/v1"
# The claim in a Pod's token that names the node which the Pod is bound to.
_NODE_CLAIM = "authentication.kubernetes.io/node-name"


def own_slices_policy(
    name: str, *, account: str, namespace: str, driver: str, denies: bool = True
) -> list[Object]:
    """A policy and its binding for the service account of a DRA driver.

    A driver Pod that was taken over cannot publish devices of other nodes or of other drivers,
    nor of every node or a selection. Nobody but the account is judged: a driver that the
    operating system runs acts as its node, which the API server restricts by itself. With
    `denies=False` the policy only tells, in the driver's log and the audit log.

    Source: https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
    """
    policy = {
        "apiVersion": _API,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": metadata(name),
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [_RESOURCE_SLICES]},
            "matchConditions": [_is_account(namespace, account)],
            "variables": [
                {"name": "node", "expression": _NODE},
                {
                    "name": "slice",
                    "expression": "request.operation == 'DELETE' ? oldObject : object",
                },
            ],
            "validations": _validations(driver),
        },
    }
    binding = {
        "apiVersion": _API,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": metadata(name),
        "spec": {
            "policyName": name,
            "validationActions": ["Deny"] if denies else ["Warn", "Audit"],
        },
    }
    return [policy, binding]


# The API server converts requests in other versions of the API before it asks.
_RESOURCE_SLICES: Object = {
    "apiGroups": ["resource.k8s.io"],
    "apiVersions": ["v1"],
    "operations": ["CREATE", "UPDATE", "DELETE"],
    "resources": ["resourceslices"],
}
_NODE = f"request.userInfo.extra[?'{_NODE_CLAIM}'][?0].orValue('')"


def _is_account(namespace: str, account: str) -> Object:
    user = f"system:serviceaccount:{namespace}:{account}"
    return {"name": "is-the-driver", "expression": f"request.userInfo.username == '{user}'"}


def _validations(driver: str) -> list[Object]:
    return [
        {
            "expression": "variables.node != '' && "
            "variables.slice.spec.?nodeName.orValue('') == variables.node",
            "message": "a driver may change the ResourceSlices of its own node only",
        },
        {
            "expression": f"variables.slice.spec.driver == '{driver}'",
            "message": f"this driver may change ResourceSlices of {driver} only",
        },
    ]
