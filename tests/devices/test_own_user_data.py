"""User data of a user's own: what its form may be, and where it contradicts the plan."""

import dataclasses
import json
import pickle
import tomllib
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hostile import HostileMapping, doubled, endless

from eks_devices import (
    Capacity,
    DeviceType,
    EksDevicesError,
    GpuDriver,
    GpuSharing,
    Mechanism,
    Mig,
    NodegroupPlan,
    NodegroupSpec,
    OperatingSystem,
    Severity,
    UserData,
    plan_nodegroup,
)
from eks_devices.ami_releases import release_faults
from eks_devices.user_data import user_data, user_data_conflicts, user_data_faults
from eks_devices.user_data.bottlerocket_toml import write_settings
from eks_devices.user_data.kubelet import kubelet_faults
from eks_devices.user_data.parts import PartKind, UserDataPart

AL2023, BOTTLEROCKET = OperatingSystem.AL2023, OperatingSystem.BOTTLEROCKET
GPU, DRA, PLUGIN = DeviceType.GPU, Mechanism.DRA, Mechanism.DEVICE_PLUGIN
AMI = "ami-0123456789abcdef0"
TOKEN = "${Token[TOKEN.12]}"
SCRIPT = UserData.shell("#!/bin/bash\ntrue\n")
SETTINGS = UserData.bottlerocket('[settings]\nmotd = "hello"\n')
MIME = (
    'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="//"\n\n'
    "--//\nContent-Type: {kind}\n\n{body}\n--//--\n"
)
# Values of wrong types on purpose: a type checker must not look.
any_user_data: Any = UserData


class Hostile:
    """Raises whenever somebody looks at it."""

    def _refuse(self, *_: object) -> NoReturn:
        raise ZeroDivisionError

    __repr__ = __str__ = __eq__ = __bool__ = __len__ = __iter__ = __contains__ = _refuse
    __hash__ = object.__hash__


class HostileNumber(int):
    """A number that no other one can be compared with."""

    def __eq__(self, other: object) -> NoReturn:
        raise ZeroDivisionError

    __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __eq__
    __hash__ = int.__hash__


class HostileText(str):
    """A text that no other one can be compared with."""

    __slots__ = ()

    def __eq__(self, other: object) -> NoReturn:
        raise ZeroDivisionError

    __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __eq__
    __hash__ = str.__hash__


def spec_of(data: Any = None, **options: Any) -> NodegroupSpec:
    given = {"name": "g", "instance_type": "g6e.12xlarge", "max_size": 1, "user_data": data}
    return NodegroupSpec(**(given | options))


def plan_of(data: Any = None, **options: Any) -> NodegroupPlan:
    """The plan of a group with user data, as it is before its conflicts are judged."""
    plan = plan_nodegroup(spec_of(**options), kubernetes_version="1.34")
    return dataclasses.replace(plan, user_data=data)


def codes_of(make: Any) -> list[str]:
    """The codes of the faults of a factory; each is complete and names the user data."""
    with pytest.raises(EksDevicesError) as error:
        make()
    for fault in error.value.faults:
        assert fault.severity is Severity.ERROR
        assert fault.path.startswith("user_data")
        assert fault.message
        assert fault.got
        assert fault.allowed
        assert fault.fix
    return [fault.code for fault in error.value.faults]


def conflicts_of(plan: NodegroupPlan) -> dict[str, tuple[str, str]]:
    """The keys in conflict, each with the user's value and the plan's."""
    found = {}
    for fault in user_data_conflicts(plan, "nodegroups.g.user_data"):
        assert fault.code == "UserDataConflict"
        assert fault.fix
        key = fault.path.removeprefix("nodegroups.g.user_data.")
        assert key in fault.message
        assert key not in found
        found[key] = (fault.got, fault.allowed)
    return found


def node_config_plan(spec: dict[str, Any], **options: Any) -> NodegroupPlan:
    return plan_of(UserData.node_config({"spec": spec}), **options)


def settings_plan(text: str, **options: Any) -> NodegroupPlan:
    return plan_of(UserData.bottlerocket(text), operating_system=BOTTLEROCKET, **options)


# The form of each kind


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (None, "WrongType"),
        (b"#!/bin/bash", "WrongType"),
        (7, "WrongType"),
        (Hostile(), "WrongType"),
        (TOKEN, "TokenNotAllowed"),
        (f"#!/bin/bash\necho {TOKEN}", "TokenNotAllowed"),
        ("", "EmptyUserData"),
        (" \n\t", "EmptyUserData"),
        ("#!/bin/bash\n\x00", "MalformedUserData"),
        ("#!/bin/bash\n\ud800", "MalformedUserData"),
        ("#!/bin/bash\n" + "é" * 8192, "UserDataTooLarge"),
    ],
)
@pytest.mark.parametrize("factory", ["shell", "mime", "bottlerocket"])
def test_what_is_no_text_or_cannot_be_user_data_is_a_fault(factory, text, code):
    assert codes_of(lambda: getattr(any_user_data, factory)(text)) == [code]


@pytest.mark.parametrize("text", ["echo 1\n", "\n#!/bin/bash\n", " #!/bin/sh", "[settings]\na = 1"])
def test_a_script_names_its_interpreter_at_the_very_beginning(text):
    assert codes_of(lambda: UserData.shell(text)) == ["MalformedUserData"]


def test_a_script_from_windows_is_named_before_it_fails_at_boot():
    assert codes_of(lambda: UserData.shell("#!/bin/bash\r\ntrue\r\n")) == ["MalformedUserData"]


@pytest.mark.parametrize(
    "text",
    [
        "[settings",
        "settings = 1",
        "motd = 'a'",
        "[setting]\nmotd = 'a'",
        "[settings]\na = 1\n[metadata]\nb = 1",
        "[settings]\na = 1\n[settings]\nb = 1",
        "#!/bin/bash\n",
        "[settings]\na = " + "[" * 2000,
        "[settings]\na = " + "[" * 100 + "]" * 100,
    ],
)
def test_settings_of_bottlerocket_are_toml_under_one_table(text):
    assert codes_of(lambda: UserData.bottlerocket(text)) == ["MalformedUserData"]


