"""`python -m eks_device_operations` is the command `eks-devices`."""

from __future__ import annotations

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
