"""What EC2 refuses of a launch template: interfaces, security groups, volumes, metadata, tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.checker.pair import (
    Pair,
    Values,
    as_values,
    is_opaque,
    listed,
    rule,
    shown,
    target_id,
)

_GUIDE = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide"
_API = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference"
EFA_LAYOUTS = f"{_GUIDE}/efa-acc-inst-types.html"
EFA = f"{_GUIDE}/efa.html"
EFA_START = f"{_GUIDE}/efa-start.html"
CARDS = f"{_API}/API_NetworkCardInfo.html"
INTERFACE = f"{_API}/API_LaunchTemplateInstanceNetworkInterfaceSpecificationRequest.html"
TEMPLATES = "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"
SECURITY_GROUPS = "https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html"


def _card(interface: Values) -> int:
    return int(interface.get("NetworkCardIndex", 0))


def _device(interface: Values) -> int:
    return int(interface.get("DeviceIndex", 0))


def _type(interface: Values) -> str:
    return str(interface.get("InterfaceType", "interface"))


def _place(interface: Values) -> str:
    return f"interface {_card(interface)}/{_device(interface)}"


@rule("card-exists", CARDS)
def card_exists(pair: Pair) -> Iterator[str]:
    for one in pair.types:
        for interface in pair.interfaces:
            if not 0 <= _card(interface) < len(one.cards):
                yield f"{_place(interface)}: {one.name} has {len(one.cards)} network cards"


@rule("device-index-unique", INTERFACE)
def device_index_unique(pair: Pair) -> Iterator[str]:
    places = Counter(_place(interface) for interface in pair.interfaces)
    for place, count in places.items():
        if count > 1:
            yield f"{place} is there {count} times"


@rule("device-index-range", CARDS)
def device_index_range(pair: Pair) -> Iterator[str]:
    for one in pair.types:
        for interface in pair.interfaces:
            card = _card(interface)
            if card < len(one.cards) and _device(interface) not in range(one.cards[card].most):
                yield f"{_place(interface)}: the card of {one.name} has {one.cards[card].most}"


@rule("interface-type-of-card", CARDS)
def interface_type_of_card(pair: Pair) -> Iterator[str]:
    """Card 0 of p6-b300 and p6e takes no EFA, odd cards of p6e nothing but `efa-only`."""
    for one in pair.types:
        for interface in pair.interfaces:
            card = _card(interface)
            if card < len(one.cards) and _type(interface) not in one.cards[card].types:
                yield f"{_place(interface)}: {one.name} takes no {_type(interface)} there"


@rule("primary-interface", EFA)
def primary_interface(pair: Pair) -> Iterator[str]:
    """The primary interface has an address, so it is plain or `efa`, never `efa-only`."""
    primary = [one for one in pair.interfaces if (_card(one), _device(one)) == (0, 0)]
    if pair.interfaces and not primary:
        yield "no interface is the primary one, 0/0"
    for interface in primary:
        if _type(interface) == "efa-only":
            yield f"{_place(interface)} is the primary one and has no address"


@rule("one-efa-per-card", EFA_LAYOUTS)
def one_efa_per_card(pair: Pair) -> Iterator[str]:
    for card, count in Counter(map(_card, pair.efa)).items():
        if count > 1:
            yield f"card {card} has {count} EFAs"


@rule("efa-count", f"{_API}/API_EfaInfo.html")
def efa_count(pair: Pair) -> Iterator[str]:
    for one in pair.types:
        if len(pair.efa) > one.most_efa:
            yield f"{len(pair.efa)} EFAs, and {one.name} takes {one.most_efa}"


@rule("gb200-efa-cards", EFA_LAYOUTS)
def gb200_efa_cards(pair: Pair) -> Iterator[str]:
    """Cards come in pairs on one adapter; the documented layouts use the odd one of each."""
    if any(one.family.startswith("p6e-gb") for one in pair.types):
        for interface in pair.efa:
            if _card(interface) % 2 == 0:
                yield f"{_place(interface)}: EFAs go on the odd cards"


_ADDRESSES = (
    "AssociatePublicIpAddress",
    "ConnectionTrackingSpecification",
    "Ipv4PrefixCount",
    "Ipv4Prefixes",
    "Ipv6AddressCount",
    "Ipv6Addresses",
    "Ipv6PrefixCount",
    "Ipv6Prefixes",
    "PrimaryIpv6",
    "PrivateIpAddress",
    "PrivateIpAddresses",
    "SecondaryPrivateIpAddressCount",
)


@rule("efa-only-address", INTERFACE)
def efa_only_address(pair: Pair) -> Iterator[str]:
    for interface in pair.interfaces:
        if _type(interface) == "efa-only":
            for name in _ADDRESSES:
                if name in interface:
                    yield f"{_place(interface)}: {name} on an interface without addresses"


@rule("public-address", INTERFACE)
def public_address(pair: Pair) -> Iterator[str]:
    """EC2 gives no public address to instances that start with several interfaces."""
    if len(pair.interfaces) > 1:
        for interface in pair.interfaces:
            asked = interface.get("AssociatePublicIpAddress", False)
            if _type(interface) != "efa-only" and asked is not False:
                yield f"{_place(interface)} asks for a public address, and is not alone"


@rule("interface-subnet", TEMPLATES)
def interface_subnet(pair: Pair) -> Iterator[str]:
    for interface in pair.interfaces:
        if "SubnetId" in interface:
            yield f"{_place(interface)} names a subnet, which the node group does"


@rule("interface-deleted", INTERFACE)
def interface_deleted(pair: Pair) -> Iterator[str]:
    """Interfaces that stay use up addresses, and keep security groups from being deleted."""
    for interface in pair.interfaces:
        if interface.get("DeleteOnTermination") is not True:
            yield f"{_place(interface)} outlives its instance"


@rule("groups-twice", TEMPLATES)
def groups_twice(pair: Pair) -> Iterator[str]:
    for name in ("SecurityGroupIds", "SecurityGroups"):
        if pair.interfaces and name in pair.data:
            yield f"{name} beside interfaces, which carry the groups"


@rule("interface-groups", EFA_START)
def interface_groups(pair: Pair) -> Iterator[str]:
    """EFA traffic needs the same groups at both ends, whichever cards they are."""
    found = {shown(sorted(_groups_of(one))) for one in pair.interfaces}
    if len(found) > 1:
        yield f"interfaces have {len(found)} different lists of security groups"


def _groups_of(interface: Values) -> list[str]:
    return [shown(group) for group in listed(interface.get("Groups"))]


def _groups(pair: Pair) -> list[object]:
    """The security groups that every node has."""
    if not pair.interfaces:
        return listed(pair.data.get("SecurityGroupIds"))
    everywhere = set.intersection(*[set(_groups_of(one)) for one in pair.interfaces])
    first = listed(pair.interfaces[0].get("Groups"))
    return [group for group in first if shown(group) in everywhere]


def _is_cluster_group(pair: Pair, group: object) -> bool | None:
    """None where the template does not show it, for the cluster is made elsewhere."""
    cluster = pair.resource(pair.group.get("ClusterName"))
    if cluster is not None and cluster.get("Type") == "AWS::EKS::Cluster":
        return "ClusterSecurityGroupId" in shown(group)
    return None


@rule("cluster-group", TEMPLATES)
def cluster_group(pair: Pair) -> Iterator[str]:
    """EKS adds its cluster's group to launch templates without groups only."""
    named = pair.interfaces or pair.data.get("SecurityGroupIds")
    found = [_is_cluster_group(pair, group) for group in _groups(pair)]
    if named and None not in found and True not in found:
        yield "nodes lack the security group of the cluster"


