"""How long a search takes does not depend on how deep its caller is."""

import time

from eks_devices.feasibility.search.stack_room import with_room

CALLS, DEPTHS, TRIES = 2_000, 150, 3


def leaf(number):
    return number


def up_and_down():
    for number in range(CALLS):
        leaf(number)
    return "found"


def times(search):
    """The best of some tries at each depth of the stack."""

    def at(depth):
        if depth:
            return [*at(depth - 1), once(search)]
        return []

    rounds = [at(DEPTHS) for _ in range(TRIES)]
    return [min(each) for each in zip(*rounds, strict=True)]


def once(search):
    started = time.process_time()
    search()
    return time.process_time() - started


def test_a_search_with_room_is_as_fast_at_every_depth():
    found = sorted(times(with_room(up_and_down)))
    assert found[-1] < 4 * found[len(found) // 2]


def test_a_search_with_room_is_the_same_function():
    def search(one, *, other=1):
        """What it does."""
        return one, other

    roomy = with_room(search)
    assert roomy(2, other=3) == (2, 3)
    assert (roomy.__name__, roomy.__doc__) == ("search", "What it does.")
