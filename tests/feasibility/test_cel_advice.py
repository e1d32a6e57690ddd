"""What is refused of an expression is told with what to write, and that is not refused."""

import re
from random import Random

import pytest
from tests.feasibility_claims import GPU, claim, exactly, verdict
from tests.generated.expressions import Wild
from tests.generated.nodes import MADE_UP

from eks_devices import EksDevicesError
from eks_devices._frozen import FrozenDict
from eks_devices.feasibility.cel.answers import Outcome
from eks_devices.feasibility.cel.expressions import evaluate, mended, refusal, selector
from eks_devices.feasibility.reading.class_form import read_class
from eks_devices.feasibility.slices import NodeDevice

OWN = "device.attributes['gpu.nvidia.com']"
NAME = f"{OWN}.productName"
MEMORY = "device.capacity['gpu.nvidia.com'].memory"


REFUSED = [
    (f"{NAME} = 'NVIDIA'", "write == for =: "),
    (f"{NAME} === 'NVIDIA H100 80GB HBM3'", "write == for ===: "),
    (f"{NAME} <> 'x'", "write != for <>: "),
    (f"{NAME} !== 'x'", "write != for !==: "),
    (f"{NAME} is 'NVIDIA H100 80GB HBM3'", "write == for is: "),
    (f"{NAME} is not 'x'", "write != for is not: "),
    (f"{NAME} == 'x' and true", "write && for and: "),
    (f"{NAME} == 'x' or true", "write || for or: "),
    (f"{NAME} == 'x' & true", "write && for &: "),
    (f"{NAME} == 'x' | true", "write || for |: "),
    (f"{NAME} != 'x' && & true", "write && once: "),
    (f"{NAME} != 'x', true", "write && for ,: "),
    (f"{NAME} != 'x'; true", "write && for ;: "),
    (f"{NAME} != 'x';", "leave the ; out: "),
    (f"{NAME} != 'x'\n{OWN}.type == 'gpu'", "write && between them: "),
    (f"{NAME} != 'x')", "leave the ) out: "),
    (f"({NAME} != 'x'", "write the ) that is missing: "),
    (f"if {NAME} != 'x'", "write the expression alone, without if: "),
    (f"if ({NAME} != 'x') {{ true }} else {{ false }}", "write the expression alone, without if: "),
    (f"return {NAME} != 'x'", "write the expression alone, without return: "),
    (f"{NAME} != 'x' if true else false", f"write a ? b : c for if: true ? {NAME} != 'x' : false"),
    (f"not ({NAME} == 'x')", f"write ! for not: !({NAME} == 'x')"),
    (f"not {NAME} == 'x'", f"write ! for not: !({NAME} == 'x')"),
    (f"not {OWN}.isVgpu", "write ! for not"),
    (f"{NAME} not in ['x']", f"write !(a in b) for not in: !({NAME} in ['x'])"),
    (f"{NAME} in ('x', 'NVIDIA')", "write a list in [ ]: "),
    (f"{NAME} == 'x' || 'H100'", f"write {NAME} == 'x' || {NAME} == 'NVIDIA H100 80GB HBM3'"),
    (f"{NAME}.contains('x') || 'H100'", f"write {NAME}.contains('x') || {NAME}.contains('H100')"),
    (f"{NAME} == ('NVIDIA' || 'y')", "write in [...] for one of several: "),
    (f"'x' || 'H100' == {NAME}", f"write {NAME} == 'x' || "),
    (f"true && {MEMORY}", f"write true && {MEMORY}.compareTo(quantity('1Gi')) >= 0"),
    (f"{MEMORY} >= quantity('40Gi')", f"write {MEMORY}.compareTo(quantity('40Gi')) >= 0"),
    (f"'40Gi' <= {MEMORY}", f"write {MEMORY}.compareTo(quantity('40Gi')) >= 0"),
    (f"{MEMORY} >= 40Gi", f"write {MEMORY}.compareTo(quantity('40Gi')) >= 0"),
    (f"{MEMORY} > 40", f"write {MEMORY}.compareTo(quantity('40Gi')) > 0"),
    (f"{MEMORY} > 40 * 1024", f"write {MEMORY}.compareTo(quantity('40960Mi')) > 0"),
    (f"{MEMORY} > 42949672960", f"write {MEMORY}.compareTo(quantity('42949672960')) > 0"),
    (f"{MEMORY} in ['81152Mi']", f"write {MEMORY}.compareTo(quantity('81152Mi')) == 0"),
    (f"int({MEMORY}) > 40", f"write {MEMORY}.compareTo(quantity('40Gi')) > 0"),
    (f"{MEMORY}.compareTo('40Gi') >= 0", f"write {MEMORY}.compareTo(quantity('40Gi')) >= 0"),
    (f"{MEMORY}.compareTo(quantity(40)) > 0", f"write {MEMORY}.compareTo(quantity('40Gi')) > 0"),
    (f"{MEMORY}.isGreaterThan(40)", f"write {MEMORY}.isGreaterThan(quantity('40Gi'))"),
    (f"{MEMORY}.gte(quantity('40Gi'))", f"write !{MEMORY}.isLessThan(quantity('40Gi'))"),
    (f"{MEMORY}.greaterThan(quantity('40Gi'))", "write isGreaterThan() for greaterThan(): "),
    (f"{MEMORY}.compareTo(quantity('40Gi'))", f"write {MEMORY}.compareTo(quantity('40Gi')) >= 0"),
    (MEMORY, f"write {MEMORY}.compareTo(quantity('1Gi')) >= 0, or the like"),
    (
        f"{OWN}.driverVersion.isGreaterThan('580')",
        "write isGreaterThan(semver('580.0.0')) for a version, or quantity('...'): ",
    ),
    ("device.attributes['gpu.nvidia.com/productName'] != 'x'", f"write {NAME} != 'x'"),
    ("device.attributes[gpu.nvidia.com].productName != 'x'", f"write {NAME} != 'x'"),
    (
        "device.capacity.gpu.nvidia.com.memory.compareTo(quantity('1Gi')) > 0",
        f"write {MEMORY}.compareTo(quantity('1Gi')) > 0",
    ),
    (f"{NAME.replace('device', 'devices', 1)} != 'x'", "did you mean device? That is "),
    (f"{NAME.replace('attr', 'Attr', 1)} != 'x'", "did you mean device.attributes? That is "),
    (f"{NAME.removeprefix('device.')} != 'x'", f"write {NAME} != 'x'"),
    ("max([1, 2]) == 2", "it is there as list"),
    ("size(device) > 0", "name an attribute or a capacity of it"),
    ("string(device) == 'a' || true", "name an attribute or a capacity of it"),
    ("has(device)", "name an attribute or a capacity of it"),
    ("device.attributes.productName != 'x'", f"write {NAME} != 'x'"),
    ("device.attributes['productName'] != 'x'", f"write {NAME} != 'x'"),
    ("device.attributes.productName.contains('NVIDIA')", f"write {NAME}.contains('NVIDIA')"),
    (
        "device.capacity.memory.isGreaterThan(quantity('40Gi'))",
        f"write {MEMORY}.isGreaterThan(quantity('40Gi'))",
    ),
    ("device.capacity.memory >= '40Gi'", f"write {MEMORY}.compareTo(quantity('40Gi')) >= 0"),
    (f"{OWN} == 'H100'", "name an attribute after its domain"),
    ("device.numberOfPhotons == 1", "a device has attributes, capacity and driver"),
    (f"{NAME}.startswith('N')", "write startsWith() for startswith(): "),
    (f"{NAME}.hasPrefix('N')", "write startsWith() for hasPrefix(): "),
    (f"{NAME}.toLower() == 'h100'", "write lowerAscii() for toLower(): "),
    (f"len({NAME}) > 3", f"write size() for len(): size({NAME}) > 3"),
    (f"{NAME}.length() > 3", f"write size() for length(): {NAME}.size() > 3"),
    (f"{NAME}.equals('NVIDIA')", f"write {NAME} == 'NVIDIA H100 80GB HBM3'"),
    (f"{OWN}.get('productName') != 'x'", f"write {OWN}['productName'] != 'x'"),
    (f"contains({NAME}, 'H100')", f"write {NAME}.contains('H100')"),
    (f"{NAME} contains 'H100'", f"write {NAME}.contains('H100')"),
    (f'{NAME}.contains "H100"', f'write {NAME}.contains("H100")'),
    (f"{NAME} LIKE '%H100%'", f"write {NAME}.contains('H100')"),
    (f"{NAME} like 'NVIDIA%'", f"write {NAME}.startsWith('NVIDIA')"),
    (f"{NAME} =~ 'H100'", "write .matches('...'): "),
    (f"{NAME}[0:6] == 'NVIDIA'", f"write {NAME}.substring(0, 6) == 'NVIDIA'"),
    (
        f"{NAME} in 'H100'",
        "write .contains('...') for a part of a text, or in ['...'] for one of several: ",
    ),
    (f"{NAME} == H100", "write texts in quotes: "),
    ("gpu.productName == 'H100'", f"write {NAME} == 'NVIDIA H100 80GB HBM3'"),
    ("device.memory >= '40Gi'", f"write {MEMORY}.compareTo(quantity('40Gi')) >= 0"),
    (f"// big\n{MEMORY} >= '40Gi'", f"write {MEMORY}.compareTo(quantity('40Gi')) >= 0"),
    (f"{NAME} != 'x' # not x", f"write // for #: {NAME} != 'x'"),
    (
        f"{NAME} != 'x' and\n  {MEMORY} >= '40Gi'\n",
        f"write && for and: {NAME} != 'x' && {MEMORY}.compareTo(quantity('40Gi')) >= 0",
    ),
    (f"{NAME} == 'H100''", "leave the last ' out: "),
    (f"{NAME} == 'x' ? 'yes' : 'no'", "write the condition alone: "),
    (f"{NAME}.strip() == 'H100'", "write trim() for strip(): "),
    (f"{NAME} == 'x", "end the text that begins with ' by the same quote, on its line"),
    (f"{NAME} != \u201cx\u201d", "write plain quotes: "),
    (f"{NAME} != 'x' &&", "the expression ends too soon: "),
    (f"{OWN}.isVgpu == True", "write true"),
    (f"cel: {NAME} != 'x'", "write the expression alone: "),
    ("${{ values.cel }}", "write what the expression is once the template is filled in"),
    (f"\"{NAME} != 'x'\"", "leave the outer quotes out: "),
    ("'NVIDIA'", "compare it with something, by == or the like"),
    (
        f"has({OWN})",
        "write has(device.attributes['domain'].name), or 'domain' in device.attributes",
    ),
    (f"{NAME} == 'x' )(", "mend the expression"),
    (
        f"{NAME}.matches('H100(')",
        (
            "write .contains('...') for a text as it is, or two backslashes in front of what has "
            "a meaning in patterns, such as \\\\("
        ),
    ),
    (
        f"{MEMORY[:-7]}['memory'] > quantity('40Gi')",
        f"write {MEMORY[:-7]}['memory'].compareTo(quantity('40Gi')) > 0",
    ),
    ("math.greatest(1, 2) == 2", "do without math.greatest, which the API server does not have"),
    (
        "base64.encode(b'a') == 'YQ=='",
        "do without base64.encode, which the API server does not have",
    ),
    (
        f"{OWN}.orValue({{}}).productName == 'x'",
        "write .?name.orValue('') for an attribute that may not be there",
    ),
    (f"string({MEMORY}) == '81152Mi'", f"write {MEMORY}.compareTo(quantity('81152Mi')) == 0"),
    (
        f"{MEMORY}.value.compareTo(quantity('40Gi')) >= 0",
        "an amount has no fields: leave .value out: ",
    ),
    ("true == 'true'", "compare values of one type, and not bool with string"),
    (f"{OWN[:-1]}.productName == 'x'", "write the ] that is missing"),
    (f"{MEMORY}.sign() == 1", f"write sign({MEMORY}), with the value in the brackets: "),
    (
        "quantity('1Gi').sign() == 1",
        "write sign(quantity('1Gi')), with the value in the brackets: ",
    ),
    ("'abc'.reverse() == 'cba'", "it is there as list.reverse()"),
    ("['a'].sum() == 'a'", "it is there as list(numbers).sum()"),
    ("sets.contains('a', ['a'])", "it is there as sets.contains(list, list)"),
]
# The gate DRAListTypeAttributes is off on EKS, whose API servers so have no such function.
REFUSED_BY_GATE = [(f"{NAME}.includes('H100')", "write contains() for includes(): ")]
# What is formatted is looked at in new claims alone, not where the allocator meets it.
REFUSED_WHEN_NEW = [
    (f"'%s'.format([{NAME}]) == 'x'", f"write string({NAME}) in its list"),
    (f"'%s'.format([{MEMORY}]) == 'x'", "compare it by compareTo"),
    (f"'%s'.format(['a', {NAME}]) == 'x'", "give it one value for each"),
]


