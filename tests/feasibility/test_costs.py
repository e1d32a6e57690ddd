"""What expressions may cost, as API servers estimate it, and which they refuse for that.

The numbers are those of the compilers of Kubernetes 1.34.9 to 1.37.2, which all say the same.
"""

import time

import pytest
from tests.feasibility_claims import GPU, claim, exactly, said

from eks_devices.feasibility.cel.answers import Answer, Outcome
from eks_devices.feasibility.cel.costs import too_costly, unpriced
from eks_devices.feasibility.cel.costs.tree import tree
from eks_devices.feasibility.cel.costs.walk import LOOP, Estimate, estimated
from eks_devices.feasibility.cel.engine import checker
from eks_devices.feasibility.cel.expressions import selector

MODEL = "device.attributes['gpu.nvidia.com'].productName"
HAS = "'productName' in device.attributes['gpu.nvidia.com']"
MAY_BE_ABSENT = "device.attributes['gpu.nvidia.com'].?productName.orValue('')"
COSTS = r"""
   9 | device.driver.contains('a')
 201 | device.attributes['a'].b == 'x' && device.attributes['a'].exists(k, k == 'b')
   7 | device.capacity['a'].memory.compareTo(quantity('1Gi')) >= 0
   6 | device.capacity['a'].memory == quantity('1Gi')
  32 | {'a': 1}.size() > 0
  21 | cel.bind(x, device.driver, x == x)
   3 | has(device.attributes['a'].b)
  51 | [1,2].map(x, x*2).size() == 2
  39 | ['a','b'].exists(x, device.driver.contains(x))
  18 | device.attributes['a'].b.lowerAscii().contains('abc')
  18 | device.attributes['a'].b.matches('^abc.*')
  19 | device.attributes['a'].b.split('-')[0] == 'a'
  30 | device.attributes['a'].b.replace('a','bb').contains('a')
  10 | (device.driver + 'x').startsWith('y')
  14 | device.driver in ['a','b']
   4 | 'a' in device.attributes['a']
  16 | device.attributes['a'].b in ['a','b']
   3 | (true ? device.driver : 'x') == 'y'
 195 | device.attributes.exists(d, d == 'a')
6403 | device.attributes.all(d, device.attributes[d].exists(k, k == 'a'))
  12 | string(device.attributes['a'].b) == 'a'
   6 | device.attributes['a'].b.size() > 3
   6 | device.attributes['a'].v.isGreaterThan(semver('1.2.3'))
   6 | int(device.attributes['a'].b) > 3
   5 | device.attributes['a']['b'] > 3
  24 | sets.contains(['a'], [device.driver])
  10 | device.driver.indexOf('a') == 1
   3 | url('https://a').getHost() == 'a'
   3 | ip('1.2.3.4').family() == 4
   6 | cidr('1.2.3.0/24').containsIP('1.2.3.4')
  10 | device.driver.find('a+') == 'a'
  40 | ['a'].filter(x, x == device.driver).size() == 1
  14 | '%s'.format([device.driver]) == 'a'
   9 | isQuantity(device.driver)
   4 | device.driver.charAt(0) == 'd'
  24 | device.driver.trim().upperAscii().substring(1) == 'a'
  14 | [1,2,3].sum() == 6
   6 | device.attributes['a'].b.orValue('x') == 'x'
   6 | device.attributes['a'].?b.orValue('x') == 'x'
   6 | device.attributes['a'].?b.orValue('x').startsWith('y')
   5 | device.attributes['a'].?b.hasValue()
   5 | device.attributes['a'].b > 'x'
   5 | device.attributes.a.b == 'x'
  16 | [?device.attributes['a'].?b].size() > 0
  36 | {?'a': device.attributes['a'].?b}.size() > 0
  24 | device.attributes['a'].?b.optMap(x, x == 'y').orValue(false)
  24 | device.attributes['a'].?b.optFlatMap(x, optional.of(x == 'y')).orValue(false)
  24 | device.attributes[?'a'].optMap(x, x.?b.orValue('') == 'y').orValue(false)
  12 | [1,2].first().hasValue()
   3 | duration('1s') > duration('2s')
   3 | timestamp('2020-01-01T00:00:00Z').getFullYear() > 1
  11 | bytes(device.driver).size() > 1
   2 | b'abc' == bytes('abc')
   2 | -1 < 2 && 1u < 2u
   6 | device.attributes['a'].b[0] == 'x'
   8 | device.attributes['a'].b[device.driver] == 'x'
   5 | device.attributes['a'].b.c.d == 'x'
 195 | device.capacity.exists(d, d == 'a')
 164 | device.capacity['a'].all(k, k == 'memory')
 388 | device.capacity['a'].exists(k, device.capacity['a'][k].compareTo(quantity('1')) > 0)
   5 | quantity('1').add(1).sub(quantity('2')).isInteger()
   3 | sign(quantity('1')) == 1
   6 | url('https://a?x=1').getQuery()['x'][0] == '1'
   3 | isURL(device.driver)
  10 | ip(device.driver).isLoopback()
   4 | cidr('1.2.3.0/24').masked() == cidr('1.2.3.0/24')
   4 | string(cidr('1.2.3.0/24').ip()) == 'x'
  31 | 'a' in {'a': 1}
  30 | has({'a':1}.a)
   2 | optional.none().hasValue()
   5 | optional.of('a').or(optional.of('b')).value() == 'a'
   3 | semver('v1.2.3', true).major() == 1
  19 | dyn([device.driver]).all(x, x == 'a')
  36 | cel.bind(a, ['x','y'], a.all(x, x in a))
   5 | !device.attributes['a'].ok
   3 | device.allowMultipleAllocations == true
   4 | device.attributes['a'].b ? true : false
   6 | double(device.attributes['a'].b) > 1.5
"""
COMPARED = [line.split(" | ", 1) for line in COSTS.strip().splitlines()]


