"""The verb `rehearse`: a user's workloads on the nodes of a plan, placed by Kubernetes itself.

API server, controllers and scheduler are real and run on loopback; nodes, devices and the
controllers of other projects are played. No container runs.
"""

from .command import rehearse

__all__ = ["rehearse"]
