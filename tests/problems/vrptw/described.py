"""What the suites are told of the VRPTW."""

from problems.described import EVERY, VEHICLE, Description, spoilt, torn, vehicle_text
from specahd.routing.base import POOLS


def _text(nodes):
    return vehicle_text(
        "VRPTW",
        nodes,
        "SERVICE_TIME_SECTION",
        *(f"{node} {10 if node > 1 else 0}" for node in range(1, nodes + 1)),
        "TIME_WINDOW_SECTION",
        *(f"{node} {0 if node == 1 else 80} 400" for node in range(1, nodes + 1)),
    )


SOLOMON = """few
VEHICLE
NUMBER CAPACITY
9 10
CUSTOMER
CUST NO. XCOORD. YCOORD. DEMAND READY TIME DUE DATE SERVICE TIME
0 50 50 0 0 400 0
1 0 0 4 80 400 10
2 100 0 4 80 400 10
"""

DESCRIBED = Description(
    type="VRPTW",
    least=2,
    size=1,
    text=_text,
    spoilt={
        **EVERY,
        **VEHICLE,
        "a window that closes before it opens": (
            spoilt("\n2 80 400", "\n2 400 80"), "TIME_WINDOW_SECTION", "closing",
        ),
        "a window that opens before time": (
            spoilt("\n2 80 400", "\n2 -1 400"), "TIME_WINDOW_SECTION", "-1",
        ),
        "a window without an end": (
            spoilt("\n2 80 400", "\n2 80 inf"), "TIME_WINDOW_SECTION", "inf",
        ),
        "a negative service time": (
            spoilt("\n2 10\n", "\n2 -10\n"), "SERVICE_TIME_SECTION", "-10",
        ),
        "torn in the windows": (torn("TIME_WINDOW_SECTION"), "DEPOT_SECTION", "missing"),
    },
    formats={
        SOLOMON: [
            (spoilt("\n2 100", "\n2 nan"), "expected 7 numbers"),
            (spoilt("\n2 100 0", "\n2 100 inf"), "YCOORD. of customer 2 is inf"),
            (spoilt("0 4 80", "0 -4 80"), "DEMAND of customer 1 is -4"),
            (spoilt("80 400 10", "400 80 10"), "DUE DATE of customer 1 is 80"),
            (spoilt("9 10", "9 0"), "CAPACITY is 0"),
            (spoilt("\n1 0 0.*", "\n"), "CUSTOMER holds 1 rows, expected at least 2"),
            (spoilt(" 400 10\n2", " 400\n2"), "line 8"),
            (spoilt("NUMBER CAPACITY", "NUMBER"), "NUMBER CAPACITY"),
        ],
    },
    alike=(_text(5).replace("VRPTW", "CVRPTW"),),
    # Fleets are unlimited here, as the published values assume.
    neutral=("VEHICLES : 2",),
    pools={pool: (60, {200, 400, 600, 800, 1000}) for pool in POOLS},
)  # fmt: skip