def numbers(count):
    return f"[{','.join(map(str, range(count)))}]"


def within(*lists):
    """Loops within one another."""
    names = "abcd"[: len(lists)]
    inner = f"{' + '.join(names)} < 9000"
    for name, one in zip(reversed(names), reversed(lists), strict=True):
        inner = f"{one}.all({name}, {inner})"
    return inner


def estimate(text: str) -> Estimate:
    found = estimated(tree(checker().compile(text).serialize()))
    assert found is not None
    return found


def problem(text: str) -> Answer:
    found = selector(text).problem
    assert found is not None
    return found


@pytest.mark.parametrize(("cost", "text"), COMPARED)
def test_an_expression_costs_what_api_servers_estimate(cost, text):
    assert estimate(text).cost == int(cost)
    assert too_costly(text) is None


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        (f"{MODEL} == 'x'", 5),
        (" && ".join([f"{MODEL}.matches('abcdefghij')"] * 100), 2_500),
        (f"{MODEL}.matches('{'a' * 9000}')", 15_754),
        (within(numbers(100)), 511),
        (f"{numbers(2000)}.exists(x, x == 5)", 12_011),
        (f"['a', 'b'].exists(x, {MODEL}.contains(x))", 43),
        (within(*[numbers(100)] * 3), 9_141_411),
        (within(*[numbers(1000)] * 2), 7_014_011),
    ],
)
def test_loops_cost_as_much_as_all_their_turns(text, cost):
    found = estimate(text)

    assert found.cost == cost
    assert (said("p5.48xlarge", claim(exactly(GPU, text)))[1] == "ExpressionInvalid") == (
        cost > 1_000_000
    )


@pytest.mark.parametrize(
    ("text", "costliest", "written"),
    [
        (
            f"{MAY_BE_ABSENT}.contains('H100')",
            "contains",
            f"write {HAS} && {MODEL}.contains('H100')",
        ),
        (
            f"device.driver == 'a' || {MAY_BE_ABSENT}.lowerAscii() == 'h100'",
            "lowerAscii",
            f"write device.driver == 'a' || ({HAS} && {MODEL}.lowerAscii() == 'h100')",
        ),
        (
            f"!{MAY_BE_ABSENT}.startsWith('') && {MAY_BE_ABSENT}.contains('x')",
            "contains",
            f"write !(!({HAS}) || {MODEL}.startsWith('')) && ({HAS} && {MODEL}.contains('x'))",
        ),
        (
            f"device.attributes['{GPU}'].?productName.orValue('x').matches('.*')",
            "matches",
            f"write !({HAS}) || {MODEL}.matches('.*')",
        ),
        (f"{MAY_BE_ABSENT}.size() > 3 || {MAY_BE_ABSENT}.find('a') == ''", "find", "compare"),
        (f"type({MODEL}) == string", "==", "compare attributes of the device themselves"),
        (f"{MODEL}.split('-')[1].contains('a')", "contains", "look at the whole text"),
        ("['a', 'b'].isSorted()", "isSorted", "compare attributes"),
        (
            "device.capacity['a'].memory != quantity('1Gi')",
            "!=",
            "write !(device.capacity['a'].memory == quantity('1Gi'))",
        ),
        ("device.attributes.gpu.productName.contains('a')", "contains", "compare attributes"),
        (
            f"{MODEL}.split('').exists(x, {MODEL}.split('').exists(y, x == y))",
            LOOP,
            "go through fewer elements",
        ),
    ],
)
def test_what_has_no_end_is_refused_with_what_to_write(text, costliest, written):
    found = problem(text)

    assert found.outcome is Outcome.FAILS
    assert "its estimated cost is beyond the limit of 1,000,000" in found.text
    assert f"as {costliest} goes through something that may be of any length" in found.text
    assert found.fix.startswith(written)
    whole = found.fix.removeprefix("write ")
    assert whole == found.fix or too_costly(whole) is None


def test_a_cost_with_an_end_is_told_with_its_number():
    found = problem(within(*[numbers(100)] * 3))

    assert "its estimated cost is 9,141,411, beyond the limit of 1,000,000, most of a loop" in (
        found.text
    )


@pytest.mark.parametrize("text", ["[3, 1].sort() == [1, 3]", "lists.range(3).size() == 3"])
def test_of_functions_that_nothing_is_told_about_the_cost_is_open(text):
    assert unpriced(text)
    assert too_costly(text) is None
    assert problem(text).outcome is Outcome.UNCLEAR


def test_what_the_engine_reads_otherwise_is_not_refused_for_its_cost():
    text = rf"r'\' + r'' == '' && {MAY_BE_ABSENT}.contains('a')"

    assert too_costly(text.replace(r"r'\' + r''", "'a'"))
    assert too_costly(r"r'\'' == 'a' && " + f"{MAY_BE_ABSENT}.contains('a')") is None


@pytest.mark.parametrize("text", [f"{'(' * 100}true{')' * 100}", f"{' + '.join('1' * 60)} == 60"])
def test_what_is_deeper_than_the_engine_goes_is_left_open(text):
    assert said("p5.48xlarge", claim(exactly(GPU, text))) == ("unknown", "KnownAtRunTime")


@pytest.mark.parametrize("text", ["a" * 10_000, "[" * 9_000, "a[ " * 3_000, "'a' in " * 1_400])
def test_a_long_expression_is_read_soon(text):
    started = time.process_time()

    assert said("p5.48xlarge", claim(exactly(GPU, text)))[0] in ("error", "unknown")
    assert time.process_time() - started < 1
