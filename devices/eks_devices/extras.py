"""How what an optional extra brings is installed, in words."""

from __future__ import annotations


def how_to_install(*extras: str) -> str:
    """What to run, in a checkout or elsewhere.

    Args:
        extras: The names of the extras.
    """
    names = ",".join(extras)
    of = f"extra {extras[0]!r}" if len(extras) == 1 else f"extras {', '.join(map(repr, extras))}"
    return (
        f'in a checkout of eks-devices run pip install ".[{names}]"; where eks-devices came from '
        f"elsewhere, install the {of} from there"
    )
