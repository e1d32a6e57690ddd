"""Expressions that may cost more than Kubernetes allows are not answered.

What Kubernetes estimates is beside each; its limit is 1,000,000.
"""

import time

import pytest
from tests.feasibility_claims import GPU, claim, exactly, said

from eks_devices.feasibility.costs import too_costly

LIMIT = 1_000_000
MODEL = "device.attributes['gpu.nvidia.com'].productName"


def numbers(count):
    return f"[{','.join(map(str, range(count)))}]"


def within(*lists):
    """Loops within one another."""
    names = "abcd"[: len(lists)]
    inner = f"{' + '.join(names)} < 9000"
    for name, one in zip(reversed(names), reversed(lists), strict=True):
        inner = f"{one}.all({name}, {inner})"
    return inner


@pytest.mark.parametrize(
    ("text", "estimated"),
    [
        (within(*[numbers(100)] * 3), 9_141_411),
        (within(*[numbers(1000)] * 2), 7_014_011),
        (f"{MODEL}.split('').exists(x, {MODEL}.split('').exists(y, x == y))", 2**64 - 1),
        (
            f"{MODEL}.replace('a', 'bbbbbbbb').replace('b', 'cccccccc').replace('c', 'd') == ''",
            None,
        ),
    ],
)
def test_what_kubernetes_refuses_for_its_cost_is_not_answered(text, estimated):
    assert estimated is None or estimated > LIMIT
    assert too_costly(text)
    assert said("p5.48xlarge", claim(exactly(GPU, text)))[0] == "unknown"


@pytest.mark.parametrize(
    ("text", "estimated"),
    [
        (f"{MODEL} == 'x'", 5),
        (" && ".join([f"{MODEL}.matches('abcdefghij')"] * 150), 3_750),
        (f"{MODEL}.matches('{'a' * 9000}')", 15_754),
        (within(numbers(100)), 511),
        (f"{numbers(2000)}.exists(x, x == 5)", 12_011),
        (f"['a', 'b'].exists(x, {MODEL}.contains(x))", 43),
        (f"cel.bind(x, {MODEL}, x == 'y')", None),
    ],
)
def test_what_is_far_below_the_limit_is_answered(text, estimated):
    assert estimated is None or estimated < LIMIT / 10
    assert not too_costly(text)


@pytest.mark.parametrize("text", [f"{'(' * 100}true{')' * 100}", f"{' + '.join('1' * 60)} == 60"])
def test_what_is_deeper_than_the_engine_goes_is_left_open(text):
    assert said("p5.48xlarge", claim(exactly(GPU, text))) == ("unknown", "KnownAtRunTime")


@pytest.mark.parametrize("text", ["a" * 10_000, "[" * 9_000, "a[ " * 3_000, "'a' in " * 1_400])
def test_a_long_expression_is_read_soon(text):
    started = time.process_time()

    assert said("p5.48xlarge", claim(exactly(GPU, text)))[0] in ("error", "unknown")
    assert time.process_time() - started < 1
