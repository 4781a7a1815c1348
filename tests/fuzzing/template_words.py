"""Words that fill holes of templates, and how tables of templates are written."""


def table(text: str) -> list[tuple[float, str]]:
    pairs = (line.split(None, 1) for line in text.strip().splitlines())
    return [(float(weight), template) for weight, template in pairs]


def _words(text: str) -> list[str]:
    return text.split()


ELEMENTWISE = _words("""
    abs absolute arccos arcsin arctan arctanh cbrt ceil cos cosh degrees exp exp2 expm1 fabs
    floor log log10 log1p log2 negative positive rad2deg radians reciprocal rint sign sin sinh
    sqrt square tan tanh trunc
""")
ELEMENTWISE_OF_TWO = _words("""
    add arctan2 divide float_power floor_divide fmax fmin fmod hypot logaddexp maximum minimum
    mod multiply power remainder subtract true_divide
""")
OF_INTEGERS = _words("bitwise_and bitwise_or bitwise_xor gcd lcm floor_divide add multiply power")
COMPARISONS = _words("""
    greater greater_equal less less_equal equal not_equal logical_and logical_or logical_xor
""")
REDUCTIONS = _words("""
    amax amin max mean median min nanmax nanmean nanmin nansum prod ptp std sum var nanmedian
""")
OF_MATH = _words("""
    acos asin atan ceil cos cosh degrees erf exp expm1 fabs floor gamma lgamma log log10 log1p
    log2 radians sin sqrt tan tanh trunc
""")
OF_MATH_OF_TWO = _words("atan2 copysign fmod hypot pow gcd ldexp dist remainder")

WORDS = {
    "elementwise": ELEMENTWISE,
    "binary": ELEMENTWISE_OF_TWO,
    "integral": OF_INTEGERS,
    "comparison": COMPARISONS,
    "reduction": REDUCTIONS,
    "math": OF_MATH,
    "math_two": OF_MATH_OF_TWO,
    "arithmetic": ["+", "-", "*", "+", "-", "*", "/", "//", "%", "**"],
    "whole": ["+", "-", "*", "+", "-", "*", "//", "%", "<<", ">>", "&", "|", "^", "**"],
    "relation": ["<", "<=", ">", ">=", "==", "!="],
    "change": ["+=", "-=", "*=", "+=", "-=", "*=", "/=", "//=", "%=", "**="],
    "whole_change": ["+=", "-=", "*=", "//=", "%=", "&=", "|=", "^=", "<<=", ">>="],
    "size": ["0", "1", "2", "3", "4", "5", "8", "-1"],
    "large": ["2**31", "2**32", "2**33", "2**62", "2**63 - 1", "2**63", "2**21", "10**9"],
    "huge": ["2**33", "2**60", "2**61", "2**62", "2**63 - 1"],
    "factor": ["0.5", "2.0", "0.0", "1.5", "-1.0", "1e-3", "10.0", "1e300"],
    "dtype": _words("np.int64 np.float64 np.float32 np.int32 np.bool_ int float bool"),
    "whole_number": ["0", "1", "2", "3", "-1", "-2", "5", "10", "100"],
}
"""Holes that one of some words fills."""

COMMON_WORDS = {
    "elementwise": _words("abs exp log sqrt square floor sin sign"),
    "binary": _words("add subtract multiply divide maximum minimum hypot"),
    "comparison": _words("greater less equal logical_and logical_or"),
    "reduction": _words("max mean min sum std var"),
    "math": _words("sqrt exp log floor ceil"),
    "math_two": _words("hypot pow atan2"),
    "whole": ["+", "-", "*", "//", "%"],
    "arithmetic": ["+", "-", "*", "/", "+", "-", "*", "/", "**", "//", "%"],
    "change": ["+=", "-=", "*=", "/="],
    "whole_change": ["+=", "-=", "*="],
}
"""What most programs use of them."""
