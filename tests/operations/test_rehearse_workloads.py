"""Which Pods are rehearsed for the objects of files: how many, and what is played of them."""

from __future__ import annotations

import json
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eks_device_operations._outcome import OperationError
from eks_device_operations.rehearse.files import Item, read_items
from eks_device_operations.rehearse.rehearsal import not_played
from eks_device_operations.rehearse.send import Refusal
from eks_device_operations.rehearse.unplayed import why_left_out
from eks_device_operations.rehearse.workloads import MARK, split

POD = "{spec: {containers: [{name: c, image: i}]}}"


@pytest.fixture
def read(tmp_path):
    """The items of a YAML text."""

    def read(text, name="jobs.yaml"):
        file = tmp_path / name
        file.write_text(textwrap.dedent(text), encoding="utf-8")
        return read_items([str(file)]).items

    return read


@pytest.fixture
def workloads(read):
    return lambda text: split(read(text), namespace="lab")[0]


def names(workload):
    return [one["metadata"]["name"] for one in workload.objects]


KINDS = [
    (f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec: {POD[7:-1]}", 1),
    (f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec: {{template: {POD}}}", 1),
    (
        (
            "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a}\n"
            f"spec: {{replicas: 3, template: {POD}}}"
        ),
        3,
    ),
    (
        (
            "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n"
            f"spec: {{parallelism: 5, completions: 2, template: {POD}}}"
        ),
        2,
    ),
    (
        (
            "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n"
            f"spec: {{suspend: true, parallelism: 5, template: {POD}}}"
        ),
        0,
    ),
    (
        (
            "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\n"
            f"spec: {{jobTemplate: {{spec: {{parallelism: 2, template: {POD}}}}}}}"
        ),
        2,
    ),
    (
        f"apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {{name: a}}\nspec: {{template: {POD}}}",
        None,
    ),
]


@pytest.mark.parametrize(("text", "count"), KINDS)
def test_kubernetes_own_kinds_are_sent_as_they_are(workloads, text, count):
    (found,) = workloads(text)

    (sent,) = found.objects
    assert sent["metadata"]["namespace"] == found.namespace == "lab"
    assert found.wanted == count
    assert sent["kind"] == ("Job" if "CronJob" in text else found.item.kind)
    assert MARK in str(sent)


EXPANDED = [
    (
        f"""
        apiVersion: kubeflow.org/v2beta1
        kind: MPIJob
        metadata: {{name: m}}
        spec:
          mpiReplicaSpecs:
            Launcher: {{template: {POD}}}
            Worker: {{replicas: 2, template: {POD}}}
        """,
        ["m-launcher-0", "m-worker-0", "m-worker-1"],
    ),
    (
        f"""
        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {{name: p}}
        spec:
          pytorchReplicaSpecs:
            Master: {{replicas: 1, template: {POD}}}
            Worker: {{replicas: 1, template: {POD}}}
        """,
        ["p-master-0", "p-worker-0"],
    ),
    (
        f"""
        apiVersion: ray.io/v1
        kind: RayCluster
        metadata: {{name: r}}
        spec:
          headGroupSpec: {{template: {POD}}}
          workerGroupSpecs:
          - {{groupName: gpu, replicas: 1, numOfHosts: 2, template: {POD}}}
          - {{groupName: none, template: {POD}}}
          - {{groupName: least, replicas: 0, minReplicas: 1, template: {POD}}}
          - {{groupName: stopped, suspend: true, replicas: 3, template: {POD}}}
        """,
        ["r-head-0", "r-gpu-worker-0", "r-gpu-worker-1", "r-least-worker-0"],
    ),
    (
        f"""
        apiVersion: leaderworkerset.x-k8s.io/v1
        kind: LeaderWorkerSet
        metadata: {{name: l}}
        spec: {{replicas: 2, leaderWorkerTemplate: {{size: 2, workerTemplate: {POD}}}}}
        """,
        ["l-leader-0", "l-leader-1", "l-worker-0", "l-worker-1"],
    ),
    (
        f"""
        apiVersion: jobset.x-k8s.io/v1alpha2
        kind: JobSet
        metadata: {{name: s}}
        spec:
          replicatedJobs:
          - {{name: w, replicas: 2, template: {{spec: {{parallelism: 2, template: {POD}}}}}}}
        """,
        ["s-w-0", "s-w-1", "s-w-2", "s-w-3"],
    ),
    (
        f"""
        apiVersion: example.com/v1
        kind: Anything
        metadata: {{name: Odd.Name}}
        spec: {{some: [{{where: {POD}}}]}}
        """,
        ["odd.name-0-0"],
    ),
]


@pytest.mark.parametrize(("text", "expected"), EXPANDED)
def test_kinds_without_a_controller_here_become_their_pods(workloads, text, expected):
    (found,) = workloads(text)

    assert names(found) == expected
    assert found.wanted == len(expected)
    assert {one["kind"] for one in found.objects} == {"Pod"}
    assert {one["metadata"]["annotations"][MARK] for one in found.objects} == {"0"}
    assert found.notes


def test_a_train_job_takes_the_pods_of_its_runtime_with_its_own_words(workloads):
    (found,) = workloads(
        """
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: torch}
        spec:
          mlPolicy: {numNodes: 1}
          template:
            spec:
              replicatedJobs:
              - name: node
                template: {spec: {template: {spec: {containers: [{name: node, image: i}]}}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: t}
        spec:
          runtimeRef: {name: torch}
          trainer: {numNodes: 3, resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}
          podTemplateOverrides:
          - {targetJobs: [{name: node}], spec: {nodeSelector: {a: b}}}
          - {targetJobs: [{name: other}], spec: {nodeSelector: {c: d}}}
        """
    )

    assert names(found) == ["t-node-0", "t-node-1", "t-node-2"]
    spec = found.objects[0]["spec"]
    assert spec["containers"] == [
        {"name": "node", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 8}}}
    ]
    assert spec["nodeSelector"] == {"a": "b"}


