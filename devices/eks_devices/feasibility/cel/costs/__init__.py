"""What the API server estimates that expressions may cost, and refuses them for.

The scheduler stops an expression that costs as much while it runs. What the API server takes is
not looked at for that, as what is estimated is the worst case; `startsWith` on 1.34 is not, which
goes through the whole text there.
"""

from .told import too_costly, unpriced

__all__ = ["too_costly", "unpriced"]
