"""What happens when all groups are known: their tags, what is told of them, and the plan file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import jsii
from aws_cdk import Stack, Stage
from constructs import Construct, IValidation

from eks_devices import ClaimChecks, EksDevicesError, Finding
from eks_devices.plans import PLAN_FILE_SCHEMA, PLAN_FILE_SUFFIX
from eks_devices.scope_options import unread_findings
from eks_devices.second_managers import cdk_plugin_construct, cdk_plugin_faults

from .annotations import inform, warn
from .claims_at_synth import ClaimsAtSynth
from .hosts import NodegroupHost
from .known_cluster import KnownCluster
from .sent_manifests import SentManifests, sent_manifests
from .tree import child_of, is_in_tree, top_stack

if TYPE_CHECKING:
    from .membership import Membership
    from .system_nodegroup import SystemNodegroup


class _Cluster:
    """A cluster whose groups are to be finished; a second synth tells nothing again."""

    def __init__(self, host: NodegroupHost) -> None:
        self.host = host
        self.faults: list[Finding] = []
        self.claims = ClaimsAtSynth(host.known)
        self._told: set[Finding] = set()
        self._told_scopes: list[Construct] = []

    def finish(self, sent: Sequence[SentManifests]) -> None:
        """Tell what is known now, and find what keeps the stack from being deployed.

        Args:
            sent: What the app sends to any cluster.
        """
        groups = self.host.fleet.groups
        tagged: list[Membership | SystemNodegroup] = [*groups, *self.host.fleet.others]
        self.faults = [fault for one in tagged for fault in one.inherit_tags()]
        self.faults += self.host.fleet.whole_faults(groups)
        self.faults += _second_managers(self.host)
        self.claims.check(sent)
        self.faults += self.claims.faults
        together = [*self.host.fleet.findings_together(groups), *self.claims.infos]
        apart = [one for group in groups for one in group.plan.findings]
        warn(self.host.home, [one for one in together if one not in self._told])
        inform(self.host.home, [one for one in (*together, *apart) if one not in self._told])
        self._told.update(together, apart)
        self._tell_scopes()

    def _tell_scopes(self) -> None:
        """Warn of options that no default installation of this app takes over from a scope."""
        fleet = self.host.fleet
        for scope in fleet.scopes if fleet.drivers is None else ():
            if scope not in self._told_scopes:
                fleet.tell(scope, unread_findings(scope.named_options))
                self._told_scopes.append(scope)


def _second_managers(host: NodegroupHost) -> Iterator[Finding]:
    """The faults of what the CDK installed in a cluster of this app for groups of its own."""
    cluster = host.cluster
    if cluster is not None and child_of(cluster, cdk_plugin_construct()) is not None:
        yield from cdk_plugin_faults([one.plan for one in host.fleet.groups])


_Clusters = dict[Construct, _Cluster]
_clusters: WeakKeyDictionary[Stack, _Clusters] = WeakKeyDictionary()


def finish_at_synth(cluster: Construct, host: NodegroupHost) -> None:
    """Finish the groups of a cluster at every synth, and write its plan for the CLI to read.

    The plan stands beside the template of its stack. The clusters of a nested stack stand in the
    file of the stack that holds it, because only that one is an artifact of the assembly. Where
    groups stand in several stacks, the first that was not removed again does it for all.
    """
    stack = top_stack(cluster)
    clusters = _clusters.setdefault(stack, {})
    if not clusters:
        stack.node.add_validation(_AtSynth(stack, clusters))
    clusters[cluster] = _Cluster(host)


def _is_first(at: Construct, known: KnownCluster) -> bool:
    """Whether none of the homes of a cluster that came before is still there."""
    others = known.homes[: known.homes.index(at)] if at in known.homes else []
    return not any(is_in_tree(one) for one in others)


@jsii.implements(IValidation)
class _AtSynth:
    """Runs when the app is synthesised, after the last group was added."""

    def __init__(self, stack: Stack, clusters: _Clusters) -> None:
        self._stack = stack
        self._clusters = clusters

    def validate(self) -> list[str]:
        there = {at: one for at, one in self._clusters.items() if is_in_tree(at)}
        if there:
            # What another stack finishes has no plan in this one.
            there = {at: one for at, one in there.items() if _is_first(at, one.host.known)}
            if not there:
                return []
        checked = any(one.host.known.claim_checks is not ClaimChecks.OFF for one in there.values())
        sent = sent_manifests(self._stack) if checked else []
        for one in there.values():
            one.finish(sent)
        self._write(there)
        # A stack may have several clusters.
        return [f"{at.node.path}: {fault}" for at, one in there.items() for fault in one.faults]

    def _write(self, there: _Clusters) -> None:
        stage = Stage.of(self._stack)
        folder = Path(stage.outdir if stage else ".")
        try:
            text = _text(there)
        except EksDevicesError:
            # Told already: what a group needs was removed again, so no plan is to be written.
            return
        name = f"{self._stack.artifact_id}{PLAN_FILE_SUFFIX}"
        (folder / name).write_text(text, encoding="utf-8")


def _text(clusters: _Clusters) -> str:
    paths = {at.node.path: one for at, one in clusters.items()}
    entries = [_entry(path, one) for path, one in sorted(paths.items())]
    content = {"schema": PLAN_FILE_SCHEMA, "clusters": entries}
    return json.dumps(content, indent=2, sort_keys=True) + "\n"


def _entry(path: str, cluster: _Cluster) -> dict[str, Any]:
    """What the file tells of a cluster, with the faults that keep it from being deployed."""
    fleet, plan = cluster.host.fleet, cluster.host.fleet.plan
    together = (*fleet.findings_together(fleet.groups), *cluster.claims.infos)
    found = (*plan.findings, *together, *fleet.told, *cluster.faults)
    told = replace(plan, findings=tuple(dict.fromkeys(found))).to_dict()
    return {
        "path": path,
        "plan": told,
        "nodegroup_names": fleet.nodegroup_names,
        "claims": fleet.claims,
        "delivery": fleet.deliveries,
    }
