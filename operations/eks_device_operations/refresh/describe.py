"""Where answers come from: EC2, or a file that holds an answer. Input only, no judgement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from eks_devices.extras import how_to_install

from .._json_file import read_json_file
from .._outcome import OperationError

_CARD_FIELD: Final = "InterfaceTypes"
_NO_BOTO3: Final = (
    f"asking EC2 needs boto3, which the extra 'operations' brings: {how_to_install('operations')}; "
    "or name a recorded answer with --from"
)
_EXPECTED: Final = (
    "expected what 'aws ec2 describe-instance-types --output json' writes, plain or .gz"
)


def describe(regions: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Pages of DescribeInstanceTypes from each Region.

    Several Regions are needed for a full catalogue: some types are offered in one only.

    Args:
        regions: Region names, asked in this order.

    Raises:
        OperationError: boto3 is not installed or too old, or EC2 cannot be asked.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html
    """
    boto3, exceptions = _boto3()
    failures = (exceptions.BotoCoreError, exceptions.ClientError, ValueError)
    for region in regions:
        try:
            client = boto3.client("ec2", region_name=region)
            require_card_field(client)
            yield from client.get_paginator("describe_instance_types").paginate()
        except failures as error:
            raise OperationError(f"EC2 in {region!r} cannot be asked: {error}") from error


def require_card_field(client: Any) -> None:
    """Fail when the installed API model would drop the interface types of network cards.

    Raises:
        OperationError: The model has no such field; boto3 drops unknown fields without a word.
    """
    card = client.meta.service_model.shape_for("NetworkCardInfo")
    if _CARD_FIELD not in card.members:
        raise OperationError(
            f"the installed botocore does not know NetworkCards.{_CARD_FIELD} and would drop it: "
            "upgrade boto3 (the extra 'operations' has the floor)"
        )


def read_answer(path: str) -> Any:
    """The content of a file that holds an answer, plain or compressed with gzip.

    Raises:
        OperationError: It is no regular file, cannot be read, or holds no JSON.
    """
    try:
        return read_json_file(Path(path))
    except OperationError as error:
        raise OperationError(f"{path!r} {error}; {_EXPECTED}", code=error.code) from error


def _boto3() -> tuple[Any, Any]:
    try:
        import boto3  # noqa: PLC0415  (an extra, and slow to import)
        from botocore import exceptions  # noqa: PLC0415
    except ImportError as error:
        raise OperationError(_NO_BOTO3) from error
    return boto3, exceptions
