"""Compares many generated claims with the allocator of each Kubernetes minor, in chunks.

make oracle-compare CLAIMS=100000
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.go_build import run
from tests.cluster.oracle.comparison import Compared, Comparison, Result, Tally, spans_pools
from tests.cluster.oracle.oracle import Oracle, built_minors
from tests.generated.cases import Kind

from eks_devices.feasibility import Status

CHUNK = 2_000
# Of ten claims, so many are of a kind.
SHARES = {Kind.REALISTIC: 5, Kind.HOSTILE: 3, Kind.EXPRESSION: 2}
# Of so many claims that can be served, it is counted for one how many Pods fit.
COUNTED = 20


@dataclass
class Minor:
    """What came of the comparisons with a minor."""

    comparison: Comparison
    tally: Tally = field(default_factory=Tally)
    pods: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def compare(self, seed: int, numbers: Sequence[int]) -> list[Compared]:
        """Compare the cases of some numbers; those that contradict."""
        started = time.monotonic()
        before = len(self.tally.contradictions)
        for kind, own in _shared_out(numbers):
            for one in self.comparison.all_of(list(self.comparison.cases(kind, seed, own))):
                self.tally.add(one)
                self._count(one)
        self.seconds += time.monotonic() - started
        return self.tally.contradictions[before:]

    def _count(self, one: Compared) -> None:
        fits = one.verdict.fits
        is_next = self.tally.numbers[one.case.kind, one.result, one.why] % COUNTED == 1
        if one.result is not Result.AGREES or one.verdict.status is not Status.FEASIBLE:
            return
        if fits is None or not is_next or spans_pools(one.case):
            return
        found = self.comparison.pods(one.case, fits)
        if found is None:
            return
        self.pods["as many Pods" if found == fits else "another number of Pods"] += 1
        if found != fits:
            why = f"{fits} Pods here, and {found}"
            contradiction = Compared(one.case, one.verdict, one.answer, Result.CONTRADICTS, why)
            self.tally.contradictions.append(contradiction)

    def __str__(self) -> str:
        told = [f"{number:9,} {name} fit on a node" for name, number in sorted(self.pods.items())]
        return "\n".join([str(self.tally), *told])


def _shared_out(numbers: Sequence[int]) -> Iterator[tuple[Kind, list[int]]]:
    kinds = [kind for kind, share in SHARES.items() for _ in range(share)]
    for kind in SHARES:
        yield kind, [one for one in numbers if kinds[one % len(kinds)] is kind]


def main(*arguments: str) -> int:
    """Compare; 1 where something contradicts, 2 where an oracle is not built."""
    asked = _options(arguments)
    started = time.monotonic()
    with ExitStack() as stack:
        minors = {
            minor: Minor(Comparison(stack.enter_context(Oracle(minor)), seconds=asked.seconds))
            for minor in asked.minors or built_minors()
        }
        for first in range(asked.first, asked.first + asked.claims, CHUNK):
            numbers = range(first, min(first + CHUNK, asked.first + asked.claims))
            for minor, one in minors.items():
                for contradiction in one.compare(asked.seed, numbers):
                    print(_told(minor, contradiction), flush=True)
            done = numbers[-1] + 1 - asked.first
            print(f"{done:,} claims, {time.monotonic() - started:.0f} s", flush=True)
    for minor, one in minors.items():
        print(f"\nKubernetes {minor}: {asked.claims:,} claims in {one.seconds:.0f} s\n{one}")
    wrong = sum(len(one.tally.contradictions) for one in minors.values())
    print(f"\n{wrong} contradictions")
    return 1 if wrong else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=Path(__file__).stem, description=__doc__)
    parser.add_argument("--claims", type=int, default=100_000, help="for each minor")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first claim")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each search")
    parser.add_argument("--minors", nargs="*", choices=built_minors())
    return parser.parse_args(arguments)


def _told(minor: str, one: Compared) -> str:
    said = {
        "minor": minor,
        "case": one.case.name,
        "place": one.case.place.name,
        "why": one.why,
        "here": [one.verdict.status, one.verdict.code, one.verdict.reason],
        "error": one.answer.error,
        "claims": [claim["spec"]["devices"] for claim in one.case.claims],
    }
    return json.dumps(said)


if __name__ == "__main__":
    sys.exit(run(main, *sys.argv[1:]))