@rule("efa-group", EFA_START)
def efa_group(pair: Pair) -> Iterator[str]:
    """EFA frames pass by rules that name the group itself alone, in both directions."""
    if not pair.efa:
        return
    others = [group for group in _groups(pair) if _is_cluster_group(pair, group) is not True]
    if not others:
        yield "no security group beside the cluster's lets EFA traffic pass"
    elif all(pair.resource(group) for group in others):
        for direction in ("Ingress", "Egress"):
            if not any(_lets_itself_pass(pair, group, direction) for group in others):
                yield f"no security group has a rule of {direction} for itself"


def _lets_itself_pass(pair: Pair, group: object, direction: str) -> bool:
    other = "SourceSecurityGroupId" if direction == "Ingress" else "DestinationSecurityGroupId"
    rules = [
        as_values(one.get("Properties"))
        for one in pair.resources.values()
        if one.get("Type") == f"AWS::EC2::SecurityGroup{direction}"
    ]
    return any(
        str(one.get("IpProtocol")) == "-1"
        and target_id(one.get("GroupId")) == target_id(one.get(other)) == target_id(group)
        for one in rules
    )


# EKS alone ends instances, gives them their role, and knows their types.
_PROHIBITED = (
    "DisableApiTermination",
    "HibernationOptions",
    "IamInstanceProfile",
    "InstanceInitiatedShutdownBehavior",
    "InstanceRequirements",
)


