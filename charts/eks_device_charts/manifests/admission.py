"""The policies that keep the Pod of a manager to its own node, and a label to its writer.

Of the former nobody but the manager's account is judged: a driver that the operating system runs
acts as its node, which the API server restricts by itself. With `denies=False` a policy of nodes
only tells, in the manager's log and the audit log.

Source: https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
"""

from __future__ import annotations

from collections.abc import Mapping

from .objects import Object, metadata

_API = "admissionregistration.k8s.io/v1"
_KIND = "ValidatingAdmissionPolicy"
# Claims in a Pod's token: the node that the Pod is bound to, and its own name.
_NODE_CLAIM = "authentication.kubernetes.io/node-name"
_POD_CLAIM = "authentication.kubernetes.io/pod-name"


def _claim(name: str) -> str:
    """CEL for a claim of the token that a request came with; a token may lack it."""
    return f"request.userInfo.extra[?'{name}'][?0].orValue('')"


_NODE = _claim(_NODE_CLAIM)
_SLICE = "request.operation == 'DELETE' ? oldObject : object"


def own_slices_policy(
    name: str,
    *,
    account: str,
    namespace: str,
    driver: str,
    owned: bool = False,
) -> list[Object]:
    """A policy and its binding for the ResourceSlices that a DRA driver writes.

    A driver Pod that was taken over cannot publish devices of other nodes or of other drivers,
    nor of every node or a selection.

    Args:
        name: The name of both objects.
        account: The account of the driver's Pods.
        namespace: Its namespace.
        driver: The name of the DRA driver.
        owned: Whether owners have accounts of their own, named after `account`.
    """
    own = _is_own(
        "variables.slice.spec.?nodeName.orValue('')",
        "a driver may change the ResourceSlices of its own node only",
    )
    of_driver = {
        "expression": f"variables.slice.spec.driver == '{driver}'",
        "message": f"this driver may change ResourceSlices of {driver} only",
    }
    spec = {
        "matchConstraints": {"resourceRules": [_SLICES]},
        "matchConditions": [_is_account(namespace, account, owned=owned)],
        "variables": _variables(node=_NODE, slice=_SLICE),
        "validations": [own, of_driver],
    }
    return _policy_and_binding(name, spec, denies=True)


def own_node_policy(
    name: str, *, account: str, namespace: str, denies: bool = True
) -> list[Object]:
    """A policy and its binding for the Node objects that a manager writes.

    A role cannot say "its own", so it opens every node, and labels and taints decide which Pods
    run where.
    """
    own = _is_own("object.metadata.name", "a manager may change the Node that it runs on only")
    spec = {
        "matchConstraints": {"resourceRules": [_NODES]},
        "matchConditions": [_is_account(namespace, account)],
        "variables": _variables(node=_NODE),
        "validations": [own],
    }
    return _policy_and_binding(name, spec, denies=denies)


def own_pod_policy(name: str, *, account: str, namespace: str) -> list[Object]:
    """A policy and its binding for the Pods that a Pod writes: none but itself.

    A patch can put any image into another Pod of the namespace, privileged ones among them.
    """
    spec = {
        "matchConstraints": {"resourceRules": [_PODS]},
        "matchConditions": [_is_account(namespace, account)],
        "variables": _variables(pod=_claim(_POD_CLAIM)),
        "validations": [
            {
                "expression": "variables.pod != '' && object.metadata.name == variables.pod",
                "message": "this account may change the Pod that it runs in only",
            }
        ],
    }
    return _policy_and_binding(name, spec, denies=True)


def own_daemons_policy(name: str, *, account: str, namespace: str) -> list[Object]:
    """A policy and its binding for the Deployments by which a driver runs daemons on its node.

    Whoever may make Deployments may run any image, on any node, with any account and any Secret of
    the namespace. A driver is root on its own node, so a daemon may be just that, and no more.

    Args:
        name: The name of both objects.
        account: The account that those of owners are named after.
        namespace: Its namespace.
    """
    spec = {
        "matchConstraints": {"resourceRules": [_DEPLOYMENTS]},
        "matchConditions": [_is_account(namespace, account, owned=True)],
        "variables": _variables(node=_NODE, before=_pods("oldObject"), pods=_pods("object")),
        "validations": [
            {
                "expression": f"variables.node != '' && {_on_node('before')} && {_on_node('pods')}",
                "message": "a driver may change Deployments for its own node only",
            },
            {
                "expression": f"variables.pods.all(pod, {_WITH_OWN_ACCOUNT})",
                "message": "a driver may run daemons with its own or the default account only",
            },
            {
                "expression": f"variables.pods.all(pod, {_WITHOUT_SECRETS})",
                "message": "a driver may run daemons with folders of the node and no Secret only",
            },
        ],
    }
    return _policy_and_binding(name, spec, denies=True)