@pytest.mark.parametrize(
    ("config", "codes"),
    [
        (None, ["WrongType"]),
        ("spec: {}", ["WrongType"]),
        ([("spec", {})], ["WrongType"]),
        (Hostile(), ["WrongType"]),
        (HostileMapping(), ["WrongType"]),
        (endless(), ["TooDeep"]),
        ({"spec": {"kubelet": endless()}}, ["TooDeep"]),
        ({"spec": {"kubelet": {"config": doubled(25)}}}, ["TooLarge"]),
        ({"spec": {"kubelet": {"flags": ["--v=4"] * 1_000_000}}}, ["TooLarge"]),
        ({"spec": {"kubelet": HostileMapping()}}, ["WrongType"]),
        ({}, ["EmptyUserData"]),
        ({"kind": "NodeConfig", "spec": {}}, ["EmptyUserData"]),
        ({"kind": "ClusterConfig", "spec": {"kubelet": {}}}, ["OtherNodeConfig"]),
        ({"apiVersion": "node.eks.aws/v1", "spec": {"kubelet": {}}}, ["OtherNodeConfig"]),
        ({"apiVersion": None, "kind": 7, "spec": {"kubelet": {}}}, ["OtherNodeConfig"] * 2),
        (
            {"apiVersion": Hostile(), "kind": Hostile(), "spec": {"kubelet": {}}},
            ["WrongType", "WrongType", "OtherNodeConfig", "OtherNodeConfig"],
        ),
        (
            {"spec": {"instance": {"localStorage": {"strategy": "junk"}}}},
            ["UnknownNodeConfigValue"],
        ),
        ({"spec": {"instance": {"localStorage": {"strategy": 0}}}}, ["UnknownNodeConfigValue"]),
        (
            {
                "spec": {
                    "instance": {"localStorage": {"disabledMounts": ["PodLogs", "podlogs", {}]}}
                }
            },
            ["UnknownNodeConfigValue"] * 2,
        ),
        ({"spec": 7}, ["WrongType"]),
        ({"spec": {"kubelet": ["a"]}}, ["WrongType"]),
        ({"spec": {"kubelet": {"config": "maxPods: 5"}}}, ["WrongType"]),
        ({"spec": {"kubelet": {"flags": "--v=4"}}}, ["WrongType"]),
        ({"spec": {"kubelet": {"flags": ["--v", 4]}}}, ["WrongType"]),
        ({"spec": {"kubelet": {"config": {"a": float("nan")}}}}, ["WrongType"]),
        ({"spec": {"kubelet": {"config": {"a": Hostile()}}}}, ["WrongType"]),
        ({"spec": {"kubelet": {"config": {"a": b"b"}}}}, ["WrongType"]),
        ({"spec": {"kubelet": {"config": {"a": 10**6000}}}}, ["WrongType"]),
        ({"spec": {"kubelet": {"config": {7: "a"}}}}, ["WrongType"]),
        ({"spec": {"kubelet": {"config": {"a": TOKEN}}}}, ["TokenNotAllowed"]),
        ({"spec": {"kubelet": {"config": {TOKEN: 1}}}}, ["TokenNotAllowed"]),
        ({"spec": {"kubelet": {"config": {"a": -1.8e289}}}}, ["TokenNotAllowed"]),
        ({"spec": {"kubelet": {"maxPods": 5}}}, ["UnknownNodeConfigField"]),
        ({"kubelet": {}, "spec": {"instance": {}}}, ["UnknownNodeConfigField"]),
        ({"spec": {"containerd": {"config": "#" * 16384}}}, ["UserDataTooLarge"]),
        ({"spec": {"containerd": {"config": "[plugins"}}}, ["MalformedUserData"]),
        ({"spec": {"containerd": {"config": {"plugins": {}}}}}, ["WrongType"]),
        ({"spec": {"containerd": {"config": "x = " + "[" * 9999}}}, ["MalformedUserData"]),
        ({"spec": {"kubelet": {"max": 1}, "a": 2, "b": b""}}, ["WrongType"]),
        ({"spec": {"kubelet": {"max": 1}, "a": 2}}, ["UnknownNodeConfigField"] * 2),
    ],
)
def test_what_is_no_node_config_is_a_fault(config, codes):
    assert codes_of(lambda: any_user_data.node_config(config)) == codes


def test_a_field_that_nodeadm_would_leave_out_is_named_with_the_one_that_was_meant():
    with pytest.raises(EksDevicesError) as error:
        UserData.node_config({"spec": {"instance": {"localstorage": {}}}})

    (fault,) = error.value.faults
    assert fault.path == "user_data.spec.instance.localstorage"
    assert "localStorage" in fault.fix


@pytest.mark.parametrize("strategy", ["RAID0", "raid10", "Mount"])
def test_ways_to_use_local_disks_are_taken_in_any_case(strategy):
    storage = {"strategy": strategy, "disabledMounts": ["Containerd", "PodLogs", "SOCI"]}

    data = UserData.node_config({"spec": {"instance": {"localStorage": storage}}})

    assert data.node_configs()[0]["spec"]["instance"]["localStorage"]["strategy"] == strategy


def test_a_way_to_use_local_disks_that_nodeadm_does_not_know_is_named():
    with pytest.raises(EksDevicesError) as error:
        UserData.node_config({"spec": {"instance": {"localStorage": {"strategy": "RAID-0"}}}})

    (fault,) = error.value.faults
    assert fault.path == "user_data.spec.instance.localStorage.strategy"
    assert "RAID0" in fault.fix
    assert fault.source


def test_a_node_config_may_leave_its_kind_out_and_cannot_be_changed_later():
    kubelet = {"config": {"logging": {"verbosity": 4}}}
    data = UserData.node_config({"spec": {"kubelet": kubelet}})
    kubelet["config"]["logging"]["verbosity"] = 9

    (config,) = data.node_configs()

    assert config["kind"] == "NodeConfig"
    assert config["spec"]["kubelet"]["config"]["logging"]["verbosity"] == 4
    assert data == pickle.loads(pickle.dumps(data))  # noqa: S301 - our own value
    assert hash(data) == hash(pickle.loads(pickle.dumps(data)))  # noqa: S301


# MIME


def test_parts_of_a_mime_text_keep_their_kind_text_and_order():
    parts = [
        ("text/cloud-boothook; charset=us-ascii", "#!/bin/sh\nearly\n"),
        ("text/cloud-config", "#cloud-config\nruncmd: []\n"),
        ('text/x-shellscript; charset="utf-8"', "#!/bin/sh\necho é\n"),
        ("application/node.eks.aws", ('{"apiVersion": "node.eks.aws/v1alpha1", "kind": '
         '"NodeConfig", "spec": {"kubelet": {"flags": ["--v=4"]}}}')),
    ]  # fmt: skip
    body = "".join(f"--B\nContent-Type: {kind}\n\n{text}\n" for kind, text in parts)
    text = f'Content-Type: multipart/mixed; boundary="B"\nMIME-Version: 1.0\n\n{body}--B--\n'

    data = UserData.mime(text)

    assert [part.kind for part in data.parts] == [
        "text/cloud-boothook",
        "text/cloud-config",
        "text/x-shellscript",
        "application/node.eks.aws",
    ]
    assert [part.text for part in data.parts[:3]] == [text for _, text in parts[:3]]
    (config,) = data.node_configs()
    assert config["spec"] == {"kubelet": {"flags": ("--v=4",)}}
    assert data == UserData.mime(text.replace("\n", "\r\n"))


def test_what_a_mime_text_says_survives_a_second_reading():
    data = UserData.mime(MIME.format(kind="text/x-shellscript", body="#!/bin/sh\necho é\n"))
    group = plan_of(data, instance_store=False)

    again = UserData.mime(user_data(group) or "")

    assert again.parts[1:] == data.parts


