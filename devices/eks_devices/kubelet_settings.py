"""Rules of the kubelet's own configuration, and of the huge pages that it counts."""

from __future__ import annotations

from collections.abc import Iterator

from ._data import read_toml
from ._frozen import FrozenDict
from ._json_values import is_readable, json_faults
from .findings import Finding, fault
from .spec import NodegroupSpec
from .typecheck import path_step, whole_number, wrong_type
from .vocabulary import OperatingSystem


def kubelet_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """Faults of the fields that a group sets in its kubelets' configuration.

    Source: https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/
    """
    path, fields = f"{spec.path}.kubelet", spec.kubelet
    if not isinstance(fields, FrozenDict) or not is_readable(fields):
        wanted = 'a mapping of fields such as {"cpuManagerPolicy": "static"}'
        yield wrong_type(path, fields, wanted, "pass a plain mapping")
    elif fields and spec.operating_system is OperatingSystem.BOTTLEROCKET:
        yield fault(
            "KubeletOnBottlerocket",
            path,
            "Bottlerocket writes the kubelet's configuration from settings of its own",
            got=", ".join(map(path_step, fields)),
            allowed="nothing on Bottlerocket",
            fix='use user_data=UserData.bottlerocket("[settings.kubernetes] ...")',
            source="https://bottlerocket.dev/en/os/latest/api/settings/kubernetes/",
        )
    else:
        for key, value in fields.items():
            yield from _field_faults(key, value, f"{path}.{path_step(key)}")


def hugepages_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """The fault of a number of huge pages that no node can have."""
    most = read_toml("user_data.toml")["hugepages"]["most"]
    path = f"{spec.path}.hugepages_2mi"
    yield from whole_number(spec.hugepages_2mi, path, lowest=0, highest=most, optional=True)


def _field_faults(key: object, value: object, path: str) -> Iterator[Finding]:
    facts = read_toml("user_data.toml")["kubelet"]
    if not isinstance(key, str):
        yield wrong_type(path, key, "the name of a field", "write the name as a text")
        return
    owned = next((row for row in facts["owned"] if key in row["fields"]), None)
    if owned is not None:
        yield fault(
            "KubeletFieldOwned",
            path,
            f"{key} is not yours to set: {owned['reason']}",
            got=value,
            allowed="fields that neither the library nor EKS sets",
            fix=owned["fix"],
            source=owned["source"],
        )
    elif key not in facts["fields"]:
        yield _unknown_field(key, path)
    else:
        yield from json_faults(value, path)


def _unknown_field(key: str, path: str) -> Finding:
    import difflib  # noqa: PLC0415  (only when something is wrong)

    facts = read_toml("user_data.toml")["kubelet"]
    known = {field.lower(): field for field in facts["fields"]}
    near = difflib.get_close_matches(path_step(key).lower().replace("-", ""), known, n=2)
    names = " or ".join(known[one] for one in near)
    return fault(
        "UnknownKubeletField",
        path,
        "KubeletConfiguration has no such field",
        got=key,
        allowed="a field of KubeletConfiguration v1beta1, in its own spelling",
        fix=f"did you mean {names}?" if names else "look the field up in the reference",
        source=facts["source"],
    )