@pytest.mark.parametrize(("text", "fix"), [*REFUSED, *REFUSED_BY_GATE, *REFUSED_WHEN_NEW])
def test_what_the_server_refuses_is_told_with_what_to_write(text, fix):
    found = verdict("p5.48xlarge", claim(exactly(GPU, text)))

    assert (found.status, found.code) == ("error", "ExpressionInvalid")
    assert (found.request, found.selector) == ("gpu", 0)
    assert found.fix.startswith(fix)
    assert "<input>" not in found.reason
    assert "expecting" not in found.reason
    if whole := whole_of(found.fix):
        assert verdict("p5.48xlarge", claim(exactly(GPU, whole))).status in ("feasible", "unknown")
    else:
        assert not fix.endswith(": ")


def whole_of(fix):
    """The last expression of an advice, which is to match; empty of one without."""
    found = re.search(
        r"(?:.*[:?;] (?:write |That is )?|write )((?:[!(]*device|size|sign|true).+)", fix
    )
    if found is None or " : " in found[1] or " has " in found[1]:
        return ""
    return re.sub(r", (?:for these devices have|or the like).*", "", found[1])


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
    assert whole_of(found.fix) == f"{NAME} == 'NVIDIA H100 80GB HBM3'"


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


# Functions of Kubernetes that the engine lacks, as they are called.
TAKEN = [
    f"sets.contains(['x'], [{NAME}])",
    f"sets.intersects(['x'], [{NAME}])",
    f"format.dns1123Label().validate({NAME}) == optional.none()",
    f"format.named('uuid').value().validate({NAME}).hasValue()",
    f"{NAME}.find('[0-9]+') == '80' && {NAME}.findAll('[A-Z]', 2).size() == 2",
    f"{NAME}.indexOf('H100', 2) >= 0 && {NAME}.lastIndexOf('0') > 1",
    f"{MEMORY}.add(quantity('1Gi')).sub(5).isGreaterThan(quantity('1Gi'))",
    f"semver('v9', true).compareTo({OWN}.driverVersion) <= 0",
    "isSemver('9', true)",
    "[1, 2].sum() == 3 && [1.5].max() > 1.0 && [2u].min() == 2u",
    "[true].isSorted() || [duration('1h')].sum() > duration('1s')",
    "['a'].indexOf('a') == 0 && [1].first().value() == [1].last().value()",
    "sets.equivalent([optional.of(1)].unwrapOpt(), optional.unwrap([optional.of(1)]))",
    "ip('10.0.0.1').family() == 4 && cidr('10.0.0.0/8').containsIP('10.0.0.1')",
    "string(cidr('10.0.0.0/8').ip()) == '10.0.0.0'",
    "url('https://a.b/c?d=e').getQuery()['d'].size() == 1",
    "strings.quote('a') == 'b' && '%s: %d'.format(['a', 1]) == 'a: 1'",
    f"dyn({NAME}) != 5 && string(1) == '1'",
]
TAKEN_LATER = [
    f"{OWN}.minor in lists.range(8)",
    "[1, 2, 2].distinct().reverse().slice(0, 1).size() == 1",
    "[[3], [1]].flatten().sort() == [1, 3]",
]


