"""Why a refresh stops. Nothing is written when one of these is raised."""

from __future__ import annotations

from typing import ClassVar


class RefreshError(Exception):
    """A refresh could not be done; the message says what to change."""

    exit_code: ClassVar[int] = 1
    """What the command ends with."""


class InvalidAnswerError(RefreshError):
    """The answer was read and is not what DescribeInstanceTypes gives."""


class NoAnswerError(RefreshError):
    """There is no answer to look at, or no place to write: files, Regions, credentials."""

    exit_code: ClassVar[int] = 2
