"""The arguments of the command `eks-devices`: its verbs, and what each takes."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from ._output import safe

_LONGEST_SECONDS = 24 * 60 * 60
_DESCRIPTION = (
    "Accelerated node groups on Amazon EKS: the catalogue, the plan of a cloud assembly, and "
    "whether its nodes can serve workloads."
)
_EXIT_CODES = "exit codes: 0 fine (warnings too), 1 what was looked at is wrong, 2 could not look"


class UsageError(SystemExit):
    """What argparse ends with after it wrote what is wrong with the arguments: `message`."""

    def __init__(self, code: Any, message: str) -> None:
        super().__init__(code)
        self.message = message


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are safe for terminals, and that takes no shortened options."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        text = safe(message)
        try:
            super().error(text)
        except SystemExit as stop:
            raise UsageError(stop.code, text) from None


def command_line(program: str) -> argparse.ArgumentParser:
    """The parser of the command line.

    Args:
        program: The name of the command.
    """
    parser = _Parser(prog=program, description=_DESCRIPTION, epilog=_EXIT_CODES)
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    _add_instances(verbs)
    _add_plan(verbs)
    _add_check(verbs)
    _add_rehearse(verbs)
    _add_refresh(verbs)
    return parser


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def _add_manifests(parser: argparse.ArgumentParser) -> None:
    """Which manifests a verb looks at, and the plan of which cluster."""
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="files, folders of YAML and JSON, or - for stdin"
    )
    parser.add_argument(
        "--plan",
        default="cdk.out",
        metavar="CDK_OUT",
        help="the folder that 'cdk synth' wrote, or a plan file in it; cdk.out unless named",
    )
    parser.add_argument("--cluster", metavar="PATH", help="the cluster, where the plan has several")
    parser.add_argument(
        "--namespace",
        "-n",
        default="default",
        metavar="NAME",
        help="the namespace of manifests that name none; default unless named",
    )


def _add_instances(verbs: Any) -> None:
    text = "list the instance types with accelerators, or tell everything about some"
    parser = verbs.add_parser("instances", help=text, description=text, epilog=_EXIT_CODES)
    parser.add_argument("names", nargs="*", metavar="NAME", help="instance types to tell about")
    parser.add_argument("--family", metavar="F", help="only types of this family, such as trn2")
    _add_json(parser)


def _add_plan(verbs: Any) -> None:
    text = "report the plans of the clusters in a cloud assembly"
    parser = verbs.add_parser("plan", help=text, description=text, epilog=_EXIT_CODES)
    parser.add_argument(
        "assembly",
        nargs="?",
        default="cdk.out",
        metavar="CDK_OUT",
        help="the folder that 'cdk synth' wrote, or a plan file in it; cdk.out unless named",
    )
    _add_json(parser)


def _add_check(verbs: Any) -> None:
    text = "hold the Pods and claims of manifests against the node groups of a plan"
    more = "; needs the extra 'check'"
    parser = verbs.add_parser("check", help=text, description=text + more, epilog=_EXIT_CODES)
    _add_manifests(parser)
    _add_json(parser)


def _add_rehearse(verbs: Any) -> None:
    text = "place the Pods of manifests on the nodes of a plan, by a real control plane"
    more = "; needs the extras 'controlplane' and 'check', and binaries of Kubernetes"
    parser = verbs.add_parser("rehearse", help=text, description=text + more, epilog=_EXIT_CODES)
    _add_manifests(parser)
    parser.add_argument(
        "--nodes",
        action="append",
        metavar="GROUP=N",
        help="nodes of a group; its desired size unless named, or its maximum without one",
    )
    parser.add_argument(
        "--kubernetes",
        metavar="MINOR",
        help="of the control plane, such as 1.36; the plan's unless named, or the nearest there is",
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=300,
        metavar="S",
        help="seconds to wait for the scheduler at most; 300 unless named",
    )
    _add_json(parser)


def _seconds(word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = 0
    if not 0 < value <= _LONGEST_SECONDS:
        text = f"{word!r}: expected seconds, more than 0 and at most {_LONGEST_SECONDS}"
        raise argparse.ArgumentTypeError(text)
    return value


def _add_refresh(verbs: Any) -> None:
    text = "bring generated data of the library up to date"
    parser = verbs.add_parser("refresh", help=text, description=text, epilog=_EXIT_CODES)
    whats = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    text = "write the instance catalogue from EC2's DescribeInstanceTypes"
    parser = whats.add_parser("instance-types", help=text, description=text, epilog=_EXIT_CODES)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--from", dest="source_file", metavar="FILE", help="a recorded answer, JSON or .json.gz"
    )
    source.add_argument(
        "--region",
        action="append",
        nargs="+",
        metavar="R",
        help="Regions to ask; needs the extra 'operations' and credentials",
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 when the data is stale"
    )
    parser.add_argument(
        "--allow-removals", action="store_true", help="write an answer that lacks types of today"
    )
    parser.add_argument(
        "--data-folder", metavar="DIR", help="the folder to write; the package's own unless named"
    )
    _add_json(parser)