@pytest.mark.parametrize("encoding", ["base64", "quoted-printable"])
def test_an_encoded_part_of_mime_is_decoded(encoding):
    body = {"base64": "IyEvYmluL3NoCmVjaG8gw6kK", "quoted-printable": "#!/bin/sh\necho =C3=A9\n"}
    kind = f"text/x-shellscript\nContent-Transfer-Encoding: {encoding}"

    data = UserData.mime(MIME.format(kind=kind, body=body[encoding]))

    assert data.parts[0].text == "#!/bin/sh\necho é\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("#!/bin/bash\ntrue\n", "MalformedUserData"),
        ("\n" + MIME.format(kind="text/cloud-config", body="a: 1"), "MalformedUserData"),
        ("Content-Type: text/x-shellscript\n\n#!/bin/sh\n", "MalformedUserData"),
        ("Content-Type: multipart/mixed\n\n--B\n\na\n--B--\n", "MalformedUserData"),
        ('Content-Type: multipart/mixed; boundary="B"\n\n--C\n\na\n--C--\n', "MalformedUserData"),
        (
            MIME.format(kind="text/cloud-config", body="a: 1").replace("--//--\n", ""),
            "MalformedUserData",
        ),
        ("Content-Type: message/rfc822\n\nContent-Type: text/plain\n\na", "MalformedUserData"),
        (MIME.format(kind="text/plain", body="a"), "UnknownContentType"),
        (MIME.format(kind="multipart/mixed; boundary=x", body="--x--"), "UnknownContentType"),
        (MIME.format(kind="text/part-handler", body="a"), "UnknownContentType"),
        (MIME.format(kind="application/toml", body="[settings]\na = 1"), "UnknownContentType"),
        (MIME.format(kind="text/x-shellscript", body="echo 1"), "MalformedUserData"),
        (MIME.format(kind="text/cloud-config", body=" "), "EmptyUserData"),
        (
            MIME.format(kind="text/cloud-config\nMerge-Type: list(append)", body="a: 1"),
            "MalformedUserData",
        ),
        (
            MIME.format(kind="text/cloud-config\nContent-Transfer-Encoding: base64", body="/w=="),
            "MalformedUserData",
        ),
        (
            MIME.format(kind="text/cloud-config\nContent-Transfer-Encoding: base64", body="%%"),
            "MalformedUserData",
        ),
        (
            MIME.format(kind="text/cloud-config\nContent-Transfer-Encoding: x-uuencode", body="a"),
            "MalformedUserData",
        ),
        (MIME.format(kind="application/node.eks.aws", body='{"spec": NaN}'), "NodeConfigNotJson"),
        (MIME.format(kind="application/node.eks.aws", body="[" * 5000), "NodeConfigNotJson"),
        (MIME.format(kind="application/node.eks.aws", body="[1]"), "WrongType"),
        (MIME.format(kind="application/node.eks.aws", body="{}"), "OtherNodeConfig"),
    ],
)
def test_what_is_no_mime_that_nodes_read_is_a_fault(text, code):
    assert codes_of(lambda: UserData.mime(text))[0] == code


def test_a_node_config_in_yaml_is_refused_with_the_way_around():
    yaml = "---\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n"

    with pytest.raises(EksDevicesError) as error:
        UserData.mime(MIME.format(kind="application/node.eks.aws", body=yaml))

    (fault,) = error.value.faults
    assert fault.code == "NodeConfigNotJson"
    assert "UserData.node_config(yaml.safe_load(text))" in fault.fix


def test_all_faults_of_a_mime_text_come_together():
    body = "--B\nContent-Type: text/plain\n\na\n--B\nContent-Type: text/x-shellscript\n\nb\n--B--\n"

    with pytest.raises(EksDevicesError) as error:
        UserData.mime(f"Content-Type: multipart/mixed; boundary=B\n\n{body}")

    assert [fault.path for fault in error.value.faults] == ["user_data[0]", "user_data[1]"]


# Several together


def test_several_come_in_their_order():
    other = UserData.shell("#!/bin/sh\n")

    assert UserData.combined(SCRIPT, other).parts == SCRIPT.parts + other.parts
    assert UserData.combined(SCRIPT) == SCRIPT


def test_settings_of_several_texts_are_joined():
    more = UserData.bottlerocket("[settings.ntp]\ntime-servers = ['a']\n")

    joined = UserData.combined(SETTINGS, more).settings()

    assert joined == {"settings": {"motd": "hello", "ntp": {"time-servers": ("a",)}}}


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        ([], ["WrongType"]),
        ([SCRIPT, "#!/bin/sh"], ["WrongType"]),
        ([None, Hostile()], ["WrongType", "WrongType"]),
        ([any_user_data(parts=None), SCRIPT], ["WrongType"]),
        ([SCRIPT, SETTINGS], ["MalformedUserData"]),
        ([SETTINGS, SETTINGS], []),
        ([SETTINGS, UserData.bottlerocket("[settings]\nmotd = 'bye'")], ["RepeatedSetting"]),
        ([SETTINGS, UserData.bottlerocket("[settings.motd]\na = 1")], ["RepeatedSetting"]),
    ],
)
def test_what_cannot_go_together_is_a_fault(given, codes):
    if codes:
        assert codes_of(lambda: any_user_data.combined(*given)) == codes
    else:
        assert any_user_data.combined(*given).settings() == SETTINGS.settings()


def node_data(**spec: Any) -> UserData:
    return UserData.node_config({"spec": spec})


def toml_data(text: str) -> UserData:
    return node_data(containerd={"config": text})


STATIC = node_data(kubelet={"config": {"cpuManagerPolicy": "static"}})


@pytest.mark.parametrize(
    ("first", "second", "key"),
    [
        (
            STATIC,
            node_data(kubelet={"config": {"cpuManagerPolicy": "none"}}),
            "spec.kubelet.config.cpuManagerPolicy",
        ),
        (STATIC, STATIC, None),
        (STATIC, node_data(kubelet={"config": {"failSwapOn": True}}), None),
        (
            node_data(kubelet={"config": {"failSwapOn": 1}}),
            node_data(kubelet={"config": {"failSwapOn": True}}),
            "spec.kubelet.config.failSwapOn",
        ),
        (
            node_data(featureGates={"FastImagePull": True}),
            node_data(featureGates={"FastImagePull": False}),
            "spec.featureGates.FastImagePull",
        ),
        (
            node_data(instance={"localStorage": {"strategy": "RAID0"}}),
            node_data(instance={"localStorage": {"strategy": "Mount"}}),
            "spec.instance.localStorage.strategy",
        ),
        (
            node_data(kubelet={"flags": ["--v=4"]}),
            node_data(kubelet={"flags": ["--event-burst=9"]}),
            None,
        ),
        (toml_data("[plugins.a]\nx = 1"), toml_data("[plugins.b]\nx = 2"), None),
        (
            toml_data("[plugins.a]\nx = 1"),
            toml_data("[plugins.a]\nx = 2"),
            "spec.containerd.config.plugins.a.x",
        ),
        (toml_data("# nothing"), toml_data("[plugins]"), None),
        (node_data(kubelet=None, instance={}), STATIC, None),
    ],
)
def test_two_node_configs_may_not_contradict_each_other(first, second, key):
    if key is None:
        assert len(UserData.combined(first, second).parts) == 2
        return
    with pytest.raises(EksDevicesError) as error:
        UserData.combined(first, SCRIPT, second)

    (fault,) = error.value.faults
    assert (fault.code, fault.path) == ("RepeatedSetting", "user_data")
    assert key in fault.message
    assert fault.got != fault.allowed


