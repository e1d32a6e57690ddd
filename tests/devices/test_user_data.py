"""User data as a pure function of a plan."""

from __future__ import annotations

import json
import subprocess
import tomllib
from email import message_from_string, policy

from eks_devices import (
    Capacity,
    GpuSharing,
    Mechanism,
    NodegroupSpec,
    OperatingSystem,
    plan_nodegroup,
)
from eks_devices.user_data import user_data

BLOCK = Capacity.block("cr-0123456789abcdef0")


def text_of(**options) -> str:
    spec = NodegroupSpec(name="group", max_size=1, **options)
    text = user_data(plan_nodegroup(spec, kubernetes_version="1.34"))
    assert text is not None
    return text


def settings_of(**options):
    given = {"operating_system": OperatingSystem.BOTTLEROCKET}
    return tomllib.loads(text_of(**(given | options)))["settings"]


def test_multipart_text_is_read_by_a_mime_parser():
    message = message_from_string(
        text_of(
            instance_type="trn2.48xlarge",
            mechanism=Mechanism.DEVICE_PLUGIN,
            logical_neuron_cores=1,
        ),
        policy=policy.default,
    )

    (script,) = message.iter_parts()

    assert not message.defects
    assert script.get_content_type() == "text/x-shellscript"
    assert script.get_content().startswith("#!/bin/bash\n")


def test_max_pods_stand_where_eks_cannot_override_them(tmp_path):
    text = text_of(instance_type="p5.48xlarge")
    (part,) = message_from_string(text, policy=policy.default).iter_parts()
    script = part.get_content().replace("/etc/eks", str(tmp_path))

    subprocess.run(["bash"], input=script, text=True, check=True, timeout=60)

    (drop_in,) = (tmp_path / "nodeadm.d").iterdir()
    config = json.loads(drop_in.read_text())
    assert config["kind"] == "NodeConfig"
    assert config["spec"]["kubelet"]["config"] == {"maxPods": 51}


def test_the_user_s_own_max_pods_win():
    assert '"maxPods": 110' in text_of(instance_type="trn2.48xlarge", max_pods=110)


def test_bottlerocket_shares_gpus_by_its_own_settings():
    settings = settings_of(
        instance_type="g6e.12xlarge", gpu_sharing=GpuSharing.time_slicing(replicas=4)
    )

    assert settings["kubelet-device-plugins"]["nvidia"] == {
        "device-sharing-strategy": "time-slicing",
        "time-slicing": {"replicas": 4},
    }


def test_bottlerocket_with_neuron_devices_opens_them_to_pods_that_are_not_root():
    settings = settings_of(instance_type="inf2.48xlarge")

    assert settings["kubernetes"]["device-ownership-from-security-context"] is True


def test_the_host_s_own_imex_service_is_off_where_the_driver_runs_it():
    gb200 = {"instance_type": "p6e-gb200.36xlarge", "capacity": BLOCK}

    assert "systemctl mask --now nvidia-imex.service\n" in text_of(**gb200)
    assert "imex" not in text_of(instance_type="p5.48xlarge")
