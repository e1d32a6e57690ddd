"""How the GPUs of a node are cut into partitions, and whether a value says it at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from ..findings import Finding, fault, raise_faults
from ..typecheck import boolean, member, plain_text, wrong_type
from .geometry import mig_profile_faults

_FACTORIES: Final = "Mig.uniform(profile), Mig.layout(*profiles) or Mig.dynamic()"
_PLUGIN: Final = (
    "https://github.com/NVIDIA/k8s-device-plugin/blob/v0.20.0/internal/rm/device_map.go"
)


class MigStrategy(StrEnum):
    """How the device plugin offers partitions to Pods.

    Source: https://github.com/NVIDIA/k8s-device-plugin
    """

    SINGLE = "single"
    """As if they were GPUs, `nvidia.com/gpu`; all partitions of a node are equal."""
    MIXED = "mixed"
    """By profile: `nvidia.com/mig-1g.10gb`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mig:
    """The partitions (MIG: multi-instance GPU) of a node's GPUs; made by one of the factories.

    Every GPU of a node is cut alike. A partition has memory, caches and compute slices of its own,
    and a Pod sees it as a small GPU. Partitions cannot use NVLink, so no job spans several of them.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/device-management-nvidia-mig.html
    """

    profiles: tuple[str, ...]
    """The partitions of one GPU in the order of their creation; one profile where `fill` is true;
    empty where the driver cuts on request."""
    fill: bool
    """Whether a GPU holds as many partitions of its one profile as fit."""
    is_dynamic: bool
    """Whether the NVIDIA DRA driver cuts on request."""
    is_prepared: bool
    """Whether nodes come cut already, so that nothing cuts them."""
    strategy: MigStrategy | None
    """How the device plugin offers the partitions; None where the driver cuts on request."""

    def __post_init__(self) -> None:
        """Keep profiles of another kind of text as the texts themselves."""
        if type(self.profiles) is tuple:
            object.__setattr__(self, "profiles", tuple(map(plain_text, self.profiles)))

    @classmethod
    def uniform(
        cls, profile: str, *, strategy: MigStrategy | None = None, prepared: bool = False
    ) -> Mig:
        """Every GPU is cut into as many partitions of one profile as fit.

        Args:
            profile: What NVIDIA calls it, `1g.10gb`.
            strategy: How the device plugin offers the partitions, SINGLE by default.
            prepared: True for nodes that come cut already, by an AMI, by NVIDIA's MIG manager or
                by user data of your own. By default the nodes are cut when they boot.

        Raises:
            EksDevicesError: With every fault of the arguments.
        """
        return _made((profile,), fill=True, strategy=strategy, prepared=prepared)

    @classmethod
    def layout(
        cls, *profiles: str, strategy: MigStrategy | None = None, prepared: bool = False
    ) -> Mig:
        """Every GPU is cut into exactly these partitions, one for each profile.

        Args:
            *profiles: In the order of creation: `"3g.40gb", "2g.20gb", "2g.20gb"`. The driver
                moves no partition to make room for the next, so name large ones first.
            strategy: How the device plugin offers the partitions; by default SINGLE where all
                profiles are equal, otherwise MIXED.
            prepared: As in `uniform`; the order does not matter then.

        Raises:
            EksDevicesError: With every fault of the arguments.
        """
        return _made(profiles, fill=False, strategy=strategy, prepared=prepared)

    @classmethod
    def dynamic(cls) -> Mig:
        """The NVIDIA DRA driver cuts a GPU when a Pod claims a partition (gate `DynamicMIG`).

        Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu
        """
        return cls(profiles=(), fill=False, is_dynamic=True, is_prepared=False, strategy=None)

    def to_dict(self) -> dict[str, Any]:
        """How GPUs are cut, as plain JSON values."""
        return {
            "profiles": list(self.profiles),
            "fill": self.fill,
            "dynamic": self.is_dynamic,
            "prepared": self.is_prepared,
            "strategy": None if self.strategy is None else str(self.strategy),
        }


def mig_form_faults(mig: object, path: str) -> Iterator[Finding]:
    """Faults of a value that no factory made.

    Args:
        mig: What the user gave.
        path: Names the input in the faults.
    """
    if not isinstance(mig, Mig):
        yield wrong_type(path, mig, f"{_FACTORIES}, or None", f"use {_FACTORIES}")
        return
    switches = ("fill", "is_dynamic", "is_prepared")
    found = [one for name in switches for one in boolean(getattr(mig, name), f"{path}.{name}")]
    yield from found or (_dynamic if mig.is_dynamic else _static)(mig, path)


def _made(
    profiles: tuple[Any, ...], *, fill: bool, strategy: MigStrategy | None, prepared: bool
) -> Mig:
    texts = tuple(plain_text(profile) for profile in profiles)
    made = Mig(
        profiles=texts,
        fill=fill,
        is_dynamic=False,
        is_prepared=prepared,
        strategy=_usual(texts) if strategy is None else strategy,
    )
    raise_faults(mig_form_faults(made, "mig"))
    return made


def _usual(profiles: tuple[Any, ...]) -> MigStrategy:
    # A text of a user's class is plain by now; what is no text at all is refused in a moment.
    texts = {profile for profile in profiles if type(profile) is str}
    return MigStrategy.MIXED if len(texts) > 1 else MigStrategy.SINGLE


def _static(mig: Mig, path: str) -> Iterator[Finding]:
    malformed = list(_profiles(mig, f"{path}.profiles"))
    yield from malformed
    unknown = list(member(mig.strategy, MigStrategy, f"{path}.strategy"))
    yield from unknown
    if not malformed and not unknown:
        yield from _unequal(mig, f"{path}.strategy")


def _profiles(mig: Mig, path: str) -> Iterator[Finding]:
    if type(mig.profiles) is not tuple:
        yield wrong_type(path, mig.profiles, "a tuple of MIG profiles", f"use {_FACTORIES}")
    elif not mig.profiles or (mig.fill and len(mig.profiles) > 1):
        yield fault(
            "WrongNumberOfMigProfiles",
            path,
            "a GPU is cut into partitions of one profile, or of those that a layout names",
            got=mig.profiles,
            allowed="one profile" if mig.fill else "one profile or several",
            fix="name the profile of each partition: Mig.layout('3g.40gb', '2g.20gb')",
        )
    else:
        for index, profile in enumerate(mig.profiles):
            yield from mig_profile_faults(profile, f"{path}[{index}]")


def _unequal(mig: Mig, path: str) -> Iterator[Finding]:
    if mig.strategy is MigStrategy.SINGLE and len(set(mig.profiles)) > 1:
        yield fault(
            "UnequalMigPartitions",
            path,
            "with this strategy the device plugin offers nothing on a GPU with unequal partitions",
            got=mig.strategy,
            allowed="MigStrategy.MIXED",
            fix="leave strategy out, or cut each GPU into equal partitions",
            source=_PLUGIN,
        )


def _dynamic(mig: Mig, path: str) -> Iterator[Finding]:
    plain = Mig.dynamic()
    for name in ("profiles", "fill", "is_prepared", "strategy"):
        value, usual = getattr(mig, name), getattr(plain, name)
        # There is one of each of these values, and comparing a user's could raise.
        if value is not usual:
            yield fault(
                "OptionDoesNotFit",
                f"{path}.{name}",
                "the driver cuts on request, so nothing else says how",
                got=value,
                allowed=repr(usual),
                fix="use Mig.dynamic()",
            )
