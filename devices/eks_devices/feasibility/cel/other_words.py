"""What other languages call the functions and operators of CEL."""

from __future__ import annotations

from typing import Final


def _of(**words: str) -> dict[str, str]:
    return {one: meant for meant, many in words.items() for one in many.split()}


METHODS: Final = _of(
    lowerAscii="toLower toLowerCase tolower to_lower lower lowercase lowerCase downcase lcase",
    upperAscii="toUpper toUpperCase toupper to_upper upper uppercase upperCase upcase ucase",
    trim="strip trimSpace trimspace Trim",
    size="len length count Length Len Size getSize",
    contains="includes include contain has Contains hasSubstring containsString like LIKE ilike",
    startsWith="startswith starts_with StartsWith hasPrefix HasPrefix has_prefix beginsWith",
    endsWith="endswith ends_with EndsWith hasSuffix HasSuffix has_suffix",
    matches="match Match Matches regex regexMatch regex_match matchesRegex isMatch test search",
    indexOf="index indexof IndexOf",
    isGreaterThan="greaterThan isGreater isMoreThan gt moreThan isAbove greater_than",
    isLessThan="lessThan isLess isLower lt isBelow isSmallerThan less_than",
    compareTo="compare cmp compareto compare_to CompareTo",
)
"""What is called by another name, in front of its brackets."""
NEGATED: Final = _of(
    isLessThan="isGreaterOrEqual isGreaterThanOrEqual isGreaterThanOrEqualTo greaterThanOrEqual "
    "isGreaterOrEqualTo greaterOrEqual gte ge isAtLeast atLeast",
    isGreaterThan="isLessOrEqual isLessThanOrEqual isLessThanOrEqualTo lessThanOrEqual "
    "isLessOrEqualTo lessOrEqual lte le isAtMost atMost",
)
"""What is the opposite of a function."""
EQUALS: Final = ("equals", "Equals", "isEqual", "isEqualTo", "isEqualsTo", "equal", "eq", "is")
IGNORING_CASE: Final = ("equalsIgnoreCase", "equalsFold", "EqualFold", "equalFold", "iequals")
OPERATORS: Final = {
    **dict.fromkeys(("and", "AND", "And"), "&&"),
    **dict.fromkeys(("or", "OR", "Or"), "||"),
    **dict.fromkeys(("eq", "is", "equals", "EQ", "IS", "-eq"), "=="),
    **dict.fromkeys(("xor", "XOR", "ne", "neq", "NE", "-ne", "isnt"), "!="),
    **dict.fromkeys(("gt", "GT", "-gt"), ">"),
    **dict.fromkeys(("lt", "LT", "-lt"), "<"),
    **dict.fromkeys(("ge", "gte", "GE", "-ge"), ">="),
    **dict.fromkeys(("le", "lte", "LE", "-le"), "<="),
}
"""Operators that are words elsewhere."""
VALUES: Final = {
    **dict.fromkeys(("True", "TRUE"), "true"),
    **dict.fromkeys(("False", "FALSE"), "false"),
    **dict.fromkeys(("None", "nil", "NULL", "Null", "undefined"), "null"),
}
