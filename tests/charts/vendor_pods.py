"""Workloads reduced to facts: what runs where, and what it has of the node."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .vendor_lines import Facts, Item, Lines, flat, joined, text

WORKLOADS = ("DaemonSet", "Deployment", "Job")

_UPDATES: dict[str, dict[str, object]] = {
    "DaemonSet": {"maxUnavailable": 1, "maxSurge": 0},
    "Deployment": {"maxUnavailable": "25%", "maxSurge": "25%"},
}
_PROBE = {
    "initialDelaySeconds": 0,
    "periodSeconds": 10,
    "timeoutSeconds": 1,
    "successThreshold": 1,
    "failureThreshold": 3,
}
_DEFAULTS = {
    "automountServiceAccountToken": True,
    "hostIPC": False,
    "hostNetwork": False,
    "hostPID": False,
    "imagePullPolicy": "IfNotPresent",
    "mountPropagation": "None",
    "readOnly": False,
    "shareProcessNamespace": False,
}
_SOURCES = {"hostPath": "host", "configMap": "ConfigMap", "secret": "Secret"}
_NAMED_BY = ("path", "name", "secretName")
_READ_OF_SPECS = ("selector", "replicas", "updateStrategy", "strategy", "template")
_READ_OF_PODS = (
    "affinity",
    "containers",
    "initContainers",
    "nodeSelector",
    "serviceAccountName",
    "tolerations",
    "volumes",
)
_READ_OF_CONTAINERS = (
    "args",
    "command",
    "env",
    "image",
    "livenessProbe",
    "name",
    "readinessProbe",
    "startupProbe",
    "volumeMounts",
)


def workload(item: Item) -> Lines:
    """The facts of a workload, without those of its containers."""
    spec, kind = item["spec"], item["kind"]
    if "selector" in spec:
        yield from flat("selector", spec["selector"]["matchLabels"])
    if kind == "Deployment":
        yield "replicas", text(spec.get("replicas", 1))
    if kind in _UPDATES:
        yield from _updates(_UPDATES[kind], spec.get("updateStrategy") or spec.get("strategy", {}))
    yield from _rest(spec, _READ_OF_SPECS)
    yield from _pod(item["metadata"].get("namespace", ""), spec["template"]["spec"])


def _updates(defaults: Item, given: Item) -> Lines:
    how = given.get("type", "RollingUpdate")
    details = {**defaults, **given.get("rollingUpdate", {})} if how == "RollingUpdate" else {}
    yield "updates", ", ".join([how, *(f"{key} {value}" for key, value in sorted(details.items()))])


def containers(item: Item) -> Facts:
    """The facts of each container of a workload, by what it is called."""
    pod = item["spec"]["template"]["spec"]
    volumes = {one["name"]: one for one in pod.get("volumes", ())}
    found: Facts = {}
    for kind, key in (("init container", "initContainers"), ("container", "containers")):
        for one in pod.get(key, ()):
            found[f"{kind} {one['name']}"] = dict(_container(one, volumes))
    return found


def _pod(space: str, pod: Item) -> Lines:
    yield "account", f"Account {space}/{pod.get('serviceAccountName', 'default')}"
    for key, value in pod.get("nodeSelector", {}).items():
        yield f"needs label {key}", value
    yield from _affinity(pod.get("affinity", {}))
    yield "tolerates", joined(map(_toleration, pod.get("tolerations", ()))) or "nothing"
    every = [*pod.get("initContainers", ()), *pod["containers"]]
    mounted = {mount["name"] for one in every for mount in one.get("volumeMounts", ())}
    for volume in pod.get("volumes", ()):
        if volume["name"] not in mounted:
            yield f"mounted nowhere: {volume['name']}", _source(volume)
    yield from _rest(pod, _READ_OF_PODS)


def _rest(part: Item, read: tuple[str, ...], path: str = "") -> Lines:
    """What nothing else here reads, so that nothing goes unseen, but for what says nothing."""
    rest = {key: one for key, one in part.items() if key not in read}
    said = {key: one for key, one in rest.items() if one not in ({}, "", _DEFAULTS.get(key))}
    return flat(path, said) if said else iter(())


def _toleration(one: Item) -> str:
    parts = (one.get("key"), one.get("operator", "Equal"), one.get("value"), one.get("effect"))
    return " ".join(part for part in parts if part)


def _affinity(affinity: Item) -> Lines:
    for kind, rules in affinity.items():
        needed = rules.get("requiredDuringSchedulingIgnoredDuringExecution")
        if kind == "nodeAffinity" and needed:
            yield "runs on", "; or ".join(sorted(map(_term, needed["nodeSelectorTerms"])))
        elif needed:
            yield from flat(f"needs by {kind}", needed)
        for one in rules.get("preferredDuringSchedulingIgnoredDuringExecution", ()):
            yield f"prefers by {kind}", _preference(one)


def _term(one: Item) -> str:
    return joined(
        " ".join([each["key"], each["operator"], *each.get("values", ())])
        for each in one["matchExpressions"]
    )


def _preference(one: Item) -> str:
    if "preference" in one:
        return _term(one["preference"])
    term = one["podAffinityTerm"]
    labels = " ".join(
        f"{key}={value}" for key, value in term["labelSelector"]["matchLabels"].items()
    )
    return f"{labels} by {term['topologyKey']}"


def _container(one: Item, volumes: Mapping[str, Item]) -> Lines:
    repository, _, tag = one["image"].rpartition(":")
    yield "image", repository
    yield "tag", tag
    yield from _command(one)
    for each in one.get("env") or ():
        yield f"env {each['name']}", _env(each, one["image"])
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        if probe in one:
            yield from _probe(probe, one[probe])
    for mount in one.get("volumeMounts", ()):
        yield from _mount(mount, volumes[mount["name"]])
    yield from _rest(one, _READ_OF_CONTAINERS)


def _command(one: Item) -> Lines:
    """What runs; of a script the program that it starts, and the variables that it reads."""
    words = [*one.get("command", ()), *one.get("args", ())]
    values = {each["name"]: str(each.get("value") or "") for each in one.get("env") or ()}
    if words[1:2] == ["-c"]:
        lines = words[2].replace("\\\n", " ").strip().splitlines()
        # One that it watches has a path; else it becomes its last command.
        last = next((line for line in lines if line.startswith("/")), lines[-1])
        yield "shell", words[0]
        rest = "\n".join(line for line in lines if line != last)
        if read := {*re.findall(r"\$\{?(\w+)", rest)}:
            yield "shell reads", joined(read)
        words = re.sub(r"( 2>&1)?( &)?$", "", last).split()
    command = " ".join(words) or "that of the image"
    yield "command", re.sub(r"\$\((\w+)\)", lambda found: values[found[1]], command)


def _env(each: Item, image: str) -> str:
    if "valueFrom" in each:
        return f"field {each['valueFrom']['fieldRef']['fieldPath']}"
    value = str(each.get("value") or "")
    if each["name"] == "FEATURE_GATES":
        return joined(one for one in value.split(",") if one)
    return "the image" if value == image else value or "empty"


def _probe(name: str, probe: Item) -> Lines:
    timing = {key: probe.get(key, value) for key, value in _PROBE.items()}
    asked = {key: value for key, value in probe.items() if key not in timing}
    yield name, joined(f"{path} {value}" for path, value in flat("", asked))
    yield f"{name}: timing", joined(f"{key} {value}" for key, value in timing.items())


def _mount(mount: Item, volume: Item) -> Lines:
    path = f"mount {mount['mountPath'].rstrip('/')}"
    yield path, _source(volume)
    (details,) = (value for key, value in volume.items() if key != "name")
    yield from _rest(details, _NAMED_BY, path)
    yield from _rest(mount, ("name", "mountPath"), path)


def _source(volume: Item) -> str:
    ((kind, details),) = ((key, value) for key, value in volume.items() if key != "name")
    names = [details[key].rstrip("/") or "/" for key in _NAMED_BY if key in details]
    return " ".join([_SOURCES.get(kind, kind), *names])
