"""Whether the Pods of a template may be on a node at all, whatever devices it has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from ..names import DEFAULT_SCHEDULER, NEURON_SCHEDULER
from ..plans import ClusterPlan
from .affinity import label_obstacles
from .affinity_form import affinity_faults
from .documents import mapping, text_of
from .label_hints import Hints
from .nodes import GroupNode, Obstacle
from .pods import PodTemplate
from .tolerations import Toleration, taint_obstacles, tolerations_of

_READ: Final = ("nodeSelector", "affinity", "nodeName", "schedulerName", "os")


class Reach:
    """Tells what keeps Pods off nodes; Pods that say the same are looked at once.

    Args:
        plan: The node groups.
        nodes: Their nodes.
    """

    def __init__(self, plan: ClusterPlan, nodes: Collection[GroupNode]) -> None:
        self._nodes = nodes
        self._hints = Hints(nodes)
        self._has_neuron_scheduler = plan.neuron.scheduler_extension
        self._known: dict[Any, tuple[tuple[Obstacle, ...], ...]] = {}

    def obstacles(
        self, pod: PodTemplate, resources: tuple[str, ...]
    ) -> tuple[tuple[Obstacle, ...], ...]:
        """What keeps the Pods of a template off each node.

        Args:
            pod: The template.
            resources: The extended resources that its Pods ask for.
        """
        key = self.key(pod, resources)
        if key not in self._known:
            tolerations = tolerations_of(pod, resources)
            # Affinity that the API server refuses says nothing of nodes, and is told itself.
            refused = any(affinity_faults(pod.spec))
            spec = {**pod.spec, "affinity": None} if refused else pod.spec
            self._known[key] = tuple(
                tuple(self._of_node(pod, spec, node, tolerations)) for node in self._nodes
            )
        return self._known[key]

    @staticmethod
    def key(pod: PodTemplate, resources: tuple[str, ...]) -> tuple[Any, ...]:
        """What alone of Pods counts here."""
        read = tuple(pod.spec.get(name) for name in _READ)
        is_daemon = pod.document.kind == "DaemonSet"
        return (read, pod.spec.get("tolerations"), resources, is_daemon, pod.is_partial)

    def _of_node(
        self,
        pod: PodTemplate,
        spec: Mapping[str, Any],
        node: GroupNode,
        tolerations: tuple[Toleration, ...],
    ) -> Iterator[Obstacle]:
        other = self.other_scheduler(pod)
        if text_of(pod.spec, "nodeName"):
            text = "the Pod names its node, which is not known before it runs"
            yield Obstacle("NodeNamed", text, is_certain=False)
        if other:
            text = f"the Pod is left to the scheduler {other}, of which nothing is known here"
            yield Obstacle("OtherScheduler", text, is_certain=False)
        system = text_of(mapping(pod.spec, "os"), "name")
        if system not in ("", "linux"):
            text = f"the Pod is for {system[:40]}, and the nodes run Linux"
            yield Obstacle("OtherSystem", text, distance=8)
        yield from label_obstacles(spec, node, self._hints)
        certain = not (pod.is_partial or other)
        yield from taint_obstacles(node, tolerations, is_certain=certain)

    def other_scheduler(self, pod: PodTemplate) -> str:
        """The scheduler of Pods that are left to another one than Kubernetes' own."""
        name = text_of(pod.spec, "schedulerName")
        known = (DEFAULT_SCHEDULER, NEURON_SCHEDULER if self._has_neuron_scheduler else "", "")
        return "" if name in known else name[:63]
