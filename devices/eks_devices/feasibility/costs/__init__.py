"""What the API server estimates that expressions may cost, and refuses them for.

The scheduler stops an expression that costs as much while it runs. What is estimated is the worst
case, so that is not looked for in what the API server takes.
"""

from .told import too_costly, unpriced

__all__ = ["too_costly", "unpriced"]
