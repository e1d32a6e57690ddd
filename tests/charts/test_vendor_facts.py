"""What the reduction of Kubernetes objects to facts sees, and how facts are compared."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from .vendor_differences import Decision, Difference, differences
from .vendor_facts import facts

# What may change without a fact: what things are called or told, and not what they do.
UNSEEN = re.compile(
    r".*: metadata\.labels\..*"
    r"|\w+: spec\.template\.metadata\.(labels|annotations)\..*"
    r"|(ServiceAccount|\w*Role|\w*RoleBinding|\w+PolicyBinding): apiVersion"
    r"|\w+Binding: (metadata\.name|roleRef\.apiGroup|subjects\.\*\.kind)"
    r"|CustomResourceDefinition: .*\.x-kubernetes-validations\.\*\.message"
    r"|ValidatingWebhookConfiguration: webhooks\.\*\.(name|clientConfig\.caBundle)"
    r"|ValidatingAdmissionPolicy: spec\.(matchConditions\.\*\.name|validations\.\*\.message)"
)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of the plain values."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in pairs:
            yield from leaves(inner, (*path, key))
    else:
        yield path


def changed(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else f"x{value}"


def with_change(items: list[dict[str, Any]], number: int, path: tuple[Any, ...]) -> list[Any]:
    """The objects with another value in one place."""
    one: Any = copy.deepcopy(items[number])
    inner = one
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = changed(inner[path[-1]])
    return [*items[:number], one, *items[number + 1 :]]


def is_seen(items: list[dict[str, Any]], number: int, path: tuple[Any, ...]) -> bool:
    """Whether the facts change, or the objects no longer fit together."""
    try:
        return facts(with_change(items, number, path)) != facts(items)
    except (AttributeError, KeyError, ValueError, yaml.YAMLError):
        return True


@pytest.mark.parametrize(
    "name",
    [
        "compute-domain-dra",
        "gpu-dra-time-slicing",
        "gpu-dra-mps",
        "gpu-dra-passthrough",
        "gpu-device-plugin-time-slicing",
        "gpu-device-plugin-mps",
        "gpu-device-plugin-options",
        "gpu-device-plugin-mig",
        "nvidia-guarded",
        "neuron-dra",
        "neuron-device-plugin",
        "efa-dra",
        "efa-device-plugin",
    ],
)
def test_every_change_of_what_an_object_does_changes_a_fact(manifests, name):
    items = manifests(name, version="1.36")
    unseen = {
        f"{item['kind']}: {'.'.join('*' if isinstance(key, int) else key for key in path)}"
        for number, item in enumerate(items)
        for path in leaves(item)
        if not is_seen(items, number, path)
    }

    assert unseen
    assert [one for one in sorted(unseen) if not UNSEEN.fullmatch(one)] == []


def workload(kind: str = "DaemonSet", *, container: dict[str, Any] | None = None, **pod: Any):
    one = {"name": "main", "image": "registry.example/tool:v1"} | (container or {})
    spec = {"template": {"spec": {"containers": [one], **pod}}}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "tool"}, "spec": spec}


def test_what_the_api_server_fills_in_is_no_difference():
    terse = workload(volumes=[{"name": "a", "hostPath": {"path": "/a"}}])
    terse["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = [
        {"name": "a", "mountPath": "/a"}
    ]
    verbose = workload(
        container={
            "imagePullPolicy": "IfNotPresent",
            "resources": {},
            "securityContext": {},
            "volumeMounts": [
                {"name": "b", "mountPath": "/a/", "readOnly": False, "mountPropagation": "None"}
            ],
        },
        volumes=[{"name": "b", "hostPath": {"path": "/a", "type": ""}}],
        hostNetwork=False,
        automountServiceAccountToken=True,
        nodeSelector=None,
    )
    verbose["spec"]["updateStrategy"] = {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 1},
    }

    assert facts([terse]) == facts([verbose])


def test_a_script_is_the_command_that_it_ends_with():
    script = 'if [ "${MASK}" = "1" ]; then\n  mask it\nfi\nplugin -v $(LEVEL)\n'
    shell = {"command": ["bash", "-c"], "args": [script], "env": [{"name": "LEVEL", "value": "4"}]}

    found = facts([workload(container=shell)])["DaemonSet tool, container main"]

    assert found["shell"] == "bash"
    assert found["command"] == "plugin -v 4"
    assert found["shell reads"] == "MASK"


def test_a_script_that_watches_its_program_is_that_program():
    script = (
        "echo start\n/tool \\\n  --config=a 2>&1 &\nPID=$!\nwhile true; do\n  kill -0 $PID\ndone\n"
    )

    found = facts([workload(container={"command": ["/bin/sh", "-c", script]})])

    assert found["DaemonSet tool, container main"]["command"] == "/tool --config=a"
    assert found["DaemonSet tool, container main"]["shell reads"] == "PID"


def test_an_account_may_what_a_role_of_kubernetes_itself_says():
    def binding(role):
        return {
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "b", "namespace": "ignored"},
            "roleRef": {"kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": "a", "namespace": "n"}],
        }

    for role in ("system:basic", "extension-apiserver-authentication-reader"):
        assert facts([binding(role)]) == {
            "Account n/a": {f"may everywhere: what {role} may": "yes"}
        }
    with pytest.raises(ValueError, match="not enough values"):
        facts([binding("of-nobody")])


def test_an_account_may_what_its_roles_say_together():
    def role(kind, verbs, **meta):
        rule = {"apiGroups": [""], "resources": ["pods"], "verbs": verbs}
        return {"kind": kind, "metadata": {"name": "r", **meta}, "rules": [rule]}

    def binding(kind, **meta):
        return {
            "kind": f"{kind}Binding",
            "metadata": {"name": "b", **meta},
            "roleRef": {"kind": kind, "name": "r"},
            "subjects": [{"kind": "ServiceAccount", "name": "a", "namespace": "n"}],
        }

    roles = [role("ClusterRole", ["list"]), role("Role", ["get"], namespace="n")]
    bindings = [binding("ClusterRole"), binding("Role", namespace="n"), binding("ClusterRole")]

    assert facts([*roles, *bindings]) == {
        "Account n/a": {"may everywhere: core/pods": "list", "may in n: core/pods": "get"}
    }


def selecting(expression: str) -> dict[str, Any]:
    """A DeviceClass."""
    spec = {"selectors": [{"cel": {"expression": expression}}]}
    return {"apiVersion": "v1", "kind": "DeviceClass", "metadata": {"name": "c"}, "spec": spec}


def test_a_selector_that_is_not_understood_is_an_error():
    found = facts([selecting("device.driver == 'a.b' && device.attributes['a.b'].id == 0")])

    assert found["DeviceClass c"]["selects driver"] == "a.b"
    assert found["DeviceClass c"]["selects a.b/id"] == "0"
    with pytest.raises(ValueError, match="another form: device"):
        facts([selecting("device.driver != 'a.b'")])


def test_quotes_and_lines_of_a_selector_say_nothing():
    one_line = "device.driver == 'a.b' && device.attributes['a.b'].kind == 'x (y)'"
    lines = 'device.driver == "a.b" &&\n  device.attributes["a.b"].kind == \'x (y)\'\n'

    assert facts([selecting(lines)]) == facts([selecting(one_line)])


def test_what_one_side_lacks_is_a_difference():
    theirs = {"DaemonSet a": {"x": "1"}, "DaemonSet a, container b": {"x": "1"}, "Service s": {}}
    ours = {"DaemonSet a": {"y": "1"}, "DaemonSet o": {}, "DaemonSet o, container b": {}}

    assert {str(one) for one in differences(theirs, ours, {})} == {
        "DaemonSet a: x: 1 -> absent",
        "DaemonSet a: y: absent -> 1",
        "DaemonSet a, container b: present -> absent",
        "Service s: present -> absent",
        "DaemonSet o: absent -> present",
    }


def test_two_of_ours_that_are_one_of_theirs_are_each_compared():
    theirs = {"DaemonSet both": {"priority": "high", "account": "Account n/theirs"}}
    ours = {
        "DaemonSet first-0123abcd": {"priority": "high", "account": "Account n/one"},
        "DaemonSet second": {"priority": "low", "account": "Account n/two"},
        "Account n/one": {"may everywhere: core/pods": "get, list"},
        "Account n/two": {"may everywhere: core/pods": "watch"},
    }
    names = {
        "DaemonSet first": "DaemonSet both",
        "DaemonSet second": "DaemonSet both",
        "Account n/one": "Account n/theirs",
        "Account n/two": "Account n/theirs",
    }
    theirs["Account n/theirs"] = {"may everywhere: core/pods": "get, list, watch"}

    assert differences(theirs, ours, names) == {
        Difference(what="DaemonSet both: priority", vendor="high", ours="low")
    }


def test_a_container_is_compared_with_that_of_another_name():
    ours = {"DaemonSet a": {}, "DaemonSet a, container b": {"x": "1"}}
    theirs = {"DaemonSet z": {}, "DaemonSet z, container y": {"x": "2"}}
    names = {"DaemonSet a": "DaemonSet z", "DaemonSet a, container b": "DaemonSet z, container y"}

    assert {str(one) for one in differences(theirs, ours, names)} == {
        "DaemonSet z, container y: x: 2 -> 1"
    }


ABSENT_X = Difference(what="DaemonSet a: env X", vendor="1", ours="absent")


@pytest.mark.parametrize(
    ("what", "vendor", "ours", "covers"),
    [
        ("DaemonSet a: env X", "1", "absent", True),
        ("DaemonSet *: env X", "*", "absent", True),
        ("DaemonSet a: env X", "2", "absent", False),
        ("DaemonSet a: env X", "1", "*t present", False),
        ("DaemonSet a: env [X]", "1", "absent", False),
    ],
)
def test_a_row_covers_the_path_and_the_values_that_it_names(what, vendor, ours, covers):
    row = Decision(chart="c", what=what, vendor=vendor, ours=ours, why="", source="")

    assert row.covers("c", "default", ABSENT_X) is covers


@pytest.mark.parametrize(
    ("sets", "covered"), [((), ["one", "other"]), (["one"], ["one"]), (["third"], [])]
)
def test_a_row_covers_the_feature_sets_that_it_names_or_all(sets, covered):
    row = Decision(chart="c", what="*", vendor="1", ours="absent", why="", source="", sets=sets)

    assert [one for one in ("one", "other") if row.covers("c", one, ABSENT_X)] == covered
    assert not row.covers("another chart", "one", ABSENT_X)
