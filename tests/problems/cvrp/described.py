"""What the suites are told of the CVRP."""

from functools import partial

from problems.described import EVERY, VEHICLE, Description, vehicle_text

DESCRIBED = Description(
    type="CVRP",
    least=2,
    size=1,
    text=partial(vehicle_text, "CVRP"),
    spoilt={
        **EVERY,
        **VEHICLE,
    },
    # Fleets are unlimited here, as the published values assume.
    neutral=("VEHICLES : 2",),
    limits=("DISTANCE",),
    pools={
        # 20 to 200 nodes; the depot is one of them.
        "lower_train": (256, (19, 199)),
        "upper_train": (60, (19, 199)),
        "selection": (60, (19, 199)),
        "validation": (60, {100, 200, 300, 500, 800}),
    },
)  # fmt: skip
