"""User data as a pure function of a plan."""

from __future__ import annotations

import bisect
import dataclasses
import json
import re
import subprocess
import tomllib
from email import message_from_string, policy
from typing import Any

import pytest

from eks_devices import (
    Capacity,
    EksDevicesError,
    GpuSharing,
    Mechanism,
    NodegroupSpec,
    OperatingSystem,
    UserData,
    plan_nodegroup,
)
from eks_devices._frozen import FrozenDict
from eks_devices.user_data import ClusterAccess, access_faults, user_data_size_faults
from eks_devices.user_data import user_data as user_data_of

BOTTLEROCKET = OperatingSystem.BOTTLEROCKET
AMI = "ami-0123456789abcdef0"
ENDPOINT, AUTHORITY = "${Token[TOKEN.7]}", "${Token[TOKEN.8]}"
ACCESS = ClusterAccess(
    name="training",
    endpoint=ENDPOINT,
    certificate_authority=AUTHORITY,
    service_cidr="10.100.0.0/16",
)
# Values of wrong types on purpose: a type checker must not look.
any_access: Any = ClusterAccess
BLOCK = Capacity.block("cr-0123456789abcdef0")


def text_of(**options) -> str:
    spec = NodegroupSpec(name="group", max_size=1, **options)
    return user_data(plan_nodegroup(spec, kubernetes_version="1.34"))


def user_data(plan, *, access=None) -> str:
    """The user data of a plan that has some."""
    text = user_data_of(plan, access=access)
    assert text is not None
    return text


def plan_of(**options):
    given: dict[str, Any] = {"name": "group", "instance_type": "g6e.12xlarge", "max_size": 1}
    return plan_nodegroup(NodegroupSpec(**(given | options)), kubernetes_version="1.34")


def parts_of(text):
    """The parts that a parser of MIME finds in a sound text."""
    message = message_from_string(text, policy=policy.default)
    assert message.is_multipart()
    assert not message.defects
    return list(message.iter_parts())


def node_configs_of(text):
    return [
        json.loads(part.get_payload(decode=True))
        for part in parts_of(text)
        if part.get_content_type() == "application/node.eks.aws"
    ]


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

    script, *_ = message.iter_parts()

    assert not message.defects
    assert script.get_content_type() == "text/x-shellscript"
    assert script.get_content().startswith("#!/bin/bash\n")


def test_max_pods_stand_where_eks_cannot_override_them(tmp_path):
    text = text_of(instance_type="p5.48xlarge")
    script = parts_of(text)[0].get_content().replace("/etc/eks", str(tmp_path))

    subprocess.run(["bash"], input=script, text=True, check=True, timeout=60)

    (drop_in,) = (tmp_path / "nodeadm.d").iterdir()
    config = json.loads(drop_in.read_text())
    assert config["kind"] == "NodeConfig"
    assert config["spec"]["kubelet"]["config"] == {"maxPods": 51}


def test_the_user_s_own_max_pods_win():
    assert '"maxPods":110' in text_of(instance_type="trn2.48xlarge", max_pods=110)


def test_bottlerocket_shares_gpus_by_its_own_settings():
    settings = settings_of(
        instance_type="g6e.12xlarge", gpu_sharing=GpuSharing.time_slicing(replicas=4)
    )

    assert settings["kubelet-device-plugins"]["nvidia"] == {
        "device-sharing-strategy": "time-slicing",
        "time-slicing": {
            "replicas": 4,
            "rename-by-default": False,
            "fail-requests-greater-than-one": False,
        },
    }


def test_bottlerocket_with_neuron_devices_opens_them_to_pods_that_are_not_root():
    settings = settings_of(instance_type="inf2.48xlarge")

    assert settings["kubernetes"]["device-ownership-from-security-context"] is True


def test_the_host_s_own_imex_service_is_off_where_the_driver_runs_it():
    gb200 = {"instance_type": "p6e-gb200.36xlarge", "capacity": BLOCK}

    assert "systemctl mask --now nvidia-imex.service\n" in text_of(**gb200)
    assert "imex" not in text_of(instance_type="p5.48xlarge")


