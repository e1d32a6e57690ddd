"""The API servers of every minor that is here: what they take is what this library says."""

from __future__ import annotations

import json
from collections import Counter
from itertools import islice

import pytest
from tests.built_claims import built_claims
from tests.feasibility_claims import claim, exactly
from tests.generated.costly import costly

from eks_device_operations.control_plane import ApiError, ControlPlane, find_binaries
from eks_device_operations.control_plane.binaries import minors_here
from eks_devices import EksDevicesError
from eks_devices.feasibility.cel.expressions import refusal

ADMIN = "resource.kubernetes.io/admin-access"
CLAIMS, EXPRESSIONS, SEED = 200, 150, 12


@pytest.fixture(scope="module", params=minors_here() or ["1.34"])
def server(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plane")
    with ControlPlane(find_binaries(request.param), folder) as plane:
        named = {"name": "default", "labels": {ADMIN: "true"}}
        plane.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": named})
        yield request.param, plane.api


def test_they_take_what_the_builders_take(server):
    minor, api = server
    answers = [answer(api, one) for one in islice(written(minor), CLAIMS)]

    assert [one for one in answers if one] == []


def test_they_refuse_what_is_told_to_cost_too_much(server):
    minor, api = server
    seen: Counter[str] = Counter()
    for text in costly(SEED, EXPRESSIONS):
        said, found = refusal(text, minor), answer(api, claim(exactly("gpu.nvidia.com", text)))
        is_dear = "exceeds cost limit" in found

        is_told = said is not None and "estimated cost" in said[0]

        # A server tells of types before it looks at costs.
        assert is_told or not is_dear, (text, said)
        assert found or not said, (text, said)
        seen["dear" if is_dear else "refused" if found else "taken"] += 1

    assert min(seen[one] for one in ("dear", "taken", "refused")) > EXPRESSIONS / 10


def written(minor):
    """The manifests of claims that can be written for a minor."""
    for one in built_claims(SEED):
        try:
            yield one.to_dict(kubernetes_version=minor)
        except EksDevicesError:
            continue


def answer(api, manifest):
    """Why a server refuses an object; empty where it does not."""
    place = api.collection(manifest["apiVersion"], manifest["kind"], "default")
    try:
        api.request("POST", f"{place}?dryRun=All&fieldValidation=Strict", manifest)
    except ApiError as error:
        return f"{error.message}\n{json.dumps(manifest)}"
    return ""
