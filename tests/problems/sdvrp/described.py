"""What the suites are told of the SDVRP."""

from functools import partial

from problems.described import EVERY, VEHICLE, Description, spoilt, vehicle_text

NUMBERS = "2 10\n4 25\n50 50\n0 0\n100 0\n"

DESCRIBED = Description(
    type="SDVRP",
    least=2,
    size=1,
    text=partial(vehicle_text, "SDVRP"),
    spoilt={
        **EVERY,
        **VEHICLE,
        "a customer without demand": (spoilt("\n2 4", "\n2 0"), "DEMAND_SECTION", "[1, "),
        "a flood of loads": (
            spoilt("CAPACITY : 10(.*)\n2 4", r"CAPACITY : 1\1\n2 2000000000"), "capacity", "loads",
        ),
    },
    formats={
        NUMBERS: [
            (spoilt("100 0", "nan 0"), "holds 'nan', expected numbers only"),
            (spoilt("100 0", "100 -inf"), "customer 2 is at (100, -inf)"),
            (spoilt("4 25", "-4 25"), "demand of customer 1 is -4"),
            (spoilt("2 10", "2 0"), "capacity is 0"),
            (spoilt("2 10", "0 10"), "number of customers is 0"),
            (spoilt("2 10.*", "2"), "capacity is missing"),
            (spoilt("2 10", "3 10"), "holds 10 numbers, expected 13"),
            (spoilt("100 0\n", "100"), "holds 9 numbers, expected 10"),
        ],
    },
    # Fleets are unlimited here, as the published values assume.
    neutral=("VEHICLES : 2",),
    pools={
        "lower_train": (60, (200, 500)),
        "upper_train": (60, (200, 500)),
        "selection": (60, (200, 500)),
        "validation": (60, {200, 250, 300, 400, 500}),
    },
)  # fmt: skip