def test_parts_come_in_the_order_ours_the_user_s_and_the_plan_s_node_config():
    own = UserData.combined(
        UserData.shell("#!/bin/sh\necho own\n"),
        UserData.node_config({"spec": {"featureGates": {"FastImagePull": True}}}),
    )

    text = text_of(
        instance_type="p5.48xlarge", user_data=own, kubelet={"cpuManagerPolicy": "static"}
    )

    kinds = [part.get_content_type() for part in parts_of(text)]
    assert kinds == ["text/x-shellscript"] * 2 + ["application/node.eks.aws"] * 2
    assert "maxPods" in parts_of(text)[0].get_content()
    assert parts_of(text)[1].get_content() == "#!/bin/sh\necho own\n"
    theirs, ours = node_configs_of(text)
    assert theirs["spec"] == {"featureGates": {"FastImagePull": True}}
    assert ours["spec"]["kubelet"]["config"] == {"cpuManagerPolicy": "static"}


def test_local_disks_are_joined_where_the_plan_says_so():
    (config,) = node_configs_of(text_of(instance_type="p5.48xlarge"))

    assert config["apiVersion"] == "node.eks.aws/v1alpha1"
    assert config["kind"] == "NodeConfig"
    assert config["spec"] == {"instance": {"localStorage": {"strategy": "RAID0"}}}
    assert node_configs_of(text_of(instance_type="p5.48xlarge", instance_store=False)) == []


def test_nested_kubelet_settings_reach_the_node_as_they_were_given():
    kubelet = {
        "evictionHard": {"memory.available": "1Gi"},
        "reservedMemory": [{"numaNode": 0, "limits": {"memory": "1Gi"}}],
    }

    (config,) = node_configs_of(text_of(instance_type="g6e.12xlarge", kubelet=kubelet))

    assert config["spec"]["kubelet"] == {"config": kubelet}


def test_a_limit_of_locked_memory_reaches_the_runtime_as_it_was_given():
    limits = [
        {"type": "RLIMIT_MEMLOCK", "soft": 2**44, "hard": 2**44},
        {"type": "RLIMIT_NOFILE", "soft": 65536, "hard": 1048576},
    ]
    runtime = {"baseRuntimeSpec": {"process": {"rlimits": limits}}}
    own = UserData.node_config({"spec": {"containerd": runtime}})

    configs = node_configs_of(text_of(instance_type="trn2.48xlarge", user_data=own))

    assert [one["spec"]["containerd"] for one in configs if "containerd" in one["spec"]] == [
        runtime
    ]


def test_huge_pages_are_reserved_at_once_and_at_every_boot(tmp_path):
    script = parts_of(text_of(instance_type="g6e.12xlarge", hugepages_2mi=5128))[0].get_content()
    called = tmp_path / "sysctl"
    called.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/called\n')
    called.chmod(0o755)
    (tmp_path / "sysctl.d").mkdir()
    script = script.replace("/etc/", f"{tmp_path}/")

    path = f"{tmp_path}:/usr/bin:/bin"
    subprocess.run(["bash"], input=script, text=True, check=True, timeout=60, env={"PATH": path})

    assert (tmp_path / "called").read_text() == "-w vm.nr_hugepages=5128\n"
    (file,) = (tmp_path / "sysctl.d").iterdir()
    assert file.suffix == ".conf"
    assert file.read_text() == "vm.nr_hugepages=5128\n"


def test_no_huge_pages_are_a_number_too():
    assert "vm.nr_hugepages=0\n" in text_of(instance_type="g6e.12xlarge", hugepages_2mi=0)
    assert "hugepages" not in text_of(instance_type="g6e.12xlarge")
    settings = settings_of(instance_type="g6e.12xlarge", hugepages_2mi=0)
    assert settings["kernel"] == {"sysctl": {"vm.nr_hugepages": "0"}}


