"""Whether nodes of a plan can ever serve a claim, judged as the scheduler judges it.

Expressions are evaluated by Google's CEL engine, which the extra `check` installs.
"""

from __future__ import annotations

from .check import check_claims
from .verdicts import Status, Verdict

__all__ = ["Status", "Verdict", "check_claims"]