def own_label_policy(name: str, *, label: str, writers: str) -> list[Object]:
    """A policy and its binding for a label of nodes that some users alone may write.

    Labels can be changed by way of the status, which every kubelet writes, too.

    Args:
        name: The name of both objects.
        label: The key of the label.
        writers: What the names of those begin with who may add, change and remove it once a node
            is there.
    """
    before, after = (f"{one}.metadata.?labels[?'{label}']" for one in ("oldObject", "object"))
    same = f"{before}.hasValue() == {after}.hasValue() && {before}.orValue('')"
    spec = {
        "matchConstraints": {"resourceRules": [_NODES]},
        "matchConditions": [
            {
                "name": "is-no-writer",
                "expression": f"!request.userInfo.username.startsWith('{writers}')",
            }
        ],
        "validations": [
            {
                "expression": f"{same} == {after}.orValue('')",
                "message": f"only users whose names begin with {writers} may add, change or remove "
                f"the label {label} of a node",
            }
        ],
    }
    return _policy_and_binding(name, spec, denies=True)


# The API server converts requests in other versions of the API before it asks.
_DEPLOYMENTS: Object = {
    "apiGroups": ["apps"],
    "apiVersions": ["v1"],
    "operations": ["CREATE", "UPDATE", "DELETE"],
    "resources": ["deployments"],
}
_SLICES: Object = {
    "apiGroups": ["resource.k8s.io"],
    "apiVersions": ["v1"],
    "operations": ["CREATE", "UPDATE", "DELETE"],
    "resources": ["resourceslices"],
}
# A patch is an update too, and labels can be changed by way of the status.
_NODES: Object = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["UPDATE"],
    "resources": ["nodes", "nodes/status"],
}
_PODS: Object = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["UPDATE"],
    "resources": ["pods", "pods/ephemeralcontainers", "pods/resize", "pods/status"],
}


def _is_account(namespace: str, account: str, *, owned: bool = False) -> Object:
    user = f"system:serviceaccount:{namespace}:{account}"
    expression = f"request.userInfo.username == '{user}'"
    if owned:
        expression += f" || request.userInfo.username.startsWith('{user}-')"
    return {"name": "is-the-manager", "expression": expression}


def _variables(**expressions: str) -> list[Object]:
    return [{"name": name, "expression": text} for name, text in expressions.items()]


def _pods(deployment: str) -> str:
    """CEL for the Pods that a Deployment describes: a list of one, or of none where it is not."""
    return f"{deployment} == null ? [] : [{deployment}.spec.template.spec]"


def _on_node(pods: str) -> str:
    return f"variables.{pods}.all(pod, pod.?nodeName.orValue('') == variables.node)"


def _is_own(node: str, message: str) -> Object:
    """Whether a node is that of the Pod whose token was shown; a token may name none."""
    return {
        "expression": f"variables.node != '' && {node} == variables.node",
        "message": message,
    }


# The API server calls the default account by no name in a template, and fills in both names of any
# other one.
_WITH_OWN_ACCOUNT = (
    "pod.?serviceAccountName.orValue('') in ['', 'default']"
    " || request.userInfo.username.endsWith(':' + pod.serviceAccountName)"
)


def _takes_no_secret(containers: str) -> str:
    """CEL: no container of a Pod has a Secret in its environment."""
    values = "one.?env.orValue([]).all(value, !value.?valueFrom.?secretKeyRef.hasValue())"
    sources = "one.?envFrom.orValue([]).all(source, !has(source.secretRef))"
    return f"pod.?{containers}.orValue([]).all(one, {values} && {sources})"


# Whatever a Pod names, the node that it is bound to may read, and so may who is root there.
_WITHOUT_SECRETS = " && ".join(
    [
        "pod.?volumes.orValue([]).all(volume, has(volume.hostPath))",
        "!has(pod.imagePullSecrets)",
        *map(_takes_no_secret, ("initContainers", "containers")),
    ]
)


def _policy_and_binding(name: str, spec: Mapping[str, object], *, denies: bool) -> list[Object]:
    bound = {"policyName": name, "validationActions": ["Deny"] if denies else ["Warn", "Audit"]}
    return [
        _object(_KIND, name, {"failurePolicy": "Fail", **spec}),
        _object(f"{_KIND}Binding", name, bound),
    ]


def _object(kind: str, name: str, spec: Object) -> Object:
    return {"apiVersion": _API, "kind": kind, "metadata": metadata(name), "spec": spec}