def test_node_configs_in_one_mime_text_may_not_contradict_each_other_either():
    part = (
        '--B\nContent-Type: application/node.eks.aws\n\n{"apiVersion": "node.eks.aws/v1alpha1", '
        '"kind": "NodeConfig", "spec": {"kubelet": {"config": {"podPidsLimit": %d}}}}\n'
    )
    text = 'Content-Type: multipart/mixed; boundary="B"\n\n%s--B--\n'

    assert codes_of(lambda: UserData.mime(text % (part % 1 + part % 2))) == ["RepeatedSetting"]
    assert len(UserData.mime(text % (part % 1 + part % 1)).parts) == 2


# On a node group


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ("#!/bin/bash", "WrongType"),
        (Hostile(), "WrongType"),
        (any_user_data(parts=()), "WrongType"),
        (any_user_data(parts=["#!/bin/bash"]), "WrongType"),
        (any_user_data(parts=("#!/bin/bash",)), "WrongType"),
        (any_user_data(parts=(Hostile(),)), "WrongType"),
        (UserData(parts=(UserDataPart(kind=PartKind.SHELL, text="true"),)), "MalformedUserData"),
        (any_user_data(parts=(UserDataPart(kind="shell", text="#!a"),)), "WrongType"),  # type: ignore[arg-type]
        (any_user_data(parts=(UserDataPart(kind=PartKind.SHELL, text=7),)), "WrongType"),  # type: ignore[arg-type]
        (
            any_user_data(parts=(UserDataPart(kind=PartKind.NODE_CONFIG, config={}),)),  # type: ignore[arg-type]
            "WrongType",
        ),
    ],
)
def test_user_data_that_no_factory_made_is_found_on_the_group(data, code):
    (fault,) = user_data_faults(spec_of(data))

    assert fault.code == code
    assert fault.path.startswith("nodegroups.g.user_data")
    assert fault.fix


@pytest.mark.parametrize(
    ("system", "data", "codes"),
    [
        (AL2023, None, []),
        (AL2023, SCRIPT, []),
        (AL2023, SETTINGS, ["UserDataOfOtherSystem"]),
        (BOTTLEROCKET, SETTINGS, []),
        (BOTTLEROCKET, SCRIPT, ["UserDataOfOtherSystem"]),
        (BOTTLEROCKET, UserData.node_config({"spec": {"kubelet": {}}}), ["UserDataOfOtherSystem"]),
        (OperatingSystem.AUTO_MODE, SCRIPT, []),
        ("al2023", SCRIPT, []),
        (Hostile(), SCRIPT, []),
    ],
)
def test_user_data_is_of_the_group_s_operating_system(system, data, codes):
    faults = list(user_data_faults(spec_of(data, operating_system=system)))

    assert [fault.code for fault in faults] == codes
    assert all(fault.path == "nodegroups.g.user_data" for fault in faults)


@pytest.mark.parametrize(
    "text",
    [
        '[settings."a.b"]\nc = 1',
        '[settings.a."b c".d]\ne = 1',
        'settings.a."b/c".d = 1',
        '[settings]\n"a\\"b" = 1',
        "[settings]\n'a\"b' = 1",
        '[settings]\nmotd = "say \\"hi\\""',
        "[settings]\nmotd = '''it's \"so\"'''",
        '[settings]\nmotd = """\n"two"\nlines"""',
        "[settings]\na = [1, 0.5]",
        "[settings]\na = ['b', {c = 'd'}]",
        "[settings.network]\nhosts = [['10.0.0.1', ['a', 'b']]]",
    ],
)
def test_toml_that_eks_cannot_read_is_refused_where_eks_reads_it(text):
    data = UserData.bottlerocket(text)

    faults = list(user_data_faults(spec_of(data, operating_system=BOTTLEROCKET)))
    own_image = user_data_faults(spec_of(data, operating_system=BOTTLEROCKET, ami_id=AMI))

    assert [fault.code for fault in faults] == ["TomlBeyondEks"]
    assert faults[0].path == "nodegroups.g.user_data"
    assert list(own_image) == []


@pytest.mark.parametrize(
    "text",
    [
        "[settings.kubernetes.node-labels]\n'a.b/c' = 'd'",
        '[settings."kubernetes"."node-labels"]\n"a.b/c" = "d"',
        "[settings]\nmotd = 'say \"hi\"'",
        "[settings]\nmotd = 'C:\\path'",
        '[settings]\nmotd = "it\'s"',
        "[settings]\na = [['b', 'c'], ['d']]",
        "[settings.kernel.sysctl]\n'vm.nr_hugepages' = '3000'",
    ],
)
def test_toml_that_eks_reads_is_taken(text):
    data = UserData.bottlerocket(text)

    assert list(user_data_faults(spec_of(data, operating_system=BOTTLEROCKET))) == []


@pytest.mark.parametrize(
    ("release", "text", "faulty"),
    [
        ("1.21.0-0a1b2c3d", "[settings.bootstrap-commands.a]\nmode = 'off'", True),
        ("1.22.0-0a1b2c3d", "[settings.bootstrap-commands.a]\nmode = 'off'", False),
        ("1.62.9-0a1b2c3d", "[settings.kubelet-device-plugins.nvidia]\nenabled = true", True),
        ("1.63.0-0a1b2c3d", "[settings.kubelet-device-plugins.nvidia]\nenabled = true", False),
        ("1.9.0-0a1b2c3d", "[settings.kubelet-device-plugins.nvidia]\nenabled = false", True),
        ("1.65.0-0a1b2c3d", "[settings.kubelet-dra-drivers.nvidia]\nenabled = false", True),
        ("1.66.0-0a1b2c3d", "[settings.kubelet-dra-drivers.nvidia]\nenabled = false", False),
        ("1.68.0-0a1b2c3d", "[settings.kubelet-dra-drivers.net]\nenabled = false", True),
        ("1.69.0-0a1b2c3d", "[settings.kubelet-dra-drivers.net]\nenabled = false", False),
        ("1.9.0-0a1b2c3d", "[settings]\nmotd = 'a'", False),
        (None, "[settings.bootstrap-commands.a]\nmode = 'off'", False),
    ],
)
def test_a_pinned_release_knows_the_user_s_settings(release, text, faulty):
    data = UserData.bottlerocket(text)
    spec = spec_of(data, operating_system=BOTTLEROCKET, release_version=release)

    faults = list(release_faults(spec))

    assert [fault.code for fault in faults] == ["ReleaseTooOld"] * faulty
    assert all(fault.path == "nodegroups.g.release_version" for fault in faults)


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ({"release_version": "1.45.0-0a1b2c3d"}, ["ReleaseTooOld"]),
        ({"release_version": "1.46.0-0a1b2c3d"}, []),
        ({"release_version": None}, []),
        ({"release_version": 7}, ["WrongType"]),
        ({"release_version": "newest"}, ["MalformedReleaseVersion"]),
        ({"release_version": "1.45.0-0a1b2c3d", "instance_store": False}, []),
        ({"release_version": "1.45.0-0a1b2c3d", "instance_store": None}, []),
        ({"release_version": "1.45.0-0a1b2c3d", "operating_system": Hostile()}, []),
        ({"release_version": "1.34.2-20261023", "operating_system": AL2023}, []),
    ],
)
def test_a_pinned_release_of_bottlerocket_can_join_local_disks(options, codes):
    spec = spec_of(**({"operating_system": BOTTLEROCKET, "instance_store": True} | options))

    assert [fault.code for fault in release_faults(spec)] == codes


