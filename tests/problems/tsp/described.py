"""What the suites are told of the TSP."""

from functools import partial

from problems.described import EVERY, Description, spoilt, text_of

EXPLICIT = """TYPE : TSP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EXPLICIT
EDGE_WEIGHT_FORMAT : UPPER_ROW
EDGE_WEIGHT_SECTION
1 2 3
4 5
6
EOF
"""

DESCRIBED = Description(
    type="TSP",
    least=3,
    size=3,
    text=partial(text_of, "TSP"),
    spoilt=EVERY,
    formats={
        EXPLICIT: [
            (spoilt("4 5", "4 nan"), "EDGE_WEIGHT_SECTION holds 'nan'"),
            (spoilt("4 5", "4 -5"), "EDGE_WEIGHT_SECTION holds -5"),
            (spoilt("\n6", ""), "EDGE_WEIGHT_SECTION holds 5 numbers, expected 6"),
            (spoilt("UPPER_ROW", "DIAGONAL"), "EDGE_WEIGHT_FORMAT is 'DIAGONAL'"),
            (spoilt("DIMENSION : 4", "DIMENSION : 2"), "DIMENSION is 2, expected at least 3"),
        ],
    },
    pools={
        "lower_train": (128, (10, 200)),
        "upper_train": (60, (200, 1000)),
        "selection": (60, (200, 1000)),
        "validation": (60, {200, 500, 800, 1000}),
    },
)  # fmt: skip
