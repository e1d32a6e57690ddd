"""What NVIDIA's managers have in common."""

from __future__ import annotations

from typing import Final

from eks_devices.names import NO_DEVICES, VISIBLE_DEVICES

from .objects import Object, value

NAMESPACE: Final = "nvidia"
RESOURCES: Final[Object] = {"requests": {"cpu": "10m", "memory": "64Mi"}}
"""Ours: the vendor's containers ask for nothing, so that the scheduler counts nothing and a busy
node leaves a Pod the least share of its processors."""
NO_GPUS: Final[Object] = value(VISIBLE_DEVICES, NO_DEVICES)
"""For containers that use no GPU by the runtime: NVIDIA's images ask it for every one."""
