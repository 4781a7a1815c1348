"""The instances of the pools that a training uses, and their records in the journal."""

from typing import TYPE_CHECKING, Any

from specahd.core.events import Observer
from specahd.core.journal import Record
from specahd.repair.cases import Case, make_cases
from specahd.repair.staged_cases import stage_cases
from specahd.routing.base import POOLS
from specahd.routing.pools import SUBSET_SEED, is_sampled, prepare_pools, read_pool
from specahd.runs.files import POOLS as EXAMINED

if TYPE_CHECKING:
    from specahd.api.plans import TrainingPlan


def make_training_cases(
    plan: "TrainingPlan", observer: Observer
) -> tuple[list[Case], dict[str, list[int]]]:
    """Return the cases that the budget uses, and the indices of the cases of each pool.

    The pools are written first if they are missing.
    """
    folder = prepare_pools(plan.problem, plan.pools)
    instances: list[Any] = []
    pools: dict[str, list[int]] = {}
    for pool in POOLS:
        count = getattr(plan.budget, pool)
        chosen = read_pool(plan.problem, folder, pool, count=count, seed=plan.seed)
        pools[pool] = list(range(len(instances), len(instances) + len(chosen)))
        instances.extend(chosen)
    observer.on_phase(f"baseline {plan.problem.baseline_name}", len(instances))
    cases = make_cases(plan.problem, instances, observer.on_step)
    for pool in ("lower_train", "upper_train"):
        for index, case in zip(
            pools[pool],
            stage_cases(plan.problem, [cases[index] for index in pools[pool]]),
            strict=True,
        ):
            cases[index] = case
    return cases, pools


def subset_records(plan: "TrainingPlan") -> list[Record]:
    """Return the journal's records of subsets that are not drawn with the run's own seed.

    Older versions drew these subsets with the seed of the run. Without the record, a run of such a
    version is not resumed.
    """
    folder = prepare_pools(plan.problem, plan.pools)
    drawn = any(is_sampled(folder, pool, getattr(plan.budget, pool)) for pool in EXAMINED)
    differ = drawn and plan.seed != SUBSET_SEED
    return [{"record": "subsets", "seed": SUBSET_SEED}] if differ else []
