"""The page on the rules names each code, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from eks_devices.workload_check import rules

FOLDER = Path(rules.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "lint-rules.md"
CODE = r"[A-Z][a-z]+(?:[A-Z][a-z]*)+"
# Kinds and values of Kubernetes, and a type of the package, spelled alike.
OTHERS = {
    "DaemonSet",
    "DeviceClass",
    "DeviceTaintRule",
    "DoNotSchedule",
    "DoesNotExist",
    "ExactCount",
    "NotIn",
    "PriorityClass",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ResourcePoolStatusRequest",
    "ResourceQuota",
    "ResourceSlice",
    "SetRule",
    "TrainJob",
}
# The code of a row of support.toml.
OF_DATA = {"EfaSharedClaim"}


def test_the_page_names_the_code_of_every_rule_and_no_other() -> None:
    sources = "".join(file.read_text(encoding="utf-8") for file in FOLDER.glob("*.py"))
    written = {*re.findall(rf'"({CODE})"', sources)} - OTHERS
    rows = [one for one in PAGE.read_text(encoding="utf-8").splitlines() if one.startswith("| `")]
    told = {code for row in rows for code in re.findall(rf"`({CODE})`", row.split("|")[1])}

    assert len(written) > 40
    assert told == written | OF_DATA