@pytest.mark.parametrize("letters", ["é", "日本語", "\u2028"])
def test_text_beyond_ascii_arrives_unchanged(letters):
    script = f"#!/bin/bash\necho {letters}\n"

    text = text_of(instance_type="g6e.12xlarge", user_data=UserData.shell(script))

    assert text.isascii()
    assert parts_of(text)[1].get_payload(decode=True).decode() == script


@pytest.mark.parametrize(
    "line", ["--EKS-DEVICES", "--EKS-DEVICES--", "EKS-DEVICES-1 --EKS-DEVICES-2"]
)
def test_no_line_of_a_user_ends_a_part(line):
    script = f"#!/bin/bash\ncat <<X\n{line}\nX\n"

    text = text_of(instance_type="g6e.12xlarge", user_data=UserData.shell(script))

    assert parts_of(text)[1].get_content() == script
    assert len(parts_of(text)) == len(parts_of(text_of(instance_type="g6e.12xlarge"))) + 1


def test_bottlerocket_joins_local_disks_at_every_boot():
    settings = settings_of(instance_type="g6e.12xlarge", instance_store=True)

    (command,) = settings["bootstrap-commands"].values()
    init, bind = command["commands"]
    assert init == ["apiclient", "ephemeral-storage", "init"]
    assert bind == ["apiclient", "ephemeral-storage", "bind"]
    assert (command["mode"], command["essential"]) == ("always", True)
    assert "bootstrap-commands" not in settings_of(instance_type="g6e.12xlarge")


def test_bottlerocket_reserves_huge_pages_by_a_sysctl():
    settings = settings_of(instance_type="g6e.12xlarge", hugepages_2mi=64)

    assert settings["kernel"] == {"sysctl": {"vm.nr_hugepages": "64"}}


OWN_SETTINGS = """
[settings]
motd = 'say "hi"'
[settings.kubernetes]
max-pods = 51
cpu-manager-policy = "static"
[settings.kubernetes.node-labels]
"example.com/team" = "vision"
[settings.kernel.sysctl]
"net.core.somaxconn" = "4096"
[[settings.container-registry.credentials]]
registry = "example.com"
auth = "Zm9v"
[settings.host-containers.admin]
enabled = true
[settings.container-registry.mirrors]
"""


def test_bottlerocket_settings_of_the_user_and_the_plan_become_one_text():
    settings = settings_of(
        instance_type="p5.48xlarge", hugepages_2mi=64, user_data=UserData.bottlerocket(OWN_SETTINGS)
    )

    own = tomllib.loads(OWN_SETTINGS)["settings"]
    own["kernel"]["sysctl"]["vm.nr_hugepages"] = "64"
    assert settings == own


def test_the_plan_wins_in_the_text_over_a_conflict_that_nobody_judged():
    own = UserData.bottlerocket("[settings.kubernetes]\nmax-pods = 9\n")
    plan = plan_of(operating_system=BOTTLEROCKET, max_pods=50)

    settings = tomllib.loads(user_data(dataclasses.replace(plan, user_data=own)))["settings"]

    assert settings["kubernetes"]["max-pods"] == 50


def test_bottlerocket_text_keeps_to_the_toml_that_eks_reads():
    text = text_of(
        instance_type="p5.48xlarge",
        operating_system=BOTTLEROCKET,
        instance_store=True,
        hugepages_2mi=64,
        user_data=UserData.bottlerocket(OWN_SETTINGS),
    )

    headers = re.findall(r"^\[.*\]$", text, re.MULTILINE)
    assert headers
    assert len(headers) == len(set(headers))
    assert not [header for header in headers if '"' in header or "'" in header]
    assert '\\"' not in text