@rule("prohibited-field", TEMPLATES)
def prohibited_field(pair: Pair) -> Iterator[str]:
    for name in _PROHIBITED:
        if pair.data.get(name, False) is not False:
            yield f"{name} in the launch template of a managed node group"


@rule("imdsv2", f"{_GUIDE}/configuring-instance-metadata-options.html")
def imdsv2(pair: Pair) -> Iterator[str]:
    options = as_values(pair.data.get("MetadataOptions"))
    if options.get("HttpTokens") != "required":
        yield "instance metadata can be read without a token"
    if options.get("HttpEndpoint", "enabled") != "enabled":
        yield "nodes cannot read the user data that makes them join"
    if options.get("HttpPutResponseHopLimit", 1) not in range(1, 65):
        yield "the hop limit of instance metadata is 1 to 64"


@rule("metadata-tags", "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/1785")
def metadata_tags(pair: Pair) -> Iterator[str]:
    """EKS gives instances tags whose keys have a slash, which their metadata cannot show."""
    options = as_values(pair.data.get("MetadataOptions"))
    if options.get("InstanceMetadataTags", "disabled") != "disabled":
        yield "tags in instance metadata"


def _volumes(pair: Pair) -> list[Values]:
    return listed(pair.data.get("BlockDeviceMappings"))


@rule("volume-encrypted", "https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption.html")
def volume_encrypted(pair: Pair) -> Iterator[str]:
    for volume in _volumes(pair):
        if as_values(volume.get("Ebs")).get("Encrypted") is not True:
            yield f"volume {volume.get('DeviceName')} is not encrypted"


@rule("volume-deleted", f"{_API}/API_LaunchTemplateEbsBlockDeviceRequest.html")
def volume_deleted(pair: Pair) -> Iterator[str]:
    for volume in _volumes(pair):
        if as_values(volume.get("Ebs")).get("DeleteOnTermination", True) is False:
            yield f"volume {volume.get('DeviceName')} outlives its instance"


_DATA_VOLUMES = {"AL2023": "/dev/xvda", "BOTTLEROCKET": "/dev/xvdb"}


@rule("volume-device", "https://github.com/bottlerocket-os/bottlerocket/blob/develop/TESTING.md")
def volume_device(pair: Pair) -> Iterator[str]:
    """Images and Pods' files are on the root volume of AL2023, on Bottlerocket's second one."""
    device = _DATA_VOLUMES.get(pair.ami_type.partition("_")[0])
    names = [volume.get("DeviceName") for volume in _volumes(pair)]
    if device and names and device not in names:
        yield f"no volume is {device}, where images go, but {names}"


@rule("volume-size", "https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html")
def volume_size(pair: Pair) -> Iterator[str]:
    for volume in _volumes(pair):
        size = as_values(volume.get("Ebs")).get("VolumeSize")
        if not is_opaque(size) and size not in range(1, 65537):
            yield f"volume {volume.get('DeviceName')} of {size} GiB"


_TAGGED = {"instance", "volume", "network-interface", "spot-instances-request"}


@rule("tags", f"{_GUIDE}/Using_Tags.html")
def tags(pair: Pair) -> Iterator[str]:
    found: list[tuple[str, list[tuple[object, object]]]] = []
    for one in listed(pair.data.get("TagSpecifications")):
        kind = str(one.get("ResourceType"))
        if kind not in _TAGGED:
            yield f"tags of {kind}, which a launch of an instance does not make"
        found.append((kind, [(tag["Key"], tag.get("Value", "")) for tag in one.get("Tags", [])]))
    found.append(("the node group", list(as_values(pair.group.get("Tags")).items())))
    for kind, pairs in found:
        yield from (f"{text} of {kind}" for text in _tag_texts(pairs))


def _tag_texts(pairs: list[tuple[object, object]]) -> Iterator[str]:
    if len(pairs) > 50:
        yield f"{len(pairs)} tags, above 50,"
    if len({key for key, _ in pairs}) != len(pairs):
        yield "a tag twice"
    for key, value in pairs:
        if not isinstance(key, str) or not 1 <= len(key) <= 128:
            yield f"tag key {key!r} without 1 to 128 characters"
        elif key.lower().startswith("aws:"):
            yield f"tag key {key!r} with AWS's own prefix"
        if isinstance(value, str) and len(value) > 256:
            yield f"tag {key!r} with a value above 256 characters"