@pytest.mark.parametrize("text", [*TAKEN, *TAKEN_LATER])
def test_a_function_that_the_engine_lacks_is_no_unknown_name(text):
    found = selector(text).problem
    assert found is not None
    assert found.outcome is Outcome.UNCLEAR or "estimated cost" in found.text


@pytest.mark.parametrize("text", TAKEN_LATER)
def test_a_function_is_refused_by_minors_that_do_not_have_it_yet(text):
    found = refusal(text, "1.35")
    assert found is None or "estimated cost" in found[0]
    assert refusal(f'"{text}" == "x"', "1.34") is None

    why, fix = refusal(text, "1.34") or ("", "")

    assert "from Kubernetes 1.35 on" in why
    assert fix.endswith("or upgrade the cluster to 1.35")


@pytest.mark.parametrize(
    ("text", "of_1_34", "of_1_35"),
    [
        ("'abc'.reverse() == 'cba'", "do without reverse", "it is there as list.reverse()"),
        (
            f"{NAME}.reverse() == 'cba'",
            "do without reverse",
            "reverse is there for lists alone, as list.reverse()",
        ),
        ("[1].sort() = [1]", "write == for =, and do without sort", "write == for ="),
    ],
)
def test_no_function_is_advised_that_a_minor_does_not_have(text, of_1_34, of_1_35):
    assert (refusal(text, "1.34") or ("", ""))[1] == of_1_34
    assert (refusal(text, "1.35") or ("", ""))[1] == of_1_35
    assert mended(text, "1.34") == ""