def test_an_own_image_on_al2023_gets_everything_that_joins_its_cluster():
    plan = plan_of(ami_id=AMI, labels={"team": "vision"}, taints=["a=b:NoSchedule", "c:NoExecute"])

    (config,) = node_configs_of(user_data(plan, access=ACCESS))

    spec = config["spec"]
    assert spec["cluster"] == {
        "name": "training",
        "apiServerEndpoint": ENDPOINT,
        "certificateAuthority": AUTHORITY,
        "cidr": "10.100.0.0/16",
    }
    assert spec["kubelet"]["config"] == {"maxPods": plan.max_pods}
    labels, taints = spec["kubelet"]["flags"]
    flag, _, listed = labels.partition("=")
    assert flag == "--node-labels"
    assert dict(one.split("=") for one in listed.split(",")) == plan.labels
    assert taints == "--register-with-taints=a=b:NoSchedule,c:NoExecute"


def test_an_own_image_on_bottlerocket_gets_everything_that_joins_its_cluster():
    plan = plan_of(
        ami_id=AMI,
        operating_system=BOTTLEROCKET,
        taints=["a=b:NoSchedule", "a=b:NoExecute", "c:NoExecute"],
    )

    text = user_data(plan, access=ClusterAccess(name="t", endpoint="e", certificate_authority="c"))

    kubernetes = tomllib.loads(text)["settings"]["kubernetes"]
    assert kubernetes == {
        "cluster-name": "t",
        "api-server": "e",
        "cluster-certificate": "c",
        "max-pods": plan.max_pods,
        "node-labels": plan.labels,
        "node-taints": {"a": ["b:NoSchedule", "b:NoExecute"], "c": [":NoExecute"]},
    }


def test_an_own_image_without_taints_has_no_flag_for_them():
    (config,) = node_configs_of(user_data(plan_of(ami_id=AMI, taints=()), access=ACCESS))
    bottlerocket = plan_of(ami_id=AMI, taints=(), operating_system=BOTTLEROCKET)
    settings = tomllib.loads(user_data(bottlerocket, access=ACCESS))["settings"]

    assert len(config["spec"]["kubelet"]["flags"]) == 1
    assert "node-taints" not in settings["kubernetes"]


@pytest.mark.parametrize("system", [OperatingSystem.AL2023, BOTTLEROCKET])
@pytest.mark.parametrize(
    ("access", "unknown"),
    [
        (None, "a name and an endpoint and a certificate authority"),
        (ClusterAccess(name="a"), "an endpoint and a certificate authority"),
        (ClusterAccess(name="a", endpoint="", certificate_authority="c"), "an endpoint"),
        (any_access(name=None, endpoint="b", certificate_authority="c"), "a name"),
        (any_access(name="a", endpoint="b", certificate_authority=7), "a certificate authority"),
    ],
)
def test_an_own_image_without_its_cluster_is_a_fault_that_says_what_is_not_known(
    system, access, unknown
):
    plan = plan_of(ami_id=AMI, operating_system=system)

    with pytest.raises(EksDevicesError) as error:
        user_data(plan, access=access)

    (fault,) = error.value.faults
    assert (fault.code, fault.path) == ("ClusterAccessNeeded", "nodegroups.group.ami_id")
    of_al2023 = " and a range of Services" if system is OperatingSystem.AL2023 else ""
    assert fault.got == f"'a cluster without {unknown}{of_al2023}'"
    assert "AcceleratedCluster(service_ipv4_cidr=)" in fault.fix
    assert "ClusterReference(endpoint=, certificate_authority=, service_ipv4_cidr=)" in fault.fix
    assert fault.allowed
    assert fault.source


def test_what_is_no_cluster_access_is_named():
    with pytest.raises(EksDevicesError) as error:
        user_data(plan_of(ami_id=AMI), access="cluster")

    (fault,) = error.value.faults
    assert (fault.code, fault.path) == ("WrongType", "nodegroups.group.ami_id.access")
    assert "ClusterAccess(" in fault.fix


def test_al2023_alone_needs_the_range_of_services():
    access = ClusterAccess(name="a", endpoint="b", certificate_authority="c")
    bottlerocket = plan_of(ami_id=AMI, operating_system=BOTTLEROCKET)

    assert [one.got for one in access_faults(plan_of(ami_id=AMI), access, "x")] == [
        "'a cluster without a range of Services'"
    ]
    assert list(access_faults(bottlerocket, access, "x")) == []
    assert list(access_faults(plan_of(ami_id=AMI), ACCESS, "x")) == []