def test_what_a_train_job_changes_is_joined_with_what_its_runtime_has(workloads):
    (found,) = workloads(
        """
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: torch}
        spec:
          template:
            spec:
              replicatedJobs:
              - name: workers
                template:
                  metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                  spec:
                    template:
                      spec:
                        tolerations: [{key: a}]
                        containers: [{name: node, image: i}, {name: log, image: j}]
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: t}
        spec:
          runtimeRef: {name: torch}
          trainer: {numNodes: 2, image: mine}
          podTemplateOverrides:
          - metadata: {labels: {c: d}}
            spec: {tolerations: [{key: b}], containers: [{name: log, env: [{name: X}]}]}
        """
    )

    assert names(found) == ["t-workers-0", "t-workers-1"]
    made = found.objects[0]
    assert made["metadata"]["labels"] == {"c": "d"}
    assert made["spec"]["tolerations"] == [{"key": "a"}, {"key": "b"}]
    assert made["spec"]["containers"] == [
        {"name": "node", "image": "mine"},
        {"name": "log", "image": "j", "env": [{"name": "X"}]},
    ]


def test_a_train_job_without_its_runtime_says_so(workloads):
    (found,) = workloads(
        """
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: t}
        spec:
          runtimeRef: {name: torch}
          trainer: {numNodes: 2, resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}
        """
    )

    assert found.wanted == 2
    assert "no file has its runtime torch" in found.notes[0]


def test_a_train_job_with_a_misspelt_runtime_is_told_which_it_may_mean(workloads):
    (found,) = workloads(
        """
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainingRuntime
        metadata: {name: torch}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: t, namespace: lab}
        spec: {runtimeRef: {name: torhc, kind: TrainingRuntime}}
        """
    )

    assert found.notes[0].endswith("; did you mean torch?")


def test_a_train_job_without_the_name_of_a_runtime_is_told_so(workloads):
    (found,) = workloads(
        """
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: t}
        spec: {trainer: {image: i}}
        """
    )

    assert found.notes[0].startswith("it names no runtime, so its Pods")


def test_a_runtime_without_a_namespace_is_in_that_of_the_rehearsal(workloads):
    (found,) = workloads(
        """
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainingRuntime
        metadata: {name: torch}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: t, namespace: other}
        spec: {runtimeRef: {name: torch, kind: TrainingRuntime}}
        """
    )

    assert "in the namespace lab; TrainJobs use their own" in found.notes[0]