@pytest.mark.parametrize(
    "data", ["[settings]", Hostile(), any_user_data(parts=None), any_user_data(parts=(7,)), SCRIPT]
)
def test_user_data_at_fault_does_not_keep_a_release_from_being_judged(data):
    options = {"operating_system": BOTTLEROCKET, "release_version": "1.45.0-0a1b2c3d"}

    faults = release_faults(spec_of(data, instance_store=True, **options))

    assert [fault.code for fault in faults] == ["ReleaseTooOld"]


def test_a_release_and_the_settings_in_quotes_that_it_lacks_are_told_together():
    text = "[settings.bootstrap-commands.'a.b']\nmode = 'off'"
    options = {"operating_system": BOTTLEROCKET, "release_version": "1.21.0-0a1b2c3d"}

    with pytest.raises(EksDevicesError) as error:
        plan_nodegroup(spec_of(UserData.bottlerocket(text), **options), kubernetes_version="1.34")

    assert {fault.code for fault in error.value.faults} >= {"ReleaseTooOld", "TomlBeyondEks"}


# The kubelet's configuration in a NodeConfig


def kubelet_data(config: dict[str, Any]) -> UserData:
    return UserData.node_config({"spec": {"kubelet": {"config": config}}})


@pytest.mark.parametrize("way", ["kubelet", "user_data"])
@pytest.mark.parametrize(
    ("config", "codes", "beside_own_image"),
    [
        ({"cpuManagerPolcy": "static"}, ["UnknownKubeletField"], ["UnknownKubeletField"]),
        ({"port": 1}, ["KubeletFieldOwned"], ["KubeletFieldOwned"]),
        ({"registerNode": False}, ["KubeletFieldOwned"], ["KubeletFieldOwned"]),
        ({"podsPerCore": 3}, ["KubeletFieldOwned"], ["KubeletFieldOwned"]),
        ({"registerWithTaints": []}, ["KubeletFieldOwned"], ["KubeletFieldOwned"]),
        ({"clusterDNS": ["169.254.20.10"]}, ["KubeletFieldOwned"], []),
        ({"staticPodPath": "/a", "zzz": 1}, ["KubeletFieldOwned", "UnknownKubeletField"], None),
        ({"cpuManagerPolicy": "static", "failSwapOn": False}, [], []),
    ],
)
def test_the_kubelet_s_configuration_is_judged_alike_in_both_ways_to_set_it(
    way, config, codes, beside_own_image
):
    def told(ami_id: str | None) -> list[str]:
        if way == "kubelet":
            faults = list(kubelet_faults(spec_of(kubelet=config, ami_id=ami_id)))
            at = "nodegroups.g.kubelet"
        else:
            faults = list(user_data_faults(spec_of(kubelet_data(config), ami_id=ami_id)))
            at = "nodegroups.g.user_data.spec.kubelet.config"
        assert all(one.path.rpartition(".")[0] == at and one.fix for one in faults)
        return [one.code for one in faults]

    assert told(None) == codes
    assert told(AMI) == (codes if beside_own_image is None else beside_own_image)


@pytest.mark.parametrize(
    ("flags", "faulty"),
    [
        (["--node-labels=a=b"], ["--node-labels"]),
        (["--node_labels=a=b"], ["--node-labels"]),
        (["--register-with-taints", "a=b:NoSchedule"], ["--register-with-taints"]),
        (["--register_with-taints=a=b:NoSchedule"], ["--register-with-taints"]),
        (["--max-pods 7"], ["--max-pods"]),
        (["--max_pods=7"], ["--max-pods"]),
        ([" --v=4\t--max-pods=7 --config /x"], ["--max-pods", "--config"]),
        (["-max-pods=7"], ["--max-pods"]),
        (["--register-node=false"], ["--register-node"]),
        (["--register_node=false"], ["--register-node"]),
        (["--config=/x", "--config-dir=/x"], ["--config", "--config-dir"]),
        (["--hostname-override=a"], ["--hostname-override"]),
        (["--pod-manifest-path=/x"], ["--pod-manifest-path"]),
        (["--provider-id=x", "--kubeconfig=/x"], ["--provider-id", "--kubeconfig"]),
        (["--anonymous-auth=true"], ["--anonymous-auth"]),
        (["--node-labels-of-mine=1", "--v=4", "--v", "4", "", "config", "--event_burst=9"], []),
    ],
)
@pytest.mark.parametrize("ami_id", [None, AMI])
def test_flags_of_what_the_library_or_eks_sets_are_refused(flags, faulty, ami_id):
    data = UserData.node_config({"spec": {"kubelet": {"flags": flags}}})

    faults = list(user_data_faults(spec_of(data, ami_id=ami_id)))

    assert [one.code for one in faults] == ["KubeletFlagOwned"] * len(faulty)
    for fault, flag in zip(faults, faulty, strict=True):
        assert fault.path.startswith("nodegroups.g.user_data.spec.kubelet.flags[")
        assert fault.message.startswith(f"{flag} ")
        assert fault.fix
        assert fault.source


def test_the_dns_of_an_own_image_may_be_a_flag_too():
    data = UserData.node_config({"spec": {"kubelet": {"flags": ["--cluster-dns=169.254.20.10"]}}})

    assert [one.code for one in user_data_faults(spec_of(data))] == ["KubeletFlagOwned"]
    assert list(user_data_faults(spec_of(data, ami_id=AMI))) == []


def test_a_flag_is_named_by_its_place():
    data = UserData.node_config({"spec": {"kubelet": {"flags": ["--v=4", "--max-pods=7"]}}})

    (fault,) = user_data_faults(spec_of(UserData.combined(SCRIPT, data)))

    assert fault.path == "nodegroups.g.user_data[1].spec.kubelet.flags[1]"
    assert (fault.got, fault.fix) == ("'--max-pods=7'", "use max_pods=...")