@pytest.mark.parametrize("access", [None, ACCESS, "cluster"])
def test_nothing_of_the_cluster_is_asked_for_beside_the_image_of_eks(access):
    assert list(access_faults(plan_of(), access, "x")) == []


def test_eks_joins_its_own_images_whatever_is_known_of_the_cluster():
    plan = plan_of()

    assert user_data(plan, access=ACCESS) == user_data(plan)
    assert "cluster" not in user_data(plan)


def big(size):
    return UserData.shell("#!/bin/bash\n#" + "x" * size + "\n")


@pytest.mark.parametrize("ami_id", [None, AMI])
def test_user_data_that_ec2_would_refuse_for_its_size_is_a_fault(ami_id):
    small = plan_of(ami_id=ami_id, user_data=big(9000))
    large = dataclasses.replace(small, user_data=UserData.combined(big(9000), big(9000)))

    assert list(user_data_size_faults(small, "x")) == []
    (fault,) = user_data_size_faults(large, "x")
    assert (fault.code, fault.path) == ("UserDataTooLarge", "x.user_data")
    assert "bytes" in fault.got
    assert "bytes" in fault.allowed
    assert fault.fix


MANY_LABELS = {f"{index:03}-{'k' * 50}": "v" * 60 for index in range(150)}


@pytest.mark.parametrize(
    ("option", "given"),
    [
        ("kubelet", {"kubelet": {"systemReserved": {"cpu": "1" * 30_000}}}),
        ("kubelet", {"kubelet": {"systemReserved": {"cpu": "1" * 9000}}, "user_data": big(7000)}),
        ("user_data", {"kubelet": {"systemReserved": {"cpu": "1" * 7000}}, "user_data": big(9000)}),
        ("labels", {"ami_id": AMI, "labels": MANY_LABELS}),
        ("labels", {"ami_id": AMI, "labels": MANY_LABELS, "operating_system": BOTTLEROCKET}),
    ],
)
def test_the_option_that_makes_user_data_too_large_is_named_whether_or_not_it_is_user_data(
    option, given
):
    with pytest.raises(EksDevicesError) as error:
        plan_of(**given)

    (fault,) = error.value.faults
    assert (fault.code, fault.path) == ("UserDataTooLarge", f"nodegroups.group.{option}")
    assert fault.fix


def test_taints_beside_an_own_image_count_too():
    taints = [f"{index:03}-{'k' * 50}={'v' * 60}:NoSchedule" for index in range(50)]
    plan = dataclasses.replace(plan_of(ami_id=AMI, taints=taints), labels=FrozenDict())
    doubled = dataclasses.replace(plan, taints=plan.taints * 3)

    assert list(user_data_size_faults(plan, "x")) == []
    assert [fault.path for fault in user_data_size_faults(doubled, "x")] == ["x.taints"]


def test_labels_are_no_user_data_beside_the_image_of_eks():
    assert plan_of(labels=MANY_LABELS).labels.keys() >= MANY_LABELS.keys()


# What the certificate, the endpoint and the name of a real cluster are like.
LITERAL = ClusterAccess(
    name="n" * 100,
    endpoint=f"https://{'0' * 32}.gr7.us-east-2.eks.amazonaws.com",
    certificate_authority="c" * 1476,
    service_cidr="10.100.0.0/16",
)
SYSTEMS = [OperatingSystem.AL2023, BOTTLEROCKET]


def own_image_plan(system=OperatingSystem.AL2023, size=0):
    """A plan with an image of a user's own and about `size` bytes of user data."""
    if system is BOTTLEROCKET:
        data = UserData.bottlerocket(f"[settings]\nmotd = '{'x' * (size + 1)}'\n")
    else:
        data = big(size)
    plan = plan_of(ami_id=AMI, operating_system=system)
    return dataclasses.replace(plan, user_data=data)