def test_storage_is_played_and_a_fixed_node_left_out(workloads):
    pod, sets = workloads(
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: a}
        spec:
          nodeName: somewhere
          containers: [{name: c, image: i}]
          volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
        ---
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: {name: b}
        spec:
          volumeClaimTemplates: [{metadata: {name: data}}]
          template: {spec: {containers: [{name: c, image: i}]}}
        """
    )

    assert pod.objects[0]["spec"]["volumes"] == [{"name": "data", "emptyDir": {}}]
    assert "nodeName" not in pod.objects[0]["spec"]
    assert len(pod.notes) == 2
    spec = sets.objects[0]["spec"]
    assert "volumeClaimTemplates" not in spec
    assert spec["template"]["spec"]["volumes"] == [{"name": "data", "emptyDir": {}}]


def test_the_files_own_values_stay_as_they_are(read):
    (item,) = read(
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: a}
        spec: {nodeName: there, containers: [{name: c, image: i}]}
        """
    )

    split([item], namespace="lab")

    assert item.content["spec"]["nodeName"] == "there"
    assert item.content["metadata"] == {"name": "a"}


def test_items_of_lists_have_their_own_lines(read):
    items = read(
        """\
        apiVersion: v1
        kind: List
        items:
        - apiVersion: v1
          kind: Namespace
          metadata: {name: a}
        - apiVersion: v1
          kind: Namespace
          metadata:
            name: b
        """
    )

    assert [one.place.rpartition(":")[2] for one in items] == ["4", "7"]
    assert items[1].line(("metadata", "name")) == 10


def test_what_a_server_added_is_left_out(read):
    (item,) = read(
        """
        apiVersion: v1
        kind: Pod
        metadata:
          {name: a, uid: u, resourceVersion: "1", ownerReferences: [{}], labels: {k: v}}
        spec: {containers: []}
        status: {phase: Running}
        """
    )

    assert item.content["metadata"] == {"name": "a", "labels": {"k": "v"}}
    assert "status" not in item.content


def test_dates_are_texts_and_keys_too(read):
    (item,) = read(
        """
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: a}
        data: {on: 2026-12-01, 2: x}
        """
    )

    assert item.content["data"] == {"true": "2026-12-01", "2": "x"}


BOMB = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: b", "no object of Kubernetes"),
        ("- a", "no object of Kubernetes"),
        ("just words", "no object of Kubernetes"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {}", "no object of Kubernetes"),
        ("apiVersion: v1\nkind: 5\nmetadata: {name: a}", "no object of Kubernetes"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: 7}", "no object"),
        ("apiVersion: v1\nkind: List\nitems: [{kind: Pod}]", "no object of Kubernetes"),
        ("a: &a [*a]", "no YAML that Kubernetes reads"),
        (BOMB, "more than 100000 values"),
        ("a: {{ .Values.x }}", "a template and no manifest yet"),
        ("", "hold no object"),
        ("---\n---\n", "hold no object"),
    ],
)
def test_files_without_objects_are_told(read, text, said):
    with pytest.raises(OperationError, match=said) as caught:
        read(text)

    assert caught.value.code in (1, 2)


def test_in_folders_what_is_no_object_is_passed_over_and_told(tmp_path):
    (tmp_path / "jobs").mkdir()
    (tmp_path / "cdk.out").mkdir()
    pod = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec: {POD[7:-1]}"
    for place, text in (("jobs/pod.yaml", pod), ("values.yaml", "a: b"), ("cdk.out/x.json", "{}")):
        (tmp_path / place).write_text(text, encoding="utf-8")

    found = read_items([str(tmp_path)], without=str(tmp_path / "cdk.out"))

    assert [str(one) for one in found.items] == ["Pod a"]
    (note,) = found.notes
    assert "values.yaml:1: this is no object of Kubernetes" in note


def test_a_key_that_stands_twice_is_told(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: a, name: b}", encoding="utf-8")

    (note,) = read_items([str(file)]).notes

    assert f"{file}:3" in note


