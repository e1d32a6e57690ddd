"""The search agrees with one that tries everything, and keeps its promises."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from eks_devices.feasibility.cel.answers import Answer, Outcome
from eks_devices.feasibility.search.allocation import allocate
from eks_devices.feasibility.search.causes import MAX_DEVICES
from eks_devices.feasibility.search.endings import Ending, Pick
from eks_devices.feasibility.search.flow import decided
from eks_devices.feasibility.search.holdings import Holdings
from eks_devices.feasibility.search.problem import NOTHING, Option, Problem, kinds_of
from eks_devices.feasibility.wanted import Ask, Constraint, Request, Wanted

TRUE, FALSE, FAILS = (Answer(one) for one in (Outcome.TRUE, Outcome.FALSE, Outcome.FAILS))


class FailedError(Exception):
    """The naive allocator met a failing expression, or All broke a constraint."""


def naive(given: Problem, used: int = 0) -> list[Pick] | None:
    """The allocator as Kubernetes has it: no shortcut, every device for every place."""
    least = [sum(min(map(wants, one)) for one in claim) for claim in given.options]
    if any(one != TRUE and one == FAILS for o in alls(given) for one in o.answers):
        raise FailedError
    if max(least) > MAX_DEVICES:
        raise FailedError
    return place(given, used, [], 0, 0)


def alls(given: Problem) -> list[Option]:
    return [one for one in given.all_options if one.ask.count is None]


def wants(option: Option) -> int:
    return len(option.taken) if option.ask.count is None else option.ask.count


def place(
    given: Problem, used: int, picks: list[Pick], claim: int, request: int
) -> list[Pick] | None:
    if claim == len(given.options):
        return picks
    if request == len(given.options[claim]):
        return place(given, used, picks, claim + 1, 0)
    for number in range(len(given.options[claim][request])):
        found = device(given, used, picks, (claim, request, number), 0)
        if found is not None:
            return found
    return None


def device(
    given: Problem, used: int, picks: list[Pick], at: tuple[int, int, int], done: int
) -> list[Pick] | None:
    claim, request, number = at
    option = given.options[claim][request][number]
    takes_all = option.ask.count is None
    if takes_all and not option.taken:
        return None
    if done == wants(option):
        return place(given, used, picks, claim, request + 1)
    for one in option.taken[done : done + 1] if takes_all else range(len(given.kinds)):
        if is_taken(option, used, picks, claim, one):
            continue
        if option.answers[one] == FAILS:
            raise FailedError
        if option.answers[one] == FALSE:
            continue
        more = [*picks, Pick(claim, request, number, one)]
        if not obeys(given, more):
            if takes_all:
                raise FailedError
            continue
        found = device(given, used, more, at, done + 1)
        if found is not None:
            return found
    return None


def is_taken(option: Option, used: int, picks: list[Pick], claim: int, device: int) -> bool:
    """Whether a device is not to be had; an administrator minds those of the claim alone."""
    if option.ask.admin:
        return any((one.claim, one.device) == (claim, device) for one in picks)
    return bool(used >> device & 1) or any(one.device == device for one in picks)


def obeys(given: Problem, picks: list[Pick]) -> bool:
    """Whether devices, and with them claims, keep all constraints."""
    for claim, columns in enumerate(given.values):
        for index, column in enumerate(columns):
            values = {
                column[one.device]
                for one in picks
                if one.claim == claim
                and index in given.options[claim][one.request][one.option].constraints
            }
            if NOTHING in values or len(values) > 1:
                return False
    return True


@st.composite
def problems(draw, *, counted: bool = False, plain: bool = False, most: int = 6) -> Problem:
    size = draw(st.integers(1, most))
    outcomes = [TRUE, TRUE, TRUE, FALSE] if plain else [TRUE, TRUE, TRUE, TRUE, FALSE, FALSE, FAILS]
    counts = st.integers(1, 3)
    counts = counts if counted or plain else st.one_of(counts, counts, counts, st.none())
    admins = st.just(False) if counted or plain else st.sampled_from([False] * 5 + [True])
    wanted: list[Wanted] = []
    options, values = [], []
    for _ in range(draw(st.integers(1, 2))):
        constraints = draw(st.integers(0, 2))
        requests, many = [], []
        for at in range(draw(st.integers(1, 3))):
            number = 1 if counted else draw(st.integers(1, 2))
            asks = tuple(
                Ask(f"o{one}", "class", draw(counts), (), admin=draw(admins))
                for one in range(number)
            )
            requests.append(Request(f"r{at}", asks, is_prioritised=number > 1))
            many.append(
                tuple(
                    Option(
                        ask,
                        tuple(
                            draw(st.lists(st.sampled_from(outcomes), min_size=size, max_size=size))
                        ),
                        tuple(sorted(draw(st.sets(st.integers(0, constraints - 1)))))
                        if constraints
                        else (),
                        claim=len(wanted),
                    )
                    for ask in asks
                )
            )
        wanted.append(Wanted("", tuple(requests), (Constraint("a/b"),) * constraints))
        options.append(tuple(many))
        column = st.lists(st.sampled_from([0, 0, 1, 2, NOTHING]), min_size=size, max_size=size)
        values.append(tuple(tuple(draw(column)) for _ in range(constraints)))
    kinds = kinds_of(options, values, size)
    return Problem(tuple(wanted), tuple(options), tuple(values), kinds)


@settings(max_examples=300, deadline=None)
@given(problems(), st.sampled_from([0, 0, 1, 2, 3, 5, 6, 40]))
def test_the_search_finds_what_one_without_shortcuts_finds(case, used):
    """Of what others left, if they have something."""
    found = allocate(case, held=Holdings(used=used))
    try:
        expected = naive(case, used)
    except FailedError:
        assert found.ending is Ending.FAILS
        return
    if expected is None:
        assert found.ending is Ending.NONE
    else:
        assert (found.ending, list(found.picks)) == (Ending.ALLOCATED, expected)


def test_what_an_administrator_shares_with_others_is_left_to_the_claim():
    first, second = (Ask(name, "class", 1, (), admin=name == "watch") for name in ("watch", "own"))
    alike = (TRUE, TRUE)
    options = (((Option(first, alike, ()),), (Option(second, alike, ()),)),)
    requests = tuple(Request(one.name, (one,)) for one in (first, second))
    case = Problem((Wanted("", requests),), options, ((),), kinds_of(options, ((),), 2))

    # The second device is somebody else's: an administrator may look at it, and nobody have it.
    assert allocate(case, held=Holdings(used=0b10)).picks == (Pick(0, 0, 0, 1), Pick(0, 1, 0, 0))


def test_a_device_that_all_meets_first_decides_whether_the_attempt_stops():
    alike = (TRUE, TRUE)
    one = Option(Ask("one", "class", 1, ()), alike, ())
    every = Option(Ask("all", "class", None, ()), alike, (0,))
    options = (((one,), (every,)),)
    values = (((NOTHING, NOTHING),),)
    requests = tuple(Request(name, ()) for name in ("one", "all"))
    wanted = (Wanted("", requests, (Constraint("a/b", frozenset({"all"})),)),)
    case = Problem(wanted, options, values, kinds_of(options, values, 2))

    # With the first device used, All cannot be had; with the second used, it breaks the constraint.
    with pytest.raises(FailedError):
        naive(case)
    assert allocate(case).cause.code == "AllBreaksConstraint"


@settings(max_examples=150, deadline=None)
@given(problems(most=12))
def test_devices_that_are_found_match_are_given_once_and_keep_the_constraints(case):
    found = allocate(case)

    for result in (found, decided(case)):
        picks = result.picks
        assert obeys(case, list(picks))
        own = [
            one for one in picks if not case.options[one.claim][one.request][one.option].ask.admin
        ]
        assert len({one.device for one in own}) == len(own)
        assert len({(one.claim, one.device) for one in picks}) == len(picks)
        for one in picks:
            assert case.options[one.claim][one.request][one.option].answers[one.device] == TRUE
    if found.ending is Ending.ALLOCATED:
        for claim, requests in enumerate(case.options):
            for at, options in enumerate(requests):
                mine = [one for one in found.picks if (one.claim, one.request) == (claim, at)]
                assert len(mine) == wants(options[mine[0].option])


@settings(max_examples=200, deadline=None)
@given(problems(plain=True, most=8))
def test_flows_decide_as_the_search_does(case):
    found = decided(case).ending

    # Many alternatives with many values are more cases than are looked at.
    assume(found is not Ending.LIMIT)
    assert found is allocate(case).ending


@settings(max_examples=150, deadline=None)
@given(problems(counted=True, plain=True, most=8), st.data())
def test_a_device_less_never_makes_counted_requests_feasible(case, data):
    gone = data.draw(st.integers(0, len(case.kinds) - 1))

    def without(values):
        return (*values[:gone], *values[gone + 1 :])

    fewer = Problem(
        case.wanted,
        tuple(
            tuple(
                tuple(replace(one, answers=without(one.answers)) for one in request)
                for request in claim
            )
            for claim in case.options
        ),
        tuple(tuple(without(one) for one in claim) for claim in case.values),
        without(case.kinds),
    )

    if allocate(case).ending is Ending.NONE:
        assert allocate(fewer).ending is Ending.NONE
