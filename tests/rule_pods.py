"""Manifests of Pods that rules look at, and what the rules say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.cluster_plans import cluster_of

from eks_devices import ClusterPlan, Finding
from eks_devices.workload_check import Document
from eks_devices.workload_check.amounts import amounts_of
from eks_devices.workload_check.claimed import KnownClaims
from eks_devices.workload_check.documents import flattened, frozen
from eks_devices.workload_check.pods import pods_of
from eks_devices.workload_check.report import Remark
from eks_devices.workload_check.rules import RULES, SET_RULES, Context, Whole
from eks_devices.workload_check.rules.own_classes import own_classes
from eks_devices.workload_check.serving import Serving

GPU, NEURON, EFA = "gpu.nvidia.com", "neuron.aws.com", "efa.networking.k8s.aws"
TOLERATIONS = [
    {"key": "nvidia.com/gpu", "operator": "Exists"},
    {"key": "aws.amazon.com/neuron", "operator": "Exists"},
]
P5 = cluster_of({"instance_type": "p5.48xlarge"})
Manifest = dict[str, Any]


def remarks(
    *manifests: Manifest,
    plan: ClusterPlan = P5,
    planned_claims: Sequence[Mapping[str, Any]] = (),
) -> list[Remark]:
    """What all rules say of manifests."""
    documents = list(flattened([Document(origin="file", content=frozen(one)) for one in manifests]))
    known = KnownClaims(documents, planned_claims)
    serving = Serving(plan, ())
    pods = [
        Context(
            pod=pod,
            claims=tuple(known.of(pod)),
            plan=plan,
            groups=serving.reachable(pod, amounts_of(pod)),
            classes=own_classes(documents),
        )
        for document in documents
        for pod in pods_of(document)
    ]
    found = [
        Remark(document=one.given.document, steps=(*one.given.steps, *steps), finding=finding)
        for one in pods
        for rule in RULES
        for steps, finding in rule(one)
    ]
    whole = Whole(documents=documents, pods=pods, planned_claims=planned_claims, plan=plan)
    told = [one for rule in SET_RULES for one in rule(whole)]
    return found + [Remark(document=one, steps=at, finding=what) for one, at, what in told]


def namespace(name: str = "default", **labels: str) -> Manifest:
    """A namespace with labels."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


ADMIN_NAMESPACE = namespace("default", **{"resource.kubernetes.io/admin-access": "true"})


def findings(*manifests: Manifest, **options: Any) -> list[Finding]:
    """What all rules find in manifests."""
    return [one.finding for one in remarks(*manifests, **options)]


def codes(*manifests: Manifest, **options: Any) -> list[str]:
    """The codes of it, without what only tells of EFA's locked memory."""
    found = [one.code for one in findings(*manifests, **options)]
    return [one for one in found if one != "EfaLockedMemory"]


def place(remark: Remark) -> Any:
    """The value in the manifest that a remark is about."""
    value: Any = remark.document.content
    for step in remark.steps:
        value = value[step]
    return value


def container(name: str = "main", **more: Any) -> Manifest:
    """A container."""
    return {"name": name, "image": "example.invalid/train:1", **more}


def limits(**amounts: Any) -> Manifest:
    """The resources of a container by their limits: `gpu=8`, `efa=32`, `hugepages="5120Mi"`."""
    names = {
        "gpu": "nvidia.com/gpu",
        "neuron": "aws.amazon.com/neuron",
        "neuroncore": "aws.amazon.com/neuroncore",
        "efa": "vpc.amazonaws.com/efa",
        "hugepages": "hugepages-2Mi",
    }
    return {"limits": {names.get(name, name): amount for name, amount in amounts.items()}}


def listing(*claims: str) -> Manifest:
    """The resources of a container that lists claims, `gpus` or `gpus/first`."""
    entries = [one.partition("/") for one in claims]
    return {
        "claims": [
            {"name": name, "request": request} if request else {"name": name}
            for name, _, request in entries
        ]
    }


def env(**variables: str) -> list[Manifest]:
    """The environment of a container."""
    return [{"name": name, "value": value} for name, value in variables.items()]


def pod(*containers: Manifest, labels: Manifest | None = None, **spec: Any) -> Manifest:
    """A Pod that tolerates the taints of accelerated nodes."""
    metadata = {"name": "pod", **({"labels": labels} if labels else {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {
            "tolerations": TOLERATIONS,
            "containers": [*containers] or [container()],
            **spec,
        },
    }


def deployment(pod: Manifest, *, replicas: int = 1, kind: str = "Deployment") -> Manifest:
    """A Deployment, or something like one, of a Pod."""
    template = {"metadata": {"labels": pod["metadata"].get("labels", {})}, "spec": pod["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "many"},
        "spec": {"replicas": replicas, "template": template},
    }


def job(pod: Manifest, **spec: Any) -> Manifest:
    """A Job of a Pod."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "job"},
        "spec": {**spec, "template": {"metadata": {}, "spec": pod["spec"]}},
    }


def request(name: str = "first", *, device_class: str = GPU, **more: Any) -> Manifest:
    """A request for devices of a class."""
    return {"name": name, "exactly": {"deviceClassName": device_class, **more}}


def template(*requests: Manifest, name: str = "gpus", **devices: Any) -> Manifest:
    """A ResourceClaimTemplate."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name},
        "spec": {"spec": {"devices": {"requests": [*requests] or [request()], **devices}}},
    }


def claim(*requests: Manifest, name: str = "gpus", **devices: Any) -> Manifest:
    """A ResourceClaim."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name},
        "spec": {"devices": {"requests": [*requests] or [request()], **devices}},
    }


def of_template(name: str = "gpus") -> Manifest:
    """A Pod's claim from a template of its name."""
    return {"name": name, "resourceClaimTemplateName": name}


def of_claim(name: str = "gpus") -> Manifest:
    """A Pod's claim that is a ResourceClaim of its name."""
    return {"name": name, "resourceClaimName": name}


def gpu_pod(**spec: Any) -> Manifest:
    """A Pod whose one container lists its claim from the template `gpus`."""
    return pod(container(resources=listing("gpus")), **{"resourceClaims": [of_template()], **spec})
