"""Mistakes in CEL expressions that are certain. Google's CEL engine is the judge of certain."""

from __future__ import annotations

import pytest
from cel_expr_python import cel  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from eks_devices import DeviceRequest, EksDevicesError
from eks_devices.claims.cel import cel_problem

ENGINE = cel.NewEnv(variables={"a": cel.Type.DYN, "device": cel.Type.DYN})

WRONG = {
    "": "empty",
    " // only a comment": "empty",
    "(a == 1": "( of the expression is not closed",
    "a == 1)": ") of the expression closes nothing",
    "device.attributes['d'.x == 1": "[ of the expression is not closed",
    "(a[0)]": ") of the expression closes nothing",
    "{'a': 1": "{ of the expression is not closed",
    "a == 'b": "quote",
    "a == \"b'": "quote",
    "a == 'b\nc'": "quote",
    "a == r'b\\'c'": "quote",
    "a == 'b\\'": "quote",
    "a = 1": "single =",
    "a === 1": "single =",
    "a == 1 & a == 2": "single &",
    "a == 1 | a == 2": "single |",
    "a ||| a": "single |",
    "a == 1 &&": "&& is missing",
    "|| a": "|| is missing",
    "a && && a": "&& is missing",
    "(a || ) && a": "|| is missing",
    "a && // more\n": "&& is missing",
}
FINE = [
    "a == ')' && a != \"(\"",
    "a == '=' || a == \"a = b && \"",
    "a == '\\'(' && a <= 2 && a >= 1",
    "a == r'\\d(' && a == R\"\\s)\"",
    'a == \'\'\'it\'s\n(\'\'\' || a == """say "[" """',
    "a == b'(' || a == br'\\('",
    "a == 1 // it's (fine =",
    "a == '//' && (a == 1)",
    "// first )\na == 1",
    "a == '\\\\' && a == '('",
    "{'a': [1, 2,],}.a == [1]",
    "a ? a : !a",
    "'' == a",
    "device.attributes['gpu.nvidia.com'].productName.matches('^NVIDIA (H|B)[12]00')",
]
# Several whole operands, so that the engine takes some of what comes out.
PIECES = st.sampled_from(
    [*"a1=!<>&|()[]{}'\"\\\n\r rb,.?:-ü", "==", "&&", "||", "//", "'''", '"""', " a ", "'a'", "(a)"]
)
OPERANDS = st.sampled_from(["a", "1", "'('", "r'\\d('", '"=\'"', "'''&&'''"])
OPERATORS = st.sampled_from(["&&", "||", "==", "+"])
WHOLE = st.recursive(
    OPERANDS, lambda one: st.tuples(one, OPERATORS, one).map(lambda parts: f"({' '.join(parts)})")
)


def compiles(text: str) -> bool:
    try:
        ENGINE.compile(text)
    except Exception:  # noqa: BLE001  (the engine names no type of its own)
        return False
    return True


@pytest.mark.parametrize("text", WRONG)
def test_a_certain_mistake_is_told_and_the_engine_refuses_it_too(text):
    assert WRONG[text] in cel_problem(text)
    assert not compiles(text)


@pytest.mark.parametrize("text", FINE)
def test_what_strings_and_comments_hold_is_no_mistake(text):
    assert compiles(text)
    assert cel_problem(text) == ""


@given(st.lists(PIECES, max_size=12).map("".join))
def test_whatever_the_engine_takes_has_no_mistake(text):
    assert not (cel_problem(text) and compiles(text))


@given(WHOLE)
def test_expressions_that_are_put_together_have_no_mistake(text):
    assert cel_problem(text) == ""


@pytest.mark.parametrize("text", ["'''\\" * 2500, "'\\" * 5000, '"' * 10000 + "'", "(" * 10000])
def test_long_nonsense_is_told_soon(text):
    assert cel_problem(text)


def test_a_selector_with_a_mistake_is_refused():
    with pytest.raises(EksDevicesError) as caught:
        DeviceRequest.gpu().where("true").where("device.driver = 'x'")

    (fault,) = caught.value.faults
    assert (fault.code, fault.path) == ("MalformedSelector", "requests.gpu.selectors[1]")
    assert "single =" in fault.message