def test_a_field_of_devices_is_refused_where_its_gate_is_off_and_evaluated_where_it_is_on():
    text = "device.allowMultipleAllocations == false"
    found = verdict("p5.48xlarge", claim(exactly(GPU, text)), version="1.35")

    assert (found.status, found.code) == ("error", "ExpressionInvalid")
    assert found.fix == (
        "leave device.allowMultipleAllocations out, or upgrade the cluster to 1.36"
    )
    assert verdict("p5.48xlarge", claim(exactly(GPU, text))).status == "feasible"
    text = text.replace("==", "!=")
    assert verdict("p5.48xlarge", claim(exactly(GPU, text))).status == "infeasible"


def test_a_class_is_held_against_the_same_minor():
    text = "device.driver == 'gpu.nvidia.com' && [1].reverse() == [1]"
    own = {
        "kind": "DeviceClass",
        "metadata": {"name": "own"},
        "spec": {"selectors": [{"cel": {"expression": text}}]},
    }

    assert read_class(own, "own", kubernetes_version="1.35") == ("own", (text,))
    with pytest.raises(EksDevicesError, match=r"from Kubernetes 1\.35 on"):
        read_class(own, "own", kubernetes_version="1.34")


AMOUNT = "device.capacity['gpu.nvidia.com'].memory"


