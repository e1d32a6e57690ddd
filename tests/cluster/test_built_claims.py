"""Whatever claim the builders take, API servers of every minor take it too, with every field."""

from __future__ import annotations

import json
from itertools import islice

import pytest
from tests.built_claims import built_claims

from eks_device_operations.control_plane import ApiError, ControlPlane, find_binaries
from eks_device_operations.control_plane.binaries import minors_here
from eks_devices import EksDevicesError

ADMIN = "resource.kubernetes.io/admin-access"
CLAIMS, SEED = 200, 12


@pytest.fixture(params=minors_here() or ["1.34"])
def server(request, tmp_path):
    with ControlPlane(find_binaries(request.param), tmp_path) as plane:
        named = {"name": "default", "labels": {ADMIN: "true"}}
        plane.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": named})
        yield request.param, plane.api


def test_api_servers_take_what_the_builders_take(server):
    minor, api = server
    answers = [answer(api, one) for one in islice(written(minor), CLAIMS)]

    assert [one for one in answers if one] == []


def written(minor):
    """The manifests of claims that can be written for a minor."""
    for claim in built_claims(SEED):
        try:
            yield claim.to_dict(kubernetes_version=minor)
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