def test_the_part_with_the_fault_is_named():
    data = UserData.combined(SCRIPT, kubelet_data({"failSwapOn": True}), kubelet_data({"port": 1}))

    (fault,) = user_data_faults(spec_of(data))

    assert fault.path == "nodegroups.g.user_data[2].spec.kubelet.config.port"


def test_what_a_node_config_cannot_set_is_told_with_the_group_s_other_faults():
    group = spec_of(kubelet_data({"podsPerCore": 3, "zzz": 1}), max_size=0)

    with pytest.raises(EksDevicesError) as error:
        plan_nodegroup(group, kubernetes_version="1.34")

    assert {fault.code for fault in error.value.faults} == {
        "KubeletFieldOwned",
        "UnknownKubeletField",
        "OutOfRange",
    }


# Conflicts on AL2023


CLUSTER = {"name": "a", "apiServerEndpoint": "b", "certificateAuthority": "c", "cidr": "d"}


def test_what_joins_the_nodes_is_never_the_user_s():
    own_image = conflicts_of(node_config_plan({"cluster": CLUSTER}, ami_id=AMI))

    assert conflicts_of(node_config_plan({"cluster": CLUSTER})).keys() == {"spec.cluster"}
    assert own_image.keys() == {f"spec.cluster.{name}" for name in CLUSTER}
    (fault, *_) = user_data_conflicts(node_config_plan({"cluster": CLUSTER}, ami_id=AMI), "x")
    assert "ClusterReference(" in fault.fix


def test_an_own_image_on_an_outpost_gets_the_two_fields_that_only_its_user_knows():
    outpost = {"cluster": {"enableOutpost": True, "id": "a"}}

    assert conflicts_of(node_config_plan(outpost, ami_id=AMI)) == {}
    assert conflicts_of(node_config_plan(outpost)).keys() == {"spec.cluster"}


def test_another_number_of_pods_is_a_conflict_and_the_same_one_is_none():
    def conflicts(**kubelet: Any) -> dict[str, tuple[str, str]]:
        return conflicts_of(node_config_plan({"kubelet": kubelet}, max_pods=50))

    assert conflicts(config={"maxPods": 50}) == {}
    assert conflicts(config={"maxPods": HostileNumber(50)}) == {}
    assert conflicts(config={"maxPods": HostileText("50")}).keys() == {
        "spec.kubelet.config.maxPods"
    }
    assert conflicts(config={"maxPods": 50.0}).keys() == {"spec.kubelet.config.maxPods"}
    assert conflicts(maxPodsExpression=HostileText("50")).keys() == {
        "spec.kubelet.maxPodsExpression"
    }
    assert conflicts(config={"maxPods": 60}) == {
        "spec.kubelet.config.maxPods": ("60", "maxPods 50")
    }
    assert conflicts(maxPodsExpression="max_pods + 2").keys() == {"spec.kubelet.maxPodsExpression"}


@pytest.mark.parametrize(
    ("joined", "strategy", "conflict"),
    [
        (True, "RAID0", False),
        (True, "raid0", False),
        (True, "Mount", True),
        (True, "RAID10", True),
        (True, None, False),
        (False, "RAID0", True),
        (False, "Mount", False),
        (False, None, False),
    ],
)
def test_local_disks_are_joined_as_the_plan_says(joined, strategy, conflict):
    storage = {"localStorage": {"strategy": strategy} if strategy else {"mountPath": "/a"}}

    found = conflicts_of(node_config_plan({"instance": storage}, instance_store=joined))

    assert found.keys() == ({"spec.instance.localStorage.strategy"} if conflict else set())


def test_kubelet_settings_may_be_said_twice_but_not_otherwise():
    option = {"cpuManagerPolicy": "static", "evictionHard": {"memory.available": "1Gi"}}
    own = {
        "cpuManagerPolicy": "none",
        "evictionHard": {"nodefs.available": "5%", "memory.available": "1Gi"},
        "seccompDefault": True,
    }

    found = conflicts_of(node_config_plan({"kubelet": {"config": own}}, kubelet=option))

    assert found == {"spec.kubelet.config.cpuManagerPolicy": ("'none'", "static")}


def test_true_is_not_one():
    own = {"kubelet": {"config": {"failSwapOn": True}}}

    assert conflicts_of(node_config_plan(own, kubelet={"failSwapOn": True})) == {}
    assert conflicts_of(node_config_plan(own, kubelet={"failSwapOn": 1})).keys() == {
        "spec.kubelet.config.failSwapOn"
    }


def test_each_node_config_is_judged():
    data = UserData.combined(
        UserData.node_config({"spec": {"cluster": {"name": "a"}}}),
        SCRIPT,
        UserData.node_config({"spec": {"kubelet": {"config": {"maxPods": 1}}}}),
    )

    assert conflicts_of(plan_of(data)).keys() == {"spec.cluster", "spec.kubelet.config.maxPods"}


# Conflicts on Bottlerocket

PLUGIN_KEY = "settings.kubelet-device-plugins.nvidia.enabled"
DRIVER_KEY = "settings.kubelet-dra-drivers.nvidia.enabled"
# What is in conflict for: plugin on and driver off, both on, both off, plugin off and driver on.
GPU_MANAGERS = {
    "the built-in plugin": (
        {"mechanism": PLUGIN},
        [set(), {DRIVER_KEY}, {PLUGIN_KEY}, {PLUGIN_KEY, DRIVER_KEY}],
    ),
    "our DRA driver": (
        {"mechanism": DRA},
        [{PLUGIN_KEY}, {PLUGIN_KEY, DRIVER_KEY}, set(), {DRIVER_KEY}],
    ),
    "a scoped DRA driver": (
        {"mechanism": DRA, "scope": "team"},
        [{PLUGIN_KEY}, {PLUGIN_KEY, DRIVER_KEY}, set(), {DRIVER_KEY}],
    ),
    "somebody else's plugin": (
        {"mechanism": PLUGIN, "external": {GPU}},
        [{PLUGIN_KEY}, {PLUGIN_KEY, DRIVER_KEY}, set(), {DRIVER_KEY}],
    ),
    "somebody else's DRA driver, which may be the host's": (
        {"mechanism": DRA, "external": {GPU}},
        [{PLUGIN_KEY}, {PLUGIN_KEY}, set(), set()],
    ),
}


@pytest.mark.parametrize(("options", "expected"), GPU_MANAGERS.values(), ids=GPU_MANAGERS)
def test_gpus_have_one_manager_in_all_four_combinations_of_host_services(options, expected):
    found = [
        set(
            conflicts_of(
                settings_plan(
                    f"[settings.kubelet-device-plugins.nvidia]\nenabled = {plugin}\n"
                    f"[settings.kubelet-dra-drivers.nvidia]\nenabled = {driver}\n",
                    **options,
                )
            )
        )
        for plugin, driver in (
            ("true", "false"),
            ("true", "true"),
            ("false", "false"),
            ("false", "true"),
        )
    ]

    assert found == expected


