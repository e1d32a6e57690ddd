"""What EC2 and EKS refuse of how instances are bought, reserved and placed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.checker.pair import Pair, as_values, is_opaque, listed, rule

_GUIDE = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide"
_API = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference"
BLOCKS = "https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html"
EC2_BLOCKS = f"{_GUIDE}/ec2-capacity-blocks.html"
USAGE = f"{_API}/API_InstanceTypeInfo.html"
RESERVATION = f"{_API}/API_CapacityReservationSpecification.html"
PLACEMENT = f"{_GUIDE}/placement-strategies.html"

_USAGE = {"ON_DEMAND": "on-demand", "SPOT": "spot", "CAPACITY_BLOCK": "capacity-block"}
_ID = re.compile(r"cr-[0-9a-f]{8}([0-9a-f]{9})?")
_ARN = re.compile(r"arn:[a-z-]+:resource-groups:[a-z0-9-]+:\d{12}:group/.+")
_BY_ID, _BY_GROUP = "CapacityReservationId", "CapacityReservationResourceGroupArn"


def _is_block(pair: Pair) -> bool:
    return pair.capacity_type == "CAPACITY_BLOCK"


@rule("usage-class", USAGE)
def usage_class(pair: Pair) -> Iterator[str]:
    usage = _USAGE.get(pair.capacity_type)
    if usage is None:
        yield f"CapacityType {pair.capacity_type}"
    for one in pair.types:
        if usage and usage not in one.usage:
            yield f"{one.name} is not sold as {usage}"


@rule("block-market", BLOCKS)
def block_market(pair: Pair) -> Iterator[str]:
    market = as_values(pair.data.get("InstanceMarketOptions")).get("MarketType")
    if _is_block(pair) and market != "capacity-block":
        yield f"a Capacity Block with MarketType {market}"


@rule(
    "market-options",
    "https://docs.aws.amazon.com/eks/latest/APIReference/API_LaunchTemplateSpecification.html",
)
def market_options(pair: Pair) -> Iterator[str]:
    if not _is_block(pair) and "InstanceMarketOptions" in pair.data:
        yield f"InstanceMarketOptions with CapacityType {pair.capacity_type}"


@rule("block-reservation", BLOCKS)
def block_reservation(pair: Pair) -> Iterator[str]:
    if _is_block(pair) and _BY_ID not in pair.target:
        yield "a Capacity Block without the id of its reservation"


@rule("block-instance-type", BLOCKS)
def block_instance_type(pair: Pair) -> Iterator[str]:
    if _is_block(pair) and "InstanceType" not in pair.data:
        yield "a Capacity Block without InstanceType in the launch template"


@rule("block-placement", EC2_BLOCKS)
def block_placement(pair: Pair) -> Iterator[str]:
    """Blocks are placed closely already, and have default tenancy alone."""
    if _is_block(pair) and pair.in_placement_group:
        yield "a Capacity Block in a placement group"
    if _is_block(pair) and pair.placement.get("Tenancy", "default") != "default":
        yield f"a Capacity Block of tenancy {pair.placement['Tenancy']}"


@rule("spot-reservation", f"{_GUIDE}/capacity-reservations-using.html")
def spot_reservation(pair: Pair) -> Iterator[str]:
    if pair.capacity_type == "SPOT" and pair.reservation:
        yield "Spot Instances do not run in Capacity Reservations"


@rule("reservation-target", f"{_API}/API_CapacityReservationTarget.html")
def reservation_target(pair: Pair) -> Iterator[str]:
    unnamed = _is_block(pair) and not pair.target  # block-reservation says so
    if "CapacityReservationSpecification" not in pair.data or unnamed:
        return
    named = [name for name in (_BY_ID, _BY_GROUP) if name in pair.target]
    if len(named) > 1 or ("CapacityReservationTarget" in pair.reservation and not named):
        yield f"a reservation's target names {len(named)} of id and group"
    if not pair.reservation:
        yield "an empty CapacityReservationSpecification"
    for name, form in ((_BY_ID, _ID), (_BY_GROUP, _ARN)):
        value = pair.target.get(name)
        if value is not None and not is_opaque(value) and not form.fullmatch(str(value)):
            yield f"{name} {value!r}"


@rule("reservation-preference", RESERVATION)
def reservation_preference(pair: Pair) -> Iterator[str]:
    value = pair.reservation.get("CapacityReservationPreference")
    if value not in (None, "capacity-reservations-only", "open", "none"):
        yield f"CapacityReservationPreference {value}"
    elif pair.target and value in ("open", "none"):
        yield f"CapacityReservationPreference {value} beside a target"


@rule("one-subnet", "https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html")
def one_subnet(pair: Pair) -> Iterator[str]:
    """What stays in one Availability Zone needs a group whose subnets are one."""
    reasons = {
        "EFA": pair.efa,
        "a Capacity Block": _is_block(pair),
        "a reservation": _BY_ID in pair.target,
        "a placement group": pair.in_placement_group,
    }
    subnets = len(listed(pair.group.get("Subnets")))
    for reason, holds in reasons.items():
        if holds and subnets > 1:
            yield f"{reason} in {subnets} subnets"


@rule("placement-strategy", PLACEMENT)
def placement_strategy(pair: Pair) -> Iterator[str]:
    """Nodes that talk over EFA belong close together."""
    found = pair.resource(pair.placement.get("GroupName"))
    if found is not None and found.get("Type") == "AWS::EC2::PlacementGroup":
        strategy = as_values(found.get("Properties")).get("Strategy")
        if strategy != "cluster":
            yield f"a placement group of strategy {strategy}"


@rule("placement-supported", PLACEMENT)
def placement_supported(pair: Pair) -> Iterator[str]:
    for one in pair.types:
        if pair.in_placement_group and "cluster" not in one.strategies:
            yield f"{one.name} starts in no cluster placement group"