@pytest.mark.parametrize(
    ("text", "told", "fix"),
    [
        # What is told is about the place that is refused, on its line.
        (f"{OWN}.index > 3 && quantity('1Gi') < {AMOUNT}", "< is not there", f"write {AMOUNT}"),
        (
            f"true &&\n  {AMOUNT} >= quantity('80Gi')",
            "(line 2,",
            f"write {AMOUNT}.compareTo(quantity('80Gi')) >= 0",
        ),
        (f"{NAME} == 'a'\n and true", "(line 2,", "write && for and"),
        # Amounts are told as Kubernetes reads them.
        (f"{AMOUNT} >= '80GB'", ">=", f"write {AMOUNT}.compareTo(quantity('80Gi')) >= 0"),
        (f"{AMOUNT}.isGreaterThan('5 GB')", "", "write isGreaterThan(quantity('5Gi'))"),
        # Functions that are there, and are called otherwise.
        (f"{NAME}.contains('a', 'b')", "contains is not called like that", "call it as value"),
        (f"matches({NAME})", "matches is not called", "call it as value.matches(...)"),
        (f"size({NAME}, 'b') > 1", "size is not called", "call it as value.size()"),
        (f"contains({NAME}, 'a')", "contains is not called", f"write {NAME}.contains('a')"),
        ("foo(1) == 2", "nothing is named 'foo'", "mend the expression"),
        # Of a format any list is taken, and of no other.
        ("[1, 'a'].size() > 0 && '%d'.format([1]) == '1'", "values of several types", "write"),
    ],
)
def test_what_is_told_is_about_the_part_that_is_refused(text, told, fix):
    found = selector(text).problem

    assert found is not None
    assert found.outcome is Outcome.FAILS
    assert told in found.text
    assert found.fix.startswith(fix)


def test_blanks_in_the_name_of_a_function_do_not_hide_it():
    assert refusal("lists . range(3).size() == 3", "1.34") is not None


def test_an_expression_of_a_class_is_told_as_a_whole():
    own = {
        "kind": "DeviceClass",
        "metadata": {"name": "own"},
        "spec": {"selectors": [{"cel": {"expression": "device.driver = 'gpu.nvidia.com'"}}]},
    }

    with pytest.raises(EksDevicesError) as error:
        read_class(own, "own", kubernetes_version="1.35")
    (found,) = error.value.faults
    assert found.fix == "write == for =: device.driver == 'gpu.nvidia.com'"
