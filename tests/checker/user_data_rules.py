"""What EKS and the operating systems refuse of user data."""

from __future__ import annotations

import base64
import binascii
import functools
import re
import subprocess
import tomllib
from collections.abc import Iterator
from email import message_from_string, policy
from email.message import EmailMessage
from typing import Any, cast

import yaml
from tests.checker.pair import Pair, Values, as_values, is_opaque, rule

TEMPLATES = "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"
NODEADM = "https://github.com/awslabs/amazon-eks-ami/blob/main/nodeadm/doc/api.md"
DROP_INS = "https://github.com/awslabs/amazon-eks-ami/blob/main/nodeadm/doc/examples.md"
EC2_USER_DATA = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html"
MOST_BYTES = 16 * 1024

# Stands for what CloudFormation computes.
_COMPUTED = "COMPUTED"
_SUBSTITUTED = re.compile(r"\$\{[^!}][^}]*\}")


@rule("user-data-encoding", EC2_USER_DATA)
def user_data_encoding(pair: Pair) -> Iterator[str]:
    given = pair.data.get("UserData")
    if isinstance(given, str) and _decoded(given) is None:
        yield "user data is not text in base64"


@rule("user-data-size", EC2_USER_DATA)
def user_data_size(pair: Pair) -> Iterator[str]:
    size = len((_text(pair) or "").encode())
    if size > MOST_BYTES:
        yield f"{size} bytes of user data, above {MOST_BYTES}"


def _text(pair: Pair) -> str | None:
    """The user data as text; None without, and where it cannot be read."""
    given = pair.data.get("UserData")
    if isinstance(given, str):
        return _decoded(given)
    return _computed(as_values(given).get("Fn::Base64"))


