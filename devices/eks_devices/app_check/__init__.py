"""What an app says of its claims and of the manifests that it sends, held against its groups."""

from __future__ import annotations

from .manifest_text import manifests_in
from .own_claims import claim_faults, fleet_findings, not_repeated
from .whole import ManifestFinding, ManifestReport, check_manifests, mention_claims

__all__ = [
    "ManifestFinding",
    "ManifestReport",
    "check_manifests",
    "claim_faults",
    "fleet_findings",
    "manifests_in",
    "mention_claims",
    "not_repeated",
]
