"""Where answers come from: EC2, or a file that holds an answer. Input only, no judgement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .errors import InvalidAnswerError, NoAnswerError

_GZIP_MAGIC = b"\x1f\x8b"
_CARD_FIELD = "InterfaceTypes"


def describe(regions: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Pages of DescribeInstanceTypes from each Region.

    Several Regions are needed for a full catalogue: some types are offered in one only.

    Args:
        regions: Region names, asked in this order.

    Raises:
        NoAnswerError: boto3 is not installed or too old, or EC2 cannot be asked.

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
            raise NoAnswerError(f"EC2 in {region!r} cannot be asked: {error}") from error


def require_card_field(client: Any) -> None:
    """Fail when the installed API model would drop the interface types of network cards.

    Raises:
        NoAnswerError: The model has no such field; boto3 drops unknown fields without a word.
    """
    card = client.meta.service_model.shape_for("NetworkCardInfo")
    if _CARD_FIELD not in card.members:
        raise NoAnswerError(
            f"the installed botocore does not know NetworkCards.{_CARD_FIELD} and would drop it: "
            "upgrade boto3 (the extra 'operations' has the floor)"
        )


def read_file(path: str) -> Any:
    """The JSON content of a file, plain or compressed with gzip.

    Raises:
        NoAnswerError: The file cannot be read.
        InvalidAnswerError: It holds no JSON.
    """
    try:
        with open(path, "rb") as file:
            content = file.read()
    except (OSError, ValueError) as error:
        raise NoAnswerError(f"{path!r} cannot be read: {error}") from error
    return _parsed(path, content)


def _parsed(path: str, content: bytes) -> Any:
    import gzip  # noqa: PLC0415  (needed by this verb only)
    import json  # noqa: PLC0415
    import zlib  # noqa: PLC0415

    try:
        plain = gzip.decompress(content) if content.startswith(_GZIP_MAGIC) else content
        return json.loads(plain, parse_constant=_refuse_constant)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise InvalidAnswerError(
            f"{path!r} is not JSON (plain or .gz), as 'aws ec2 describe-instance-types "
            f"--output json' writes it: {error}"
        ) from error


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _boto3() -> tuple[Any, Any]:
    try:
        import boto3  # noqa: PLC0415  (an extra, and slow to import)
        from botocore import exceptions  # noqa: PLC0415
    except ImportError as error:
        raise NoAnswerError(
            "asking EC2 needs boto3: pip install 'eks-devices[operations]', or give a file"
        ) from error
    return boto3, exceptions
