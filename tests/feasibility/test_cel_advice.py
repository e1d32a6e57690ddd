"""What is refused of an expression is told with what to write, and that is not refused."""

from random import Random

import pytest
from tests.feasibility_claims import GPU, claim, exactly, verdict
from tests.generated.expressions import Wild
from tests.generated.nodes import MADE_UP

from eks_devices._frozen import FrozenDict
from eks_devices.feasibility.expressions import Outcome, evaluate, selector
from eks_devices.feasibility.slices import NodeDevice

OWN = "device.attributes['gpu.nvidia.com']"
NAME = f"{OWN}.productName"
MEMORY = "device.capacity['gpu.nvidia.com'].memory"


REFUSED = [
    (f"{NAME} = 'x'", "write == for ="),
    (f"{NAME} == 'x' and true", "write && for and"),
    (f"{NAME} == 'x' or true", "write || for or"),
    (f"{NAME} == 'x' & true", "write && for &"),
    (f"not ({NAME} == 'x')", "write ! for not"),
    (f"not {OWN}.isVgpu", "write ! for not"),
    (f"{MEMORY} >= quantity('40Gi')", f"write {MEMORY}.compareTo(quantity('40Gi')) >= 0"),
    (f"{MEMORY} == '40Gi'", f"write {MEMORY}.compareTo(quantity('40Gi')) == 0"),
    (f"{MEMORY} > 40", f"write {MEMORY}.compareTo(quantity('40')) > 0"),
    (f"{MEMORY}.compareTo('40Gi') >= 0", "write compareTo(quantity('40Gi'))"),
    (f"{MEMORY}.isGreaterThan(40)", "write isGreaterThan(quantity('40'))"),
    (
        f"{MEMORY}.compareTo(quantity('40Gi'))",
        f"write {MEMORY}.compareTo(quantity('40Gi')) >= 0",
    ),
    (
        f"{OWN}.driverVersion.isGreaterThan('580')",
        "write isGreaterThan(semver('580.0.0')) for a version, or quantity('...')",
    ),
    ("device.attributes['gpu.nvidia.com/productName'] == 'x'", f"write {NAME}"),
    ("device.attributes[gpu.nvidia.com].productName == 'x'", f"write {OWN}"),
    (
        "device.capacity.gpu.nvidia.com.memory.compareTo(quantity('1Gi')) > 0",
        f"write {MEMORY}",
    ),
    (f"{NAME.replace('device', 'devices', 1)} == 'x'", "did you mean device?"),
    (f"{NAME.replace('attr', 'Attr', 1)} == 'x'", "did you mean device.attributes?"),
    (f"{NAME.removeprefix('device.')} == 'x'", "write device.attributes"),
    ("device.numberOfPhotons == 1", "a device has attributes, capacity and driver"),
    (f"{NAME}.startswith('N')", "did you mean startsWith?"),
    (f"contains({NAME}, 'x')", f"write {NAME}.contains('x')"),
    (f"{NAME} contains 'x'", "write .contains('x')"),
    (f"{NAME} LIKE 'x'", "write .contains('x')"),
    (f"{NAME} =~ 'x'", "write .matches('...')"),
    (
        f"{NAME} in 'x'",
        "write .contains('...') for a part of a text, or in ['...'] for one of several",
    ),
    (f"{NAME} == H100", "write texts in quotes"),
    (f"{NAME} == 'x", "end the text that begins with ' by the same quote, on its line"),
    (f"{NAME} == \u201cx\u201d", "write plain quotes"),
    (f"{NAME} == 'x' &&", "the expression ends too soon"),
    (f"{OWN}.isVgpu == True", "write true"),
    (f"cel: {NAME} == 'x'", "write the expression alone"),
    ("${{ values.cel }}", "write what the expression is once the template is filled in"),
    (f"\"{NAME} == 'x'\"", "leave the outer quotes out"),
    ("'NVIDIA'", "compare it with something, by == or the like"),
    (
        f"has({OWN})",
        "write has(device.attributes['domain'].name), or 'domain' in device.attributes",
    ),
    (f"{NAME} == 'x' )(", "mend the expression"),
]


@pytest.mark.parametrize(("text", "fix"), REFUSED)
def test_what_the_server_refuses_is_told_with_what_to_write(text, fix):
    found = verdict("p5.48xlarge", claim(exactly(GPU, text)))

    assert (found.status, found.code) == ("error", "ExpressionInvalid")
    assert (found.request, found.selector, found.fix) == ("gpu", 0, fix)
    assert "<input>" not in found.reason
    assert "expecting" not in found.reason
    if fix.endswith(" 0"):
        assert selector(fix.removeprefix("write ")).problem is None


def test_the_place_of_a_mistake_is_told_by_line_and_character():
    one, other = (selector(text).problem for text in ("true &", "true\n  & true"))

    assert one is not None
    assert one.text.endswith("(character 6)")
    assert other is not None
    assert other.text.endswith("(line 2, character 3)")


def test_a_domain_without_quotes_fails_on_every_device_and_is_told():
    text = "device.attributes.gpu.nvidia.com.productName == 'x'"
    found = verdict("p5.48xlarge", claim(exactly(GPU, text)))

    assert (found.status, found.code) == ("error", "ExpressionFails")
    assert found.fix == f"write {NAME}"


def test_a_domain_without_dots_may_be_written_as_a_field():
    device = NodeDevice("d", "d", FrozenDict({"d/a": "x"}), FrozenDict(), frozenset(), frozenset())

    assert evaluate("device.attributes.d.a.size() == 1", device).outcome is Outcome.TRUE
    assert evaluate("device.attributes.other.a.size() == 1", device).outcome is Outcome.FAILS


def test_any_expression_that_is_refused_has_advice():
    wild = Wild(Random(3), MADE_UP)
    refused = 0
    for _ in range(3000):
        found = selector(wild.truth()).problem
        if found is not None and found.outcome is Outcome.FAILS:
            refused += 1
            assert found.fix
    assert refused > 200


@pytest.mark.parametrize(
    "text",
    [
        f"{MEMORY} >= ''",
        f'{MEMORY}.compareTo("")',
        f"{MEMORY}.compareTo(1)",
        f"{MEMORY}.compareTo(device.driver) > 0",
        f"{OWN}.driverVersion.isGreaterThan('')",
        f"{OWN}.driverVersion.isGreaterThan('abc')",
        "contains(",
        "device.",
        "device.attributes[",
        "= = =",
        "",
    ],
)
def test_odd_expressions_have_advice_too(text):
    found = selector(text).problem
    assert found is not None
    assert found.fix


@pytest.mark.parametrize(
    "text",
    [
        f"sets.contains(['x'], [{NAME}])",
        f"sets.intersects(['x'], [{NAME}])",
        f"format.dns1123Label().validate({NAME}) == optional.none()",
        f"{OWN}.minor in lists.range(8)",
    ],
)
def test_a_function_that_the_engine_lacks_is_no_unknown_name(text):
    found = selector(text).problem
    assert found is not None
    assert found.outcome is Outcome.UNCLEAR
