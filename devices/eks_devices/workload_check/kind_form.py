"""What API servers refuse of Kubernetes' own kinds that make Pods, however their devices are asked.

Only what is often left out or copied wrong: restart policies, selectors, misspelt ways to the Pod.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .._yaml_text import AsYaml, wrong_in_manifest
from ..findings import Finding, alike, fault, warning
from ..typecheck import is_token
from .documents import Document, Steps, mapping, mappings, path_of, sequence
from .pods import PodTemplate

Told = tuple[Steps, Finding]

_SELECTOR: Final[Steps] = ("spec", "selector")
_SPEC: Final = ("spec",)
_TEMPLATE: Final = ("spec", "template", "spec")
_CRON: Final = ("spec", "jobTemplate", *_TEMPLATE)
_CONTROLLERS: Final = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
_PODS_AT: Final[Mapping[tuple[str, str], Steps]] = {
    ("", "Pod"): _SPEC,
    ("batch", "Job"): _TEMPLATE,
    ("batch", "CronJob"): _CRON,
    **{("apps", kind): _TEMPLATE for kind in _CONTROLLERS},
}
_VERSIONS: Final = {kind: f"{group}/v1" if group else "v1" for group, kind in _PODS_AT}
# Those of versions that are gone, too.
_OWN_GROUPS: Final = ("", "apps", "batch", "extensions")
_VERSION: Final[Steps] = ("apiVersion",)
_CONTAINERS: Final = "containers"
_OF_POD: Final = ("resourceClaims", "tolerations", "nodeSelector", "affinity")
# What holds the Pods of kinds of others, in their spec.
_PARTS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    **{
        ("kubeflow.org", kind): (field,)
        for kind, field in (
            ("MPIJob", "mpiReplicaSpecs"),
            ("PyTorchJob", "pytorchReplicaSpecs"),
            ("TFJob", "tfReplicaSpecs"),
            ("JAXJob", "jaxReplicaSpecs"),
            ("PaddleJob", "paddleReplicaSpecs"),
            ("XGBoostJob", "xgbReplicaSpecs"),
        )
    },
    ("ray.io", "RayCluster"): ("headGroupSpec", "workerGroupSpecs"),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): ("leaderWorkerTemplate",),
    ("jobset.x-k8s.io", "JobSet"): ("replicatedJobs",),
}
_ALWAYS, _JOBS = ("Always",), ("Never", "OnFailure")
_POLICIES: Final = {"Pod": (*_ALWAYS, *_JOBS), "Job": _JOBS, "CronJob": _JOBS}
_JOB_PAGE: Final = "https://kubernetes.io/docs/concepts/workloads/controllers/job/"
_PAGE: Final = "https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#selector"


def kind_findings(pod: PodTemplate) -> Iterator[Told]:
    """What the API server has against an object for its kind, with the steps from the object.

    It decides nothing about devices, and a patch is no whole object: these are warnings.

    Args:
        pod: The template.
    """
    yield from _version_faults(pod.document)
    yield from _above(pod)
    if _PODS_AT.get((pod.document.api_group, pod.document.kind)) != pod.steps:
        return
    without = [one for one in pod.containers if not one.content.get("image")]
    if without:
        yield _no_image(pod, without[0].steps, without[0].name)
        return
    yield from _policy_faults(pod)
    if pod.document.kind in _CONTROLLERS:
        yield from _selector_faults(pod)


def _version_faults(document: Document) -> Iterator[Told]:
    """A kind of Kubernetes' own in a version that no server has; others' may have its name."""
    served, given = _VERSIONS.get(document.kind), document.content.get("apiVersion")
    is_own = document.api_group in _OWN_GROUPS and not is_token(given)
    if served and given != served and is_own:
        message = f"the API server has no {document.kind} of {AsYaml(given)!r}"
        fix = f"write apiVersion: {served}"
        yield _VERSION, warning("MalformedWorkload", path_of(_VERSION), message, fix=fix)


def _above(pod: PodTemplate) -> Iterator[Told]:
    """Where Pods run, and what they claim, above the spec of the Pods that it is about."""
    own, spec = (pod.document.api_group, pod.document.kind) in _PODS_AT, pod.steps
    # Other kinds may have such fields of their own, but for the template of Pods.
    for level in range(0 if own else len(spec) - 1, len(spec)):
        owner: Any = pod.document.content
        for step in spec[:level]:
            owner = owner[step]
        for name in _OF_POD if isinstance(owner, Mapping) else ():
            if name in owner:
                yield _misplaced((*spec[:level], name), spec)


def _misplaced(steps: Steps, spec: Steps) -> Told:
    return steps, fault(
        "MisplacedClaimField",
        path_of(steps),
        "the API server knows no such field here, and it does nothing",
        got=AsYaml(steps[-1]),
        allowed=path_of((*spec, steps[-1])),
        fix=f"move it to {path_of(spec)}, beside containers",
    )


def _no_image(pod: PodTemplate, steps: Steps, name: str) -> Told:
    at = (*pod.steps, *steps)
    message = f"the container {name[:63]} has no image, which the API server refuses"
    fix = "name its image; if this is a patch, look at what it makes: kubectl kustomize"
    return at, warning("ImageMissing", path_of(at), message, fix=fix)


def _policy_faults(pod: PodTemplate) -> Iterator[Told]:
    given, kind = pod.spec.get("restartPolicy"), pod.document.kind
    allowed = _POLICIES.get(kind, _ALWAYS)
    if is_token(given) or given in allowed or (given is None and _ALWAYS[0] in allowed):
        return
    at = (*pod.steps, "restartPolicy")
    near = alike(given, allowed)[:1] if given else []
    found = f"restartPolicy: {given!s:.40}" if given else "no restartPolicy, which is Always,"
    message = f"the API server refuses a {kind} with {found} in its Pods"
    fix = f"write restartPolicy: {(near or allowed)[0]}"
    yield at, warning("MalformedWorkload", path_of(at), message, fix=fix, source=_JOB_PAGE)


def _selector_faults(pod: PodTemplate) -> Iterator[Told]:
    selector, labels = mapping(pod.document.content, "spec").get("selector"), _labels(pod)
    if is_token(selector) or is_token(labels):
        return
    if not isinstance(selector, Mapping) or not selector:
        message = "the API server takes no such object without a selector"
        yield _wrong_selector(labels, message)
    elif not _selects(selector, labels):
        message = "its selector is not that of the template's labels, which the API server refuses"
        yield _wrong_selector(labels, message)


def _labels(pod: PodTemplate) -> Any:
    return {} if (found := pod.metadata.get("labels")) is None else found


def _selects(selector: Mapping[str, Any], labels: Any) -> bool:
    """Whether a selector holds for labels; what nobody can read is taken to hold."""
    has = labels if isinstance(labels, Mapping) else {}
    wanted = mapping(selector, "matchLabels").items()
    if not all(
        is_token(one) or is_token(has.get(key)) or has.get(key) == one for key, one in wanted
    ):
        return False
    return all(_holds(one, has) for _, one in mappings(selector, "matchExpressions"))


def _holds(expression: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    has, values = labels.get(str(expression.get("key"))), sequence(expression, "values")
    return {
        "In": has in values,
        "NotIn": has not in values,
        "Exists": has is not None,
        "DoesNotExist": has is None,
    }.get(str(expression.get("operator")), True)


def _wrong_selector(labels: Any, message: str) -> Told:
    fix = "give the template labels, and write them as matchLabels: of spec.selector"
    if isinstance(labels, Mapping) and labels:
        fix = f"write matchLabels: {AsYaml(labels)!r}"
    path = path_of(_SELECTOR)
    return _SELECTOR, warning("MalformedWorkload", path, message, fix=fix, source=_PAGE)


def lost_pods(document: Document) -> Iterator[Told]:
    """Why no Pod is found where an object has them: a misspelt field, or no list of containers.

    What has no such field at all may be a patch.

    Args:
        document: An object of any kind.
    """
    key = document.api_group, document.kind
    spec = mapping(document.content, "spec")
    for part in _PARTS.get(key, ()):
        if part not in spec:
            known = {name: one for name, one in spec.items() if name not in _PARTS[key]}
            yield from _misspelt(known, _SPEC, part)
    way = _PODS_AT.get(key)
    owner: Any = document.content
    names: Steps = (*way, _CONTAINERS) if way else ()
    for at, name in enumerate(names):
        if not isinstance(owner, Mapping):
            return
        if name not in owner:
            yield from _misspelt(owner, names[:at], str(name))
            return
        owner = owner[name]
    if way and not _are_containers(owner):
        fix = "write a list: - name: ..., and the image below it"
        yield names, wrong_in_manifest(path_of(names), owner, "a list of containers", fix)


def _are_containers(value: Any) -> bool:
    """Whether a value is a list with containers; what nobody can read is taken for one."""
    if is_token(value):
        return True
    given = value if isinstance(value, (list, tuple)) else ()
    return any(isinstance(one, Mapping) or is_token(one) for one in given)


def _misspelt(owner: Mapping[str, Any], steps: Steps, name: str) -> Iterator[Told]:
    near = [one for one in owner if isinstance(one, str) and alike(one, [name])]
    for one in near[:1]:
        at = (*steps, one)
        yield (
            at,
            fault(
                "UnknownField",
                path_of(at),
                "the API has no such field, so nobody makes the Pods below it",
                got=AsYaml(one),
                allowed=name,
                fix=f"did you mean {name}?",
            ),
        )