def test_every_file_that_cannot_be_read_is_told(tmp_path):
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("a: b", encoding="utf-8")

    with pytest.raises(OperationError) as caught:
        read_items([str(tmp_path / "none.yaml"), str(wrong)])

    assert len(caught.value.messages) == 2
    assert caught.value.code == 2


@pytest.mark.parametrize(
    "text",
    [
        (
            f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\n"
            f"spec: {{replicas: 1000000000, template: {POD}}}"
        ),
        (
            "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: a}\n"
            f"spec: {{replicas: 1000000000, leaderWorkerTemplate: {{workerTemplate: {POD}}}}}"
        ),
    ],
)
def test_more_pods_than_are_rehearsed_are_told_at_once(workloads, text):
    with pytest.raises(OperationError, match=r"jobs.yaml:1: .* more than 20000 Pods"):
        workloads(text)


WORDS = (
    *("spec", "template", "metadata", "labels", "annotations", "containers", "initContainers"),
    *("volumes", "persistentVolumeClaim", "replicas", "parallelism", "completions", "suspend"),
    *("jobTemplate", "volumeClaimTemplates", "mpiReplicaSpecs", "Worker", "headGroupSpec"),
    *("workerGroupSpecs", "groupName", "numOfHosts", "leaderWorkerTemplate", "size"),
    *("workerTemplate", "replicatedJobs", "runtimeRef", "trainer", "numNodes", "name"),
    *("resourcesPerNode", "podTemplateOverrides", "podSpecOverrides", "targetJobs", "runPolicy"),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 9), st.sampled_from(("", "a", "node"))),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(WORDS), inner, max_size=4)
    ),
    max_leaves=25,
)
EVERY_KIND = (
    *(("v1", "Pod"), ("apps/v1", "StatefulSet"), ("batch/v1", "CronJob"), ("batch/v1", "Job")),
    *(("kubeflow.org/v1", "MPIJob"), ("ray.io/v1", "RayCluster"), ("ray.io/v1", "RayService")),
    *(("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"), ("jobset.x-k8s.io/v1", "JobSet")),
    *(("trainer.kubeflow.org/v1alpha1", "TrainJob"), ("example.com/v1", "Other")),
)


@given(kind=st.sampled_from(EVERY_KIND), spec=VALUES)
@settings(max_examples=100, deadline=None)
def test_whatever_a_spec_holds_ends_in_objects(kind, spec):
    version, name = kind
    content = {"apiVersion": version, "kind": name, "metadata": {"name": "a"}, "spec": spec}

    workloads, others = split([Item(file="f", content=content)], namespace="lab")

    assert len(workloads) + len(others) == 1
    for one in workloads:
        json.dumps(one.objects)
        if one.objects and one.item.kind not in ("StatefulSet", "CronJob", "Job", "Pod"):
            assert one.wanted == len(one.objects)


def test_a_runtime_by_which_pods_are_made_is_not_said_to_be_left_out(read):
    items = read(
        """
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: torch}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: other}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: t}
        spec: {runtimeRef: {name: torch}}
        """
    )
    workloads, others = split(items, namespace="lab")
    passed_over = [Refusal(item=one, line=1, message="unknown here") for one in others]

    assert [
        str(one.item) for one in not_played(passed_over, workloads, others, namespace="lab")
    ] == ["ClusterTrainingRuntime other"]


@pytest.mark.parametrize(
    ("api", "kind", "why"),
    [
        ("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", "no TrainJob of the files names it"),
        ("trainer.kubeflow.org/v1alpha1", "Other", "of trainer.kubeflow.org these are: TrainJob"),
        ("ray.io/v1", "Other", "these are: RayCluster, RayJob, RayService"),
        ("karpenter.sh/v1", "NodePool", "objects of karpenter.sh are not played here"),
        ("v1", "Node", "the nodes are those of the plan"),
        ("v1", "ConfigMap", ""),
    ],
)
def test_why_an_object_is_left_out_says_what_is_played_of_its_kind(api, kind, why):
    item = Item(file="a", content={"apiVersion": api, "kind": kind, "metadata": {"name": "a"}})

    said = why_left_out(item, {""})

    assert why in said
    assert bool(said) == bool(why)