def test_dranet_of_the_host_is_a_second_manager_of_efa():
    text = "[settings.kubelet-dra-drivers.net]\nenabled = true\n"
    efa = {"instance_type": "p5.48xlarge"}
    foreign = efa | {"external": {DeviceType.EFA}, "mechanism": DRA}

    assert len(conflicts_of(settings_plan(text, **efa))) == 1
    assert conflicts_of(settings_plan(text, **efa, mechanism=PLUGIN)).keys() == {
        "settings.kubelet-dra-drivers.net.enabled"
    }
    assert conflicts_of(settings_plan(text, **foreign)) == {}
    assert conflicts_of(settings_plan(text)) == {}
    assert conflicts_of(settings_plan(text.replace("true", "false"), **efa)) == {}
    # Whose devices another driver would publish is not known.
    assert conflicts_of(settings_plan(text.replace(".net", ".another"), **efa)) == {}


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ({"mechanism": DRA}, True),
        ({"mechanism": DRA, "external": {GPU}}, True),
        ({"mechanism": DRA, "gpu_driver": GpuDriver(host_service=True)}, True),
        ({"mechanism": PLUGIN, "external": {GPU}}, True),
        ({"mechanism": PLUGIN, "mig": Mig.uniform("1g.10gb")}, False),
    ],
)
@pytest.mark.parametrize(
    ("key", "value"),
    [("device-partitioning-strategy", "mig"), ("device-sharing-strategy", "mps")],
)
def test_what_the_built_in_plugin_would_read_is_refused_while_it_is_off(
    options, refused, key, value
):
    table = "settings.kubelet-device-plugins.nvidia"
    group = {"instance_type": "p5.48xlarge", "efa": False} | options

    found = conflicts_of(settings_plan(f"[{table}]\n{key} = '{value}'\n", **group))
    said = conflicts_of(settings_plan(f"[{table}]\n{key} = 'none'\n", **group))

    if refused:
        assert (found, said) == ({f"{table}.{key}": (repr(value), "none")}, {})
    elif value == "mig":
        assert found == {}


GATE = "DynamicResourceAllocation"


@pytest.mark.parametrize(
    ("kubelet", "key", "got"),
    [
        ({"config": {"featureGates": {GATE: False}}}, f"config.featureGates.{GATE}", "False"),
        ({"config": {"featureGates": {GATE: "false"}}}, f"config.featureGates.{GATE}", "'false'"),
        ({"config": {"featureGates": {GATE: None}}}, f"config.featureGates.{GATE}", "None"),
        ({"flags": [f"--feature-gates={GATE}=false"]}, "flags", f"'{GATE}=false'"),
        ({"flags": ["--v=4", f"--feature_gates=A=true,{GATE}=F"]}, "flags", f"'{GATE}=F'"),
        ({"flags": ["--feature-gates", f"{GATE}=0"]}, "flags", f"'{GATE}=0'"),
        ({"config": {"featureGates": {GATE: True, "MemoryQoS": False}}}, None, None),
        ({"config": {"featureGates": {"MemoryQoS": False}}}, None, None),
        ({"flags": [f"--feature-gates={GATE}=true,A=false"]}, None, None),
        ({"flags": [f"--other={GATE}=false", "--v=4"]}, None, None),
    ],
)
def test_a_kubelet_without_claims_is_refused_where_devices_come_by_them(kubelet, key, got):
    expected = {} if key is None else {f"spec.kubelet.{key}": (got, "true")}
    mixed = {"instance_type": "p5.48xlarge", "mechanism": {GPU: PLUGIN, DeviceType.EFA: DRA}}

    assert conflicts_of(node_config_plan({"kubelet": kubelet}, mechanism=DRA)) == expected
    assert conflicts_of(node_config_plan({"kubelet": kubelet}, **mixed)) == expected
    assert conflicts_of(node_config_plan({"kubelet": kubelet}, mechanism=PLUGIN)) == {}


@pytest.mark.parametrize(
    ("kubelet", "key", "got"),
    [
        ({"config": {"featureGates": {GATE: False}}}, f"config.featureGates.{GATE}", "False"),
        ({"flags": [f"--feature-gates={GATE}=false,A=true"]}, "flags", f"'{GATE}=false'"),
        ({"flags": [f"--feature-gates={GATE}=true"]}, None, None),
    ],
)
def test_a_gate_that_is_locked_is_refused_without_claims_too(kubelet, key, got):
    expected = {} if key is None else {f"spec.kubelet.{key}": (got, "true")}
    plan = node_config_plan({"kubelet": kubelet}, mechanism=PLUGIN)
    newer = dataclasses.replace(plan, kubernetes_version="1.35")

    assert (conflicts_of(plan), conflicts_of(newer)) == ({}, expected)


@pytest.mark.parametrize("value", ["false", 0, None])
def test_a_gate_of_a_node_config_is_true_or_false(value):
    config = {"spec": {"kubelet": {"config": {"featureGates": {GATE: value}}}}}
    spec = spec_of(user_data=UserData.node_config(config), mechanism=PLUGIN)

    assert [one.code for one in user_data_faults(spec)] == ["WrongType"]


@pytest.mark.parametrize(
    ("table", "sharing", "keys"),
    [
        ("device-sharing-strategy = 'time-slicing'", None, {"device-sharing-strategy"}),
        ("device-sharing-strategy = 'none'", None, set()),
        ("device-sharing-strategy = 'time-slicing'", 4, set()),
        ("device-sharing-strategy = 'none'", 4, {"device-sharing-strategy"}),
        ("time-slicing.replicas = 4", 4, set()),
        ("time-slicing.replicas = 5", 4, {"time-slicing.replicas"}),
        ("time-slicing.rename-by-default = true", 4, {"time-slicing.rename-by-default"}),
        ("time-slicing.rename-by-default = false", 4, set()),
        ("device-list-strategy = 'cdi-cri'", None, set()),
    ],
)
def test_gpus_are_shared_as_the_plan_says(table, sharing, keys):
    shared = sharing and GpuSharing.time_slicing(replicas=sharing)

    found = conflicts_of(
        settings_plan(f"[settings.kubelet-device-plugins.nvidia]\n{table}\n", gpu_sharing=shared)
    )

    assert {key.partition(".nvidia.")[2] for key in found} == keys


