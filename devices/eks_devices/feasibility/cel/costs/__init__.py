"""What the API server estimates that expressions may cost, and refuses them for.

The scheduler stops an expression that costs as much while it runs. What the API server takes is
not looked at for that, as what is estimated is the worst case. There is one exception, which is
left out: on 1.34 `startsWith` costs the length of the whole text while it runs.
"""

from .told import too_costly, unpriced

__all__ = ["too_costly", "unpriced"]
