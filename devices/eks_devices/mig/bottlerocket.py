"""How Bottlerocket cuts the GPUs of its nodes, and what it cannot cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .._data import read_toml
from .._frozen import FrozenDict
from ..findings import Finding, fault
from ..instance_types import AcceleratedInstanceType
from ..names import BOTTLEROCKET_MIG_PROFILE, BOTTLEROCKET_NVIDIA_PARTITIONING
from ..published import mig_model
from .form import Mig, MigStrategy
from .hardware import partitions

_PAGE: Final = "https://bottlerocket.dev/en/os/latest/api/settings/kubelet-device-plugins/"
_SINGLE: Final = "https://github.com/bottlerocket-os/bottlerocket/issues/4483"
_SERVICE: Final = "https://github.com/bottlerocket-os/bottlerocket-core-kit/pull/914"
_ELSE: Final = "or use AL2023"


def mig_bottlerocket_settings(
    mig: Mig, instance_name: str
) -> tuple[tuple[str, str | FrozenDict[str, str]], ...]:
    """Bottlerocket's settings by dotted name.

    The profile stands in a mapping by GPU model, because the names of models have dots.

    Args:
        mig: How each GPU is cut, without faults.
        instance_name: The type of the nodes.

    Returns:
        Nothing where they do not cut: the DRA driver does on request.

    Source: https://bottlerocket.dev/en/os/latest/api/settings/kubelet-device-plugins/
    """
    record = _record(instance_name)
    if not _cuts(mig) or record is None:
        return ()
    return (
        (BOTTLEROCKET_NVIDIA_PARTITIONING, "mig"),
        (BOTTLEROCKET_MIG_PROFILE, FrozenDict({record["key"]: mig.profiles[0]})),
    )


def mig_bottlerocket_release(mig: Mig, instance_name: str) -> str | None:
    """The first release of Bottlerocket that cuts so; None where its settings do not cut."""
    record = _record(instance_name)
    if not _cuts(mig) or record is None:
        return None
    return str(record.get("profiles_since", {}).get(mig.profiles[0], record["since"]))


def mig_bottlerocket_faults(
    mig: Mig, instance: AcceleratedInstanceType, path: str
) -> Iterator[Finding]:
    """Faults of partitions that GPUs can be cut into, but not by Bottlerocket's settings.

    Args:
        mig: Without other faults.
        instance: The type of the nodes.
        path: Names the input in the faults.
    """
    if mig.is_dynamic:
        return
    if mig.is_prepared:
        yield _prepared(f"{path}.is_prepared")
    if mig.strategy is MigStrategy.MIXED and len(set(mig.profiles)) == 1:
        yield _strategy(mig, f"{path}.strategy")
    record = _record(instance.name)
    known = tuple(record["profiles"]) if record else ()
    if not set(mig.profiles) <= set(known):
        yield _profile(mig, instance.name, known, f"{path}.profiles")
    elif not _is_full(mig, instance.name):
        yield _not_full(mig, f"{path}.profiles")


def _cuts(mig: Mig) -> bool:
    return not (mig.is_dynamic or mig.is_prepared)


def _record(instance_name: str) -> dict[str, Any] | None:
    model = mig_model(instance_name)
    record: dict[str, Any] | None = read_toml("bottlerocket_gpu.toml")["mig"].get(model)
    return record


def _is_full(mig: Mig, instance_name: str) -> bool:
    """Whether a GPU holds no more partitions of the layout's one profile."""
    full = Mig.uniform(mig.profiles[0])
    return partitions(mig, instance_name) == partitions(full, instance_name)


def _prepared(path: str) -> Finding:
    return fault(
        "BottlerocketCutsItself",
        path,
        "Bottlerocket takes away at boot what its own settings did not cut",
        got="prepared=True",
        allowed="prepared=False on Bottlerocket",
        fix=f"leave prepared out, {_ELSE}",
        source=_SERVICE,
    )


def _strategy(mig: Mig, path: str) -> Finding:
    return fault(
        "BottlerocketMigIsSingle",
        path,
        "the device plugin of Bottlerocket offers partitions as nvidia.com/gpu only",
        got=mig.strategy,
        allowed="MigStrategy.SINGLE",
        fix=f"leave strategy out, {_ELSE}",
        source=_SINGLE,
    )


def _profile(mig: Mig, type_name: str, known: tuple[str, ...], path: str) -> Finding:
    return fault(
        "MigProfileNotOnBottlerocket",
        path,
        f"Bottlerocket does not cut the GPUs of {type_name} so, and would not say it",
        got=" ".join(mig.profiles),
        allowed=", ".join(known) or "none: it has no setting for these GPUs",
        fix=f"use {known[0]}, for example, {_ELSE}" if known else _ELSE.removeprefix("or "),
        source=_PAGE,
    )


def _not_full(mig: Mig, path: str) -> Finding:
    return fault(
        "BottlerocketMigIsUniform",
        path,
        "Bottlerocket cuts a GPU into as many partitions of one profile as fit",
        got=" ".join(mig.profiles),
        allowed="Mig.uniform(...)",
        fix=f"use Mig.uniform({mig.profiles[0]!r}), for example, {_ELSE}",
        source=_PAGE,
    )