def largest(system):
    """The largest plan with an image of a user's own that has no fault by itself."""
    sizes = range(8000, 16384)
    count = bisect.bisect_left(
        sizes,
        x=True,
        key=lambda size: any(user_data_size_faults(own_image_plan(system, size), "x")),
    )
    assert 0 < count < len(sizes)
    return own_image_plan(system, sizes[count - 1])


@pytest.mark.parametrize("ami_id", [None, AMI])
def test_room_for_a_real_certificate_is_left_and_the_fault_says_how_much(ami_id):
    small = plan_of(ami_id=ami_id, user_data=big(12_000))
    almost = dataclasses.replace(small, user_data=big(14_200))

    assert list(user_data_size_faults(small, "x")) == []
    (fault,) = user_data_size_faults(almost, "x")
    assert (fault.code, fault.path) == ("UserDataTooLarge", "x.user_data")
    assert fault.allowed == "at most 13984 bytes, which leaves 2400 for what joins the node"


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_largest_user_data_beside_an_own_image_is_no_larger_than_ec2_takes(system):
    plan = largest(system)

    size = len(user_data(plan, access=LITERAL))

    assert 15_000 < size <= 16_384


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_is_known_of_the_cluster_is_measured(system):
    plan = own_image_plan(system, 9000)
    access = dataclasses.replace(LITERAL, certificate_authority="c" * 8000)

    with pytest.raises(EksDevicesError) as error:
        user_data(plan, access=access)

    (fault,) = error.value.faults
    assert (fault.code, fault.path) == ("UserDataTooLarge", "nodegroups.group.user_data")
    assert fault.allowed == "at most 16384 bytes"
    assert list(access_faults(plan, LITERAL, "x")) == []


def test_a_certificate_that_is_most_of_the_user_data_is_named():
    access = dataclasses.replace(LITERAL, certificate_authority="c" * 16_000)

    (fault,) = access_faults(plan_of(ami_id=AMI), access, "x")

    assert (fault.code, fault.path) == ("UserDataTooLarge", "x.ami_id")
    assert fault.fix


@pytest.mark.parametrize("literal", [0, 1476, 2300])
def test_tokens_have_what_other_texts_leave_of_the_room_for_all(literal):
    access = dataclasses.replace(ACCESS, certificate_authority="c" * literal or AUTHORITY)

    assert list(access_faults(largest(OperatingSystem.AL2023), access, "x")) == []


def test_tokens_beside_a_long_certificate_are_too_much():
    access = dataclasses.replace(ACCESS, certificate_authority="c" * 2600)

    (fault,) = access_faults(largest(OperatingSystem.AL2023), access, "x")

    assert fault.code == "UserDataTooLarge"


def test_json_in_user_data_has_no_spaces():
    own = UserData.node_config({"spec": {"kubelet": {"flags": ["--v=4"]}}})
    kubelet = {"evictionHard": {"memory.available": "1Gi", "nodefs.available": "5%"}}

    text = text_of(instance_type="p5.48xlarge", user_data=own, kubelet=kubelet)

    lines = [line for line in text.splitlines() if line.startswith(("{", "}", " ", "\t"))]
    assert len(lines) == 3
    for line in lines:
        assert json.loads(line)["kind"] == "NodeConfig"
        assert " " not in line


def test_a_group_with_too_much_user_data_has_no_plan():
    with pytest.raises(EksDevicesError) as error:
        plan_of(user_data=UserData.combined(big(9000), big(9000)))

    assert [(one.code, one.path) for one in error.value.faults] == [
        ("UserDataTooLarge", "nodegroups.group.user_data")
    ]


def test_equal_plans_give_equal_texts():
    own = UserData.bottlerocket("[settings.b]\nx = 1\n[settings.a]\ny = 2\n")
    other = UserData.bottlerocket("[settings.a]\ny = 2\n[settings.b]\nx = 1\n")

    first = plan_of(operating_system=BOTTLEROCKET, user_data=own)
    second = plan_of(operating_system=BOTTLEROCKET, user_data=other)

    assert user_data(first) == user_data(second)
