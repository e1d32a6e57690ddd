"""How manifests turn into text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def json_text(manifest: Mapping[str, Any]) -> str:
    """A manifest as JSON text: equal manifests give equal texts."""
    return json.dumps(manifest, indent=2, sort_keys=True) + "\n"