def _decoded(given: str) -> str | None:
    try:
        return base64.b64decode(given, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _computed(value: object) -> str | None:
    if isinstance(value, str):
        return value
    values = as_values(value)
    if "Fn::Join" in values:
        separator, parts = values["Fn::Join"]
        return str(separator).join(_COMPUTED if is_opaque(one) else str(one) for one in parts)
    if "Fn::Sub" in values:
        found = values["Fn::Sub"]
        return _SUBSTITUTED.sub(_COMPUTED, found if isinstance(found, str) else str(found[0]))
    return None


def _is_bottlerocket(pair: Pair, text: str) -> bool:
    """An image of one's own shows its operating system by its user data alone."""
    if pair.ami_type:
        return pair.ami_type.startswith("BOTTLEROCKET")
    return not text.lower().startswith(("mime-version:", "content-type:"))


def _message(pair: Pair) -> EmailMessage | None:
    text = _text(pair)
    return None if text is None or _is_bottlerocket(pair, text) else _parsed(text)


@functools.cache
def _parsed(text: str) -> EmailMessage:
    return message_from_string(text, policy=policy.default)


def _parts(pair: Pair) -> list[EmailMessage]:
    message = _message(pair)
    if message is None or not message.is_multipart():
        return []
    return [cast("EmailMessage", one) for one in message.iter_parts()]


def _scripts(pair: Pair) -> list[str]:
    kinds = ("text/x-shellscript", "text/cloud-boothook")
    return [str(one.get_content()) for one in _parts(pair) if one.get_content_type() in kinds]


def _settings(pair: Pair) -> Values | None:
    """The settings of Bottlerocket; None on AL2023, and where they do not parse."""
    text = _text(pair)
    if text is None or not _is_bottlerocket(pair, text):
        return None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


_PART_KINDS = {
    "application/node.eks.aws",
    "text/cloud-boothook",
    "text/cloud-config",
    "text/x-shellscript",
}


@rule("user-data-format", TEMPLATES)
def user_data_format(pair: Pair) -> Iterator[str]:
    text, message = _text(pair), _message(pair)
    if text is None:
        return
    if message is None:
        if _settings(pair) is None:
            yield "user data of Bottlerocket is not TOML"
        return
    if message.get_content_type() != "multipart/mixed" or "MIME-Version" not in message:
        yield "user data of AL2023 is no MIME multi-part text"
    for one in (message, *_parts(pair)):
        yield from (f"MIME: {defect!r}" for defect in one.defects)
    for one in _parts(pair):
        if one.get_content_type() not in _PART_KINDS:
            yield f"a part of {one.get_content_type()}"
        if one.get_content_charset() == "us-ascii" and not text.isascii():
            yield "text beyond ASCII in a part of us-ascii"


@rule("user-data-script", "https://cloudinit.readthedocs.io/en/latest/explanation/format.html")
def user_data_script(pair: Pair) -> Iterator[str]:
    for script in _scripts(pair):
        if not script.startswith("#!"):
            yield "a shell script without its first line"
        elif error := _syntax_error(script):
            yield f"a shell script that does not parse: {error}"


@functools.cache
def _syntax_error(script: str) -> str:
    command = ["bash", "-n"]
    done = subprocess.run(
        command, input=script, text=True, capture_output=True, check=False, timeout=60
    )
    return done.stderr.strip()


_DROP_IN = re.compile(
    r"cat\s*>\s*/etc/eks/nodeadm\.d/(\S+)\s*<<\s*['\"]?(\w+)['\"]?\n(.*?)\n?^\2$",
    re.DOTALL | re.MULTILINE,
)
_FIELDS: dict[str, set[str]] = {
    "cluster": {"name", "apiServerEndpoint", "certificateAuthority", "cidr", "enableOutpost", "id"},
    "containerd": {"config", "baseRuntimeSpec"},
    "instance": {"localStorage", "environment", "network"},
    "kubelet": {"config", "flags", "maxPodsExpression"},
    "featureGates": {"InstanceIdNodeName", "FastImagePull"},
}


def _node_configs(pair: Pair) -> Iterator[tuple[str, str]]:
    """Where each NodeConfig stands, and its text."""
    for one in _parts(pair):
        if one.get_content_type() == "application/node.eks.aws":
            content = one.get_content()
            yield "a part", content if isinstance(content, str) else content.decode()
    for script in _scripts(pair):
        for file, _, text in _DROP_IN.findall(script):
            yield file, text


@rule("node-config", NODEADM)
def node_config(pair: Pair) -> Iterator[str]:
    for place, text in _node_configs(pair):
        yield from (f"NodeConfig in {place}: {one}" for one in _node_config_texts(text))


@rule("node-config-drop-in", DROP_INS)
def node_config_drop_in(pair: Pair) -> Iterator[str]:
    for script in _scripts(pair):
        files = [file for file, _, _ in _DROP_IN.findall(script)]
        if not files and "/etc/eks/nodeadm.d/" in script:
            yield "a script writes a drop-in that cannot be read here"
        for file in files:
            if not file.endswith((".json", ".yaml", ".yml")):
                yield f"nodeadm does not read {file}"


def _node_config_texts(text: str) -> Iterator[str]:
    config = _loaded(text)
    if config is None:
        yield "neither JSON nor YAML"
        return
    if (config.get("apiVersion"), config.get("kind")) != ("node.eks.aws/v1alpha1", "NodeConfig"):
        yield f"{config.get('apiVersion')} {config.get('kind')}"
    for name, value in as_values(config.get("spec")).items():
        unknown = sorted(set(as_values(value)) - _FIELDS.get(name, set()))
        if name not in _FIELDS or unknown:
            yield f"no field {name} {unknown}"


@functools.cache
def _loaded(text: str) -> Values | None:
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    return found if isinstance(found, dict) else None


def _specs(pair: Pair, *, drop_ins: bool = True) -> list[Values]:
    """The spec of each NodeConfig that parses, in the order in which nodeadm reads them."""
    found = [
        as_values(_loaded(text))
        for place, text in _node_configs(pair)
        if drop_ins or place == "a part"
    ]
    return [as_values(config.get("spec")) for config in found]


_JOINING = ("name", "apiServerEndpoint", "certificateAuthority", "cidr")
_BOTTLEROCKET_JOINING = ("api-server", "cluster-certificate", "cluster-name")


def _kubernetes(pair: Pair) -> Values:
    return as_values(as_values(as_values(_settings(pair)).get("settings")).get("kubernetes"))


@rule("user-data-cluster", TEMPLATES)
def user_data_cluster(pair: Pair) -> Iterator[str]:
    """EKS merges what makes nodes join into the user data of its own images."""
    if "ImageId" in pair.data:
        return
    if any("cluster" in spec for spec in _specs(pair)):
        yield "spec.cluster in a NodeConfig, which EKS adds"
    for name in _BOTTLEROCKET_JOINING:
        if name in _kubernetes(pair):
            yield f"settings.kubernetes.{name}, which EKS adds"


@rule("user-data-joins", TEMPLATES)
def user_data_joins(pair: Pair) -> Iterator[str]:
    """EKS adds nothing to the user data of an image of one's own."""
    text = _text(pair)
    unreadable = text is None and is_opaque(pair.data.get("UserData"))
    if "ImageId" not in pair.data or unreadable:
        return
    if text is not None and _is_bottlerocket(pair, text):
        missing = [name for name in _BOTTLEROCKET_JOINING if not _kubernetes(pair).get(name)]
    else:
        cluster: dict[str, Any] = {}
        for spec in _specs(pair, drop_ins=False):
            cluster |= as_values(spec.get("cluster"))
        missing = [name for name in _JOINING if not cluster.get(name)]
    if missing:
        yield f"nodes with an image of one's own cannot join without {', '.join(missing)}"


_KUBELET = re.compile(
    r"systemctl[^\n;&|]*\b(?:re)?start\b[^\n;&|]*\bkubelet\b"
    r"|\bnodeadm\s+init\b|/etc/eks/bootstrap\.sh"
)


@rule("user-data-kubelet", TEMPLATES)
def user_data_kubelet(pair: Pair) -> Iterator[str]:
    if "ImageId" not in pair.data:
        for script in _scripts(pair):
            yield from (
                f"a script that starts the kubelet: {one}" for one in _KUBELET.findall(script)
            )


@rule("bottlerocket-settings", TEMPLATES)
def bottlerocket_settings(pair: Pair) -> Iterator[str]:
    """EKS merges a part of TOML alone, and only settings."""
    settings, text = _settings(pair), _text(pair)
    if settings is None or text is None:
        return
    yield from (f"{name} is no setting" for name in settings if name != "settings")
    if re.search(r"^\s*\[[^\]\n]*[\"']", text, re.MULTILINE):
        yield "a table whose name has quotes"
    if '\\"' in text or re.search(r"^\s*'[^'\n]*\"[^'\n]*'\s*=", text, re.MULTILINE):
        yield "a quote within quotes"
    yield from (f"types mixed in {one!r}" for one in _mixed(settings))


def _mixed(value: object) -> Iterator[list[object]]:
    if isinstance(value, list):
        if len({type(one) for one in value}) > 1:
            yield value
        for one in value:
            yield from _mixed(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from _mixed(one)


@rule(
    "max-pods",
    "https://docs.aws.amazon.com/eks/latest/userguide/create-managed-node-group.html",
)
def max_pods(pair: Pair) -> Iterator[str]:
    """With EKS's own images a node has at most 110 Pods below 30 vCPUs, and 250 from there on."""
    if "ImageId" in pair.data or not pair.types:
        return
    most = min(110 if one.vcpus < 30 else 250 for one in pair.types)
    kubelets = [as_values(as_values(spec.get("kubelet")).get("config")) for spec in _specs(pair)]
    named = [one["maxPods"] for one in kubelets if "maxPods" in one]
    named += [_kubernetes(pair)[name] for name in ("max-pods",) if name in _kubernetes(pair)]
    for value in named:
        if not isinstance(value, int) or not 1 <= value <= most:
            yield f"{value} Pods on a node, above {most}"
