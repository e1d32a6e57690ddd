"""Faults of what a node is started with, whatever its instance type is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ._data import read_toml
from ._frozen import FrozenDict
from .findings import Finding, fault
from .spec import NodegroupSpec
from .typecheck import boolean, is_token, path_step, text, wrong_type

_AMI_ID = re.compile(r"ami-[0-9a-f]{8}(?:[0-9a-f]{9})?", re.ASCII)
_AMI_FORM = "an id such as ami-0123456789abcdef0, or a token"
_TYPES_FORM = "a list of EC2 API names"
_GROUP_FORM = "True, False, the name of a placement group, or None"
_CIDR = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}/(?:[0-9]|[12][0-9]|3[0-2])", re.ASCII)
_LONGEST_GROUP = 255
_TEMPLATES = "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"


def node_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """Faults of images, instance types, placement, tags and what constructs know of a group."""
    path = spec.path
    yield from _image_faults(spec, f"{path}.ami_id")
    yield from _type_faults(spec, f"{path}.alternative_instance_types")
    yield from _placement_faults(spec.placement_group, f"{path}.placement_group")
    yield from boolean(spec.vpc_cni, f"{path}.vpc_cni")
    yield from boolean(spec.instance_store, f"{path}.instance_store", optional=True)
    yield from tag_faults(spec.tags, f"{path}.tags")
    yield from _context_faults(spec, path)


def _image_faults(spec: NodegroupSpec, path: str) -> Iterator[Finding]:
    value = spec.ami_id
    if value is None or is_token(value):
        return
    if not isinstance(value, str):
        yield wrong_type(path, value, _AMI_FORM, "copy the image's id from the EC2 console")
    elif not _AMI_ID.fullmatch(value):
        yield fault(
            "MalformedAmiId",
            path,
            "this is not the id of an image",
            got=value,
            allowed=_AMI_FORM,
            fix="copy the image's id from the EC2 console",
            source=_TEMPLATES,
        )


def release_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """The fault of a release of EKS's image beside an image of the user's own."""
    if isinstance(spec.ami_id, str) and isinstance(spec.release_version, str):
        yield fault(
            "ReleaseWithOwnImage",
            f"{spec.path}.release_version",
            "a release is one of EKS's own images, and the group has another image",
            got=spec.release_version,
            allowed="None while ami_id is named",
            fix="leave one of the two out",
            source=_TEMPLATES,
        )


def _type_faults(spec: NodegroupSpec, path: str) -> Iterator[Finding]:
    types = spec.alternative_instance_types
    if not isinstance(types, tuple):
        yield wrong_type(path, types, _TYPES_FORM, "write a list or tuple of names")
        return
    for index, name in enumerate(types):
        yield from text(name, f"{path}[{index}]", "an EC2 API name", "write the name as a text")
    names = [spec.instance_type, *types]
    for index, name in enumerate(types, start=1):
        if isinstance(name, str) and name in names[:index]:
            yield _repeated(f"{path}[{index - 1}]", name)
    limits = read_toml("limits.toml")["instance_types"]
    if len(names) > limits["most"]:
        yield fault(
            "TooManyInstanceTypes",
            path,
            "EKS takes no more instance types in a node group",
            got=len(names),
            allowed=f"{limits['most']} with instance_type",
            fix="leave types out",
            source=limits["source"],
        )


def _repeated(path: str, name: str) -> Finding:
    return fault(
        "RepeatedInstanceType",
        path,
        "the group has this instance type already",
        got=name,
        allowed="each type once, instance_type included",
        fix="leave it out",
    )


def _placement_faults(value: object, path: str) -> Iterator[Finding]:
    if value is None or value is True or value is False or is_token(value):
        return
    fix = "use True for a group of its own, or name one that exists"
    if not isinstance(value, str):
        yield wrong_type(path, value, _GROUP_FORM, fix)
    elif not value.strip() or not value.isascii() or len(value) > _LONGEST_GROUP:
        yield fault(
            "MalformedPlacementGroup",
            path,
            "EC2 has no placement group of such a name",
            got=value,
            allowed=f"1 to {_LONGEST_GROUP} ASCII characters",
            fix=fix,
            source="https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreatePlacementGroup.html",
        )


def tag_faults(tags: object, path: str) -> Iterator[Finding]:
    """Faults of tags that EKS or EC2 would refuse; values may be tokens."""
    limits = read_toml("limits.toml")["tags"]
    if not isinstance(tags, FrozenDict):
        yield wrong_type(path, tags, "a mapping of strings to strings", 'write {"key": "value"}')
        return
    if len(tags) > limits["most"]:
        yield _tag_fault("TooManyTags", path, len(tags), f"{limits['most']} at most")
    for key, value in tags.items():
        at = f"{path}[{path_step(key)}]"
        yield from text(key, at, "a text", "write the key as a text")
        if isinstance(key, str) and not 1 <= len(key) <= limits["longest_key"]:
            allowed = f"keys of 1 to {limits['longest_key']} characters"
            yield _tag_fault("MalformedTag", at, key, allowed)
        elif isinstance(key, str) and key.lower().startswith(limits["reserved"]):
            allowed = f"keys that do not begin with {limits['reserved']}"
            yield _tag_fault("ReservedTag", at, key, allowed)
        if not isinstance(value, str):
            yield wrong_type(at, value, "a text", "write the value as a text")
        elif not is_token(value) and len(value) > limits["longest_value"]:
            allowed = f"values of at most {limits['longest_value']} characters"
            yield _tag_fault("MalformedTag", at, value, allowed)


def _tag_fault(code: str, path: str, got: object, allowed: str) -> Finding:
    source = read_toml("limits.toml")["tags"]["source"]
    message = "AWS takes no such tags"
    fix = "shorten, rename or leave tags out"
    return fault(code, path, message, got=got, allowed=allowed, fix=fix, source=source)


def _context_faults(spec: NodegroupSpec, path: str) -> Iterator[Finding]:
    cidrs = spec.subnet_cidrs
    wanted, fix = "a list of IPv4 ranges such as 10.0.0.0/18", "leave it out where it is unknown"
    if not isinstance(cidrs, tuple):
        yield wrong_type(f"{path}.subnet_cidrs", cidrs, wanted, fix)
    else:
        for index, one in enumerate(cidrs):
            if not isinstance(one, str) or not _CIDR.fullmatch(one):
                yield wrong_type(f"{path}.subnet_cidrs[{index}]", one, wanted, fix)
    yield from text(spec.scope_address, f"{path}.scope_address", "a text", "leave it out")
    if spec.pool is not None:
        yield from text(spec.pool, f"{path}.pool", "a text", "leave it out")
