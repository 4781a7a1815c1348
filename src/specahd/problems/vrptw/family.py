"""Settings with which the engine solves the VRPTW."""

from specahd.engine.family import Family
from specahd.engine.schedule import on_short_routes

FAMILY = Family(
    name="vrptw",
    runners="specahd.problems.vrptw.runners",
    # Rebuilding routes with time windows raises the cost more:
    # benchmarks/notes/2026-11-22-what-the-rest-stands-on.md
    hot=3.0,
    neighbours=lambda instance: 100 if on_short_routes(instance) else 50,
    timed=True,
    parted=True,
    # Exchanges pay on long routes, of which a group removes only a small part:
    # benchmarks/notes/2026-11-23-exchanges-of-tails.md
    exchanges=lambda instance: 0 if on_short_routes(instance) else 128,
    evolved=on_short_routes,
)