@pytest.mark.parametrize(
    ("text", "options", "key"),
    [
        ("[settings.kubernetes]\nmax-pods = 51", {"max_pods": 50}, "settings.kubernetes.max-pods"),
        ("[settings.kubernetes]\nmax-pods = 50", {"max_pods": 50}, None),
        (
            "[settings.kubernetes]\ndevice-ownership-from-security-context = false",
            {"instance_type": "inf2.48xlarge"},
            "settings.kubernetes.device-ownership-from-security-context",
        ),
        (
            "[settings.kubernetes]\ndevice-ownership-from-security-context = true",
            {"instance_type": "inf2.48xlarge"},
            None,
        ),
        ("[settings.kubernetes]\ncluster-name = 'a'", {}, "settings.kubernetes.cluster-name"),
        (
            "[settings.kubernetes]\napi-server = 'a'",
            {"ami_id": AMI},
            "settings.kubernetes.api-server",
        ),
        (
            "[settings.kubernetes]\ncluster-certificate = 'a'",
            {},
            "settings.kubernetes.cluster-certificate",
        ),
        ("[settings.kubernetes]\ncluster-dns-ip = '169.254.20.10'", {}, None),
        (
            "[settings.kernel.sysctl]\n'vm.nr_hugepages' = '5'",
            {"hugepages_2mi": 4},
            "settings.kernel.sysctl.vm.nr_hugepages",
        ),
        ("[settings.kernel.sysctl]\n'vm.nr_hugepages' = '4'", {"hugepages_2mi": 4}, None),
        ("[settings.kernel.sysctl]\n'vm.nr_hugepages' = '5'", {}, None),
        (
            "[settings.kernel.sysctl]\n'vm/nr_hugepages' = '5'",
            {"hugepages_2mi": 4},
            "settings.kernel.sysctl.vm/nr_hugepages",
        ),
        (
            "[settings.kernel.hugepages.static.2Mi]\ncount = 5",
            {"hugepages_2mi": 4},
            "settings.kernel.hugepages.static.2Mi.count",
        ),
        ("[settings.kernel.hugepages.static.1Gi]\ncount = 5", {"hugepages_2mi": 4}, None),
        (
            "[settings.kubernetes.node-labels]\n'eks-devices/gpu' = 'dra'",
            {},
            "settings.kubernetes.node-labels.eks-devices/gpu",
        ),
        (
            "[settings.kubernetes.node-labels]\n'eks-devices/efa' = 'dra'",
            {},
            "settings.kubernetes.node-labels.eks-devices/efa",
        ),
        (
            "[settings.kubernetes.node-labels]\nteam = 'a'",
            {"labels": {"team": "b"}},
            "settings.kubernetes.node-labels.team",
        ),
        ("[settings.kubernetes.node-labels]\nteam = 'a'", {"labels": {"team": "a"}}, None),
        ("[settings.kubernetes.node-labels]\nteam = 'a'", {}, None),
        (
            "[settings.kubernetes.node-taints]\n'nvidia.com/gpu' = ['present:NoExecute']",
            {},
            "settings.kubernetes.node-taints.nvidia.com/gpu",
        ),
        ("[settings.kubernetes.node-taints]\n'nvidia.com/gpu' = ['present:NoSchedule']", {}, None),
        ("[settings.kubernetes.node-taints]\n'nvidia.com/gpu' = 'present:NoSchedule'", {}, None),
        ("[settings.kubernetes.node-taints]\nother = ['a:NoExecute']", {}, None),
        ("[settings.kubernetes]\nnode-labels = 7\nnode-taints = 7", {}, None),
        (
            (
                "[settings.bootstrap-commands.a]\n"
                "commands = [['apiclient', 'ephemeral-storage', 'init']]"
            ),
            {"instance_store": True},
            "settings.bootstrap-commands.a",
        ),
        (
            (
                "[settings.bootstrap-commands.a]\n"
                "commands = [['apiclient', 'ephemeral-storage', 'init']]"
            ),
            {},
            None,
        ),
        (
            "[settings.bootstrap-commands.a]\ncommands = [['apiclient', 'report', 'cis']]",
            {"instance_store": True},
            None,
        ),
        ("[settings]\nbootstrap-commands = 7", {"instance_store": False}, None),
    ],
)
def test_settings_that_the_plan_or_the_cluster_has_otherwise_are_conflicts(text, options, key):
    assert set(conflicts_of(settings_plan(text, **options))) == ({key} if key else set())


def test_a_conflict_names_both_values_and_the_option_to_use():
    text = "[settings.kubernetes]\nmax-pods = 51"

    (fault,) = user_data_conflicts(settings_plan(text, max_pods=50), "nodegroups.g.user_data")

    assert (fault.got, fault.allowed) == ("51", "50")
    assert "max_pods" in fault.fix
    assert fault.source


@pytest.mark.parametrize(
    "options",
    [
        {"instance_type": "p5.48xlarge", "operating_system": BOTTLEROCKET, "instance_store": True},
        {"instance_type": "inf2.48xlarge", "operating_system": BOTTLEROCKET, "hugepages_2mi": 9},
        {"mechanism": DRA, "operating_system": BOTTLEROCKET},
    ],
)
def test_what_the_plan_writes_itself_is_no_conflict_when_a_user_writes_it_too(options):
    own = UserData.bottlerocket(user_data(plan_of(**options)) or "")

    assert conflicts_of(plan_of(own, **options)) == {}
    assert user_data(plan_of(own, **options)) == user_data(plan_of(**options))


def test_the_plan_s_own_node_config_is_no_conflict_either():
    options: dict[str, Any] = {"instance_type": "p5.48xlarge", "kubelet": {"failSwapOn": False}}
    own = UserData.mime(user_data(plan_of(**options)) or "")

    assert conflicts_of(plan_of(own, **options)) == {}


def test_a_group_in_conflict_has_no_plan_and_all_its_conflicts_come_together():
    text = "[settings.kubernetes]\nmax-pods = 51\ncluster-name = 'a'\n"
    group = spec_of(UserData.bottlerocket(text), operating_system=BOTTLEROCKET, max_pods=50)

    with pytest.raises(EksDevicesError) as error:
        plan_nodegroup(group, kubernetes_version="1.34")

    assert {fault.path for fault in error.value.faults} == {
        "nodegroups.g.user_data.settings.kubernetes.max-pods",
        "nodegroups.g.user_data.settings.kubernetes.cluster-name",
    }


def test_a_group_without_user_data_has_no_conflicts():
    block = Capacity.block("cr-0123456789abcdef0")

    assert conflicts_of(plan_of(instance_type="p6e-gb200.36xlarge", capacity=block)) == {}
    assert conflicts_of(plan_of(SCRIPT)) == {}


# Properties

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
leaves = texts | st.booleans() | st.integers(-(2**63), 2**63 - 1)
lists = st.lists(leaves, max_size=3) | st.lists(st.lists(texts, max_size=2), max_size=2)
trees = st.recursive(
    st.dictionaries(texts, leaves | lists, max_size=4),
    lambda inner: st.dictionaries(texts, inner | leaves | st.lists(inner, max_size=2), max_size=3),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(trees)
def test_settings_are_written_as_toml_that_reads_back_the_same(tree):
    assert tomllib.loads(write_settings({"settings": tree})) == {"settings": tree}


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\r"), max_size=60))
def test_any_script_reaches_the_node_unchanged(text):
    data = UserData.shell("#!/bin/sh\n" + text)

    again = UserData.mime(user_data(plan_of(data, instance_store=False)) or "")

    assert again.parts[1:] == data.parts


def test_a_body_is_json_that_nodeadm_reads():
    data = UserData.node_config({"spec": {"kubelet": {"flags": ["--v=4"]}}})

    assert json.loads(data.parts[0].body())["spec"] == {"kubelet": {"flags": ["--v=4"]}}
